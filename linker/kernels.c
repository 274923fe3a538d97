/* What the rest of sklink asks about objects before the link: functions by name, signature records, and what all
 * kernels together reach. What each of them reaches is in state.c. */
#include <string.h>

#include "linker/link.h"
#include "linker/object.h"
#include "linker/relocation.h"
#include "linker/section.h"
#include "linker/symbol.h"
#include "linker/texts.h"

/* A signature record. */
struct record {
	const char *symbol, *signature;
	uint64_t offset; /* in .sk.kernels */
};

/* Steps through an object's records; *offset starts at 0. */
static bool next_record(const struct sk_object *object, uint64_t *offset, struct record *record)
{
	const char *text = object->kernel_records;

	if (*offset >= object->kernel_records_size)
		return false;
	record->offset = *offset;
	record->symbol = text + *offset;
	record->signature = record->symbol + strlen(record->symbol) + 1;
	*offset = (uint64_t)(record->signature - text) + strlen(record->signature) + 1;
	return true;
}

/* Fewer bytes of records than this are gone through, one by one. */
enum { FEW_RECORDS = 512 };

/* The record for a symbol, or false. The map is made at the first question, so that asking for every kernel of an
 * object takes linear time. */
static bool find_record(struct sk_linker *linker, struct sk_object *object, const char *symbol, struct record *record)
{
	if (!object->kernel_records)
		return false;
	if (object->kernel_records_size < FEW_RECORDS) {
		for (uint64_t offset = 0; next_record(object, &offset, record);)
			if (!strcmp(record->symbol, symbol))
				return true;
		return false;
	}
	if (!object->records) {
		object->records = SK_NEW(linker->arena, struct sk_map);
		sk_map_init(object->records, linker->arena);
		for (uint64_t offset = 0; next_record(object, &offset, record);)
			sk_map_insert(object->records, record->symbol, strlen(record->symbol),
				      (uint32_t)record->offset);
	}

	uint32_t found = sk_map_find(object->records, symbol, strlen(symbol));
	uint64_t offset = found;

	return found != SK_NONE && next_record(object, &offset, record);
}

/* The objects of an input, or all objects. */
static void range_of(const struct sk_linker *linker, uint32_t input, size_t *first, size_t *end)
{
	*first = 0;
	*end = linker->objects.count;
	if (input != SK_NONE) {
		*first = linker->inputs.items[input].first_object;
		*end = *first + linker->inputs.items[input].object_count;
	}
}

/* A definition of the symbol in the input: an object's before an archive's member. SK_NONE: there is none. */
static uint32_t find_definition(const struct sk_linker *linker, uint32_t input, sk_symbol number)
{
	uint32_t found = SK_NONE;

	for (uint32_t i = linker->symbols.items[number].first_definition; i != SK_NONE;
	     i = linker->definitions.items[i].next) {
		const struct sk_object *object = linker->objects.items[linker->definitions.items[i].object];

		if (input != SK_NONE && object->input != input)
			continue;
		if (!object->member)
			return i;
		if (found == SK_NONE)
			found = i;
	}
	return found;
}

/* Why the symbol cannot be called as a kernel, or NULL. */
static const char *why_not_kernel(const struct sk_object *object, uint32_t index)
{
	const sk_elf_symbol *symbol = &object->symbols[index];
	uint32_t section = sk_object_symbol_section(object, index);

	switch (ELF64_ST_TYPE(symbol->st_info)) {
	case STT_TLS:
		return "is a thread-local variable, not a function";
	case STT_GNU_IFUNC:
		return "is an IFUNC, which cannot be a kernel; name the implementation that you want instead";
	case STT_FUNC:
	case STT_NOTYPE: /* assembly without .type */
		if (!section || !sk_object_is_code(object, section))
			break;
		if (symbol->st_value >= sk_object_section_size(object, section))
			return "stands at the end of its section, where there is no code";
		return NULL;
	default:
		break;
	}
	return "is not a function";
}

const struct sk_object *sk_find_local_function(const struct sk_linker *linker, uint32_t input, const char *name)
{
	size_t first, end;

	range_of(linker, input, &first, &end);
	for (size_t i = first; i < end; i++) {
		const struct sk_object *object = linker->objects.items[i];

		for (uint32_t j = 1; j < object->first_global; j++)
			if (ELF64_ST_TYPE(object->symbols[j].st_info) == STT_FUNC &&
			    !strcmp(object->names + object->symbols[j].st_name, name))
				return object;
	}
	return NULL;
}

