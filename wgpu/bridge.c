//go:build !nowgpu

#include "bridge.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#if defined(_WIN32)
#include <windows.h>
#else
#include <time.h>
#endif

struct lwg_device {
	void *device, *queue;
	void *empty, *emptyGroup;             // of shaders that bind nothing
	void *paramLayout[2], *paramGroup[2]; // uniform, storage
	void *paramBuffer;
	uint64_t paramRoom;
	atomic_flag lock;        // of what follows
	_Atomic uint32_t error;  // type of the first error since the last lwg_take, 0 if none
	char errorText[4096];
	atomic_int lost;
	char lostText[1024];
};

struct lwg_flight {
	atomic_int done;
	uint32_t status;
};

static void lock(lwg_device *d) {
	while (atomic_flag_test_and_set_explicit(&d->lock, memory_order_acquire)) {
	}
}

static void unlock(lwg_device *d) { atomic_flag_clear_explicit(&d->lock, memory_order_release); }

static void copy_text(char *to, size_t size, const char *from) {
	size_t n = from ? strlen(from) : 0;
	if (n >= size) n = size - 1;
	memcpy(to, from ? from : "", n);
	to[n] = 0;
}

static void on_error(uint32_t type, const char *message, void *user) {
	lwg_device *d = user;
	if (type == LWG_ERROR_NONE) return;
	lock(d);
	if (!d->error) {
		d->error = type;
		copy_text(d->errorText, sizeof d->errorText, message);
	}
	unlock(d);
}

static void on_lost(uint32_t reason, const char *message, void *user) {
	lwg_device *d = user;
	(void)reason;
	lock(d);
	copy_text(d->lostText, sizeof d->lostText, message);
	unlock(d);
	atomic_store(&d->lost, 1);
}

// The library asks Vulkan and EGL for windows. If there can be no Wayland display, they write
// complaints to standard error. So the variables below are set while they look, and they find
// nothing without a message. One variable leaves out Mesa's Vulkan layer that picks a default
// device. The other one makes EGL look for the display in a folder.
struct quiet { int on; char *was; };

static struct quiet begin_quiet(void) {
	struct quiet q = {0, NULL};
#if defined(__linux__)
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	if ((runtime && *runtime == '/') || getenv("NODEVICE_SELECT") || getenv("DRI_PRIME") || getenv("MESA_VK_DEVICE_SELECT")) return q;
	q.on = 1;
	if (runtime) q.was = strdup(runtime);
	setenv("NODEVICE_SELECT", "1", 1);
	setenv("XDG_RUNTIME_DIR", "/", 1);
#endif
	return q;
}

static void end_quiet(struct quiet q) {
#if defined(__linux__)
	if (!q.on) return;
	unsetenv("NODEVICE_SELECT");
	if (q.was) setenv("XDG_RUNTIME_DIR", q.was, 1);
	else unsetenv("XDG_RUNTIME_DIR");
	free(q.was);
#else
	(void)q;
#endif
}

void *lwg_instance(uint32_t backends) {
	wg_instance_extras extras = {.chain = {NULL, LWG_STYPE_INSTANCE_EXTRAS}, .backends = backends};
	wg_instance_desc desc = {&extras.chain};
	struct quiet q = begin_quiet();
	void *instance = wgpuCreateInstance(&desc);
	end_quiet(q);
	return instance;
}

size_t lwg_adapters(void *instance, uint32_t backends, void **adapters, size_t n) {
	wg_enumerate_options options = {NULL, backends};
	struct quiet q = begin_quiet();
	size_t have = wgpuInstanceEnumerateAdapters(instance, &options, n ? adapters : NULL);
	end_quiet(q);
	return have;
}

typedef struct { void *device; char *why; size_t size; } opening;

static void on_device(uint32_t status, void *device, const char *message, void *user) {
	opening *o = user;
	o->device = status == 0 ? device : NULL;
	if (!o->device) copy_text(o->why, o->size, message && *message ? message : "the adapter gave no reason");
}

