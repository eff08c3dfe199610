//go:build !novk

#include "compile.h"

#include <stdlib.h>
#include <string.h>

int32_t lvk_shader_module(lvk_device *d, const void *code, size_t size, lvk_pipeline *p) {
	uint32_t *words = malloc(size); // a copy, because bytes of a Go slice may not be aligned
	if (!words) return LVK_OUT_OF_HOST_MEMORY;
	memcpy(words, code, size);
	lvk_shader_info info = {.sType = 16, .size = size, .code = words};
	int32_t r = d->createShaderModule(d->device, &info, NULL, &p->module);
	free(words);
	return r;
}

void lvk_shader_module_destroy(lvk_device *d, lvk_pipeline *p) {
	if (p->module) d->destroyShaderModule(d->device, p->module, NULL);
	p->module = 0;
}

int32_t lvk_layouts(lvk_device *d, const lvk_slot *slots, uint32_t count, uint32_t pushSize, lvk_pipeline *p) {
	lvk_set_binding *bindings = calloc(count ? count : 1, sizeof *bindings);
	if (!bindings) return LVK_OUT_OF_HOST_MEMORY;
	for (uint32_t i = 0; i < count; i++)
		bindings[i] = (lvk_set_binding){.binding = slots[i].slot, .type = slots[i].type + 4, .count = 1, .stages = 0x20};
	lvk_set_layout_info sets = {.sType = 32, .count = count, .bindings = bindings};
	int32_t r = d->createSetLayout(d->device, &sets, NULL, &p->sets);
	free(bindings);
	if (r != LVK_SUCCESS) return r;
	lvk_push_range push = {0x20, 0, pushSize};
	lvk_layout_info layout = {.sType = 30, .setCount = 1, .sets = &p->sets, .pushCount = pushSize ? 1 : 0, .push = &push};
	r = d->createPipelineLayout(d->device, &layout, NULL, &p->layout);
	if (r != LVK_SUCCESS) {
		d->destroySetLayout(d->device, p->sets, NULL);
		p->sets = p->layout = 0;
	}
	return r;
}

int32_t lvk_compile(lvk_device *d, lvk_handle cache, uint32_t subgroup, lvk_pipeline *p) {
	lvk_subgroup_info size = {.sType = 1000225001, .size = subgroup};
	lvk_pipeline_info info = {.sType = 29, .layout = p->layout, .baseIndex = -1,
		.stage = {.sType = 18, .stage = 0x20, .module = p->module, .name = "main"}};
	if (subgroup) {
		info.stage.pNext = &size;
		info.stage.flags = 2; // REQUIRE_FULL_SUBGROUPS
	}
	return d->createPipelines(d->device, cache, 1, &info, NULL, &p->pipeline);
}

void lvk_pipeline_destroy(lvk_device *d, lvk_pipeline *p) {
	if (p->pipeline) d->destroyPipeline(d->device, p->pipeline, NULL);
	if (p->layout) d->destroyPipelineLayout(d->device, p->layout, NULL);
	if (p->sets) d->destroySetLayout(d->device, p->sets, NULL);
	lvk_shader_module_destroy(d, p);
	memset(p, 0, sizeof *p);
}

int32_t lvk_cache(lvk_device *d, const void *data, size_t size, lvk_handle *cache) {
	lvk_cache_info info = {.sType = 17, .size = size, .data = data};
	return d->createPipelineCache(d->device, &info, NULL, cache);
}

int32_t lvk_cache_data(lvk_device *d, lvk_handle cache, size_t *size, void *data) {
	return d->getPipelineCacheData(d->device, cache, size, data);
}

void lvk_cache_destroy(lvk_device *d, lvk_handle cache) { d->destroyPipelineCache(d->device, cache, NULL); }
