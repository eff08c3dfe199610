package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/imageio"
	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/internal/testkit"
	_ "github.com/lathe-gpu/lathe/wgpu" // a backend to try
)

func open(t *testing.T) *lathe.Device {
	t.Helper()
	dev, err := lathe.Open(t.Context(), lathe.WithoutCache(), lathe.WithLogger(nil))
	return testkit.Device(t, dev, err)
}

func encoded(t *testing.T, m image.Image) []byte { return encodedAs(t, ".png", m) }

func encodedAs(t *testing.T, ext string, m image.Image) []byte {
	t.Helper()
	b, err := testimg.Encode(m, ext)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The answer to a PNG is what Apply computes, and that to a JPEG is a JPEG of this size, also
// to more requests at a time than there are slots.
func TestBlur(t *testing.T) {
	dev := open(t)
	src := testimg.Photo(97, 61, 1)
	want, err := dev.Apply(t.Context(), src, imageops.GaussianBlur{Sigma: 3})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(newServer(dev, 2))
	defer s.Close()
	var all sync.WaitGroup
	for range 12 {
		all.Go(func() {
			resp, err := http.Post(s.URL+"?sigma=3", "image/png", bytes.NewReader(encoded(t, src)))
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			got, err := png.Decode(resp.Body)
			if err != nil || resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "image/png" {
				t.Errorf("%s, %v, %v", resp.Status, resp.Header, err)
				return
			}
			for y := range 61 {
				for x := range 97 {
					if got, want := color.NRGBAModel.Convert(got.At(x, y)), want.At(x, y); got != want {
						t.Errorf("pixel %d,%d is %v, want %v", x, y, got, want)
						return
					}
				}
			}
		})
	}
	all.Wait()

	var photo bytes.Buffer
	if err := jpeg.Encode(&photo, src, nil); err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post(s.URL+"?sigma=3", "", &photo)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if m, err := jpeg.Decode(resp.Body); err != nil || m.Bounds() != image.Rect(0, 0, 97, 61) {
		t.Errorf("a JPEG gives %s, %v", resp.Status, err)
	}
}

// Every format that imageio reads is answered, in a format that it writes and upright.
func TestFormats(t *testing.T) {
	s := newServer(open(t), 1)
	for ext, want := range map[string]imageio.Format{
		".jpg": imageio.JPEG, ".png": imageio.PNG, ".tiff": imageio.TIFF, ".gif": imageio.GIF, ".bmp": imageio.PNG, ".webp": imageio.WebP, "turned .jpg": imageio.JPEG,
	} {
		body, size := encodedAs(t, ext[strings.Index(ext, "."):], testimg.Quarters(40, 20)), image.Pt(40, 20)
		switch ext {
		case ".webp":
			size = image.Pt(1, 1)
		case "turned .jpg":
			body, size = testimg.WithSegments(body, "Exif\x00\x00"+string(testimg.Exif(6, binary.BigEndian))), image.Pt(20, 40)
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest("POST", "/blur?sigma=1", bytes.NewReader(body)))
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "image/"+string(want) {
			t.Errorf("%s: %d %s %v", ext, w.Code, w.Body, w.Header())
			continue
		}
		m, info, err := imageio.Decode(t.Context(), w.Body, nil)
		if err != nil || info.Format != want || m.Bounds().Size() != size {
			t.Errorf("%s: %+v, %v, want %s of %v", ext, info, err, want, size)
		}
	}
}

// What is wrong with a request decides the status.
func TestStatus(t *testing.T) {
	dev := open(t)
	good := encoded(t, testimg.Photo(8, 8, 1))
	huge := bytes.Clone(good) // a header of 60000 by 60000 pixels
	copy(huge[16:24], []byte{0, 0, 0xea, 0x60, 0, 0, 0xea, 0x60})
	huge = append(huge[:29:29], append(crc(huge[12:29]), huge[33:]...)...)
	deep := encodedAs(t, ".jpg", testimg.Photo(8, 8, 1))
	deep[bytes.Index(deep, []byte{0xff, 0xc0})+4] = 12
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	late, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	for _, c := range []struct {
		name, query string
		ctx         context.Context
		body        []byte
		busy        bool
		want        int
	}{
		{"good", "?sigma=2", nil, good, false, 200},
		{"no sigma", "", nil, good, false, 400},
		{"sigma is no number", "?sigma=x", nil, good, false, 400},
		{"sigma out of range", "?sigma=2000", nil, good, false, 400},
		{"sigma is NaN", "?sigma=NaN", nil, good, false, 400},
		{"sigma is zero", "?sigma=0", nil, good, false, 400},
		{"truncated", "?sigma=2", nil, good[:len(good)/2], false, 400},
		{"a broken header", "?sigma=2", nil, good[:20], false, 400},
		{"too many bytes", "?sigma=2", nil, append(bytes.Clone(good), make([]byte, maxBytes)...), false, 413},
		{"too many pixels", "?sigma=2", nil, huge, false, 413},
		{"text", "?sigma=2", nil, []byte("a picture of nothing"), false, 415},
		{"empty", "?sigma=2", nil, nil, false, 400},
		{"a JPEG of 12 bits a sample", "?sigma=2", nil, deep, false, 415},
		{"the client went away", "?sigma=2", ended, good, false, statusClosed},
		{"the client went away while waiting", "?sigma=2", ended, good, true, statusClosed},
		{"too late", "?sigma=2", late, good, false, 503},
		{"busy for too long", "?sigma=2", late, good, true, 503},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newServer(dev, 1)
			if c.busy {
				s.slots <- struct{}{}
			}
			w, r := httptest.NewRecorder(), httptest.NewRequest("POST", "/blur"+c.query, bytes.NewReader(c.body))
			if c.ctx != nil {
				r = r.WithContext(c.ctx)
			}
			s.ServeHTTP(w, r)
			if w.Code != c.want {
				t.Errorf("status %d (%s), want %d", w.Code, strings.TrimSpace(w.Body.String()), c.want)
			}
			if (w.Header().Get("Retry-After") != "") != (c.want == 503) {
				t.Errorf("status %d has Retry-After %q", w.Code, w.Header().Get("Retry-After"))
			}
			if !c.busy && len(s.slots) != 0 {
				t.Error("the slot was not given back")
			}
		})
	}
	for _, err := range []error{lathe.ErrOutOfMemory, lathe.ErrClosed} {
		if got := status(err); got != 503 {
			t.Errorf("%v: %d, want 503", err, got)
		}
	}
	w := httptest.NewRecorder()
	if fail(w, errors.New("a secret")); w.Code != 500 || strings.Contains(w.Body.String(), "secret") {
		t.Errorf("an unknown error gives %d %q", w.Code, w.Body)
	}
}

