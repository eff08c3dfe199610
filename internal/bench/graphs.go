package bench

import "fmt"

// Graph is a network measured as a compiled graph and call by call, in turns. The bench does not measure it itself: the front door
// compiles graphs.
type Graph struct {
	Name string `json:"name"`
	// Calls and Launches are those of a run of the compiled graph, and EagerCalls and EagerLaunches those of the network call by call.
	Calls         int `json:"calls"`
	Launches      int `json:"launches"`
	EagerCalls    int `json:"eager_calls"`
	EagerLaunches int `json:"eager_launches"`
	// Flops and Bytes are the least arithmetic and memory traffic of a run of the compiled graph, and EagerBytes the traffic call by call.
	Flops      int64 `json:"flops"`
	Bytes      int64 `json:"bytes"`
	EagerBytes int64 `json:"eager_bytes"`
	// Arena is the memory of intermediate values in bytes.
	Arena    int64  `json:"arena_bytes"`
	Compiled Timing `json:"compiled"`
	Eager    Timing `json:"eager"`
	// Ratio is the time call by call divided by that of the compiled graph.
	Ratio float64 `json:"ratio"`
}

// Measure times two functions, which run the graph and the calls and wait for the results, in turns.
// Errors: those of the functions.
func (g *Graph) Measure(o *Options, compiled, eager func() error) error {
	repeated := func(f func() error) func(times int) func() error {
		return func(times int) func() error {
			return func() error {
				for range times {
					if err := f(); err != nil {
						return err
					}
				}
				return nil
			}
		}
	}
	// There are few networks, and they take long, so each has more time than an operation.
	// Every run waits for its result, as a program does that needs it, so the two are repeated alike.
	n, err := Repeats(repeated(eager), o.each())
	if err != nil {
		return err
	}
	s, err := Interleave(4*o.budget(), 40, repeated(compiled)(n), repeated(eager)(n))
	if err != nil {
		return err
	}
	g.Compiled, g.Eager = timing(s[0].Over(n)), timing(s[1].Over(n))
	g.Ratio = float64(g.Eager.Median) / float64(max(g.Compiled.Median, 1))
	return nil
}

// GraphTable returns the graphs as cells of text. The first line is the header. It is nil if no graphs were measured.
func (r *Report) GraphTable() [][]string {
	if len(r.Graphs) == 0 {
		return nil
	}
	ls := [][]string{{"graph", "compiled", "call by call", "ratio", "launches", "of", "bytes", "of", "GFLOP/s"}}
	for i := range r.Graphs {
		g := &r.Graphs[i]
		ls = append(ls, []string{g.Name, g.Compiled.String(), g.Eager.String(), fmt.Sprintf("%.2f", g.Ratio), fmt.Sprint(g.Launches), fmt.Sprint(g.EagerLaunches),
			megabytes(g.Bytes), megabytes(g.EagerBytes), digits(float64(g.Flops) / float64(max(g.Compiled.Median, 1)))})
	}
	return ls
}

// megabytes writes a size in units of 10⁶ bytes, as rates are written.
func megabytes(n int64) string { return fmt.Sprintf("%.3g MB", float64(n)/1e6) }
