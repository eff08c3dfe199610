// Package child does jobs in a child process. A job that crashes a driver, or that never
// ends, then does no harm to the parent. The child is the running program itself, started
// again. The TestMain of a test begins with
//
//	child.Serve(map[string]func([]byte) []byte{"launch": launch})
//
// which returns at once in the parent and never in a child. The parent then lets a Worker
// of that name do jobs:
//
//	w := child.Worker{Name: "launch"}
//	defer w.Close()
//	reply, err := w.Do(ctx, job)
//
// One job is done at a time, so a crash or a hang belongs to the job that was given last.
// The next job gets a new process. A child ends when its standard input ends, so it does
// not outlive its parent.
package child

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// nameEnv names the function that a child serves; memoryEnv bounds its memory.
const (
	nameEnv   = "LATHE_CHILD"
	memoryEnv = "LATHE_CHILD_MEMORY"
)

// DefaultLimit is how long a job may take where Worker.Limit is 0.
const DefaultLimit = 20 * time.Second

// startLimit bounds the time from the start of a process to its first word.
const startLimit = 60 * time.Second

// maxFrame bounds a job and a reply, so that a broken child costs no memory.
const maxFrame = 1 << 30

// Serve does the jobs of a parent and then ends the process, if a Worker started this
// process. Otherwise it returns at once. The keys of do are the names that Workers give.
// What a function prints is in the Crash that the parent gets.
func Serve(do map[string]func(job []byte) (reply []byte)) {
	name := os.Getenv(nameEnv)
	if name == "" {
		return
	}
	f := do[name]
	if f == nil {
		fmt.Fprintf(os.Stderr, "child: no function is named %q\n", name)
		os.Exit(2)
	}
	limitMemory(os.Getenv(memoryEnv))
	out := os.NewFile(3, "replies")
	jobs := make(chan []byte)
	go func() {
		for {
			job, err := readFrame(os.Stdin)
			if err != nil {
				os.Exit(0) // the parent has closed the pipe, or is gone
			}
			jobs <- job
		}
	}()
	reply := []byte{} // the first one says that the process is up
	for {
		if err := writeFrame(out, reply); err != nil {
			os.Exit(0)
		}
		reply = f(<-jobs)
	}
}

func readFrame(r io.Reader) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint32(head[:])
	if n > maxFrame {
		return nil, fmt.Errorf("child: frame of %d bytes", n)
	}
	b := make([]byte, n)
	_, err := io.ReadFull(r, b)
	return b, err
}

func writeFrame(w io.Writer, b []byte) error {
	frame := binary.LittleEndian.AppendUint32(make([]byte, 0, 4+len(b)), uint32(len(b)))
	_, err := w.Write(append(frame, b...))
	return err
}

// Worker does jobs in a child process. It starts the process when there is a job and no
// process runs. Set the fields before the first job. Only one goroutine may use a Worker.
type Worker struct {
	Name   string        // of the function in Serve's map
	Env    []string      // "KEY=value", on top of this process's environment
	Limit  time.Duration // that a job may take; 0 means DefaultLimit. See Hang
	Memory uint64        // bytes of address space the child may have; 0 means any (Linux only)

	cmd     *exec.Cmd
	in      io.WriteCloser
	replies chan []byte   // closed when the child's end of the pipe is
	done    chan struct{} // closed when the process is gone and state is set
	state   string        // how the process ended
	stderr  *head
	jobs    int // done by this process
}

// Crash is the error of a job that ended its process.
type Crash struct {
	State  string // such as "signal: segmentation fault"
	Stderr string // the beginning of what the process wrote during the job
	Jobs   int    // how many jobs the process had done before
}

// Error says how the process ended and what it wrote last.
func (c *Crash) Error() string {
	return fmt.Sprintf("child: the process ended after %d jobs: %s\n%s", c.Jobs, c.State, c.Stderr)
}

// Hang is the error of a job that was stopped after Limit, together with its process. On
// Linux, Limit counts only the time in which the process runs, because other work may keep
// it from running. The job is stopped after ten times Limit in any case. On other systems,
// Limit counts all time.
type Hang struct {
	Limit time.Duration
	Jobs  int // how many jobs the process had done before
}

// Error says after how long the job was stopped.
func (h *Hang) Error() string {
	return fmt.Sprintf("child: the job did not end within %v, after %d jobs of the same process", h.Limit, h.Jobs)
}

