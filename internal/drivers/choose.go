package drivers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/device"
)

// Source is a backend from which Choose may take a device.
type Source[D any] struct {
	Name string
	// List describes the devices of the backend without opening one. If it is nil, the
	// backend must be opened to know what it runs on. With an error it may return the
	// devices that can be used in spite of the error.
	List func(ctx context.Context) ([]gpu.Info, error)
	// Open opens device i of List. Without List it opens the device that the backend
	// chooses.
	Open func(ctx context.Context, i int) (D, error)
	// Info describes the device that Open has opened. It is used without List. If it is
	// nil, nothing is known of the device, and it counts as hardware.
	Info func(D) *gpu.Info
	// Skip, if set, says why the backend cannot have hardware that is not among the
	// devices found so far. It returns "" if the backend can have other hardware. A
	// skipped backend is looked at later if no other device can be opened.
	Skip func(found []gpu.Info) string
}

// Choice is the result of Choose.
type Choice struct {
	Source string   // the name of the backend
	Info   gpu.Info // of the device; its Backend is Source
	Listed bool     // Info comes from Source.List
	Why    []string // one line for each backend looked at: why it was taken or not

	failed bool     // a better device could not be opened, and warn was told so
	alone  bool     // no other backend than cpu was to be looked at
	broken []string // what is wrong with backends that have no hardware, if anything
	found  []gpu.Info
}

// Choose chooses a device from the sources. The best source comes first. selector is that
// of gpu.Rank, for the devices of all sources with a List, in order. Without a selector
// hardware comes first, then the device of package cpu, then CPU drivers. Of two equal
// devices, that of the first source is taken. With the selector "cpu" Choose looks at the
// source of that name only, so no driver is loaded.
//
// Choose opens the device that it takes and no other. If that device cannot be opened,
// it reports so to warn and tries the next best. Choose looks at the sources in
// order, and stops when it has found hardware. If a source has no List, Choose opens its
// device to see whether that is hardware, and closes it again if it takes another device.
//
// Errors: ErrNoDevice (no source has a device that fits; the text says what each one
// said), the errors of opening each device that fits, ctx.Err().
func Choose[D io.Closer](ctx context.Context, sources []Source[D], selector string, warn func(string)) (D, Choice, error) {
	selector, from := gpu.Selector(selector)
	if warn == nil {
		warn = func(string) {}
	}
	if strings.EqualFold(selector, CPU) {
		var names []string
		for i := range sources {
			names = append(names, sources[i].Name)
		}
		i := slices.Index(names, CPU)
		if i < 0 {
			var d D
			return d, Choice{alone: true}, cpuMissing(from, strings.Join(names, " or "))
		}
		sources = sources[i : i+1]
	}
	c := chooser[D]{sources: sources, states: make([]state[D], len(sources)), selector: selector, from: from, warn: warn}
	d, at, err := c.run(ctx)
	for i := range c.states {
		if s := &c.states[i]; s.opened && (err != nil || i != at.source) {
			if e := s.device.Close(); e != nil {
				c.warn(fmt.Sprintf("lathe: closing a device of %s: %v", sources[i].Name, e))
			}
		}
	}
	if err != nil {
		return d, Choice{Why: c.why(nil), alone: c.alone(), found: c.infos()}, err
	}
	return d, Choice{Source: sources[at.source].Name, Info: at.info, Listed: sources[at.source].List != nil, Why: c.why(&at),
		failed: c.failed, alone: c.alone(), broken: c.broken(), found: c.infos()}, nil
}

// cpuMissing is the error for the selector "cpu" if the backend cpu is not among those of names.
// from says where the selector comes from.
func cpuMissing(from, backend string) error {
	if err := Missing(CPU); err != nil {
		return err
	}
	return fmt.Errorf("gpu: choose: %w: \"cpu\"%s is the device of the backend cpu, but the backend is %s; choose the backend cpu or auto",
		gpu.ErrNoDevice, from, backend)
}

