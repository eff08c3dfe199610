//go:build !novk

// Finding the Vulkan loader, and the calls made before there is a device.
#ifndef LATHE_VK_LOADER_H
#define LATHE_VK_LOADER_H

#include "abi.h"

// lvk_open opens a shared library and returns its vkGetInstanceProcAddr, or
// NULL with the reason in err.
void *lvk_open(const char *name, char *err, size_t errSize);

// lvk_instance_version is the loader's version, or 1.0 if the loader does not tell it.
uint32_t lvk_instance_version(void *gipa);

// lvk_instance_extension reports whether the loader (layer NULL) or a layer has an instance
// extension. lvk_layer reports whether a layer exists.
int lvk_instance_extension(void *gipa, const char *layer, const char *name);
int lvk_layer(void *gipa, const char *name);
// lvk_layers writes the names of all layers, separated by newlines.
void lvk_layers(void *gipa, char *out, size_t size);

void *lvk_instance_proc(void *gipa, void *instance, const char *name);

// lvk_messenger_info makes the create-info of a messenger that passes errors
// and warnings to Go with the number id; free it with free.
void *lvk_messenger_info(uintptr_t id);
int32_t lvk_messenger(void *gipa, void *instance, const void *info, lvk_handle *messenger);
void lvk_messenger_destroy(void *gipa, void *instance, lvk_handle messenger);

// lvk_large_pages asks for large pages behind size bytes at p.
void lvk_large_pages(void *p, size_t size);

#endif
