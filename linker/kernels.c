/* Lookups before the link, for the other parts of sklink: functions by name, signature records, and the sections that
 * all kernels together reach. state.c finds the sections that each kernel reaches. */
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "format/import-row.h"
#include "linker/linker-parts.h"
#include "linker/linker.h"
#include "linker/object.h"

/* A signature record. */
struct record {
	const char *symbol, *signature;
	uint64_t offset; /* in .sk.kernels */
};

/* Step through an object's records; *offset starts at 0. */
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

/* Fewer bytes of records than this are searched linearly. */
enum { FEW_RECORDS = 512 };

/* Find the record for a symbol; return false if there is none. The map is made at the first lookup, so that looking up
 * every kernel of an object takes linear time. */
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
	if (!object->more->records) {
		struct sk_map *records = SK_NEW(linker->arena, struct sk_map);

		sk_object_own_more(linker->arena, object)->records = records;
		sk_map_init(records, linker->arena);
		for (uint64_t offset = 0; next_record(object, &offset, record);)
			sk_map_insert(records, record->symbol, strlen(record->symbol), (uint32_t)record->offset);
	}

	uint32_t found = sk_map_find(object->more->records, symbol, strlen(symbol));
	uint64_t offset = found;

	return found != SK_NONE && next_record(object, &offset, record);
}

/* Return the range of the objects of an input, or of all objects. */
static void range_of(const struct sk_linker *linker, uint32_t input, size_t *first, size_t *end)
{
	*first = 0;
	*end = linker->objects.count;
	if (input != SK_NONE) {
		*first = linker->inputs.items[input].first_object;
		*end = *first + linker->inputs.items[input].object_count;
	}
}

/* Return whether the object, which is one of the input, is part of the lookup. */
static bool is_meant(const struct sk_object *object, struct sk_lookup where)
{
	return !where.member || (object->member && strlen(where.member) == object->member_length &&
				 !memcmp(where.member, object->member, object->member_length));
}

/* Find a definition of the symbol in the lookup: one of an object before one of an archive's member. Return SK_NONE if
 * there is none. */
