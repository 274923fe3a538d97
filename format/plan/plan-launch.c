/* The plan's reader, second half: the records of one launch, as format/skplan.h defines them. In: a view that
 * sk_plan_open has filled. Out: the launch's tables can be used in place. */
#include "format/plan/plan-checker.h"

#include <inttypes.h>
#include <string.h>

#include "format/plan/plan.h"
#include "format/skplan.h"

/* ---- division ---- */

struct sk_units sk_plan_units(const struct sk_plan_view *view, const struct sk_plan_step *step,
			      const struct sk_plan_call *call, const struct sk_plan_argument *argument)
{
	const struct sk_plan_pattern *pattern = sk_plan_pattern(view, argument);

	if (!sk_plan_divides(step) || argument->element_bytes == 0 || (pattern && pattern->halo))
		return (struct sk_units){0, 0};
	if (step->kind == SK_STEP_SPLIT) {
		uint64_t unit = view->partitions[step->partition].unit;

		return (struct sk_units){(step->extent - 1) / unit + 1, unit * call->scale * argument->element_bytes};
	}
	if (step->extent % step->blocks)
		return (struct sk_units){step->blocks, 0};
	return (struct sk_units){step->blocks, step->extent / step->blocks * argument->element_bytes};
}

/* Return floor(a * b / divisor); the product needs more than 64 bits. */
static uint64_t portion(uint64_t a, uint64_t b, uint64_t divisor)
{
	return (uint64_t)((unsigned __int128)a * b / divisor);
}

uint64_t sk_plan_part_start(const struct sk_plan_partition *partition, uint64_t part, uint64_t count)
{
	uint64_t units = partition->extent / partition->unit + (partition->extent % partition->unit != 0);

	if (partition->blocks) {
		uint64_t row = portion(portion(part, partition->blocks, count), partition->rows, partition->blocks);

		return row * (partition->extent / partition->rows);
	}
	unsigned __int128 elements = (unsigned __int128)portion(part, units, count) * partition->unit;

	return elements < partition->extent ? (uint64_t)elements : partition->extent;
}

/* ---- preloading ---- */

bool sk_plan_preloads(const struct sk_plan_step *step, const struct sk_plan_step *next)
{
	return step->core_set == SK_ALL_CORES || step->core_set == next->core_set;
}

uint64_t sk_plan_preload_bytes(uint32_t preload, uint64_t code_size)
{
	uint64_t most = preload == SK_PRELOAD_MAX	 ? SK_PRELOAD_MAX_LINES
			: preload == SK_PRELOAD_FUNCTION ? SK_PRELOAD_FUNCTION_LINES
							 : 0;
	uint64_t lines = code_size / SK_PRELOAD_LINE + (code_size % SK_PRELOAD_LINE != 0);

	if (lines == 0) /* the length is unknown; it has a start */
		lines = 1;
	return SK_PRELOAD_LINE * (lines < most ? lines : most);
}

/* ---- steps ---- */

static bool within_slice(uint32_t index, uint32_t first, uint32_t count)
{
	return index >= first && index - first < count;
}

