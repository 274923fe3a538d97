/* Prepared kernels: from a launch of the plan to the data that it needs to run. Its record is checked when the launch
 * is first requested, and its steps when they are first read. The tables for its dispatcher, the range of every
 * partition and the home of every stream for each of its cores, are made when the launch is started. Their size is the
 * number of cores times the number of partitions, and a program that only inspects a package, possibly an untrusted
 * one, should not pay for that. */
#include "config.h"

#include "loader/flight/flight.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "format/plan/plan.h"
#include "format/plan/ranks.h"
#include "format/skabi.h"
#include "format/skplan.h"
#include "loader/base/status.h"
#include "loader/image/image.h"
#include "loader/skrt.h"

void sk_kernel_free(struct skrt_kernel *kernel)
{
	free(kernel->ranges);
	for (uint32_t i = 0; i < SK_MOST_FLIGHTS; i++)
		free(kernel->homes[i]);
	free(kernel->blocks);
	free(kernel->first_blocks);
	free(kernel);
}

/* ---- its tables ---- */

struct sk_core_range sk_core_range_of(const struct sk_plan_partition *partition, uint32_t core, uint32_t count)
{
	uint64_t part = sk_plan_part_of(partition->first_core, core, count);

	return (struct sk_core_range){
		.low = sk_plan_part_start(partition, part, count),
		.high = sk_plan_part_start(partition, part + 1, count),
	};
}

static void fill_ranges(struct skrt_kernel *kernel, const struct sk_plan_partition *partitions, uint32_t lanes)
{
	struct sk_core_range *range = kernel->ranges;

	for (uint32_t lane = 0; lane < lanes; lane++) {
		uint32_t cores = kernel->cores[lane];

		for (uint32_t core = 0; core < cores; core++)
			for (uint32_t i = 0; i < kernel->partition_count; i++)
				*range++ = sk_core_range_of(&partitions[i], core, cores);
	}
}

/* Return the number of rows in each of the kernel's tables. */
static size_t row_count(const struct skrt_kernel *kernel)
{
	return sk_core_row(kernel->cores, kernel->module->plan.lane_count, 0);
}

static bool make_ranges(struct skrt_kernel *kernel)
{
	const struct sk_plan_view *plan = &kernel->module->plan;

	kernel->ranges = calloc(row_count(kernel) * kernel->partition_count + 1, sizeof(*kernel->ranges));
	/* The place of a launch's partitions has been checked only if it has any. */
	if (kernel->ranges && kernel->partition_count)
		fill_ranges(kernel, plan->partitions + plan->launches[kernel->launch].first_partition,
			    plan->lane_count);
	return kernel->ranges != NULL;
}

static void fill_homes(const struct skrt_kernel *kernel, const struct sk_flight *flight, struct sk_home *home)
{
	const struct sk_plan_view *plan = &kernel->module->plan;
	const struct sk_plan_home *homes = plan->homes + plan->launches[kernel->launch].first_home;
	uint32_t lanes = plan->lane_count;

	for (uint32_t lane = 0; lane < lanes; lane++)
		for (uint32_t core = 0; core < kernel->cores[lane]; core++)
			for (uint32_t i = 0; i < kernel->home_count; i++) {
				uint32_t index = homes[i].stream % kernel->cores[homes[i].lane];
				const char *words = (const char *)flight->lanes[homes[i].lane].words;

				*home++ = (struct sk_home){
					.word = (const uint64_t *)(words + (size_t)index * SK_PROGRESS_STRIDE),
					.mine = homes[i].lane == lane && index == core,
				};
			}
}

