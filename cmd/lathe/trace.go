package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/lathe-gpu/lathe/internal/gpu/chrome"
)

// traceFile is the file of --trace. It is nil without the flag.
type traceFile struct {
	name    string
	file    *os.File
	info    os.FileInfo
	created bool          // the file did not exist before
	used    bool          // the file was emptied and given to a device
	trace   *chrome.Trace // where no lathe.Device writes it
	err     error         // the first one of writing
}

// Write writes to the file. It remembers an error for finish, because the trace may not
// report it.
func (f *traceFile) Write(p []byte) (int, error) {
	n, err := f.file.Write(p)
	f.err = cmp.Or(f.err, err)
	return n, err
}

// openTrace opens the file before any other work, so that no work is lost if it cannot be
// written. The file does not change until a device is opened.
func openTrace(name string) (*traceFile, error) {
	f := &traceFile{name: name, created: true}
	var err error
	if f.file, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666); errors.Is(err, os.ErrExist) {
		f.created = false
		f.file, err = os.OpenFile(name, os.O_RDWR, 0)
	}
	if err != nil {
		return nil, usage("--trace %s: %w", name, reason(err))
	}
	if f.info, err = f.file.Stat(); err == nil && f.info.Mode().IsRegular() && f.info.Size() > 0 {
		head := make([]byte, len(chrome.Header))
		if _, err = io.ReadFull(f.file, head); err != nil || string(head) != chrome.Header {
			err = errors.New("the file exists and is not a trace; it is not replaced")
		}
	}
	if err != nil {
		f.file.Close()
		return nil, usage("--trace %s: %w", name, reason(err))
	}
	return f, nil
}

// is reports whether path is the file.
func (f *traceFile) is(path string) bool {
	if f == nil {
		return false
	}
	info, err := os.Stat(path)
	return err == nil && os.SameFile(info, f.info)
}

// use empties the file before it is written.
func (f *traceFile) use() {
	f.used = true
	if f.info.Mode().IsRegular() {
		_, err := f.file.Seek(0, io.SeekStart)
		f.err = cmp.Or(err, f.file.Truncate(0))
	}
}

// start begins a trace for a session.
func (f *traceFile) start() *chrome.Trace {
	f.use()
	f.trace = chrome.New(f, nil)
	return f.trace
}

// finish ends the file, also after an error of the command. It returns the error of the
// command, or else that of writing. If the command line is wrong, there is no trace.
func (f *traceFile) finish(err error) error {
	if !f.used && exitCode(err) == exitUsage {
		f.file.Close()
		if f.created {
			os.Remove(f.name)
		}
		return err
	}
	if !f.used {
		f.use()
		f.trace = chrome.New(f, nil)
	}
	if f.trace != nil {
		f.trace.Close() // f has its error
	}
	if f.err = cmp.Or(f.err, f.file.Close()); f.err != nil && err == nil {
		return fmt.Errorf("--trace %s: %w", f.name, reason(f.err))
	}
	return err
}
