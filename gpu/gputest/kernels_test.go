package gputest

import (
	"encoding/binary"
	"math"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/extra"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
)

// Kernels returns the suite's shaders as Go functions, for a null device. They read zeros
// after the end of a buffer and write nothing there, like a shader with robust access.
func Kernels() (map[string]null.Kernel, error) {
	ks := map[string]null.Kernel{
		addName: func(d gpu.Dispatch, bufs [][]byte) error {
			for i := range invocations(d, 64) {
				a, b := math.Float32frombits(load(bufs[0], i)), math.Float32frombits(load(bufs[1], i))
				store(bufs[2], i, math.Float32bits(a+b))
			}
			return nil
		},
		affineName: affine,
		gridName: func(d gpu.Dispatch, bufs [][]byte) error {
			for cell := range int(d.Count()) {
				x, y := uint32(cell)%d.Groups[0], uint32(cell)/d.Groups[0]%d.Groups[1]
				z := uint32(cell) / d.Groups[0] / d.Groups[1]
				for i := range 16 {
					at := 16*cell + i
					store(bufs[0], at, load(bufs[0], at)+1+x<<8+y<<16+z<<24)
				}
			}
			return nil
		},
		lengthName: func(d gpu.Dispatch, bufs [][]byte) error {
			value := load(d.Params, 0)
			for k, size := range []int{4, 16} {
				n, sum := len(bufs[k])/size, uint32(0)
				for i := range n * size / 4 {
					sum += load(bufs[k], i)
					if value != 0 {
						store(bufs[k], i, value)
					}
				}
				store(bufs[2], 2*k, uint32(n))
				store(bufs[2], 2*k+1, sum)
			}
			return nil
		},
		pushName: func(d gpu.Dispatch, bufs [][]byte) error {
			copy(bufs[0], d.Params[:128])
			return nil
		},
		reverseName: func(d gpu.Dispatch, bufs [][]byte) error {
			for g := range int(d.Count()) {
				var tile [64]uint32
				for l := range tile {
					tile[l] = load(bufs[0], 64*g+l)
				}
				for l := range tile {
					store(bufs[0], 64*g+l, tile[63-l])
				}
			}
			return nil
		},
		subgroupName: func(d gpu.Dispatch, bufs [][]byte) error {
			const size = 32 // null.DefaultInfo has the same size.
			for i := range 64 * int(d.Count()) {
				at := i/64*128 + i%64
				if l := i % size; l < size/2 {
					a, b := load(bufs[0], at), load(bufs[0], at+size-1-2*l)
					store(bufs[0], at, b)
					store(bufs[0], at+size-1-2*l, a)
				}
				store(bufs[0], at+64, size)
			}
			return nil
		},
		texelName: func(d gpu.Dispatch, bufs [][]byte) error {
			n := int(load(d.Params, 0))
			for i := range min(n, int(d.Count())*64) {
				for c := range 4 {
					v := load(bufs[0], 4*i+c)
					if c == 0 {
						v += uint32(i)
					}
					store(bufs[1], 4*(n-1-i)+c, v)
				}
			}
			return nil
		},
	}
	// DispatchCompute parses the same bytes to a module without a name.
	m, err := extra.Module(affineName)
	if err != nil {
		return nil, err
	}
	foreign := *m
	foreign.Name = ""
	ks[gpu.Label(&foreign)] = affine
	return ks, nil
}

func affine(d gpu.Dispatch, bufs [][]byte) error {
	scale, shift := load(d.Params, 1), load(d.Params, 2)
	for i := range invocations(d, 64) {
		store(bufs[1], i, load(bufs[0], i)*scale+shift)
	}
	return nil
}

// invocations is the number of invocations that are less than the first parameter, a
// count. The others return at once.
func invocations(d gpu.Dispatch, local uint64) int {
	return int(min(d.Count()*local, uint64(load(d.Params, 0))))
}

func load(b []byte, i int) uint32 {
	if 4*i+4 > len(b) {
		return 0
	}
	return binary.LittleEndian.Uint32(b[4*i:])
}

func store(b []byte, i int, v uint32) {
	if 4*i+4 <= len(b) {
		binary.LittleEndian.PutUint32(b[4*i:], v)
	}
}
