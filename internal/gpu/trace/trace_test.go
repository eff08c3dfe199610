package trace_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
	"github.com/lathe-gpu/lathe/internal/gpu/trace"
	"github.com/lathe-gpu/lathe/internal/spv"
)

const golden = `b1 = alloc 4096
b2 = alloc 64
alloc -1 ! invalid argument
write b1 16+4 crc b63cfbcd
write b2 64+1 crc d202ef8d ! invalid argument
submit test/k groups 1 2 3 bind b1[16:] b2[0:32] params sigma=1.5 count=7 step=-2 mask=0000000000000001
submit test/k groups 1 1 1 bind b1[16:] b2 params sigma=0 count=0 step=0 mask=0000000000000000 cafebabe
       test/k groups 0 1 1 bind b2 b1 params sigma=0 count=0 step=0 mask=0000000000000000
submit test/k groups 1 1 1 bind b1 none params 01 ! invalid handle
submit dispatch groups 0 0 0 ! invalid argument
submit
read b2 0+8
sync
sync ! context canceled
free b1
free b1 ! invalid handle
free unknown ! invalid handle
close
sync ! closed
`

func TestGolden(t *testing.T) {
	ctx := context.Background()
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	var out bytes.Buffer
	dev := trace.New(null.NewRecorder(nil), &out)
	m := null.Module("test/k", 20, spv.Binding{Slot: 0}, spv.Binding{Slot: 1})
	m.Params = []spv.Member{
		{Name: "sigma", Type: "f32", Offset: 0, Size: 4}, {Name: "count", Type: "u32", Offset: 4, Size: 4},
		{Name: "step", Type: "i32", Offset: 8, Size: 4}, {Name: "mask", Type: "u64", Offset: 12, Size: 8},
	}
	params := binary.LittleEndian.AppendUint32(nil, math.Float32bits(1.5))
	params = binary.LittleEndian.AppendUint32(params, 7)
	params = binary.LittleEndian.AppendUint32(params, math.MaxUint32-1)
	params = binary.BigEndian.AppendUint64(params, 1)
	zeros := make([]byte, 20)

	// The trace contains errors too. The whole trace is compared.
	b1, _ := dev.Alloc(4096)
	b2, _ := dev.Alloc(64)
	_, _ = dev.Alloc(-1)
	_ = dev.Write(ctx, b1, 16, []byte{1, 2, 3, 4})
	_ = dev.Write(ctx, b2, 64, []byte{0})
	bind := []gpu.Binding{{Buffer: b1, Offset: 16}, {Buffer: b2, Size: 32}}
	_ = dev.Submit([]gpu.Dispatch{{Module: m, Bindings: bind, Params: params, Groups: [3]uint32{1, 2, 3}}})
	_ = dev.Submit([]gpu.Dispatch{
		{Module: m, Bindings: []gpu.Binding{bind[0], {Buffer: b2}}, Params: append(zeros[:20:20], 0xCA, 0xFE, 0xBA, 0xBE), Groups: [3]uint32{1, 1, 1}},
		{Module: m, Bindings: []gpu.Binding{{Buffer: b2}, {Buffer: b1}}, Params: zeros, Groups: [3]uint32{0, 1, 1}},
	})
	_ = dev.Submit([]gpu.Dispatch{{Module: m, Bindings: []gpu.Binding{{Buffer: b1}, {}}, Params: []byte{1}, Groups: [3]uint32{1, 1, 1}}})
	_ = dev.Submit([]gpu.Dispatch{{}})
	_ = dev.Submit(nil)
	_ = dev.Read(ctx, b2, 0, make([]byte, 8))
	_ = dev.Sync(ctx)
	_ = dev.Sync(cancelled)
	_ = dev.Free(b1)
	_ = dev.Free(b1)
	_ = dev.Free(12345)
	_ = dev.Close()
	_ = dev.Sync(ctx)

	got := strings.Split(out.String(), "\n")
	want := strings.Split(golden, "\n")
	for i := range max(len(got), len(want)) {
		g, w := "(nothing)", "(nothing)"
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			t.Errorf("line %d:\n got %s\nwant %s", i+1, g, w)
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

// TestWriteError checks that Close returns an error if the trace could not be written.
func TestWriteError(t *testing.T) {
	dev := trace.New(null.New(nil), full{})
	if _, err := dev.Alloc(4); err != nil {
		t.Fatal(err)
	}
	if err := dev.Close(); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("got %v, want the writer's error", err)
	}
}
