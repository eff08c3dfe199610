package batch

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"image"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/lathe-gpu/lathe/imageio"
	"github.com/lathe-gpu/lathe/internal/testimg"
)

// runStream puts a picture from r through the processor.
func runStream(t *testing.T, r io.Reader, f imageio.Format, o Options) ([]byte, *Report) {
	t.Helper()
	from, err := ReadStream(t.Context(), r, o.Memory, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	rep, err := Run(t.Context(), &negative{}, calls, []Job{{Input: "-", Output: "-", Format: f, From: from, To: &out}}, o)
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), rep
}

// onlyReader hides all methods but Read.
type onlyReader struct{ io.Reader }

// TestStreamIsAFile compares a picture that is streamed with the same one in files.
func TestStreamIsAFile(t *testing.T) {
	turned := testimg.WithSegments(encoded(testimg.Quarters(48, 32), ".jpg"), "Exif\x00\x00"+string(testimg.Exif(6, binary.BigEndian)))
	large := encoded(testimg.Noise(400, 300, 1), ".png") // several blocks
	if len(large) < 256<<10+1 {
		t.Fatalf("the large picture has %d bytes only", len(large))
	}
	files := map[string][]byte{"a.jpg": turned, "b.png": large}
	for _, ext := range []string{".png", ".gif", ".bmp", ".tiff", ".jpg"} {
		files["c"+ext] = encoded(testimg.Quarters(40, 30), ext)
	}
	tree(t, files)
	for name, data := range files {
		rep := run(t, t.Context(), &negative{}, []string{name}, FindOptions{}, Naming{}, Options{Folder: "out", Existing: Replace})
		if rep.Count(OK) != 1 {
			t.Fatal(lines(rep))
		}
		want := must(os.ReadFile(rep.Files[0].Output))
		file := must(os.Open(name))
		defer file.Close()
		for what, r := range map[string]io.Reader{
			"a reader": onlyReader{bytes.NewReader(data)}, "half reads": iotest.HalfReader(bytes.NewReader(data)),
			"an early end": iotest.DataErrReader(bytes.NewReader(data)), "a file": file, "a pipe": pipe(data),
		} {
			got, rep := runStream(t, r, "", Options{Folder: "missing/never"})
			if f := rep.Files[0]; !bytes.Equal(got, want) || f.Status != OK || f.Output != "-" || f.InBytes != int64(len(data)) || f.OutBytes != int64(len(got)) {
				t.Errorf("%s from %s: not the bytes of the file: %s", name, what, lines(rep))
			}
		}
	}
	if _, err := os.Stat("missing"); err == nil {
		t.Error("an output folder was made for a stream")
	}
	got, _ := runStream(t, bytes.NewReader(turned), imageio.PNG, Options{})
	if m, kind, err := image.Decode(bytes.NewReader(got)); err != nil || kind != "png" || m.Bounds().Dx() != 32 {
		t.Errorf("a turned JPEG as PNG: %v, %s", err, kind)
	}
}

// pipe returns the end of a pipe of the system that data comes from.
func pipe(data []byte) io.Reader {
	r, w, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	go func() {
		w.Write(data)
		w.Close()
	}()
	return r
}

func TestStreamFromTheMiddleOfAFile(t *testing.T) {
	p := encoded(testimg.Quarters(16, 16), ".png")
	tree(t, map[string][]byte{"x": append([]byte("head"), p...), "empty": nil})
	f := must(os.Open("x"))
	defer f.Close()
	must(f.Seek(4, io.SeekStart))
	if _, rep := runStream(t, f, "", Options{}); rep.Count(OK) != 1 || rep.Files[0].InBytes != int64(len(p)) {
		t.Error(lines(rep))
	}
	must(f.Seek(0, io.SeekEnd))
	empty := must(os.Open("empty"))
	defer empty.Close()
	for _, f := range []*os.File{f, empty} {
		if _, err := ReadStream(t.Context(), f, 0, 0); !errors.Is(err, errNothing) {
			t.Errorf("got %v", err)
		}
	}
}

// forever has the first bytes of a picture, and never ends.
type forever struct{ head []byte }

func (f *forever) Read(p []byte) (int, error) {
	n := copy(p, f.head)
	f.head = f.head[n:]
	if n == 0 {
		n = len(p)
		clear(p)
	}
	return n, nil
}

// endlessBMP is a small file that claims to have 2³¹−1 by 2³¹−1 pixels, by run lengths.
func endlessBMP() []byte {
	b := encoded(testimg.Quarters(8, 8), ".bmp")
	le := binary.LittleEndian
	le.PutUint32(b[18:], 1<<31-1)
	le.PutUint32(b[22:], 1<<31-1)
	le.PutUint16(b[28:], 8)
	le.PutUint32(b[30:], 1)
	return b
}

