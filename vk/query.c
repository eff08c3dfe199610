//go:build !novk

#include "query.h"
#include "loader.h"

#include <stdlib.h>
#include <string.h>

#define V11 ((1u << 22) | (1u << 12))
#define V12 ((1u << 22) | (2u << 12))
#define V13 ((1u << 22) | (3u << 12))
#define NEVER UINT32_MAX

// Chain elements, laid out as in the registry.
typedef struct { lvk_head h; uint32_t f[55]; } features2;                       // 1000059000
typedef struct { lvk_head h; uint32_t f[LVK_MEMBERS]; } feature;                 // any of the table below
typedef struct { lvk_head h; uint32_t least, most, perGroup, stages; } sizeRange; // 1000225000
typedef struct { lvk_head h; uint32_t m, n, k, a, b, c, result, saturating, scope; } matrixShape; // 1000506001
typedef struct { lvk_head h; uint64_t properties[128]; } properties2;           // 1000059001, with room to spare
typedef struct { lvk_head h; uint8_t device[16], driver[16], luid[8]; uint32_t mask, luidValid; } idProperties; // 1000071004
typedef struct { lvk_head h; uint32_t size, stages, operations, quads; } subgroup; // 1000094000
typedef struct { lvk_head h; uint32_t perSet; uint64_t allocation; } maintenance3; // 1000168000
typedef struct { lvk_head h; uint32_t id; char name[256], info[256]; uint8_t conformance[4]; } driver; // 1000196000
typedef struct { lvk_head h; uint64_t align; } hostMemory; // 1000178002
typedef struct { lvk_head h; uint32_t v[17]; } floatControls; // 1000197000

// The structures of features. Each has the version of Vulkan that includes it without
// its extension, and a mask of the members that Lathe uses, from the lowest bit on.
static const struct { uint32_t sType, core, members; const char *extension; } structures[LVK_STRUCTURES] = {
	[LVK_STORAGE16] = {1000083000, V11, 7, NULL}, // storage and uniform buffers, push constants
	[LVK_STORAGE8] = {1000177000, V12, 7, "VK_KHR_8bit_storage"}, // likewise
	[LVK_FLOAT16_INT8] = {1000082000, V12, 3, "VK_KHR_shader_float16_int8"},
	[LVK_ATOMICS64] = {1000180000, V12, 3, "VK_KHR_shader_atomic_int64"}, // buffers, workgroup memory
	[LVK_MEMORY_MODEL] = {1000211000, V12, 3, "VK_KHR_vulkan_memory_model"}, // the model, the scope of the device
	[LVK_SIZE_CONTROL] = {1000225002, V13, 3, "VK_EXT_subgroup_size_control"}, // control, whole subgroups
	[LVK_COOPERATIVE] = {1000506000, NEVER, 1, "VK_KHR_cooperative_matrix"},
	[LVK_POINTERS] = {1000120000, V11, 1, NULL}, // into a storage buffer
	[LVK_SUBGROUP_TYPES] = {1000175000, V12, 1, "VK_KHR_shader_subgroup_extended_types"},
	[LVK_ZERO_SHARED] = {1000325000, V13, 1, "VK_KHR_zero_initialize_workgroup_memory"},
	[LVK_SUBGROUP_FLOW] = {1000323000, NEVER, 1, "VK_KHR_shader_subgroup_uniform_control_flow"},
	[LVK_DOT] = {1000280000, V13, 1, "VK_KHR_shader_integer_dot_product"},
	[LVK_ASSUME] = {1000544000, NEVER, 1, "VK_KHR_shader_expect_assume"},
	[LVK_CLOCK] = {1000181000, NEVER, 3, "VK_KHR_shader_clock"}, // of the subgroup, of the device
	[LVK_ATOMIC_FLOAT] = {1000260000, NEVER, 0xff, "VK_EXT_shader_atomic_float"}, // buffers and workgroup memory: f32, add, f64, add
	[LVK_ATOMIC_FLOAT2] = {1000273000, NEVER, 1 << 3 | 1 << 4 | 1 << 8 | 1 << 9, "VK_EXT_shader_atomic_float2"}, // minimum and maximum of f32 and f64
};

