package batch

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe/internal/testkit"
)

// childFolder names the folder into which a child of TestKilled writes.
const childFolder = "BATCH_TEST_FOLDER"

// TestChild is what a child of TestKilled does: it begins to write out.txt, says so, and finishes when its
// standard input ends.
func TestChild(t *testing.T) {
	dir := os.Getenv(childFolder)
	if dir == "" {
		return
	}
	root := must(os.OpenRoot(dir))
	_, err := write(t.Context(), root, "out.txt", func(w io.Writer) error {
		_, err := io.WriteString(w, "a part")
		fmt.Println("begun")
		io.Copy(io.Discard, os.Stdin)
		return err
	}, true, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
}

// begin starts a child, and returns when it has begun. finish lets it end.
func begin(t *testing.T, dir string) (cmd *exec.Cmd, finish io.Closer) {
	t.Helper()
	cmd = exec.CommandContext(t.Context(), must(os.Executable()), "-test.run=^TestChild$")
	cmd.Env = append(os.Environ(), childFolder+"="+dir)
	cmd.Stderr = os.Stderr
	in, out := must(cmd.StdinPipe()), must(cmd.StdoutPipe())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if lines.Text() == "begun" {
			go io.Copy(io.Discard, out)
			return cmd, in
		}
	}
	t.Fatal("the child has written nothing")
	return nil, nil
}

// put1 writes the file name into a folder, as a run does.
func put1(t *testing.T, dir, name string) {
	t.Helper()
	root := must(os.OpenRoot(dir))
	defer root.Close()
	_, err := write(t.Context(), root, name, func(w io.Writer) error { _, err := io.WriteString(w, name); return err }, true, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
}

// leftIn returns the temporary files in a folder.
func leftIn(dir string) []string { return must(filepath.Glob(filepath.Join(dir, ".lathe-*.tmp"))) }

// marked ends a test on a system that has no number for its kernel.
func marked(t *testing.T) {
	t.Helper()
	var err error
	if mark() == unmarked {
		err = errors.ErrUnsupported
	}
	testkit.System(t, "locks, and a number for its kernel", err)
}

// TestKilled kills a process that writes an output. The next one removes its temporary file, and not those of
// processes that run.
func TestKilled(t *testing.T) {
	marked(t)
	dir := t.TempDir()
	killed, _ := begin(t, dir)
	of := leftIn(dir)
	live, finish := begin(t, dir)
	if err := killed.Process.Kill(); err != nil || len(of) != 1 {
		t.Fatal(of, err)
	}
	killed.Wait()
	if n := len(leftIn(dir)); n != 2 {
		t.Fatalf("%d temporary files, want those of two processes", n)
	}
	put1(t, dir, "a.txt")
	if _, err := os.Stat(of[0]); !errors.Is(err, fs.ErrNotExist) || len(leftIn(dir)) != 1 {
		t.Fatalf("%v is left of %v, %v", leftIn(dir), of, err)
	}
	finish.Close()
	if err := live.Wait(); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "out.txt")); err != nil || string(data) != "a part" || len(leftIn(dir)) != 0 {
		t.Errorf("the process that went on has written %q, %v", data, err)
	}
}

// TestLeftOver checks which files are left over: by their mark, their lock and their age, and nothing that only looks
// like one.
func TestLeftOver(t *testing.T) {
	marked(t)
	own := mark()
	dir := t.TempDir()
	elsewhere := "0123abcd"
	now, young, old := time.Now(), time.Hour, leftOverAfter+time.Minute
	want := map[string]bool{} // whether it stays
	for i, c := range []struct {
		mark         string
		age          time.Duration
		locked, stay bool
	}{
		{own, 0, false, false}, {own, old, false, false}, {own, 0, true, true}, {own, old, true, true},
		{elsewhere, young, false, true}, {elsewhere, old, false, false}, {elsewhere, old, true, true},
		{unmarked, young, false, true}, {unmarked, old, false, false}, {"", young, false, true}, {"", old, false, false},
	} {
		name := fmt.Sprintf(".lathe-%s-%016x.tmp", c.mark, i)
		name = strings.Replace(name, "--", "-", 1)
		path := filepath.Join(dir, name)
		f := must(os.Create(path))
		defer f.Close()
		if c.locked {
			if err := lock(f); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chtimes(path, time.Time{}, now.Add(-c.age)); err != nil {
			t.Fatal(err)
		}
		want[name] = c.stay
	}
	for _, name := range []string{".lathe-" + own + "-1.tmp", ".lathe-.tmp", "lathe-0123456789abcdef.tmp", ".lathe-0123456789abcdef.tmp.png", ".lathe-zz23456789abcdef.tmp"} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(path, nil, 0o666), os.Chtimes(path, time.Time{}, now.Add(-old))); err != nil {
			t.Fatal(err)
		}
		want[name] = true
	}
	folder, link := ".lathe-"+own+"-00000000000000aa.tmp", ".lathe-"+own+"-00000000000000bb.tmp"
	if err := errors.Join(os.Mkdir(filepath.Join(dir, folder), 0o777), os.Symlink("/etc/hosts", filepath.Join(dir, link))); err != nil {
		t.Fatal(err)
	}
	want[folder], want[link] = true, true
	put1(t, dir, "a.txt")
	for name, stay := range want {
		if _, err := os.Lstat(filepath.Join(dir, name)); (err == nil) != stay {
			t.Errorf("%s: %v, want it to stay: %v", name, err, stay)
		}
	}
	// Drives without locks.
	root := must(os.OpenRoot(dir))
	defer root.Close()
	bare := must(makeTemporary(root, ".", unmarked))
	if bare.lock != nil || !strings.HasPrefix(filepath.Base(bare.name), ".lathe-"+unmarked+"-") {
		t.Errorf("%+v", bare)
	}
	removeLeftOver(root, ".", now)
	if err := bare.remove(); err != nil {
		t.Error(err)
	}
}

// TestTemporaryRace has processes that write and processes that look for what is left over, all at once: every
// output is written.
func TestTemporaryRace(t *testing.T) {
	dir := t.TempDir()
	root := must(os.OpenRoot(dir))
	defer root.Close()
	done := make(chan struct{})
	var look, all sync.WaitGroup
	look.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				removeLeftOver(root, ".", time.Now())
			}
		}
	})
	for i := range 4 {
		all.Go(func() {
			for k := range 100 {
				name := fmt.Sprintf("%d-%d.txt", i, k)
				if _, err := write(t.Context(), root, name, func(w io.Writer) error { _, err := io.WriteString(w, name); return err }, false, time.Time{}); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				if data, err := root.ReadFile(name); err != nil || string(data) != name {
					t.Errorf("%s: %q, %v", name, data, err)
				}
			}
		})
	}
	all.Wait()
	close(done)
	look.Wait()
	if left := leftIn(dir); len(left) != 0 {
		t.Errorf("%v is left", left)
	}
}
