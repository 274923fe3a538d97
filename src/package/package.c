/* Sections for the linker: the code of all launches' entries with its unwind and debug information, the plan, the
 * constants and the account. Symbols come first and relocations last, so that no symbol must be looked up. */
#include "src/package/package.h"

#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "format/plan/plan.h"
#include "format/skplan.h"
#include "format/skweights.h"
#include "linker/linker.h"
#include "src/model/model.h"
#include "src/planning/planning.h"
#include "src/proof/proof.h"
#include "stubs/dispatcher/dispatcher.h"

struct package {
	struct sk_model *model;
	const struct sk_plan_image *image;
	const struct sk_plan_view *plan;
	struct sk_linker *linker;
	sk_symbol *kernels; /* by kernel of the plan */
	sk_symbol *vector_kernels; /* the same for vector sides; SK_NONE: no vector side */
	sk_symbol constants; /* the start of the constants, or SK_NONE */
	sk_symbol *entries; /* by launch */
	sk_symbol *serial_entries; /* by launch; SK_NONE: no serial entry */
};

static sk_section add_bytes(struct package *package, const char *name, enum sk_section_kind kind, uint64_t alignment,
			    const void *bytes, uint64_t size)
{
	struct sk_piece *piece = SK_NEW(package->model->arena, struct sk_piece);

	*piece = (struct sk_piece){.offset = 0, .bytes = bytes, .size = size};
	return sk_linker_add_section(package->linker, &(struct sk_section_spec){.name = name,
										.kind = kind,
										.alignment = alignment,
										.size = size,
										.pieces = piece,
										.piece_count = 1});
}

/* Add the record of constants that are in a file of their own. */
static void add_weights(struct package *package, const struct sk_package_weights *weights)
{
	sk_section section = sk_linker_add_section(
		package->linker,
		&(struct sk_section_spec){.name = ".sk.weights",
					  .kind = SK_SECTION_READ_ONLY,
					  .alignment = _Alignof(struct sk_weights),
					  .size = weights->record_size,
					  .pieces = &(struct sk_piece){0, weights->record, weights->record_size},
					  .piece_count = 1});

	sk_linker_define(package->linker, section, "sk_weights", 0, weights->record_size, SK_SYMBOL_OBJECT, true);
	sk_linker_relocate(package->linker, section, offsetof(struct sk_weights, constants), SK_RELOCATION_RELATIVE32,
			   package->constants, 0);
}

/* Align constants in a draft to their offset there, so that they can stay where they are. As a rule that offset exceeds
 * the size of everything before them. */
static uint64_t constants_alignment(const struct package *package, bool relocatable, bool elsewhere)
{
	const struct sk_file_draft *draft = &package->model->draft;

	return draft->bytes && !relocatable && !elsewhere ? draft->start : SK_CONSTANT_ALIGNMENT;
}

/* Constants are not copied; they stay mapped or in the arena until they are written. */
static void add_constants(struct package *package, const char *path, bool relocatable,
			  struct sk_package_weights *weights)
{
	const struct sk_plan_image *image = package->image;
	struct sk_piece *pieces = SK_NEW_ARRAY(package->model->arena, struct sk_piece, image->constants.count);

	package->constants = SK_NONE;
	if (!image->constants_size)
		return;
	for (size_t i = 0; i < image->constants.count; i++) {
		const struct sk_plan_constant *constant = &image->constants.items[i];

		pieces[i] = (struct sk_piece){constant->offset,
					      package->model->tensors.items[constant->tensor].contents, constant->size};
	}

	sk_section section = sk_linker_add_section(
		package->linker,
		&(struct sk_section_spec){.name = ".sk.constants",
					  .kind = path ? SK_SECTION_CONSTANTS_ELSEWHERE : SK_SECTION_CONSTANTS,
					  .alignment = constants_alignment(package, relocatable, path),
					  .size = image->constants_size,
					  .pieces = pieces,
					  .piece_count = image->constants.count});

	package->constants = sk_linker_define(package->linker, section, "sk_constants", 0, image->constants_size,
					      SK_SYMBOL_OBJECT, false);
	if (!path)
		return;
	sk_package_weights_make(package->model->arena, path, pieces, image->constants.count, image->constants_size,
				weights);
	add_weights(package, weights);
}

