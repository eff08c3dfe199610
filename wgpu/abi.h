//go:build !nowgpu

// The parts of webgpu.h and wgpu.h that this package calls itself, in the version that
// github.com/cogentcore/webgpu v0.23.0 links. They are declared by hand, because cgo cannot
// include the header of another module. The binding is not used for these calls: it gives the
// native library pointers to variables of Go functions that have returned.
#ifndef LATHE_WGPU_ABI_H
#define LATHE_WGPU_ABI_H

#include <stddef.h>
#include <stdint.h>

enum {
	LWG_STYPE_SPIRV = 5, LWG_STYPE_WGSL = 6, LWG_STYPE_INSTANCE_EXTRAS = 0x30006,
	LWG_VULKAN = 1, LWG_GL = 2, LWG_METAL = 4, LWG_DX12 = 8,
	LWG_USAGE_MAP_READ = 1, LWG_USAGE_COPY_SRC = 4, LWG_USAGE_COPY_DST = 8, LWG_USAGE_UNIFORM = 0x40, LWG_USAGE_STORAGE = 0x80,
	LWG_BINDING_UNIFORM = 1, LWG_BINDING_STORAGE = 2, LWG_BINDING_READ_ONLY = 3,
	LWG_STAGE_COMPUTE = 4, LWG_MAP_READ = 1,
	LWG_ERROR_NONE = 0, LWG_ERROR_VALIDATION = 1, LWG_ERROR_OUT_OF_MEMORY = 2,
};

typedef struct wg_chain { const struct wg_chain *next; uint32_t sType; } wg_chain;
typedef struct { const wg_chain *next; const char *label; } wg_labelled; // encoders, command buffers, queues

typedef struct {
	wg_chain chain;
	uint32_t backends, flags, dx12Compiler, gles3Minor; // 0: as usual
	const char *dxilPath, *dxcPath;
} wg_instance_extras;
typedef struct { const wg_chain *next; } wg_instance_desc;
typedef struct { const wg_chain *next; uint32_t backends; } wg_enumerate_options;

typedef struct {
	uint32_t textures[4], maxBindGroups, bindGroupsPlusVertexBuffers, maxBindingsPerBindGroup;
	uint32_t maxDynamicUniformBuffers, maxDynamicStorageBuffers, sampledTextures, samplers;
	uint32_t maxStorageBuffers, storageTextures, maxUniformBuffers;
	uint64_t maxUniformBinding, maxStorageBinding;
	uint32_t minUniformAlign, minStorageAlign, maxVertexBuffers;
	uint64_t maxBuffer;
	uint32_t vertex[2], stages[2], colours[2]; // attributes and stride, components and variables, attachments and bytes
	uint32_t maxSharedBytes, maxInvocations, maxLocalSize[3], maxGroups;
} wg_limits;
typedef struct { wg_chain *next; wg_limits limits; } wg_supported_limits;
typedef struct { const wg_chain *next; wg_limits limits; } wg_required_limits;

typedef struct {
	wg_chain *next;
	const char *vendor, *architecture, *device, *description;
	uint32_t backendType, adapterType, vendorID, deviceID;
} wg_adapter_info;

typedef void (*wg_error_callback)(uint32_t type, const char *message, void *user);
typedef void (*wg_lost_callback)(uint32_t reason, const char *message, void *user);
typedef void (*wg_status_callback)(uint32_t status, void *user);
typedef void (*wg_device_callback)(uint32_t status, void *device, const char *message, void *user);

typedef struct {
	const wg_chain *next;
	const char *label;
	size_t featureCount;
	const uint32_t *features;
	const wg_required_limits *limits;
	wg_labelled queue;
	wg_lost_callback lost;
	void *lostUser;
	struct { const wg_chain *next; wg_error_callback callback; void *user; } uncaptured;
} wg_device_desc;

