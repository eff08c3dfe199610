//go:build !novk && cgo

package vk

/*
#cgo CFLAGS: -std=gnu11
#cgo linux LDFLAGS: -ldl
#include <stdlib.h>
#include "loader.h"
#include "query.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"unsafe"

	vulkan "github.com/vulkan-go/vulkan"

	"github.com/lathe-gpu/lathe/gpu"
)

const (
	validationLayer = "VK_LAYER_KHRONOS_validation"
	version11       = 1<<22 | 1<<12
	version12       = 1<<22 | 2<<12
	version13       = 1<<22 | 3<<12
)

// loader is the Vulkan library, opened once and never closed.
var loader struct {
	sync.Mutex
	gipa    unsafe.Pointer // vkGetInstanceProcAddr, nil until found
	path    string
	version uint32
	ready   bool // the Go binding has the functions of an instance
}

// openLoader finds the Vulkan library. After a failure the next call tries again, so a
// program need not be restarted after the library is installed.
func openLoader() (unsafe.Pointer, error) {
	loader.Lock()
	defer loader.Unlock()
	if loader.gipa != nil {
		return loader.gipa, nil
	}
	var why []string
	for _, name := range loaderNames() {
		cname, buf := C.CString(name), (*C.char)(C.calloc(1, 512))
		p := C.lvk_open(cname, buf, 512)
		text := C.GoString(buf)
		C.free(unsafe.Pointer(cname))
		C.free(unsafe.Pointer(buf))
		if p == nil {
			why = append(why, text)
			continue
		}
		vulkan.SetGetInstanceProcAddr(p)
		if err := vulkan.Init(); err != nil {
			why = append(why, fmt.Sprintf("%s: %v", name, err))
			continue
		}
		loader.gipa, loader.path = p, name
		loader.version = uint32(C.lvk_instance_version(p))
		return p, nil
	}
	return nil, fmt.Errorf("vk: %w: no Vulkan loader: %s%s", gpu.ErrNoDevice, strings.Join(why, "; "), lookedFor())
}

// instance is a VkInstance. Devices without validation share one. A device with
// validation has its own, so that it gets only its own messages.
type instance struct {
	gipa   unsafe.Pointer
	handle vulkan.Instance

	// Without validation only.
	refs int    // the number of users; guarded by shared
	kept bool   // not destroyed when the last user releases it; guarded by shared
	key  string // of shared.of

	// With validation only.
	plain     *instance // keeps the drivers loaded, see shared
	messages  *messages
	info      unsafe.Pointer // the create-info of the messenger, in use as long as the instance
	messenger C.lvk_handle
}

func newInstance(gipa unsafe.Pointer, m *messages) (*instance, error) {
	in := &instance{gipa: gipa, messages: m}
	var layer *C.char
	if m != nil {
		layer = C.CString(validationLayer)
		defer C.free(unsafe.Pointer(layer))
		if err := in.wantValidation(layer); err != nil {
			m.close()
			return nil, err
		}
	}
	portable := C.CString("VK_KHR_portability_enumeration")
	defer C.free(unsafe.Pointer(portable))
	info := C.lvk_instance_create_info(C.uint32_t(min(loader.version, version13)), layer, boolInt(m != nil),
		C.lvk_instance_extension(gipa, nil, portable), in.info)
	if info == nil {
		in.destroy()
		return nil, check("vkCreateInstance", outOfHostMemory)
	}
	defer C.lvk_free_instance_create_info(info)
	var handle vulkan.Instance
	err := call("vkCreateInstance", func() vulkan.Result {
		return vulkan.CreateInstance(vulkan.NewInstanceCreateInfoRef(info), nil, &handle)
	})
	if err != nil {
		in.destroy()
		// Without an instance there is no device, whatever the loader gives as the reason.
		// For a broken manifest it says "out of host memory".
		if misled() != "" {
			return nil, noDevice(nil)
		}
		if !errors.Is(err, gpu.ErrNoDevice) {
			err = fmt.Errorf("vk: %w: %w", gpu.ErrNoDevice, err)
		}
		return nil, fmt.Errorf("%w%s", err, lookedFor())
	}
	in.handle = handle
	objects.instances.Add(1)
	if err := in.loadBinding(); err != nil {
		in.destroy()
		return nil, err
	}
	if m != nil {
		var messenger C.lvk_handle
		err := call("vkCreateDebugUtilsMessengerEXT", func() C.int32_t {
			return C.lvk_messenger(gipa, in.pointer(), in.info, &messenger)
		})
		if err != nil {
			in.destroy()
			return nil, err
		}
		in.messenger = messenger
		objects.messengers.Add(1)
	}
	return in, nil
}

// wantValidation checks that the validation layer can be used, and prepares
// its messenger.
func (in *instance) wantValidation(layer *C.char) error {
	debug := C.CString("VK_EXT_debug_utils")
	defer C.free(unsafe.Pointer(debug))
	if C.lvk_layer(in.gipa, layer) == 0 {
		return fmt.Errorf("vk: validation: %w: the loader has no layer %s; install it: apt-get install vulkan-validationlayers (Debian, Ubuntu), dnf install vulkan-validation-layers (Fedora), or the Vulkan SDK", gpu.ErrUnsupported, validationLayer)
	}
	if C.lvk_instance_extension(in.gipa, nil, debug) == 0 && C.lvk_instance_extension(in.gipa, layer, debug) == 0 {
		return fmt.Errorf("vk: validation: %w: neither loader nor layer has VK_EXT_debug_utils; update both", gpu.ErrUnsupported)
	}
	if in.info = C.lvk_messenger_info(C.uintptr_t(in.messages.id)); in.info == nil {
		return check("validation", outOfHostMemory)
	}
	return nil
}

// loadBinding gives the Go binding the functions of an instance. They are the same for
// every instance of the loader, so once is enough. A second time would be a data race
// with calls under way.
func (in *instance) loadBinding() error {
	loader.Lock()
	defer loader.Unlock()
	if loader.ready {
		return nil
	}
	if err := vulkan.InitInstance(in.handle); err != nil {
		return fmt.Errorf("vk: %w: %v", gpu.ErrNoDevice, err)
	}
	loader.ready = true
	return nil
}

// destroy destroys an instance, also one that newInstance has made half-way.
func (in *instance) destroy() {
	if in.messenger != 0 {
		C.lvk_messenger_destroy(in.gipa, in.pointer(), in.messenger)
		objects.messengers.Add(-1)
	}
	if in.handle != nil {
		vulkan.DestroyInstance(in.handle, nil)
		objects.instances.Add(-1)
	}
	C.free(in.info)
	if in.messages != nil {
		in.messages.close()
	}
	if in.plain != nil {
		in.plain.release()
	}
	*in = instance{messages: in.messages}
}

// pointer is the instance as C sees it.
func (in *instance) pointer() unsafe.Pointer { return unsafe.Pointer(in.handle) }

// layers lists the layers the loader knows.
func layers(gipa unsafe.Pointer) []string {
	const size = 16 << 10
	buf := (*C.char)(C.calloc(1, size))
	defer C.free(unsafe.Pointer(buf))
	C.lvk_layers(gipa, buf, size)
	if s := C.GoString(buf); s != "" {
		return strings.Split(s, "\n")
	}
	return nil
}

func boolInt(b bool) C.int {
	if b {
		return 1
	}
	return 0
}