lwg_device *lwg_open(void *adapter, const wg_limits *limits, char *why, size_t size) {
	lwg_device *d = calloc(1, sizeof *d);
	if (!d) {
		copy_text(why, size, "out of memory");
		return NULL;
	}
	wg_required_limits want = {NULL, *limits};
	wg_device_desc desc = {.limits = &want, .lost = on_lost, .lostUser = d};
	desc.uncaptured.callback = on_error;
	desc.uncaptured.user = d;
	opening o = {NULL, why, size};
	wgpuAdapterRequestDevice(adapter, &desc, on_device, &o); // calls back before it returns
	if (!o.device) {
		free(d);
		return NULL;
	}
	d->device = o.device;
	d->queue = wgpuDeviceGetQueue(d->device);
	wg_layout_desc none = {0};
	d->empty = wgpuDeviceCreateBindGroupLayout(d->device, &none);
	wg_group_desc group = {.layout = d->empty};
	d->emptyGroup = wgpuDeviceCreateBindGroup(d->device, &group);
	for (int i = 0; i < 2; i++) {
		wg_layout_entry e = {.visibility = LWG_STAGE_COMPUTE};
		e.buffer.type = i ? LWG_BINDING_READ_ONLY : LWG_BINDING_UNIFORM;
		e.buffer.dynamic = 1;
		wg_layout_desc one = {.count = 1, .entries = &e};
		d->paramLayout[i] = wgpuDeviceCreateBindGroupLayout(d->device, &one);
	}
	return d;
}

static void drop_params(lwg_device *d) {
	for (int i = 0; i < 2; i++) {
		if (d->paramGroup[i]) wgpuBindGroupRelease(d->paramGroup[i]);
		d->paramGroup[i] = NULL;
	}
	if (d->paramBuffer) wgpuBufferRelease(d->paramBuffer);
	d->paramBuffer = NULL;
	d->paramRoom = 0;
}

void lwg_close(lwg_device *d) {
	drop_params(d);
	for (int i = 0; i < 2; i++) wgpuBindGroupLayoutRelease(d->paramLayout[i]);
	wgpuBindGroupRelease(d->emptyGroup);
	wgpuBindGroupLayoutRelease(d->empty);
	wgpuQueueRelease(d->queue);
	wgpuDevicePoll(d->device, 0, NULL);
	wgpuDeviceRelease(d->device);
	free(d);
}

int lwg_lost(lwg_device *d, char *text, size_t size) {
	if (!atomic_load(&d->lost)) return 0;
	if (!size) return 1;
	lock(d);
	copy_text(text, size, d->lostText);
	unlock(d);
	return 1;
}

void lwg_lose(lwg_device *d) { on_lost(1, "lost by a test", d); }

uint32_t lwg_error(lwg_device *d) { return d->error; }

uint32_t lwg_take(lwg_device *d, char *text, size_t size) {
	lock(d);
	uint32_t type = d->error;
	if (type) copy_text(text, size, d->errorText);
	d->error = 0;
	unlock(d);
	return type;
}

enum { PARAM_SPAN = 256 }; // the most bytes of a shader's parameters: gpu.Limits.MaxParamBytes

void lwg_params(lwg_device *d, uint64_t size) {
	drop_params(d);
	d->paramBuffer = lwg_buffer(d, size + PARAM_SPAN, LWG_USAGE_UNIFORM | LWG_USAGE_STORAGE | LWG_USAGE_COPY_DST);
	d->paramRoom = size;
	for (int i = 0; i < 2; i++) {
		wg_group_entry e = {.buffer = d->paramBuffer, .size = PARAM_SPAN};
		wg_group_desc desc = {.layout = d->paramLayout[i], .count = 1, .entries = &e};
		d->paramGroup[i] = wgpuDeviceCreateBindGroup(d->device, &desc);
	}
}

void *lwg_buffer(lwg_device *d, uint64_t size, uint32_t usage) {
	wg_buffer_desc desc = {.usage = usage, .size = size};
	return wgpuDeviceCreateBuffer(d->device, &desc);
}

void lwg_buffer_release(void *buffer) { wgpuBufferRelease(buffer); }

void lwg_write(lwg_device *d, void *buffer, uint64_t offset, const void *data, size_t size) {
	wgpuQueueWriteBuffer(d->queue, buffer, offset, data, size);
}