enum { ROBUST = 0, F64 = 39, I64 = 40, I16 = 41 }; // indices in VkPhysicalDeviceFeatures

static void *chain(void *head, void *next, uint32_t sType) {
	lvk_head *h = next;
	h->sType = sType;
	h->pNext = ((lvk_head *)head)->pNext;
	((lvk_head *)head)->pNext = h;
	return h;
}

typedef struct { char name[256]; uint32_t version; } extension;

static int has(const extension *e, uint32_t n, const char *name) {
	for (uint32_t i = 0; i < n; i++)
		if (!strcmp(e[i].name, name)) return 1;
	return 0;
}

// matrixOf looks for the shapes of cooperative matrices that kernels are written for,
// f16 by f16 summed in f32 by a subgroup, and takes the largest.
static int32_t matrixOf(void *gipa, void *instance, void *physical, uint32_t *shape) {
	enum { FLOAT16 = 0, FLOAT32 = 1, SUBGROUP = 3 };
	int32_t (LVK_CALL *get)(void *, uint32_t *, matrixShape *) =
		lvk_instance_proc(gipa, instance, "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR");
	uint32_t n = 0;
	if (!get) return LVK_SUCCESS;
	int32_t r = get(physical, &n, NULL);
	if (r < LVK_SUCCESS || !n) return r;
	matrixShape *s = calloc(n, sizeof *s);
	if (!s) return LVK_OUT_OF_HOST_MEMORY;
	for (uint32_t i = 0; i < n; i++) s[i].h.sType = 1000506001;
	r = get(physical, &n, s);
	for (uint32_t i = 0; r >= LVK_SUCCESS && i < n; i++) {
		if (s[i].a != FLOAT16 || s[i].b != FLOAT16 || s[i].c != FLOAT32 || s[i].result != FLOAT32 || s[i].saturating || s[i].scope != SUBGROUP) continue;
		if (s[i].m != s[i].n || s[i].m != s[i].k || (s[i].m != 8 && s[i].m != 16) || s[i].m <= shape[0]) continue;
		shape[0] = s[i].m;
		shape[1] = s[i].n;
		shape[2] = s[i].k;
	}
	free(s);
	return r < LVK_SUCCESS ? r : LVK_SUCCESS;
}

