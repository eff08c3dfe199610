// Server blurs pictures by HTTP:
//
//	go run ./examples/server -addr localhost:8080
//	curl --data-binary @photo.jpg 'localhost:8080/blur?sigma=3' > soft.jpg
package main

import (
	"bytes"
	"context"
	"flag"
	"image"
	"image/jpeg"
	"image/png"
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
	"github.com/lathe-gpu/lathe/imageops"
)

// The limits of a request. A picture in work takes up to 3·maxBytes + 24·maxPixels bytes of memory.
const (
	maxBytes  = 20 << 20
	maxPixels = 24_000_000
	patience  = 30 * time.Second // with waiting for other requests
)

type server struct {
	dev   *lathe.Device
	slots chan struct{} // has an element for each picture in work
}

// ServeHTTP answers with the picture of the request, blurred, in the same format.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	answer, format, err := s.blur(ctx, w, r)
	if err != nil {
		fail(w, err)
		return
	}
	w.Header().Set("Content-Type", "image/"+format)
	if _, err := w.Write(answer); err != nil {
		log.Print("answer: ", err) // the client went away
	}
}

// blur returns the bytes of the answer, so that a client that reads slowly keeps no slot.
func (s *server) blur(ctx context.Context, w http.ResponseWriter, r *http.Request) ([]byte, string, error) {
	sigma, err := strconv.ParseFloat(r.URL.Query().Get("sigma"), 64)
	if err != nil {
		return nil, "", badRequest{err}
	}
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return nil, "", ctx.Err()
	}
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBytes))
	if err != nil {
		return nil, "", err
	}
	config, format, err := image.DecodeConfig(bytes.NewReader(data)) // a header may claim any size
	if err != nil {
		return nil, "", badRequest{err}
	}
	if int64(config.Width)*int64(config.Height) > maxPixels {
		return nil, "", errTooManyPixels
	}
	img, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, "", badRequest{err}
	}
	out, err := s.dev.Apply(ctx, img, imageops.GaussianBlur{Sigma: sigma}) // goroutines share the device
	if err != nil {
		return nil, "", err
	}
	var answer bytes.Buffer
	if format == "png" {
		err = png.Encode(&answer, out)
	} else {
		err = jpeg.Encode(&answer, out, nil)
	}
	return answer.Bytes(), format, err
}

// serve answers requests until ctx ends, and then finishes those that it has begun.
func serve(ctx context.Context, l net.Listener, dev *lathe.Device) error {
	mux := http.NewServeMux()
	mux.Handle("POST /blur", &server{dev: dev, slots: make(chan struct{}, runtime.NumCPU())})
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
