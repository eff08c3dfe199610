//go:build !novk

// The features and properties of a physical device beyond Vulkan 1.0. The headers of the Go
// binding are too old for these chains of structures.
#ifndef LATHE_VK_QUERY_H
#define LATHE_VK_QUERY_H

#include "abi.h"

// The structures of features that are queried and enabled. See the table in query.c.
enum {
	LVK_STORAGE16, LVK_STORAGE8, LVK_FLOAT16_INT8, LVK_ATOMICS64, LVK_MEMORY_MODEL, LVK_SIZE_CONTROL, LVK_COOPERATIVE,
	LVK_POINTERS, LVK_SUBGROUP_TYPES, LVK_ZERO_SHARED, LVK_SUBGROUP_FLOW, LVK_DOT, LVK_ASSUME, LVK_CLOCK,
	LVK_ATOMIC_FLOAT, LVK_ATOMIC_FLOAT2,
	LVK_STRUCTURES
};
#define LVK_MEMBERS 12

typedef struct {
	uint32_t f64, i64, i16, robust;            // of VkPhysicalDeviceFeatures
	uint32_t features[LVK_STRUCTURES][LVK_MEMBERS]; // the members of each structure that Lathe uses
	uint32_t floatControls;                    // 1 if the next field is valid
	uint32_t floats[17];                       // VkPhysicalDeviceFloatControlsProperties: two independences (0 is 32 bits, 1 all, 2 none), then 5 × 3
	uint32_t ballot, vote;                     // the extensions of subgroups
	uint32_t spirv14;                          // the device has VK_KHR_spirv_1_4
	uint32_t subgroupSize, subgroupStages, subgroupOperations;
	uint32_t subgroupControl, subgroupMost;    // 1 if pipelines can have whole subgroups of subgroupSize; how many of them a workgroup may have
	uint32_t matrix[3];                        // m, n, k of cooperative matrices of f16 with sums in f32; 0 if there are none
	uint8_t uuid[16];
	uint32_t driverID;                         // 0 if unknown
	char driverName[256], driverInfo[256];
	uint64_t maxAllocation;
	uint32_t portability;                      // the device has VK_KHR_portability_subset
	uint64_t hostAlign;                        // alignment of imported host memory in bytes; 0 if memory cannot be imported
} lvk_physical;

// lvk_physical_query fills p. version is the device's own API version.
int32_t lvk_physical_query(void *gipa, void *instance, void *physical, uint32_t version, lvk_physical *p);

// lvk_texel_formats reports whether RGBA32 F, UI and I work as uniform and
// storage texel buffers.
int lvk_texel_formats(void *gipa, void *instance, void *physical);

// lvk_device_create_info makes a VkDeviceCreateInfo with one queue that enables
// all of p; free it with lvk_free_device_create_info.
void *lvk_device_create_info(const lvk_physical *p, uint32_t version, uint32_t family);
void lvk_free_device_create_info(void *info);

// lvk_instance_create_info makes a VkInstanceCreateInfo in the same manner. layer and next may be NULL.
void *lvk_instance_create_info(uint32_t version, const char *layer, int debug, int portability, const void *next);
void lvk_free_instance_create_info(void *info);

#endif
