// Package generated is what the tools share that write files from the declarations of
// operations: the flag -check, and files that are written or compared.
package generated

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
)

// Main is the main function of a tool. It parses the command line, adds the flag -check
// to those that the tool has defined, and calls run. An error ends the program with exit
// code 1.
func Main(tool string, run func(check bool) error) {
	check := flag.Bool("check", false, "write nothing, and fail if a file is not what would be written")
	flag.Parse()
	if err := run(*check); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", tool, err)
		os.Exit(1)
	}
}

// File writes a file unless its text is there already. With check it writes nothing: a
// file that is missing or has another text is an error, which says that command writes it.
func File(path string, text []byte, command string, check bool) error {
	have, err := os.ReadFile(path)
	switch {
	case err == nil && bytes.Equal(have, text):
		return nil
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return err
	case check:
		return fmt.Errorf("%s is stale: run `%s` and commit it", path, command)
	}
	return os.WriteFile(path, text, 0o644)
}
