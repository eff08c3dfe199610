//go:build !novk

// Everything that happens once a dispatch or once a batch: plain arrays in, one
// call across the language border a batch.
#ifndef LATHE_VK_BATCH_H
#define LATHE_VK_BATCH_H

#include "abi.h"

// Descriptor types, in the registry's numbers less 4.
enum { LVK_UNIFORM_TEXEL = 0, LVK_STORAGE_TEXEL = 1, LVK_UNIFORM = 2, LVK_STORAGE = 3, LVK_TYPES = 4 };

// A logical device with the functions the hot path needs.
typedef struct lvk_device {
	void *device, *queue;
	int32_t (LVK_CALL *createCommandPool)(void *, const lvk_command_pool_info *, const void *, lvk_handle *);
	void (LVK_CALL *destroyCommandPool)(void *, lvk_handle, const void *);
	int32_t (LVK_CALL *resetCommandPool)(void *, lvk_handle, uint32_t);
	int32_t (LVK_CALL *allocateCommandBuffers)(void *, const lvk_command_alloc_info *, void **);
	int32_t (LVK_CALL *beginCommandBuffer)(void *, const lvk_begin_info *);
	int32_t (LVK_CALL *endCommandBuffer)(void *);
	int32_t (LVK_CALL *createFence)(void *, const lvk_fence_info *, const void *, lvk_handle *);
	void (LVK_CALL *destroyFence)(void *, lvk_handle, const void *);
	int32_t (LVK_CALL *resetFences)(void *, uint32_t, const lvk_handle *);
	int32_t (LVK_CALL *waitForFences)(void *, uint32_t, const lvk_handle *, uint32_t, uint64_t);
	int32_t (LVK_CALL *getFenceStatus)(void *, lvk_handle);
	int32_t (LVK_CALL *queueSubmit)(void *, uint32_t, const lvk_submit_info *, lvk_handle);
	int32_t (LVK_CALL *createDescriptorPool)(void *, const lvk_descriptor_pool_info *, const void *, lvk_handle *);
	void (LVK_CALL *destroyDescriptorPool)(void *, lvk_handle, const void *);
	int32_t (LVK_CALL *resetDescriptorPool)(void *, lvk_handle, uint32_t);
	int32_t (LVK_CALL *allocateDescriptorSets)(void *, const lvk_set_alloc_info *, lvk_handle *);
	void (LVK_CALL *updateDescriptorSets)(void *, uint32_t, const lvk_write *, uint32_t, const void *);
	int32_t (LVK_CALL *createBufferView)(void *, const lvk_view_info *, const void *, lvk_handle *);
	void (LVK_CALL *destroyBufferView)(void *, lvk_handle, const void *);
	void (LVK_CALL *cmdBindPipeline)(void *, uint32_t, lvk_handle);
	void (LVK_CALL *cmdBindDescriptorSets)(void *, uint32_t, lvk_handle, uint32_t, uint32_t, const lvk_handle *, uint32_t, const uint32_t *);
	void (LVK_CALL *cmdPushConstants)(void *, lvk_handle, uint32_t, uint32_t, uint32_t, const void *);
	void (LVK_CALL *cmdDispatch)(void *, uint32_t, uint32_t, uint32_t);
	void (LVK_CALL *cmdPipelineBarrier)(void *, uint32_t, uint32_t, uint32_t, uint32_t, const lvk_memory_barrier *, uint32_t, const void *, uint32_t, const void *);
	void (LVK_CALL *cmdCopyBuffer)(void *, lvk_handle, lvk_handle, uint32_t, const lvk_copy *);
	void (LVK_CALL *cmdFillBuffer)(void *, lvk_handle, uint64_t, uint64_t, uint32_t);
	int32_t (LVK_CALL *createQueryPool)(void *, const lvk_query_pool_info *, const void *, lvk_handle *);
	void (LVK_CALL *destroyQueryPool)(void *, lvk_handle, const void *);
	int32_t (LVK_CALL *getQueryPoolResults)(void *, lvk_handle, uint32_t, uint32_t, size_t, void *, uint64_t, uint32_t);
	void (LVK_CALL *cmdResetQueryPool)(void *, lvk_handle, uint32_t, uint32_t);
	void (LVK_CALL *cmdWriteTimestamp)(void *, uint32_t, lvk_handle, uint32_t);
	int32_t (LVK_CALL *createShaderModule)(void *, const lvk_shader_info *, const void *, lvk_handle *);
	void (LVK_CALL *destroyShaderModule)(void *, lvk_handle, const void *);
	int32_t (LVK_CALL *createSetLayout)(void *, const lvk_set_layout_info *, const void *, lvk_handle *);
	void (LVK_CALL *destroySetLayout)(void *, lvk_handle, const void *);
	int32_t (LVK_CALL *createPipelineLayout)(void *, const lvk_layout_info *, const void *, lvk_handle *);
	void (LVK_CALL *destroyPipelineLayout)(void *, lvk_handle, const void *);
	int32_t (LVK_CALL *createPipelines)(void *, lvk_handle, uint32_t, const lvk_pipeline_info *, const void *, lvk_handle *);
	void (LVK_CALL *destroyPipeline)(void *, lvk_handle, const void *);
	int32_t (LVK_CALL *createPipelineCache)(void *, const lvk_cache_info *, const void *, lvk_handle *);
	void (LVK_CALL *destroyPipelineCache)(void *, lvk_handle, const void *);
	int32_t (LVK_CALL *getPipelineCacheData)(void *, lvk_handle, size_t *, void *);
	int32_t (LVK_CALL *createBuffer)(void *, const void *, const void *, lvk_handle *);
	void (LVK_CALL *destroyBuffer)(void *, lvk_handle, const void *);
	int32_t (LVK_CALL *allocateMemory)(void *, const void *, const void *, lvk_handle *);
	void (LVK_CALL *freeMemory)(void *, lvk_handle, const void *);
	int32_t (LVK_CALL *bindBufferMemory)(void *, lvk_handle, lvk_handle, uint64_t);
	void (LVK_CALL *getBufferMemoryRequirements)(void *, lvk_handle, void *);
	int32_t (LVK_CALL *getHostPointerProperties)(void *, uint32_t, const void *, void *); // NULL where not supported
} lvk_device;