static uint32_t find_definition(const struct sk_linker *linker, struct sk_lookup where, sk_symbol number)
{
	uint32_t found = SK_NONE;

	for (uint32_t i = linker->symbols.items[number].first_definition; i != SK_NONE;
	     i = linker->definitions.items[i].next) {
		const struct sk_object *object = linker->objects.items[linker->definitions.items[i].object];

		if ((where.input != SK_NONE && object->input != where.input) || !is_meant(object, where))
			continue;
		if (!object->member)
			return i;
		if (found == SK_NONE)
			found = i;
	}
	return found;
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

/* Report an error if the input mentions the symbol without defining it globally. */
static void report_missing(struct sk_linker *linker, struct sk_lookup where, const char *name)
{
	const struct sk_object *local = where.local ? NULL : sk_find_local_function(linker, where.input, name);
	size_t first, end;

	if (local) {
		const char *object = sk_object_name(linker->arena, local);

		sk_error(linker->diag, (struct sk_place){.file = object},
			 "'%s' is a local symbol here (a static function), which is a kernel only where an entry "
			 "under 'kernels' names its object: 'object: %s'",
			 name, object);
		return;
	}
	range_of(linker, where.input, &first, &end);
	for (size_t i = first; i < end; i++) {
		struct sk_object *object = linker->objects.items[i];
		struct record record;

		if (is_meant(object, where) && find_record(linker, object, name, &record)) {
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

		for (uint32_t j = object->first_global; is_meant(object, where) && j < object->symbol_count; j++)
			if (!strcmp(object->names + object->symbols[j].st_name, name)) {
				sk_error(linker->diag, (struct sk_place){.file = sk_object_name(linker->arena, object)},
					 "'%s' is used here, but not defined", name);
				return;
			}
	}
}

/* Find by name; return SK_NONE if the lookup has no definition. */
static uint32_t find_function(const struct sk_linker *linker, struct sk_lookup where, const char *name)
{
	sk_symbol number = sk_map_find(&linker->symbol_numbers, name, strlen(name));

	return number == SK_NONE ? SK_NONE : find_definition(linker, where, number);
}

static struct sk_kernel_record name_record(struct sk_linker *linker, const struct sk_object *object,
					   const struct record *record)
{
	const char *name = sk_object_name(linker->arena, object);

	return (struct sk_kernel_record){.symbol = record->symbol,
					 .signature = record->signature,
					 .object = name,
					 .member = object->member,
					 .is_library = linker->inputs.items[object->input].is_library,
					 .input = object->input,
					 .place = {.file = name, .section = ".sk.kernels", .offset = record->offset},
					 .code = SK_NONE};
}

bool sk_linker_find_record(struct sk_linker *linker, struct sk_lookup where, const char *name,
			   struct sk_kernel_record *result)
{
	size_t first, end;

	if (find_function(linker, where, name) != SK_NONE)
		return false;
	range_of(linker, where.input, &first, &end);
	for (size_t i = first; i < end; i++) {
		struct sk_object *object = linker->objects.items[i];
		struct record record;

		if (!is_meant(object, where) || !find_record(linker, object, name, &record))
			continue;
		*result = name_record(linker, object, &record);
		return true;
	}
	return false;
}

/* No function was found: report the reason if it is known. */
static void report_none(struct sk_linker *linker, struct sk_lookup where, const char *name)
{
	const struct sk_input *input = where.input == SK_NONE ? NULL : &linker->inputs.items[where.input];
	unsigned errors = linker->diag->errors;
	bool known = !where.member;

	for (uint32_t i = 0; !known && i < input->object_count; i++)
		known = is_meant(linker->objects.items[input->first_object + i], where);
	if (!known) {
		sk_error(linker->diag, (struct sk_place){.file = input->path}, "there is no member '%s'", where.member);
		return;
	}
	report_missing(linker, where, name);
	if (input && input->intermediate && linker->diag->errors == errors)
		sk_error(linker->diag, (struct sk_place){.file = input->path},
			 "'%s' is not in any member with machine code; some members hold only intermediate "
			 "code of link-time optimisation: recompile without -flto",
			 name);
}

/* Fill the result for the object's symbol, which is the kernel; result->code is not known yet. */
static void describe_kernel(struct sk_linker *linker, struct sk_object *object, uint32_t index,
			    struct sk_kernel_record *result)
{
	const char *name = object->names + object->symbols[index].st_name;
	struct record record;

	*result = (struct sk_kernel_record){.symbol = name,
					    .object = sk_object_name(linker->arena, object),
					    .member = object->member,
					    .input = object->input,
					    .place = sk_symbol_place(linker->arena, object, index),
					    .code = SK_NONE};
	if (!find_record(linker, object, name, &record))
		return;
	result->signature = record.signature;
	result->place = (struct sk_place){.file = result->object, .section = ".sk.kernels", .offset = record.offset};
}

/* Find an import for a name without a definition. Return false if it is not an import, or after an error. */
static bool find_import(struct sk_linker *linker, struct sk_lookup where, const char *name,
			struct sk_kernel_record *result)
{
	sk_symbol number = sk_map_find(&linker->symbol_numbers, name, strlen(name));
	enum sk_target_kind kind = number == SK_NONE ? SK_TARGET_UNDEFINED : sk_symbol_target(linker, number).kind;
	struct sk_place place = {0};

	if (!where.imported || !sk_is_import(kind))
		return false;

	const struct sk_import *import = linker->symbols.items[number].import;

	place.file = import->library;
	*result = (struct sk_kernel_record){
		.symbol = import->name, .object = import->library, .input = SK_NONE, .place = place, .code = number};
	if (kind == SK_TARGET_IMPORT && import->class != SK_IMPORT_ENDS && import->class != SK_IMPORT_SERVED)
		return true;
	sk_error(linker->diag, place, "'%s' %s", name,
		 import->data			     ? "is data, not a function"
		 : import->class == SK_IMPORT_SERVED ? "serves code that has been linked, and cannot be a kernel"
						     : "ends the launch that calls it, and cannot be a kernel");
	return false;
}

static bool find_local(struct sk_linker *linker, struct sk_lookup where, const char *name,
		       struct sk_kernel_record *result)
{
	unsigned errors = linker->diag->errors;
	struct sk_local_function *found = where.local ? sk_find_local_kernel(linker, where, name) : NULL;

	if (!found && find_import(linker, where, name, result))
		return true;
	if (!found) {
		if (linker->diag->errors == errors)
			report_none(linker, where, name);
		return false;
	}

	struct sk_object *object = linker->objects.items[found->object];

	describe_kernel(linker, object, found->index, result);
	if (!sk_object_extract(linker, object, name, "<internal>"))
		return false;
	result->code = sk_local_function_symbol(linker, found);
	return true;
}

bool sk_linker_find_kernel(struct sk_linker *linker, struct sk_lookup where, const char *name,
			   struct sk_kernel_record *result)
{
	uint32_t definition = find_function(linker, where, name);

	if (definition == SK_NONE)
		return find_local(linker, where, name, result);

	uint32_t index = linker->definitions.items[definition].index;
	struct sk_object *object = linker->objects.items[linker->definitions.items[definition].object];
	const char *reason = sk_kernel_refusal(object, index);

	bool indirect = ELF64_ST_TYPE(object->symbols[index].st_info) == STT_GNU_IFUNC;

	describe_kernel(linker, object, index, result);
	result->code = object->globals[index - object->first_global];
	if (object->isolated)
		sk_symbol_keep(linker, result->code);
	else if (where.input == SK_NONE)
		linker->symbols.items[result->code].referred = true;
	if (!reason || (indirect && sk_ifunc_is_chosen(linker, name))) {
		if (!sk_object_extract(linker, object, name, "<internal>"))
			return false;
		if (!object->isolated && where.input != SK_NONE)
			sk_duplicates_keep(linker, sk_symbol_intern(linker, name, strlen(name)), object, index);
		result->code = object->globals[index - object->first_global];
		return true;
	}
	sk_error(linker->diag, sk_symbol_place(linker->arena, object, index), "'%s' %s", name, reason);
	if (indirect && sk_object_pull(linker, object))
		sk_ifunc_note_choices(linker, object, index);
	return false;
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

static void name_imports(struct sk_linker *linker, sk_texts *names)
{
	const struct sk_import_list *lists[] = {&sk_imports,
						linker->architecture ? linker->architecture->imports : NULL};

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		for (size_t j = 0; lists[i] && j < lists[i]->count; j++)
			if (!lists[i]->rows[j].data)
				sk_array_push(linker->arena, names, lists[i]->rows[j].name);
}

const char *const *sk_linker_function_names(struct sk_linker *linker, struct sk_lookup where, size_t *count)
{
	sk_texts names = {0};
	size_t first, end;

	range_of(linker, where.input, &first, &end);
	for (size_t i = first; i < end; i++) {
		const struct sk_object *object = linker->objects.items[i];
		struct record record;

		if (!is_meant(object, where))
			continue;
		for (uint32_t j = where.local ? 1 : object->first_global; j < object->symbol_count; j++)
			if (!sk_kernel_refusal(object, j))
				sk_array_push(linker->arena, &names, object->names + object->symbols[j].st_name);
		for (uint64_t offset = 0; next_record(object, &offset, &record);)
			sk_array_push(linker->arena, &names, record.symbol);
	}
	if (where.imported)
		name_imports(linker, &names);
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

		for (uint32_t j = 0; object->pulled && j < object->part_count; j++)
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

/* ---- origins of sections ---- */

static void spread(struct sk_linker *linker)
{
	while (linker->work.count)
		reach_targets(linker, linker->work.items[--linker->work.count]);
}

/* One search from all kernels, then from the symbols that they are handed, and then from the constructors: each section
 * keeps the number of the first root that reaches it. */
static void find_origins(struct sk_linker *linker)
{
	begin_search(linker);
	linker->first_origin = linker->visit;
	for (size_t i = 0; i < linker->order.count; i++, linker->visit++) {
		reach(linker, sk_symbol_target(linker, linker->order.items[i].code).section);
		spread(linker);
	}
	for (size_t i = 0; i < linker->handed_in_order.count; i++, linker->visit++) {
		reach(linker, sk_symbol_target(linker, linker->handed_in_order.items[i].symbol).section);
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

	size_t origin = section->visit - linker->first_origin, first_handed = linker->order.count;

	if (origin == first_handed + linker->handed_in_order.count) {
		sk_note(linker->diag, "reached from a constructor or destructor, which runs with the package");
		return;
	}

	const struct sk_ordered *kernel = origin < first_handed
						  ? &linker->order.items[origin]
						  : &linker->handed_in_order.items[origin - first_handed].kernel;
	const char *name = linker->symbols.items[kernel->code].name;

	if (kernel->caller)
		sk_note(linker->diag, "reached from kernel '%s', which '%s' calls", name, kernel->caller);
	else
		sk_note(linker->diag, "reached from kernel '%s'", name);
}
