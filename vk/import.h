//go:build !novk

// Buffers over memory of the host, by VK_EXT_external_memory_host.
#ifndef LATHE_VK_IMPORT_H
#define LATHE_VK_IMPORT_H

#include "batch.h"

typedef struct { lvk_handle buffer, memory; } lvk_import;

// lvk_import_host makes a buffer of size bytes at host. Both are multiples of the device's
// alignment. If it fails, it has made nothing.
int32_t lvk_import_host(lvk_device *d, void *host, uint64_t size, uint32_t usage, lvk_import *out);
void lvk_import_free(lvk_device *d, const lvk_import *i);

#endif
