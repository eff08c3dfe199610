package graphs_test

import (
	"math"
	"testing"

	"github.com/lathe-gpu/lathe/internal/networks"
	"github.com/lathe-gpu/lathe/tensor"
)

// hostDecoder computes a decoder in float64, without caches: it computes all positions of a text anew.
type hostDecoder struct {
	d       *networks.Decoder
	weights map[string]*tensor.Host
}

func newHostDecoder(d *networks.Decoder) *hostDecoder {
	h := &hostDecoder{d, map[string]*tensor.Host{}}
	weights, _ := d.Shapes()
	for name, desc := range weights {
		h.weights[name] = d.WeightOf(name, desc)
	}
	return h
}

func (h *hostDecoder) norm(x []float64, name string) []float64 {
	sum := 1e-5 * float64(len(x))
	for _, v := range x {
		sum += v * v
	}
	out, w := make([]float64, len(x)), h.weights[name].Floats()
	for i, v := range x {
		out[i] = v / math.Sqrt(sum/float64(len(x))) * w[i]
	}
	return out
}

func (h *hostDecoder) mul(x []float64, name string) []float64 {
	w := h.weights[name]
	n := w.Shape[1]
	out, values := make([]float64, n), w.Floats()
	for i, v := range x {
		for j := range out {
			out[j] += v * values[i*n+j]
		}
	}
	return out
}

// logits are those behind a text.
func (h *hostDecoder) logits(text []int32) []float64 {
	d := h.d
	size, rows := d.Width/d.Heads, make([][]float64, len(text))
	table := h.weights["tokens.vectors"].Floats()
	for i, token := range text {
		rows[i] = append([]float64(nil), table[int(token)*d.Width:(int(token)+1)*d.Width]...)
	}
	rotate := func(x []float64, position int) {
		for i := range size / 2 {
			sin, cos := math.Sincos(float64(position) * math.Pow(10000, -2*float64(i)/float64(size)))
			x[i], x[i+size/2] = x[i]*cos-x[i+size/2]*sin, x[i+size/2]*cos+x[i]*sin
		}
	}
	for l := range d.Layers {
		name := func(s string) string { return "layer" + string(rune('0'+l)) + "." + s }
		keys, values := make([][]float64, len(text)), make([][]float64, len(text))
		for p, x := range rows {
			qkv := h.mul(h.norm(x, name("norm")), name("qkv"))
			for i := range d.Heads + d.KV {
				head := h.norm(qkv[i*size:(i+1)*size], name("head.norm"))
				rotate(head, p)
				copy(qkv[i*size:], head)
			}
			keys[p], values[p] = qkv[d.Width:d.Width+d.KV*size], qkv[d.Width+d.KV*size:]
			mixed := make([]float64, d.Width)
			for i := range d.Heads {
				kv, total := i/(d.Heads/d.KV)*size, 0.0
				for k := range p + 1 {
					score := 0.0
					for e := range size {
						score += qkv[i*size+e] * keys[k][kv+e]
					}
					w := math.Exp(score / math.Sqrt(float64(size)))
					total += w
					for e := range size {
						mixed[i*size+e] += w * values[k][kv+e]
					}
				}
				for e := range size {
					mixed[i*size+e] /= total
				}
			}
			for i, v := range h.mul(mixed, name("o")) {
				rows[p][i] += v
			}
			hidden := h.norm(rows[p], name("mlp.norm"))
			gate := h.mul(hidden, name("gate"))
			for i, v := range h.mul(hidden, name("up")) {
				gate[i] *= v / (1 + math.Exp(-gate[i]))
			}
			for i, v := range h.mul(gate, name("down")) {
				rows[p][i] += v
			}
		}
	}
	return h.mul(h.norm(rows[len(rows)-1], "norm"), "logits")
}

// TestDecoderReference compares a text with the decoder in float64: each token has the largest logit but for rounding, after tokens before have lost theirs by the penalty.
func TestDecoderReference(t *testing.T) {
	const steps = 48
	for _, backend := range []string{"vk", "cpu"} {
		t.Run(backend, func(t *testing.T) {
			d := networks.SmallDecoder(tensor.F32, steps)
			d.Sample.Temperature, d.Sample.RepetitionPenalty = 0, 2
			_, p := prepareDecoder(t, backend, d)
			text := []int32{7}
			for i, token := range decode(t, p, p.Eager, text[0], steps) {
				logits := newHostDecoder(d).logits(text)
				seen := map[int32]bool{}
				for _, before := range text {
					if !seen[before] && logits[before] > 0 {
						logits[before] /= 2
					} else if !seen[before] {
						logits[before] *= 2
					}
					seen[before] = true
				}
				for other, v := range logits {
					if v > logits[token]+1e-4 {
						t.Fatalf("token %d is %d with the logit %v, and %d has %v", i, token, logits[token], other, v)
					}
				}
				text = append(text, token)
			}
		})
	}
}
