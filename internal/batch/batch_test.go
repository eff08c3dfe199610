package batch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe/imageio"
	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	"github.com/lathe-gpu/lathe/spec"
)

// negative is a Processor that inverts colours and counts.
type negative struct {
	calls, at, most atomic.Int64
	wait            time.Duration
	err             func(n int64) error
}

func (p *negative) ApplyTo(ctx context.Context, dst draw.Image, src image.Image, calls ...spec.Call) error {
	n := p.calls.Add(1)
	p.most.Store(max(p.most.Load(), p.at.Add(1)))
	defer p.at.Add(-1)
	if p.err != nil {
		if err := p.err(n); err != nil {
			return err
		}
	}
	if p.wait > 0 {
		select {
		case <-time.After(p.wait):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if s, ok := src.(*image.NRGBA64); ok {
		d := dst.(*image.NRGBA64)
		for i, v := range s.Pix {
			if i%8 < 6 {
				v = 255 - v
			}
			d.Pix[i] = v
		}
		return nil
	}
	s, d := src.(*image.NRGBA), dst.(*image.NRGBA)
	for i, v := range s.Pix {
		if i%4 != 3 {
			v = 255 - v
		}
		d.Pix[i] = v
	}
	return nil
}

type call struct{}

func (call) Spec() *spec.Op { return &spec.Op{Name: "negative"} }

var calls = []spec.Call{call{}}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// encoded returns the picture in a format.
func encoded(m image.Image, ext string) []byte { return must(testimg.Encode(m, ext)) }

// tree writes files below a new folder and makes it the current one.
func tree(t *testing.T, files map[string][]byte) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, data := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// run finds, plans and runs.
func run(t *testing.T, ctx context.Context, p Processor, inputs []string, f FindOptions, n Naming, o Options) *Report {
	t.Helper()
	found := must(Find(ctx, inputs, f))
	jobs := must(Plan(found, n))
	rep, err := Run(ctx, p, calls, jobs, o)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

// lines words a report: one line a file.
func lines(r *Report) string {
	var b strings.Builder
	for _, f := range r.Files {
		fmt.Fprintf(&b, "%s > %s: %s", filepath.ToSlash(f.Input), filepath.ToSlash(f.Output), f.Status)
		if f.Err != nil {
			fmt.Fprintf(&b, " (%v)", f.Err)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// noLeftovers fails if a temporary file is left anywhere below the current folder.
func noLeftovers(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, d os.DirEntry, err error) error {
		if strings.HasSuffix(path, ".tmp") {
			t.Errorf("%s is left behind", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestRunEveryFormat(t *testing.T) {
	m := testimg.Quarters(16, 10)
	files := map[string][]byte{}
	for _, ext := range []string{".jpg", ".png", ".gif", ".bmp", ".tiff", ".webp"} {
		files["in/a"+ext[1:]+ext] = encoded(m, ext)
	}
	for _, format := range []imageio.Format{"", imageio.JPEG, imageio.PNG, imageio.TIFF, imageio.GIF} {
		tree(t, files)
		rep := run(t, t.Context(), &negative{}, []string{"in"}, FindOptions{}, Naming{Format: format}, Options{Folder: "out"})
		if rep.Count(OK) != len(files) {
			t.Fatalf("format %q:\n%s", format, lines(rep))
		}
		for _, f := range rep.Files {
			data := must(os.ReadFile(f.Output))
			got, kind, err := image.Decode(bytes.NewReader(data))
			if err != nil {
				t.Errorf("%s: %v", f.Output, err)
				continue
			}
			want := format
			if format == "" {
				if want, _ = ParseFormat(filepath.Ext(f.Input)); want == "" {
					want = imageio.PNG
				}
			}
			if kind != string(want) {
				t.Errorf("%s: it is %s, want %s", f.Output, kind, want)
			}
			if int64(len(data)) != f.OutBytes || f.InBytes != int64(len(files[filepath.ToSlash(f.Input)])) {
				t.Errorf("%s: sizes %d → %d are not the files'", f.Output, f.InBytes, f.OutBytes)
			}
			if strings.Contains(f.Input, "webp") {
				continue
			}
			c := color.NRGBAModel.Convert(got.At(2, 2)).(color.NRGBA)
			slack := 12
			if strings.Contains(f.Input, "gif") {
				slack = 45 // the test writes GIF with a general palette
			}
			if got.Bounds().Size() != image.Pt(16, 10) || testimg.Distance(c, color.NRGBA{35, 225, 225, 255}) > slack {
				t.Errorf("%s: %v, its first corner %v", f.Output, got.Bounds(), c)
			}
		}
		if rep.Pixels != 5*160+1 {
			t.Errorf("pixels: got %d, want %d", rep.Pixels, 5*160+1)
		}
		noLeftovers(t)
	}
}

func TestBadFilesStopNothing(t *testing.T) {
	m := testimg.Quarters(40, 30)
	j, p := encoded(m, ".jpg"), encoded(m, ".png")
	corrupt := append([]byte(nil), p...)
	corrupt[len(corrupt)-20] ^= 0x55
	tree(t, map[string][]byte{
		"in/a.jpg":        j,
		"in/bomb.png":     testimg.Bomb(60000, 60000),
		"in/corrupt.png":  corrupt,
		"in/cut.jpg":      j[:len(j)-200],
		"in/cut.png":      p[:40],
		"in/empty.jpg":    nil,
		"in/text.jpg":     []byte("not a picture at all"),
		"in/wrongext.jpg": p,
		"in/z.jpg":        j,
		"in/notes.txt":    []byte("left alone"),
		"in/.hidden.jpg":  []byte("left alone"),
	})
	for _, link := range [][2]string{{"loop.jpg", "in/loop.jpg"}, {"nowhere", "in/dangling.jpg"}, {".", "in/dir.jpg"}} {
		testkit.System(t, "symbolic links", os.Symlink(link[0], link[1]))
	}
	rep := run(t, t.Context(), &negative{}, []string{"in", "missing.jpg", "in/notes.txt"}, FindOptions{}, Naming{}, Options{Folder: "out"})
	got := lines(rep)
	for _, want := range []string{
		"in/a.jpg > out/a.jpg: ok\n",
		"in/bomb.png > out/bomb.png: failed (picture too large: 60000×60000 is 3600 MP, the limit is 268.4 MP",
		"in/corrupt.png > out/corrupt.png: failed (damaged picture: ",
		"in/cut.jpg > out/cut.jpg: failed (damaged picture: ",
		"in/cut.png > out/cut.png: failed (damaged picture: the file ends too early)",
		"in/dangling.jpg > out/dangling.jpg: failed (no such file",
		"in/empty.jpg > out/empty.jpg: failed (the file is empty)",
		"in/loop.jpg > out/loop.jpg: failed (too many levels of symbolic links)",
		"in/text.jpg > out/text.jpg: failed (not a picture in a format",
		"in/wrongext.jpg > out/wrongext.jpg: ok\n",
		"in/z.jpg > out/z.jpg: ok\n",
		"missing.jpg > : failed (no such file",
		"in/notes.txt > out/notes.png: failed (not a picture",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	if n := strings.Count(got, "\n"); n != 13 {
		t.Errorf("%d lines, want 13", n)
	}
	if t.Failed() {
		t.Log("\n" + got)
	}
	if n := len(must(os.ReadDir("out"))); n != 3 {
		t.Errorf("%d outputs, want 3", n)
	}
	noLeftovers(t)
}

func TestNeverOntoAnInput(t *testing.T) {
	j := encoded(testimg.Quarters(8, 8), ".jpg")
	tree(t, map[string][]byte{"a.jpg": j, "b.png": encoded(testimg.Quarters(8, 8), ".png"), "b.jpg": j, "s/c.jpg": j})
	testkit.System(t, "hard links", os.Link("s/c.jpg", "c.jpg"))
	testkit.System(t, "symbolic links", os.Symlink("b.jpg", "link.jpg"))
	for _, c := range []struct{ inputs, want string }{
		{"a.jpg", "the input itself"},
		{"b.png link.jpg", "the input link.jpg"},
		{"s/c.jpg", "the input itself"},
	} {
		rep := run(t, t.Context(), &negative{}, strings.Fields(c.inputs), FindOptions{}, Naming{Format: imageio.JPEG}, Options{Existing: Replace})
		if rep.Files[0].Err == nil || !strings.Contains(rep.Files[0].Err.Error(), c.want) {
			t.Errorf("%s:\n%s", c.inputs, lines(rep))
		}
	}
	for _, name := range []string{"a.jpg", "b.jpg", "c.jpg"} {
		if !bytes.Equal(must(os.ReadFile(name)), j) {
			t.Errorf("%s was changed", name)
		}
	}
}

func TestExisting(t *testing.T) {
	j := encoded(testimg.Quarters(8, 8), ".jpg")
	tree(t, map[string][]byte{"in/a.jpg": j, "out/a.jpg": []byte("old"), "in/b.jpg": j, "out/b.jpg/x": nil})
	for _, c := range []struct {
		e    Existing
		want Status
		keep bool
	}{{Refuse, Failed, true}, {Skip, Skipped, true}, {Replace, OK, false}} {
		p := &negative{}
		rep := run(t, t.Context(), p, []string{"in"}, FindOptions{}, Naming{}, Options{Folder: "out", Existing: c.e})
		if rep.Files[0].Status != c.want {
			t.Errorf("%d:\n%s", c.e, lines(rep))
		}
		if keep := string(must(os.ReadFile("out/a.jpg"))) == "old"; keep != c.keep {
			t.Errorf("%d: the old file is there: %v", c.e, keep)
		}
		if c.keep && p.calls.Load() > 0 {
			t.Errorf("%d: it computed what it would not write", c.e)
		}
		if f := rep.Files[1]; f.Status != Failed || !strings.Contains(f.Err.Error(), "a folder of that name exists") {
			t.Errorf("%d: a folder in the way: %v", c.e, f.Err)
		}
	}
	noLeftovers(t)
}

func TestOutputFolder(t *testing.T) {
	j := encoded(testimg.Quarters(8, 8), ".jpg")
	tree(t, map[string][]byte{"in/sub/a.jpg": j, "in/b.jpg": j, "file": nil, "out1/sub": nil})
	found := must(Find(t.Context(), []string{"in"}, FindOptions{Recursive: true}))
	jobs := must(Plan(found, Naming{}))
	if _, err := Run(t.Context(), nil, nil, jobs, Options{Folder: "file"}); err == nil || !strings.Contains(err.Error(), "output folder file: not a directory") {
		t.Errorf("a file for a folder: %v", err)
	}
	// A file where a folder below the output folder should be.
	rep := must(Run(t.Context(), nil, nil, jobs, Options{Folder: "out1"}))
	if rep.Files[0].Status != OK || rep.Files[1].Status != Failed {
		t.Errorf("a file for a folder inside:\n%s", lines(rep))
	}
	// A link that leads out of the output folder.
	if err := os.MkdirAll("elsewhere", 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir("out2", 0o777); err != nil {
		t.Fatal(err)
	}
	testkit.System(t, "symbolic links", os.Symlink("../elsewhere", "out2/sub"))
	rep = must(Run(t.Context(), nil, nil, jobs, Options{Folder: "out2"}))
	if rep.Files[0].Status != OK || rep.Files[1].Status != Failed {
		t.Errorf("a link out of the folder:\n%s", lines(rep))
	}
	if n := len(must(os.ReadDir("elsewhere"))); n != 0 {
		t.Errorf("%d files were written through the link", n)
	}
	noLeftovers(t)
}

func TestFullDisk(t *testing.T) {
	f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	testkit.System(t, "/dev/full", err)
	defer f.Close()
	_, err = writeBy(f, func(w io.Writer) error { return put(t.Context(), w, testimg.Quarters(64, 64), imageio.PNG, nil) })
	if err == nil || !strings.Contains(err.Error(), "no space left on device") {
		t.Errorf("got %v", err)
	}
}

func TestInterrupted(t *testing.T) {
	files := map[string][]byte{}
	for i := range 12 {
		files[fmt.Sprintf("in/%02d.jpg", i)] = encoded(testimg.Quarters(64, 64), ".jpg")
	}
	tree(t, files)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p := &negative{wait: 20 * time.Millisecond}
	rep := run(t, ctx, p, []string{"in"}, FindOptions{}, Naming{}, Options{Folder: "out", OnDone: func(File) {
		if p.calls.Load() > 3 {
			cancel()
		}
	}})
	done, cut := rep.Count(OK), rep.Count(Interrupted)
	if done == 0 || cut == 0 || done+cut != 12 {
		t.Errorf("%d done, %d interrupted\n%s", done, cut, lines(rep))
	}
	if n := len(must(os.ReadDir("out"))); n != done {
		t.Errorf("%d files for %d done", n, done)
	}
	noLeftovers(t)
}

func TestComputeErrorsAndLimits(t *testing.T) {
	files := map[string][]byte{}
	for i := range 8 {
		files[fmt.Sprintf("in/%02d.png", i)] = encoded(testimg.Quarters(64, 64), ".png")
	}
	tree(t, files)
	p := &negative{wait: time.Millisecond, err: func(n int64) error {
		if n%2 == 0 {
			return errors.New("device trouble")
		}
		return nil
	}}
	var seen atomic.Int64
	rep := run(t, t.Context(), p, []string{"in"}, FindOptions{}, Naming{}, Options{Folder: "out", Workers: 6, Memory: 4 << 20, OnDone: func(File) { seen.Add(1) }})
	if rep.Count(OK) != 4 || rep.Count(Failed) != 4 || seen.Load() != 8 {
		t.Errorf("%d reported\n%s", seen.Load(), lines(rep))
	}
	if p.most.Load() != 1 {
		t.Errorf("%d pictures computed at once, want 1", p.most.Load())
	}
	for i, f := range rep.Files {
		if want := fmt.Sprintf("in/%02d.png", i); filepath.ToSlash(f.Input) != want {
			t.Errorf("report %d is of %s, want %s", i, f.Input, want)
		}
	}
	for _, o := range []Options{{Quality: -1}, {Quality: 101}, {Workers: -1}, {Memory: -1}, {MaxPixels: -1}} {
		if _, err := Run(t.Context(), p, calls, nil, o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
	if _, err := Run(t.Context(), nil, calls, nil, Options{}); err == nil {
		t.Error("operations without a device are accepted")
	}
}

func TestTransparency(t *testing.T) {
	m := image.NewNRGBA(image.Rect(0, 0, 16, 16))
	for i := 0; i < len(m.Pix); i += 4 {
		copy(m.Pix[i:], []byte{0, 0, 0, 128})
	}
	tree(t, map[string][]byte{"in/a.png": encoded(m, ".png")})
	jobs := must(Plan(must(Find(t.Context(), []string{"in"}, FindOptions{})), Naming{}))
	for _, f := range []imageio.Format{imageio.PNG, imageio.TIFF, imageio.JPEG} {
		jobs[0].Output, jobs[0].Format = "a."+string(f), f
		rep := must(Run(t.Context(), nil, nil, jobs, Options{Folder: "out"}))
		if rep.Count(OK) != 1 {
			t.Fatal(lines(rep))
		}
		got, _, err := image.Decode(bytes.NewReader(must(os.ReadFile(rep.Files[0].Output))))
		if err != nil {
			t.Fatal(err)
		}
		want := color.NRGBA{0, 0, 0, 128}
		if f == imageio.JPEG {
			want = color.NRGBA{127, 127, 127, 255}
		}
		if c := color.NRGBAModel.Convert(got.At(8, 8)).(color.NRGBA); testimg.Distance(c, want) > 1 {
			t.Errorf("%s: got %v, want %v", f, c, want)
		}
	}
}

func TestGIFFirstFrame(t *testing.T) {
	pal := color.Palette{color.Black, color.White}
	first := image.NewPaletted(image.Rect(2, 1, 6, 4), pal)
	for i := range first.Pix {
		first.Pix[i] = 1
	}
	second := image.NewPaletted(image.Rect(0, 0, 8, 6), pal)
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, &gif.GIF{Image: []*image.Paletted{first, second}, Delay: []int{1, 1}, Config: image.Config{Width: 8, Height: 6, ColorModel: pal}}); err != nil {
		t.Fatal(err)
	}
	tree(t, map[string][]byte{"a.gif": b.Bytes()})
	jobs := must(Plan(must(Find(t.Context(), []string{"a.gif"}, FindOptions{})), Naming{Format: imageio.PNG}))
	rep := must(Run(t.Context(), nil, nil, jobs, Options{First: true, Folder: "out"}))
	if rep.Count(OK) != 1 {
		t.Fatal(lines(rep))
	}
	got := must(png.Decode(bytes.NewReader(must(os.ReadFile("out/a.png")))))
	in, out := color.NRGBAModel.Convert(got.At(3, 2)), color.NRGBAModel.Convert(got.At(0, 0)).(color.NRGBA)
	if got.Bounds().Size() != image.Pt(8, 6) || in != (color.NRGBA{255, 255, 255, 255}) || out.A != 0 {
		t.Errorf("size %v, inside the frame %v, outside %v", got.Bounds(), in, out)
	}
}

func TestPoolReuses(t *testing.T) {
	var p pool
	a := p.get(100, 100, false)
	p.put(a)
	if b := p.get(90, 100, false).(*image.NRGBA); &b.Pix[0] != &bytesOf(a)[0] || len(b.Pix) != 36000 || b.Stride != 360 {
		t.Error("a buffer that fits was not taken")
	}
	p.put(a)
	if b := p.get(45, 100, true).(*image.NRGBA64); &b.Pix[0] != &bytesOf(a)[0] || len(b.Pix) != 36000 || b.Stride != 360 {
		t.Error("a buffer that fits was not taken for 16 bits")
	}
	p.put(a)
	if p.get(10, 10, false); len(p.free) != 0 {
		t.Error("a far larger buffer was kept beside a new one")
	}
}

// TestMemoryIsFlat: twice the pictures do not hold twice the memory.
func TestMemoryIsFlat(t *testing.T) {
	testlevel.Need(t, testlevel.Full) // encodes large pictures
	m := testimg.Quarters(2000, 1500)
	data := encoded(m, ".jpg")
	peak := func(n int) uint64 {
		files := map[string][]byte{}
		for i := range n {
			files[fmt.Sprintf("in/%02d.jpg", i)] = data
		}
		tree(t, files)
		runtime.GC()
		var most uint64
		rep := run(t, t.Context(), &negative{}, []string{"in"}, FindOptions{}, Naming{}, Options{Folder: "out", OnDone: func(File) {
			var s runtime.MemStats
			runtime.ReadMemStats(&s)
			most = max(most, s.HeapInuse)
		}})
		if rep.Count(OK) != n {
			t.Fatal(lines(rep))
		}
		return most
	}
	few, many := peak(6), peak(24)
	if many > few*3/2+(16<<20) {
		t.Errorf("heap in use: %d MiB with 6 pictures, %d MiB with 24", few>>20, many>>20)
	}
}
