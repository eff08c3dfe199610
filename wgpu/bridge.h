//go:build !nowgpu

// The calls of the native library that Go needs. They take plain arrays, and a batch is one
// call from Go to C. Every callback is a C function that writes to C memory.
#ifndef LATHE_WGPU_BRIDGE_H
#define LATHE_WGPU_BRIDGE_H

#include "abi.h"

// A device, and what its callbacks have reported.
typedef struct lwg_device lwg_device;

void *lwg_instance(uint32_t backends);
// lwg_adapters fills in up to n adapters, which the caller releases. It returns the number of
// adapters that exist. In the last call n must not be less than that.
size_t lwg_adapters(void *instance, uint32_t backends, void **adapters, size_t n);
// lwg_open opens a device. If it fails, why gets the reason.
lwg_device *lwg_open(void *adapter, const wg_limits *limits, char *why, size_t size);
void lwg_close(lwg_device *d);
// lwg_error is the type of the error that lwg_take would return.
uint32_t lwg_error(lwg_device *d);
// lwg_take returns the first error and forgets it. text gets the text of the error.
uint32_t lwg_take(lwg_device *d, char *text, size_t size);
// lwg_lost reports whether the device is lost. If it is, text gets the reason.
int lwg_lost(lwg_device *d, char *text, size_t size);
// lwg_lose is for tests. It reports that the device is lost, as the library does.
void lwg_lose(lwg_device *d);
// lwg_params makes the buffer of shader parameters hold size bytes.
void lwg_params(lwg_device *d, uint64_t size);

void *lwg_buffer(lwg_device *d, uint64_t size, uint32_t usage);
void lwg_buffer_release(void *buffer);
// lwg_write copies data. The copy takes effect before the next submission.
void lwg_write(lwg_device *d, void *buffer, uint64_t offset, const void *data, size_t size);

typedef struct { uint32_t slot, type; } lwg_slot; // type as LWG_BINDING_…
typedef struct { void *sets, *layout, *pipeline; } lwg_pipeline;
enum { LWG_PARAMS_NONE = 0, LWG_PARAMS_UNIFORM = 1, LWG_PARAMS_STORAGE = 2 };

// lwg_compile makes a pipeline of SPIR-V, or of WGSL if words is 0. It has failed if lwg_take
// returns an error. The caller destroys p in both cases.
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

// A submission that may not be finished. lwg_flight_free must wait until it is finished.
typedef struct lwg_flight lwg_flight;
lwg_flight *lwg_flight_new(void);
void lwg_flight_free(lwg_flight *f);

// lwg_submit encodes and submits the commands, after the parameters. It returns 0, and f is
// then the submission. If it returns -1, nothing was submitted, and lwg_take has the error.
int lwg_submit(lwg_device *d, const lwg_cmd *cmds, uint32_t count, const lwg_set *sets, uint32_t setCount,
	const lwg_bind *binds, uint32_t bindCount, const void *params, size_t paramBytes, lwg_flight *f);
// lwg_wait waits until f is finished or the device is lost. If wait is 0 it only checks.
int lwg_wait(lwg_device *d, lwg_flight *f, int wait);

// lwg_map maps a buffer that no pending work uses. It returns NULL if that fails.
const void *lwg_map(lwg_device *d, void *buffer, size_t size);
void lwg_unmap(void *buffer);

#endif