const struct sk_home *sk_kernel_tables(const struct skrt_kernel *kernel, const struct sk_flight *flight)
{
	/* The module's own pointer to the kernel is not const. */
	struct skrt_kernel *own = sk_module_prepared(kernel->module, kernel->launch);
	struct sk_home **homes = &own->homes[flight->place];

	if ((!own->ranges && !make_ranges(own)) || !sk_block_prepare(own))
		return NULL;
	if (*homes)
		return *homes;
	*homes = calloc(row_count(own) * own->home_count + 1, sizeof(**homes));
	/* The place of a launch's homes has been checked only if it has any. */
	if (*homes && own->home_count)
		fill_homes(own, flight, *homes);
	return *homes;
}

/* ---- preparing it ---- */

static enum skrt_status report_damage(const struct skrt_module *module, const char *reason)
{
	return sk_fail(SKRT_BAD_PACKAGE, "%s: %s", module->path, reason);
}

/* Return whether the step begins at another core than the first. */
static bool begins_elsewhere(const struct sk_plan_view *plan, const struct sk_plan_launch *launch,
			     const struct sk_plan_step *step)
{
	uint32_t partition = step->partition - launch->first_partition;

	if (step->kind == SK_STEP_BLOCKS)
		return step->first_core != 0;
	return partition < sk_plan_form(launch)->partition_count && plan->partitions[step->partition].first_core != 0;
}

/* Return the number of the lane's cores that the launch can keep busy, at most `cores`; others would have no part in
 * any step. The steps need not have been checked: any number of cores is safe. */
static uint32_t busy_cores(const struct sk_plan_view *plan, const struct sk_plan_launch *launch, uint32_t lane,
			   uint32_t cores)
{
	uint32_t busy = 1, only = SK_NO_INDEX;

	for (uint32_t i = launch->first_step; i < launch->first_step + sk_plan_form(launch)->step_count && busy < cores;
	     i++) {
		const struct sk_plan_step *step = &plan->steps[i];
		uint32_t home = step->core_set - launch->first_home, wanted = cores;

		if (step->lane != lane)
			continue;
		if ((step->kind == SK_STEP_BLOCKS || step->kind == SK_STEP_BLOCKS_RANGE) &&
		    !begins_elsewhere(plan, launch, step))
			wanted = step->blocks;
		/* One home can be any core. With several homes no core is dropped, so that they are on as many cores as
		 * possible. */
		if (step->kind == SK_STEP_PLAIN && home < sk_plan_form(launch)->home_count)
			wanted = only == SK_NO_INDEX || only == home ? 1 : cores;
		if (step->kind == SK_STEP_PLAIN)
			only = home;
		if (wanted > busy)
			busy = wanted;
	}
	return busy < cores ? busy : cores;
}

static void choose_cores(struct skrt_kernel *kernel, const struct sk_plan_launch *launch)
{
	const struct sk_plan_view *plan = &kernel->module->plan;

	for (uint32_t lane = 0; lane < SK_MAX_LANES; lane++) {
		uint32_t cores = kernel->module->usual_cores[lane], wanted = sk_plan_form(launch)->lane_cores[lane];

		if (wanted && wanted < cores)
			cores = wanted;
		if (!sk_plan_is_resident(launch))
			cores = busy_cores(plan, launch, lane, cores);
		if (cores < sk_plan_form(launch)->resident_cores[lane])
			cores = sk_plan_form(launch)->resident_cores[lane];
		kernel->cores[lane] = cores;
	}
}

static bool is_code(const struct skrt_module *module, const int32_t *reference)
{
	return sk_image_holds(&module->image, sk_plan_address(reference), 1, PROT_EXEC);
}

/* Check names, tasks and kernels, before they are read. Under the module's lock. */
static bool check_all_records(struct skrt_module *module, char *error, size_t error_size)
{
	if (!module->records_checked)
		module->records_checked = sk_plan_check_records(&module->plan, error, error_size) &&
					  sk_plan_check_networks(&module->plan, error, error_size);
	return module->records_checked;
}

