/* IFUNCs: functions with a resolver, which would choose an implementation for the processor when the process starts.
 * Packages contain none, since proof, copies and alignment apply to a definite function. Input: the choices of --ifunc.
 * Output: symbols for the chosen functions, and for IFUNCs without a choice, the names to choose from. */
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "format/relocation-types.h"
#include "linker/linker-parts.h"
#include "linker/linker.h"
#include "linker/object.h"

enum { MAXIMUM_LISTED = 20 };

void sk_ifuncs_read(struct sk_linker *linker)
{
	for (size_t i = 0; i < linker->options.ifunc_count; i++) {
		const char *text = linker->options.ifuncs[i], *equals = strchr(text, '=');
		uint32_t number = (uint32_t)linker->ifunc_choices.count;

		if (!equals || equals == text || !equals[1])
			sk_error(linker->diag, (struct sk_place){0}, "--ifunc %s: must be symbol=function", text);
		else if (sk_map_insert(&linker->ifunc_names, text, (size_t)(equals - text), number) != number)
			sk_error(linker->diag, (struct sk_place){0}, "--ifunc %s: a function has been chosen already",
				 text);
		else
			sk_array_push(linker->arena, &linker->ifunc_choices,
				      (struct sk_ifunc_choice){.text = text, .function = equals + 1});
	}
}

bool sk_ifunc_is_chosen(const struct sk_linker *linker, const char *name)
{
	return sk_map_find(&linker->ifunc_names, name, strlen(name)) != SK_NONE;
}

/* Return the symbol for the function of that name: the object's own one, even if local, or else the one that the name
 * means. SK_NONE after an error. */
static sk_symbol find_function(struct sk_linker *linker, struct sk_object *object, const char *text, const char *name)
{
	for (uint32_t i = 1; i < object->symbol_count; i++) {
		const char *reason;

		if (object->symbols[i].st_shndx == SHN_UNDEF ||
		    strcmp(object->names + object->symbols[i].st_name, name) != 0)
			continue;
		reason = sk_kernel_refusal(object, i);
		if (!reason)
			return i < object->first_global ? sk_local_symbol(linker, object, i)
							: object->globals[i - object->first_global];
		sk_error(linker->diag, sk_symbol_place(linker->arena, object, i), "--ifunc %s: '%s' %s", text, name,
			 reason);
		return SK_NONE;
	}
	return sk_alias_reference(linker, name);
}

void sk_ifunc_choose(struct sk_linker *linker, sk_symbol number)
{
	struct sk_object *object = linker->symbols.items[number].object;
	const char *name = linker->symbols.items[number].name;
	uint32_t found = sk_map_find(&linker->ifunc_names, name, strlen(name));

	if (found == SK_NONE)
		return;

	struct sk_ifunc_choice *choice = &linker->ifunc_choices.items[found];
	sk_symbol function = find_function(linker, object, choice->text, choice->function);

	choice->used = true;
	if (function == SK_NONE)
		return;
	if (sk_alias_follow(linker, function) == number) {
		sk_error(linker->diag, (struct sk_place){0}, "--ifunc %s: the symbol would be an alias of itself",
			 choice->text);
		return;
	}

	struct sk_linker_symbol *symbol = &linker->symbols.items[number];

	symbol->rank = SK_DEFINITION_ASSIGNED;
	symbol->alias = function;
	symbol->section = NULL;
}

void sk_ifuncs_check(struct sk_linker *linker)
{
	for (size_t i = 0; i < linker->ifunc_choices.count; i++)
		if (!linker->ifunc_choices.items[i].used)
			sk_warning(linker->diag, (struct sk_place){0},
				   "--ifunc %s: no object that takes part has an IFUNC of this name",
				   linker->ifunc_choices.items[i].text);
}

/* ---- functions to choose from ---- */

static bool is_function(const struct sk_object *object, uint32_t index)
{
	return ELF64_ST_TYPE(object->symbols[index].st_info) == STT_FUNC && !sk_kernel_refusal(object, index);
}

/* Return the function that begins there, or NULL. */
static const char *function_at(const struct sk_object *object, uint32_t section, uint64_t value)
{
	for (uint32_t i = 1; i < object->symbol_count; i++)
		if (sk_object_symbol_section(object, i) == section && object->symbols[i].st_value == value &&
		    is_function(object, i))
			return object->names + object->symbols[i].st_name;
	return NULL;
}

/* Return the name of the function to which the resolver's relocation refers, or NULL. */
static const char *function_of(struct sk_linker *linker, const struct sk_input_section *section,
			       const sk_elf_relocation *relocation)
{
	const struct sk_object *object = section->object;
	uint32_t number = ELF64_R_TYPE(relocation->r_info), index = (uint32_t)ELF64_R_SYM(relocation->r_info);
	const struct sk_relocation_type *type = sk_relocation_type_find(linker->architecture->relocations, number);
	uint32_t home = sk_object_symbol_section(object, index);

	if (!type || !index ||
	    (section->bytes && linker->architecture->is_branch(number, section->bytes, relocation->r_offset)))
		return NULL;
	if (ELF64_ST_TYPE(object->symbols[index].st_info) == STT_SECTION)
		return function_at(object, home, (uint64_t)relocation->r_addend + type->width);
	if (home)
		return is_function(object, index) ? object->names + object->symbols[index].st_name : NULL;
	if (index < object->first_global) /* a number */
		return NULL;

	const struct sk_linker_symbol *symbol = &linker->symbols.items[object->globals[index - object->first_global]];
	const struct sk_definition *definition =
		symbol->first_definition == SK_NONE ? NULL : &linker->definitions.items[symbol->first_definition];

	return definition && is_function(linker->objects.items[definition->object], definition->index) ? symbol->name
												       : NULL;
}

void sk_ifunc_note_choices(struct sk_linker *linker, const struct sk_object *object, uint32_t index)
{
	const sk_elf_symbol *raw = &object->symbols[index];
	const struct sk_input_section *section = sk_object_section(object, sk_object_symbol_section(object, index));
	const char *names[MAXIMUM_LISTED], *list = "";
	size_t count = 0;

	for (uint32_t i = 0; i < section->relocation_count && count < MAXIMUM_LISTED; i++) {
		const sk_elf_relocation *relocation = &section->relocations[i];
		const char *name = relocation->r_offset - raw->st_value < raw->st_size
					   ? function_of(linker, section, relocation)
					   : NULL;
		bool is_new = name;

		for (size_t j = 0; is_new && j < count; j++)
			is_new = strcmp(names[j], name) != 0;
		if (!is_new)
			continue;
		list = sk_arena_print(linker->arena, "%s%s%s", list, *list ? ", " : "", name);
		names[count++] = name;
	}
	if (count)
		sk_note(linker->diag, "it chooses among: %s", list);
}
