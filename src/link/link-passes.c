/* The passes that a model goes through. The comment after each pass states the facts that it establishes. */
#include "config.h"

#include "src/link/link.h"

#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/text.h"
#include "base/timing.h"
#include "format/plan/dims.h"
#include "format/plan/plan.h"
#include "format/plan/ranks.h"
#include "linker/linker.h"
#include "src/bind/bind.h"
#include "src/command/command.h"
#include "src/model/model.h"
#include "src/package/package.h"
#include "src/planning/planning.h"
#include "src/proof/proof.h"

bool sk_link_inputs(struct sk_link *link)
{
	unsigned errors = link->diag->errors;

	if (!link->has_inputs) {
		sk_command_add_inputs(link->command, link->linker, link->timing);
		link->has_inputs = true;
		link->inputs_failed = link->diag->errors != errors;
	}
	return !link->inputs_failed;
}

bool sk_pass_inputs(struct sk_link *link)
{
	sk_timing_next(link->timing, "inputs");
	return sk_link_inputs(link);
	/* Every input is known and checked. */
}

/* Names that match no task are reported once there is a plan (src/outputs/outputs.c). */
static void mark_explained(const struct sk_link *link)
{
	struct sk_model *model = link->model;

	for (size_t i = 0; i < link->command->explained.count; i++) {
		const char *name = link->command->explained.items[i];
		uint32_t task = sk_map_find(&model->task_names, name, strlen(name));

		if (task != SK_NONE)
			model->tasks.items[task].told.explained = true;
	}
}

/* For every kernel, even one that only idle tasks call, the plan has the addresses of its functions and of symbols
 * passed to it. */
static void collect_ahead(struct sk_link *link)
{
	const struct sk_model *model = link->model;
	SK_ARRAY(sk_symbol) functions = {0};
	sk_symbol root;

	for (size_t k = 0; k < model->kernels.count; k++)
		for (uint32_t i = 0; (root = sk_kernel_root(model, &model->kernels.items[k], i)) != SK_NONE; i++)
			sk_array_push(link->arena, &functions, root);
	sk_linker_collect_ahead(link->linker, functions.items, functions.count);
}

bool sk_pass_bind(struct sk_link *link)
{
	struct sk_linker *linker = link->linker;
	struct sk_model *model = link->model;

	mark_explained(link);
	sk_model_order_exchanges(model);

	sk_timing_next(link->timing, "kernels");
	if (!sk_kernels_find(model, linker))
		return false;
	/* Every task has a kernel with a signature and an address to call. Beyond this point no input is added. */

	if (!sk_command_check_outputs(link->command, link->diag, linker))
		return false;
	/* The output does not replace any file that was read. */

	if (!model->samples.count)
		collect_ahead(link);
	else
		sk_linker_wait_ahead(linker); /* a child process may compute constants of samples */
	/* Symbols reachable from kernels are being collected. The linker must not change until the dispatchers are
	 * made. */

	sk_timing_next(link->timing, "bind");
	if (!sk_model_bind(model) || !sk_model_assign_roles(model))
		return false;
	/* Every tensor is an input, an output, a constant or a temporary. */

	if (!sk_model_lift(model))
		return false;
	/* Every number that depends on sizes has a form. */

	if (model->samples.count)
		collect_ahead(link);
	/* Reading the samples of a model can have used the linker. */

	return sk_model_leave_out_idle(model);
	/* Every task computes something. Every argument is a tensor's bytes or a scalar, checked against the signature.
	 * Beyond this point the model does not change. */
}

/* Thunks have no numbers that depend on sizes. */
static enum sk_task_entries task_entries(const struct sk_command_line *command, const struct sk_model *model)
{
	if (command->no_task_entries)
		return SK_TASKS_WITHOUT;
	return command->task_entries || model->has_bounds ? SK_TASKS_BY_ENTRIES : SK_TASKS_BY_THUNKS;
}

/* ---- the account, made in parallel with the plan from the same data ---- */

struct accounting {
	struct sk_link *link;
	struct sk_arena *arena; /* a separate arena, since the plan is written into the model's */
	const struct sk_fusion *fusion;
	const struct sk_schedule *schedule;
	uint64_t start, end; /* sk_timing_now */
	struct sk_beside beside;
};

static void account(void *context)
{
	struct accounting *accounting = context;
	struct sk_link *link = accounting->link;

	accounting->start = sk_timing_now();
	link->account =
		sk_account_build(accounting->arena, link->model, accounting->fusion, accounting->schedule->groups);
	sk_account_pack(accounting->arena, &link->account, &link->packed_account, &link->packed_account_size);
	accounting->end = sk_timing_now();
}

static void start_account(struct sk_link *link, const struct sk_fusion *fusion, const struct sk_schedule *schedule,
			  struct accounting *accounting)
{
	*accounting =
		(struct accounting){.link = link, .arena = sk_arena_create(), .fusion = fusion, .schedule = schedule};
	sk_beside_start(&accounting->beside, link->command->threads, account, accounting);
}

