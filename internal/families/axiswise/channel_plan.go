package axiswise

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/internal/families/movement"
	"github.com/lathe-gpu/lathe/internal/families/reduction"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

const (
	tableShader     = "nn/batch_norm_table"
	tableApply      = "nn/batch_norm_apply"
	runningShader   = "nn/batch_norm_running"
	gradTableShader = "nn/batch_norm_grad_table"
)

// These are the push-constant blocks of the shaders above.
type (
	tableParams struct {
		Count, N, Per, First, Stats, Pairs, Made, Given, Total uint32
		Eps, EpsLow                                            float32
	}
	runningParams struct {
		Count, Total, Running uint32
		Momentum, MomentumLow float32
	}
	gradTableParams struct {
		Count, N, Stats, Sums, Pairs, Made, Total uint32
		Eps, EpsLow                               float32
	}
)

var (
	// columnMoments computes what momentsReducer does, of columns.
	columnMoments = reduction.Reducer{Shader: "nn/batch_norm_stat", Values: 4, ColumnsOnly: true}
	// channelTable describes the accumulators that batch_norm_table makes.
	channelTable = reduction.Reducer{Values: 4}
)

// ChannelNormKernels lists the kernels of normalisations by channels.
func ChannelNormKernels() []spec.Kernel {
	return slices.Concat(
		momentsReducer.Kernels(planner.Floats...), columnMoments.Kernels(planner.Floats...), affineKernels(),
		planner.DTypeVariants(tableShader, tableParams{}, wideFloats, nil), mapKernels(tableApply, planner.Floats...),
	)
}

// BatchTrainingKernels lists the kernels of the training form of batch norm.
func BatchTrainingKernels() []spec.Kernel {
	return slices.Concat(
		ChannelNormKernels(), planner.DTypeVariants(runningShader, runningParams{}, wideFloats, nil), reduction.NarrowKernels(), movement.CopyKernels())
}

// ChannelGradientKernels lists the kernels of the gradients.
func ChannelGradientKernels() []spec.Kernel {
	return slices.Concat(
		momentsReducer.Kernels(wideFloats...), columnMoments.Kernels(wideFloats...), affineKernels(), dotReducer.Kernels(wideFloats...),
		planner.DTypeVariants(tableShader, tableParams{}, wideFloats, nil), mapKernels(tableApply, wideFloats...), mapKernels(normGradShader, wideFloats...),
		planner.DTypeVariants(normScaleShader, scaleParams{}, planner.Floats, nil), planner.DTypeVariants(gradTableShader, gradTableParams{}, wideFloats, nil),
		planner.DTypeVariants(normRowsShader, gradStatsParams{}, wideFloats, nil), planner.DTypeVariants(normColumnsShader, columnsParams{}, wideFloats, nil),
		elementwise.BinaryKernels(mulShader, wideFloats), reduction.NarrowKernels(), movement.CopyKernels(),
	)
}

// channels is a tensor [N,C,spatial...] whose channels are normalised.
type channels struct {
	// pictures is N, count is C, and size the number of elements of a channel of a picture.
	pictures, count, size int
	// groups is the number of groups of channels that share statistics, in each picture. 0 means
	// that each channel has its own statistics, over all pictures.
	groups int
}

// channelsOf returns the channels of a shape.
func channelsOf(shape []int, groups int) channels {
	c := channels{pictures: shape[0], count: shape[1], size: 1, groups: groups}
	for _, n := range shape[2:] {
		c.size *= n
	}
	return c
}

// rows returns the view in which each channel of each picture is a row.
func (c channels) rows() planner.AxisView {
	return planner.AxisView{Outer: c.pictures * c.count, N: c.size, Inner: 1}
}

// columns reports whether channels are columns: then they need not be made rows.
func (c channels) columns() bool { return c.groups == 0 && c.size == 1 && c.count > 1 }

// view returns the view that a row map has: an accumulator for each channel, or for each channel
// of each picture.
func (c channels) view() planner.AxisView {
	if c.columns() {
		return planner.AxisView{Outer: 1, N: c.pictures, Inner: c.count}
	}
	return c.rows()
}

// shared returns the view in which a row has all elements that share statistics. There are groups.
func (c channels) shared() planner.AxisView {
	return planner.AxisView{Outer: c.pictures * c.groups, N: c.count / c.groups * c.size, Inner: 1}
}

