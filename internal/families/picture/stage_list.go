package picture

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// A chain with a matrix, a curve or a vibrance is applied by image/pointwise_list, which reads
// its stages from memory: push constants have no room for them. image/stage_words writes them
// there, because a plan has no other data than the parameters of its launches.

// stageWords is the kernel that writes words to a scratch buffer.
const stageWords = "image/stage_words.u32"

// stageWordsParams is the push-constant block of stage_words.comp.
type stageWordsParams struct {
	Base  uint32
	Count uint32
	// Spread is 1 if each byte of a word becomes a word, three times in it.
	Spread uint32
	Spare  uint32
	Four   [wordsALaunch / 4]fourWords
}

// fourWords is a struct, because members of 16 bytes lie the same in all kinds of blocks.
type fourWords struct{ A, B, C, D uint32 }

// wordsALaunch is how many words a launch of stageWords takes.
const wordsALaunch = 28

// These are the kinds of a stage in shaders/image/pointwise_list.comp, and the size of a stage in
// words: the kind, the flags or channels, and numbers.
const (
	kindPlain = iota
	kindMatrix
	kindVibrance
	kindTable
	kindPower
	kindSpline
	stageSize = 16
)

// listed is a chain for image/pointwise_list.
type listed struct {
	dtype tensor.DType
	// stages are the words of the stages, each of stageSize.
	stages [][stageSize]uint32
	// segments are those of the splines.
	segments []uint32
	tables   []levelTable
	// curves says that there are tables or curves.
	curves bool
}

// listKernel returns the kernel of image/pointwise_list with curves or without.
func listKernel(d tensor.DType, curves, texel bool) string {
	phase := ""
	if curves {
		phase = ".curves"
	}
	return kernelName("pointwise_list", d, phase, texel)
}

// maxListed is the largest number of stages in one launch of image/pointwise_list.
const maxListed = 64

// planList plans stages of which some are not plain.
func planList(plan *spec.Plan, t *spec.Target, src, dst layout, stages []Stage) error {
	from := spec.In(0)
	for len(stages) > 0 {
		n := min(len(stages), maxListed)
		if t.CPU && src.dtype == tensor.U8 {
			n = sameKind(stages)
		}
		var pass pointwisePass
		if n <= maxStages && !slices.ContainsFunc(stages[:n], func(s Stage) bool { return !s.plain() }) {
			pass = plainPass(t, src, stages[:n])
		} else {
			pass = listPass(plan, t, src, stages[:n])
		}
		if err := pass.add(plan, t, from, src, spec.Out(0), dst); err != nil {
			return err
		}
		stages = stages[n:]
		from, src = spec.Out(0), dst // The remaining stages work in place.
	}
	return nil
}

// sameKind returns how many of the first stages have a kernel of bytes together: plain ones, tables,
// or one other stage. On a CPU driver such passes one after the other take less time than a list in
// one pass, because there a load of a pixel costs less than a load of a stage.
func sameKind(stages []Stage) int {
	count := func(most int, is func(s Stage) bool) int {
		n := 0
		for n < min(len(stages), most) && is(stages[n]) {
			n++
		}
		return n
	}
	// A stage that inverts is both. After a curve it belongs to the table.
	tables := count(maxListed, func(s Stage) bool { return s.Curves != nil || s.inverts() })
	plain := count(maxStages, Stage.plain)
	return max(tables, plain, 1)
}

// listPass returns the pass of at most maxListed stages. It appends the steps that write what the
// pass reads to a new scratch buffer.
func listPass(plan *spec.Plan, t *spec.Target, src layout, stages []Stage) pointwisePass {
	if src.dtype == tensor.U8 && len(stages) == 1 && stages[0].Matrix != nil {
		if pass, ok := matrixPass(t, *stages[0].Matrix); ok {
			return pass
		}
	}
	list := listed{dtype: src.dtype}
	for i := 0; i < len(stages); i++ {
		table, ok := levelTable{}, false
		if src.dtype == tensor.U8 {
			table, ok = tableOf(stages[i])
		}
		if !ok {
			list.add(stages[i])
			continue
		}
		for i+1 < len(stages) {
			next, ok := tableOf(stages[i+1])
			if !ok {
				break
			}
			table = table.then(next) // Bytes in, bytes out: that is exact.
			i++
		}
		list.addTable(table)
	}
	words := []spec.Bind{{Buf: spec.Scratch(len(plan.Scratch))}}
	if len(list.stages) == 1 && len(list.tables) == 1 && t.MaxInvocations >= 256 {
		list.stages = nil // The table is all.
		list.write(plan)
		return bytePass("table", func(g pointwiseGrid) any { return g }, words)
	}
	first, count := list.write(plan), uint32(len(list.stages))
	return pointwisePass{
		name: func(texel bool) string { return listKernel(src.dtype, list.curves, texel) },
		packs: func(texel bool) int {
			if texel {
				return 256
			}
			return pointwiseLocal
		},
		params: func(g pointwiseGrid, _ bool) any {
			return pointwiseListParams{pointwiseGrid: g, Channels: uint32(src.c), First: first, Stages: count}
		},
		more: words,
	}
}

// bytePass returns the pass by one kernel of image/pointwise_byte. Devices without texels get it
// too: a pixel is a word then.
func bytePass(shape string, params func(g pointwiseGrid) any, more []spec.Bind) pointwisePass {
	return pointwisePass{
		name: func(texel bool) string {
			if texel {
				return "image/pointwise_byte." + shape
			}
			return "image/pointwise_byte." + shape + ".word"
		},
		packs:  func(bool) int { return manyPacks },
		params: func(g pointwiseGrid, _ bool) any { return params(g) },
		more:   more,
	}
}

