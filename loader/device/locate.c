/* The call of the plan that did not return, found by its stack. A dispatcher makes each call from one place of its own,
 * in the order of the calls. So the topmost word on the stack that returns to such a place identifies the call. Above
 * that word lies the dispatcher's frame, which has the current tile of a tiled step, at a place that the loop's head
 * determines. Input: the plan, the dispatcher's code and the stack, which is unchanged since. */
#include "config.h"

#include "loader/device/device.h"

#include "format/plan/plan.h"
#include "format/skabi.h"
#include "format/skplan.h"
#include "loader/arch/machine.h"
#include "loader/core/core.h"
#include "loader/flight/flight.h"

/* A program of a launch: its code and its calls. */
struct program {
	const struct sk_plan_view *plan;
	const struct sk_plan_launch *launch;
	const uint8_t *start, *end; /* to the end of its segment */
	bool serial;
};

/* Return a launch's code with the programs of all its lanes, or its serial entry. */
static struct program program_of(const struct skrt_kernel *kernel, bool serial)
{
	const struct sk_image *image = &kernel->module->image;
	const struct sk_plan_view *plan = &kernel->module->plan;
	struct program program = {
		.plan = plan,
		.launch = &plan->launches[kernel->launch],
		.serial = serial,
	};

	program.start = sk_plan_address(serial ? &program.launch->serial_entry : &program.launch->entry);
	for (uint32_t i = 0; i < image->segment_count; i++) {
		const struct sk_image_segment *segment = &image->segments[i];
		uint64_t within = (uintptr_t)program.start - image->bias - segment->address;

		if (within < segment->size)
			program.end = program.start + (segment->size - within);
	}
	return program;
}

/* Return the first call of kernel `number`, or its vector side, from `from` on. Other bytes look like one with a
 * probability of 2^-40. NULL: none. */
static const uint8_t *find_call(const struct program *program, uint32_t number, bool vector_side, const uint8_t *from)
{
	const struct sk_plan_kernel *record = &program->plan->kernels[number];
	const uint8_t *kernel = sk_plan_address(vector_side ? &record->vector_code : &record->code);

	for (; program->end - from >= SK_CALL_SIZE; from++)
		if (sk_call_target(from) == kernel)
			return from;
	return NULL;
}

/* The lanes' programs are one after the other, each once for each copy of the kernels; a serial entry has all steps in
 * order. */
static bool has_step(const struct program *program, const struct sk_plan_step *step, uint32_t lane)
{
	bool blocks = step->kind == SK_STEP_BLOCKS || step->kind == SK_STEP_BLOCKS_RANGE;

	if (blocks && step->blocks == 0)
		return false;
	if (program->serial)
		return step->kind != SK_STEP_SPLIT || step->extent != 0;
	return step->lane == lane;
}

/* Move *at past the next place from which the program makes the call; false: there is none before the address. */
static bool pass_call(const struct program *program, const struct sk_plan_step *step, const struct sk_plan_call *call,
		      uint32_t copy, const uint8_t **at, const uint8_t *address)
{
	uint32_t first_copy = program->plan->kernels[call->kernel].first_copy;
	uint32_t kernel = copy ? first_copy + copy - 1 : call->kernel;

	*at = find_call(program, kernel, step->flags & SK_STEP_VECTOR_SIDE, *at);
	if (!*at || *at + SK_CALL_SIZE > address)
		*at = NULL;
	else
		*at += SK_CALL_SIZE;
	return *at;
}

/* Return the call of one program that returns to the address; SK_NO_INDEX: none. *at moves from the program's start to
 * its end. It becomes NULL if the address is also not in any later program. */
static uint32_t call_of_program(const struct program *program, uint32_t lane, uint32_t copy, const uint8_t **at,
				const uint8_t *address)
{
	for (uint32_t i = 0; i < sk_plan_form(program->launch)->step_count; i++) {
		const struct sk_plan_step *step = &program->plan->steps[program->launch->first_step + i];
		struct sk_plan_calls calls = sk_plan_step_calls(program->plan, step);

		if (!has_step(program, step, lane))
			continue;
		for (const struct sk_plan_call *call = calls.first; call < calls.end; call++) {
			if (!pass_call(program, step, call, copy, at, address))
				return SK_NO_INDEX;
			if (*at == address)
				return (uint32_t)(call - program->plan->calls);
		}
	}
	return SK_NO_INDEX;
}

