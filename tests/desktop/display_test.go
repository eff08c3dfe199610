// Package desktop tests the programs of examples/ that have a window. They run on an X server
// without a screen, Xvfb. The tests move its mouse, and look at the pixels that it shows.
package desktop

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
	"github.com/jezek/xgb/xtest"
	"github.com/lathe-gpu/lathe/internal/testkit"
)

// display is an X server, and a connection to it.
type display struct {
	t    *testing.T
	name string // for the variable DISPLAY
	conn *xgb.Conn
	root xproto.Window
	w, h int
}

// newDisplay starts an X server, which ends with the test. Without one the test is skipped, or
// fails if tools are required.
func newDisplay(t *testing.T) *display {
	t.Helper()
	path, err := exec.LookPath("Xvfb")
	if err != nil {
		testkit.NoTool(t, "needs Xvfb; tools/setup/desktop.sh installs it, and `make desktop` calls that")
	}
	// The server finds a number that is free, and writes it to this pipe.
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	d := &display{t: t, w: 1024, h: 768}
	cmd := exec.Command(path, "-displayfd", "3", "-screen", "0", fmt.Sprintf("%dx%dx24", d.w, d.h), "-nolisten", "tcp")
	cmd.ExtraFiles = []*os.File{w}
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	w.Close()
	number, err := io.ReadAll(r)
	if d.name = ":" + strings.TrimSpace(string(number)); err != nil || d.name == ":" {
		t.Fatalf("Xvfb did not start: %v\n%s", err, &said)
	}
	xgb.Logger.SetOutput(io.Discard) // it would say that the server asks for no authority
	if d.conn, err = xgb.NewConnDisplay(d.name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.conn.Close)
	if err := xtest.Init(d.conn); err != nil {
		t.Fatal(err)
	}
	d.root = xproto.Setup(d.conn).DefaultScreen(d.conn).Root
	return d
}

// screen is what the display shows.
func (d *display) screen() *image.NRGBA {
	d.t.Helper()
	reply, err := xproto.GetImage(d.conn, xproto.ImageFormatZPixmap, xproto.Drawable(d.root), 0, 0, uint16(d.w), uint16(d.h), ^uint32(0)).Reply()
	if err != nil {
		d.t.Fatal(err)
	}
	m := image.NewNRGBA(image.Rect(0, 0, d.w, d.h))
	if len(reply.Data) != len(m.Pix) {
		d.t.Fatalf("the screen has %d bytes, want %d", len(reply.Data), len(m.Pix))
	}
	for i := 0; i < len(m.Pix); i += 4 {
		p := reply.Data[i:]
		m.Pix[i], m.Pix[i+1], m.Pix[i+2], m.Pix[i+3] = p[2], p[1], p[0], 255
	}
	return m
}

// window finds the window whose title begins with Lathe. It returns no window if there is none.
func (d *display) window() (w xproto.Window, title string) {
	d.t.Helper()
	tree, err := xproto.QueryTree(d.conn, d.root).Reply()
	if err != nil {
		d.t.Fatal(err)
	}
	for _, w := range tree.Children {
		name, err := xproto.GetProperty(d.conn, false, w, d.atom("_NET_WM_NAME"), xproto.GetPropertyTypeAny, 0, 256).Reply()
		if err == nil && strings.HasPrefix(string(name.Value), "Lathe") {
			return w, string(name.Value)
		}
	}
	return 0, ""
}

func (d *display) atom(name string) xproto.Atom {
	d.t.Helper()
	reply, err := xproto.InternAtom(d.conn, false, uint16(len(name)), name).Reply()
	if err != nil {
		d.t.Fatal(err)
	}
	return reply.Atom
}

// input sends an event of the mouse: it moves to p, or its left button changes.
func (d *display) input(event byte, button byte, p image.Point) {
	d.t.Helper()
	if err := xtest.FakeInputChecked(d.conn, event, button, 0, d.root, int16(p.X), int16(p.Y), 0).Check(); err != nil {
		d.t.Fatal(err)
	}
	time.Sleep(20 * time.Millisecond) // as a person's hand does, so that the program sees each
}

func (d *display) move(p image.Point) { d.input(xproto.MotionNotify, 0, p) }

func (d *display) click() {
	d.input(xproto.ButtonPress, 1, image.Point{})
	d.input(xproto.ButtonRelease, 1, image.Point{})
}

// drag moves the mouse over a row of pixels with the left button down.
func (d *display) drag(from, to, y int) {
	d.move(image.Pt(from, y))
	d.input(xproto.ButtonPress, 1, image.Point{})
	for i := range 21 {
		d.move(image.Pt(from+(to-from)*i/20, y))
	}
	d.input(xproto.ButtonRelease, 1, image.Point{})
}

// closeWindow asks the program to close its window, as a window manager does.
func (d *display) closeWindow() {
	d.t.Helper()
	w, _ := d.window()
	event := xproto.ClientMessageEvent{
		Format: 32, Window: w, Type: d.atom("WM_PROTOCOLS"),
		Data: xproto.ClientMessageDataUnionData32New([]uint32{uint32(d.atom("WM_DELETE_WINDOW")), 0, 0, 0, 0}),
	}
	if err := xproto.SendEventChecked(d.conn, false, w, 0, string(event.Bytes())).Check(); err != nil {
		d.t.Fatal(err)
	}
}

// until calls try until it returns "". It fails the test with the last text, and with what the
// program wrote, if that takes long.
func (d *display) until(p *program, try func() string) {
	d.t.Helper()
	said := ""
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if said = try(); said == "" {
			return
		}
		if p.ended() {
			break
		}
	}
	file := filepath.Join(d.t.ArtifactDir(), "screen.png")
	var b bytes.Buffer
	if err := png.Encode(&b, d.screen()); err != nil {
		d.t.Error(err)
	} else if err := os.WriteFile(file, b.Bytes(), 0o666); err != nil {
		d.t.Error(err)
	}
	d.t.Fatalf("%s\nthe screen is in %s if the flag -artifacts is set\nthe program wrote: %s", said, file, p.wrote())
}
