/* The kernels of operators; see bind.h. They are collected once, and linked into lists by op and by class (op-index.c).
 * Messages about them are in operators-said.c. */
#include "src/bind/bind.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "format/plan/isa.h"
#include "format/signature/signature.h"
#include "linker/linker.h"
#include "src/model/model.h"

enum { MAX_REASONS = 20 };

void sk_record_signatures_init(struct sk_record_signatures *signatures, struct sk_model *model)
{
	*signatures = (struct sk_record_signatures){.model = model};
	sk_map_init(&signatures->texts, model->arena);
}

const struct sk_signature *sk_record_signature(struct sk_record_signatures *signatures,
					       const struct sk_kernel_record *record)
{
	struct sk_model *model = signatures->model;
	uint32_t new = (uint32_t)signatures->parsed.count;
	uint32_t index = sk_map_insert(&signatures->texts, record->signature, strlen(record->signature), new);

	if (index == new)
		sk_array_push(model->arena, &signatures->parsed,
			      sk_signature_parse(model->arena, model->diag, record->place, record->signature));
	return signatures->parsed.items[index];
}

/* Append the kernel to the list of its class. */
static void add_to_class(struct sk_ops *ops, struct sk_operator *op, uint32_t op_number, uint32_t index)
{
	struct sk_op_kernel *kernels = ops->kernels.items;
	const struct sk_signature *signature = kernels[index].signature;
	uint32_t form = sk_op_index_form(&ops->index, op_number, signature, &op->last_form);
	uint32_t class = sk_op_index_class(&ops->index, form, signature);

	if (op->first_form == SK_NONE)
		op->first_form = form;
	if (class == ops->classes.count)
		sk_array_push(ops->model->arena, &ops->classes, (struct sk_op_class){index, index});
	else
		kernels[ops->classes.items[class].last].alike = index;
	ops->classes.items[class].last = index;
}

/* Count the conditions and the fixed dimensions of tensors. */
static uint32_t count_demands(const struct sk_signature *signature)
{
	uint32_t demands = signature->condition_count;

	for (uint32_t p = 0; p < signature->parameter_count; p++)
		for (uint32_t d = 0; d < signature->parameters[p].rank; d++)
			demands += !signature->parameters[p].extents[d].name_count;
	return demands;
}

/* Return the instruction sets that the kernel needs and sklink may not use. */
static uint64_t missing_isa(const struct sk_ops *ops, const struct sk_op_kernel *kernel)
{
	return sk_isa_expand(kernel->signature->isa) & ~ops->model->allowed_isa;
}

/* Add a kernel to the index, unless its library has another one with the same signature: that one is always
 * preferred. */
static void add_to_index(struct sk_ops *ops, struct sk_operator *op, uint32_t op_number, uint32_t index)
{
	struct sk_op_kernel *kernels = ops->kernels.items;
	const char *key =
		sk_arena_print(ops->model->arena, "%u %s", kernels[index].order, kernels[index].signature->text);
	uint32_t first = sk_map_insert(&ops->texts, key, strlen(key), index);

	if (first == index)
		add_to_class(ops, op, op_number, index);
	else if (kernels[first].twin == SK_NONE)
		kernels[first].twin = index;
}

/* Return the number of the op with that name, which need not be terminated; a new one has no kernels. */
static uint32_t op_number(struct sk_ops *ops, const char *name, size_t length)
{
	struct sk_arena *arena = ops->model->arena;
	uint32_t number = sk_map_find(&ops->numbers, name, length);

	if (number != SK_NONE)
		return number;
	name = sk_arena_copy(arena, name, length);
	sk_array_push(arena, &ops->names, name);
	sk_array_push(arena, &ops->items,
		      (struct sk_operator){.first = SK_NONE,
					   .waiting = SK_NONE,
					   .last_waiting = SK_NONE,
					   .first_form = SK_NONE,
					   .last_form = SK_NONE});
	return sk_map_insert(&ops->numbers, name, length, (uint32_t)ops->names.count - 1);
}

static void add_kernel(struct sk_ops *ops, struct sk_op_kernel kernel)
{
	const char *name = kernel.signature->op;
	uint32_t index = (uint32_t)ops->kernels.count;
	uint32_t number = op_number(ops, name, strlen(name));
	struct sk_operator *op = &ops->items.items[number];

	kernel.next = kernel.alike = kernel.twin = kernel.kernel = SK_NONE;
	kernel.demands = count_demands(kernel.signature);
	kernel.isa_size = (uint32_t)__builtin_popcountll(sk_isa_expand(kernel.signature->isa));
	sk_array_push(ops->model->arena, &ops->kernels, kernel);
	if (op->count++)
		ops->kernels.items[op->last].next = index;
	else
		op->first = index;
	op->last = index;
	if (!missing_isa(ops, &kernel))
		add_to_index(ops, op, number, index);
}