typedef struct { const wg_chain *next; const char *label; uint32_t usage; uint64_t size; uint32_t mappedAtCreation; } wg_buffer_desc;
typedef struct { const wg_chain *next; uint32_t binding; void *buffer; uint64_t offset, size; void *sampler, *view; } wg_group_entry;
typedef struct { const wg_chain *next; const char *label; void *layout; size_t count; const wg_group_entry *entries; } wg_group_desc;
typedef struct {
	const wg_chain *next;
	uint32_t binding, visibility;
	struct { const wg_chain *next; uint32_t type, dynamic; uint64_t minSize; } buffer;
	struct { const wg_chain *next; uint32_t type; } sampler;
	struct { const wg_chain *next; uint32_t type, dimension, multisampled; } texture;
	struct { const wg_chain *next; uint32_t access, format, dimension; } storageTexture;
} wg_layout_entry;
typedef struct { const wg_chain *next; const char *label; size_t count; const wg_layout_entry *entries; } wg_layout_desc;
typedef struct { const wg_chain *next; const char *label; size_t count; void *const *layouts; } wg_pipeline_layout_desc;
typedef struct { wg_chain chain; uint32_t words; const uint32_t *code; } wg_spirv;
typedef struct { wg_chain chain; const char *code; } wg_wgsl;
typedef struct { const wg_chain *next; const char *label; size_t hintCount; const void *hints; } wg_module_desc;
typedef struct {
	const wg_chain *next;
	const char *label;
	void *layout;
	struct { const wg_chain *next; void *module; const char *entry; size_t constantCount; const void *constants; } stage;
} wg_compute_desc;
typedef struct { const wg_chain *next; const char *label; const void *timestamps; } wg_pass_desc;

void *wgpuCreateInstance(const wg_instance_desc *desc);
void wgpuInstanceRelease(void *instance);
size_t wgpuInstanceEnumerateAdapters(void *instance, const wg_enumerate_options *options, void **adapters);
void wgpuAdapterRelease(void *adapter);
void wgpuAdapterGetInfo(void *adapter, wg_adapter_info *info);
void wgpuAdapterInfoFreeMembers(wg_adapter_info info);
uint32_t wgpuAdapterGetLimits(void *adapter, wg_supported_limits *limits);
void wgpuAdapterRequestDevice(void *adapter, const wg_device_desc *desc, wg_device_callback done, void *user);
void *wgpuDeviceGetQueue(void *device);
void wgpuDeviceRelease(void *device);
uint32_t wgpuDevicePoll(void *device, uint32_t wait, const void *until);
void *wgpuDeviceCreateBuffer(void *device, const wg_buffer_desc *desc);
void wgpuBufferRelease(void *buffer);
void wgpuBufferMapAsync(void *buffer, uint32_t mode, size_t offset, size_t size, wg_status_callback done, void *user);
const void *wgpuBufferGetConstMappedRange(void *buffer, size_t offset, size_t size);
void wgpuBufferUnmap(void *buffer);
void *wgpuDeviceCreateBindGroup(void *device, const wg_group_desc *desc);
void wgpuBindGroupRelease(void *group);
void *wgpuDeviceCreateBindGroupLayout(void *device, const wg_layout_desc *desc);
void wgpuBindGroupLayoutRelease(void *layout);
void *wgpuDeviceCreatePipelineLayout(void *device, const wg_pipeline_layout_desc *desc);
void wgpuPipelineLayoutRelease(void *layout);
void *wgpuDeviceCreateShaderModule(void *device, const wg_module_desc *desc);
void wgpuShaderModuleRelease(void *module);
void *wgpuDeviceCreateComputePipeline(void *device, const wg_compute_desc *desc);
void wgpuComputePipelineRelease(void *pipeline);
void *wgpuDeviceCreateCommandEncoder(void *device, const wg_labelled *desc);
void wgpuCommandEncoderRelease(void *encoder);
void *wgpuCommandEncoderBeginComputePass(void *encoder, const wg_pass_desc *desc);
void wgpuCommandEncoderCopyBufferToBuffer(void *encoder, void *src, uint64_t from, void *dst, uint64_t to, uint64_t size);
void *wgpuCommandEncoderFinish(void *encoder, const wg_labelled *desc);
void wgpuCommandBufferRelease(void *commands);
void wgpuComputePassEncoderSetPipeline(void *pass, void *pipeline);
void wgpuComputePassEncoderSetBindGroup(void *pass, uint32_t index, void *group, size_t count, const uint32_t *offsets);
void wgpuComputePassEncoderDispatchWorkgroups(void *pass, uint32_t x, uint32_t y, uint32_t z);
void wgpuComputePassEncoderEnd(void *pass);
void wgpuComputePassEncoderRelease(void *pass);
void wgpuQueueWriteBuffer(void *queue, void *buffer, uint64_t offset, const void *data, size_t size);
void wgpuQueueSubmit(void *queue, size_t count, void *const *commands);
void wgpuQueueOnSubmittedWorkDone(void *queue, wg_status_callback done, void *user);
void wgpuQueueRelease(void *queue);

#endif
