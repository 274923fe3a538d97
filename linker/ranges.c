/* Sections with C identifiers as names. Input: sections of pulled objects. Output: for each name the symbols
 * __start_NAME and __stop_NAME, which code uses to walk over the sections of all objects. A reference to one of them
 * therefore needs all sections of the name, and they must be adjacent in one output section. */
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "linker/linker-parts.h"
#include "linker/object.h"
#include "linker/output.h"

static void describe_bound(struct sk_section_range *range, struct sk_input_section *bound)
{
	*bound = (struct sk_input_section){.name = range->name,
					   .type = SHT_PROGBITS,
					   .flags = SHF_ALLOC,
					   .alignment = 1,
					   .state = SK_NONE,
					   .in_range = true,
					   .range = range,
					   .loaded = true};
}

static void provide(struct sk_linker *linker, const char *prefix, struct sk_input_section *bound)
{
	const char *name = sk_arena_print(linker->arena, "%s%s", prefix, bound->name);

	sk_symbol_provide(linker, sk_symbol_intern(linker, name, strlen(name)), bound);
}

void sk_range_add(struct sk_linker *linker, struct sk_input_section *section)
{
	if (!section->loaded || section->discarded || (section->flags & SHF_TLS) || !sk_is_identifier(section->name))
		return;
	/* Each of these is a single section with its own order. */
	if (section->type == SHT_INIT_ARRAY || section->type == SHT_FINI_ARRAY)
		return;

	uint32_t fresh = (uint32_t)linker->ranges.count;
	uint32_t number = sk_map_insert(&linker->range_numbers, section->name, strlen(section->name), fresh);

	if (number == fresh) {
		struct sk_section_range *range = SK_NEW(linker->arena, struct sk_section_range);

		range->name = section->name;
		sk_array_push(linker->arena, &linker->ranges, range);
		describe_bound(range, &range->start);
		describe_bound(range, &range->stop);
		provide(linker, "__start_", &range->start);
		provide(linker, "__stop_", &range->stop);
	}
	section->in_range = true;
	sk_array_push(linker->arena, &linker->ranges.items[number]->sections, section);
}

const struct sk_section_range *sk_range_bounded(const struct sk_input_section *section)
{
	return section->in_range && !section->object ? section->range : NULL;
}

/* If a section is writable, zeroed, or holds addresses in one object, the sections of all objects must be placed in the
 * same way. */
static bool unify(struct sk_linker *linker, struct sk_section_range *range)
{
	const struct sk_input_section *first = range->sections.items[0];
	bool writable = false, holds_addresses = false, zero = true;

	for (size_t i = 0; i < range->sections.count; i++) {
		const struct sk_input_section *section = range->sections.items[i];

		if ((section->flags ^ first->flags) & SHF_EXECINSTR) {
			sk_error(linker->diag, sk_section_place(linker->arena, section, 0),
				 "the section is code in one object and data in another, so code cannot walk from "
				 "__start_%s to __stop_%s",
				 range->name, range->name);
			sk_note(linker->diag, "the other one is in %s", sk_object_name(linker->arena, first->object));
			return false;
		}
		writable |= (section->flags & SHF_WRITE) != 0;
		holds_addresses |= section->holds_addresses;
		zero &= section->type == SHT_NOBITS;
	}
	for (size_t i = 0; i < range->sections.count; i++) {
		struct sk_input_section *section = range->sections.items[i];

		section->flags |= writable ? SHF_WRITE : 0;
		section->holds_addresses = holds_addresses;
		section->type = zero ? SHT_NOBITS : SHT_PROGBITS;
	}
	return true;
}

bool sk_ranges_unify(struct sk_linker *linker)
{
	bool ok = true;

	for (size_t i = 0; i < linker->ranges.count; i++) {
		struct sk_section_range *range = linker->ranges.items[i];

		if (range->start.live || range->stop.live)
			ok &= unify(linker, range);
	}
	return ok;
}

void sk_ranges_place(struct sk_linker *linker)
{
	for (size_t i = 0; i < linker->ranges.count; i++) {
		struct sk_section_range *range = linker->ranges.items[i];
		const struct sk_output *output = range->sections.items[0]->output;

		if (!range->start.live && !range->stop.live)
			continue;
		range->start.output = range->stop.output = range->sections.items[0]->output;
		range->start.address = output->address;
		range->stop.address = output->address + output->size;
	}
}
