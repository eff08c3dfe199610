//go:build !novk

#include "query.h"
#include "loader.h"

#include <stdlib.h>
#include <string.h>

#define V12 ((1u << 22) | (2u << 12))
#define V13 ((1u << 22) | (3u << 12))

// Chain elements, laid out as in the registry.
typedef struct { lvk_head h; uint32_t f[55]; } features2;                       // 1000059000
typedef struct { lvk_head h; uint32_t storage, uniform, push, io; } storage16;  // 1000083000
typedef struct { lvk_head h; uint32_t storage, uniform, push; } storage8;       // 1000177000
typedef struct { lvk_head h; uint32_t f16, i8; } float16int8;                   // 1000082000
typedef struct { lvk_head h; uint32_t buffer, shared; } atomic64;               // 1000180000
typedef struct { lvk_head h; uint32_t model, deviceScope, chains; } memoryModel; // 1000211000
typedef struct { lvk_head h; uint32_t control, full; } sizeControl;              // 1000225002
typedef struct { lvk_head h; uint32_t least, most, perGroup, stages; } sizeRange; // 1000225000
typedef struct { lvk_head h; uint32_t matrix, robust; } cooperative;             // 1000506000
typedef struct { lvk_head h; uint32_t m, n, k, a, b, c, result, saturating, scope; } matrixShape; // 1000506001
typedef struct { lvk_head h; uint64_t properties[128]; } properties2;           // 1000059001, with room to spare
typedef struct { lvk_head h; uint8_t device[16], driver[16], luid[8]; uint32_t mask, luidValid; } idProperties; // 1000071004
typedef struct { lvk_head h; uint32_t size, stages, operations, quads; } subgroup; // 1000094000
typedef struct { lvk_head h; uint32_t perSet; uint64_t allocation; } maintenance3; // 1000168000
typedef struct { lvk_head h; uint32_t id; char name[256], info[256]; uint8_t conformance[4]; } driver; // 1000196000
typedef struct { lvk_head h; uint64_t align; } hostMemory; // 1000178002

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
	int core = version >= V12;
	int has8 = core || has(e, n, "VK_KHR_8bit_storage");
	int hasF16 = core || has(e, n, "VK_KHR_shader_float16_int8");
	int hasAtomic = core || has(e, n, "VK_KHR_shader_atomic_int64");
	int hasModel = core || has(e, n, "VK_KHR_vulkan_memory_model");
	int hasDriver = core || has(e, n, "VK_KHR_driver_properties");
	int hasControl = version >= V13 || has(e, n, "VK_EXT_subgroup_size_control");
	int hasMatrix = has(e, n, "VK_KHR_cooperative_matrix");
	p->portability = (uint32_t)has(e, n, "VK_KHR_portability_subset");
	int hasHost = has(e, n, "VK_EXT_external_memory_host");
	free(e);

	features2 f = {.h.sType = 1000059000};
	storage16 s16 = {0};
	storage8 s8 = {0};
	float16int8 f16 = {0};
	atomic64 a64 = {0};
	memoryModel mm = {0};
	sizeControl sc = {0};
	cooperative cm = {0};
	chain(&f, &s16, 1000083000);
	if (has8) chain(&f, &s8, 1000177000);
	if (hasF16) chain(&f, &f16, 1000082000);
	if (hasAtomic) chain(&f, &a64, 1000180000);
	if (hasModel) chain(&f, &mm, 1000211000);
	if (hasControl) chain(&f, &sc, 1000225002);
	if (hasMatrix) chain(&f, &cm, 1000506000);
	getFeatures(physical, &f);
	p->robust = f.f[ROBUST];
	p->f64 = f.f[F64];
	p->i64 = f.f[I64];
	p->i16 = f.f[I16];
	p->f16 = f16.f16;
	p->i8 = f16.i8;
	p->storage16 = s16.storage;
	p->storage8 = s8.storage;
	p->atomics64 = a64.buffer;
	p->memoryModel = mm.model && mm.deviceScope; // atomics need the second once the first is on
	if (cm.matrix && p->f16 && p->memoryModel) {
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
	sizeRange sr = {0};
	chain(q, &id, 1000071004);
	chain(q, &sg, 1000094000);
	chain(q, &m3, 1000168000);
	if (hasDriver) chain(q, &dr, 1000196000);
	if (hasHost) chain(q, &hm, 1000178002);
	if (hasControl) chain(q, &sr, 1000225000);
	getProperties(physical, q);
	free(q);
	memcpy(p->uuid, id.device, sizeof p->uuid);
	p->subgroupSize = sg.size;
	p->subgroupStages = sg.stages;
	p->subgroupOperations = sg.operations;
	p->subgroupControl = sc.control && sc.full && sg.size && sr.least <= sg.size && sg.size <= sr.most && (sr.stages & 0x20);
	p->subgroupMost = sr.perGroup;
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

// A device create-info with all it points to, in one piece.
typedef struct {
	lvk_device_info info;
	lvk_queue_info queue;
	float priority;
	const char *extensions[10];
	features2 f;
	storage16 s16;
	storage8 s8;
	float16int8 f16;
	atomic64 a64;
	memoryModel mm;
	sizeControl sc;
	cooperative cm;
} device_create;

void *lvk_device_create_info(const lvk_physical *p, uint32_t version, uint32_t family) {
	device_create *c = calloc(1, sizeof *c);
	if (!c) return NULL;
	uint32_t n = 0;
	int core = version >= V12;
	c->priority = 1;
	c->queue = (lvk_queue_info){.sType = 2, .family = family, .count = 1, .priorities = &c->priority};
	c->f.h.sType = 1000059000;
	c->f.f[ROBUST] = p->robust;
	c->f.f[F64] = p->f64;
	c->f.f[I64] = p->i64;
	c->f.f[I16] = p->i16;
	if (p->storage16) {
		chain(&c->f, &c->s16, 1000083000);
		c->s16.storage = 1;
	}
	if (p->storage8) {
		chain(&c->f, &c->s8, 1000177000);
		c->s8.storage = 1;
		if (!core) c->extensions[n++] = "VK_KHR_8bit_storage";
	}
	if (p->f16 || p->i8) {
		chain(&c->f, &c->f16, 1000082000);
		c->f16.f16 = p->f16;
		c->f16.i8 = p->i8;
		if (!core) c->extensions[n++] = "VK_KHR_shader_float16_int8";
	}
	if (p->atomics64) {
		chain(&c->f, &c->a64, 1000180000);
		c->a64.buffer = 1;
		if (!core) c->extensions[n++] = "VK_KHR_shader_atomic_int64";
	}
	if (p->memoryModel) {
		chain(&c->f, &c->mm, 1000211000);
		c->mm.model = c->mm.deviceScope = 1;
		if (!core) c->extensions[n++] = "VK_KHR_vulkan_memory_model";
	}
	if (p->subgroupControl) {
		chain(&c->f, &c->sc, 1000225002);
		c->sc.control = c->sc.full = 1;
		if (version < V13) c->extensions[n++] = "VK_EXT_subgroup_size_control";
	}
	if (p->matrix[0]) {
		chain(&c->f, &c->cm, 1000506000);
		c->cm.matrix = 1;
		c->extensions[n++] = "VK_KHR_cooperative_matrix";
	}
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