/* The fields about the distribution of the step over its cores. */
static bool check_spread(const struct sk_plan_checker *checker, const struct sk_plan_launch *launch,
			 const struct sk_plan_step *step)
{
	const struct sk_plan_view *view = checker->view;
	bool blocks = step->kind == SK_STEP_BLOCKS || step->kind == SK_STEP_BLOCKS_RANGE;
	const struct sk_plan_partition *partition;

	if (step->kind >= SK_STEP_KIND_COUNT)
		return sk_plan_fail(checker, "kind %u is unknown", step->kind);
	if ((step->kind == SK_STEP_PLAIN) == (step->core_set == SK_ALL_CORES))
		return sk_plan_fail(checker, "a plain step runs on a home, any other step on all cores");
	if (step->core_set != SK_ALL_CORES &&
	    (!within_slice(step->core_set, launch->first_home, sk_plan_form(launch)->home_count) ||
	     view->homes[step->core_set].lane != step->lane))
		return sk_plan_fail(checker, "home %u is not one of its lane in its launch", step->core_set);
	if (blocks != (step->blocks != 0))
		return sk_plan_fail(checker, "%u blocks do not fit its kind", step->blocks);
	if (sk_plan_divides(step) ? step->extent == 0 && !view->copy : step->extent != 0)
		return sk_plan_fail(checker, "extent %" PRIu64 " does not fit its kind", step->extent);
	if (!sk_plan_divides(step))
		return step->partition == SK_NO_INDEX || sk_plan_fail(checker, "it has a partition but no extent");
	if (!within_slice(step->partition, launch->first_partition, sk_plan_form(launch)->partition_count))
		return sk_plan_fail(checker, "partition %u is not one of its launch's", step->partition);
	partition = &view->partitions[step->partition];
	if (step->kind == SK_STEP_SPLIT && partition->extent != step->extent)
		return sk_plan_fail(checker, "its partition divides %" PRIu64 " elements, not its %" PRIu64,
				    partition->extent, step->extent);
	if (step->kind == SK_STEP_BLOCKS_RANGE &&
	    (partition->extent != step->blocks || partition->unit != 1 || partition->blocks))
		return sk_plan_fail(checker, "its partition does not divide its %u blocks", step->blocks);
	return true;
}

/* Tiles are whole units, so the elements of a unit are in one tile. */
static bool check_tile(const struct sk_plan_checker *checker, const struct sk_plan_step *step)
{
	uint64_t bound;

	if (step->tile == 0)
		return true;
	if (step->kind != SK_STEP_SPLIT)
		return sk_plan_fail(checker, "a step of kind %u is not in tiles", step->kind);
	if (step->tile % checker->view->partitions[step->partition].unit)
		return sk_plan_fail(checker, "tiles of %" PRIu64 " elements are not whole units of %" PRIu64,
				    step->tile, checker->view->partitions[step->partition].unit);
	return !__builtin_add_overflow(step->extent, step->tile, &bound) ||
	       sk_plan_fail(checker, "tiles of %" PRIu64 " elements are not possible", step->tile);
}

/* Blocks that run at once. */
static bool check_resident(const struct sk_plan_checker *checker, const struct sk_plan_launch *launch,
			   const struct sk_plan_step *step)
{
	uint64_t cores = (uint64_t)step->first_core + step->blocks;
	bool side = step->flags & (SK_STEP_CUBE_SIDE | SK_STEP_VECTOR_SIDE);

	if (!(step->flags & SK_STEP_RESIDENT))
		return (!side && !(step->flags & SK_STEP_FEED) &&
			(step->first_core == 0 || step->kind == SK_STEP_BLOCKS)) ||
		       sk_plan_fail(checker, "only steps with blocks that run at once have sides, and only steps with "
					     "blocks have a first core");
	if (step->blocks == 0)
		return sk_plan_fail(checker, "it has no blocks that could run at once");
	if ((side || step->first_core) && step->kind != SK_STEP_BLOCKS)
		return sk_plan_fail(checker, "steps of kind %u have no sides and no first core", step->kind);
	return cores <= sk_plan_form(launch)->resident_cores[step->lane] ||
	       sk_plan_fail(checker, "its %u blocks from core %u on do not fit on %u cores", step->blocks,
			    step->first_core, sk_plan_form(launch)->resident_cores[step->lane]);
}

static bool same_call(const struct sk_plan_view *view, const struct sk_plan_call *one, const struct sk_plan_call *other)
{
	size_t size = one->argument_count * sizeof(struct sk_plan_argument);

	return one->task == other->task && one->argument_count == other->argument_count &&
	       (size == 0 || memcmp(sk_plan_arguments(view, one), sk_plan_arguments(view, other), size) == 0);
}

