//go:build !novk

// The functions that run once for each batch. They take plain arrays, so that Go calls
// C once for a batch and not once for a dispatch.
#ifndef LATHE_VK_BATCH_H
#define LATHE_VK_BATCH_H

#include "abi.h"

// Descriptor types. Each is the number of the Vulkan registry minus 4.
enum { LVK_UNIFORM_TEXEL = 0, LVK_STORAGE_TEXEL = 1, LVK_UNIFORM = 2, LVK_STORAGE = 3, LVK_TYPES = 4 };

// A logical device and the functions that batches need.
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

// lvk_device_init loads the functions. It returns the name of a function that is
// missing, or NULL.
const char *lvk_device_init(lvk_device *d, void *device, void *queue, void *getDeviceProcAddr);

// A binding of a descriptor set.
typedef struct {
	uint32_t slot, type;     // number of the binding; descriptor type of the enum above
	lvk_handle buffer, view; // the buffer, or for texel types the view
	uint64_t offset, range;  // bytes
} lvk_bind;

enum { LVK_DISPATCH = 0, LVK_COPY = 1, LVK_FILL = 2 };

// One recorded command.
typedef struct {
	uint32_t kind;
	uint32_t barrier;  // 1 if all earlier commands must end before this one begins
	lvk_handle a, b;   // dispatch: pipeline, layout; copy: source, destination; fill: destination
	uint32_t set;      // dispatch: index of its descriptor set
	uint32_t hasSet;   // dispatch: 1 if the pipeline has a binding
	uint32_t param, paramSize; // dispatch: first byte and number of bytes of its push constants in params
	uint32_t groups[3]; // dispatch: number of workgroups in x, y and z
	uint32_t pad;
	uint64_t src, dst, size; // bytes; copy: the two offsets and the size; fill: dst and size
} lvk_cmd;

// A descriptor set to make. It has count bindings, from index first on.
typedef struct { lvk_handle layout; uint32_t first, count; } lvk_set;

// The objects of Vulkan that a batch owns, and memory of the host that grows as needed.
typedef struct {
	void *cmd;
	lvk_handle commandPool, fence, descriptorPool;
	lvk_handle queryPool; // 0 until a batch is to be timed
	uint32_t capQueries;  // number of queries that queryPool holds
	uint32_t capSets, cap[LVK_TYPES];   // number of sets that descriptorPool holds, and of descriptors by type
	uint32_t scratchSets, scratchBinds; // number of elements in the arrays below
	lvk_handle *layouts, *sets;
	lvk_write *writes;
	lvk_buffer_range *ranges;
} lvk_batch;

int32_t lvk_batch_init(lvk_device *d, lvk_batch *b, uint32_t family);
void lvk_batch_destroy(lvk_device *d, lvk_batch *b);
// lvk_batch_reserve makes room in the batch for this many descriptor sets, descriptors
// of each type, and bindings. The device must not be using the batch.
int32_t lvk_batch_reserve(lvk_device *d, lvk_batch *b, uint32_t sets, const uint32_t *need, uint32_t binds);
// lvk_batch_reserve_times makes room in the batch for the times of count commands. The
// device must not be using the batch.
int32_t lvk_batch_reserve_times(lvk_device *d, lvk_batch *b, uint32_t count);
// The usage of a command buffer: it is submitted once, or any number of times, also while it runs.
enum { LVK_ONCE = 1, LVK_AGAIN = 4 };
// lvk_batch_record writes the command buffer. If timed is not 0, the device takes the
// time before the first command and after each command, for lvk_batch_times.
int32_t lvk_batch_record(lvk_device *d, lvk_batch *b, const lvk_cmd *cmds, uint32_t count,
	const lvk_set *sets, uint32_t setCount, const lvk_bind *binds, const uint8_t *params, int timed, int usage);
// lvk_batch_times reads the count + 1 times of a batch that is done. They are in ticks of
// the device.
int32_t lvk_batch_times(lvk_device *d, lvk_batch *b, uint32_t count, uint64_t *ticks);
// lvk_batch_submit starts the batch. The device signals its fence when the batch ends.
int32_t lvk_batch_submit(lvk_device *d, lvk_batch *b);
// lvk_submit_again starts command buffers that were recorded with LVK_AGAIN, one after the other. The device signals
// the fence of b when they end.
int32_t lvk_submit_again(lvk_device *d, lvk_batch *b, void *const *cmds, uint32_t count);
// lvk_batch_wait waits up to ns nanoseconds. It returns LVK_TIMEOUT if the batch is not
// done by then.
int32_t lvk_batch_wait(lvk_device *d, lvk_batch *b, uint64_t ns);

int32_t lvk_view(lvk_device *d, lvk_handle buffer, uint32_t format, uint64_t offset, uint64_t range, lvk_handle *view);
void lvk_view_destroy(lvk_device *d, lvk_handle view);

#endif