/* Check the launch's steps and the arguments of its calls. Under the module's lock. */
static bool check_steps(struct skrt_module *module, uint32_t launch, char *error, size_t error_size)
{
	return sk_plan_make_room(&module->plan, error, error_size) &&
	       sk_plan_check_launch(&module->plan, launch, error, error_size);
}

/* Check that the code that a thunk calls, or passes to kernels by name, lies in the package. */
static enum skrt_status check_call(const struct skrt_module *module, const struct sk_plan_call *call)
{
	const struct sk_plan_view *plan = &module->plan;
	const struct sk_plan_kernel *kernel = &plan->kernels[call->kernel];
	const struct sk_plan_argument *arguments = sk_plan_arguments(plan, call);

	if (!is_code(module, &kernel->code) || (kernel->vector_code && !is_code(module, &kernel->vector_code)))
		return sk_fail(SKRT_BAD_PACKAGE, "%s: kernel %s does not lie in text", module->path,
			       sk_plan_string(&kernel->name));
	for (uint32_t i = 0; i < call->argument_count; i++) {
		const struct sk_plan_symbol *symbol =
			arguments[i].kind == SK_ARGUMENT_SYMBOL ? &plan->symbols[arguments[i].index] : NULL;

		if (symbol && !sk_image_holds(&module->image, sk_plan_address(&symbol->address), 1, PROT_READ))
			return sk_fail(SKRT_BAD_PACKAGE, "%s: symbol %s does not lie in the package", module->path,
				       sk_plan_string(&symbol->name));
	}
	return SKRT_OK;
}

static enum skrt_status check_calls(const struct skrt_module *module, const struct sk_plan_launch *launch)
{
	struct sk_plan_calls calls = sk_plan_launch_calls(&module->plan, launch);
	enum skrt_status status = SKRT_OK;

	for (const struct sk_plan_call *call = calls.first; call < calls.end && !status; call++)
		status = check_call(module, call);
	return status;
}

/* Check the launch's record. Also check its steps, if its blocks use services of the runtime or its thunk reads words
 * that the runtime makes from them. */
static enum skrt_status check_launch(struct skrt_module *module, uint32_t index)
{
	const struct sk_plan_launch *launch = &module->plan.launches[index];
	char error[SK_ERROR_SIZE - 128];

	if (!sk_plan_check_record(&module->plan, index, error, sizeof(error)))
		return report_damage(module, error);
	if (!is_code(module, &launch->entry) || (launch->serial_entry && !is_code(module, &launch->serial_entry)))
		return sk_fail(SKRT_BAD_PACKAGE, "%s: launch %" PRIu32 " (%s): its entry does not lie in text",
			       module->path, index, sk_plan_string(&launch->name));
	if (!sk_plan_calls_runtime(launch) && !sk_plan_has_thunk(launch))
		return SKRT_OK;
	if (!check_all_records(module, error, sizeof(error)) || !check_steps(module, index, error, sizeof(error)))
		return report_damage(module, error);
	return sk_plan_has_thunk(launch) ? check_calls(module, launch) : SKRT_OK;
}

/* Return whether the launch exchanges bytes with other ranks. Such launches are resident, so their steps have been
 * checked. */
static bool has_exchange(const struct skrt_module *module, const struct sk_plan_launch *launch)
{
	struct sk_plan_calls calls = {NULL, NULL};

	if (module->ranks.rank_count > 1 && sk_plan_is_resident(launch))
		calls = sk_plan_launch_calls(&module->plan, launch);
	for (const struct sk_plan_call *call = calls.first; call < calls.end; call++)
		if (sk_ranks_find(&module->ranks, call->task))
			return true;
	return false;
}

/* Make a kernel, without its tables, for a launch that has been checked. NULL: no memory. */
static struct skrt_kernel *make_kernel(struct skrt_module *module, uint32_t index)
{
	const struct sk_plan_view *plan = &module->plan;
	const struct sk_plan_launch *launch = &plan->launches[index];
	struct skrt_kernel *kernel = calloc(1, sizeof(*kernel));

