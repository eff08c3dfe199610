// Package tune remembers which strategy of an operation is best on a device. It has the
// choices that package exec measures, the file beside the pipeline cache that keeps them,
// and the choices that a program brings along.
//
// The file has a line of JSON for each choice. Writers only ever append a line,
// in one write, so that processes that share the file keep each other's choices;
// the last line on a call counts. A line that cannot be read is skipped, and the
// file written anew without it when there is something to add.
package tune

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/errs"
)

// Env is the environment variable that sets the mode where the program does not.
const Env = "LATHE_TUNE"

// Mode says where choices come from.
type Mode uint8

// The modes.
const (
	Cached Mode = iota // remembered and shipped ones; nothing is measured
	Off                // none: plans decide by themselves
	Full               // as Cached, and what is missing is measured once
)

// modes are how Env and flags spell them.
var modes = map[string]Mode{"cached": Cached, "off": Off, "full": Full}

func (m Mode) String() string {
	for name, known := range modes {
		if m == known {
			return name
		}
	}
	return fmt.Sprintf("tune.Mode(%d)", m)
}

// ParseMode reads a mode; "" is what LATHE_TUNE says, and Cached if it says
// nothing.
// Errors: ErrInvalidArgument, which names the modes there are.
func ParseMode(text string) (Mode, error) {
	from := ""
	if text == "" {
		text, from = strings.TrimSpace(os.Getenv(Env)), " (from "+Env+")"
	}
	if m, ok := modes[text]; ok || text == "" {
		return m, nil
	}
	return Cached, fmt.Errorf("tune: mode: %w: got %q%s, want off, cached or full", errs.ErrInvalidArgument, text, from)
}

// Device names the device on which a choice was measured.
type Device struct {
	Backend string `json:"backend"`
	Name    string `json:"device"`
	UUID    string `json:"uuid"`
	Driver  string `json:"driver"` // with its version
	ABI     string `json:"abi"`    // fingerprint of the operations and kernels
}

// DeviceOf is the device of info, for the ABI of a fingerprint.
func DeviceOf(info *gpu.Info, abi uint64) Device {
	return Device{Backend: info.Backend, Name: info.Name, UUID: info.UUID.String(), Driver: info.Driver, ABI: fmt.Sprintf("%016x", abi)}
}

// version is the version of the format of a line. In lines of version 1 the strategy has
// the key "variant". Parse reads them too.
const version = 2

// Choice is the best strategy for a class of calls on a device. A file has one on each
// line.
type Choice struct {
	Version int `json:"v"` // written and checked by this package
	Device
	Call     string `json:"call"`     // operation and class, as "matmul f32 f32 0 1 512 512 512"
	Strategy string `json:"strategy"` // one of spec.Op.Strategies
	// Gain is the time of the plan's own strategy divided by that of Strategy. It is 1
	// if they are the same.
	Gain float64 `json:"gain"`
}

// Parse reads the lines of a file, and reports how many it could not read. Choices of
// version 1 are returned as choices of the current version. Lines of a later version are
// skipped, and are not counted.
func Parse(data []byte) (list []Choice, bad int) {
	for line := range bytes.Lines(data) {
		var c struct {
			Choice
			Variant string `json:"variant"`
		}
		err := json.Unmarshal(line, &c)
		if c.Version == 1 {
			c.Version, c.Strategy = version, c.Variant
		}
		switch {
		case len(bytes.TrimSpace(line)) == 0 || c.Version > version:
		case err != nil || c.Version == version && (c.Call == "" || c.Strategy == ""):
			bad++
		case c.Version == version:
			list = append(list, c.Choice)
		}
	}
	return list, bad
}

// Format writes choices as a file has them, in order of device and call.
func Format(list []Choice) []byte {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b Choice) int {
		return cmp.Or(cmp.Compare(a.Backend, b.Backend), cmp.Compare(a.Name, b.Name), cmp.Compare(a.UUID, b.UUID), cmp.Compare(a.Call, b.Call))
	})
	var text []byte
	for _, c := range list {
		text = append(text, c.line()...)
	}
	return text
}

func (c Choice) line() []byte {
	c.Version = version
	text, err := json.Marshal(c)
	if err != nil { // a gain that is no number
		c.Gain = 0
		text, _ = json.Marshal(c)
	}
	return append(text, '\n')
}

// fileName is the file's name in the folder of the pipeline cache.
const fileName = "tuning.jsonl"

// most is how large a file grows, in bytes.
const most = 1 << 20

// Path is the file in which choices are kept. It lies in the folder cacheDir. If cacheDir
// is empty, it lies in Lathe's folder below the user's cache folder, beside the compiled
// pipelines. Path returns "" if the user has no cache folder.
func Path(cacheDir string) string {
	if cacheDir == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return ""
		}
		cacheDir = filepath.Join(base, "lathe")
	}
	return filepath.Join(cacheDir, fileName)
}

// Database holds the choices for one device. It may be used by many goroutines.
type Database struct {
	mode   Mode
	device Device
	path   string

	mu      sync.RWMutex
	choices map[string]Choice // by call
	count   atomic.Int64
	version atomic.Uint64 // one more for each change
	mend    bool          // the file has lines that cannot be read
}

