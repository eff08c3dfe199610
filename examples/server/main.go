// Server blurs pictures by HTTP:
//
//	go run ./examples/server -addr localhost:8080
//	curl --data-binary @photo.jpg 'localhost:8080/blur?sigma=3' > soft.jpg
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"log"
	"net"
	"net/http"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/imageio"
	"github.com/lathe-gpu/lathe/imageops"
)

// A request takes up to maxBytes of memory, and up to 40·maxPixels bytes while its picture is in
// work.
const (
	maxBytes    = 20 << 20
	maxPixels   = 24_000_000
	maxRequests = 32
	patience    = 30 * time.Second // with waiting for other requests
)

type server struct {
	dev      *lathe.Device
	requests chan struct{} // has an element for each request
	slots    chan struct{} // has an element for each picture in work
}

func newServer(dev *lathe.Device, slots int) *server {
	return &server{dev, make(chan struct{}, maxRequests), make(chan struct{}, slots)}
}

// ServeHTTP answers with the picture of the request, upright and blurred, in the same format if
// package imageio writes that.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	answer, format, err := s.blur(ctx, r)
	if err != nil {
		fail(w, err)
		return
	}
	w.Header().Set("Content-Type", format.MediaType())
	if _, err := w.Write(answer); err != nil {
		log.Print("answer: ", err) // the client went away
	}
}

// blur returns the bytes of the answer. It takes a slot when it has the bytes of the request, so
// that a client that sends or reads slowly keeps none.
func (s *server) blur(ctx context.Context, r *http.Request) ([]byte, imageio.Format, error) {
	sigma, err := strconv.ParseFloat(r.URL.Query().Get("sigma"), 64)
	if err != nil {
		return nil, "", badRequest{errors.New("sigma must be a number, as in /blur?sigma=3")}
	}
	select {
	case s.requests <- struct{}{}:
		defer func() { <-s.requests }()
	default:
		return nil, "", errBusy
	}
	body, err := readAll(ctx, r.Body)
	if err != nil {
		return nil, "", badRequest{err}
	}
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return nil, "", ctx.Err()
	}
	img, info, err := imageio.Decode(ctx, bytes.NewReader(body), &imageio.DecodeOptions{MaxBytes: maxBytes, MaxPixels: maxPixels})
	if err != nil {
		return nil, "", badRequest{err}
	}
	out, err := s.dev.Apply(ctx, img, imageops.GaussianBlur{Sigma: sigma}) // goroutines share the device
	if err != nil {
		return nil, "", err
	}
	format := info.Format
	if !format.CanEncode() {
		format = imageio.PNG
	}
	var answer bytes.Buffer
	err = imageio.Encode(ctx, &answer, out, format, nil)
	return answer.Bytes(), format, err
}

// readAll reads until the end, or until ctx ends. It reads a byte more than maxBytes at most, which
// Decode refuses.
func readAll(ctx context.Context, r io.Reader) ([]byte, error) {
	type result struct {
		body []byte
		err  error
	}
	done := make(chan result, 1)
	go func() { // It ends at the latest when the request does, because the body is closed then.
		body, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
		done <- result{body, err}
	}()
	select {
	case all := <-done:
		return all.body, all.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// serve answers requests until ctx ends, and then finishes those that it has begun.
func serve(ctx context.Context, l net.Listener, dev *lathe.Device) error {
	mux := http.NewServeMux()
	mux.Handle("POST /blur", newServer(dev, runtime.NumCPU()))
	srv := &http.Server{Handler: mux, ReadTimeout: patience, WriteTimeout: 3 * patience} // for reading, waiting and computing, writing
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	return srv.Shutdown(late)
}

func main() {
	addr := flag.String("addr", "localhost:8080", "address to listen on")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	dev := must(lathe.Open(ctx))
	defer dev.Close() // after the last request
	l := must(net.Listen("tcp", *addr))
	log.Printf("listening on http://%s/blur, computing on %s", l.Addr(), dev.Info().Name)
	if err := serve(ctx, l, dev); err != nil {
		log.Print(err)
	}
}