int32_t lvk_physical_query(void *gipa, void *instance, void *physical, uint32_t version, lvk_physical *p) {
	void (LVK_CALL *getFeatures)(void *, void *) = lvk_instance_proc(gipa, instance, "vkGetPhysicalDeviceFeatures2");
	void (LVK_CALL *getProperties)(void *, void *) = lvk_instance_proc(gipa, instance, "vkGetPhysicalDeviceProperties2");
	int32_t (LVK_CALL *getExtensions)(void *, const char *, uint32_t *, extension *) =
		lvk_instance_proc(gipa, instance, "vkEnumerateDeviceExtensionProperties");
	memset(p, 0, sizeof *p);
	if (!getFeatures || !getProperties || !getExtensions) return -9; // incompatible driver
	uint32_t n = 0;
	int32_t r = getExtensions(physical, NULL, &n, NULL);
	if (r != LVK_SUCCESS) return r;
	extension *e = calloc(n ? n : 1, sizeof *e);
	if (!e) return LVK_OUT_OF_HOST_MEMORY;
	r = getExtensions(physical, NULL, &n, e);
	if (r < LVK_SUCCESS) {
		free(e);
		return r;
	}
	feature s[LVK_STRUCTURES] = {0};
	features2 f = {.h.sType = 1000059000};
	for (int i = 0; i < LVK_STRUCTURES; i++)
		if (version >= structures[i].core || (structures[i].extension && has(e, n, structures[i].extension)))
			chain(&f, &s[i], structures[i].sType);
	int hasDriver = version >= V12 || has(e, n, "VK_KHR_driver_properties");
	int hasFloats = version >= V12 || has(e, n, "VK_KHR_shader_float_controls");
	int hasControl = s[LVK_SIZE_CONTROL].h.sType != 0;
	p->portability = (uint32_t)has(e, n, "VK_KHR_portability_subset");
	p->ballot = (uint32_t)has(e, n, "VK_EXT_shader_subgroup_ballot");
	p->vote = (uint32_t)has(e, n, "VK_EXT_shader_subgroup_vote");
	p->spirv14 = version < V12 && hasFloats && has(e, n, "VK_KHR_spirv_1_4");
	int hasHost = has(e, n, "VK_EXT_external_memory_host");
	free(e);

	getFeatures(physical, &f);
	p->robust = f.f[ROBUST];
	p->f64 = f.f[F64];
	p->i64 = f.f[I64];
	p->i16 = f.f[I16];
	for (int i = 0; i < LVK_STRUCTURES; i++)
		for (int k = 0; k < LVK_MEMBERS; k++)
			p->features[i][k] = structures[i].members >> k & 1 ? s[i].f[k] : 0;
	uint32_t *mm = p->features[LVK_MEMORY_MODEL];
	mm[0] = mm[1] = mm[0] && mm[1]; // if the first is on, atomics need the second too
	if (p->features[LVK_COOPERATIVE][0] && p->features[LVK_FLOAT16_INT8][0] && mm[0]) {
		r = matrixOf(gipa, instance, physical, p->matrix);
		if (r < LVK_SUCCESS) return r;
	}

	properties2 *q = calloc(1, sizeof *q);
	if (!q) return LVK_OUT_OF_HOST_MEMORY;
	q->h.sType = 1000059001;
	idProperties id = {0};
	subgroup sg = {0};
	maintenance3 m3 = {0};
	driver dr = {0};
	hostMemory hm = {0};
	floatControls fc = {0};
	sizeRange sr = {0};
	chain(q, &id, 1000071004);
	chain(q, &sg, 1000094000);
	chain(q, &m3, 1000168000);
	if (hasDriver) chain(q, &dr, 1000196000);
	if (hasHost) chain(q, &hm, 1000178002);
	if (hasControl) chain(q, &sr, 1000225000);
	if (hasFloats) chain(q, &fc, 1000197000);
	getProperties(physical, q);
	free(q);
	memcpy(p->uuid, id.device, sizeof p->uuid);
	p->subgroupSize = sg.size;
	p->subgroupStages = sg.stages;
	p->subgroupOperations = sg.operations;
	p->floatControls = (uint32_t)hasFloats;
	memcpy(p->floats, fc.v, sizeof p->floats);
	uint32_t *sc = p->features[LVK_SIZE_CONTROL];
	p->subgroupControl = sc[0] && sc[1] && sg.size && sr.least <= sg.size && sg.size <= sr.most && (sr.stages & 0x20);
	p->subgroupMost = sr.perGroup;
	if (!p->subgroupControl) sc[0] = sc[1] = 0; // features that are not used stay off
	if (!p->matrix[0]) p->features[LVK_COOPERATIVE][0] = 0;
	p->maxAllocation = m3.allocation;
	p->driverID = dr.id;
	p->hostAlign = hm.align;
	memcpy(p->driverName, dr.name, sizeof dr.name);
	memcpy(p->driverInfo, dr.info, sizeof dr.info);
	p->driverName[255] = p->driverInfo[255] = 0;
	return LVK_SUCCESS;
}

int lvk_texel_formats(void *gipa, void *instance, void *physical) {
	typedef struct { uint32_t linear, optimal, buffer; } format;
	void (LVK_CALL *get)(void *, uint32_t, format *) = lvk_instance_proc(gipa, instance, "vkGetPhysicalDeviceFormatProperties");
	if (!get) return 0;
	for (uint32_t id = 107; id <= 109; id++) { // RGBA32 UINT, SINT, SFLOAT
		format f = {0};
		get(physical, id, &f);
		if ((f.buffer & 0x18) != 0x18) return 0; // uniform and storage texel buffer
	}
	return 1;
}

