//go:build !novk

// The part of the Vulkan ABI that package vk calls itself. It is declared by hand for
// three reasons: the Go binding has headers of version 1.1.88, it leaks or allocates on
// every call that takes a structure, and it frees some arrays in a finalizer while they
// are in use. All numbers are those of the Vulkan registry.
#ifndef LATHE_VK_ABI_H
#define LATHE_VK_ABI_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define LVK_CALL __stdcall
#else
#define LVK_CALL
#endif

// Non-dispatchable handles are 64 bits wide everywhere.
typedef uint64_t lvk_handle;

enum {
	LVK_SUCCESS = 0,
	LVK_TIMEOUT = 2,
	LVK_INCOMPLETE = 5,
	LVK_OUT_OF_HOST_MEMORY = -1,
};

typedef struct { uint32_t sType; void *pNext; } lvk_head;

typedef struct {
	uint32_t sType; const void *pNext;
	const char *name; uint32_t version;
	const char *engine; uint32_t engineVersion;
	uint32_t apiVersion;
} lvk_application_info; // sType 0

typedef struct {
	uint32_t sType; const void *pNext; uint32_t flags;
	const lvk_application_info *app;
	uint32_t layerCount; const char *const *layers;
	uint32_t extensionCount; const char *const *extensions;
} lvk_instance_info; // sType 1

typedef struct {
	uint32_t sType; const void *pNext; uint32_t flags;
	uint32_t family, count; const float *priorities;
} lvk_queue_info; // sType 2

typedef struct {
	uint32_t sType; const void *pNext; uint32_t flags;
	uint32_t queueCount; const lvk_queue_info *queues;
	uint32_t layerCount; const char *const *layers;
	uint32_t extensionCount; const char *const *extensions;
	const void *features;
} lvk_device_info; // sType 3

typedef struct {
	uint32_t sType; const void *pNext;
	uint32_t waits; const lvk_handle *waitSemaphores; const uint32_t *waitStages;
	uint32_t commands; void *const *commandBuffers;
	uint32_t signals; const lvk_handle *signalSemaphores;
} lvk_submit_info; // sType 4

typedef struct { uint32_t sType; const void *pNext; uint32_t flags; } lvk_fence_info; // sType 8

typedef struct {
	uint32_t sType; const void *pNext; uint32_t flags;
	uint32_t type, count, statistics;
} lvk_query_pool_info; // sType 11

typedef struct {
	uint32_t sType; const void *pNext; uint32_t flags;
	lvk_handle buffer; uint32_t format; uint64_t offset, range;
} lvk_view_info; // sType 13

typedef struct {
	uint32_t sType; const void *pNext; uint32_t flags;
	size_t size; const uint32_t *code;
} lvk_shader_info; // sType 16

typedef struct {
	uint32_t sType; const void *pNext; uint32_t flags;
	size_t size; const void *data;
} lvk_cache_info; // sType 17

typedef struct {
	uint32_t sType; const void *pNext; uint32_t flags;
	uint32_t stage; lvk_handle module; const char *name; const void *spec;
} lvk_stage_info; // sType 18

typedef struct { uint32_t sType; const void *pNext; uint32_t size; } lvk_subgroup_info; // sType 1000225001

typedef struct {
	uint32_t sType; const void *pNext; uint32_t flags;
	lvk_stage_info stage; lvk_handle layout, base; int32_t baseIndex;
} lvk_pipeline_info; // sType 29

typedef struct { uint32_t stages, offset, size; } lvk_push_range;

typedef struct {
	uint32_t sType; const void *pNext; uint32_t flags;
	uint32_t setCount; const lvk_handle *sets;
	uint32_t pushCount; const lvk_push_range *push;
} lvk_layout_info; // sType 30

typedef struct { uint32_t binding, type, count, stages; const void *samplers; } lvk_set_binding;

typedef struct {
	uint32_t sType; const void *pNext; uint32_t flags;
	uint32_t count; const lvk_set_binding *bindings;
} lvk_set_layout_info; // sType 32

typedef struct { uint32_t type, count; } lvk_pool_size;

typedef struct {
	uint32_t sType; const void *pNext; uint32_t flags;
	uint32_t maxSets, sizeCount; const lvk_pool_size *sizes;
} lvk_descriptor_pool_info; // sType 33

typedef struct {
	uint32_t sType; const void *pNext; lvk_handle pool;
	uint32_t count; const lvk_handle *layouts;
} lvk_set_alloc_info; // sType 34

typedef struct { lvk_handle buffer; uint64_t offset, range; } lvk_buffer_range;

typedef struct {
	uint32_t sType; const void *pNext;
	lvk_handle set; uint32_t binding, element, count, type;
	const void *image; const lvk_buffer_range *buffer; const lvk_handle *view;
} lvk_write; // sType 35

typedef struct { uint32_t sType; const void *pNext; uint32_t flags, family; } lvk_command_pool_info; // sType 39

typedef struct {
	uint32_t sType; const void *pNext; lvk_handle pool; uint32_t level, count;
} lvk_command_alloc_info; // sType 40

typedef struct {
	uint32_t sType; const void *pNext; uint32_t flags; const void *inheritance;
} lvk_begin_info; // sType 42

typedef struct { uint32_t sType; const void *pNext; uint32_t src, dst; } lvk_memory_barrier; // sType 46

typedef struct { uint64_t src, dst, size; } lvk_copy;

// A function pointer of any type; cast before the call.
typedef void (LVK_CALL *lvk_fn)(void);
typedef lvk_fn (LVK_CALL *lvk_get_proc)(void *dispatchable, const char *name);

#endif