/* Nothing in the input defines the symbol globally: says so if anything there mentions it. */
static void report_missing(struct sk_linker *linker, uint32_t input, const char *name)
{
	const struct sk_object *local = sk_find_local_function(linker, input, name);
	size_t first, end;

	if (local) {
		sk_error(linker->diag, (struct sk_place){.file = sk_object_name(linker->arena, local)},
			 "'%s' is a local symbol here (a static function), which only the object itself can call; "
			 "compile it without 'static'",
			 name);
		return;
	}
	range_of(linker, input, &first, &end);
	for (size_t i = first; i < end; i++) {
		struct sk_object *object = linker->objects.items[i];
		struct record record;

		if (find_record(linker, object, name, &record)) {
			sk_error(linker->diag,
				 (struct sk_place){.file = sk_object_name(linker->arena, object),
						   .section = ".sk.kernels",
						   .offset = record.offset},
				 "kernel '%s' has a signature, but the object does not define it as a global "
				 "function",
				 name);
			return;
		}
	}
	for (size_t i = first; i < end; i++) {
		const struct sk_object *object = linker->objects.items[i];

		for (uint32_t j = object->first_global; j < object->symbol_count; j++)
			if (!strcmp(object->names + object->symbols[j].st_name, name)) {
				sk_error(linker->diag, (struct sk_place){.file = sk_object_name(linker->arena, object)},
					 "'%s' is used here, but not defined", name);
				return;
			}
	}
}

/* By name; SK_NONE: nothing in the input defines it. */
static uint32_t find_function(const struct sk_linker *linker, uint32_t input, const char *name)
{
	sk_symbol number = sk_map_find(&linker->symbol_numbers, name, strlen(name));

	return number == SK_NONE ? SK_NONE : find_definition(linker, input, number);
}

static struct sk_kernel_record name_record(struct sk_linker *linker, const struct sk_object *object,
					   const struct record *record)
{
	const char *name = sk_object_name(linker->arena, object);

	return (struct sk_kernel_record){.symbol = record->symbol,
					 .signature = record->signature,
					 .object = name,
					 .member = object->member,
					 .input = object->input,
					 .place = {.file = name, .section = ".sk.kernels", .offset = record->offset},
					 .code = SK_NONE};
}

bool sk_linker_find_record(struct sk_linker *linker, uint32_t input, const char *name, struct sk_kernel_record *result)
{
	size_t first, end;

	if (find_function(linker, input, name) != SK_NONE)
		return false;
	range_of(linker, input, &first, &end);
	for (size_t i = first; i < end; i++) {
		struct sk_object *object = linker->objects.items[i];
		struct record record;

		if (!find_record(linker, object, name, &record))
			continue;
		*result = name_record(linker, object, &record);
		return true;
	}
	return false;
}

bool sk_linker_find_kernel(struct sk_linker *linker, uint32_t input, const char *name, struct sk_kernel_record *result)
{
	uint32_t definition = find_function(linker, input, name);

	if (definition == SK_NONE) {
		unsigned errors = linker->diag->errors;

		report_missing(linker, input, name);
		if (input != SK_NONE && linker->inputs.items[input].intermediate && linker->diag->errors == errors)
			sk_error(linker->diag, (struct sk_place){.file = linker->inputs.items[input].path},
				 "'%s' is not in any member with machine code; some members hold only intermediate "
				 "code of link-time optimisation: recompile without -flto",
				 name);
		return false;
	}

	uint32_t index = linker->definitions.items[definition].index;
	struct sk_object *object = linker->objects.items[linker->definitions.items[definition].object];
	const char *reason = why_not_kernel(object, index);

	*result = (struct sk_kernel_record){.symbol = object->names + object->symbols[index].st_name,
					    .object = sk_object_name(linker->arena, object),
					    .member = object->member,
					    .input = object->input,
					    .place = sk_symbol_place(linker->arena, object, index),
					    .code = object->globals[index - object->first_global]};
	if (reason) {
		sk_error(linker->diag, result->place, "'%s' %s", name, reason);
		return false;
	}

	struct record record;

	if (find_record(linker, object, name, &record)) {
		result->signature = record.signature;
		result->place =
			(struct sk_place){.file = result->object, .section = ".sk.kernels", .offset = record.offset};
	}
	return sk_object_pull(linker, object);
}

uint64_t sk_linker_code_size(struct sk_linker *linker, sk_symbol code)
{
	struct sk_target target = {0};

	if (sk_symbols_resolve(linker))
		target = sk_symbol_target(linker, code);
	return target.section ? sk_size_within(target.section, target.value, linker->symbols.items[target.symbol].size)
			      : 0;
}

