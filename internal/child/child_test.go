//go:build linux

package child_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe/internal/child"
)

func TestMain(m *testing.M) {
	child.Serve(map[string]func([]byte) []byte{"do": do, "parent": parent})
	os.Exit(m.Run())
}

// do is the work of the children.
func do(job []byte) []byte {
	switch text := string(job); text {
	case "crash":
		fmt.Fprintln(os.Stderr, "about to crash")
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "panic":
		panic("a planted panic")
	case "hang":
		for n := 0; ; n++ { // without end, and never waiting
		}
	case "sleep": // as a process that others keep from running
		time.Sleep(time.Second)
	case "pid":
		return strconv.AppendInt(nil, int64(os.Getpid()), 10)
	case "env":
		return []byte(os.Getenv("LATHE_TEST_CHILD"))
	}
	return append([]byte("did "), job...)
}

// parent starts a child of its own that hangs, says who that is, and ends
// without a word to it.
func parent([]byte) []byte {
	os.Unsetenv("LATHE_CHILD")
	w := child.Worker{Name: "do"}
	pid, err := w.Do(context.Background(), []byte("pid"))
	if err != nil {
		return []byte(err.Error())
	}
	go w.Do(context.Background(), []byte("hang"))
	time.Sleep(100 * time.Millisecond)
	return pid
}

func gone(pid int) bool {
	for range 100 {
		out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
		if err != nil || strings.HasPrefix(strings.TrimSpace(string(out)), "Z") {
			return true
		}
		time.Sleep(50 * time.Millisecond)
	}
	return false
}

func TestJobs(t *testing.T) {
	w := child.Worker{Name: "do", Env: []string{"LATHE_TEST_CHILD=seen"}}
	defer w.Close()
	for range 2 {
		for _, job := range []string{"one", "", strings.Repeat("long", 1<<18)} {
			if got, err := w.Do(t.Context(), []byte(job)); err != nil || string(got) != "did "+job {
				t.Fatalf("a job of %d bytes: %d bytes, %v", len(job), len(got), err)
			}
		}
		if got, err := w.Do(t.Context(), []byte("env")); err != nil || string(got) != "seen" {
			t.Errorf("environment: %q, %v", got, err)
		}
		w.Close() // and again, with a fresh process
		if !w.Fresh() {
			t.Error("a closed worker has a process")
		}
	}
}

// A crash is told apart, with what was written during that job and no other,
// and the next job is done.
func TestCrash(t *testing.T) {
	w := child.Worker{Name: "do"}
	defer w.Close()
	for _, c := range []struct{ job, want string }{{"crash", "about to crash"}, {"panic", "a planted panic"}} {
		if _, err := w.Do(t.Context(), []byte("fine")); err != nil {
			t.Fatal(err)
		}
		_, err := w.Do(t.Context(), []byte(c.job))
		var crash *child.Crash
		if !errors.As(err, &crash) || !strings.Contains(crash.Stderr, c.want) || crash.Jobs != 1 || !child.IsCrash(err) {
			t.Errorf("%s: %v (want a Crash after 1 job that wrote %q)", c.job, err, c.want)
		}
		if c.job == "crash" && crash != nil && crash.State != "signal: killed" {
			t.Errorf("state %q (want signal: killed)", crash.State)
		}
	}
	if got, err := w.Do(t.Context(), []byte("more")); err != nil || string(got) != "did more" {
		t.Errorf("after a crash: %q, %v", got, err)
	}
}

// A job past its limit is stopped, and so is one whose context ends.
func TestHang(t *testing.T) {
	w := child.Worker{Name: "do", Limit: 200 * time.Millisecond}
	defer w.Close()
	b, err := w.Do(t.Context(), []byte("pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, _ := strconv.Atoi(string(b))
	_, err = w.Do(t.Context(), []byte("hang"))
	var hang *child.Hang
	if !errors.As(err, &hang) || hang.Jobs != 1 || !child.IsCrash(err) {
		t.Errorf("%v (want a Hang after 1 job)", err)
	}
	if !gone(pid) {
		t.Errorf("process %d goes on", pid)
	}
	if got, err := w.Do(t.Context(), []byte("sleep")); err != nil || string(got) != "did sleep" {
		t.Errorf("a job that waits for longer than the limit, and does not run: %q, %v", got, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	w.Limit = time.Minute
	if _, err := w.Do(ctx, []byte("hang")); !errors.Is(err, context.DeadlineExceeded) || child.IsCrash(err) {
		t.Errorf("%v (want that of the context)", err)
	}
	if got, err := w.Do(t.Context(), []byte("more")); err != nil || string(got) != "did more" {
		t.Errorf("after a hang: %q, %v", got, err)
	}
}

// A child whose parent is gone ends, even in the middle of a job.
func TestOrphan(t *testing.T) {
	w := child.Worker{Name: "parent"}
	b, err := w.Do(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(string(b))
	if err != nil {
		t.Fatalf("no process: %s", b)
	}
	w.Close()
	if !gone(pid) {
		syscall.Kill(pid, syscall.SIGKILL)
		t.Errorf("process %d outlived its parent", pid)
	}
}

func TestUnknown(t *testing.T) {
	w := child.Worker{Name: "nobody"}
	if _, err := w.Do(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "no function is named") {
		t.Errorf("%v", err)
	}
}