static void finish_account(struct accounting *accounting)
{
	struct sk_link *link = accounting->link;

	sk_beside_wait(&accounting->beside);
	sk_arena_adopt(link->arena, accounting->arena);
	if (link->command->threads > 1)
		sk_timing_add_beside(link->timing, "account", accounting->start, accounting->end);
}

/* Let later allocations for the model use this arena, and return the previous one. */
static struct sk_arena *exchange_arena(struct sk_model *model, struct sk_arena *arena)
{
	struct sk_arena *before = model->arena;

	model->arena = arena;
	return before;
}

static bool open_sizes(struct sk_link *link, char *error, size_t error_size)
{
	sk_dims_close(&link->dims);
	return !link->image.sizes ||
	       sk_dims_open(link->image.sizes, link->image.sizes_size, &link->plan, &link->dims, error, error_size);
}

/* Give slots to the sizes that code reads. */
static bool add_slots(struct sk_link *link)
{
	const struct sk_dims_view *dims = &link->dims;
	bool *reads = SK_NEW_ARRAY(link->arena, bool, dims->value_count + (size_t)1);
	char error[256];
	const char *reason;

	if (!dims->dims)
		return true;
	reason = sk_entries_read(link->arena, &link->plan, dims, reads);
	if (!reason) {
		sk_plan_add_slots(link->arena, reads, dims->value_count, &link->image);
		reason = open_sizes(link, error, sizeof(error)) ? NULL : error;
	}
	if (reason)
		sk_error(link->diag, (struct sk_place){.file = link->command->manifest}, "cannot make the code: %s",
			 reason);
	return !reason;
}

/* The plan outlives the data it is made from. */
static bool write_plan(struct sk_link *link, const struct sk_fusion *fusion, const struct sk_schedule *schedule,
		       const struct sk_memory *memory)
{
	struct sk_arena *planned = exchange_arena(link->model, link->arena);
	bool written = sk_plan_write(link->model, fusion, schedule, memory, sk_linker_machine(link->linker),
				     task_entries(link->command, link->model), &link->image);
	char error[256];

	exchange_arena(link->model, planned);
	if (!written)
		return false;
	if (sk_plan_open(link->image.bytes, link->image.size, &link->plan, error, sizeof(error)) &&
	    open_sizes(link, error, sizeof(error)) &&
	    (!link->image.ranks ||
	     sk_ranks_open(link->image.ranks, link->image.ranks_size, &link->ranks, error, sizeof(error))))
		return true;
	sk_error(link->diag, (struct sk_place){.file = link->command->manifest}, "internal error: %s", error);
	return false;
}

static bool make_plan(struct sk_link *link)
{
	struct sk_model *model = link->model;
	struct sk_fusion *fusion;
	struct sk_schedule *schedule;
	struct sk_memory *memory;
	struct accounting accounting;
	bool written;

	sk_timing_next(link->timing, "fusion");
	if (!(fusion = sk_fusion_build(model)))
		return false;
	link->fusion_steps = fusion->steps;
	/* Every task belongs to one launch, with a reason. */

	sk_timing_next(link->timing, "schedule");
	if (!(schedule = sk_schedule_build(model, fusion)))
		return false;
	/* Every step has its core set and exactly the awaits it needs. */

	sk_timing_next(link->timing, "memory");
	if (!(memory = sk_memory_plan(model, fusion, schedule)))
		return false;
	link->memory_steps = memory->steps;
	/* Every temporary has bytes in the workspace. */

	sk_timing_next(link->timing, "plan");
	start_account(link, fusion, schedule, &accounting);
	written = write_plan(link, fusion, schedule, memory);
	finish_account(&accounting);
	if (!written)
		return false;
	/* The plan and the account record each task's launch, tile group and reasons. */

	if (link->command->report)
		link->without_groups = sk_plan_without_groups(model, fusion);
	return true;
}

/* Planning uses an arena that the model has for this pass only; the plan and the account outlive it. */
bool sk_pass_plan(struct sk_link *link)
{
	struct sk_arena *arena = exchange_arena(link->model, sk_arena_create());
	const bool made = make_plan(link);

	sk_arena_destroy(exchange_arena(link->model, arena));
	return made;
}

/* ---- the proof, in parallel with work that does not depend on it ---- */

struct proof {
	struct sk_link *link;
	struct sk_arena *arena;
	struct sk_diag *diag;
	bool holds;
	uint64_t start, end; /* sk_timing_now */
	/* State of the thread that goes on while another one proves: */
	struct sk_beside beside;
	struct sk_diag before; /* the link's sink at the start of the proof */
	struct sk_diag said; /* the proving thread's own sink */
	struct sk_text lines; /* text that is printed only if the proof succeeds */
};

