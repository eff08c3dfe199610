//go:build !novk

#include "batch.h"

#include <stdlib.h>
#include <string.h>

const char *lvk_device_init(lvk_device *d, void *device, void *queue, void *getDeviceProcAddr) {
	lvk_get_proc get = (lvk_get_proc)getDeviceProcAddr;
	memset(d, 0, sizeof *d);
	d->device = device;
	d->queue = queue;
#define LOAD(field, name) \
	do { \
		lvk_fn f = get(device, name); \
		if (!f) return name; \
		memcpy(&d->field, &f, sizeof f); \
	} while (0)
	LOAD(createCommandPool, "vkCreateCommandPool");
	LOAD(destroyCommandPool, "vkDestroyCommandPool");
	LOAD(resetCommandPool, "vkResetCommandPool");
	LOAD(allocateCommandBuffers, "vkAllocateCommandBuffers");
	LOAD(beginCommandBuffer, "vkBeginCommandBuffer");
	LOAD(endCommandBuffer, "vkEndCommandBuffer");
	LOAD(createFence, "vkCreateFence");
	LOAD(destroyFence, "vkDestroyFence");
	LOAD(resetFences, "vkResetFences");
	LOAD(waitForFences, "vkWaitForFences");
	LOAD(getFenceStatus, "vkGetFenceStatus");
	LOAD(queueSubmit, "vkQueueSubmit");
	LOAD(createDescriptorPool, "vkCreateDescriptorPool");
	LOAD(destroyDescriptorPool, "vkDestroyDescriptorPool");
	LOAD(resetDescriptorPool, "vkResetDescriptorPool");
	LOAD(allocateDescriptorSets, "vkAllocateDescriptorSets");
	LOAD(updateDescriptorSets, "vkUpdateDescriptorSets");
	LOAD(createBufferView, "vkCreateBufferView");
	LOAD(destroyBufferView, "vkDestroyBufferView");
	LOAD(cmdBindPipeline, "vkCmdBindPipeline");
	LOAD(cmdBindDescriptorSets, "vkCmdBindDescriptorSets");
	LOAD(cmdPushConstants, "vkCmdPushConstants");
	LOAD(cmdDispatch, "vkCmdDispatch");
	LOAD(cmdPipelineBarrier, "vkCmdPipelineBarrier");
	LOAD(cmdCopyBuffer, "vkCmdCopyBuffer");
	LOAD(cmdFillBuffer, "vkCmdFillBuffer");
	LOAD(createQueryPool, "vkCreateQueryPool");
	LOAD(destroyQueryPool, "vkDestroyQueryPool");
	LOAD(getQueryPoolResults, "vkGetQueryPoolResults");
	LOAD(cmdResetQueryPool, "vkCmdResetQueryPool");
	LOAD(cmdWriteTimestamp, "vkCmdWriteTimestamp");
	LOAD(createShaderModule, "vkCreateShaderModule");
	LOAD(destroyShaderModule, "vkDestroyShaderModule");
	LOAD(createSetLayout, "vkCreateDescriptorSetLayout");
	LOAD(destroySetLayout, "vkDestroyDescriptorSetLayout");
	LOAD(createPipelineLayout, "vkCreatePipelineLayout");
	LOAD(destroyPipelineLayout, "vkDestroyPipelineLayout");
	LOAD(createPipelines, "vkCreateComputePipelines");
	LOAD(destroyPipeline, "vkDestroyPipeline");
	LOAD(createPipelineCache, "vkCreatePipelineCache");
	LOAD(destroyPipelineCache, "vkDestroyPipelineCache");
	LOAD(getPipelineCacheData, "vkGetPipelineCacheData");
	LOAD(createBuffer, "vkCreateBuffer");
	LOAD(destroyBuffer, "vkDestroyBuffer");
	LOAD(allocateMemory, "vkAllocateMemory");
	LOAD(freeMemory, "vkFreeMemory");
	LOAD(bindBufferMemory, "vkBindBufferMemory");
	LOAD(getBufferMemoryRequirements, "vkGetBufferMemoryRequirements");
#undef LOAD
	lvk_fn f = get(device, "vkGetMemoryHostPointerPropertiesEXT");
	memcpy(&d->getHostPointerProperties, &f, sizeof f);
	return NULL;
}

