/* The code and data that kernels reach, and whether they may. The input is the model's kernels, and the linker that
 * knows their code. The output is, for each kernel, the symbols of which it gets the address, its hidden state, the
 * size of its code, and the instruction sets that it needs; and errors for kernels that cannot run on any core in any
 * order. */
#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "linker/linker.h"
#include "src/bind/bind.h"
#include "src/model/model.h"

struct reach {
	struct sk_model *model;
	struct sk_linker *linker;
	struct sk_map handed; /* symbol -> index in model->symbols */
	SK_ARRAY(uint32_t) leading; /* kernels that reach symbols or sections of interest */
};

/* ---- symbols that signatures take the address of ---- */

static uint32_t hand_symbol(struct reach *reach, const char *name, sk_symbol symbol)
{
	struct sk_model *model = reach->model;
	sk_symbol *key = SK_NEW(model->arena, sk_symbol);
	uint32_t next = (uint32_t)model->symbols.count;

	*key = symbol;

	uint32_t number = sk_map_insert(&reach->handed, (const char *)key, sizeof(*key), next);

	if (number == next)
		sk_array_push(model->arena, &model->symbols, (struct sk_handed_symbol){name, symbol});
	return number;
}

static void find_symbols(struct reach *reach, struct sk_kernel *kernel)
{
	struct sk_model *model = reach->model;
	const struct sk_signature *signature = kernel->signature;
	uint32_t *symbols;

	if (!signature->symbol_count)
		return;
	symbols = SK_NEW_ARRAY(model->arena, uint32_t, signature->symbol_count);
	for (uint32_t i = 0; i < signature->symbol_count; i++) {
		const char *reason, *name = signature->symbols[i];
		sk_symbol symbol = sk_linker_find_address(reach->linker, kernel->code, name, &reason);

		if (reason)
			sk_error(model->diag, kernel->place,
				 "kernel '%s': its signature passes the address of '%s': %s", kernel->name, name,
				 reason);
		if (symbol != SK_NONE)
			symbols[i] = hand_symbol(reach, name, symbol);
	}
	kernel->symbols = symbols;
}

/* ---- hidden state, thread-local storage, barriers ---- */

static const char section_counts[] =
	"everything in the kernel's section counts; -ffunction-sections gives each function its own";

/* Add to the last message the way out of state that the kernel's code reaches. */
static void note_way_out(struct reach *reach, sk_symbol code)
{
	const char *advice = sk_linker_panic_advice(reach->linker, code);

	sk_note(reach->model->diag, "%s", advice ? advice : section_counts);
}

/* Report the state that keeps the kernel from running on several cores at once. */
static void report_state(struct reach *reach, const struct sk_kernel *kernel)
{
	bool library = kernel->state[0] == kernel->library_state;

	sk_error(reach->model->diag, kernel->place,
		 "kernel '%s' has hidden state (%s) and cannot run on several cores at once; if it can, mark it "
		 "reentrant",
		 kernel->name, sk_linker_state_name(reach->linker, kernel->state[0]));
	if (library)
		sk_note(reach->model->diag,
			"rand, srand, random and srandom share one state; a generator whose state is in a tensor or "
			"follows from the element's number gives the same numbers on any cores");
	else
		note_way_out(reach, kernel->code);
}

/* Return why the kernel may not reach thread-local storage, or NULL. Cores change threads from launch to launch, so a
 * plan cannot order values that stay there between calls. And while a call waits for others, another core's call may
 * run inside it on the same thread. */
static const char *thread_storage_obstacle(const struct sk_signature *signature, bool within_call)
{
	if (signature->sync_all || signature->lane == SK_LANE_MIX)
		return "its blocks wait for one another, and meanwhile another block's call may run on the same "
		       "thread; keep the variables on the stack";
	if (signature->early_wait)
		return "it waits inside its call (early-start), and meanwhile another call may run on the same thread; "
		       "keep the variables on the stack, or do not start early";
	if (!signature->reentrant && !within_call)
		return "calls run on any thread; if no call depends on values that an earlier one has left there, mark "
		       "it reentrant";
	return NULL;
}

/* Return false if the kernel reaches thread-local storage, and may not. */
static bool check_thread_storage(struct reach *reach, const struct sk_kernel *kernel)
{
	const char *section = NULL, *reason = NULL;
	sk_symbol root = SK_NONE, next;

	for (uint32_t i = 0; !reason && (next = sk_kernel_root(reach->model, kernel, i)) != SK_NONE; i++) {
		bool within_call;

		root = next;
		section = sk_linker_thread_storage(reach->linker, root, &within_call);
		if (section)
			reason = thread_storage_obstacle(kernel->signature, within_call);
	}
	if (!reason)
		return true;
	sk_error(reach->model->diag, kernel->place, "kernel '%s' reaches thread-local storage (%s): %s", kernel->name,
		 section, reason);
	note_way_out(reach, root);
	return false;
}

/* Return false if threads wait for one another in code that the kernel reaches. Blocks are not threads: they run in any
 * order, several of them on one core, so a kernel could wait for a later block. */
