/* Packages made by hand, for tests of the runtime alone: the C compiler makes the entries and kernels, the assembler
 * the plan, the system's linker the ELF file. Nothing of sklink is involved. */
#ifndef TESTS_HANDMADE_H
#define TESTS_HANDMADE_H

#include <stdbool.h>
#include <stdint.h>

#include "format/skplan.h"

enum { HANDMADE_MAX = 8 };

/* A step of its own task and of the kernel `kernel`, split over the launch's partition 0, or one of which every core
 * has a part. The plan need not describe how an entry uses its homes and ranges. */
struct handmade_step {
	const char *task;
	uint32_t lane;
	uint32_t flags; /* besides those that all steps have: PUBLISH and STATUS */
	enum { HANDMADE_NO_STATE, HANDMADE_OWN_STATE, HANDMADE_LIBRARY_STATE } state; /* its hidden state */
	const struct handmade_call *call; /* its arguments, for checked launches; NULL: none */
};

/* Indices of terms and patterns are those of the call. */
struct handmade_call {
	bool returns_nothing; /* else a status */
	uint32_t argument_count, loop_count, term_count, pattern_count;
	struct sk_plan_argument arguments[2 * HANDMADE_MAX];
	struct sk_plan_loop loops[SK_MAX_LOOPS];
	struct sk_plan_term terms[HANDMADE_MAX];
	struct sk_plan_pattern patterns[HANDMADE_MAX];
};

/* An entry is the function NAME of the C source, the serial entry NAME_serial. Ends at a launch without a name. */
struct handmade_launch {
	const char *name;
	uint32_t kind;
	int serial; /* it has a serial entry */
	uint64_t scratch_size;
	struct sk_plan_home homes[HANDMADE_MAX];
	uint32_t home_count;
	struct sk_plan_partition partitions[HANDMADE_MAX];
	uint32_t partition_count; /* those after the last of HANDMADE_MAX are like that one */
	const struct handmade_step *steps;
	uint32_t step_count;
	uint32_t lane_cores[SK_MAX_LANES]; /* 0: all */
	uint32_t resident_cores; /* of the first lane */
	int follows; /* it follows the launch before it, and no other */
};

struct handmade_tensor {
	const char *name;
	uint8_t dtype, role;
	uint64_t extent;
};

struct handmade_package {
	const char *source; /* C; includes format/skabi.h; must define `kernel` */
	uint32_t lane_count;
	uint64_t workspace_size, unshared_workspace_size;
	const struct handmade_tensor *tensors; /* all are bound; ends at one without a name */
	const struct handmade_launch *launches;
};

/* Compile C source, with a plan or (package NULL) without, to a shared object. `flags` go to the compiler and linker.
 * Fail the test on an error. */
void handmade_compile(const char *path, const char *source, const struct handmade_package *package, const char *flags);

/* The package, with the flags that it needs. */
void handmade_make(const char *path, const struct handmade_package *package);

#endif
