//go:build !novk

// Pipelines and pipeline caches.
#ifndef LATHE_VK_COMPILE_H
#define LATHE_VK_COMPILE_H

#include "batch.h"

// The objects of a pipeline. A handle of 0 means that the object was not made.
typedef struct { lvk_handle module, sets, layout, pipeline; } lvk_pipeline;

typedef struct { uint32_t slot, type; } lvk_slot;

int32_t lvk_shader_module(lvk_device *d, const void *code, size_t size, lvk_pipeline *p);
int32_t lvk_layouts(lvk_device *d, const lvk_slot *slots, uint32_t count, uint32_t pushSize, lvk_pipeline *p);
// lvk_compile makes the pipeline. If subgroup is not 0, workgroups consist of whole
// subgroups of that size.
int32_t lvk_compile(lvk_device *d, lvk_handle cache, uint32_t subgroup, lvk_pipeline *p);
// lvk_pipeline_destroy destroys the objects of p that exist.
void lvk_pipeline_destroy(lvk_device *d, lvk_pipeline *p);
void lvk_shader_module_destroy(lvk_device *d, lvk_pipeline *p);

int32_t lvk_cache(lvk_device *d, const void *data, size_t size, lvk_handle *cache);
int32_t lvk_cache_data(lvk_device *d, lvk_handle cache, size_t *size, void *data);
void lvk_cache_destroy(lvk_device *d, lvk_handle cache);

#endif