static sk_symbol code_target(const struct package *package, const struct sk_code_relocation *relocation)
{
	if (relocation->target == SK_CODE_CONSTANTS)
		return package->constants;
	if (relocation->target == SK_CODE_SYMBOL)
		return package->model->symbols.items[relocation->index].symbol;
	return (relocation->target == SK_CODE_VECTOR_KERNEL ? package->vector_kernels
							    : package->kernels)[relocation->index];
}

/* Add a section for the code with its functions as symbols, and a section for its unwind information. */
static void add_code(struct package *package, const char *name, const struct sk_code *code, const bool *exported,
		     sk_symbol *functions)
{
	sk_section text =
		add_bytes(package, name, SK_SECTION_TEXT, code->alignment, code->bytes.items, code->bytes.count);
	sk_section frames =
		add_bytes(package, ".eh_frame", SK_SECTION_EH_FRAME, 8, code->eh_frame.items, code->eh_frame.count);

	for (size_t i = 0; i < code->symbols.count; i++) {
		const struct sk_code_symbol *symbol = &code->symbols.items[i];

		functions[i] = sk_linker_define(package->linker, text, symbol->name, symbol->offset, symbol->size,
						SK_SYMBOL_FUNCTION, exported[i]);
	}
	for (size_t i = 0; i < code->relocations.count; i++) {
		const struct sk_code_relocation *relocation = &code->relocations.items[i];

		sk_linker_relocate(package->linker, text, relocation->offset,
				   relocation->call ? SK_RELOCATION_CALL : SK_RELOCATION_RELATIVE32,
				   code_target(package, relocation), relocation->addend);
	}
	for (size_t i = 0; i < code->eh_frame_starts.count; i++)
		sk_linker_relocate(package->linker, frames, code->eh_frame_starts.items[i], SK_RELOCATION_RELATIVE32,
				   functions[i], 0);
}

/* Add debug information of the code that begins at `text`. Its sections refer to the code, and to each other. */
static void add_debug(struct package *package, const struct sk_debug *debug, sk_symbol text)
{
	sk_section sections[SK_DEBUG_PARTS];
	sk_symbol starts[SK_DEBUG_PARTS];

	for (int i = 0; i < SK_DEBUG_PARTS; i++) {
		const struct sk_debug_section *part = &debug->parts[i];

		sections[i] = add_bytes(package, part->name, SK_SECTION_DEBUG, 1, part->bytes.items, part->bytes.count);
		starts[i] = sk_linker_define(package->linker, sections[i], NULL, 0, 0, SK_SYMBOL_OBJECT, false);
	}
	for (int i = 0; i < SK_DEBUG_PARTS; i++)
		for (size_t j = 0; j < debug->parts[i].references.count; j++) {
			const struct sk_debug_reference *reference = &debug->parts[i].references.items[j];

			if (reference->part == SK_DEBUG_PARTS)
				sk_linker_relocate(package->linker, sections[i], reference->offset,
						   SK_RELOCATION_ADDRESS64, text, (int64_t)reference->addend);
			else
				sk_linker_relocate(package->linker, sections[i], reference->offset,
						   SK_RELOCATION_OFFSET32, starts[reference->part], 0);
		}
}

/* Add one of the two pieces of code. */
static void add_entries(struct package *package, const char *name, const struct sk_entries *made, bool debug)
{
	struct sk_arena *arena = package->model->arena;
	bool *exported = SK_NEW_ARRAY(arena, bool, made->code.symbols.count);
	sk_symbol *functions = SK_NEW_ARRAY(arena, sk_symbol, made->code.symbols.count);

	if (!made->entries.count)
		return;
	for (size_t i = 0; i < made->entries.count; i++) {
		const struct sk_entry *entry = &made->entries.items[i];

		exported[entry->parallel] =
			sk_plan_form(&package->plan->launches[entry->launch])->kind != SK_LAUNCH_TASK;
		if (entry->serial != SK_NO_INDEX)
			exported[entry->serial] = exported[entry->parallel];
	}
	add_code(package, name, &made->code, exported, functions);
	for (size_t i = 0; i < made->entries.count; i++) {
		const struct sk_entry *entry = &made->entries.items[i];

		package->entries[entry->launch] = functions[entry->parallel];
		package->serial_entries[entry->launch] =
			entry->serial == SK_NO_INDEX ? SK_NONE : functions[entry->serial];
	}
	if (debug && made->code.parts.count)
		add_debug(package, &made->debug, functions[0]);
}