// A client that stops sending keeps no slot from others, and its request ends when its time is
// over.
func TestStalledUpload(t *testing.T) {
	s := newServer(open(t), 1)
	body, send := io.Pipe()
	defer send.Close()
	picture := encoded(t, testimg.Photo(8, 8, 1))
	ctx, cancel := context.WithCancel(t.Context())
	stalled, ended := httptest.NewRecorder(), make(chan struct{})
	go func() {
		defer close(ended)
		s.ServeHTTP(stalled, httptest.NewRequest("POST", "/blur?sigma=2", body).WithContext(ctx))
	}()
	if _, err := send.Write(picture[:40]); err != nil { // the request has begun
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("POST", "/blur?sigma=2", bytes.NewReader(picture)))
	if w.Code != http.StatusOK {
		t.Errorf("beside a stalled upload: status %d", w.Code)
	}
	cancel()
	<-ended
	if stalled.Code != statusClosed || len(s.slots) != 0 || len(s.requests) != 0 {
		t.Errorf("status %d, %d slots and %d requests taken", stalled.Code, len(s.slots), len(s.requests))
	}
}

// More requests than maxRequests are refused at once.
func TestBusy(t *testing.T) {
	s := newServer(open(t), 1)
	for range maxRequests {
		s.requests <- struct{}{}
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("POST", "/blur?sigma=2", bytes.NewReader(encoded(t, testimg.Photo(8, 8, 1)))))
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || len(s.requests) != maxRequests {
		t.Errorf("status %d, %v, %d requests", w.Code, w.Header(), len(s.requests))
	}
}

// crc is the checksum of a chunk of a PNG file.
func crc(chunk []byte) []byte { return binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(chunk)) }

// A request that has begun is finished when the server is told to end, and another method than
// POST is refused.
func TestShutdown(t *testing.T) {
	dev := open(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, l, dev) }()
	url := "http://" + l.Addr().String() + "/blur?sigma=2"
	resp, err := http.Get(url)
	if err != nil || resp.StatusCode != http.StatusMethodNotAllowed {
		t.Fatalf("GET: %v, %v", resp, err)
	}
	resp.Body.Close()

	body, send := io.Pipe()
	answer := make(chan error, 1)
	go func() {
		r, err := http.NewRequestWithContext(t.Context(), "POST", url, body)
		if err != nil {
			answer <- err
			return
		}
		r.Header.Set("Expect", "100-continue") // the client sends the body when the server reads it
		client := http.Client{Transport: &http.Transport{ExpectContinueTimeout: time.Minute}}
		resp, err := client.Do(r)
		if err == nil {
			defer resp.Body.Close()
			if _, err = png.Decode(resp.Body); resp.StatusCode != http.StatusOK {
				err = errors.New(resp.Status)
			}
		}
		answer <- err
	}()
	picture := encoded(t, testimg.Photo(32, 32, 1))
	if _, err := send.Write(picture[:40]); err != nil { // the request has begun
		t.Fatal(err)
	}
	cancel()
	for { // until no new request is accepted
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			break
		}
		c.Close()
		time.Sleep(time.Millisecond)
	}
	if _, err := send.Write(picture[40:]); err != nil {
		t.Fatal(err)
	}
	send.Close()
	if err := <-answer; err != nil {
		t.Errorf("a request that had begun: %v", err)
	}
	if err := <-ended; err != nil {
		t.Errorf("serve: %v", err)
	}
}

// A client that does not read its answer keeps no slot from others.
func TestSlowReader(t *testing.T) {
	dev := open(t)
	s := httptest.NewServer(newServer(dev, 1))
	defer s.Close()
	noise := image.NewNRGBA(image.Rect(0, 0, 2000, 1500)) // a PNG larger than what sockets hold
	for i, x := 0, uint32(1); i < len(noise.Pix); i++ {
		x = x*1664525 + 1013904223
		noise.Pix[i] = byte(x >> 24)
	}
	body := encoded(t, noise)
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := fmt.Fprintf(conn, "POST /?sigma=0.5 HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body); err != nil {
		t.Fatal(err)
	}
	one := make([]byte, 1) // the answer has begun
	if _, err := conn.Read(one); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"?sigma=1", bytes.NewReader(encoded(t, image.NewNRGBA(image.Rect(0, 0, 4, 4)))))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("status %s", resp.Status)
	}
}
