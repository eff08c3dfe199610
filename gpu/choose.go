package gpu

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// SelectorEnv is the environment variable that selects a device where the
// program does not.
const SelectorEnv = "LATHE_DEVICE"

// Choose returns the index in infos of the device that selector means: the
// index itself, a UUID, or a part of a name in any case. Of several devices
// with a fitting name, and of all devices where the selector is empty and
// LATHE_DEVICE is too, it picks the best Kind, and the first of that Kind. A
// number past the last index is taken as a part of a name.
//
// Errors: ErrNoDevice, listing the devices there are.
func Choose(infos []Info, selector string) (int, error) {
	from := ""
	if selector = strings.TrimSpace(selector); selector == "" {
		if selector = strings.TrimSpace(os.Getenv(SelectorEnv)); selector != "" {
			from = " (from " + SelectorEnv + ")"
		}
	}
	if len(infos) == 0 {
		return 0, fmt.Errorf("gpu: choose: %w: there is none", ErrNoDevice)
	}
	if selector == "" {
		return best(infos, func(*Info) bool { return true }), nil
	}
	if i, err := strconv.Atoi(selector); err == nil && i >= 0 && i < len(infos) {
		return i, nil
	}
	match := func(info *Info) bool {
		return strings.Contains(strings.ToLower(info.Name), strings.ToLower(selector))
	}
	if id, err := uuid.Parse(selector); err == nil {
		match = func(info *Info) bool { return info.UUID == id }
	}
	if i := best(infos, match); i >= 0 {
		return i, nil
	}
	return 0, fmt.Errorf("gpu: choose: %w: none fits %q%s; give an index, a part of a name or a UUID of:\n%s",
		ErrNoDevice, selector, from, Describe(infos))
}

// Describe lists devices one a line: index, name, kind, backend and UUID.
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

// best is the first device of the best kind among those that match, or -1.
func best(infos []Info, match func(*Info) bool) int {
	at := -1
	for i := range infos {
		if match(&infos[i]) && (at < 0 || infos[i].Kind < infos[at].Kind) {
			at = i
		}
	}
	return at
}
