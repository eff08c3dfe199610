//go:build !novk && cgo

package vk

import (
	"os"
	"slices"
	"strings"
	"sync"
)

// shared has the instances without validation. An instance that has found a device that can be
// used is never destroyed. With the last instance of a process the loader unloads the drivers,
// and not all drivers can be loaded again and again: with NVIDIA's 580, vkCreateInstance fails with
// VK_ERROR_INCOMPATIBLE_DRIVER after some six times, until the process ends (docs/adr/0066).
var shared struct {
	sync.Mutex
	of map[string]*instance // by environmentKey
}

// environmentKey is what decides which drivers and layers the loader finds: its variables and the
// manifests of drivers. If a program changes the variables, or if a driver is installed while it
// runs, the key is another one, and so is the instance.
func environmentKey() string {
	var parts []string
	for _, v := range os.Environ() {
		if strings.HasPrefix(v, "VK_") {
			parts = append(parts, v)
		}
	}
	slices.Sort(parts)
	_, files := searchDrivers()
	return strings.Join(append(parts, files...), "\x00")
}

// acquire returns an instance. The caller must call its release.
func acquire(validation bool, warn func(string)) (*instance, error) {
	gipa, err := openLoader()
	if err != nil {
		return nil, err
	}
	if validation {
		in, err := newInstance(gipa, newMessages(warn))
		if err != nil {
			return nil, err
		}
		if in.plain, err = acquire(false, warn); err != nil {
			in.destroy()
			return nil, err
		}
		return in, nil
	}
	shared.Lock()
	defer shared.Unlock()
	key := environmentKey()
	in := shared.of[key]
	if in == nil {
		if in, err = newInstance(gipa, nil); err != nil {
			return nil, err
		}
		in.key = key
		if shared.of == nil {
			shared.of = map[string]*instance{}
		}
		shared.of[key] = in
	}
	in.refs++
	return in, nil
}

// keep says that the instance has found a device that can be used, so that the drivers stay loaded until
// the process ends. An instance that has found none is destroyed by its last user: the next one may
// find a driver that was installed meanwhile.
func (in *instance) keep() {
	if in.plain != nil {
		in = in.plain
	}
	shared.Lock()
	defer shared.Unlock()
	in.kept = true
}

// retain counts one more user of an instance without validation.
func (in *instance) retain() {
	shared.Lock()
	defer shared.Unlock()
	in.refs++
}

// release undoes acquire or retain. The last release destroys the instance, if it is not kept.
func (in *instance) release() {
	if in.messages != nil {
		in.destroy()
		return
	}
	shared.Lock()
	defer shared.Unlock()
	if in.refs--; in.refs == 0 && !in.kept {
		delete(shared.of, in.key)
		in.destroy()
	}
}
