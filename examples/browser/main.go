//go:build !js

// Browser blurs a picture in a web page while a slider moves. The page is a Go program for
// GOOS=js: its shaders run as WebAssembly of the browser, with no WebGPU and no server.
//
//	go run ./examples/browser
//
// builds the page and serves it at http://localhost:8080.
package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
)

//go:embed index.html
var index []byte

func main() {
	log.SetFlags(0)
	addr := flag.String("addr", "localhost:8080", "address to serve the page at")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *addr); err != nil {
		log.Fatal(err)
	}
}

// run builds the page and serves it until ctx ends.
func run(ctx context.Context, addr string) error {
	dir, err := os.MkdirTemp("", "lathe-page-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := build(dir); err != nil {
		return err
	}
	server := &http.Server{Addr: addr, Handler: handler(dir)}
	defer context.AfterFunc(ctx, func() { server.Close() })()
	fmt.Printf("the page is at http://%s\n", addr)
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// build makes the files of the page in dir: the program, Go's script that starts it, and the
// page itself. They can be served by any server.
func build(dir string) error {
	root, err := output(exec.Command("go", "env", "GOROOT"))
	if err != nil {
		return err
	}
	script, err := os.ReadFile(filepath.Join(root, "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return err
	}
	for name, data := range map[string][]byte{"wasm_exec.js": script, "index.html": index} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			return err
		}
	}
	cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o", filepath.Join(dir, "page.wasm"), "github.com/lathe-gpu/lathe/examples/browser")
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	_, err = output(cmd)
	return err
}

// output runs a command and returns what it prints. Its error has what it says.
func output(cmd *exec.Cmd) (string, error) {
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, stderr.String())
	}
	return strings.TrimSpace(string(out)), nil
}

// handler serves the files of the page.
func handler(dir string) http.Handler { return http.FileServer(http.Dir(dir)) }