static void prove(void *context)
{
	struct proof *proof = context;
	struct sk_link *link = proof->link;
	const char *manifest = link->command->manifest;
	struct sk_facts *facts = link->wants_facts ? &link->facts : NULL;

	proof->start = sk_timing_now();
	proof->holds =
		sk_exchange_check(proof->arena, proof->diag, &link->plan, &link->ranks, manifest) &&
		sk_verify_counting(proof->arena, proof->diag, &link->plan, manifest, link->account.orders,
				   link->account.order_count, facts, &link->proof_steps) &&
		sk_consistency_check(proof->arena, proof->diag, &link->plan, manifest, &link->account) &&
		(!link->dims.dims || sk_verify_sizes(proof->arena, proof->diag, &link->plan, &link->dims, manifest));
	proof->end = sk_timing_now();
}

/* Free the proof's memory, except for facts and data that messages refer to. */
static void end_proof(struct proof *proof)
{
	if (proof->link->facts.items.count || !proof->holds)
		sk_arena_adopt(proof->link->arena, proof->arena);
	else
		sk_arena_destroy(proof->arena);
}

/* Prove in this thread: either the only one, or the one with the messages that count. */
static bool prove_now(struct sk_link *link)
{
	struct proof proof = {.link = link, .arena = sk_arena_create(), .diag = link->diag};

	link->facts = (struct sk_facts){0};
	prove(&proof);
	end_proof(&proof);
	return proof.holds;
}

static void start_proof(struct sk_link *link, struct proof *proof)
{
	*proof = (struct proof){.link = link, .arena = sk_arena_create(), .diag = &proof->said, .before = *link->diag};
	sk_diag_init(&proof->said, proof->arena);
	sk_text_open(&proof->lines);
	link->lines = proof->lines.stream;
	sk_beside_start(&proof->beside, link->command->threads, prove, proof);
}

/* If the proof fails, withdraw all messages since its start and repeat it to report the errors. The messages are then
 * those of a single thread that proves first. */
static bool finish_proof(struct sk_link *link, struct proof *proof)
{
	sk_timing_begin(link->timing, "wait for the proof", NULL);
	sk_beside_wait(&proof->beside);
	sk_timing_end(link->timing);
	sk_timing_add_beside(link->timing, "proof", proof->start, proof->end);
	sk_text_close(link->arena, &proof->lines);
	link->lines = stdout;
	end_proof(proof);
	if (proof->holds) {
		fputs(proof->lines.bytes, stdout);
		return true;
	}
	sk_diag_take_back(link->diag, &proof->before);
	return prove_now(link);
}

static bool make_sections(struct sk_link *link)
{
	const struct sk_package_input input = {.model = link->model,
					       .account = link->packed_account,
					       .account_size = link->packed_account_size,
					       .image = &link->image,
					       .plan = &link->plan,
					       .dims = link->dims.dims ? &link->dims : NULL,
					       .name = link->model->package,
					       .relocatable = link->command->relocatable,
					       .debug = !sk_command_strip_option(link->command),
					       .threads = link->command->threads,
					       .weights = link->command->weights};

	sk_timing_next(link->timing, "dispatchers");
	sk_linker_wait_collected(link->linker);
	return sk_package_build(&input, link->linker, &link->parts);
}

/* Make all parts of the package except the references in the plan. */
static bool make_parts(struct sk_link *link)
{
	if (!make_sections(link))
		return false;
	/* Dispatchers, plan and constants are sections of the link. */

	sk_timing_next(link->timing, "link");
	if (!sk_linker_choose(link->linker))
		return false;
	/* The contents of the image are known, and known to be possible. */

	return sk_linker_make(link->linker);
	/* The image is complete except for the addresses in the plan. */
}

static bool prove_and_make(struct sk_link *link)
{
	unsigned threads = link->command->threads;
	struct proof proof;
	bool made;

	/* Checking the plan also expands the arguments of its calls; after that two threads may read it. */
	sk_timing_next(link->timing, "verify");
	if (!sk_plan_check_in_threads(link->diag, &link->plan, link->command->manifest, threads) || !add_slots(link))
		return false;
	if (threads < 2)
		return prove_now(link) && make_parts(link);
	start_proof(link, &proof);
	made = make_parts(link);
	return finish_proof(link, &proof) && made;
}

bool sk_pass_link(struct sk_link *link)
{
	const struct sk_command_line *command = link->command;

	if (!prove_and_make(link))
		return false;
	/* Every conflicting pair of accesses is ordered, for every number of cores, and so are the orders that the
	 * manifest wants. */

	if (!sk_linker_finish(link->linker) || link->diag->errors) /* warnings treated as errors do not stop a pass */
		return false;
	/* The file's parts are complete. */

	return command->relocatable ||
	       sk_seal_write(link->arena, link->diag, link->linker, &link->parts, command->private_key);
	/* A package is sealed. */
}