void lwg_compile(lwg_device *d, const char *label, const void *code, uint32_t words, const lwg_slot *slots, uint32_t count, uint32_t params, lwg_pipeline *p) {
	memset(p, 0, sizeof *p);
	wg_spirv spirv = {{NULL, LWG_STYPE_SPIRV}, words, code};
	wg_wgsl wgsl = {{NULL, LWG_STYPE_WGSL}, code};
	wg_module_desc source = {.next = words ? &spirv.chain : &wgsl.chain, .label = label};
	void *module = wgpuDeviceCreateShaderModule(d->device, &source);
	if (!d->error && module) {
		void *layouts[2] = {d->empty, NULL};
		wg_layout_entry *es = calloc(count + 1, sizeof *es);
		if (!es) {
			on_error(LWG_ERROR_OUT_OF_MEMORY, "out of memory", d);
		} else if (count) {
			for (uint32_t i = 0; i < count; i++) {
				es[i].binding = slots[i].slot;
				es[i].visibility = LWG_STAGE_COMPUTE;
				es[i].buffer.type = slots[i].type;
			}
			wg_layout_desc sets = {.count = count, .entries = es};
			layouts[0] = p->sets = wgpuDeviceCreateBindGroupLayout(d->device, &sets);
		}
		free(es);
		if (params) layouts[1] = d->paramLayout[params - 1];
		wg_pipeline_layout_desc layout = {.count = params ? 2 : 1, .layouts = layouts};
		if (!d->error) p->layout = wgpuDeviceCreatePipelineLayout(d->device, &layout);
		wg_compute_desc desc = {.label = label, .layout = p->layout};
		desc.stage.module = module;
		desc.stage.entry = "main";
		if (!d->error) p->pipeline = wgpuDeviceCreateComputePipeline(d->device, &desc);
	}
	if (module) wgpuShaderModuleRelease(module);
}

void lwg_pipeline_destroy(lwg_pipeline *p) {
	if (p->pipeline) wgpuComputePipelineRelease(p->pipeline);
	if (p->layout) wgpuPipelineLayoutRelease(p->layout);
	if (p->sets) wgpuBindGroupLayoutRelease(p->sets);
	memset(p, 0, sizeof *p);
}

lwg_flight *lwg_flight_new(void) { return calloc(1, sizeof(lwg_flight)); }

void lwg_flight_free(lwg_flight *f) { free(f); }

static void on_done(uint32_t status, void *user) {
	lwg_flight *f = user;
	f->status = status;
	atomic_store(&f->done, 1);
}

// encode records the commands. If it fails, it returns NULL, and there is an error.
static void *encode(lwg_device *d, const lwg_cmd *cmds, uint32_t count, void **groups) {
	void *encoder = wgpuDeviceCreateCommandEncoder(d->device, NULL), *pass = NULL, *pipeline = NULL;
	uint32_t set = UINT32_MAX;
	for (uint32_t i = 0; i < count; i++) {
		const lwg_cmd *c = &cmds[i];
		if (c->kind == LWG_COPY) {
			if (pass) {
				wgpuComputePassEncoderEnd(pass);
				wgpuComputePassEncoderRelease(pass);
				pass = pipeline = NULL;
				set = UINT32_MAX;
			}
			wgpuCommandEncoderCopyBufferToBuffer(encoder, c->a, c->src, c->b, c->dst, c->size);
			continue;
		}
		if (!pass) pass = wgpuCommandEncoderBeginComputePass(encoder, NULL);
		if (c->a != pipeline) {
			wgpuComputePassEncoderSetPipeline(pass, pipeline = c->a);
			set = UINT32_MAX; // a pipeline of another layout may undo the groups
		}
		if (!c->hasSet) {
			wgpuComputePassEncoderSetBindGroup(pass, 0, d->emptyGroup, 0, NULL);
			set = UINT32_MAX;
		} else if (c->set != set) {
			wgpuComputePassEncoderSetBindGroup(pass, 0, groups[set = c->set], 0, NULL);
		}
		if (c->params) wgpuComputePassEncoderSetBindGroup(pass, 1, d->paramGroup[c->params - 1], 1, &c->paramOffset);
		wgpuComputePassEncoderDispatchWorkgroups(pass, c->groups[0], c->groups[1], c->groups[2]);
	}
	if (pass) {
		wgpuComputePassEncoderEnd(pass);
		wgpuComputePassEncoderRelease(pass);
	}
	void *commands = wgpuCommandEncoderFinish(encoder, NULL);
	wgpuCommandEncoderRelease(encoder);
	return commands;
}