void sk_linker_visit_kernels(struct sk_linker *linker, uint32_t input,
			     void (*visit)(void *context, const struct sk_kernel_record *record), void *context)
{
	size_t first, end;

	range_of(linker, input, &first, &end);
	for (size_t i = first; i < end; i++) {
		const struct sk_object *object = linker->objects.items[i];
		struct record record;

		for (uint64_t offset = 0; next_record(object, &offset, &record);) {
			struct sk_kernel_record kernel = name_record(linker, object, &record);

			visit(context, &kernel);
		}
	}
}

const char *const *sk_linker_function_names(struct sk_linker *linker, uint32_t input, size_t *count)
{
	SK_ARRAY(const char *) names = {0};
	size_t first, end;

	range_of(linker, input, &first, &end);
	for (size_t i = first; i < end; i++) {
		const struct sk_object *object = linker->objects.items[i];
		struct record record;

		for (uint32_t j = object->first_global; j < object->symbol_count; j++)
			if (!why_not_kernel(object, j))
				sk_array_push(linker->arena, &names, object->names + object->symbols[j].st_name);
		for (uint64_t offset = 0; next_record(object, &offset, &record);)
			sk_array_push(linker->arena, &names, record.symbol);
	}
	*count = names.count;
	return names.items;
}

/* ---- searches ---- */

static void reach(struct sk_linker *linker, struct sk_input_section *section)
{
	if (!section || !section->loaded || section->discarded || section->visit >= linker->seen)
		return;
	section->visit = linker->visit;
	sk_array_push(linker->arena, &linker->work, section);

	const struct sk_section_range *range = sk_range_bounded(section);

	for (size_t i = 0; range && i < range->sections.count; i++)
		reach(linker, range->sections.items[i]);
}

static void reach_targets(struct sk_linker *linker, const struct sk_input_section *section)
{
	for (uint64_t i = 0; i < section->relocation_count; i++)
		reach(linker, sk_relocation_target(linker, section, &section->relocations[i]).section);
}

static void begin_search(struct sk_linker *linker)
{
	linker->seen = ++linker->visit;
	linker->work.count = 0;
}

static void reach_constructors(struct sk_linker *linker)
{
	for (size_t i = 0; i < linker->objects.count; i++) {
		struct sk_object *object = linker->objects.items[i];

		for (uint32_t j = 1; object->pulled && j < object->part_count; j++)
			if (sk_is_constructors(&object->parts[j]))
				reach(linker, &object->parts[j]);
	}
}

uint32_t sk_linker_find_constructor_isa(struct sk_linker *linker)
{
	uint32_t isa = 0;

	if (!sk_symbols_resolve(linker) || !linker->isa)
		return 0;
	begin_search(linker);
	reach_constructors(linker);
	for (size_t i = 0; i < linker->work.count; i++) {
		struct sk_input_section *section = linker->work.items[i];

		reach_targets(linker, section);
		isa |= section->object ? section->object->isa : 0;
	}
	return isa;
}

/* ---- who needs a section ---- */

static void spread(struct sk_linker *linker)
{
	while (linker->work.count)
		reach_targets(linker, linker->work.items[--linker->work.count]);
}

/* One search from all kernels, and then from the constructors: each section keeps the number of the first one that
 * comes by. */
static void find_origins(struct sk_linker *linker)
{
	begin_search(linker);
	linker->first_origin = linker->visit;
	for (size_t i = 0; i < linker->order.count; i++, linker->visit++) {
		reach(linker, sk_symbol_target(linker, linker->order.items[i].code).section);
		spread(linker);
	}
	reach_constructors(linker);
	spread(linker);
}

void sk_note_kernel(struct sk_linker *linker, const struct sk_input_section *section)
{
	if (!linker->first_origin)
		find_origins(linker);
	if (section->visit < linker->first_origin)
		return;
	if (section->visit - linker->first_origin == linker->order.count) {
		sk_note(linker->diag, "reached from a constructor or destructor, which runs with the package");
		return;
	}

	const struct sk_ordered *kernel = &linker->order.items[section->visit - linker->first_origin];
	const char *name = linker->symbols.items[kernel->code].name;

	if (kernel->caller)
		sk_note(linker->diag, "reached from kernel '%s', which '%s' calls", name, kernel->caller);
	else
		sk_note(linker->diag, "reached from kernel '%s'", name);
}
