/* Local functions as kernels: static functions that their object exposes only through a table. Input: an input file and
 * a name. Output: the function, with a symbol of the link for it. Several functions of an archive, even of an object
 * that was linked with -r, may have the same name; the caller then has to choose one. */
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "linker/linker-parts.h"
#include "linker/linker.h"
#include "linker/object.h"

enum { MAXIMUM_LISTED = 20 };

const char *sk_kernel_refusal(const struct sk_object *object, uint32_t index)
{
	const sk_elf_symbol *symbol = &object->symbols[index];
	uint32_t section = sk_object_symbol_section(object, index);

	switch (ELF64_ST_TYPE(symbol->st_info)) {
	case STT_TLS:
		return "is a thread-local variable, not a function";
	case STT_GNU_IFUNC:
		return "is an IFUNC, which chooses its function at run time; name the function: "
		       "--ifunc=SYMBOL=FUNCTION";
	case STT_FUNC:
	case STT_NOTYPE: /* assembly without .type */
		if (!section || !sk_object_is_code(object, section))
			break;
		if (symbol->st_value >= sk_object_section_size(object, section))
			return "is at the end of its section, where there is no code";
		return NULL;
	default:
		break;
	}
	return "is not a function";
}

/* ---- local functions ---- */

/* Return the key of a function in one member of an archive. */
static const char *function_key(struct sk_linker *linker, const char *name, const char *member, size_t member_length,
				size_t *length)
{
	size_t before = strlen(name) + 1;
	char *key = sk_arena_alloc(linker->arena, before + member_length, 1);

	memcpy(key, name, before);
	memcpy(key + before, member, member_length);
	*length = before + member_length;
	return key;
}

static void enter_function(struct sk_linker *linker, struct sk_map *map, uint32_t object, uint32_t index)
{
	const struct sk_object *holder = linker->objects.items[object];
	const char *name = holder->names + holder->symbols[index].st_name;
	uint32_t number = (uint32_t)linker->local_functions.count, first;
	size_t length;

	sk_array_push(linker->arena, &linker->local_functions,
		      (struct sk_local_function){.object = object, .index = index, .symbol = SK_NONE});
	first = sk_map_insert(map, name, strlen(name), number);
	linker->local_functions.items[first].of_name++;
	if (!holder->member)
		return;

	const char *key = function_key(linker, name, holder->member, holder->member_length, &length);

	first = sk_map_insert(map, key, length, number);
	linker->local_functions.items[first].of_member++;
}

/* Return the functions by name. The map is made at the first lookup, so that looking up every function of an archive
 * takes linear time. */
static const struct sk_map *functions_of(struct sk_linker *linker, struct sk_input *input)
{
	if (input->local_functions)
		return input->local_functions;
	input->local_functions = SK_NEW(linker->arena, struct sk_map);
	sk_map_init(input->local_functions, linker->arena);
	for (uint32_t i = input->first_object; i < input->first_object + input->object_count; i++) {
		const struct sk_object *object = linker->objects.items[i];

		for (uint32_t j = 1; j < object->first_global; j++)
			if (!sk_kernel_refusal(object, j))
				enter_function(linker, input->local_functions, i, j);
	}
	return input->local_functions;
}

/* Add "lib.a(x.o)" for each member that has the function. */
static void list_members(struct sk_linker *linker, const struct sk_input *input, const char *name)
{
	unsigned members = 0;

	for (uint32_t i = input->first_object; i < input->first_object + input->object_count; i++) {
		const struct sk_object *object = linker->objects.items[i];

		for (uint32_t j = 1; j < object->first_global; j++) {
			if (strcmp(object->names + object->symbols[j].st_name, name) != 0 ||
			    sk_kernel_refusal(object, j))
				continue;
			if (++members <= MAXIMUM_LISTED)
				sk_note(linker->diag, "%s", sk_object_name(linker->arena, object));
			break;
		}
	}
	if (members > MAXIMUM_LISTED)
		sk_note(linker->diag, "and %u more", members - MAXIMUM_LISTED);
}

static void report_several(struct sk_linker *linker, struct sk_lookup where, const char *name,
			   const struct sk_local_function *first)
{
	const struct sk_input *input = &linker->inputs.items[where.input];
	const char *object = sk_object_name(linker->arena, linker->objects.items[first->object]);

	if (!input->archive || where.member) {
		sk_error(linker->diag, (struct sk_place){.file = object}, "several local symbols are called '%s'%s",
			 name,
			 where.member ? "; if they are of members with one name, 'ar xN COUNT' takes one of these out"
				      : ", and nothing tells them apart");
		return;
	}
	sk_error(linker->diag, (struct sk_place){.file = input->path},
		 "'%s' is a local symbol of several members; name one of these, such as 'object: %s'", name, object);
	list_members(linker, input, name);
}

struct sk_local_function *sk_find_local_kernel(struct sk_linker *linker, struct sk_lookup where, const char *name)
{
	const struct sk_map *functions = functions_of(linker, &linker->inputs.items[where.input]);
	size_t length = strlen(name);
	const char *key = where.member ? function_key(linker, name, where.member, strlen(where.member), &length) : name;
	uint32_t number = sk_map_find(functions, key, length);
	struct sk_local_function *found;

	if (number == SK_NONE)
		return NULL;
	found = &linker->local_functions.items[number];
	if ((where.member ? found->of_member : found->of_name) == 1)
		return found;
	report_several(linker, where, name, found);
	return NULL;
}

sk_symbol sk_local_symbol(struct sk_linker *linker, struct sk_object *object, uint32_t index)
{
	const sk_elf_symbol *raw = &object->symbols[index];
	const char *name = object->names + raw->st_name;
	sk_symbol number = sk_symbol_add(linker, name, strlen(name));
	struct sk_linker_symbol *symbol = &linker->symbols.items[number];

	symbol->local = true;
	symbol->rank = SK_DEFINITION_STRONG;
	symbol->object = object;
	symbol->index = index;
	symbol->section = sk_object_section(object, sk_object_symbol_section(object, index));
	symbol->value = raw->st_value;
	symbol->size = raw->st_size;
	symbol->type = ELF64_ST_TYPE(raw->st_info);
	return number;
}

sk_symbol sk_local_function_symbol(struct sk_linker *linker, struct sk_local_function *function)
{
	if (function->symbol == SK_NONE)
		function->symbol = sk_local_symbol(linker, linker->objects.items[function->object], function->index);
	return function->symbol;
}

const char *sk_containing_function(struct sk_linker *linker, const struct sk_input_section *section, uint64_t offset)
{
	const struct sk_object *object = section->object;

	for (uint32_t i = 1; object && i < object->symbol_count; i++) {
		const sk_elf_symbol *symbol = &object->symbols[i];

		if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && offset >= symbol->st_value &&
		    offset - symbol->st_value < symbol->st_size &&
		    sk_object_section(object, sk_object_symbol_section(object, i)) == section)
			return sk_demangled(linker, object->names + symbol->st_name);
	}
	return NULL;
}
