package tune

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
)

func testDevice() Device {
	info := null.DefaultInfo()
	info.UUID[0], info.Driver = 7, "driver 1.2"
	return DeviceOf(&info, 0xabc)
}

func open(t *testing.T, mode Mode, d Device, path string, shipped ...[]byte) *Database {
	t.Helper()
	b, err := Open(mode, d, path, shipped...)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestParseMode(t *testing.T) {
	for _, c := range []struct {
		env, text string
		want      Mode
		ok        bool
	}{
		{"", "", Cached, true}, {"off", "", Off, true}, {" full ", "", Full, true}, {"cached", "off", Off, true},
		{"on", "", Cached, false}, {"on", "full", Full, true}, {"", "Full", Cached, false},
	} {
		t.Setenv(Env, c.env)
		got, err := ParseMode(c.text)
		if got != c.want || (err == nil) != c.ok {
			t.Errorf("%s=%q and %q: %v, %v; want %v", Env, c.env, c.text, got, err, c.want)
		}
		if err != nil && (!errors.Is(err, errs.ErrInvalidArgument) || !strings.Contains(err.Error(), "want off, cached or full")) {
			t.Errorf("%q: the error %q does not name the modes", c.text, err)
		}
	}
	if Full.String() != "full" || Mode(9).String() != "tune.Mode(9)" {
		t.Errorf("names: %v, %v", Full, Mode(9))
	}
}

// TestRoundTrip remembers, and finds in the next process.
func TestRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b", fileName)
	b := open(t, Full, testDevice(), path)
	if !b.Idle() || b.Find([]byte("add f32 16")) != "" {
		t.Error("a new database knows something")
	}
	b.Remember("add f32 16", "texels", 1.5)
	b.Remember("add f32 32", "texels", 1)
	b.Remember("add f32 16", "storage", 2)
	next := open(t, Cached, testDevice(), path)
	for _, b := range []*Database{b, next} {
		if b.Idle() || b.Find([]byte("add f32 16")) != "storage" || b.Find([]byte("add f32 32")) != "texels" || b.Find([]byte("add f32 64")) != "" {
			t.Errorf("%+v", b.Choices())
		}
	}
	if d := cmp.Diff(b.Choices(), next.Choices()); d != "" {
		t.Error(d)
	}
	if got := Stored(path); len(got) != 2 || got[0].Strategy != "storage" {
		t.Errorf("in the file: %+v", got)
	}
	list, bad := Parse(Format(b.Choices()))
	if d := cmp.Diff(b.Choices(), list); d != "" || bad != 0 {
		t.Errorf("%d bad, %s", bad, d)
	}
	if off := open(t, Off, testDevice(), path); !off.Idle() || off.Mode() != Off {
		t.Error("off looks choices up")
	}
	var none *Database
	if !none.Idle() || none.Mode() != Off {
		t.Error("no database is not off")
	}
}

// TestKey wants a choice forgotten when what it was measured on has changed.
func TestKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), fileName)
	open(t, Full, testDevice(), path).Remember("add f32 16", "texels", 2)
	for what, change := range map[string]func(*Device){
		"driver": func(d *Device) { d.Driver = "driver 1.3" }, "device": func(d *Device) { d.UUID = "other" },
		"name": func(d *Device) { d.Name = "other" }, "backend": func(d *Device) { d.Backend = "vk" }, "ABI": func(d *Device) { d.ABI = "0" },
	} {
		d := testDevice()
		change(&d)
		if b := open(t, Cached, d, path); !b.Idle() {
			t.Errorf("another %s has the choices %+v", what, b.Choices())
		}
	}
}

// TestShipped serves any device of the name, best one of its own driver; what
// was measured on the device counts more.
func TestShipped(t *testing.T) {
	at := func(uuid, driver, abi, strategy string) Choice {
		d := testDevice()
		if d.ABI = abi; uuid != "" {
			d.UUID = uuid
		}
		d.Driver = driver
		return Choice{Device: d, Call: "add f32 16", Strategy: strategy}
	}
	abi := testDevice().ABI
	for _, c := range []struct {
		rows []Choice
		want string
	}{
		{[]Choice{at("x", "driver 1.2", abi, "same driver"), at("x", "driver 1.1", abi, "older")}, "same driver"},
		{[]Choice{at("x", "driver 1.1", abi, "older")}, "older"},
		{[]Choice{at("", "driver 1.2", abi, "own"), at("x", "driver 1.2", abi, "same driver")}, "own"},
		{[]Choice{at("", "driver 1.2", "0", "other kernels")}, ""},
	} {
		if got := open(t, Cached, testDevice(), "", Format(c.rows)).Find([]byte("add f32 16")); got != c.want {
			t.Errorf("of %+v: %q, want %q", c.rows, got, c.want)
		}
	}
	path := filepath.Join(t.TempDir(), fileName)
	open(t, Full, testDevice(), path).Remember("add f32 16", "measured", 2)
	b := open(t, Cached, testDevice(), path, Format([]Choice{at("", "driver 1.2", abi, "own")}))
	if got := b.Find([]byte("add f32 16")); got != "measured" {
		t.Errorf("shipped before measured: %q", got)
	}
	if _, err := Open(Cached, testDevice(), "", []byte("{}\nnonsense\n")); !errors.Is(err, errs.ErrInvalidArgument) {
		t.Errorf("nonsense shipped: %v", err)
	}
}

