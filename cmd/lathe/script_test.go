package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	_ "golang.org/x/image/webp"

	"github.com/lathe-gpu/lathe/internal/drivers"
	"github.com/lathe-gpu/lathe/internal/launch"
	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/vk"
	"github.com/lathe-gpu/lathe/wgpu"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"lathe": main})
}

// hasDevice reports whether there is a device; where LATHE_REQUIRE_DEVICE is
// set there has to be one, and the tests that need it fail.
func hasDevice() bool {
	if testkit.DeviceRequired() {
		return true
	}
	infos, err := drivers.List(context.Background(), "")
	return err == nil && len(infos) > 0
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			// The scripts' own home and cache, but this machine's drivers.
			e.Setenv("XDG_CACHE_HOME", filepath.Join(e.WorkDir, ".cache"))
			for _, k := range []string{"VK_DRIVER_FILES", "VK_ICD_FILENAMES", "LD_LIBRARY_PATH", "LATHE_DEVICE", "LATHE_BACKEND", "LATHE_WGPU_API"} {
				if v, ok := os.LookupEnv(k); ok {
					e.Setenv(k, v)
				}
			}
			extra, err := filepath.Abs("../../internal/extra")
			e.Setenv("EXTRA", extra)
			return err
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "device":
				return hasDevice(), nil
			case "vulkan":
				return vk.Built, nil
			case "none":
				return len(drivers.Built()) == 0, nil
			case "cpu":
				return drivers.Has(drivers.CPU), nil
			case "webgpu":
				if !vk.Built || !wgpu.Built {
					return false, nil
				}
				if testkit.DeviceRequired() {
					return true, nil
				}
				a, errA := vk.List(context.Background())
				b, errB := wgpu.List(context.Background())
				return errA == nil && errB == nil && len(a) > 0 && len(b) > 0, nil
			case "devfull":
				_, err := os.Stat("/dev/full")
				return err == nil, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "picture": picture, "bomb": bomb, "cut": cut, "shows": shows,
			"waitfile": waitFile, "jsonhas": jsonHas, "files": files, "traced": traced, "endless": endless,
		},
	})
}

// endless FILE writes a shader that has no end.
func endless(ts *testscript.TestScript, neg bool, args []string) {
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), launch.Endless(), 0o666))
}

// exits CODE COMMAND... runs a command and checks its exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// picture FILE WIDTHxHEIGHT [ORIENTATION] writes a picture of four coloured
// quarters; with an EXIF orientation, a JPEG stored as that says.
func picture(ts *testscript.TestScript, neg bool, args []string) {
	var w, h int
	_, err := fmt.Sscanf(args[1], "%dx%d", &w, &h)
	ts.Check(err)
	o := 1
	if len(args) > 2 {
		o, err = strconv.Atoi(args[2])
		ts.Check(err)
	}
	sw, sh := w, h
	if o >= 5 {
		sw, sh = h, w
	}
	seen := testimg.Quarters(w, h)
	m := image.NewNRGBA(image.Rect(0, 0, sw, sh))
	for y := range sh {
		for x := range sw {
			// Where the stored pixel is seen.
			vx, vy := x, y
			switch o {
			case 2:
				vx = w - 1 - x
			case 3:
				vx, vy = w-1-x, h-1-y
			case 4:
				vy = h - 1 - y
			case 5:
				vx, vy = y, x
			case 6:
				vx, vy = w-1-y, x
			case 7:
				vx, vy = w-1-y, h-1-x
			case 8:
				vx, vy = y, h-1-x
			}
			m.SetNRGBA(x, y, seen.NRGBAAt(vx, vy))
		}
	}
	data, err := testimg.Encode(m, strings.ToLower(filepath.Ext(args[0])))
	ts.Check(err)
	if o != 1 {
		data = testimg.WithSegments(data, "Exif\x00\x00"+string(testimg.Exif(uint16(o), binary.BigEndian)))
	}
	name := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(filepath.Dir(name), 0o777))
	ts.Check(os.WriteFile(name, data, 0o666))
}

// bomb FILE writes a PNG of a few bytes that says it is 60000×60000.
func bomb(ts *testscript.TestScript, neg bool, args []string) {
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), testimg.Bomb(60000, 60000), 0o666))
}