static bool add_dispatchers(struct package *package, const struct sk_package_input *input,
			    struct sk_entries entries[SK_ENTRIES])
{
	static const char *const names[SK_ENTRIES] = {".text.sk_dispatchers", ".text.sk_task_entries"};
	struct sk_arena *arena = package->model->arena;
	bool ok = true;

	package->entries = SK_NEW_ARRAY(arena, sk_symbol, package->plan->launch_count);
	package->serial_entries = SK_NEW_ARRAY(arena, sk_symbol, package->plan->launch_count);
	sk_entries_make(arena, package->plan, input->dims, package->model->manifest, input->debug, input->threads,
			entries);
	for (int i = 0; i < SK_ENTRIES; i++) {
		if (!entries[i].reason)
			continue;
		sk_error(package->model->diag, (struct sk_place){.file = package->model->manifest},
			 "cannot make the dispatcher %s: %s", entries[i].failed, entries[i].reason);
		ok = false;
	}
	for (int i = 0; ok && i < SK_ENTRIES; i++)
		add_entries(package, names[i], &entries[i], input->debug);
	return ok;
}

static sk_symbol plan_target(const struct package *package, const struct sk_plan_relocation *relocation)
{
	switch (relocation->target) {
	case SK_PLAN_ENTRY:
		return package->entries[relocation->index];
	case SK_PLAN_SERIAL_ENTRY:
		return package->serial_entries[relocation->index];
	case SK_PLAN_KERNEL:
		return package->kernels[relocation->index];
	case SK_PLAN_VECTOR_KERNEL:
		return package->vector_kernels[relocation->index];
	case SK_PLAN_SYMBOL:
		return package->model->symbols.items[relocation->index].symbol;
	case SK_PLAN_CONSTANTS:
		return package->constants;
	}
	return SK_NONE;
}

/* Return the plan, which in an object ends with its sizes: no dynamic symbol would lead to them. */
static uint8_t *plan_bytes(const struct package *package, bool relocatable, uint64_t *size)
{
	const struct sk_plan_image *image = package->image;
	uint64_t start = (image->size + 7) / 8 * 8;
	struct sk_plan *plan;

	*size = image->size;
	if (!relocatable || !image->sizes)
		return image->bytes;
	*size = start + image->sizes_size;
	plan = (void *)SK_NEW_ARRAY(package->model->arena, uint64_t, *size / 8 + 1);
	memcpy(plan, image->bytes, image->size);
	memcpy((uint8_t *)plan + start, image->sizes, image->sizes_size);
	plan->size = *size;
	return (uint8_t *)plan;
}

static sk_section add_plan(struct package *package, const char *plan_symbol, bool relocatable)
{
	const struct sk_plan_image *image = package->image;
	uint64_t size;
	uint8_t *bytes = plan_bytes(package, relocatable, &size);
	sk_section section =
		sk_linker_add_section(package->linker, &(struct sk_section_spec){.name = ".sk.plan",
										 .kind = SK_SECTION_READ_ONLY,
										 .alignment = SK_PLAN_ALIGN,
										 .size = size,
										 .bytes = bytes});

	sk_linker_define(package->linker, section, plan_symbol, 0, size, SK_SYMBOL_OBJECT, true);
	for (size_t i = 0; i < image->relocations.count; i++) {
		const struct sk_plan_relocation *relocation = &image->relocations.items[i];

		sk_linker_relocate(package->linker, section, relocation->offset, SK_RELOCATION_RELATIVE32,
				   plan_target(package, relocation), 0);
	}
	return section;
}

