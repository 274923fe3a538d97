/* See package.h. */
#include "config.h"

#include "src/package/package.h"

#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "format/plan/plan.h"
#include "format/skplan.h"
#include "stubs/dispatcher/dispatcher.h"

struct job {
	const struct sk_plan_view *plan;
	const struct sk_dims_view *dims;
	const char *manifest;
	bool debug, tasks;
	struct sk_arena *arena, *scratch;
	struct sk_entries *result;
	struct sk_map thunks; /* by key: numbers of the thunks' symbols */
};

/* Return the number of the entry's symbol. */
static uint32_t emit_entry(struct job *job, uint32_t launch, enum sk_entry_kind kind, const char *name)
{
	struct sk_entries *result = job->result;
	uint32_t symbol = (uint32_t)result->code.symbols.count;
	const char *reason = sk_dispatcher_emit(job->scratch, job->plan, job->dims, launch, kind, name, &result->code);

	if (reason && !result->reason) {
		result->failed = name;
		result->reason = sk_arena_copy(job->arena, reason, strlen(reason));
	}
	sk_arena_reset(job->scratch);
	return symbol;
}

/* Return the number of the thunk's symbol, which an earlier launch may have made. */
static uint32_t find_thunk(struct job *job, uint32_t launch)
{
	uint32_t symbol = (uint32_t)job->result->code.symbols.count, found;
	struct sk_thunk thunk;

	sk_thunk_make(job->scratch, job->plan, &job->plan->launches[launch], &thunk);
	found = sk_map_find(&job->thunks, thunk.key, thunk.key_size);
	if (found != SK_NONE)
		sk_arena_reset(job->scratch);
	if (found != SK_NONE)
		return found;
	sk_map_insert(&job->thunks, sk_arena_copy(job->arena, thunk.key, thunk.key_size), thunk.key_size, symbol);
	return emit_entry(job, launch, SK_ENTRY_PARALLEL,
			  sk_arena_print(job->arena, "sk_thunk.%zu", job->thunks.count - 1));
}

static struct sk_entry make_entry(struct job *job, uint32_t number)
{
	const struct sk_plan_launch *launch = &job->plan->launches[number];
	const char *name = sk_plan_string(&launch->name);
	struct sk_entry entry = {.launch = number, .serial = SK_NO_INDEX};

	if (sk_plan_has_thunk(launch)) {
		entry.parallel = find_thunk(job, number);
		return entry;
	}
	entry.parallel = emit_entry(job, number, SK_ENTRY_PARALLEL, name);
	if (!sk_plan_is_resident(launch))
		entry.serial = emit_entry(job, number, SK_ENTRY_SERIAL, sk_arena_join(job->arena, name, "_serial"));
	return entry;
}

static void make(void *context)
{
	struct job *job = context;
	struct sk_entries *result = job->result;

	for (uint32_t i = 0; i < job->plan->launch_count && !result->reason; i++) {
		const struct sk_plan_launch *launch = &job->plan->launches[i];

		if ((sk_plan_form(launch)->kind == SK_LAUNCH_TASK) != job->tasks)
			continue;
		sk_array_push(job->arena, &result->entries, make_entry(job, i));
	}
	if (job->debug && result->code.parts.count && !result->reason)
		sk_debug_build(&result->debug, job->arena, job->manifest, "sklink " PACKAGE_VERSION, job->plan,
			       &result->code);
}

void sk_entries_make(struct sk_arena *arena, const struct sk_plan_view *plan, const struct sk_dims_view *dims,
		     const char *manifest, bool debug, unsigned threads, struct sk_entries entries[SK_ENTRIES])
{
	struct job jobs[SK_ENTRIES];
	struct sk_beside beside;

	for (int i = 0; i < SK_ENTRIES; i++) {
		struct sk_arena *own = sk_arena_create();

		entries[i] = (struct sk_entries){.code = {.arena = own}};
		jobs[i] = (struct job){.plan = plan,
				       .dims = dims,
				       .manifest = manifest,
				       .debug = debug,
				       .tasks = i == SK_ENTRIES_OF_TASKS,
				       .arena = own,
				       .scratch = sk_arena_create(),
				       .result = &entries[i]};
		sk_map_init(&jobs[i].thunks, own);
	}

	sk_beside_start(&beside, threads, make, &jobs[SK_ENTRIES_OF_TASKS]);
	make(&jobs[SK_ENTRIES_OF_SCOPES]);
	sk_beside_wait(&beside);
	for (int i = 0; i < SK_ENTRIES; i++) {
		sk_arena_destroy(jobs[i].scratch);
		sk_arena_adopt(arena, jobs[i].arena);
		entries[i].code.arena = arena;
	}
}

const char *sk_entries_read(struct sk_arena *arena, const struct sk_plan_view *plan, const struct sk_dims_view *dims,
			    bool *reads)
{
	struct sk_arena *scratch = sk_arena_create();
	const char *reason = NULL;

	for (uint32_t i = 0; i < plan->launch_count && !reason; i++) {
		reason = sk_dispatcher_read(scratch, plan, dims, i, reads);
		if (reason)
			reason = sk_arena_print(arena, "launch '%s': %s", sk_plan_string(&plan->launches[i].name),
						reason);
		sk_arena_reset(scratch);
	}
	sk_arena_destroy(scratch);
	return reason;
}

uint64_t sk_entries_size(const struct sk_entries entries[SK_ENTRIES])
{
	return entries[SK_ENTRIES_OF_SCOPES].code.bytes.count + entries[SK_ENTRIES_OF_TASKS].code.bytes.count;
}