static bool check_barriers(struct reach *reach, const struct sk_kernel *kernel)
{
	const char *barrier = NULL;
	sk_symbol root;

	for (uint32_t i = 0; !barrier && (root = sk_kernel_root(reach->model, kernel, i)) != SK_NONE; i++)
		barrier = sk_linker_find_barrier(reach->linker, root);
	if (!barrier)
		return true;
	sk_error(reach->model->diag, kernel->place,
		 "kernel '%s' reaches '%s', where threads wait for one another; blocks run in any order, even one "
		 "after the other, so use a kernel without that",
		 kernel->name, barrier);
	sk_note(reach->model->diag, "if this kernel does not call it, --defsym=%s=abort makes calls end the launch; %s",
		barrier, section_counts);
	return false;
}

/* Find the hidden state that its functions and its symbols reach, each once. */
static void find_state(struct reach *reach, struct sk_kernel *kernel)
{
	const struct sk_signature *signature = kernel->signature;
	struct sk_arena *arena = reach->model->arena;
	SK_ARRAY(uint32_t) states = {0};
	struct sk_map known;
	sk_symbol root;

	sk_map_init(&known, arena);
	if (!check_thread_storage(reach, kernel) || !check_barriers(reach, kernel))
		return;
	for (uint32_t i = 0; !signature->reentrant && (root = sk_kernel_root(reach->model, kernel, i)) != SK_NONE;
	     i++) {
		const uint32_t *found;
		size_t count;

		if (!sk_linker_find_state(reach->linker, root, &found, &count))
			return;
		for (size_t f = 0; f < count; f++) {
			uint32_t number = (uint32_t)states.count;

			if (sk_map_insert(&known, (const char *)&found[f], sizeof(found[f]), number) == number)
				sk_array_push(arena, &states, found[f]);
		}
	}
	kernel->state = states.items;
	kernel->state_count = states.count;
	for (size_t i = 0; i < kernel->state_count; i++)
		if (sk_linker_state_is_library(reach->linker, kernel->state[i]))
			kernel->library_state = kernel->state[i];
	if (kernel->state_count && signature->spread != SK_STEP_PLAIN)
		report_state(reach, kernel);
}

static void join_states(struct reach *reach)
{
	struct sk_model *model = reach->model;
	SK_ARRAY(sk_symbol) symbols = {0};
	SK_ARRAY(uint32_t) owners = {0};
	sk_symbol root;

	for (size_t j = 0; j < reach->leading.count; j++) {
		const struct sk_kernel *kernel = &model->kernels.items[reach->leading.items[j]];

		for (uint32_t i = 0; (root = sk_kernel_root(model, kernel, i)) != SK_NONE; i++) {
			sk_array_push(model->arena, &symbols, root);
			sk_array_push(model->arena, &owners, reach->leading.items[j]);
		}
	}
	sk_linker_join_states(reach->linker, symbols.items, owners.items, symbols.count);
}

/* ---- code, instruction sets ---- */

/* Find the properties of the kernel's functions themselves. Most kernels reach only code and constants; the others are
 * listed. */
static void look_at(struct reach *reach, uint32_t number)
{
	struct sk_model *model = reach->model;
	struct sk_kernel *kernel = &model->kernels.items[number];
	struct sk_function function = sk_linker_look_at(reach->linker, kernel->code);
	bool leads_on = function.leads_on;
	sk_symbol root;

	kernel->imported = function.imported;
	kernel->code_size = function.size;
	kernel->library_state = SK_NONE;
	kernel->isa = kernel->signature->isa;
	model->isa |= kernel->isa;
	for (uint32_t i = 1; (root = sk_kernel_root(model, kernel, i)) != SK_NONE; i++) {
		function = sk_linker_look_at(reach->linker, root);
		leads_on |= function.leads_on;
		if (root == kernel->vector_code)
			kernel->vector_code_size = function.size;
	}
	if (leads_on)
		sk_array_push(model->arena, &reach->leading, number);
}

static void find_isa(struct reach *reach, struct sk_kernel *kernel)
{
	struct sk_model *model = reach->model;
	sk_symbol root;

	for (uint32_t i = 0; (root = sk_kernel_root(model, kernel, i)) != SK_NONE; i++)
		kernel->isa |= sk_linker_find_isa(reach->linker, root);
	model->isa |= kernel->isa;
}

bool sk_kernels_reach(struct sk_model *model, struct sk_linker *linker)
{
	struct reach reach = {.model = model, .linker = linker};
	unsigned errors = model->diag->errors;

	sk_map_init(&reach.handed, model->arena);
	for (size_t k = 0; k < model->kernels.count; k++)
		find_symbols(&reach, &model->kernels.items[k]);
	if (model->diag->errors != errors)
		return false;
	for (size_t k = 0; k < model->kernels.count; k++)
		look_at(&reach, (uint32_t)k);
	join_states(&reach);
	for (size_t i = 0; i < reach.leading.count; i++) {
		find_state(&reach, &model->kernels.items[reach.leading.items[i]]);
		find_isa(&reach, &model->kernels.items[reach.leading.items[i]]);
	}
	model->isa |= sk_linker_find_constructor_isa(linker);
	sk_linker_need_isa(linker, (uint32_t)model->isa);
	return model->diag->errors == errors;
}
