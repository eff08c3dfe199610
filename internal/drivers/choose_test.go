package drivers

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/device"
)

var (
	card  = info("", "card", gpu.Discrete, 1)
	chip  = info("", "chip", gpu.Integrated, 2)
	plain = info("", "soft", gpu.CPU, 3)
	own   = info("", "ours", gpu.CPU, 4)
)

func TestExplain(t *testing.T) {
	for _, c := range []struct {
		name     string
		vk, wgpu []gpu.Info
		want     string
		why      string // of the other one, or of the one taken
		cpu      []gpu.Info
	}{
		{"nothing", nil, nil, "", "vk: no device; wgpu: no device", nil},
		{"both have hardware", []gpu.Info{plain, chip}, []gpu.Info{card}, "vk", "wgpu: not taken: it has hardware, and so has vk", nil},
		{"only wgpu has hardware", []gpu.Info{plain}, []gpu.Info{plain, chip}, "wgpu", "vk: not taken: no hardware", nil},
		{"no hardware", []gpu.Info{plain}, []gpu.Info{plain}, "vk", "vk: taken: no backend has hardware, and it is the first", nil},
		{"no Vulkan", nil, []gpu.Info{plain}, "wgpu", "vk: no device; wgpu: taken", nil},
		{"no WebGPU", []gpu.Info{card}, nil, "vk", "wgpu: no device", nil},
		{"no hardware, but ours", []gpu.Info{plain}, []gpu.Info{plain}, "cpu", "vk: not taken: no hardware: soft (CPU); wgpu: not taken: no hardware: soft (CPU); cpu: taken: no backend has hardware, and it needs none: ours", []gpu.Info{own}},
		{"nothing but ours", nil, nil, "cpu", "vk: no device; wgpu: no device; cpu: taken", []gpu.Info{own}},
		{"hardware and ours", []gpu.Info{card}, nil, "vk", "wgpu: no device; cpu: not taken: no hardware: ours", []gpu.Info{own}},
		{"hardware of wgpu and ours", []gpu.Info{plain}, []gpu.Info{chip}, "wgpu", "wgpu: taken", []gpu.Info{own}},
	} {
		name, why := Explain([]string{"vk", "wgpu", "cpu"}, [][]gpu.Info{c.vk, c.wgpu, c.cpu})
		if text := strings.Join(why, "; "); name != c.want || !strings.Contains(text, c.why) {
			t.Errorf("%s: took %q (%s), want %q (%s)", c.name, name, text, c.want, c.why)
		}
	}
}

// opened is a device of a made-up backend. It keeps a log of what happens to it.
type opened struct {
	name string
	log  *[]string
}

func (o opened) Close() error {
	*o.log = append(*o.log, "close "+o.name)
	return nil
}