// total is the number of elements that share statistics.
func (c channels) total() int {
	if c.groups > 0 {
		return c.shared().N
	}
	return c.pictures * c.size
}

// channelPlan appends the steps of a normalisation by channels to a plan.
type channelPlan struct {
	channels
	t    *spec.Target
	plan *spec.Plan
	eps  float64
	// d is the dtype of the elements, wide that of accumulators, and own that of what each channel
	// has.
	d, wide, own tensor.DType
}

// moments appends the steps that compute the statistics of from, whose dtype is d. There is an
// accumulator for each channel, or for each group of each picture.
func (c channelPlan) moments(from spec.Ref, d tensor.DType) (spec.Ref, error) {
	switch {
	case c.groups > 0:
		return reduction.Add(c.plan, c.t, momentsReducer, d, c.shared(), spec.Ref{}, from)
	case c.columns():
		return reduction.Add(c.plan, c.t, columnMoments, d, c.view(), spec.Ref{}, from)
	}
	return c.perChannel(momentsReducer, d, from)
}

// perChannel appends the steps that reduce each channel over all pictures.
func (c channelPlan) perChannel(f reduction.Reducer, d tensor.DType, in ...spec.Ref) (spec.Ref, error) {
	if c.columns() {
		return reduction.Add(c.plan, c.t, f, d, c.view(), spec.Ref{}, in...)
	}
	made, err := reduction.Add(c.plan, c.t, f, d, c.rows(), spec.Ref{}, in...)
	if err != nil {
		return spec.Ref{}, err
	}
	return reduction.Merge(c.plan, c.t, f, d, planner.AxisView{Outer: 1, N: c.pictures, Inner: c.count}, made)
}

// eachPart calls f with parts of the channels of all pictures, which have results of 4 values in
// scratch memory. made is the binding of the results, and word the first one's. There is one result
// for each channel if channels are columns.
func (c channelPlan) eachPart(f func(x planner.Chunk, made spec.Bind, word uint32) spec.Step) (spec.Ref, error) {
	v := planner.AxisView{Outer: c.pictures, N: c.count, Inner: 1}
	if c.columns() {
		v.Outer = 1
	}
	bytes := channelTable.AccumulatorBytes(c.wide)
	to := planner.AddScratch(c.plan, int64(v.Outer)*int64(v.N)*int64(bytes))
	room := int(min((c.t.MaxBinding-planner.WindowAlign(c.t)-planner.Pack)/int64(bytes), 1<<30))
	return to, planner.Chunks(v, planner.ChunkRoom{Elems: room, Accumulators: room, PerBlock: 1, Unit: 1, Shared: true}, func(x planner.Chunk) error {
		made, word := planner.WordWindow(c.t, to, bytes, x.Start, x.Elems())
		step := f(x, made, word)
		var err error
		step.Groups, err = planner.Grid(c.t, int64(planner.CeilDiv(x.Elems(), planner.SmallGroup)))
		c.plan.Steps = append(c.plan.Steps, step)
		return err
	})
}

// table appends the steps that make the accumulators of batch_norm_apply. pairs has gamma and beta
// of each channel. given says that stats has a mean and a variance of each channel.
func (c channelPlan) table(stats, pairs spec.Ref, given bool) (spec.Ref, error) {
	high, low := split(c.eps)
	pair := 2 * c.wide.Size()
	return c.eachPart(func(x planner.Chunk, made spec.Bind, word uint32) spec.Step {
		p := tableParams{Count: uint32(x.Elems()), N: uint32(x.N), Made: word, Total: uint32(c.total()), Eps: high, EpsLow: low}
		side, pairWord := planner.WordWindow(c.t, pairs, pair, x.Row, x.N)
		size, from, n := momentsReducer.AccumulatorBytes(c.d), x.Row, x.N
		if given {
			size, p.Given = pair, 1
		} else if c.groups > 0 {
			per := c.count / c.groups
			from, n = x.Start/per, (x.Start+x.Elems()-1)/per-x.Start/per+1
			p.Per, p.First = uint32(per), uint32(x.Start%per)
		}
		own, statWord := planner.WordWindow(c.t, stats, size, from, n)
		p.Stats, p.Pairs = statWord, pairWord
		return spec.Step{Module: spirv.Kernel(tableShader + "." + c.wide.String()), Params: p, Bind: []spec.Bind{own, side, made}}
	})
}

