/* --why-live. Input: names of symbols. Output: lines that say why their sections are in the image: a shortest path of
 * references from a section that is needed without a reference. The form is lld's. */
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "linker/linker-parts.h"
#include "linker/linker.h"
#include "linker/object.h"

static uint32_t number_of_section(const struct sk_found *found, const struct sk_input_section *section)
{
	for (size_t i = 0; i < found->sections.count; i++)
		if (found->sections.items[i] == section)
			return (uint32_t)i;
	return SK_NONE;
}

static void print_way(struct sk_linker *linker, const struct sk_found *found, uint32_t number)
{
	const struct sk_finding *finding = &found->findings.items[number];

	for (; !finding->root; finding = &found->findings.items[finding->from])
		SK_PRINT(linker, ">>> referenced by: %s",
			 sk_place_text(linker->arena,
				       sk_section_place(linker->arena, finding->section, finding->offset)));
	SK_PRINT(linker, ">>> %s", finding->root);
}

/* Return the section in which an object's symbol lies, or NULL. */
static const struct sk_input_section *section_of(struct sk_linker *linker, const struct sk_object *object,
						 uint32_t index)
{
	uint32_t section = sk_object_symbol_section(object, index);

	if (object->symbols[index].st_shndx == SHN_COMMON)
		return sk_symbol_target(linker, object->globals[index - object->first_global]).section;
	return section ? sk_object_section(object, section) : NULL;
}

/* Print whether the symbol is live, and the path to it. Return false if the object has no symbol of that name in a
 * section. */
static bool print_symbol(struct sk_linker *linker, const struct sk_found *found, const struct sk_object *object,
			 const char *name)
{
	bool any = false;

	for (uint32_t i = 1; i < object->symbol_count; i++) {
		if (strcmp(object->names + object->symbols[i].st_name, name) != 0 ||
		    object->symbols[i].st_shndx == SHN_UNDEF)
			continue;

		const struct sk_input_section *section = section_of(linker, object, i);

		if (!section)
			continue;

		uint32_t number = number_of_section(found, section);

		any = true;
		SK_PRINT(linker, "%s symbol: %s:(%s)", number == SK_NONE ? "dead" : "live",
			 sk_object_name(linker->arena, object), sk_demangled(linker, name));
		if (number != SK_NONE)
			print_way(linker, found, number);
	}
	return any;
}

static const char *suggest_symbol(struct sk_linker *linker, const char *name)
{
	SK_ARRAY(const char *) names = {0};

	for (size_t i = 0; i < linker->symbols.count; i++)
		if (linker->symbols.items[i].object && linker->symbols.items[i].object->pulled)
			sk_array_push(linker->arena, &names, linker->symbols.items[i].name);
	return sk_did_you_mean(linker->arena, name, names.items, names.count);
}

void sk_print_reasons(struct sk_linker *linker, const struct sk_found *found)
{
	for (size_t i = 0; i < linker->options.asked_symbol_count; i++) {
		const char *name = linker->options.asked_symbols[i];
		bool any = false;

		for (size_t j = 0; j < linker->objects.count; j++)
			if (linker->objects.items[j]->pulled)
				any |= print_symbol(linker, found, linker->objects.items[j], name);
		if (!any)
			sk_warning(linker->diag, (struct sk_place){0},
				   "--why-live=%s: no object that takes part has this symbol in a section%s", name,
				   suggest_symbol(linker, name));
	}
}