int32_t lvk_batch_init(lvk_device *d, lvk_batch *b, uint32_t family) {
	memset(b, 0, sizeof *b);
	lvk_command_pool_info pool = {.sType = 39, .flags = 1 /* transient */, .family = family};
	int32_t r = d->createCommandPool(d->device, &pool, NULL, &b->commandPool);
	if (r == LVK_SUCCESS) {
		lvk_command_alloc_info alloc = {.sType = 40, .pool = b->commandPool, .count = 1};
		r = d->allocateCommandBuffers(d->device, &alloc, &b->cmd);
	}
	if (r == LVK_SUCCESS) {
		lvk_fence_info fence = {.sType = 8};
		r = d->createFence(d->device, &fence, NULL, &b->fence);
	}
	if (r != LVK_SUCCESS) lvk_batch_destroy(d, b);
	return r;
}

void lvk_batch_destroy(lvk_device *d, lvk_batch *b) {
	if (b->descriptorPool) d->destroyDescriptorPool(d->device, b->descriptorPool, NULL);
	if (b->queryPool) d->destroyQueryPool(d->device, b->queryPool, NULL);
	if (b->fence) d->destroyFence(d->device, b->fence, NULL);
	if (b->commandPool) d->destroyCommandPool(d->device, b->commandPool, NULL);
	free(b->layouts);
	free(b->sets);
	free(b->writes);
	free(b->ranges);
	memset(b, 0, sizeof *b);
}

static uint32_t grow(uint32_t have, uint32_t need) {
	uint32_t n = have ? have : 64;
	while (n < need) n *= 2;
	return n;
}

// resize makes *p an array of n elements. If there is no memory, *p stays as it was.
static int resize(void *p, size_t n, size_t size) {
	void *q = realloc(*(void **)p, n * size);
	if (!q) return 0;
	*(void **)p = q;
	return 1;
}

int32_t lvk_batch_reserve(lvk_device *d, lvk_batch *b, uint32_t sets, const uint32_t *need, uint32_t binds) {
	if (sets > b->scratchSets) {
		uint32_t n = grow(b->scratchSets, sets);
		if (!resize(&b->layouts, n, sizeof *b->layouts) || !resize(&b->sets, n, sizeof *b->sets)) return LVK_OUT_OF_HOST_MEMORY;
		b->scratchSets = n;
	}
	if (binds > b->scratchBinds) {
		uint32_t n = grow(b->scratchBinds, binds);
		if (!resize(&b->writes, n, sizeof *b->writes) || !resize(&b->ranges, n, sizeof *b->ranges)) return LVK_OUT_OF_HOST_MEMORY;
		b->scratchBinds = n;
	}
	int fits = sets <= b->capSets;
	for (int i = 0; i < LVK_TYPES; i++) fits = fits && need[i] <= b->cap[i];
	if (fits) return LVK_SUCCESS;

	lvk_pool_size sizes[LVK_TYPES];
	uint32_t caps[LVK_TYPES], used = 0;
	for (uint32_t i = 0; i < LVK_TYPES; i++) {
		caps[i] = need[i] > b->cap[i] ? grow(b->cap[i], need[i]) : b->cap[i];
		if (caps[i]) sizes[used++] = (lvk_pool_size){i + 4, caps[i]};
	}
	lvk_descriptor_pool_info info = {.sType = 33, .maxSets = grow(b->capSets, sets), .sizeCount = used, .sizes = sizes};
	lvk_handle pool = 0;
	int32_t r = d->createDescriptorPool(d->device, &info, NULL, &pool);
	if (r != LVK_SUCCESS) return r;
	if (b->descriptorPool) d->destroyDescriptorPool(d->device, b->descriptorPool, NULL);
	b->descriptorPool = pool;
	b->capSets = info.maxSets;
	memcpy(b->cap, caps, sizeof caps);
	return LVK_SUCCESS;
}