func TestStreamRefuses(t *testing.T) {
	p := encoded(testimg.Noise(400, 300, 1), ".png")
	trouble := errors.New("the cable is broken")
	for _, c := range []struct {
		name string
		r    io.Reader
		want string
	}{
		{"nothing", strings.NewReader(""), "there is nothing to read"},
		{"one byte of a mark", strings.NewReader("\xff\xd8"), "damaged picture"},
		{"text", strings.NewReader("hello"), "not a picture in a format Lathe reads"},
		{"pixels without end", bytes.NewReader(endlessBMP()), "picture too large: it says that it has more pixels than any memory"},
		{"zeros without end", &forever{}, "not a picture in a format Lathe reads"},
		{"a picture without end", &forever{head: bytes.Clone(p)}, "picture too large: more than 1 MiB came (raise --memory"},
		{"an error at first", iotest.ErrReader(trouble), "cannot be read: the cable is broken"},
		{"an error in the first block", io.MultiReader(bytes.NewReader(p[:100]), iotest.ErrReader(trouble)), "cannot be read: the cable is broken"},
		{"an error later", io.MultiReader(bytes.NewReader(p[:256<<10+100]), iotest.ErrReader(trouble)), "cannot be read: the cable is broken"},
	} {
		s, err := ReadStream(t.Context(), c.r, 1<<20, 0)
		if s != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
	for _, c := range []struct {
		name string
		data []byte
		o    Options
		want string
	}{
		{"cut", p[:len(p)/2], Options{}, "damaged picture"},
		{"too many pixels", p, Options{MaxPixels: 1000}, "picture too large: 400×300"},
		{"a bomb", testimg.Bomb(60000, 60000), Options{}, "picture too large: 60000×60000"},
		{"too little memory", p, Options{Memory: 1 << 20}, "(raise --memory)"},
	} {
		out, rep := runStream(t, onlyReader{bytes.NewReader(c.data)}, "", c.o)
		if f := rep.Files[0]; f.Status != Failed || !strings.Contains(f.Err.Error(), c.want) || len(out) > 0 {
			t.Errorf("%s: got %v and %d bytes, want %q", c.name, f.Err, len(out), c.want)
		}
	}
}

// A reader that never returns does not hold up an interrupt.
func TestStreamInterrupted(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, err := ReadStream(ctx, r, 0, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// failing fails after n bytes.
type failing struct{ n int }

func (f *failing) Write(p []byte) (int, error) {
	if f.n -= len(p); f.n < 0 {
		return 0, io.ErrClosedPipe
	}
	return len(p), nil
}

func TestStreamOutput(t *testing.T) {
	p := encoded(testimg.Noise(600, 500, 1), ".png")
	tree(t, map[string][]byte{"a.png": p})
	for _, n := range []int{0, 300 << 10} {
		rep := must(Run(t.Context(), nil, nil, []Job{{Input: "a.png", Output: "-", To: &failing{n}}}, Options{}))
		if f := rep.Files[0]; f.Status != Failed || !errors.Is(f.Err, io.ErrClosedPipe) {
			t.Errorf("a writer that fails after %d bytes: %v", n, f.Err)
		}
	}
	// A picture is not written into the file that it comes from.
	own := must(os.OpenFile("a.png", os.O_RDWR|os.O_APPEND, 0))
	defer own.Close()
	from := must(ReadStream(t.Context(), own, 0, 0))
	for _, j := range []Job{{Input: "a.png", To: own}, {Input: "-", From: from, To: own}, {Input: "-", Output: "a.png", From: from}} {
		rep := must(Run(t.Context(), nil, nil, []Job{j}, Options{Existing: Replace}))
		if f := rep.Files[0]; f.Status != Failed || !strings.Contains(f.Err.Error(), "would replace the input itself") {
			t.Errorf("%v", f.Err)
		}
	}
	if !bytes.Equal(must(os.ReadFile("a.png")), p) {
		t.Error("the input has changed")
	}
	rep := must(Run(t.Context(), nil, nil, []Job{{From: new(Stream), To: io.Discard}}, Options{}))
	if f := rep.Files[0]; !errors.Is(f.Err, errNothing) {
		t.Errorf("a stream of nothing: %v", f.Err)
	}
	// A file whose format is not given.
	rep = must(Run(t.Context(), nil, nil, []Job{{Input: "-", Output: "b.png", From: from}}, Options{}))
	if rep.Count(OK) != 1 || !bytes.HasPrefix(must(os.ReadFile("b.png")), []byte("\x89PNG")) {
		t.Error(lines(rep))
	}
}