/* The steps of a mix task are adjacent, and share only the arguments. */
static bool check_sides(const struct sk_plan_checker *checker, const struct sk_plan_launch *launch, uint32_t index)
{
	const struct sk_plan_view *view = checker->view;
	const struct sk_plan_step *step = &view->steps[launch->first_step + index];
	const struct sk_plan_step *cube = index ? step - 1 : NULL;
	bool after_cube = cube && cube->flags & SK_STEP_CUBE_SIDE;

	if (step->flags & SK_STEP_CUBE_SIDE &&
	    (step->flags & SK_STEP_VECTOR_SIDE || index + 1 == sk_plan_form(launch)->step_count))
		return sk_plan_fail(checker, "the cube side has no vector side");
	if (after_cube != !!(step->flags & SK_STEP_VECTOR_SIDE))
		return sk_plan_fail(checker, after_cube ? "the cube side has no vector side"
							: "the vector side has no cube side");
	if (!after_cube)
		return true;
	if (!same_call(view, sk_plan_step_calls(view, cube).first, sk_plan_step_calls(view, step).first) ||
	    (cube->flags ^ step->flags) & SK_STEP_FEED)
		return sk_plan_fail(checker, "its sides differ in task, arguments or flags");
	if (step->blocks != cube->blocks && step->blocks != 2 * (uint64_t)cube->blocks)
		return sk_plan_fail(checker, "its sides have %u and %u blocks", cube->blocks, step->blocks);
	if (step->lane == cube->lane && step->first_core < (uint64_t)cube->first_core + cube->blocks &&
	    cube->first_core < (uint64_t)step->first_core + step->blocks)
		return sk_plan_fail(checker, "its sides are on the same cores");
	for (uint32_t i = 0; i < step->await_count; i++)
		if (view->awaits[step->first_await + i].step == launch->first_step + index - 1)
			return sk_plan_fail(checker, "its vector side awaits its cube side, which runs with it");
	return true;
}

/* A kernel that starts early is its step's only call. Loads of arguments come before it, and stores of results after
 * it. */
static bool check_early(const struct sk_plan_checker *checker, const struct sk_plan_launch *launch,
			const struct sk_plan_step *step)
{
	const struct sk_plan_view *view = checker->view;
	const struct sk_plan_call *call = sk_plan_step_calls(view, step).first;
	bool waits = step->flags & SK_STEP_EARLY_WAIT, sets = step->flags & SK_STEP_EARLY_SET;

	if (!waits && !sets)
		return true;
	if (!(sk_plan_form(launch)->flags & SK_LAUNCH_EARLY))
		return sk_plan_fail(checker, "its launch does not say that a step starts early");
	if (step->kind == SK_STEP_SPLIT || !sk_plan_has_argument(view, call, SK_ARGUMENT_BLOCK))
		return sk_plan_fail(checker, "it cannot start early without a block");
	if (waits && sk_plan_has_argument(view, call, SK_ARGUMENT_LOAD))
		return sk_plan_fail(checker, "it cannot wait by itself, since it gets a scalar from a tensor");
	if (sets && sk_plan_has_argument(view, call, SK_ARGUMENT_RESULT))
		return sk_plan_fail(checker, "it cannot publish its result before it returns");
	return true;
}

/* Its blocks decide which cores run its awaits. */
static bool check_own_awaits(const struct sk_plan_checker *checker, const struct sk_plan_launch *launch,
			     const struct sk_plan_step *step)
{
	if (!(step->flags & SK_STEP_OWN_AWAITS))
		return true;
	if (!step->blocks || step->flags & (SK_STEP_RESIDENT | SK_STEP_EARLY_WAIT))
		return sk_plan_fail(checker, "only cores with a block run its awaits, but it has no blocks that start "
					     "one after the other when the step does");
	return !(sk_plan_form(launch)->flags & SK_LAUNCH_SYNC_ALL) ||
	       sk_plan_fail(checker, "only cores with a block run its awaits, but its launch has debug-sync-all");
}

static bool check_calls_slice(const struct sk_plan_checker *checker, const struct sk_plan_launch *launch,
			      const struct sk_plan_step *step)
{
	const struct sk_plan_view *view = checker->view;
	uint64_t end = step == view->steps ? 0 : (uint64_t)step[-1].first_call + step[-1].call_count;

	if (step->call_count == 0)
		return sk_plan_fail(checker, "it has no call");
	if (step->first_call != end)
		return sk_plan_fail(checker, "its calls begin at %u, those of the step before it end at %" PRIu64,
				    step->first_call, end);
	if (step->call_count > 1 &&
	    (step->flags & SK_STEP_ONE_CALL || sk_plan_form(launch)->flags & SK_LAUNCH_SYNC_ALL))
		return sk_plan_fail(checker, "it has %u calls, but its flags or its launch's allow one",
				    step->call_count);
	return sk_plan_check_slice(checker, "calls", step->first_call, step->call_count, &end, view->call_count);
}

