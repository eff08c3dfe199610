//go:build !novk && cgo

package vk

// #include <stdint.h>
import "C"

import (
	"errors"
	"fmt"
	"strings"
	"sync"
)

// errValidation is the error that errors of validation messages wrap.
var errValidation = errors.New("validation")

// messages collects what the validation layer reports about one instance.
type messages struct {
	id   uintptr
	warn func(string)

	mu   sync.Mutex
	errs []error
}

// listeners has the messages by a number. C keeps the number, because it must not keep a
// Go pointer.
var listeners struct {
	sync.Mutex
	next uintptr
	m    map[uintptr]*messages
}

func newMessages(warn func(string)) *messages {
	listeners.Lock()
	defer listeners.Unlock()
	if listeners.m == nil {
		listeners.m = map[uintptr]*messages{}
	}
	listeners.next++
	m := &messages{id: listeners.next, warn: warn}
	listeners.m[m.id] = m
	return m
}

func (m *messages) close() {
	listeners.Lock()
	defer listeners.Unlock()
	delete(listeners.m, m.id)
}

// drain returns the errors reported since the last call, joined, or nil.
func (m *messages) drain() error {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	err := errors.Join(m.errs...)
	m.errs = nil
	return err
}

// maxMessages is how many messages are kept between two calls of drain.
const maxMessages = 100

func (m *messages) add(severity uint32, name, text string) {
	if name != "" && !strings.Contains(text, name) {
		text = name + ": " + text
	}
	if severity < 0x1000 { // a warning
		m.warn("lathe: validation warning: " + text)
		return
	}
	m.mu.Lock()
	if len(m.errs) < maxMessages {
		m.errs = append(m.errs, fmt.Errorf("vk: %w: %s", errValidation, text))
	}
	m.mu.Unlock()
	m.warn("lathe: validation error: " + text)
}

//export latheVulkanMessage
func latheVulkanMessage(id C.uintptr_t, severity C.uint32_t, name, text *C.char) {
	listeners.Lock()
	m := listeners.m[uintptr(id)]
	listeners.Unlock()
	if m != nil {
		m.add(uint32(severity), C.GoString(name), C.GoString(text))
	}
}