	if (!kernel)
		return NULL;
	*kernel = (struct skrt_kernel){
		.module = module,
		.launch = index,
		.name = sk_plan_string(&launch->name),
		.network = sk_plan_string(&sk_plan_form(launch)->network),
		.entry = (int (*)(struct sk_core *))(uintptr_t)sk_plan_address(&launch->entry),
		.serial_entry = (int (*)(void *const *, void *))(uintptr_t)sk_plan_address(&launch->serial_entry),
		.thunk = sk_plan_has_thunk(launch),
		.exchanges = has_exchange(module, launch),
		.serial = launch->serial_entry || (sk_plan_has_thunk(launch) && !sk_plan_calls_runtime(launch)),
		.unshared = sk_plan_form(launch)->kind == SK_LAUNCH_TASK,
		.partition_count = sk_plan_form(launch)->partition_count,
		.home_count = sk_plan_form(launch)->home_count,
	};
	choose_cores(kernel, launch);
	memcpy(kernel->lane_steps, sk_plan_form(launch)->lane_steps, sizeof(kernel->lane_steps));
	return kernel;
}

/* Return the place of the launch's kernel in the module. NULL: no memory. */
static struct skrt_kernel **slot_of_launch(struct skrt_module *module, uint32_t launch)
{
	struct sk_kernel_block **block = &module->blocks[launch / SK_KERNEL_BLOCK];

	if (!*block)
		*block = calloc(1, sizeof(**block));
	return *block ? &(*block)->kernels[launch % SK_KERNEL_BLOCK] : NULL;
}

/* Under the module's lock. */
static enum skrt_status prepare_launch(struct skrt_module *module, uint32_t launch)
{
	enum skrt_status status = check_launch(module, launch);

	if (status)
		return status;
	struct skrt_kernel **place = slot_of_launch(module, launch);
	struct skrt_kernel *kernel = place ? make_kernel(module, launch) : NULL;
	if (!kernel)
		return sk_fail(SKRT_OUT_OF_MEMORY, "%s: no memory to prepare launch %s", module->path,
			       sk_plan_string(&module->plan.launches[launch].name));
	kernel->next = module->prepared;
	module->prepared = kernel;
	*place = kernel;
	return SKRT_OK;
}

enum skrt_status sk_module_prepare(struct skrt_module *module, uint32_t launch, const struct skrt_kernel **result)
{
	enum skrt_status status = SKRT_OK;

	pthread_mutex_lock(&module->lock);
	if (!sk_module_prepared(module, launch))
		status = prepare_launch(module, launch);
	if (!status)
		*result = sk_module_prepared(module, launch);
	pthread_mutex_unlock(&module->lock);
	return status;
}

enum skrt_status sk_module_prepare_network(struct skrt_module *module)
{
	const struct skrt_kernel *kernel;
	enum skrt_status status = SKRT_OK;

	if (atomic_load(&module->network_prepared))
		return SKRT_OK;
	for (uint32_t i = 0; i < module->plan.network_launch_count && !status; i++)
		status = sk_module_prepare(module, i, &kernel);
	atomic_store(&module->network_prepared, status == SKRT_OK);
	return status;
}

/* ---- checks that are made later ---- */

enum skrt_status sk_module_check_records(struct skrt_module *module)
{
	char error[SK_ERROR_SIZE - 128];

	pthread_mutex_lock(&module->lock);
	bool good = check_all_records(module, error, sizeof(error));
	pthread_mutex_unlock(&module->lock);
	return good ? SKRT_OK : report_damage(module, error);
}

static void count_time_rows(struct skrt_kernel *kernel)
{
	const struct sk_plan_view *plan = &kernel->module->plan;
	const struct sk_plan_launch *launch = &plan->launches[kernel->launch];

	for (uint32_t i = launch->first_step; i < launch->first_step + sk_plan_form(launch)->step_count; i++)
		kernel->time_rows[plan->steps[i].lane] += plan->steps[i].call_count + (plan->steps[i].tile != 0);
}