/* Messages name a call if there are several. */
static void enter_call(struct sk_plan_checker *checker, const struct sk_plan_step *step, uint32_t call)
{
	checker->call = step->call_count > 1 && call < step->call_count ? call : SK_NO_INDEX;
}

static bool check_call_slices(struct sk_plan_checker *checker, const struct sk_plan_launch *launch,
			      const struct sk_plan_step *step, struct sk_plan_ends *ends)
{
	const struct sk_plan_call *calls = sk_plan_step_calls(checker->view, step).first;

	for (uint32_t i = 0; i < step->call_count; i++) {
		enter_call(checker, step, i);
		if (!sk_plan_check_call_slices(checker, &calls[i], sk_plan_is_task_launch(launch), ends))
			return false;
	}
	enter_call(checker, step, step->call_count);
	return true;
}

static bool check_calls(struct sk_plan_checker *checker, const struct sk_plan_launch *launch,
			const struct sk_plan_step *step)
{
	const struct sk_plan_call *calls = sk_plan_step_calls(checker->view, step).first;

	for (uint32_t i = 0; i < step->call_count; i++) {
		enter_call(checker, step, i);
		if (!sk_plan_check_call(checker, launch, step, &calls[i]))
			return false;
	}
	enter_call(checker, step, step->call_count);
	return true;
}

static bool check_step(struct sk_plan_checker *checker, const struct sk_plan_launch *launch,
		       const struct sk_plan_step *step, struct sk_plan_ends *ends)
{
	const struct sk_plan_view *view = checker->view;

	if (step->lane >= view->lane_count)
		return sk_plan_fail(checker, "lane %u is out of range (%u lanes)", step->lane, view->lane_count);
	if (step->flags & ~SK_STEP_FLAGS)
		return sk_plan_fail(checker, "flags 0x%x are unknown", step->flags);
	if (sk_plan_form(launch)->flags & SK_LAUNCH_THUNK && (step->call_count > 1 || step->await_count || step->tile))
		return sk_plan_fail(checker, "a thunk makes one call and awaits nothing");
	return check_calls_slice(checker, launch, step) && check_call_slices(checker, launch, step, ends) &&
	       check_spread(checker, launch, step) && check_tile(checker, step) &&
	       check_resident(checker, launch, step) && check_early(checker, launch, step) &&
	       check_own_awaits(checker, launch, step) && check_calls(checker, launch, step);
}

static bool check_awaits(const struct sk_plan_checker *checker, const struct sk_plan_launch *launch,
			 const struct sk_plan_step *step)
{
	const struct sk_plan_view *view = checker->view;
	uint32_t own = (uint32_t)(step - view->steps);

	for (uint32_t i = 0; i < step->await_count; i++) {
		uint32_t awaited = view->awaits[step->first_await + i].step;

		if (awaited < launch->first_step || awaited >= own)
			return sk_plan_fail(checker,
					    "it awaits step record %u, which is not an earlier step of its launch",
					    awaited);
	}
	return true;
}

static bool check_steps(struct sk_plan_checker *checker, const struct sk_plan_launch *launch)
{
	const struct sk_plan_view *view = checker->view;
	uint32_t numbers[SK_MAX_LANES] = {0};
	struct sk_plan_ends ends = {0};
	uint64_t awaits = 0, tasks = 0;

	for (uint32_t i = 0; i < sk_plan_form(launch)->step_count; i++) {
		const struct sk_plan_step *step = &view->steps[launch->first_step + i];

		checker->step = i;
		if (!sk_plan_check_slice(checker, "awaits", step->first_await, step->await_count, &awaits,
					 view->await_count) ||
		    !check_step(checker, launch, step, &ends) || !check_awaits(checker, launch, step) ||
		    !check_sides(checker, launch, i))
			return false;
		if (step->number != ++numbers[step->lane])
			return sk_plan_fail(checker, "its number is %u, but its lane's next one is %u", step->number,
					    numbers[step->lane]);
		tasks += step->flags & SK_STEP_VECTOR_SIDE ? 0 : step->call_count;
	}
	checker->step = SK_NO_INDEX;
	if (tasks != sk_plan_form(launch)->task_count)
		return sk_plan_fail(checker, "it has %" PRIu64 " tasks instead of %u", tasks,
				    sk_plan_form(launch)->task_count);
	for (uint32_t lane = 0; lane < view->lane_count; lane++)
		if (numbers[lane] != sk_plan_form(launch)->lane_steps[lane])
			return sk_plan_fail(checker, "lane %u has %u steps instead of %u", lane, numbers[lane],
					    sk_plan_form(launch)->lane_steps[lane]);
	return true;
}

