//go:build !novk

#include "loader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(_WIN32)
#include <windows.h>

void *lvk_open(const char *name, char *err, size_t errSize) {
	HMODULE lib = LoadLibraryA(name);
	if (!lib) {
		snprintf(err, errSize, "%s: error %lu", name, (unsigned long)GetLastError());
		return NULL;
	}
	FARPROC f = GetProcAddress(lib, "vkGetInstanceProcAddr");
	void *p = NULL;
	memcpy(&p, &f, sizeof p);
	if (!p) snprintf(err, errSize, "%s: no vkGetInstanceProcAddr", name);
	return p;
}
#else
#include <dlfcn.h>
#include <sys/mman.h>

void *lvk_open(const char *name, char *err, size_t errSize) {
	// The library is never closed, because drivers leave threads and handlers behind.
	void *lib = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	void *p = lib ? dlsym(lib, "vkGetInstanceProcAddr") : NULL;
	if (!p) {
		const char *why = dlerror();
		snprintf(err, errSize, "%s", why ? why : name);
	}
	return p;
}
#endif

void lvk_large_pages(void *p, size_t size) {
#if defined(MADV_HUGEPAGE)
	const uintptr_t page = 2u << 20;
	uintptr_t from = ((uintptr_t)p + page - 1) & ~(page - 1), to = ((uintptr_t)p + size) & ~(page - 1);
	if (from < to) madvise((void *)from, to - from, MADV_HUGEPAGE); // only a hint, so its result does not matter
#else
	(void)p, (void)size;
#endif
}

void *lvk_instance_proc(void *gipa, void *instance, const char *name) {
	lvk_fn f = ((lvk_get_proc)gipa)(instance, name);
	void *p = NULL;
	memcpy(&p, &f, sizeof p);
	return p;
}

uint32_t lvk_instance_version(void *gipa) {
	int32_t (LVK_CALL *f)(uint32_t *) = lvk_instance_proc(gipa, NULL, "vkEnumerateInstanceVersion");
	uint32_t v = 1u << 22;
	if (f && f(&v) != LVK_SUCCESS) v = 1u << 22;
	return v;
}

typedef struct { char name[256]; uint32_t version; } extension;
typedef struct { char name[256]; uint32_t spec, implementation; char description[256]; } layer;

int lvk_instance_extension(void *gipa, const char *in, const char *name) {
	int32_t (LVK_CALL *f)(const char *, uint32_t *, extension *) = lvk_instance_proc(gipa, NULL, "vkEnumerateInstanceExtensionProperties");
	uint32_t n = 0;
	if (!f || f(in, &n, NULL) != LVK_SUCCESS || n == 0) return 0;
	extension *e = calloc(n, sizeof *e);
	int found = 0;
	if (e && f(in, &n, e) >= LVK_SUCCESS)
		for (uint32_t i = 0; i < n; i++) found |= !strcmp(e[i].name, name);
	free(e);
	return found;
}

static layer *layers(void *gipa, uint32_t *n) {
	int32_t (LVK_CALL *f)(uint32_t *, layer *) = lvk_instance_proc(gipa, NULL, "vkEnumerateInstanceLayerProperties");
	*n = 0;
	if (!f || f(n, NULL) != LVK_SUCCESS || *n == 0) return NULL;
	layer *l = calloc(*n, sizeof *l);
	if (!l || f(n, l) < LVK_SUCCESS) *n = 0;
	return l;
}

int lvk_layer(void *gipa, const char *name) {
	uint32_t n;
	layer *l = layers(gipa, &n);
	int found = 0;
	for (uint32_t i = 0; i < n; i++) found |= !strcmp(l[i].name, name);
	free(l);
	return found;
}

void lvk_layers(void *gipa, char *out, size_t size) {
	uint32_t n;
	layer *l = layers(gipa, &n);
	size_t used = 0;
	out[0] = 0;
	for (uint32_t i = 0; i < n && used < size; i++)
		used += (size_t)snprintf(out + used, size - used, "%s%s", i ? "\n" : "", l[i].name);
	free(l);
}

// VK_EXT_debug_utils.
typedef struct {
	uint32_t sType; const void *pNext; uint32_t flags;
	const char *idName; int32_t id; const char *message;
} message; // the rest is not needed

typedef struct {
	uint32_t sType; const void *pNext; uint32_t flags, severity, type;
	uint32_t (LVK_CALL *callback)(uint32_t, uint32_t, const message *, void *);
	void *user;
} messenger_info; // sType 1000128004

extern void latheVulkanMessage(uintptr_t id, uint32_t severity, char *name, char *text);

static uint32_t LVK_CALL on_message(uint32_t severity, uint32_t type, const message *m, void *user) {
	(void)type;
	latheVulkanMessage((uintptr_t)user, severity, (char *)m->idName, (char *)m->message);
	return 0;
}

void *lvk_messenger_info(uintptr_t id) {
	messenger_info *i = calloc(1, sizeof *i);
	if (!i) return NULL;
	i->sType = 1000128004;
	i->severity = 0x1000 | 0x100; // error, warning
	i->type = 0x1 | 0x2 | 0x4;    // general, validation, performance
	i->callback = on_message;
	i->user = (void *)id;
	return i;
}

int32_t lvk_messenger(void *gipa, void *instance, const void *info, lvk_handle *messenger) {
	int32_t (LVK_CALL *f)(void *, const void *, const void *, lvk_handle *) =
		lvk_instance_proc(gipa, instance, "vkCreateDebugUtilsMessengerEXT");
	return f ? f(instance, info, NULL, messenger) : -7 /* extension not present */;
}

void lvk_messenger_destroy(void *gipa, void *instance, lvk_handle messenger) {
	void (LVK_CALL *f)(void *, lvk_handle, const void *) =
		lvk_instance_proc(gipa, instance, "vkDestroyDebugUtilsMessengerEXT");
	if (f) f(instance, messenger, NULL);
}
