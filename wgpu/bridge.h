//go:build !nowgpu

// What Go asks of the native library: plain arrays in, one call across the
// language border a batch, and every callback a C function that writes to C
// memory.
#ifndef LATHE_WGPU_BRIDGE_H
#define LATHE_WGPU_BRIDGE_H

#include "abi.h"

// A device, and what its callbacks have said.
typedef struct lwg_device lwg_device;

void *lwg_instance(uint32_t backends);
// lwg_adapters fills in up to n adapters, to be released, and returns how many
// there are; n must not be less than that in the last call.
size_t lwg_adapters(void *instance, uint32_t backends, void **adapters, size_t n);
// lwg_open opens a device; else why gets the reason.
lwg_device *lwg_open(void *adapter, const wg_limits *limits, char *why, size_t size);
void lwg_close(lwg_device *d);
// lwg_error is the type of the error that lwg_take would return.
uint32_t lwg_error(lwg_device *d);
// lwg_take returns and forgets the first error; its text goes to text.
uint32_t lwg_take(lwg_device *d, char *text, size_t size);
// lwg_lost reports whether the device is lost; text gets the reason then.
int lwg_lost(lwg_device *d, char *text, size_t size);
// lwg_lose is for tests: it says that the device is lost, as the library would.
void lwg_lose(lwg_device *d);
// lwg_params makes the buffer of shader parameters hold size bytes.
void lwg_params(lwg_device *d, uint64_t size);

void *lwg_buffer(lwg_device *d, uint64_t size, uint32_t usage);
void lwg_buffer_release(void *buffer);
// lwg_write copies data; the copy takes effect before what is submitted next.
void lwg_write(lwg_device *d, void *buffer, uint64_t offset, const void *data, size_t size);

typedef struct { uint32_t slot, type; } lwg_slot; // type as LWG_BINDING_…
typedef struct { void *sets, *layout, *pipeline; } lwg_pipeline;
enum { LWG_PARAMS_NONE = 0, LWG_PARAMS_UNIFORM = 1, LWG_PARAMS_STORAGE = 2 };

// lwg_compile makes a pipeline of SPIR-V, or of WGSL where words is 0. It has
// failed if lwg_take has an error; p is to be destroyed in either case.
void lwg_compile(lwg_device *d, const char *label, const void *code, uint32_t words, const lwg_slot *slots, uint32_t count, uint32_t params, lwg_pipeline *p);
void lwg_pipeline_destroy(lwg_pipeline *p);

typedef struct { void *buffer; uint64_t offset, size; uint32_t slot, pad; } lwg_bind;
typedef struct { void *layout; uint32_t first, count; } lwg_set;
enum { LWG_DISPATCH = 0, LWG_COPY = 1 };
typedef struct {
	uint32_t kind;
	uint32_t set, hasSet;           // dispatch: index of its bind group
	uint32_t params, paramOffset;   // dispatch: LWG_PARAMS_…, where they begin
	uint32_t groups[3];
	void *a, *b;                    // dispatch: pipeline; copy: source, destination
	uint64_t src, dst, size;        // copy
} lwg_cmd;

// A submission under way. lwg_flight_free must wait until it is done.
typedef struct lwg_flight lwg_flight;
lwg_flight *lwg_flight_new(void);
void lwg_flight_free(lwg_flight *f);

// lwg_submit encodes and submits the commands, after the parameters. It returns
// 0, and f in flight, or -1 with an error to take and nothing submitted.
int lwg_submit(lwg_device *d, const lwg_cmd *cmds, uint32_t count, const lwg_set *sets, uint32_t setCount,
	const lwg_bind *binds, uint32_t bindCount, const void *params, size_t paramBytes, lwg_flight *f);
// lwg_wait waits until f is done or the device is lost; with wait 0 it only looks.
int lwg_wait(lwg_device *d, lwg_flight *f, int wait);

// lwg_map maps a buffer that no pending work uses; NULL if that fails.
const void *lwg_map(lwg_device *d, void *buffer, size_t size);
void lwg_unmap(void *buffer);

#endif