// TestChoose makes up backends and wants a log of what was listed, opened and closed:
// of several devices only the one taken is opened.
func TestChoose(t *testing.T) {
	t.Setenv(gpu.SelectorEnv, "")
	broken := errors.New("broken")
	type backend struct {
		name   string
		infos  []gpu.Info
		hidden bool // has no List
		bad    []string
		skip   string
	}
	for _, c := range []struct {
		name     string
		backends []backend
		selector string
		log      string
		err      error
		warns    int
	}{
		{"hardware of the first", []backend{{name: "a", infos: []gpu.Info{plain, chip, card}}, {name: "b", infos: []gpu.Info{card}}}, "", "list a, open a card", nil, 0},
		{"hardware of the second", []backend{{name: "a", infos: []gpu.Info{plain}}, {name: "b", infos: []gpu.Info{plain, chip}}}, "", "list a, list b, open b chip", nil, 0},
		{"no hardware", []backend{{name: "a", infos: []gpu.Info{plain}}, {name: "b", infos: []gpu.Info{plain}}}, "", "list a, list b, open a soft", nil, 0},
		{"the first has none", []backend{{name: "a"}, {name: "b", infos: []gpu.Info{plain}}}, "", "list a, list b, open b soft", nil, 0},
		{"the best is broken", []backend{{name: "a", infos: []gpu.Info{chip, card}, bad: []string{"card"}}, {name: "b", infos: []gpu.Info{card}}}, "", "list a, open a card, open a chip", nil, 1},
		{"all hardware is broken", []backend{{name: "a", infos: []gpu.Info{plain, card}, bad: []string{"card"}}, {name: "b", infos: []gpu.Info{card}, bad: []string{"card"}}}, "",
			"list a, open a card, list b, open b card, open a soft", nil, 1},
		{"everything is broken", []backend{{name: "a", infos: []gpu.Info{card}, bad: []string{"card"}}}, "", "list a, open a card", broken, 0},
		{"nothing", []backend{{name: "a"}, {name: "b"}}, "", "list a, list b", gpu.ErrNoDevice, 0},
		{"selected by name", []backend{{name: "a", infos: []gpu.Info{card}}, {name: "b", infos: []gpu.Info{chip}}}, "CHIP", "list a, list b, open b chip", nil, 0},
		{"selected by number", []backend{{name: "a", infos: []gpu.Info{card, chip}}, {name: "b", infos: []gpu.Info{plain}}}, "2", "list a, list b, open b soft", nil, 0},
		{"selected and not there", []backend{{name: "a", infos: []gpu.Info{card}}}, "chip", "list a", gpu.ErrNoDevice, 0},
		{"selected and broken", []backend{{name: "a", infos: []gpu.Info{card, chip}, bad: []string{"chip"}}}, "chip", "list a, open a chip", broken, 0},
		{"the same drivers", []backend{{name: "a", infos: []gpu.Info{plain}}, {name: "b", infos: []gpu.Info{card}, skip: "the same"}}, "", "list a, open a soft", nil, 0},
		{"the same drivers, broken", []backend{{name: "a", infos: []gpu.Info{plain}, bad: []string{"soft"}}, {name: "b", infos: []gpu.Info{plain}, skip: "the same"}}, "", "list a, open a soft, list b, open b soft", nil, 1},
		{"ours", []backend{{name: "vk", infos: []gpu.Info{plain}}, {name: "wgpu", infos: []gpu.Info{plain}}, {name: "cpu", infos: []gpu.Info{own}}}, "", "list vk, list wgpu, list cpu, open cpu ours", nil, 0},
		{"ours alone", []backend{{name: "vk"}, {name: "wgpu"}, {name: "cpu", infos: []gpu.Info{own}}}, "", "list vk, list wgpu, list cpu, open cpu ours", nil, 0},
		{"hardware before ours", []backend{{name: "vk", infos: []gpu.Info{card}}, {name: "cpu", infos: []gpu.Info{own}}}, "", "list vk, open vk card", nil, 0},
		{"ours for broken hardware", []backend{{name: "vk", infos: []gpu.Info{plain, card}, bad: []string{"card"}}, {name: "cpu", infos: []gpu.Info{own}}}, "", "list vk, open vk card, list cpu, open cpu ours", nil, 1},
		{"ours is broken", []backend{{name: "vk", infos: []gpu.Info{plain}}, {name: "cpu", infos: []gpu.Info{own}, bad: []string{"ours"}}}, "", "list vk, list cpu, open cpu ours, open vk soft", nil, 1},
		{"ours by its selector", []backend{{name: "vk", infos: []gpu.Info{card}}, {name: "cpu", infos: []gpu.Info{own}}}, "CPU", "list cpu, open cpu ours", nil, 0},
		{"ours by its name", []backend{{name: "vk", infos: []gpu.Info{card}}, {name: "cpu", infos: []gpu.Info{own}}}, "our", "list vk, list cpu, open cpu ours", nil, 0},
		{"ours by its number", []backend{{name: "vk", infos: []gpu.Info{card, plain}}, {name: "cpu", infos: []gpu.Info{own}}}, "2", "list vk, list cpu, open cpu ours", nil, 0},
		{"ours of another backend", []backend{{name: "vk", infos: []gpu.Info{plain}}}, "cpu", "", gpu.ErrNoDevice, 0},
		{"unlisted hardware", []backend{{name: "a", infos: []gpu.Info{card}, hidden: true}, {name: "b", infos: []gpu.Info{card}}}, "", "open a card", nil, 0},
		{"unlisted CPU", []backend{{name: "a", infos: []gpu.Info{plain}, hidden: true}, {name: "b", infos: []gpu.Info{card}}}, "", "open a soft, list b, open b card, close a soft", nil, 0},
		{"unlisted CPU alone", []backend{{name: "a", infos: []gpu.Info{plain}, hidden: true}, {name: "b"}}, "", "open a soft, list b", nil, 0},
		{"unlisted and broken", []backend{{name: "a", infos: []gpu.Info{card}, hidden: true, bad: []string{"card"}}, {name: "b", infos: []gpu.Info{plain}}}, "", "open a card, list b, open b soft", nil, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var log []string
			var sources []Source[opened]
			for _, b := range c.backends {
				s := Source[opened]{Name: b.name}
				s.Open = func(_ context.Context, i int) (opened, error) {
					o := opened{b.name + " " + b.infos[max(i, 0)].Name, &log}
					log = append(log, "open "+o.name)
					if slices.Contains(b.bad, b.infos[max(i, 0)].Name) {
						return opened{}, broken
					}
					return o, nil
				}
				if b.hidden {
					s.Info = func(opened) *gpu.Info { return &b.infos[0] }
				} else {
					s.List = func(context.Context) ([]gpu.Info, error) {
						log = append(log, "list "+b.name)
						if len(b.infos) == 0 {
							return nil, gpu.ErrNoDevice
						}
						return b.infos, nil
					}
				}
				if b.skip != "" {
					s.Skip = func([]gpu.Info) string { return b.skip }
				}
				sources = append(sources, s)
			}
			warnings := 0
			_, choice, err := Choose(t.Context(), sources, c.selector, func(string) { warnings++ })
			if text := strings.Join(log, ", "); text != c.log {
				t.Errorf("got %s; want %s", text, c.log)
			}
			if !errors.Is(err, c.err) || warnings != c.warns {
				t.Errorf("got %v and %d warnings, want %v and %d", err, warnings, c.err, c.warns)
			}
			if err == nil && !strings.Contains(strings.Join(choice.Why, "\n"), choice.Source+": taken") {
				t.Errorf("took %s; why: %q", choice.Source, choice.Why)
			}
		})
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := Choose(stopped, []Source[opened]{}, "", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}
}