static void add_sizes(struct package *package)
{
	const struct sk_plan_image *image = package->image;
	sk_section section;

	if (!image->sizes)
		return;
	section = add_bytes(package, ".sk.dims", SK_SECTION_READ_ONLY, _Alignof(uint64_t), image->sizes,
			    image->sizes_size);
	sk_linker_define(package->linker, section, "sk_dims", 0, image->sizes_size, SK_SYMBOL_OBJECT, true);
}

/* The names end with a NUL each. */
static void add_unused(struct package *package)
{
	const struct sk_model *model = package->model;
	SK_ARRAY(char) names = {NULL, 0, 0};
	sk_section section;

	for (size_t i = 0; i < model->unused.count; i++)
		for (const char *at = model->unused.items[i];; at++) {
			sk_array_push(model->arena, &names, *at);
			if (!*at)
				break;
		}
	if (!names.count)
		return;
	section = add_bytes(package, ".sk.unused", SK_SECTION_READ_ONLY, 1, names.items, names.count);
	sk_linker_define(package->linker, section, "sk.unused", 0, names.count, SK_SYMBOL_OBJECT, true);
}

static void add_ranks(struct package *package)
{
	const struct sk_plan_image *image = package->image;
	sk_section section;

	if (!image->ranks)
		return;
	section = add_bytes(package, ".sk.ranks", SK_SECTION_READ_ONLY, _Alignof(uint64_t), image->ranks,
			    image->ranks_size);
	sk_linker_define(package->linker, section, "sk_ranks", 0, image->ranks_size, SK_SYMBOL_OBJECT, true);
}

static void raise(uint32_t *number, uint32_t other)
{
	if (other > *number)
		*number = other;
}

/* func-align. If several superkernels call a kernel, it gets the greatest of their alignments. */
static void align_kernel(struct package *package, uint32_t kernel, uint32_t alignment)
{
	if (!alignment)
		return;
	sk_linker_align(package->linker, package->kernels[kernel], alignment);
	if (package->vector_kernels[kernel] != SK_NONE)
		sk_linker_align(package->linker, package->vector_kernels[kernel], alignment);
}

static void align_kernels(struct package *package)
{
	const struct sk_plan_view *plan = package->plan;
	uint32_t *alignments = SK_NEW_ARRAY(package->model->arena, uint32_t, plan->kernel_count);

	for (uint32_t l = 0; l < plan->launch_count; l++) {
		const struct sk_plan_launch *launch = &plan->launches[l];

		struct sk_plan_calls calls = sk_plan_launch_calls(plan, launch);

		for (const struct sk_plan_call *call = calls.first; call < calls.end; call++) {
			raise(&alignments[call->kernel], sk_plan_form(launch)->func_align);
			for (uint32_t copy = 1; copy < sk_plan_form(launch)->copies; copy++)
				raise(&alignments[plan->kernels[call->kernel].first_copy + copy - 1],
				      sk_plan_form(launch)->func_align);
		}
	}
	for (uint32_t k = 0; k < plan->kernel_count; k++)
		align_kernel(package, k, alignments[k]);
}

/* Return, by kernel, the place of the option that asks for the most copies of its code. */
static struct sk_place *find_splitters(const struct sk_model *model, const struct sk_plan_view *plan, uint32_t *copies)
{
	struct sk_place *places = SK_NEW_ARRAY(model->arena, struct sk_place, model->kernels.count);

	for (uint32_t i = 0; i < model->tasks.count; i++) {
		const struct sk_task *task = &model->tasks.items[i];
		uint32_t wanted = sk_plan_form(&plan->launches[plan->tasks[i].launch])->copies;

		if (wanted <= copies[task->bound.kernel])
			continue;
		copies[task->bound.kernel] = wanted;
		for (size_t s = 0; s < task->said.scopes.count; s++)
			if (model->scopes.items[task->said.scopes.items[s]].launch.split_mode == wanted)
				places[task->bound.kernel] =
					model->scopes.items[task->said.scopes.items[s]].launch.split_place;
	}
	return places;
}

