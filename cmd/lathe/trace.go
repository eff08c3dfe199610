package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/lathe-gpu/lathe/internal/gpu/chrome"
)

// traceFile is the file of --trace. A nil one is not asked for.
type traceFile struct {
	name    string
	file    *os.File
	info    os.FileInfo
	created bool          // was not there before
	used    bool          // has been emptied and handed to a device
	trace   *chrome.Trace // where no lathe.Device writes it
	err     error         // the first one of writing
}

// Write writes to the file and remembers a failure for finish: whoever traces
// may not say.
func (f *traceFile) Write(p []byte) (int, error) {
	n, err := f.file.Write(p)
	f.err = cmp.Or(f.err, err)
	return n, err
}

// openTrace opens the file, before anything else is done, so that work is not
// done in vain. It stays as it was until a device is opened.
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

// use empties the file, which is to be written.
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

// finish ends the file, whatever became of the command, and returns the
// command's error or else that of writing. Of a command line that was wrong
// there is no trace.
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