// A device create-info together with all structures that it points to.
typedef struct {
	lvk_device_info info;
	lvk_queue_info queue;
	float priority;
	const char *extensions[LVK_STRUCTURES + 8];
	features2 f;
	feature s[LVK_STRUCTURES];
} device_create;

void *lvk_device_create_info(const lvk_physical *p, uint32_t version, uint32_t family) {
	device_create *c = calloc(1, sizeof *c);
	if (!c) return NULL;
	uint32_t n = 0;
	c->priority = 1;
	c->queue = (lvk_queue_info){.sType = 2, .family = family, .count = 1, .priorities = &c->priority};
	c->f.h.sType = 1000059000;
	c->f.f[ROBUST] = p->robust;
	c->f.f[F64] = p->f64;
	c->f.f[I64] = p->i64;
	c->f.f[I16] = p->i16;
	for (int i = 0; i < LVK_STRUCTURES; i++) {
		uint32_t any = 0;
		for (int k = 0; k < LVK_MEMBERS; k++) any |= p->features[i][k];
		// The second extension needs the first one, even if no feature of that is on.
		if (i == LVK_ATOMIC_FLOAT && p->features[LVK_ATOMIC_FLOAT2][3] + p->features[LVK_ATOMIC_FLOAT2][4] +
			p->features[LVK_ATOMIC_FLOAT2][8] + p->features[LVK_ATOMIC_FLOAT2][9]) any = 1;
		if (!any) continue;
		chain(&c->f, &c->s[i], structures[i].sType);
		memcpy(c->s[i].f, p->features[i], sizeof c->s[i].f);
		if (version < structures[i].core) c->extensions[n++] = structures[i].extension;
	}
	if (p->floatControls && version < V12) c->extensions[n++] = "VK_KHR_shader_float_controls";
	if (p->spirv14) c->extensions[n++] = "VK_KHR_spirv_1_4";
	if (p->ballot) c->extensions[n++] = "VK_EXT_shader_subgroup_ballot";
	if (p->vote) c->extensions[n++] = "VK_EXT_shader_subgroup_vote";
	if (p->hostAlign) c->extensions[n++] = "VK_EXT_external_memory_host";
	if (p->portability) c->extensions[n++] = "VK_KHR_portability_subset";
	c->info = (lvk_device_info){.sType = 3, .pNext = &c->f, .queueCount = 1, .queues = &c->queue,
		.extensionCount = n, .extensions = c->extensions};
	return c;
}

void lvk_free_device_create_info(void *info) { free(info); }

typedef struct {
	lvk_instance_info info;
	lvk_application_info app;
	const char *layers[1], *extensions[2];
	char layer[256];
} instance_create;

void *lvk_instance_create_info(uint32_t version, const char *layer, int debug, int portability, const void *next) {
	instance_create *c = calloc(1, sizeof *c);
	if (!c) return NULL;
	uint32_t n = 0;
	c->app = (lvk_application_info){.name = "lathe", .engine = "lathe", .apiVersion = version};
	c->info = (lvk_instance_info){.sType = 1, .pNext = next, .app = &c->app, .layers = c->layers, .extensions = c->extensions};
	if (layer) {
		strncpy(c->layer, layer, sizeof c->layer - 1);
		c->layers[0] = c->layer;
		c->info.layerCount = 1;
	}
	if (debug) c->extensions[n++] = "VK_EXT_debug_utils";
	if (portability) {
		c->extensions[n++] = "VK_KHR_portability_enumeration";
		c->info.flags = 1;
	}
	c->info.extensionCount = n;
	return c;
}

void lvk_free_instance_create_info(void *info) { free(info); }