// Explain says which source Choose would take if no device is selected, and why. It returns
// "" if there is none. It looks at all sources. lists has the devices of each source, the
// best source first.
func Explain(names []string, lists [][]gpu.Info) (name string, why []string) {
	sources := make([]Source[nothing], len(names))
	for i := range names {
		sources[i] = Source[nothing]{Name: names[i],
			List: func(context.Context) ([]gpu.Info, error) { return lists[i], nil },
			Open: func(context.Context, int) (nothing, error) { return nothing{}, nil }}
	}
	c := chooser[nothing]{sources: sources, states: make([]state[nothing], len(sources)), all: true, warn: func(string) {}}
	_, at, err := c.run(context.Background())
	if err != nil {
		return "", c.why(nil)
	}
	return names[at.source], c.why(&at)
}

// nothing stands in for a device, because Explain opens none.
type nothing struct{}

// Close does nothing.
func (nothing) Close() error { return nil }

// chooser is the state of one call of Choose.
type chooser[D io.Closer] struct {
	sources  []Source[D]
	states   []state[D]
	selector string
	from     string // where the selector comes from, for errors
	all      bool   // look at every source, whatever was found
	warn     func(string)
	found    []candidate
	failed   bool // a device was taken because a better one could not be opened
}

// state is what a chooser knows of a source.
type state[D io.Closer] struct {
	looked  bool
	err     error  // of List, or of opening a device
	skipped string // why it was passed over
	device  D      // of a source without a List
	opened  bool   // device is there
}

// candidate is a device that could be taken.
type candidate struct {
	source, index int
	info          gpu.Info // its Backend is the name of the source
	tried         bool
}

// run finds and opens the device to take.
func (c *chooser[D]) run(ctx context.Context) (d D, at candidate, err error) {
	var failed []error
	for {
		if err := ctx.Err(); err != nil {
			return d, at, err
		}
		if c.lookFurther(ctx) {
			continue
		}
		k, err := c.best()
		if err != nil && len(failed) == 0 {
			return d, at, c.none(err)
		}
		if err != nil {
			return d, at, errors.Join(failed...)
		}
		at = c.found[k]
		s := &c.states[at.source]
		if s.opened {
			return s.device, at, nil
		}
		if d, err = c.sources[at.source].Open(ctx, at.index); err == nil {
			if c.failed = len(failed) > 0; c.failed {
				c.warn(fmt.Sprintf("lathe: using %s by %s, because another device cannot be opened: %v", at.info.Name, at.info.Backend, failed[0]))
			}
			return d, at, nil
		}
		c.found[k].tried = true
		s.err = err
		failed = append(failed, err)
	}
}

// lookFurther looks at one more source if the devices found so far do not decide. It
// reports whether it did.
func (c *chooser[D]) lookFurther(ctx context.Context) bool {
	left, hardware := 0, false
	for i := range c.found {
		if !c.found[i].tried {
			left++
			hardware = hardware || c.found[i].info.Kind != gpu.CPU
		}
	}
	if hardware && c.selector == "" && !c.all {
		return false
	}
	for i := range c.states {
		s, src := &c.states[i], &c.sources[i]
		if s.looked || s.skipped != "" && left > 0 {
			continue
		}
		if src.Skip != nil && c.selector == "" && left > 0 {
			if s.skipped = src.Skip(c.infos()); s.skipped != "" {
				continue
			}
		}
		s.looked = true
		c.look(ctx, i)
		return true
	}
	return false
}

// look finds the devices of a source.
func (c *chooser[D]) look(ctx context.Context, i int) {
	s, src := &c.states[i], &c.sources[i]
	if src.List == nil {
		if s.device, s.err = src.Open(ctx, -1); s.err != nil {
			return
		}
		s.opened = true
		info := gpu.Info{Name: src.Name, Kind: gpu.Other}
		if src.Info != nil {
			if p := src.Info(s.device); p != nil {
				info = *p
			}
		}
		info.Backend = src.Name
		c.found = append(c.found, candidate{source: i, index: -1, info: info})
		return
	}
	infos, err := src.List(ctx)
	s.err = err
	for k, info := range infos {
		info.Backend = src.Name
		c.found = append(c.found, candidate{source: i, index: k, info: info})
	}
}

