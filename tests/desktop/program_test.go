package desktop

import (
	"bytes"
	"fmt"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// build makes the program of an example, and returns its path.
func build(t *testing.T, example string, flags ...string) string {
	t.Helper()
	depend(t, filepath.Join("..", "..", "examples", example, "*"))
	bin := filepath.Join(t.TempDir(), example)
	args := append([]string{"build", "-C", filepath.Join("..", "..", "examples", example), "-o", bin}, flags...)
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return bin
}

// depend reads the files of a program, because go test takes a result from its cache unless a
// file has changed that the test itself has read.
func depend(t *testing.T, pattern string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) < 3 {
		t.Fatalf("%s: found %d files: %v", pattern, len(files), err)
	}
	for _, f := range files {
		if _, err := os.ReadFile(f); err != nil {
			t.Fatal(err)
		}
	}
}

// program is a process with a window.
type program struct {
	cmd  *exec.Cmd
	done chan error

	mu  sync.Mutex
	out bytes.Buffer
}

// Write keeps what the program writes.
func (p *program) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.Write(b)
}

func (p *program) wrote() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.String()
}

func (p *program) ended() bool { return len(p.done) > 0 }

// start starts a program on the display, with the backend. It ends with the test.
func (d *display) start(backend, bin string, args ...string) *program {
	d.t.Helper()
	p := &program{cmd: exec.Command(bin, args...), done: make(chan error, 1)}
	// One pixel of the toolkit is one pixel of the screen. The variable is Fyne's. Neither
	// program reads settings of the user.
	home := d.t.TempDir()
	p.cmd.Env = append(os.Environ(), "DISPLAY="+d.name, "WAYLAND_DISPLAY=", "FYNE_SCALE=1", "LC_ALL=en_US.UTF-8",
		"XDG_CONFIG_HOME="+home, "LATHE_BACKEND="+backend, "LATHE_DEVICE=", "WINEDEBUG=-all")
	p.cmd.Stdout, p.cmd.Stderr = p, p
	if err := p.cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	go func() { p.done <- p.cmd.Wait() }()
	d.t.Cleanup(func() { _ = p.cmd.Process.Kill() }) // it may have ended
	return p
}

// end closes the window. The program must end at once, and without an error.
func (d *display) end(p *program) {
	d.t.Helper()
	d.closeWindow()
	select {
	case err := <-p.done:
		if err != nil {
			d.t.Errorf("after its window was closed, the program ended with %v\n%s", err, p.wrote())
		}
	case <-time.After(20 * time.Second):
		d.t.Fatalf("20 s after its window was closed, the program still runs\n%s", p.wrote())
	}
}

// filtered is what calls make of an opaque picture by their references in float64, which run on
// no device.
func filtered(t *testing.T, src *image.NRGBA, calls ...spec.Call) *image.NRGBA {
	t.Helper()
	size := src.Rect.Size()
	desc := tensor.Contiguous(tensor.U8, size.Y, size.X, 4)
	cur := tensor.NewHost(desc)
	for y := range size.Y {
		copy(cur.Data[4*size.X*y:], src.Pix[src.Stride*y:][:4*size.X])
	}
	for _, c := range calls {
		c, err := spec.Resolve(c)
		if err != nil {
			t.Fatal(err)
		}
		out := tensor.NewHost(desc)
		c.Spec().Reference(c, []*tensor.Host{cur}, []*tensor.Host{out})
		cur = out
	}
	return &image.NRGBA{Pix: cur.Data, Stride: 4 * size.X, Rect: image.Rectangle{Max: size}}
}

// find looks for a picture on a screen, with at most tol levels of difference in each
// component. It says how many pixels of the best place are right if there is no such place.
func find(screen, want *image.NRGBA, tol int) (at image.Point, wrong string) {
	best := 0
	for y := range screen.Rect.Dy() - want.Rect.Dy() + 1 {
		for x := range screen.Rect.Dx() - want.Rect.Dx() + 1 {
			if n := matching(screen, want, x, y, tol); n > best {
				best, at = n, image.Pt(x, y)
			}
		}
	}
	if all := want.Rect.Dx() * want.Rect.Dy(); best < all {
		return at, fmt.Sprintf("the window does not show the picture: at the best place, %v, %d of %d pixels are right", at, best, all)
	}
	return at, ""
}

// matching counts the pixels of want that are at (x, y) of the screen. It counts all of them
// only if most of a sample are there.
func matching(screen, want *image.NRGBA, x, y, tol int) (n int) {
	w, h := want.Rect.Dx(), want.Rect.Dy()
	at := func(i int) bool {
		px, py := i%w, i/w
		return testimg.Distance(screen.NRGBAAt(x+px, y+py), want.NRGBAAt(px, py)) <= tol
	}
	for i := range 64 {
		if !at((2*i + 1) * w * h / 128) {
			if n++; n == 16 {
				return 0
			}
		}
	}
	n = 0
	for i := range w * h {
		if at(i) {
			n++
		}
	}
	return n
}
