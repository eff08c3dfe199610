package child

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// ownGroup puts the process into a group of its own, so that all of it can be
// killed at once.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func killGroup(cmd *exec.Cmd) {
	if syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) != nil {
		cmd.Process.Kill()
	}
}

// limitMemory bounds this process's address space to the bytes that text says.
func limitMemory(text string) {
	if n, err := strconv.ParseUint(text, 10, 64); err == nil && n > 0 {
		syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: n, Max: n})
	}
}

// cpuTime is how long the process has run on all its threads, -1 if that is not
// known.
func cpuTime(pid int) time.Duration {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return -1
	}
	// After the name in parentheses, the 12th and 13th fields are the user's and
	// the system's part in hundredths of a second.
	f := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(f) < 13 {
		return -1
	}
	user, errUser := strconv.Atoi(string(f[11]))
	system, errSystem := strconv.Atoi(string(f[12]))
	if errUser != nil || errSystem != nil {
		return -1
	}
	return time.Duration(user+system) * (time.Second / 100)
}