static void copy_kernel(struct package *package, uint32_t kernel, uint32_t copy, struct sk_place place)
{
	uint32_t number = package->plan->kernels[kernel].first_copy + copy - 1;
	sk_symbol vector = package->vector_kernels[kernel];

	package->vector_kernels[number] = SK_NONE;
	package->kernels[number] = package->kernels[kernel];
	if (package->plan->kernels[kernel].flags & SK_KERNEL_IMPORTED) /* its code is not in the package */
		return;
	package->kernels[number] = sk_linker_copy(package->linker, package->kernels[kernel], copy, place);
	package->vector_kernels[number] =
		vector == SK_NONE ? SK_NONE : sk_linker_copy(package->linker, vector, copy, place);
}

/* Kernels come first. Their copies follow in the order of the cores that they are for. */
static bool copy_kernels(struct package *package)
{
	const struct sk_model *model = package->model;
	const struct sk_plan_view *plan = package->plan;
	uint32_t *copies = SK_NEW_ARRAY(model->arena, uint32_t, model->kernels.count);
	const struct sk_place *places = find_splitters(model, plan, copies);
	unsigned errors = model->diag->errors;

	package->kernels = SK_NEW_ARRAY(model->arena, sk_symbol, plan->kernel_count);
	package->vector_kernels = SK_NEW_ARRAY(model->arena, sk_symbol, plan->kernel_count);
	for (uint32_t k = 0; k < model->kernels.count; k++) {
		package->kernels[k] = model->kernels.items[k].code;
		package->vector_kernels[k] = model->kernels.items[k].vector_code;
	}
	for (uint32_t copy = 1; copy < SK_MAX_COPIES && plan->kernel_count > model->kernels.count; copy++)
		for (uint32_t k = 0; k < model->kernels.count; k++) {
			if (copy < copies[k] && model->diag->errors == errors)
				copy_kernel(package, k, copy, places[k]);
		}
	return model->diag->errors == errors;
}

/* Label each kernel with its name in the manifest, so that skdump --verify can tell kernels of one name apart. */
static void label_kernels(struct package *package)
{
	for (uint32_t k = 0; k < package->plan->kernel_count; k++) {
		const char *name = sk_plan_string(&package->plan->kernels[k].name);

		if (package->kernels[k] != SK_NONE)
			sk_linker_label(package->linker, package->kernels[k], name);
		if (package->vector_kernels[k] != SK_NONE)
			sk_linker_label(package->linker, package->vector_kernels[k], name);
	}
}

static void order_kernel(const struct sk_model *model, const struct sk_task *task, struct sk_linker *linker)
{
	const struct sk_kernel *kernel = &model->kernels.items[task->bound.kernel];

	sk_linker_order(linker, kernel->code, task->name);
	if (kernel->vector_code != SK_NONE)
		sk_linker_order(linker, kernel->vector_code, task->name);
	for (uint32_t i = 0; i < kernel->signature->symbol_count; i++)
		sk_linker_hand(linker, kernel->code, task->name, model->symbols.items[kernel->symbols[i]].symbol);
}

bool sk_package_build(const struct sk_package_input *input, struct sk_linker *linker, struct sk_package_parts *parts)
{
	const struct sk_model *model = input->model;
	struct package package = {.model = input->model, .image = input->image, .plan = input->plan, .linker = linker};

	parts->name = sk_package_name(model->arena, input->name, input->plan);
	parts->plan_symbol = sk_plan_symbol_name(model->arena, parts->name, input->relocatable);
	for (uint32_t i = 0; i < model->tasks.count; i++)
		order_kernel(model, &model->tasks.items[i], linker);
	if (!copy_kernels(&package))
		return false;
	align_kernels(&package);
	label_kernels(&package);
	add_constants(&package, input->weights, input->relocatable, &parts->weights);
	if (!add_dispatchers(&package, input, parts->entries))
		return false;
	parts->plan = add_plan(&package, parts->plan_symbol, input->relocatable);
	if (!input->relocatable) {
		add_sizes(&package);
		add_unused(&package);
	}
	add_ranks(&package);
	add_bytes(&package, SK_ACCOUNT_SECTION, SK_SECTION_NOT_LOADED, 1, input->account, input->account_size);
	return true;
}
