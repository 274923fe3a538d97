/* See entries.h. */
#include "config.h"

#include "src/package/entries.h"

#include <pthread.h>
#include <string.h>

struct job {
	const struct sk_plan_view *plan;
	const char *manifest;
	bool debug, tasks;
	struct sk_arena *arena, *scratch;
	struct sk_entries *result;
};

/* Returns the number of the entry's symbol. */
static uint32_t emit(struct job *job, uint32_t launch, enum sk_entry_kind kind, const char *name)
{
	struct sk_entries *result = job->result;
	uint32_t symbol = (uint32_t)result->code.symbols.count;
	const char *reason = sk_dispatcher_emit(job->scratch, job->plan, launch, kind, name, &result->code);

	if (reason && !result->reason) {
		result->failed = name;
		result->reason = sk_arena_copy(job->arena, reason, strlen(reason));
	}
	sk_arena_reset(job->scratch);
	return symbol;
}

static void *make(void *context)
{
	struct job *job = context;
	struct sk_entries *result = job->result;

	for (uint32_t i = 0; i < job->plan->launch_count && !result->reason; i++) {
		const struct sk_plan_launch *launch = &job->plan->launches[i];
		const char *name = sk_plan_string(&launch->name);
		struct sk_entry entry = {.launch = i};

		if ((launch->kind == SK_LAUNCH_TASK) != job->tasks)
			continue;
		entry.parallel = emit(job, i, SK_ENTRY_PARALLEL, name);
		entry.serial = sk_plan_is_resident(launch)
				       ? SK_NO_INDEX
				       : emit(job, i, SK_ENTRY_SERIAL, sk_arena_join(job->arena, name, "_serial"));
		sk_array_push(job->arena, &result->entries, entry);
	}
	if (job->debug && result->entries.count && !result->reason)
		sk_debug_build(&result->debug, job->arena, job->manifest, "sklink " PACKAGE_VERSION, job->plan,
			       &result->code);
	return NULL;
}

void sk_entries_make(struct sk_arena *arena, const struct sk_plan_view *plan, const char *manifest, bool debug,
		     unsigned threads, struct sk_entries entries[SK_ENTRIES])
{
	struct job jobs[SK_ENTRIES];
	pthread_t thread;

	for (int i = 0; i < SK_ENTRIES; i++) {
		struct sk_arena *own = sk_arena_create();

		entries[i] = (struct sk_entries){.code = {.arena = own}};
		jobs[i] = (struct job){.plan = plan,
				       .manifest = manifest,
				       .debug = debug,
				       .tasks = i == SK_ENTRIES_OF_TASKS,
				       .arena = own,
				       .scratch = sk_arena_create(),
				       .result = &entries[i]};
	}

	bool started = threads > 1 && !pthread_create(&thread, NULL, make, &jobs[SK_ENTRIES_OF_TASKS]);

	make(&jobs[SK_ENTRIES_OF_SCOPES]);
	if (started)
		pthread_join(thread, NULL);
	else
		make(&jobs[SK_ENTRIES_OF_TASKS]);
	for (int i = 0; i < SK_ENTRIES; i++) {
		sk_arena_destroy(jobs[i].scratch);
		sk_arena_adopt(arena, jobs[i].arena);
		entries[i].code.arena = arena;
	}
}

uint64_t sk_entries_size(const struct sk_entries entries[SK_ENTRIES])
{
	return entries[SK_ENTRIES_OF_SCOPES].code.bytes.count + entries[SK_ENTRIES_OF_TASKS].code.bytes.count;
}