/* The order of kinds of libraries, the first one preferred. The number of a library gives its order within the kind. */
enum { DECLARED, OBJECT, LISTED_ARCHIVE, GIVEN_ARCHIVE };

static uint32_t library_number(uint32_t kind, size_t number)
{
	return kind << 30 | (uint32_t)number;
}

/* Find the number of a record's library. Return false if it does not count: members of archives count only if the
 * archive is under `library:` in the manifest or given by -l. */
static bool find_library(const struct sk_ops *ops, const struct sk_kernel_record *record, uint32_t *library)
{
	*library = library_number(record->member ? GIVEN_ARCHIVE : OBJECT, record->input);
	if (!record->member)
		return true;
	for (size_t i = 0; i < ops->archive_count; i++) {
		if (ops->archives[i] != record->input)
			continue;
		*library = library_number(LISTED_ARCHIVE, i);
		return true;
	}
	return record->is_library;
}

static void add_record(struct sk_ops *ops, const struct sk_kernel_record *record, uint32_t library)
{
	const struct sk_signature *signature = sk_record_signature(ops->signatures, record);

	if (signature && signature->op)
		add_kernel(ops, (struct sk_op_kernel){.name = record->symbol,
						      .object = record->object,
						      .input = record->input,
						      .order = library,
						      .signature = signature,
						      .declared = SK_NONE});
}

static void let_wait(struct sk_ops *ops, const struct sk_kernel_record *record, uint32_t library, uint32_t number)
{
	struct sk_operator *op = &ops->items.items[number];
	uint32_t index = (uint32_t)ops->waiting.count;

	sk_array_push(ops->model->arena, &ops->waiting, (struct sk_waiting_kernel){*record, library, SK_NONE});
	if (op->waiting == SK_NONE)
		op->waiting = index;
	else
		ops->waiting.items[op->last_waiting].next = index;
	op->last_waiting = index;
}

static void visit_record(void *context, const struct sk_kernel_record *record)
{
	struct sk_ops *ops = context;
	const char *name = NULL;
	uint32_t library;
	size_t length;

	if (!strstr(record->signature, "op="))
		return;
	if (!find_library(ops, record, &library)) {
		ops->left_out = true;
		return;
	}
	if (record->member)
		name = sk_signature_glance_op(record->signature, &length);
	if (name)
		let_wait(ops, record, library, op_number(ops, name, length));
	else
		add_record(ops, record, library);
}

static void collect_kernels(struct sk_ops *ops)
{
	struct sk_model *model = ops->model;

	ops->collected = true;
	for (uint32_t i = 0; i < model->declared.count; i++) {
		const struct sk_declared_kernel *declared = &model->declared.items[i];

		if (declared->parsed && declared->parsed->op)
			add_kernel(ops, (struct sk_op_kernel){
						.name = declared->name, .signature = declared->parsed, .declared = i});
	}
	sk_linker_visit_kernels(ops->linker, SK_NONE, visit_record, ops);
}

/* Read the waiting records of the op and return its number. SK_NONE: no kernel has it. */
static uint32_t find_op(struct sk_ops *ops, const char *op)
{
	uint32_t number, next;

	if (!ops->collected)
		collect_kernels(ops);
	number = sk_map_find(&ops->numbers, op, strlen(op));
	if (number == SK_NONE)
		return SK_NONE;
	next = ops->items.items[number].waiting;
	ops->items.items[number].waiting = SK_NONE;
	for (; next != SK_NONE; next = ops->waiting.items[next].next)
		add_record(ops, &ops->waiting.items[next].record, ops->waiting.items[next].order);
	return number;
}

void sk_ops_init(struct sk_ops *ops, struct sk_model *model, struct sk_linker *linker,
		 struct sk_record_signatures *signatures, const uint32_t *archives, size_t archive_count)
{
	*ops = (struct sk_ops){.model = model,
			       .linker = linker,
			       .signatures = signatures,
			       .archives = archives,
			       .archive_count = archive_count};
	sk_map_init(&ops->numbers, model->arena);
	sk_map_init(&ops->texts, model->arena);
	sk_op_index_init(&ops->index, model);
}

/* Return more than 0 if the one kernel is better than the other, and less if it is worse, provided that both fit. */
static int compare_kernels(const struct sk_op_kernel *one, const struct sk_op_kernel *other)
{
	if (one->order != other->order)
		return one->order < other->order ? 1 : -1;
	if (one->demands != other->demands)
		return one->demands > other->demands ? 1 : -1;
	return (one->isa_size > other->isa_size) - (one->isa_size < other->isa_size);
}

