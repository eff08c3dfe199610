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
// A selector is an index in infos, a UUID, or a part of a name in upper or lower case. A
// number after the last index counts as a part of a name. An empty selector matches all
// devices.
//
// Hardware is better than a CPU driver. Among hardware, and among CPU drivers, the
// backend that comes first in infos is better. Within a backend, the better Kind is
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
	if i, err := strconv.Atoi(selector); err == nil && i >= 0 && i < len(infos) {
		return []int{i}, nil
	}
	match := func(info *Info) bool {
		return strings.Contains(strings.ToLower(info.Name), strings.ToLower(selector))
	}
	if id, err := uuid.Parse(selector); err == nil {
		match = func(info *Info) bool { return info.UUID == id }
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
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := &infos[i], &infos[j]
		switch {
		case a.Kind == CPU != (b.Kind == CPU):
			return cmp.Compare(a.Kind, b.Kind) // CPU is the last Kind
		case a.Backend != b.Backend:
			return cmp.Compare(backend[a.Backend], backend[b.Backend])
		}
		return cmp.Compare(a.Kind, b.Kind)
	})
	return order, nil
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

// OnlyCPU returns the warning for a program that gets a CPU driver although its selector,
// see Choose, selects no device. It returns "" if there is nothing to warn of.
func OnlyCPU(info *Info, selector string) string {
	if asked, _ := Selector(selector); asked != "" || info == nil || info.Kind != CPU {
		return ""
	}
	return fmt.Sprintf("lathe: no GPU found, using the CPU driver %s", info.Name)
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