/* ---- launches ---- */

/* The scope's options. */
static bool check_options(const struct sk_plan_checker *checker, const struct sk_plan_launch *launch)
{
	uint32_t align = sk_plan_form(launch)->func_align;

	if (align > SK_MAX_FUNC_ALIGN || (align & (align - 1)))
		return sk_plan_fail(checker, "an alignment to %u bytes is not possible", align);
	if (sk_plan_form(launch)->preload >= SK_PRELOAD_COUNT)
		return sk_plan_fail(checker, "preloading of kind %u is unknown", sk_plan_form(launch)->preload);
	return sk_plan_form(launch)->copies <= SK_MAX_COPIES ||
	       sk_plan_fail(checker, "%u copies of code are too many", sk_plan_form(launch)->copies);
}

bool sk_plan_check_launch(const struct sk_plan_view *view, uint32_t launch, char *error, size_t error_size)
{
	struct sk_plan_checker checker = sk_plan_checker_at(view, error, error_size);

	if (launch >= view->launch_count)
		return sk_plan_fail(&checker, "launch %u is out of range (%u launches)", launch, view->launch_count);
	if (!sk_plan_check_record(view, launch, error, error_size))
		return false;

	const struct sk_plan_launch *record = &view->launches[launch];

	checker.record = "launch";
	checker.index = launch;
	for (uint32_t i = 0; i < sk_plan_form(record)->follow_count; i++) {
		uint32_t follow = view->follows[record->first_follow + i];

		if (follow >= launch || follow >= view->network_launch_count)
			return sk_plan_fail(&checker,
					    "it follows launch %u, which is not an earlier one of the network", follow);
	}
	return check_options(&checker, record) && check_steps(&checker, record) &&
	       sk_plan_check_launch_network(&checker, record);
}

bool sk_plan_notes_times(const struct sk_plan_view *view, const struct sk_plan_launch *launch)
{
	for (uint32_t i = 0; i < sk_plan_form(launch)->step_count; i++)
		if (!(view->steps[launch->first_step + i].flags & SK_STEP_TIMED))
			return false;
	return sk_plan_form(launch)->step_count != 0;
}

bool sk_plan_check_tables(const struct sk_plan_view *view, char *error, size_t error_size)
{
	struct sk_plan_checker checker = sk_plan_checker_at(view, error, error_size);
	uint64_t arguments = 0, awaits = 0, calls = 0;

	if (!sk_plan_check_records(view, error, error_size) || !sk_plan_check_networks(view, error, error_size))
		return false;
	/* Steps of one launch cannot share records, but steps of two launches could. */
	for (uint32_t i = 0; i < view->step_count; i++) {
		calls += view->steps[i].call_count;
		awaits += view->steps[i].await_count;
	}
	for (uint32_t i = 0; i < view->call_count; i++)
		arguments += view->calls[i].argument_count;
	if (arguments > view->argument_count || awaits > view->await_count)
		return sk_plan_fail(&checker,
				    "its steps claim %" PRIu64 " arguments and %" PRIu64 " awaits, more than there are",
				    arguments, awaits);
	return calls == view->call_count ||
	       sk_plan_fail(&checker, "its steps have %" PRIu64 " calls, but there are %u", calls, view->call_count);
}

bool sk_plan_check_all(const struct sk_plan_view *view, char *error, size_t error_size)
{
	if (!sk_plan_check_tables(view, error, error_size))
		return false;
	for (uint32_t i = 0; i < view->launch_count; i++)
		if (!sk_plan_check_launch(view, i, error, error_size))
			return false;
	return true;
}