/* The result so far. */
struct choice {
	uint32_t best, tied; /* SK_NONE: none */
	uint64_t misfits;
};

static void find_in_class(struct sk_ops *ops, const struct sk_request *request, uint32_t class, struct choice *choice)
{
	const struct sk_op_kernel *kernels = ops->kernels.items;

	for (uint32_t c = ops->classes.items[class].first; c != SK_NONE; c = kernels[c].alike) {
		int better = choice->best == SK_NONE ? 1 : compare_kernels(&kernels[c], &kernels[choice->best]);

		ops->steps++;
		if (better < 0)
			continue;
		if (!sk_bind_fits(ops->model, request, kernels[c].signature)) {
			choice->misfits++;
		} else if (better == 0) {
			choice->tied = c;
		} else {
			choice->best = c;
			choice->tied = kernels[c].twin;
		}
	}
}

struct sk_op_kernel *sk_ops_find(struct sk_ops *ops, const char *name, const struct sk_request *request)
{
	uint32_t op = find_op(ops, name);
	struct choice choice = {SK_NONE, SK_NONE, 0};

	ops->tied = NULL;
	if (op == SK_NONE)
		return NULL;
	for (uint32_t f = ops->items.items[op].first_form; f != SK_NONE; f = ops->index.forms.items[f].next) {
		uint32_t class = sk_op_index_find(&ops->index, f, request);

		ops->steps++;
		if (class != SK_NONE)
			find_in_class(ops, request, class, &choice);
	}
	if (choice.best == SK_NONE) {
		ops->misfits += choice.misfits;
		return NULL;
	}
	if (choice.tied != SK_NONE)
		ops->tied = &ops->kernels.items[choice.tied];
	return &ops->kernels.items[choice.best];
}

/* Return why the kernel, which also fits, is not the chosen one; see compare. */
static const char *disadvantage_of(const struct sk_ops *ops, const struct sk_op_kernel *kernel,
				   const struct sk_op_kernel *picked)
{
	const char *why = kernel->order != picked->order       ? "is in an earlier library"
			  : kernel->demands != picked->demands ? "has more conditions and fixed dimensions"
							       : "uses more of the instruction set";

	return sk_arena_print(ops->model->arena, "it fits, but %s %s", picked->name, why);
}

/* Return why the kernel does not fit, or is not the chosen one; NULL: it fits, and none was chosen. */
static const char *reason_of(const struct sk_ops *ops, const struct sk_op_kernel *kernel,
			     const struct sk_request *request, const struct sk_op_kernel *picked)
{
	uint64_t missing = missing_isa(ops, kernel);
	char text[SK_ISA_TEXT_SIZE];

	if (missing)
		return sk_arena_print(ops->model->arena, "needs %s, which --isa does not allow",
				      sk_isa_text(text, kernel->signature->isa));
	const char *reason = sk_bind_reason(ops->model, request, kernel->signature);

	return reason || !picked ? reason : disadvantage_of(ops, kernel, picked);
}

struct candidate {
	uint32_t kernel;
	unsigned distance;
};

static int compare_candidates(const void *a, const void *b)
{
	const struct candidate *left = a, *right = b;

	if (left->distance != right->distance)
		return left->distance < right->distance ? -1 : 1;
	return (left->kernel > right->kernel) - (left->kernel < right->kernel);
}

struct sk_misfits sk_ops_explain(struct sk_ops *ops, const char *name, const struct sk_request *request,
				 const struct sk_op_kernel *picked)
{
	struct sk_model *model = ops->model;
	uint32_t op = find_op(ops, name);
	struct sk_misfits misfits = {.more = 0};
	struct candidate *candidates;
	uint32_t count = 0;

	if (op == SK_NONE)
		return misfits;
	candidates = SK_NEW_ARRAY(model->arena, struct candidate, ops->items.items[op].count);
	for (uint32_t k = ops->items.items[op].first; k != SK_NONE; k = ops->kernels.items[k].next)
		if (&ops->kernels.items[k] != picked)
			candidates[count++] = (struct candidate){
				k, sk_bind_distance(model, request, ops->kernels.items[k].signature)};
	ops->misfits += picked ? 0 : count;
	qsort(candidates, count, sizeof(*candidates), compare_candidates);
	for (uint32_t i = 0; i < count && i < MAX_REASONS; i++) {
		const struct sk_op_kernel *kernel = &ops->kernels.items[candidates[i].kernel];

		sk_array_push(model->arena, &misfits.items,
			      (struct sk_misfit){kernel, reason_of(ops, kernel, request, picked)});
	}
	misfits.more = count - (uint32_t)misfits.items.count;
	return misfits;
}
