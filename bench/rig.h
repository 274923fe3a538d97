/* The package of bench/generate on a device, and its launches as variants for bench/measure.h. */
#ifndef BENCH_RIG_H
#define BENCH_RIG_H

#include "loader/skrt.h"

enum {
	BENCH_CHAIN = 1000, /* tasks of a chain, and hand-offs of the hand-written loops: see bench/generate, and */
	BENCH_WIDE = 200, /* bench/hand-written.c */
	BENCH_TENSORS = 6, /* of the package */
};

struct bench_rig {
	struct skrt_device *device;
	struct skrt_module *module;
	struct skrt_instance *instance;
	struct skrt_stream *stream;
};

/* All rigs are bound to the same memory, which is initially zero. Errors end the program. */
struct bench_rig bench_rig_open(const char *package, const char *device, uint32_t cores);
void bench_rig_close(const struct bench_rig *rig);

/* Return the memory of tensors, in the manifest's order: a, b, line, flags, c, d. */
void *const *bench_rig_memory(void);
void bench_rig_free_memory(void);

/* A launch, with the functions that run it: the context is a struct bench_launch. */
struct bench_launch {
	const struct bench_rig *rig;
	const struct skrt_kernel *kernel;
};

struct bench_launch bench_launch_of(const struct bench_rig *rig, const char *kernel);
void bench_launch_run(const void *launch);
void bench_launch_run_serial(const void *launch);

#endif
