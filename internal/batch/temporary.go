package batch

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"time"
)

// An output is written under a temporary name, and then renamed. A process that is killed leaves that file. Later
// ones that write into the folder remove it, but never the file of a process that runs:
//
//   - A file is locked until it has its name. The lock of a process that is gone is gone too. So a file
//     that has the mark of this kernel, and that can be locked, is left over.
//   - On a network drive the locks of other machines may not be seen, and some drives have no locks.
//     A file that has another mark is left over if it can be locked, or there are no locks, and nobody has
//     written to it for a day. Marks of before a restart are such ones.
//
// The clock is that of the drive: the time of the file that is made now.

// leftOverAfter is how long nobody has written to a file whose lock may not be seen.
const leftOverAfter = 24 * time.Hour

// temporaryName are the names of temporary files. Those of older versions have no mark.
var temporaryName = regexp.MustCompile(`^\.lathe-(?:([0-9a-f]{8})-)?[0-9a-f]{16}\.tmp$`)

// unmarked is the mark of files that are not locked.
const unmarked = "00000000"

// mark is that of files which this kernel's locks protect.
var mark = sync.OnceValue(func() string {
	if !hasLocks {
		return unmarked // Wine would have the number too.
	}
	// All containers of a machine have this number, and see each other's locks.
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil || len(id) == 0 {
		return unmarked
	}
	h := fnv.New32a()
	h.Write(id)
	return fmt.Sprintf("%08x", h.Sum32())
})

// temporary is a file that is written under a temporary name.
type temporary struct {
	root *os.Root
	name string
	file *os.File // for the pixels
	lock *os.File // open until the file has its name; nil if there are no locks
}

// errTaken is the error of a lock that another process has.
var errTaken = errors.New("another process has the lock")

// newTemporary makes a file in a folder below root, and removes what is left over there.
func newTemporary(root *os.Root, dir string) (*temporary, error) {
	t, err := makeTemporary(root, dir, mark())
	if err != nil {
		return nil, err
	}
	path, err := filepath.Abs(filepath.Join(root.Name(), dir))
	if err != nil {
		return t, nil
	}
	if _, before := swept.LoadOrStore(path, true); !before {
		if info, err := t.file.Stat(); err == nil {
			removeLeftOver(root, dir, info.ModTime())
		}
	}
	return t, nil
}

// swept has the folders where this process has removed what was left over. Once is enough, because what is
// left over later is that of another process that was killed meanwhile.
var swept sync.Map

// makeTemporary makes a file with a mark. If it cannot be locked, the mark says so.
func makeTemporary(root *os.Root, dir, mark string) (*temporary, error) {
	for range 100 { // A process that looks for files that are left over may have one before it is locked.
		t := &temporary{root: root, name: filepath.Join(dir, fmt.Sprintf(".lathe-%s-%016x.tmp", mark, rand.Uint64()))}
		var err error
		if t.file, err = root.OpenFile(t.name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666); err != nil {
			return nil, err
		}
		if mark == unmarked {
			return t, nil
		}
		// The lock is that of a file of its own, because the other one is closed before the file gets its name.
		if t.lock, err = root.OpenFile(t.name, os.O_WRONLY, 0); err == nil {
			err = lock(t.lock)
		}
		if err == nil && t.there(t.lock) {
			return t, nil
		}
		if e := t.remove(); e != nil && !errors.Is(e, fs.ErrNotExist) {
			return nil, e
		}
		if err != nil && !errors.Is(err, errTaken) && !errors.Is(err, fs.ErrNotExist) {
			mark = unmarked // no locks here
		}
	}
	return nil, errors.New("other processes take the temporary files away")
}

// there reports whether the name is that of a file that is open.
func (t *temporary) there(f *os.File) bool {
	named, err := t.root.Lstat(t.name)
	if err != nil {
		return false
	}
	open, err := f.Stat()
	return err == nil && os.SameFile(named, open)
}

// rename gives the file its name, which it must be closed for.
func (t *temporary) rename(name string) error {
	err := t.root.Rename(t.name, name)
	if t.lock != nil && err == nil {
		t.lock.Close()
	}
	return err
}

// remove closes and removes the file.
func (t *temporary) remove() error {
	t.file.Close() // harmless when already closed
	err := t.root.Remove(t.name)
	if t.lock != nil {
		t.lock.Close()
	}
	return err
}

// removeLeftOver removes the temporary files of processes that were killed from a folder below root. now is the time
// of the drive. What cannot be removed stays.
func removeLeftOver(root *os.Root, dir string, now time.Time) {
	folder, err := root.Open(dir)
	if err != nil {
		return
	}
	defer folder.Close()
	for {
		names, err := folder.Readdirnames(1024)
		for _, name := range names {
			if m := temporaryName.FindStringSubmatch(name); m != nil {
				removeIfLeftOver(&temporary{root: root, name: filepath.Join(dir, name)}, m[1], now)
			}
		}
		if err != nil || len(names) == 0 {
			return // io.EOF, or the rest cannot be read
		}
	}
}

func removeIfLeftOver(t *temporary, itsMark string, now time.Time) {
	info, err := t.root.Lstat(t.name)
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	old := now.Sub(info.ModTime()) >= leftOverAfter
	here := itsMark == mark() && itsMark != unmarked
	if !here && !old {
		return
	}
	f, err := t.root.OpenFile(t.name, os.O_WRONLY, 0)
	if err != nil {
		return
	}
	defer f.Close()
	if err := lock(f); err != nil && (here || errors.Is(err, errTaken)) {
		return
	}
	if t.there(f) {
		_ = t.root.Remove(t.name)
	}
}