// matrixPass returns the pass of a matrix over bytes, or false if the device or the numbers do
// not fit the kernel.
func matrixPass(t *spec.Target, m [12]float64) (pointwisePass, bool) {
	most := 0.0
	for row := range 3 {
		sum := 0.0
		for _, v := range m[4*row : 4*row+4] {
			sum += math.Abs(v)
		}
		most = max(most, sum)
	}
	if 256*most > mostLevel || t.MaxInvocations < 256 {
		return pointwisePass{}, false
	}
	f := matrixOf(tensor.U8, m)
	rows := matrixRows{f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8], f[9], f[10], f[11]}
	return bytePass("matrix", func(g pointwiseGrid) any { return pointwiseMatrixParams{g, rows} }, nil), true
}

// matrixOf converts a matrix to the scale of the dtype.
func matrixOf(d tensor.DType, m [12]float64) (out [12]float32) {
	full, half := scaleOf(d)
	for i, v := range m {
		if i%4 == 3 {
			v = float64(v*full) + half
		}
		out[i] = float32(v)
	}
	return out
}

// add appends a stage that is no table.
func (l *listed) add(s Stage) {
	switch {
	case s.Matrix != nil:
		m := matrixOf(l.dtype, *s.Matrix)
		l.append(kindMatrix, 0, m[:]...)
	case s.Vibrance != nil:
		l.append(kindVibrance, 0, float32(*s.Vibrance))
	case s.Curves != nil:
		for _, c := range s.Curves {
			l.addCurve(c)
		}
	default:
		e := encodeStage(l.dtype, s)
		l.append(kindPlain, e.Flags, e.Scale, e.Offset, e.Threshold)
	}
}

// append appends a stage of numbers.
func (l *listed) append(kind, flags uint32, numbers ...float32) {
	stage := [stageSize]uint32{kind, flags}
	for i, v := range numbers {
		stage[2+i] = math.Float32bits(v)
	}
	l.stages = append(l.stages, stage)
}

// addCurve appends a curve.
func (l *listed) addCurve(c Curve) {
	l.curves = true
	if p := c.Power; p != nil {
		// The difference to a level near Black is exact if Black is.
		high := float32(p.Black)
		l.append(kindPower, uint32(c.Channels), high, float32(p.Black-float64(high)), float32(p.Scale),
			float32(p.Until), float32(p.Low), float32(p.LowBias), float32(p.Times), float32(p.Shift),
			float32(p.Exponent), float32(p.Gain), float32(p.Bias), float32(p.Steps))
		return
	}
	l.append(kindSpline, uint32(c.Channels), float32(c.Spline.End))
	stage := &l.stages[len(l.stages)-1]
	stage[3], stage[4] = uint32(len(l.segments)), uint32(len(c.Spline.Segments))
	for _, s := range c.Spline.Segments {
		for _, v := range append([]float64{s.From}, s.C[:]...) {
			l.segments = append(l.segments, math.Float32bits(float32(v)))
		}
	}
}

// addTable appends a table.
func (l *listed) addTable(t levelTable) {
	l.curves = true
	l.append(kindTable, 0)
	l.stages[len(l.stages)-1][3] = uint32(len(l.tables))
	l.tables = append(l.tables, t)
}

// write appends the steps that write the chain to a new scratch buffer, and returns the word at
// which the stages begin. Tables come before. A table has a word for each level, with a byte for
// each colour.
func (l *listed) write(plan *spec.Plan) (first uint32) {
	at, buffer := uint32(0), spec.Bind{Buf: spec.Scratch(len(plan.Scratch))}
	put := func(words []uint32, spread uint32) {
		for len(words) > 0 {
			n := min(len(words), wordsALaunch)
			p := stageWordsParams{Base: at, Count: uint32(n), Spread: spread}
			var all [wordsALaunch]uint32
			copy(all[:], words)
			for i := range p.Four {
				p.Four[i] = fourWords{all[4*i], all[4*i+1], all[4*i+2], all[4*i+3]}
			}
			plan.Steps = append(plan.Steps, spec.Step{
				Module: spirv.Kernel(stageWords), Params: p,
				Bind: []spec.Bind{buffer}, Groups: [3]uint32{1, 1, 1},
			})
			at += uint32(n)
			if spread != 0 {
				at += 3 * uint32(n)
			}
			words = words[n:]
		}
	}
	for _, t := range l.tables {
		if t[0] == t[1] && t[1] == t[2] {
			var words [64]uint32
			for level, v := range t[0] {
				words[level/4] |= uint32(v) << (8 * (level % 4))
			}
			put(words[:], 1)
			continue
		}
		var words [256]uint32
		for level := range words {
			words[level] = uint32(t[0][level]) | uint32(t[1][level])<<8 | uint32(t[2][level])<<16
		}
		put(words[:], 0)
	}
	first = at
	segments := first + uint32(len(l.stages)*stageSize)
	var words []uint32
	for _, s := range l.stages {
		switch s[0] {
		case kindTable:
			s[3] *= 256
		case kindSpline:
			s[3] += segments
		}
		words = append(words, s[:]...)
	}
	put(append(words, l.segments...), 0)
	plan.Scratch = append(plan.Scratch, 4*int64(at))
	return first
}