/* Return the call that returns to the address; SK_NO_INDEX: none. */
static uint32_t call_that_returns_to(const struct program *program, const uint8_t *address)
{
	uint32_t copies =
		program->serial || !sk_plan_form(program->launch)->copies ? 1 : sk_plan_form(program->launch)->copies;
	uint32_t lanes = program->serial ? 1 : program->plan->lane_count, call = SK_NO_INDEX;
	const uint8_t *at = program->start;

	for (uint32_t i = 0; i < lanes * copies && at && call == SK_NO_INDEX; i++)
		call = call_of_program(program, i / copies, i % copies, &at, address);
	return call;
}

/* Return whether there is a call of one of the plan's kernels directly before the address. */
static bool is_behind_call(const struct program *program, const uint8_t *address)
{
	const uint8_t *target;

	if (address < program->start + SK_CALL_SIZE || address > program->end)
		return false;
	target = sk_call_target(address - SK_CALL_SIZE);
	if (!target)
		return false;
	for (uint32_t i = 0; i < program->plan->kernel_count; i++)
		if (target == sk_plan_address(&program->plan->kernels[i].code) ||
		    target == sk_plan_address(&program->plan->kernels[i].vector_code))
			return true;
	return false;
}

/* Return the step of the launch that has the call. */
static const struct sk_plan_step *step_of(const struct program *program, uint32_t call)
{
	const struct sk_plan_step *step = &program->plan->steps[program->launch->first_step];

	while (call - step->first_call >= step->call_count)
		step++;
	return step;
}

/* Return the tile of the call of the plan that returns to the address at the word. A kernel may have overwritten the
 * frame, so the result is checked against the step's tiles. */
__attribute__((no_sanitize_address)) /* frames that never returned are poisoned */
static struct sk_core_range
tile_of(const struct program *program, uint32_t planned, const struct sk_call *call, const uintptr_t *word)
{
	const struct sk_plan_step *step = step_of(program, planned);
	uint64_t scale = program->plan->calls[planned].scale;
	const uint8_t *end = (const uint8_t *)*word, *head = end;
	const char *frame = (const char *)(word + 1);
	const struct sk_core_range *tile;
	int32_t place = -1;

	while (step->tile && place < 0 && head-- > program->start)
		place = sk_tile_place(head, end, step->tile);
	tile = (const struct sk_core_range *)(const void *)(frame + place);
	if (place < 0 || !sk_fibre_holds(&call->fibre, (const char *)(tile + 1) - 1))
		return (struct sk_core_range){0, 0};
	if (tile->low >= tile->high || tile->high > step->extent || tile->high - tile->low > step->tile)
		return (struct sk_core_range){0, 0};
	return (struct sk_core_range){tile->low * scale, tile->high * scale};
}

__attribute__((no_sanitize_address)) /* frames that never returned are poisoned */
struct sk_located
sk_locate(const struct skrt_kernel *kernel, bool serial, const struct sk_call *call)
{
	struct program program = program_of(kernel, serial);
	struct sk_plan_calls planned = sk_plan_launch_calls(program.plan, program.launch);
	const uintptr_t *word = (const uintptr_t *)(const void *)(call->fibre.stack + call->fibre.size);
	struct sk_located located = {.call = SK_NO_INDEX};

	while (!kernel->thunk && sk_fibre_holds(&call->fibre, --word) && (const void *)word >= call->fault.sp) {
		if (!is_behind_call(&program, (const uint8_t *)*word))
			continue;
		located.call = call_that_returns_to(&program, (const uint8_t *)*word);
		if (located.call == SK_NO_INDEX)
			continue;
		located.tile = tile_of(&program, located.call, call, word);
		return located;
	}
	/* A thunk is for one task and one kernel; the two sides of a mix kernel are two calls. */
	if (planned.end - planned.first == 1 || kernel->thunk)
		located.call = (uint32_t)(planned.first - program.plan->calls);
	return located;
}
