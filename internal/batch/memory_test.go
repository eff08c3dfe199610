package batch

import (
	"bytes"
	"context"
	"fmt"
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

// TestMemoryRefuses: a small file of a huge picture fails with the figure it
// would take, before that is taken.
func TestMemoryRefuses(t *testing.T) {
	tree(t, map[string][]byte{"a.png": testimg.Bomb(16384, 16384), "b.png": encoded(testimg.Quarters(64, 64), ".png")})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	rep := run(t, t.Context(), &negative{}, []string{"a.png", "b.png"}, FindOptions{}, Naming{}, Options{Folder: "out", Memory: 64 << 20})
	runtime.ReadMemStats(&after)
	if rep.Files[0].Status != Failed || rep.Files[1].Status != OK {
		t.Fatal(lines(rep))
	}
	if want := "the picture of 16384×16384 needs about 1796 MiB of memory, the limit is 64 MiB (raise --memory)"; !strings.Contains(rep.Files[0].Err.Error(), want) {
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

// TestMemoryEnough: the figure of the error suffices, although the device takes a share of it, and
// less does not.
func TestMemoryEnough(t *testing.T) {
	tree(t, map[string][]byte{"a.png": encoded(testimg.Quarters(1800, 1700), ".png")})
	try := func(memory int64) *Report {
		o := Options{Folder: fmt.Sprint("out", memory), Memory: memory << 20, Computing: 3 << 20, ComputingShare: 4}
		return run(t, t.Context(), &negative{}, []string{"a.png"}, FindOptions{}, Naming{}, o)
	}
	rep := try(1)
	var enough int64
	if err := rep.Files[0].Err; err == nil {
		t.Fatal(lines(rep))
	} else if _, after, ok := strings.Cut(err.Error(), "needs about "); !ok {
		t.Fatal(err)
	} else if _, err := fmt.Sscan(after, &enough); err != nil {
		t.Fatal(err)
	}
	if rep = try(enough); rep.Files[0].Status != OK {
		t.Errorf("with the %d MiB of the error: %s", enough, lines(rep))
	}
	if rep = try(enough - 2); rep.Files[0].Status != Failed {
		t.Errorf("with 2 MiB less: %s", lines(rep))
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
	deep := image.NewNRGBA64(photo.Rect)
	testimg.Fill(3, deep.Pix[:8*w*h/2])
	table := image.NewPaletted(photo.Rect, color.Palette{color.Black, color.White})
	for name, data := range map[string][]byte{
		"gray.png": encoded(gray, ".png"), "photo.jpg": must(testimg.JPEG(w, h, 1, 90)), "progressive.jpg": must(testimg.JPEG(w, h, 1, 90)), "gray.bmp": encoded(gray, ".bmp"),
		"gray.tiff": encoded(gray, ".tiff"), "deep.png": encoded(deep, ".png"), "deep.tiff": encoded(deep, ".tiff"), "table.gif": encoded(table, ".gif"), "photo.gif": encoded(photo, ".gif"),
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
	src := must(openFile(name))
	h := must(src.header(context.Background(), 1<<28, 0))
	src.close()
	jobs := must(Plan([]Found{{Path: name, Rel: filepath.Base(name)}}, Naming{}))
	deep, progressive := h.Depth > 8, filepath.Base(name) == "progressive.jpg"
	need := h.Memory + encodeBytes(jobs[0].Format, h, deep, progressive, int64(h.Width), int64(h.Height))
	if deep {
		need += deepBytes(h)
	}
	before := highWater(t)
	rep, err := Run(t.Context(), nil, nil, jobs, Options{Folder: filepath.Join(filepath.Dir(name), "out"), Memory: need, Progressive: progressive})
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