int lwg_submit(lwg_device *d, const lwg_cmd *cmds, uint32_t count, const lwg_set *sets, uint32_t setCount,
	const lwg_bind *binds, uint32_t bindCount, const void *params, size_t paramBytes, lwg_flight *f) {
	void **groups = calloc(setCount + 1, sizeof *groups);
	wg_group_entry *es = calloc(bindCount + 1, sizeof *es);
	void *commands = NULL;
	if (groups && es) {
		for (uint32_t i = 0; i < bindCount; i++) {
			es[i].binding = binds[i].slot;
			es[i].buffer = binds[i].buffer;
			es[i].offset = binds[i].offset;
			es[i].size = binds[i].size;
		}
		for (uint32_t i = 0; i < setCount && !d->error; i++) {
			wg_group_desc desc = {.layout = sets[i].layout, .count = sets[i].count, .entries = es + sets[i].first};
			groups[i] = wgpuDeviceCreateBindGroup(d->device, &desc);
		}
		if (count && !d->error) commands = encode(d, cmds, count, groups);
	} else {
		on_error(LWG_ERROR_OUT_OF_MEMORY, "out of memory", d);
	}
	// An invalid command buffer must not be submitted: the library ends the
	// process then.
	int failed = d->error != 0;
	if (!failed) {
		if (paramBytes) wgpuQueueWriteBuffer(d->queue, d->paramBuffer, 0, params, paramBytes);
		failed = d->error != 0;
	}
	if (!failed) {
		atomic_store(&f->done, 0);
		wgpuQueueSubmit(d->queue, commands ? 1 : 0, &commands);
		wgpuQueueOnSubmittedWorkDone(d->queue, on_done, f);
	}
	if (commands) wgpuCommandBufferRelease(commands);
	for (uint32_t i = 0; groups && i < setCount; i++) {
		if (groups[i]) wgpuBindGroupRelease(groups[i]);
	}
	free(groups);
	free(es);
	return failed ? -1 : 0;
}

static void sleep_us(unsigned us) {
#if defined(_WIN32)
	Sleep((us + 999) / 1000);
#else
	struct timespec t = {us / 1000000, us % 1000000 * 1000};
	nanosleep(&t, NULL);
#endif
}

// poll_until polls until *done or *other is set. It must not let the library wait. After five
// seconds a poll that waits takes all work for finished, and reuses command buffers that the
// driver still reads. Between polls it sleeps for a small part of the time that has passed.
static void poll_until(lwg_device *d, atomic_int *done, atomic_int *other) {
	unsigned slept = 0;
	for (int i = 0; !atomic_load(done) && !atomic_load(other); i++) {
		wgpuDevicePoll(d->device, 0, NULL);
		if (i < 4 || atomic_load(done)) continue;
		unsigned us = 10 + slept / 16;
		if (us > 1000) us = 1000;
		if (slept < 1u << 30) slept += us;
		sleep_us(us);
	}
}

int lwg_wait(lwg_device *d, lwg_flight *f, int wait) {
	if (wait) {
		poll_until(d, &f->done, &d->lost);
	} else if (!atomic_load(&f->done)) {
		wgpuDevicePoll(d->device, 0, NULL);
	}
	return atomic_load(&f->done);
}

const void *lwg_map(lwg_device *d, void *buffer, size_t size) {
	lwg_flight f = {0};
	// f lives longer than the callback, because this function returns only after the
	// callback. The callback comes also if the device is lost.
	wgpuBufferMapAsync(buffer, LWG_MAP_READ, 0, size, on_done, &f);
	poll_until(d, &f.done, &f.done);
	return f.status == 0 ? wgpuBufferGetConstMappedRange(buffer, 0, size) : NULL;
}

void lwg_unmap(void *buffer) { wgpuBufferUnmap(buffer); }