// cut FILE shortens a file to half.
func cut(ts *testscript.TestScript, neg bool, args []string) {
	name := ts.MkAbs(args[0])
	info, err := os.Stat(name)
	ts.Check(err)
	ts.Check(os.Truncate(name, info.Size()/2))
}

// shows FILE FORMAT WIDTHxHEIGHT [plain|inverted] checks a picture: its
// format, its size and that its quarters are where they belong.
func shows(ts *testscript.TestScript, neg bool, args []string) {
	f, err := os.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	defer f.Close()
	m, format, err := image.Decode(f)
	ts.Check(err)
	b := m.Bounds()
	if size := fmt.Sprintf("%dx%d", b.Dx(), b.Dy()); format != args[1] || size != args[2] {
		ts.Fatalf("%s is %s %s, want %s %s", args[0], format, size, args[1], args[2])
	}
	if len(args) < 4 {
		return
	}
	for q, want := range testimg.Corners {
		if args[3] == "inverted" {
			want.R, want.G, want.B = 255-want.R, 255-want.G, 255-want.B
		}
		x, y := b.Dx()/4+q%2*(b.Dx()/2), b.Dy()/4+q/2*(b.Dy()/2)
		got := color.NRGBAModel.Convert(m.At(b.Min.X+x, b.Min.Y+y)).(color.NRGBA)
		d := func(a, b uint8) int { return max(int(a)-int(b), int(b)-int(a)) }
		if max(d(got.R, want.R), d(got.G, want.G), d(got.B, want.B)) > 45 { // GIF's palette is coarse
			ts.Fatalf("%s: quarter %d is %v, want %v", args[0], q, got, want)
		}
	}
}

// waitFile PATTERN waits until a file matches.
func waitFile(ts *testscript.TestScript, neg bool, args []string) {
	for range 3000 {
		if found, _ := filepath.Glob(ts.MkAbs(args[0])); len(found) > 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	ts.Fatalf("no file matched %s within 30 s", args[0])
}

// jsonHas PATH VALUE checks a value of the JSON on standard output. PATH is
// keys and indices with dots between; a VALUE of "*" only wants it to exist.
func jsonHas(ts *testscript.TestScript, neg bool, args []string) {
	var v any
	if err := json.Unmarshal([]byte(ts.ReadFile("stdout")), &v); err != nil {
		ts.Fatalf("not JSON: %v", err)
	}
	for key := range strings.SplitSeq(args[0], ".") {
		switch x := v.(type) {
		case map[string]any:
			next, ok := x[key]
			if !ok {
				ts.Fatalf("no %q in %v", key, x)
			}
			v = next
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(x) {
				ts.Fatalf("no element %s in %v", key, x)
			}
			v = x[i]
		default:
			ts.Fatalf("%v has no %s", v, key)
		}
	}
	if args[1] == "*" {
		return
	}
	var want any
	if json.Unmarshal([]byte(args[1]), &want) != nil {
		want = args[1]
	}
	if !reflect.DeepEqual(v, want) {
		ts.Fatalf("%s is %v, want %v", args[0], v, want)
	}
}

// files FOLDER NAME... checks that the folder holds these files and no others,
// hidden ones included.
func files(ts *testscript.TestScript, neg bool, args []string) {
	var got []string
	root := ts.MkAbs(args[0])
	ts.Check(filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(root, path)
			got = append(got, filepath.ToSlash(rel))
		}
		return err
	}))
	if g, w := strings.Join(got, " "), strings.Join(args[1:], " "); g != w {
		ts.Fatalf("%s holds %q, want %q", args[0], g, w)
	}
}

// traced FILE [NAME...] checks that the file is a whole trace with spans of these
// names, in which all threads have names.
func traced(ts *testscript.TestScript, neg bool, args []string) {
	var file struct {
		TraceEvents []struct {
			Name, Ph string
			PID, TID int
		}
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &file))
	seen, threads := map[string]bool{}, map[[2]int]bool{}
	for _, e := range file.TraceEvents {
		if e.Name == "thread_name" {
			threads[[2]int{e.PID, e.TID}] = true
		}
		if e.Ph != "X" {
			continue
		}
		seen[e.Name] = true
		if !threads[[2]int{e.PID, e.TID}] {
			ts.Fatalf("%s: %s is in a thread without a name", args[0], e.Name)
		}
	}
	for _, name := range args[1:] {
		if !seen[name] {
			ts.Fatalf("%s has no %s, only %v", args[0], name, seen)
		}
	}
}