// Open returns the choices for a device. It reads the file of path, unless path is empty.
// A choice from the file is valid if it was measured on the same device, with the same
// driver and kernels. For a call without such a choice, a choice from shipped is used. It
// is valid if it was measured on a device of the same name with the same kernels; one
// with the same driver is preferred. A bad line in the file is not an error: plans then
// decide by themselves.
// Errors: ErrInvalidArgument for shipped choices that cannot be read.
func Open(mode Mode, device Device, path string, shipped ...[]byte) (*Database, error) {
	b := &Database{mode: mode, device: device, path: path, choices: map[string]Choice{}}
	for _, data := range shipped {
		list, bad := Parse(data)
		if bad > 0 {
			return nil, fmt.Errorf("tune: open: %w: %d of the lines of shipped choices cannot be read", errs.ErrInvalidArgument, bad)
		}
		for rank := range 3 { // the best last
			for _, c := range list {
				if b.fits(c) == rank+1 {
					b.choices[c.Call] = c
				}
			}
		}
	}
	if mode != Off {
		list, bad := readFile(path)
		b.mend = bad
		for _, c := range list {
			if b.fits(c) == sameDevice {
				b.choices[c.Call] = c
			}
		}
		b.count.Store(int64(len(b.choices)))
	}
	return b, nil
}

// sameDevice is how well a choice fits that was made on the device itself.
const sameDevice = 3

// fits is how well a choice fits the device, 0 if not at all.
func (b *Database) fits(c Choice) int {
	switch {
	case c.Backend != b.device.Backend || c.Name != b.device.Name || c.ABI != b.device.ABI:
		return 0
	case c.Driver != b.device.Driver:
		return 1
	case c.UUID != b.device.UUID:
		return 2
	}
	return sameDevice
}

// Mode is what Open was told. A nil Database is Off.
func (b *Database) Mode() Mode {
	if b == nil {
		return Off
	}
	return b.mode
}

// Idle reports whether there is nothing to look up, which costs nothing.
func (b *Database) Idle() bool { return b == nil || b.count.Load() == 0 }

// Version is a number that changes whenever Find may return another result. It is 0 for a
// nil Database.
func (b *Database) Version() uint64 {
	if b == nil {
		return 0
	}
	return b.version.Load()
}

// Find returns the strategy chosen for a call, or "".
func (b *Database) Find(call []byte) string {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.choices[string(call)].Strategy
}

// Choices lists the choices for the device in order of calls.
func (b *Database) Choices() []Choice {
	b.mu.RLock()
	defer b.mu.RUnlock()
	var list []Choice
	for _, c := range b.choices {
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b Choice) int { return cmp.Compare(a.Call, b.Call) })
	return list
}

// Remember adds a choice, to the file as well.
func (b *Database) Remember(call, strategy string, gain float64) {
	c := Choice{Version: version, Device: b.device, Call: call, Strategy: strategy, Gain: gain}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.choices[call] = c
	b.version.Add(1)
	if b.mode != Off {
		b.count.Store(int64(len(b.choices)))
	}
	b.save(c)
}

// save appends a line to the file. It returns no error: if it fails, a later process
// measures again.
func (b *Database) save(c Choice) {
	if b.path == "" || os.MkdirAll(filepath.Dir(b.path), 0o755) != nil {
		return
	}
	line := c.line()
	if s, err := os.Stat(b.path); b.mend || err == nil && s.Size()+int64(len(line)) > most {
		b.mend = false
		rewrite(b.path)
	}
	f, err := os.OpenFile(b.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return
	}
	f.Write(line)
	f.Close()
}

// readFile returns the choices in a file, and whether some of it is none.
func readFile(path string) (list []Choice, bad bool) {
	if path == "" {
		return nil, false
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, 2*most))
	if err != nil {
		return nil, false
	}
	list, wrong := Parse(data)
	return list, wrong > 0 || len(data) > 0 && data[len(data)-1] != '\n'
}

// rewrite replaces a file in one step. It keeps the last line for each call, and of these
// lines the newest, up to half the largest size of a file.
func rewrite(path string) {
	list, _ := readFile(path)
	type key struct {
		Device
		call string
	}
	seen, room := map[key]bool{}, most/2
	var keep [][]byte
	for _, c := range slices.Backward(list) {
		line := c.line()
		if k := (key{c.Device, c.Call}); !seen[k] && len(line) <= room {
			seen[k] = true
			room -= len(line)
			keep = append(keep, line)
		}
	}
	slices.Reverse(keep)
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return
	}
	_, err = f.Write(bytes.Join(keep, nil))
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Chmod(f.Name(), 0o644)
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
}

// Stored lists all choices of a file, for all devices. If a file has several lines for a
// call on one device, Stored returns the last of them.
func Stored(path string) []Choice {
	list, _ := readFile(path)
	last := map[Choice]int{}
	var out []Choice
	for _, c := range list {
		k := Choice{Device: c.Device, Call: c.Call}
		if i, ok := last[k]; ok {
			out[i] = c
			continue
		}
		last[k] = len(out)
		out = append(out, c)
	}
	return out
}
