/* Sides: how often, where and with what function a task's kernel is called at once. A task has one side, a mix task
 * two: the cube side and the vector side, which work together and so must run at the same time. */
#ifndef SK_SIDES_H
#define SK_SIDES_H

#include "format/signature/signature.h"
#include "src/model/model.h"

enum { SK_MAX_SIDES = 2 };

struct sk_side {
	uint32_t lane;
	uint32_t blocks; /* BLOCKS, BLOCKS_RANGE; else 0 */
	uint32_t first_core; /* of the lane, that has block 0 */
	uint16_t flags; /* SK_STEP_RESIDENT, …_SIDE, EARLY_… */
};

/* SK_STEP_EARLY_…: what kernels of this signature do by themselves, where an option does not have it otherwise. */
uint16_t sk_signature_early(const struct sk_signature *signature);

/* The sides of a bound task, the cube side first; returns how many. On a device with one lane the vector blocks have
 * the cores behind the cube blocks'. */
uint32_t sk_task_sides(const struct sk_model *model, uint32_t task, struct sk_side sides[SK_MAX_SIDES]);

/* The number of (cube) blocks of a `mix` task that does not say. */
uint32_t sk_mix_default_blocks(const struct sk_profile *device, uint32_t ratio);

/* How many cores of each lane the calls of the task keep busy on the device; 0: it does not run there. */
void sk_task_cores(const struct sk_model *model, uint32_t task, uint32_t cores[SK_MAX_LANES]);

/* Whether cores can be counted when linking: how many the host has, only the machine knows that it will run on. */
bool sk_device_counts_cores(const struct sk_profile *device);

/* What decides how many cores a launch gets. */
struct sk_launch_needs {
	const uint32_t *tasks;
	uint32_t task_count;
	uint32_t homes; /* how many it has */
	const uint32_t *limits; /* by lane, what its options say; 0: nothing */
	const uint32_t *resident; /* by lane, cores that its resident steps need, whatever the limits */
	bool placed[SK_MAX_LANES]; /* it has steps that do not begin at the first core */
};

/* How many cores of each lane the launch gets. On the host by libskrt's rule (choose_cores in loader/flight/kernel.c):
 * all, that is SK_ALL_CORES, unless nothing but blocks from the first core on, or one home, needs fewer. On other
 * devices by the reference system's: groups of a cube core with one or two vector cores as soon as both lanes are
 * needed, with two if more vector than cube cores are needed or a kernel is mix=1:2; as many groups as the greediest
 * task needs. */
void sk_launch_device_cores(const struct sk_model *model, const struct sk_launch_needs *needs,
			    uint32_t device_cores[SK_MAX_LANES]);

/* False, with an error, if the task wants more cores at once than there are. */
bool sk_sides_check(const struct sk_model *model, uint32_t task);

#endif
