//go:build !novk

// What a physical device can do beyond the 1.0 limits: the feature and property
// chains, which the Go binding's headers are too old for.
#ifndef LATHE_VK_QUERY_H
#define LATHE_VK_QUERY_H

#include "abi.h"

// The structures of features that are asked for and enabled: see the table in query.c.
enum {
	LVK_STORAGE16, LVK_STORAGE8, LVK_FLOAT16_INT8, LVK_ATOMICS64, LVK_MEMORY_MODEL, LVK_SIZE_CONTROL, LVK_COOPERATIVE,
	LVK_POINTERS, LVK_SUBGROUP_TYPES, LVK_ZERO_SHARED, LVK_SUBGROUP_FLOW, LVK_DOT, LVK_ASSUME, LVK_CLOCK,
	LVK_ATOMIC_FLOAT, LVK_ATOMIC_FLOAT2,
	LVK_STRUCTURES
};
#define LVK_MEMBERS 12

typedef struct {
	uint32_t f64, i64, i16, robust;            // of VkPhysicalDeviceFeatures
	uint32_t features[LVK_STRUCTURES][LVK_MEMBERS]; // the members of each structure, those that Lathe has a use for
	uint32_t floatControls;                    // the next are known
	uint32_t floats[17];                       // VkPhysicalDeviceFloatControlsProperties: two independences (0 is 32 bits, 1 all, 2 none), then 5 × 3
	uint32_t ballot, vote;                     // the extensions of subgroups
	uint32_t spirv14;                          // VK_KHR_spirv_1_4 is there
	uint32_t subgroupSize, subgroupStages, subgroupOperations;
	uint32_t subgroupControl, subgroupMost;    // pipelines can ask for whole subgroups of subgroupSize; how many a workgroup may have
	uint32_t matrix[3];                        // m, n, k of cooperative matrices of f16 that f32 ones are summed of; 0 where there are none
	uint8_t uuid[16];
	uint32_t driverID;                         // 0 where unknown
	char driverName[256], driverInfo[256];
	uint64_t maxAllocation;
	uint32_t portability;                      // VK_KHR_portability_subset is there
	uint64_t hostAlign;                        // of imported host memory; 0 where there is no such thing
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

// lvk_instance_create_info likewise; layer and next may be NULL.
void *lvk_instance_create_info(uint32_t version, const char *layer, int debug, int portability, const void *next);
void lvk_free_instance_create_info(void *info);

#endif
