package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
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

	"github.com/lathe-gpu/lathe/imageio"
	"github.com/lathe-gpu/lathe/internal/drivers"
	"github.com/lathe-gpu/lathe/internal/launch"
	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
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

// scripts are the files of TestScripts: at the quick level a half of them, and all in a program without
// backends, where they take no time.
func scripts(t *testing.T) (files []string) {
	all, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(all) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	testlevel.Seed(t)
	for i, f := range all {
		if testlevel.Sampled(i, 2) || len(drivers.Built()) == 0 {
			files = append(files, f)
		}
	}
	return files
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Files:               scripts(t),
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
			case "avif":
				return imageio.AVIF.CanEncode(), nil
			case "devfull":
				_, err := os.Stat("/dev/full")
				return err == nil, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "picture": picture, "bomb": bomb, "cut": cut, "shows": shows,
			"waitfile": waitFile, "jsonhas": jsonHas, "files": files, "traced": traced, "endless": endless,
			"photograph": photograph, "sametime": sameTime, "deep": deep, "sampled": sampled, "frames": frames, "film": film, "filmed": filmed, "pages": pages, "bits": bits,
			"profiled": profiled, "pixel": pixel,
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

// photograph FILE writes a JPEG file with EXIF, XMP, IPTC, a profile and a comment, stored on its
// side, and from the year 2001.
func photograph(ts *testscript.TestScript, neg bool, args []string) {
	data, err := testimg.Encode(testimg.Quarters(48, 32), ".jpg")
	ts.Check(err)
	name := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(filepath.Dir(name), 0o777))
	ts.Check(os.WriteFile(name, testimg.Photograph(data, 6, testimg.ICC("RGB ", 300)), 0o666))
	old := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
	ts.Check(os.Chtimes(name, old, old))
}

// deep FILE writes a grey picture of 16 bits.
func deep(ts *testscript.TestScript, neg bool, args []string) {
	m := image.NewGray16(image.Rect(0, 0, 40, 30))
	testimg.Fill(3, m.Pix)
	data, err := testimg.Encode(m, filepath.Ext(args[0]))
	ts.Check(err)
	name := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(filepath.Dir(name), 0o777))
	ts.Check(os.WriteFile(name, data, 0o666))
}

// bits FILE BITS checks how many bits a channel a picture has.
func bits(ts *testscript.TestScript, neg bool, args []string) {
	f, err := os.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	defer f.Close()
	m, _, err := image.DecodeConfig(f)
	ts.Check(err)
	got := "8"
	if m.ColorModel == color.Gray16Model || m.ColorModel == color.RGBA64Model || m.ColorModel == color.NRGBA64Model {
		got = "16"
	}
	if got != args[1] {
		ts.Fatalf("%s has %s bits a channel, want %s", args[0], got, args[1])
	}
}

// profiled FILE [tables] writes a picture that is red as Display P3 has the red of sRGB. It has that profile, which
// also becomes p3.icc, or one with tables that says the same, which becomes tables.icc. Beside it is a profile
// for grey, grey.icc.
func profiled(ts *testscript.TestScript, neg bool, args []string) {
	m := image.NewNRGBA(image.Rect(0, 0, 20, 10))
	for i := 0; i < len(m.Pix); i += 4 {
		copy(m.Pix[i:], []byte{234, 51, 35, 255})
	}
	profile := testimg.RGBProfile(4, testimg.DisplayP3, testimg.SRGBCurve())
	own := "p3.icc"
	if len(args) > 1 {
		own = args[1] + ".icc"
		profile = testimg.TableProfile(4, "RGB ", "XYZ ", "A2B0", testimg.MatrixTag(testimg.DisplayP3, testimg.SRGBCurve()))
	}
	name := ts.MkAbs(args[0])
	format, _ := imageio.ParseFormat(filepath.Ext(name))
	var b bytes.Buffer
	ts.Check(imageio.Encode(context.Background(), &b, m, format, &imageio.EncodeOptions{Source: &imageio.Info{Metadata: &imageio.Metadata{ICC: profile}}}))
	ts.Check(os.MkdirAll(filepath.Dir(name), 0o777))
	ts.Check(os.WriteFile(name, b.Bytes(), 0o666))
	ts.Check(os.WriteFile(ts.MkAbs(own), profile, 0o666))
	ts.Check(os.WriteFile(ts.MkAbs("grey.icc"), testimg.GreyProfile(testimg.Gamma(1.8)), 0o666))
}

// pixel FILE R G B checks the first pixel of a picture, up to 3 levels.
func pixel(ts *testscript.TestScript, neg bool, args []string) {
	f, err := os.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	defer f.Close()
	m, _, err := imageio.Decode(context.Background(), f, nil)
	ts.Check(err)
	c := color.NRGBAModel.Convert(m.At(0, 0)).(color.NRGBA)
	for i, got := range []uint8{c.R, c.G, c.B} {
		want, err := strconv.Atoi(args[1+i])
		ts.Check(err)
		if int(got) > want+3 || int(got) < want-3 {
			ts.Fatalf("%s begins with %v, want %v", args[0], c, args[1:])
		}
	}
}

// frames FILE N writes a GIF of so many frames.
func frames(ts *testscript.TestScript, neg bool, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	var g gif.GIF
	for range n {
		g.Image = append(g.Image, image.NewPaletted(image.Rect(0, 0, 8, 8), color.Palette{color.Black, color.White}))
		g.Delay = append(g.Delay, 10)
	}
	name := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(filepath.Dir(name), 0o777))
	f, err := os.Create(name)
	ts.Check(err)
	ts.Check(gif.EncodeAll(f, &g))
	ts.Check(f.Close())
}

// sampled FILE RATIO [progressive|baseline] checks how a JPEG file stores colours.
func sampled(ts *testscript.TestScript, neg bool, args []string) {
	f, err := os.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	defer f.Close()
	m, _, err := image.Decode(f)
	ts.Check(err)
	got := strings.TrimPrefix(m.(*image.YCbCr).SubsampleRatio.String(), "YCbCrSubsampleRatio")
	if got != strings.ReplaceAll(args[1], ":", "") {
		ts.Fatalf("%s is %s, want %s", args[0], got, args[1])
	}
	if len(args) > 2 {
		progressive := bytes.Contains([]byte(ts.ReadFile(args[0])), []byte("\xff\xc2\x00\x11"))
		if progressive != (args[2] == "progressive") {
			ts.Fatalf("%s is not %s", args[0], args[2])
		}
	}
}

// sametime A B checks that two files have the same modification time, or with ! that they do not.
func sameTime(ts *testscript.TestScript, neg bool, args []string) {
	a, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	b, err := os.Stat(ts.MkAbs(args[1]))
	ts.Check(err)
	if a.ModTime().Equal(b.ModTime()) == neg {
		ts.Fatalf("%s is of %v, %s of %v", args[0], a.ModTime(), args[1], b.ModTime())
	}
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