int32_t lvk_batch_reserve_times(lvk_device *d, lvk_batch *b, uint32_t count) {
	if (count + 1 <= b->capQueries) return LVK_SUCCESS;
	lvk_query_pool_info info = {.sType = 11, .type = 2 /* timestamp */, .count = grow(b->capQueries, count + 1)};
	lvk_handle pool = 0;
	int32_t r = d->createQueryPool(d->device, &info, NULL, &pool);
	if (r != LVK_SUCCESS) return r;
	if (b->queryPool) d->destroyQueryPool(d->device, b->queryPool, NULL);
	b->queryPool = pool;
	b->capQueries = info.count;
	return LVK_SUCCESS;
}

int32_t lvk_batch_times(lvk_device *d, lvk_batch *b, uint32_t count, uint64_t *ticks) {
	size_t n = (size_t)count + 1;
	return d->getQueryPoolResults(d->device, b->queryPool, 0, (uint32_t)n, n * sizeof *ticks, ticks, sizeof *ticks, 1 /* 64 bits */);
}

// make_sets allocates and fills the batch's descriptor sets.
static int32_t make_sets(lvk_device *d, lvk_batch *b, const lvk_set *sets, uint32_t setCount, const lvk_bind *binds) {
	int32_t r = d->resetDescriptorPool(d->device, b->descriptorPool, 0);
	if (r != LVK_SUCCESS) return r;
	for (uint32_t i = 0; i < setCount; i++) b->layouts[i] = sets[i].layout;
	lvk_set_alloc_info alloc = {.sType = 34, .pool = b->descriptorPool, .count = setCount, .layouts = b->layouts};
	r = d->allocateDescriptorSets(d->device, &alloc, b->sets);
	if (r != LVK_SUCCESS) return r;
	uint32_t n = 0;
	for (uint32_t i = 0; i < setCount; i++) {
		for (uint32_t j = sets[i].first; j < sets[i].first + sets[i].count; j++, n++) {
			const lvk_bind *s = &binds[j];
			b->ranges[n] = (lvk_buffer_range){s->buffer, s->offset, s->range};
			b->writes[n] = (lvk_write){.sType = 35, .set = b->sets[i], .binding = s->slot, .count = 1,
				.type = s->type + 4, .buffer = &b->ranges[n], .view = &s->view};
		}
	}
	d->updateDescriptorSets(d->device, n, b->writes, 0, NULL);
	return LVK_SUCCESS;
}

enum {
	STAGE_COMPUTE = 0x800, STAGE_TRANSFER = 0x1000, STAGE_BOTTOM = 0x2000, STAGE_HOST = 0x4000,
	READ_UNIFORM = 0x8, READ_SHADER = 0x20, WRITE_SHADER = 0x40, READ_TRANSFER = 0x800, WRITE_TRANSFER = 0x1000,
	READ_HOST = 0x2000, WRITE_HOST = 0x4000,
	WORK = STAGE_COMPUTE | STAGE_TRANSFER,
	WRITES = WRITE_SHADER | WRITE_TRANSFER,
	ALL = WRITES | READ_UNIFORM | READ_SHADER | READ_TRANSFER,
};