// Do has the child do one job and returns its reply.
// Errors: *Crash, *Hang, ctx.Err(), or why no process could be started. After
// an error the process is gone, and the next Do starts another.
func (w *Worker) Do(ctx context.Context, job []byte) ([]byte, error) {
	if w.cmd == nil {
		if err := w.start(); err != nil {
			return nil, err
		}
		if _, err := w.wait(ctx, startLimit); err != nil {
			return nil, fmt.Errorf("child: start %s: %w", w.Name, err)
		}
	}
	w.stderr.reset()
	sent := make(chan error, 1)
	go func(in io.Writer) { sent <- writeFrame(in, job) }(w.in) // a child that reads no more must not hold us
	limit := w.Limit
	if limit == 0 {
		limit = DefaultLimit
	}
	reply, err := w.wait(ctx, limit)
	if err != nil {
		return nil, err
	}
	w.jobs++
	return reply, <-sent
}

// Fresh reports whether the next job gets a process of its own.
func (w *Worker) Fresh() bool { return w.cmd == nil }

// Close ends the child. The Worker may be used again.
func (w *Worker) Close() {
	if w.cmd == nil {
		return
	}
	w.in.Close()
	select {
	case <-w.done:
	case <-time.After(2 * time.Second):
	}
	w.end()
}

func (w *Worker) start() error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("child: %w", err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("child: %w", err)
	}
	w.stderr, w.jobs = &head{}, 0
	cmd := exec.Command(self)
	cmd.Env = append(append(os.Environ(), w.Env...), nameEnv+"="+w.Name, fmt.Sprintf("%s=%d", memoryEnv, w.Memory))
	cmd.ExtraFiles = []*os.File{write}
	cmd.Stdout, cmd.Stderr = w.stderr, w.stderr
	cmd.WaitDelay = 2 * time.Second // for a grandchild that holds the pipe
	ownGroup(cmd)
	if w.in, err = cmd.StdinPipe(); err == nil {
		err = cmd.Start()
	}
	write.Close()
	if err != nil {
		read.Close()
		return fmt.Errorf("child: start %s: %w", w.Name, err)
	}
	w.cmd, w.replies, w.done = cmd, make(chan []byte, 1), make(chan struct{})
	replies, done := w.replies, w.done
	go func() {
		defer read.Close()
		defer close(replies)
		for {
			b, err := readFrame(read)
			if err != nil {
				return
			}
			select {
			case replies <- b:
			case <-done:
				return
			}
		}
	}()
	go func() {
		err := cmd.Wait()
		w.state = "exit status 0"
		if err != nil {
			w.state = err.Error()
		}
		close(done)
	}()
	return nil
}

// wait takes the next reply of the child.
func (w *Worker) wait(ctx context.Context, limit time.Duration) ([]byte, error) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	start, before := time.Now(), cpuTime(w.cmd.Process.Pid)
again:
	select {
	case b, ok := <-w.replies:
		if ok {
			return b, nil
		}
		crash := &Crash{Jobs: w.jobs}
		select { // the pipe closes a little before the process is reaped
		case <-w.done:
		case <-time.After(5 * time.Second):
		}
		done, out := w.done, w.stderr
		w.end()
		<-done
		crash.State, crash.Stderr = w.state, out.String()
		return nil, crash
	case <-timer.C:
		if ran := cpuTime(w.cmd.Process.Pid) - before; ran < limit && before >= 0 && time.Since(start) < 10*limit {
			timer.Reset(max(limit-ran, limit/10))
			goto again
		}
		w.end()
		return nil, &Hang{Limit: limit, Jobs: w.jobs}
	case <-ctx.Done():
		w.end()
		return nil, ctx.Err()
	}
}

// end kills the process and all it may have started, and waits until it is gone.
func (w *Worker) end() {
	killGroup(w.cmd)
	w.in.Close()
	<-w.done
	w.cmd = nil
}

// IsCrash reports whether err is a *Crash or a *Hang. These are errors that the job
// caused. Other errors kept the job from being done.
func IsCrash(err error) bool {
	var c *Crash
	var h *Hang
	return errors.As(err, &c) || errors.As(err, &h)
}

// head keeps the first bytes written to it: a crash says what it is before it
// lists goroutines.
type head struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (h *head) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.buf.Write(b[:min(len(b), max(0, 4096-h.buf.Len()))])
	return len(b), nil
}

func (h *head) reset() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.buf.Reset()
}

// String is what was kept.
func (h *head) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.buf.String()
}
