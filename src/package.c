/* Sections for the linker: the code of all launches' entries and its unwind information, the plan, the constants and
 * the report. Symbols first, relocations last, so that nothing has to be looked up. */
#include "package.h"

#include <string.h>

#include "report.h"
#include "stubs/dispatcher.h"

struct package {
	struct sk_model *model;
	const struct sk_plan_image *image;
	const struct sk_plan_view *plan;
	const char *plan_symbol;
	struct sk_linker *linker;
	sk_symbol constants; /* the start of the constants, or SK_NONE */
	sk_symbol *entries; /* by launch */
	sk_symbol *serial_entries; /* by launch; SK_NONE: the launch has none */
	struct sk_code code; /* of all entries */
	struct sk_arena *scratch;
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

/* The constants stay where they are, mapped or in the arena, until the linker writes them. */
static void add_constants(struct package *package)
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

	sk_section section = sk_linker_add_section(package->linker,
						   &(struct sk_section_spec){.name = ".sk.constants",
									     .kind = SK_SECTION_CONSTANTS,
									     .alignment = SK_CONSTANT_ALIGNMENT,
									     .size = image->constants_size,
									     .pieces = pieces,
									     .piece_count = image->constants.count});

	package->constants = sk_linker_define(package->linker, section, "sk_constants", 0, image->constants_size,
					      SK_SYMBOL_OBJECT, false);
}

static sk_symbol code_target(const struct package *package, const struct sk_code_relocation *relocation)
{
	if (relocation->target == SK_CODE_CONSTANTS)
		return package->constants;
	return package->model->kernels.items[relocation->index].code;
}

/* Synthesizes one entry; returns the number of its symbol in the code. SK_NONE and an error if that cannot be done. */
static uint32_t emit_entry(struct package *package, uint32_t launch, enum sk_entry_kind kind, const char *name)
{
	uint32_t symbol = (uint32_t)package->code.symbols.count;
	const char *reason = sk_dispatcher_emit(package->scratch, package->plan, launch, kind, name, &package->code);

	if (reason)
		sk_error(package->model->diag, (struct sk_place){.file = package->model->manifest},
			 "cannot make the dispatcher %s: %s", name, reason);
	sk_arena_reset(package->scratch);
	return reason ? SK_NONE : symbol;
}

static const char *serial_name(struct sk_arena *arena, const char *name)
{
	size_t length = strlen(name);
	char *serial = sk_arena_alloc(arena, length + sizeof("_serial"), 1);

	memcpy(serial, name, length);
	memcpy(serial + length, "_serial", sizeof("_serial"));
	return serial;
}

/* The code of all entries becomes a section, its functions symbols, its unwind information another section. */
static void add_code(struct package *package, const bool *exported, sk_symbol *functions)
{
	const struct sk_code *code = &package->code;
	sk_section text = add_bytes(package, ".text.sk_dispatchers", SK_SECTION_TEXT, SK_CODE_ALIGNMENT,
				    code->bytes.items, code->bytes.count);
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

static bool add_dispatchers(struct package *package)
{
	struct sk_arena *arena = package->model->arena;
	uint32_t count = package->plan->launch_count;
	unsigned errors = package->model->diag->errors;

	package->entries = SK_NEW_ARRAY(arena, sk_symbol, count);
	package->serial_entries = SK_NEW_ARRAY(arena, sk_symbol, count);
	for (uint32_t i = 0; i < count; i++) {
		const char *name = sk_plan_string(&package->plan->launches[i].name);

		package->entries[i] = emit_entry(package, i, SK_ENTRY_PARALLEL, name);
		package->serial_entries[i] = emit_entry(package, i, SK_ENTRY_SERIAL, serial_name(arena, name));
	}
	if (package->model->diag->errors != errors)
		return false;

	bool *exported = SK_NEW_ARRAY(arena, bool, package->code.symbols.count);
	sk_symbol *functions = SK_NEW_ARRAY(arena, sk_symbol, package->code.symbols.count);

	for (uint32_t i = 0; i < count; i++)
		exported[package->entries[i]] = exported[package->serial_entries[i]] =
			package->plan->launches[i].kind != SK_LAUNCH_TASK;
	add_code(package, exported, functions);
	for (uint32_t i = 0; i < count; i++) {
		package->entries[i] = functions[package->entries[i]];
		package->serial_entries[i] = functions[package->serial_entries[i]];
	}
	return true;
}

static sk_symbol plan_target(const struct package *package, const struct sk_plan_relocation *relocation)
{
	switch (relocation->target) {
	case SK_PLAN_ENTRY:
		return package->entries[relocation->index];
	case SK_PLAN_SERIAL_ENTRY:
		return package->serial_entries[relocation->index];
	case SK_PLAN_KERNEL:
		return package->model->kernels.items[relocation->index].code;
	case SK_PLAN_CONSTANTS:
		return package->constants;
	}
	return SK_NONE;
}

static void add_plan(struct package *package)
{
	const struct sk_plan_image *image = package->image;
	sk_section section =
		add_bytes(package, ".sk.plan", SK_SECTION_READ_ONLY, SK_PLAN_ALIGN, image->bytes, image->size);

	sk_linker_define(package->linker, section, package->plan_symbol, 0, image->size, SK_SYMBOL_OBJECT, true);
	for (size_t i = 0; i < image->relocations.count; i++) {
		const struct sk_plan_relocation *relocation = &image->relocations.items[i];

		sk_linker_relocate(package->linker, section, relocation->offset, SK_RELOCATION_RELATIVE32,
				   plan_target(package, relocation), 0);
	}
}

static void add_report(struct package *package, const struct sk_partition *partition)
{
	const struct sk_model *model = package->model;
	struct sk_report_entry *entries = SK_NEW_ARRAY(model->arena, struct sk_report_entry, model->tasks.count);
	const void *bytes;
	uint64_t size;

	for (uint32_t i = 0; i < model->tasks.count; i++) {
		const struct sk_task_placement *placement = &partition->tasks[i];

		entries[i] = (struct sk_report_entry){
			.task = i,
			.launch = placement->launch,
			.name = model->tasks.items[i].name,
			.scope = partition->launches[placement->launch].scope,
			.code = sk_reason_code(placement->reason),
			.sentence = sk_reason_text(model, partition, i),
		};
	}
	sk_report_pack(model->arena, entries, model->tasks.count, &bytes, &size);
	add_bytes(package, SK_REPORT_SECTION, SK_SECTION_NOT_LOADED, 1, bytes, size);
}

bool sk_package_build(struct sk_model *model, const struct sk_partition *partition, const struct sk_plan_image *image,
		      const struct sk_plan_view *plan, const char *plan_symbol, struct sk_linker *linker,
		      uint64_t *dispatcher_size)
{
	struct package package = {.model = model,
				  .image = image,
				  .plan = plan,
				  .plan_symbol = plan_symbol,
				  .linker = linker,
				  .code = {.arena = model->arena},
				  .scratch = sk_arena_create()};

	for (uint32_t i = 0; i < model->tasks.count; i++)
		sk_linker_order(linker, model->kernels.items[model->tasks.items[i].kernel].code);
	add_constants(&package);

	bool made = add_dispatchers(&package);

	sk_arena_destroy(package.scratch);
	if (!made)
		return false;
	add_plan(&package);
	add_report(&package, partition);
	*dispatcher_size = package.code.bytes.count;
	return true;
}