// apply appends the steps that map from to out, both of dtype d, by the accumulators of table.
func (c channelPlan) apply(table, from, out spec.Ref, d tensor.DType) error {
	return rowMap{shader: tableApply, reducer: channelTable, total: 1}.add(c.plan, c.t, d, c.view(), table, out, from)
}

// normalise appends the steps of a normalisation of input 0 with the weights gamma and the offsets
// beta. stats are the statistics.
func (c channelPlan) normalise(stats, gamma, beta spec.Ref, given bool) error {
	pairs, err := addAffine(c.plan, c.t, c.own, c.wide, c.count, gamma, beta)
	if err != nil {
		return err
	}
	table, err := c.table(stats, pairs, given)
	if err != nil {
		return err
	}
	return c.apply(table, spec.In(0), spec.Out(0), c.d)
}

// running appends the steps that write the statistics of each channel, and the running ones of
// inputs 3 and 4 after them, to outputs 1 to 4.
func (c channelPlan) running(stats spec.Ref, momentum float64) error {
	pairs, err := addAffine(c.plan, c.t, c.own, c.wide, c.count, spec.In(3), spec.In(4))
	if err != nil {
		return err
	}
	high, low := split(momentum)
	for i := range 2 {
		operands := []reduction.RowOperand{{Ref: stats, Size: momentsReducer.AccumulatorBytes(c.d)}, {Ref: pairs, Size: 2 * c.wide.Size()}}
		for k := range 2 {
			to := spec.Out(1 + 2*i + k)
			if c.own != c.wide {
				to = planner.AddScratch(c.plan, int64(c.count*c.wide.Size()))
			}
			operands = append(operands, reduction.RowOperand{Ref: to, Size: c.wide.Size()})
		}
		err = reduction.AddPerRow(c.plan, c.t, runningShader, c.wide, c.count, func(count int) any {
			return runningParams{uint32(count), uint32(c.total()), uint32(i), high, low}
		}, spec.Ref{}, operands...)
		for k := 0; k < 2 && c.own != c.wide && err == nil; k++ {
			err = reduction.AddNarrow(c.plan, c.t, c.count, operands[2+k].Ref, spec.Out(1+2*i+k), c.own)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// widen appends the steps that convert elements of dtype d to the dtype of accumulators.
func (c channelPlan) widen(from spec.Ref) (spec.Ref, error) {
	if c.wide == c.d {
		return from, nil
	}
	g := normGrad{t: c.t, plan: c.plan, d: c.d, wide: c.wide, v: planner.AxisView{Outer: 1, N: c.pictures * c.count * c.size, Inner: 1}}
	to, nothing := planner.AddScratch(c.plan, int64(g.v.N*c.wide.Size())), planner.AddScratch(c.plan, 0)
	return to, g.addConversion(normScaleShader, from, to, 0, func(x planner.Chunk, base, made uint32) (spec.Bind, any) {
		return spec.Bind{Buf: nothing}, scaleParams{Count: uint32(x.Elems()), N: uint32(x.N), Base: base, Made: made, Plain: 1}
	})
}

// gradient appends the steps of the gradients of inputs 0 (the elements) and 1 (gamma) and of beta.
// Input 2 is the gradient of the result.
func (c channelPlan) gradient() error {
	x, err := c.widen(spec.In(0))
	if err != nil {
		return err
	}
	dy, err := c.widen(spec.In(2))
	if err != nil {
		return err
	}
	stats, err := c.moments(x, c.wide)
	if err != nil {
		return err
	}
	ones, err := addAffine(c.plan, c.t, c.own, c.wide, c.count, spec.Ref{}, spec.Ref{})
	if err != nil {
		return err
	}
	table, err := c.table(stats, ones, false)
	if err != nil {
		return err
	}
	bytes := int64(c.pictures) * int64(c.count) * int64(c.size) * int64(c.wide.Size())
	hat := planner.AddScratch(c.plan, bytes)
	if err := c.apply(table, x, hat, c.wide); err != nil {
		return err
	}
	sums, err := c.perChannel(dotReducer, c.wide, hat, dy)
	if err != nil {
		return err
	}
	if err := c.columnGradients(sums); err != nil {
		return err
	}
	dx := spec.Out(0)
	if c.wide != c.d {
		dx = planner.AddScratch(c.plan, bytes)
	}
	if c.groups > 0 {
		err = c.groupGradient(stats, hat, dy, dx)
	} else {
		err = c.batchGradient(stats, sums, hat, dy, dx)
	}
	if err != nil || c.wide == c.d {
		return err
	}
	return reduction.AddNarrow(c.plan, c.t, c.pictures*c.count*c.size, dx, spec.Out(0), c.d)
}

// columnGradients appends the steps that write the gradients of gamma and beta.
func (c channelPlan) columnGradients(sums spec.Ref) error {
	size := c.wide.Size()
	out := [2]spec.Ref{spec.Out(1), spec.Out(2)}
	if c.own != c.wide {
		out = [2]spec.Ref{planner.AddScratch(c.plan, int64(c.count*size)), planner.AddScratch(c.plan, int64(c.count*size))}
	}
	err := reduction.AddPerRow(c.plan, c.t, normColumnsShader, c.wide, c.count, func(count int) any { return columnsParams{uint32(count)} }, spec.Ref{},
		reduction.RowOperand{Ref: sums, Size: 2 * size}, reduction.RowOperand{Ref: out[0], Size: size}, reduction.RowOperand{Ref: out[1], Size: size})
	for i := 0; i < 2 && c.own != c.wide && err == nil; i++ {
		err = reduction.AddNarrow(c.plan, c.t, c.count, out[i], spec.Out(1+i), c.own)
	}
	return err
}

// batchGradient appends the steps that compute dx where each channel has statistics of its own.
func (c channelPlan) batchGradient(stats, sums, hat, dy, dx spec.Ref) error {
	pairs, err := addAffine(c.plan, c.t, c.own, c.wide, c.count, spec.In(1), spec.Ref{})
	if err != nil {
		return err
	}
	high, low := split(c.eps)
	table, err := c.eachPart(func(x planner.Chunk, made spec.Bind, word uint32) spec.Step {
		p := gradTableParams{Count: uint32(x.Elems()), N: uint32(x.N), Made: word, Total: uint32(c.total()), Eps: high, EpsLow: low}
		own, w := planner.WordWindow(c.t, stats, momentsReducer.AccumulatorBytes(c.wide), x.Row, x.N)
		sum, s := planner.WordWindow(c.t, sums, 2*c.wide.Size(), x.Row, x.N)
		side, q := planner.WordWindow(c.t, pairs, 2*c.wide.Size(), x.Row, x.N)
		p.Stats, p.Sums, p.Pairs = w, s, q
		return spec.Step{Module: spirv.Kernel(gradTableShader + "." + c.wide.String()), Params: p, Bind: []spec.Bind{own, sum, side, made}}
	})
	if err != nil {
		return err
	}
	return rowMap{shader: normGradShader, reducer: channelTable, total: 1}.add(c.plan, c.t, c.wide, c.view(), table, dx, hat, dy)
}

// groupGradient appends the steps that compute dx where groups of channels share statistics. It
// is the gradient of a layer norm of rows.
func (c channelPlan) groupGradient(stats, hat, dy, dx spec.Ref) error {
	gamma := spec.In(1)
	if c.own != c.wide {
		one := c
		one.channels, one.d = channels{pictures: 1, count: c.count, size: 1}, c.own
		made, err := one.widen(spec.In(1))
		if err != nil {
			return err
		}
		gamma = made
	}
	all := tensor.Contiguous(c.wide, c.pictures, c.count, c.size)
	grad := planner.AddScratch(c.plan, all.Bytes())
	if err := elementwise.AddBinary(c.plan, c.t, mulShader, []tensor.Desc{all, tensor.Contiguous(c.wide, c.count, 1)}, all, [3]spec.Ref{dy, gamma, grad}); err != nil {
		return err
	}
	v := c.shared()
	sums, err := reduction.Add(c.plan, c.t, dotReducer, c.wide, v, spec.Ref{}, hat, grad)
	if err != nil {
		return err
	}
	high, low := split(c.eps)
	err = reduction.AddPerRow(c.plan, c.t, normRowsShader, c.wide, v.Outer, func(count int) any {
		return gradStatsParams{uint32(count), uint32(v.N), high, low}
	}, spec.Ref{}, reduction.RowOperand{Ref: sums, Size: 2 * c.wide.Size()}, reduction.RowOperand{Ref: stats, Size: momentsReducer.AccumulatorBytes(c.wide)})
	if err != nil {
		return err
	}
	return rowMap{shader: normGradShader, reducer: momentsReducer}.add(c.plan, c.t, c.wide, v, stats, dx, hat, grad)
}
