package child

import (
	"os/exec"
	"strconv"
	"syscall"
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
