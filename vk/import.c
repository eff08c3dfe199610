//go:build !novk

#include "import.h"

#define HOST_ALLOCATION 0x80
#define UNSUPPORTED (-8) // feature not present

typedef struct { uint32_t sType; const void *pNext; uint32_t types; } external_info; // 1000072000
typedef struct {
	uint32_t sType; const void *pNext; uint32_t flags;
	uint64_t size; uint32_t usage, sharing, families; const uint32_t *family;
} buffer_info; // 12
typedef struct { uint64_t size, align; uint32_t types; } requirements;
typedef struct { uint32_t sType; void *pNext; uint32_t types; } pointer_properties;         // 1000178001
typedef struct { uint32_t sType; const void *pNext; uint32_t type; void *pointer; } import_info; // 1000178000
typedef struct { uint32_t sType; const void *pNext; uint64_t size; uint32_t type; } allocate_info; // 5

int32_t lvk_import_host(lvk_device *d, void *host, uint64_t size, uint32_t usage, lvk_import *out) {
	out->buffer = out->memory = 0;
	if (!d->getHostPointerProperties) return UNSUPPORTED;
	pointer_properties can = {.sType = 1000178001};
	int32_t r = d->getHostPointerProperties(d->device, HOST_ALLOCATION, host, &can);
	if (r != LVK_SUCCESS) return r;
	external_info external = {.sType = 1000072000, .types = HOST_ALLOCATION};
	buffer_info info = {.sType = 12, .pNext = &external, .size = size, .usage = usage};
	r = d->createBuffer(d->device, &info, NULL, &out->buffer);
	if (r != LVK_SUCCESS) return r;
	requirements need = {0};
	d->getBufferMemoryRequirements(d->device, out->buffer, &need);
	can.types &= need.types;
	r = UNSUPPORTED;
	if (can.types && need.size <= size) {
		uint32_t type = 0;
		while (!(can.types >> type & 1)) type++;
		import_info import = {.sType = 1000178000, .type = HOST_ALLOCATION, .pointer = host};
		allocate_info alloc = {.sType = 5, .pNext = &import, .size = size, .type = type};
		r = d->allocateMemory(d->device, &alloc, NULL, &out->memory);
		if (r == LVK_SUCCESS) r = d->bindBufferMemory(d->device, out->buffer, out->memory, 0);
	}
	if (r != LVK_SUCCESS) lvk_import_free(d, out);
	return r;
}

void lvk_import_free(lvk_device *d, const lvk_import *i) {
	if (i->buffer) d->destroyBuffer(d->device, i->buffer, NULL);
	if (i->memory) d->freeMemory(d->device, i->memory, NULL);
}