// lvk_device_init loads the functions. It returns the name of a missing one, or NULL.
const char *lvk_device_init(lvk_device *d, void *device, void *queue, void *getDeviceProcAddr);

// A binding of a descriptor set.
typedef struct {
	uint32_t slot, type; // type as in the enum above
	lvk_handle buffer, view;
	uint64_t offset, range;
} lvk_bind;

enum { LVK_DISPATCH = 0, LVK_COPY = 1, LVK_FILL = 2 };

// One recorded command.
typedef struct {
	uint32_t kind;
	uint32_t barrier;  // 1: everything before it is done and seen first
	lvk_handle a, b;   // dispatch: pipeline, layout; copy: source, destination; fill: destination
	uint32_t set;      // dispatch: index of its descriptor set
	uint32_t hasSet;   // dispatch: whether the pipeline has any binding
	uint32_t param, paramSize; // dispatch: push constants in params
	uint32_t groups[3];
	uint32_t pad;
	uint64_t src, dst, size; // copy: offsets; fill: dst and size
} lvk_cmd;

// A descriptor set to make: count bindings from first on.
typedef struct { lvk_handle layout; uint32_t first, count; } lvk_set;

// What a batch owns on the device, and C-side scratch that grows as needed.
typedef struct {
	void *cmd;
	lvk_handle commandPool, fence, descriptorPool;
	lvk_handle queryPool; // 0 until a batch was to be timed
	uint32_t capQueries;
	uint32_t capSets, cap[LVK_TYPES]; // of descriptorPool
	uint32_t scratchSets, scratchBinds;
	lvk_handle *layouts, *sets;
	lvk_write *writes;
	lvk_buffer_range *ranges;
} lvk_batch;

int32_t lvk_batch_init(lvk_device *d, lvk_batch *b, uint32_t family);
void lvk_batch_destroy(lvk_device *d, lvk_batch *b);
// lvk_batch_reserve makes the batch's descriptor pool and scratch hold so many.
// The batch must not be in use by the device.
int32_t lvk_batch_reserve(lvk_device *d, lvk_batch *b, uint32_t sets, const uint32_t *need, uint32_t binds);
// lvk_batch_reserve_times makes the batch's query pool hold the times of so many
// commands. The batch must not be in use by the device.
int32_t lvk_batch_reserve_times(lvk_device *d, lvk_batch *b, uint32_t count);
// lvk_batch_record writes the command buffer. If it is to be timed it keeps the
// time before the first command and after each, for lvk_batch_times.
int32_t lvk_batch_record(lvk_device *d, lvk_batch *b, const lvk_cmd *cmds, uint32_t count,
	const lvk_set *sets, uint32_t setCount, const lvk_bind *binds, const uint8_t *params, int timed);
// lvk_batch_times reads the count + 1 times of a batch that is done, in ticks.
int32_t lvk_batch_times(lvk_device *d, lvk_batch *b, uint32_t count, uint64_t *ticks);
// lvk_batch_submit starts it; its fence is signalled at the end.
int32_t lvk_batch_submit(lvk_device *d, lvk_batch *b);
// lvk_batch_wait waits up to ns nanoseconds; LVK_TIMEOUT if it is not done by then.
int32_t lvk_batch_wait(lvk_device *d, lvk_batch *b, uint64_t ns);

int32_t lvk_view(lvk_device *d, lvk_handle buffer, uint32_t format, uint64_t offset, uint64_t range, lvk_handle *view);
void lvk_view_destroy(lvk_device *d, lvk_handle view);

#endif
