package main

import (
	"context"
	"errors"
	"log"
	"net/http"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/imageio"
)

// statusClosed is the status, known from nginx, that a log has where the client went away.
const statusClosed = 499

var errBusy = errors.New("too many requests, try again later")

// badRequest is a mistake of the client.
type badRequest struct{ error }

func (e badRequest) Unwrap() error { return e.error }

// status is the status of HTTP that fits an error.
func status(err error) int {
	switch {
	case errors.Is(err, context.Canceled):
		return statusClosed
	case errors.Is(err, errBusy), errors.Is(err, context.DeadlineExceeded), errors.Is(err, lathe.ErrOutOfMemory), errors.Is(err, lathe.ErrClosed):
		return http.StatusServiceUnavailable // 503: later it may work
	case errors.Is(err, imageio.ErrTooLarge):
		return http.StatusRequestEntityTooLarge // 413
	case errors.Is(err, imageio.ErrUnsupported):
		return http.StatusUnsupportedMediaType // 415
	case errors.As(err, new(badRequest)), errors.Is(err, lathe.ErrInvalidArgument):
		return http.StatusBadRequest // 400
	}
	return http.StatusInternalServerError
}

// fail answers with an error.
func fail(w http.ResponseWriter, err error) {
	code := status(err)
	if code == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "5")
	}
	if code == http.StatusInternalServerError {
		log.Print(err) // it may tell strangers too much
		err = errors.New("internal error")
	}
	http.Error(w, err.Error(), code)
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}
