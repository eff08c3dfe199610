//go:build unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	_ "github.com/lathe-gpu/lathe/wgpu" // a backend to try
)

// driver moves the slider of the page, and sends what the canvas then shows.
const driver = `<script>
const sigmas = [%s], slider = document.getElementById("sigma"), status = document.getElementById("status");
(async () => {
  for (const sigma of sigmas) {
    const text = "σ " + sigma + ":";
    const end = Date.now() + 60000;
    do {
      if (slider.value != sigma) {
        slider.value = sigma;
        slider.dispatchEvent(new Event("input"));
      }
      await new Promise((done) => setTimeout(done, 20));
    } while (!status.textContent.includes(text) && Date.now() < end);
    const canvas = document.getElementById("canvas");
    const shown = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    await fetch("/shown?sigma=" + sigma + "&width=" + canvas.width + "&status=" + encodeURIComponent(status.textContent), { method: "POST", body: shown.data });
  }
})();
</script>`

// TestPage opens the page in Chromium and moves the slider. The picture that is shown must
// be the one that this program computes on the device cpu, to the last bit.
func TestPage(t *testing.T) {
	testlevel.Turn(t, 5)
	chromium, err := exec.LookPath("chromium-headless-shell")
	if err != nil {
		if os.Getenv("LATHE_REQUIRE_BROWSER") == "1" {
			t.Fatal(err)
		}
		t.Skip("needs chromium-headless-shell; `make browser` installs it")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	dir := t.TempDir()
	if err := build(dir); err != nil {
		t.Fatal(err)
	}
	sigmas := []string{"0.6", "7.5", "19.5"}
	type result struct {
		sigma, width, status string
		pixels               []byte
	}
	results := make(chan result, len(sigmas))
	mux := http.NewServeMux()
	mux.Handle("/", handler(dir))
	mux.HandleFunc("/test.html", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, "%s"+driver, index, `"`+strings.Join(sigmas, `","`)+`"`)
	})
	mux.HandleFunc("/shown", func(_ http.ResponseWriter, r *http.Request) {
		data, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		results <- result{r.FormValue("sigma"), r.FormValue("width"), r.FormValue("status"), data}
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	// The port for debugging keeps the browser running.
	cmd := exec.CommandContext(ctx, chromium, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0", "--user-data-dir="+t.TempDir(), server.URL+"/test.html")
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	// The program may be a script, and the browser has processes of its own.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		cancel()
		_ = cmd.Wait() // it was killed
	}()
	dev, err := lathe.Open(ctx, lathe.WithBackend("cpu"))
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	for _, sigma := range sigmas {
		var got result
		select {
		case got = <-results:
		case <-ctx.Done():
			t.Fatalf("the page sent nothing for σ %s; Chromium says: %s", sigma, &said)
		}
		var s float64
		if _, err := fmt.Sscan(sigma, &s); err != nil {
			t.Fatal(err)
		}
		want, err := dev.Apply(ctx, drawRings(720, 480), imageops.GaussianBlur{Sigma: s})
		if err != nil {
			t.Fatal(err)
		}
		if got.sigma != sigma || got.width != "720" || !bytes.Equal(got.pixels, want.Pix) || !strings.Contains(got.status, "σ "+sigma+":") {
			t.Errorf("σ %s: the page shows another picture: σ %s, width %s, %d bytes, and says %q", sigma, got.sigma, got.width, len(got.pixels), got.status)
		}
	}
}