// alone reports whether cpu is the only source.
func (c *chooser[D]) alone() bool { return len(c.sources) == 1 && c.sources[0].Name == CPU }

// infos are the devices found, in the order of the sources.
func (c *chooser[D]) infos() []gpu.Info {
	list := make([]gpu.Info, len(c.found))
	for i := range c.found {
		list[i] = c.found[i].info
	}
	return list
}

// best is the best candidate that was not tried yet. A selector is for devices of a List.
// The device of a source without a List fits any selector.
func (c *chooser[D]) best() (int, error) {
	var infos []gpu.Info
	var at []int
	for i := range c.found {
		if c.sources[c.found[i].source].List != nil || c.selector == "" {
			infos, at = append(infos, c.found[i].info), append(at, i)
		} else if !c.found[i].tried && c.found[i].info.Kind != gpu.CPU {
			return i, nil
		}
	}
	order, err := gpu.Rank(infos, c.selector)
	if err != nil && len(infos) > 0 && c.from != "" {
		return 0, fmt.Errorf("%w\nthe selector is that of %s", err, gpu.SelectorEnv)
	}
	if err != nil {
		return 0, err
	}
	for _, k := range order {
		if i := at[k]; !c.found[i].tried {
			return i, nil
		}
	}
	return 0, gpu.ErrNoDevice
}

// none is the error if no device fits. If there is no device at all it is made of the
// errors of the sources, otherwise it is err.
func (c *chooser[D]) none(err error) error {
	if len(c.found) > 0 {
		return err
	}
	var said []error
	for i := range c.states {
		if c.states[i].err != nil {
			said = append(said, c.states[i].err)
		}
	}
	switch len(said) {
	case 0:
		return err
	case 1:
		return said[0]
	}
	return errors.Join(said...)
}

// broken says what is wrong with the sources that have no hardware. A machine without
// drivers and devices is in order.
func (c *chooser[D]) broken() (said []string) {
	for i := range c.states {
		var unusable *device.Unusable
		if err := c.states[i].err; err != nil && (!errors.Is(err, gpu.ErrNoDevice) || errors.As(err, &unusable)) {
			line, _, _ := strings.Cut(err.Error(), "\n")
			said = append(said, "lathe: "+line)
		}
	}
	return said
}

// why says for each source that was looked at why the device was taken from it or not. If
// no device was taken, the argument is nil.
func (c *chooser[D]) why(taken *candidate) []string {
	var lines []string
	for i := range c.states {
		s, name := &c.states[i], c.sources[i].Name
		var cpu, hardware string // a device of each sort
		for _, f := range c.found {
			switch text := fmt.Sprintf("%s (%v)", f.info.Name, f.info.Kind); {
			case f.source != i:
			case f.info.Kind == gpu.CPU:
				cpu = text
			case hardware == "":
				hardware = text
			}
		}
		text := ""
		switch {
		case s.skipped != "" && !s.looked:
			text = "not looked at: " + s.skipped
		case !s.looked:
			continue
		case taken != nil && taken.source == i && c.selector != "":
			text = "taken: it has the device asked for: " + taken.info.Name
		case taken != nil && taken.source == i && taken.info.Kind != gpu.CPU:
			text = "taken: it has hardware: " + hardware
		case taken != nil && taken.source == i && name == CPU:
			text = "taken: no backend has hardware, and it needs none: " + cpu
		case taken != nil && taken.source == i:
			text = "taken: no backend has hardware, and it is the first with a CPU driver: " + cpu
		case s.err != nil:
			text = fmt.Sprintf("not taken: %v", s.err)
		case hardware+cpu == "":
			text = "no device"
		case hardware != "" && taken != nil && taken.source < i:
			text = fmt.Sprintf("not taken: it has hardware, and so has %s, which comes first", c.sources[taken.source].Name)
		case hardware != "":
			text = "not taken: it has another device than the one asked for: " + hardware
		default:
			text = "not taken: no hardware: " + cpu
		}
		lines = append(lines, name+": "+text)
	}
	return lines
}
