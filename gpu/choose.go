package gpu

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// SelectorEnv is the environment variable that selects a device if the program does not.
const SelectorEnv = "LATHE_DEVICE"

// own is the Backend of package cpu. As a selector, in upper or lower case, it matches
// the device of that backend and no other.
const own = "cpu"

// Choose returns the index in infos of the best device that selector matches. If the
// selector is empty, that of LATHE_DEVICE counts. It is the first index that Rank
// returns.
// Errors: ErrNoDevice, which lists the existing devices.
func Choose(infos []Info, selector string) (int, error) {
	selector, from := Selector(selector)
	order, err := rank(infos, selector, from)
	if err != nil {
		return 0, err
	}
	return order[0], nil
}

// Rank returns the indices in infos of the devices that selector matches, the best first.
// A selector is an index in infos, a UUID, "cpu" for the device of package cpu, or a part
// of a name in upper or lower case. Digits alone are an index, unless they are the 32 of a
// UUID. An empty selector matches all devices.
//
// Hardware is better than a device on the CPU. Among hardware, and among devices on the
// CPU, the backend that comes first in infos is better. But the device of package cpu is
// better than CPU drivers of Vulkan and WebGPU. Within a backend, the better Kind is
// better, and then the device that comes first.
//
// Errors: ErrNoDevice, which lists the existing devices.
func Rank(infos []Info, selector string) ([]int, error) {
	return rank(infos, strings.TrimSpace(selector), "")
}

// rank is Rank. from says in errors where the selector comes from.
func rank(infos []Info, selector, from string) ([]int, error) {
	if len(infos) == 0 {
		return nil, fmt.Errorf("gpu: choose: %w: the list of devices is empty", ErrNoDevice)
	}
	if isIndex(selector) {
		i, err := strconv.Atoi(selector)
		if err != nil || i >= len(infos) {
			return nil, fmt.Errorf("gpu: choose: %w: no device has the index %s%s (want 0 to %d, or a part of a name, or a UUID) of:\n%s",
				ErrNoDevice, selector, from, len(infos)-1, Describe(infos))
		}
		return []int{i}, nil
	}
	match := func(info *Info) bool {
		return strings.Contains(strings.ToLower(info.Name), strings.ToLower(selector))
	}
	if id, err := uuid.Parse(selector); err == nil {
		match = func(info *Info) bool { return info.UUID == id }
	} else if strings.EqualFold(selector, own) {
		match = func(info *Info) bool { return info.Backend == own }
	}
	var order []int
	backend := map[string]int{} // backend is the first index of each backend.
	for i := range infos {
		if _, seen := backend[infos[i].Backend]; !seen {
			backend[infos[i].Backend] = i
		}
		if selector == "" || match(&infos[i]) {
			order = append(order, i)
		}
	}
	if len(order) == 0 {
		return nil, fmt.Errorf("gpu: choose: %w: no device matches %q%s; give an index, a part of a name or a UUID of:\n%s",
			ErrNoDevice, selector, from, Describe(infos))
	}
	// place is where the devices on the CPU of a backend come: package cpu comes just
	// before the first of Vulkan and WebGPU.
	place := func(name string) int {
		at := 2 * backend[name]
		if name != own {
			return at
		}
		for _, driver := range []string{"vk", "wgpu"} {
			if i, there := backend[driver]; there {
				at = min(at, 2*i-1)
			}
		}
		return at
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := &infos[i], &infos[j]
		switch {
		case a.Kind == CPU != (b.Kind == CPU):
			return cmp.Compare(a.Kind, b.Kind) // CPU is the last Kind
		case a.Backend != b.Backend && a.Kind == CPU:
			return cmp.Compare(place(a.Backend), place(b.Backend))
		case a.Backend != b.Backend:
			return cmp.Compare(backend[a.Backend], backend[b.Backend])
		}
		return cmp.Compare(a.Kind, b.Kind)
	})
	return order, nil
}

// isIndex reports whether a selector is an index: digits, and no UUID.
func isIndex(selector string) bool {
	_, err := uuid.Parse(selector)
	return err != nil && selector != "" && strings.Trim(selector, "0123456789") == ""
}

// Selector returns the selector that counts: given, or that of LATHE_DEVICE if given is
// empty. The result is empty if both are. from is " (from LATHE_DEVICE)" if the selector
// comes from there, and empty otherwise.
func Selector(given string) (selector, from string) {
	if given = strings.TrimSpace(given); given != "" {
		return given, ""
	}
	if selector = strings.TrimSpace(os.Getenv(SelectorEnv)); selector != "" {
		from = " (from " + SelectorEnv + ")"
	}
	return selector, from
}

// OnlyCPU returns the warning for a program that gets a device on the CPU although its
// selector, see Choose, selects none. If the selector is a part of the name of the
// processor, which may be that of a GPU too, OnlyCPU says what was taken. It returns "" if
// there is nothing to warn of.
func OnlyCPU(info *Info, selector string) string {
	if info == nil || info.Kind != CPU {
		return ""
	}
	what := "the CPU driver " + info.Name
	if info.Backend == own {
		what = "the processor: " + info.Name
	}
	asked, _ := Selector(selector)
	if asked == "" {
		return "lathe: no GPU found, using " + what
	}
	_, id := uuid.Parse(asked)
	if info.Backend == own && !isIndex(asked) && id != nil && !strings.EqualFold(asked, own) {
		return fmt.Sprintf("lathe: no GPU matches %q, using %s", asked, what)
	}
	return ""
}

// Describe lists devices, one in each line: index, name, kind, backend and UUID.
func Describe(infos []Info) string {
	var b strings.Builder
	for i := range infos {
		info := &infos[i]
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "  %d: %s (%v, %s, %v)", i, info.Name, info.Kind, info.Backend, info.UUID)
	}
	return b.String()
}
