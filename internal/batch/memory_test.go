package batch

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
)

// pngHeader is the beginning of a PNG file: all that is read before memory is
// taken for its pixels.
func pngHeader(w, h uint32, depth, colour, interlaced byte, transparent bool) []byte {
	chunk := func(b []byte, id string, body []byte) []byte {
		b = binary.BigEndian.AppendUint32(b, uint32(len(body)))
		whole := append([]byte(id), body...)
		return binary.BigEndian.AppendUint32(append(b, whole...), crc32.ChecksumIEEE(whole))
	}
	ihdr := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, w), h)
	b := chunk([]byte("\x89PNG\r\n\x1a\n"), "IHDR", append(ihdr, depth, colour, 0, 0, interlaced))
	if transparent {
		b = chunk(b, "tRNS", make([]byte, map[byte]int{0: 2, 2: 6}[colour]))
	}
	return chunk(b, "IDAT", make([]byte, 100))
}

// TestMemoryRefuses: a small file of a huge picture fails with the figure it
// would take, before that is taken.
func TestMemoryRefuses(t *testing.T) {
	tree(t, map[string][]byte{"a.png": pngHeader(16384, 16384, 8, 0, 0, false), "b.png": encoded(testimg.Quarters(64, 64), ".png")})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	rep := run(t, t.Context(), &negative{}, []string{"a.png", "b.png"}, FindOptions{}, Naming{}, Options{Folder: "out", Memory: 64 << 20})
	runtime.ReadMemStats(&after)
	if rep.Files[0].Status != Failed || rep.Files[1].Status != OK {
		t.Fatal(lines(rep))
	}
	if want := "the picture of 16384×16384 needs about 1284 MiB of memory, the limit is 64 MiB (raise --memory)"; !strings.Contains(rep.Files[0].Err.Error(), want) {
		t.Errorf("got %v, want %q", rep.Files[0].Err, want)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 32<<20 {
		t.Errorf("%d MiB were taken all the same", n>>20)
	}
	// What the device takes is part of the limit.
	rep = run(t, t.Context(), &negative{}, []string{"b.png"}, FindOptions{}, Naming{}, Options{Folder: "more", Memory: 64 << 20, Computing: 63 << 20})
	if rep.Files[0].Status != Failed {
		t.Error(lines(rep))
	}
}

// TestDecodeBytes holds what is known of decoders against the headers.
func TestDecodeBytes(t *testing.T) {
	for _, c := range []struct {
		depth, colour, interlaced byte
		transparent               bool
		want                      int64 // bytes a pixel, the result's four included
	}{
		{8, 0, 0, false, 5}, {16, 0, 0, false, 6}, {8, 2, 0, false, 8}, {16, 2, 0, false, 12}, {8, 6, 0, false, 8}, {16, 6, 0, false, 12},
		{1, 0, 0, false, 5}, {8, 4, 0, false, 8}, {8, 0, 1, false, 6}, {8, 6, 1, false, 12}, {8, 0, 0, true, 8}, {8, 2, 0, true, 8}, {16, 2, 0, true, 12},
	} {
		name := filepath.Join(t.TempDir(), "a.png")
		if err := os.WriteFile(name, pngHeader(1000, 1000, c.depth, c.colour, c.interlaced, c.transparent), 0o666); err != nil {
			t.Fatal(err)
		}
		src := must(openSource(t.Context(), name))
		h, err := src.readHeader(1 << 20)
		src.Close()
		if err != nil {
			t.Fatal(err)
		}
		if got := h.cost - 1<<20 - 20*1000; got != c.want*1e6 {
			t.Errorf("%+v: %d bytes for a million pixels", c, got)
		}
	}
}

// TestPeak runs a picture in a process of its own and holds the most memory the
// process had against the figure, in both directions.
func TestPeak(t *testing.T) {
	if name := os.Getenv("LATHE_TEST_PEAK"); name != "" {
		peakChild(t, name)
		return
	}
	testlevel.Need(t, testlevel.Full) // starts a process for each kind of picture
	_, err := os.Stat("/proc/self/status")
	testkit.System(t, "/proc, which tells the peak of the memory", err)
	testkit.NoRace(t, "takes memory of its own")
	const w, h = 2400, 1600
	photo := testimg.Photo(w, h, 1)
	gray := image.NewGray(photo.Rect)
	testimg.Fill(3, gray.Pix[:w*h/2])
	table := image.NewPaletted(photo.Rect, color.Palette{color.Black, color.White})
	for name, data := range map[string][]byte{
		"gray.png": encoded(gray, ".png"), "photo.jpg": must(testimg.JPEG(w, h, 1, 90)), "gray.bmp": encoded(gray, ".bmp"),
		"gray.tiff": encoded(gray, ".tiff"), "table.gif": encoded(table, ".gif"),
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(os.Args[0], "-test.run=^TestPeak$", "-test.v")
			cmd.Env = append(os.Environ(), "LATHE_TEST_PEAK="+filepath.Join(dir, name))
			out, err := cmd.CombinedOutput()
			_, numbers, found := strings.Cut(string(out), "PEAK ")
			if err != nil || !found {
				t.Fatalf("%v\n%s", err, out)
			}
			var figure, peak int64
			fmt.Sscan(numbers, &figure, &peak)
			t.Logf("figure %d MiB, peak %d MiB", figure>>20, peak>>20)
			if peak > figure+(8<<20) {
				t.Errorf("the figure is %d MiB, the process took %d MiB", figure>>20, peak>>20)
			}
			// TIFF's writer is counted for pixels that do not compress.
			if !strings.HasSuffix(name, ".tiff") && figure > peak*3/2+(8<<20) {
				t.Errorf("the figure is %d MiB, the process took but %d MiB", figure>>20, peak>>20)
			}
		})
	}
}

func peakChild(t *testing.T, name string) {
	debug.SetGCPercent(25) // as the command does
	src := must(openSource(context.Background(), name))
	h, err := src.readHeader(1 << 28)
	src.Close()
	if err != nil {
		t.Fatal(err)
	}
	jobs := must(Plan([]Found{{Path: name, Rel: filepath.Base(name)}}, Naming{}))
	need := h.cost + encodeBytes(jobs[0].Format, int64(h.width), int64(h.height))
	before := highWater(t)
	rep, err := Run(t.Context(), nil, nil, jobs, Options{Folder: filepath.Join(filepath.Dir(name), "out"), Memory: need})
	if err != nil || rep.Count(OK) != 1 {
		t.Fatal(err, lines(rep))
	}
	fmt.Println("PEAK", need, highWater(t)-before)
}

// highWater is the most memory that this process has had, bytes.
func highWater(t *testing.T) int64 {
	b := must(os.ReadFile("/proc/self/status"))
	_, rest, _ := bytes.Cut(b, []byte("VmHWM:"))
	n, err := strconv.ParseInt(strings.Fields(string(rest))[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n << 10
}