int32_t lvk_batch_record(lvk_device *d, lvk_batch *b, const lvk_cmd *cmds, uint32_t count,
	const lvk_set *sets, uint32_t setCount, const lvk_bind *binds, const uint8_t *params, int timed, int usage) {
	int32_t r = d->resetCommandPool(d->device, b->commandPool, 0);
	if (r == LVK_SUCCESS && setCount) r = make_sets(d, b, sets, setCount, binds);
	if (r != LVK_SUCCESS) return r;
	lvk_begin_info begin = {.sType = 42, .flags = (uint32_t)usage /* one time: 1, simultaneous use: 4 */};
	r = d->beginCommandBuffer(b->cmd, &begin);
	if (r != LVK_SUCCESS) return r;
	const lvk_memory_barrier between = {.sType = 46, .src = WRITES, .dst = ALL};
	lvk_handle pipeline = 0;
	if (timed) {
		d->cmdResetQueryPool(b->cmd, b->queryPool, 0, count + 1);
		d->cmdWriteTimestamp(b->cmd, STAGE_BOTTOM, b->queryPool, 0);
	}
	for (uint32_t i = 0; i < count; i++) {
		const lvk_cmd *c = &cmds[i];
		if (c->barrier) d->cmdPipelineBarrier(b->cmd, WORK, WORK, 0, 1, &between, 0, NULL, 0, NULL);
		switch (c->kind) {
		case LVK_DISPATCH:
			if (c->a != pipeline) d->cmdBindPipeline(b->cmd, 1, pipeline = c->a);
			if (c->hasSet) d->cmdBindDescriptorSets(b->cmd, 1, c->b, 0, 1, &b->sets[c->set], 0, NULL);
			if (c->paramSize) d->cmdPushConstants(b->cmd, c->b, 0x20, 0, c->paramSize, params + c->param);
			d->cmdDispatch(b->cmd, c->groups[0], c->groups[1], c->groups[2]);
			break;
		case LVK_COPY: {
			lvk_copy region = {c->src, c->dst, c->size};
			d->cmdCopyBuffer(b->cmd, c->a, c->b, 1, &region);
			break;
		}
		case LVK_FILL:
			d->cmdFillBuffer(b->cmd, c->a, c->dst, c->size, 0);
			break;
		}
		if (timed) d->cmdWriteTimestamp(b->cmd, STAGE_BOTTOM, b->queryPool, i + 1);
	}
	// This barrier makes the results visible to the next batch and to the host.
	const lvk_memory_barrier end = {.sType = 46, .src = WRITES, .dst = ALL | READ_HOST | WRITE_HOST};
	d->cmdPipelineBarrier(b->cmd, WORK, WORK | STAGE_HOST, 0, 1, &end, 0, NULL, 0, NULL);
	return d->endCommandBuffer(b->cmd);
}

int32_t lvk_batch_submit(lvk_device *d, lvk_batch *b) {
	int32_t r = d->resetFences(d->device, 1, &b->fence);
	if (r != LVK_SUCCESS) return r;
	lvk_submit_info submit = {.sType = 4, .commands = 1, .commandBuffers = &b->cmd};
	return d->queueSubmit(d->queue, 1, &submit, b->fence);
}

int32_t lvk_submit_again(lvk_device *d, lvk_batch *b, void *const *cmds, uint32_t count) {
	// Each is a submission of its own, as a batch is, so that systems do not take all of them for one long work.
	lvk_submit_info few[8], *submits = few;
	if (count > 8 && !(submits = calloc(count, sizeof *submits))) return LVK_OUT_OF_HOST_MEMORY;
	for (uint32_t i = 0; i < count; i++) submits[i] = (lvk_submit_info){.sType = 4, .commands = 1, .commandBuffers = (void *)&cmds[i]};
	int32_t r = d->resetFences(d->device, 1, &b->fence);
	if (r == LVK_SUCCESS) r = d->queueSubmit(d->queue, count, submits, b->fence);
	if (submits != few) free(submits);
	return r;
}

int32_t lvk_batch_wait(lvk_device *d, lvk_batch *b, uint64_t ns) {
	if (ns == 0) {
		int32_t r = d->getFenceStatus(d->device, b->fence);
		return r == 1 /* not ready */ ? LVK_TIMEOUT : r;
	}
	return d->waitForFences(d->device, 1, &b->fence, 1, ns);
}

int32_t lvk_view(lvk_device *d, lvk_handle buffer, uint32_t format, uint64_t offset, uint64_t range, lvk_handle *view) {
	lvk_view_info info = {.sType = 13, .buffer = buffer, .format = format, .offset = offset, .range = range};
	return d->createBufferView(d->device, &info, NULL, view);
}

void lvk_view_destroy(lvk_device *d, lvk_handle view) { d->destroyBufferView(d->device, view, NULL); }