enum skrt_status sk_module_check_steps(const struct skrt_kernel *kernel)
{
	struct skrt_module *module = kernel->module;
	struct skrt_kernel *own = sk_module_prepared(module, kernel->launch);
	char error[SK_ERROR_SIZE - 128];
	enum skrt_status status = sk_module_check_records(module);

	if (status)
		return status;
	pthread_mutex_lock(&module->lock);
	if (!own->steps_checked && check_steps(module, own->launch, error, sizeof(error))) {
		own->timed = sk_plan_notes_times(&module->plan, &module->plan.launches[own->launch]);
		count_time_rows(own);
		own->steps_checked = true;
	}
	bool good = own->steps_checked;
	pthread_mutex_unlock(&module->lock);
	return good ? SKRT_OK : report_damage(module, error);
}

/* Find the hidden state of the launch's calls; its steps have been checked. */
static uint32_t find_states(const struct sk_plan_view *plan, const struct sk_plan_launch *launch)
{
	struct sk_plan_calls calls = sk_plan_launch_calls(plan, launch);
	uint32_t states = SK_STATES_KNOWN;

	for (const struct sk_plan_call *call = calls.first; call < calls.end; call++)
		for (uint32_t i = 0; i < call->argument_count; i++) {
			const struct sk_plan_argument *argument = &plan->arguments[call->first_argument + i];

			if (argument->kind == SK_ARGUMENT_STATE)
				states |= argument->flags & SK_ARGUMENT_OF_LIBRARY ? SK_STATES_LIBRARY : SK_STATES_OWN;
		}
	return states;
}

uint32_t sk_kernel_states(const struct skrt_kernel *kernel)
{
	struct skrt_kernel *own = sk_module_prepared(kernel->module, kernel->launch);
	const struct sk_plan_view *plan = &kernel->module->plan;

	if (sk_module_check_steps(kernel))
		return SK_STATES_KNOWN | SK_STATES_OWN | SK_STATES_LIBRARY;
	pthread_mutex_lock(&kernel->module->lock);
	if (!own->states)
		own->states = find_states(plan, &plan->launches[own->launch]);
	uint32_t states = own->states;
	pthread_mutex_unlock(&kernel->module->lock);
	return states;
}

void sk_kernel_title(const struct skrt_kernel *kernel, char *text, size_t size)
{
	static const char *const kinds[SK_LAUNCH_KIND_COUNT] = {"superkernel", "launch", "task entry", "launch"};

	snprintf(text, size, "%s %s", kinds[sk_plan_form(&kernel->module->plan.launches[kernel->launch])->kind],
		 kernel->name);
}

enum skrt_status skrt_kernel_describe(const struct skrt_kernel *kernel, struct skrt_kernel_info *info)
{
	if (!kernel || !info)
		return sk_fail_null(__func__);
	const struct sk_plan_launch *launch = &kernel->module->plan.launches[kernel->launch];

	const struct skrt_kernel_info own = {
		.size = sizeof(own),
		.name = kernel->name,
		.scope = sk_plan_string(&sk_plan_form(launch)->scope),
		.kind = (enum skrt_kernel_kind)sk_plan_form(launch)->kind,
		.task_count = sk_plan_form(launch)->task_count,
		.stream = sk_plan_form(launch)->stream,
		.has_serial_entry = kernel->serial,
	};
	return sk_struct_write("skrt_kernel_info", &own, sizeof(own), info);
}

_Static_assert((int)SKRT_SUPERKERNEL == SK_LAUNCH_SUPERKERNEL && (int)SKRT_TASK == SK_LAUNCH_TASK &&
		       (int)SKRT_EXCHANGE == SK_LAUNCH_EXCHANGE,
	       "kinds");