// TestWarn says that the processor was taken, and what is wrong with the drivers.
func TestWarn(t *testing.T) {
	program(t, "linux", nil) // a hint has no place here
	t.Setenv(gpu.SelectorEnv, "")
	broken := errors.New("vk: list: out of memory\nlooked for: much")
	unusable := &device.Unusable{Err: errors.New("vk: a device cannot be used: Old: Vulkan 1.0")}
	for _, c := range []struct {
		name     string
		infos    []gpu.Info // of vk
		err      error
		selector string
		want     string
	}{
		{"nothing", nil, gpu.ErrNoDevice, "", "lathe: no GPU found, using the processor: ours"},
		{"a CPU driver", []gpu.Info{plain}, nil, "", "lathe: no GPU found, using the processor: ours"},
		{"broken", nil, broken, "", "lathe: vk: list: out of memory\nlathe: no GPU found, using the processor: ours"},
		{"unusable", []gpu.Info{plain}, unusable, "", "lathe: vk: a device cannot be used: Old: Vulkan 1.0\nlathe: no GPU found, using the processor: ours"},
		{"unusable, and another one", []gpu.Info{card}, unusable, "", ""},
		{"asked for", nil, broken, "cpu", ""},
		{"asked for by number", []gpu.Info{plain}, nil, "1", ""},
		{"asked for by name", []gpu.Info{plain}, unusable, "OUR", `lathe: no GPU matches "OUR", using the processor: ours`},
		{"another one asked for", []gpu.Info{plain}, unusable, "soft", ""},
		{"closed", []gpu.Info{{Name: "closed", Kind: gpu.Discrete}}, nil, "", "lathe: using ours by cpu, because another device cannot be opened: vk: list: out of memory\nlooked for: much"},
	} {
		var said []string
		warn := func(text string) { said = append(said, text) }
		sources := []Source[nothing]{
			{Name: "vk", List: func(context.Context) ([]gpu.Info, error) { return c.infos, c.err },
				Open: func(_ context.Context, i int) (nothing, error) {
					if c.infos[i].Name == "closed" {
						return nothing{}, broken
					}
					return nothing{}, nil
				}},
			{Name: "cpu", List: func(context.Context) ([]gpu.Info, error) { return []gpu.Info{own}, nil },
				Open: func(context.Context, int) (nothing, error) { return nothing{}, nil }},
		}
		_, choice, err := Choose(t.Context(), sources, c.selector, warn)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		Warn(choice, Auto, c.selector, warn)
		if text := strings.Join(said, "\n"); text != c.want {
			t.Errorf("%s: said %q, want %q", c.name, text, c.want)
		}
	}
}