// TestVersion1 reads the file of an earlier Lathe, whose lines have other keys.
func TestVersion1(t *testing.T) {
	d := testDevice()
	old := fmt.Sprintf(`{"v":1,"backend":%q,"device":%q,"uuid":%q,"driver":%q,"abi":%q,"call":"add f32 16","variant":"texels","gain":2}`+"\n", d.Backend, d.Name, d.UUID, d.Driver, d.ABI)
	path := filepath.Join(t.TempDir(), fileName)
	if err := os.WriteFile(path, []byte(old), 0o644); err != nil {
		t.Fatal(err)
	}
	b := open(t, Full, d, path)
	b.Remember("add f32 32", "storage", 1)
	for _, b := range []*Database{b, open(t, Cached, d, path), open(t, Cached, d, "", []byte(old), Format([]Choice{{Device: d, Call: "add f32 32", Strategy: "storage"}}))} {
		if a, s := b.Find([]byte("add f32 16")), b.Find([]byte("add f32 32")); a != "texels" || s != "storage" {
			t.Errorf("found %q and %q, want texels and storage", a, s)
		}
	}
	if list, bad := Parse([]byte(`{"v":1,"call":"add f32 16","strategy":"texels"}`)); len(list) != 0 || bad != 1 {
		t.Errorf("a line of version 1 without its key: %v, %d bad", list, bad)
	}
}

// TestCorrupt skips what is no choice, keeps the others, and mends the file.
func TestCorrupt(t *testing.T) {
	good := string(Format([]Choice{{Device: testDevice(), Call: "add f32 16", Strategy: "texels", Gain: 2}}))
	for what, c := range map[string]struct {
		text string
		has  bool
	}{
		"empty": {"", false}, "junk": {strings.Repeat("\x00junk\n", 1000), false}, "cut": {good[:len(good)-9], false}, "no end": {good[:len(good)-1], true},
		"junk before": {"junk\n" + good, true}, "junk behind": {good + "{\"v\":2", true}, "nothing in it": {"{\"v\":2}\n" + good, true},
		"later version": {"{\"v\":99,\"call\":[]}\n" + good, true}, "other JSON": {"[1]\n3\n" + good, true}, "long": {strings.Repeat("x", 3*most) + "\n" + good, false},
	} {
		path := filepath.Join(t.TempDir(), fileName)
		if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		b := open(t, Full, testDevice(), path)
		if has := b.Find([]byte("add f32 16")) == "texels"; has != c.has {
			t.Errorf("%s: choice there: %v, want %v", what, has, c.has)
		}
		b.Remember("add f32 32", "storage", 1)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		list, bad := Parse(data)
		want := 1
		if c.has {
			want = 2
		}
		if len(list) != want || bad != 0 || len(data) > most {
			t.Errorf("%s: %d choices, %d bad lines, %d bytes afterwards; want %d choices", what, len(list), bad, len(data), want)
		}
	}
}

// TestUnusable gives places where nothing can be kept: the choices live on in
// memory.
func TestUnusable(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(dir, "folder")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	closed := filepath.Join(dir, "closed")
	if err := os.Mkdir(closed, 0o555); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"", filepath.Join(file, "x"), folder, "/proc/none/x", filepath.Join(closed, "x")} {
		b := open(t, Full, testDevice(), path)
		b.Remember("add f32 16", "texels", 2)
		if b.Find([]byte("add f32 16")) != "texels" {
			t.Errorf("%q: forgotten", path)
		}
	}
}

// TestConcurrent has several databases write the same file at once.
func TestConcurrent(t *testing.T) {
	path := filepath.Join(t.TempDir(), fileName)
	const databases, each = 8, 50
	var wg sync.WaitGroup
	for i := range databases {
		b := open(t, Full, testDevice(), path)
		wg.Go(func() {
			for k := range each {
				b.Remember(fmt.Sprintf("add f32 %d %d", i, k), "texels", 1.25)
				b.Find([]byte("add f32 16"))
			}
		})
	}
	wg.Wait()
	if b := open(t, Cached, testDevice(), path); len(b.Choices()) != databases*each || b.mend {
		t.Errorf("%d choices of %d, bad lines: %v", len(b.Choices()), databases*each, b.mend)
	}
}

// TestBounded keeps a file from growing without end: the newest choices stay.
func TestBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), fileName)
	line := Choice{Device: testDevice(), Call: "add f32 16 16", Strategy: "texels", Gain: 1}.line()
	if err := os.WriteFile(path, bytes.Repeat(line, most/len(line)), 0o644); err != nil {
		t.Fatal(err)
	}
	b := open(t, Full, testDevice(), path)
	b.Remember("add f32 1", "storage", 1)
	if s, err := os.Stat(path); err != nil || s.Size() > 1000 {
		t.Errorf("repeated lines: %v, %v", s.Size(), err)
	}
	for i := range 2 * most / len(line) {
		b.Remember(fmt.Sprintf("mul f32 %d %d", i, i), "texels", 1)
	}
	s, err := os.Stat(path)
	if err != nil || s.Size() > most || s.Size() < most/4 {
		t.Errorf("size %d, %v", s.Size(), err)
	}
	last := fmt.Sprintf("mul f32 %d %d", 2*most/len(line)-1, 2*most/len(line)-1)
	if next := open(t, Cached, testDevice(), path); next.Find([]byte(last)) != "texels" {
		t.Error("the newest choice is lost")
	}
}

func TestPath(t *testing.T) {
	if got := Path("x"); got != filepath.Join("x", fileName) {
		t.Error(got)
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	if got := Path(""); got != "" && filepath.Base(filepath.Dir(got)) != "lathe" {
		t.Error(got)
	}
}
