//go:build !linux

package child

import "os/exec"

func ownGroup(*exec.Cmd)      {}
func killGroup(cmd *exec.Cmd) { cmd.Process.Kill() }
func limitMemory(string)      {}
