/* How much of the image code reaches, for the map, so that users see the cost of a kernel. A section counts as a whole;
 * in a mergeable one only the strings and records that are referred to. Constructors and unwind tables count for no
 * kernel. */
#include "base/arena.h"
#include "base/map.h"
#include "linker/linker-parts.h"
#include "linker/linker.h"
#include "linker/object.h"
#include "linker/output.h"

/* A section, or a string or record of a merged one. A string that is the end of another one counts as that one. */
struct unit {
	const struct sk_input_section *section; /* NULL: a string or record, which refers to nothing */
	uint64_t size;
	enum sk_reach_kind kind;
	bool expanded; /* its direct targets are known: */
	size_t first_target; /* in the targets of all units */
	uint32_t target_count;
	uint32_t found_from; /* the last unit found with it as a target, from 1; 0: none */
	uint32_t search; /* the last search that visited it */
	uint32_t reached; /* number of searches that visited it */
};

/* Thousands of kernels may reach the same sections, so relocations are looked at once and searches go from unit to
 * unit. */
struct measuring {
	struct sk_linker *linker;
	struct sk_map numbers; /* of units, by the address of the section or the piece */
	SK_ARRAY(struct unit) units;
	SK_ARRAY(uint32_t) targets;
	SK_ARRAY(uint32_t) work;
	uint32_t search;
	struct sk_reach *reach; /* NULL: the units' searches are being counted */
};

static enum sk_reach_kind kind_of(enum sk_rank rank)
{
	if (rank == SK_RANK_TEXT)
		return SK_REACH_TEXT;
	return rank == SK_RANK_DATA || rank == SK_RANK_ZERO_DATA || sk_is_thread_rank(rank) ? SK_REACH_WRITABLE
											    : SK_REACH_READ_ONLY;
}

static uint32_t number_of_unit(struct measuring *measuring, const void *identity, const struct unit *unit)
{
	struct sk_arena *arena = measuring->linker->arena;
	uint32_t number = sk_map_find(&measuring->numbers, (const char *)&identity, sizeof(identity));

	if (number != SK_NONE)
		return number;
	number = (uint32_t)measuring->units.count;
	sk_map_insert(&measuring->numbers, sk_arena_copy(arena, (const char *)&identity, sizeof(identity)),
		      sizeof(identity), number);
	sk_array_push(arena, &measuring->units, *unit);
	return number;
}

static uint32_t number_of_section(struct measuring *measuring, const struct sk_input_section *section)
{
	return number_of_unit(
		measuring, section,
		&(struct unit){.section = section, .size = section->size, .kind = kind_of(section->output->rank)});
}

/* ---- targets of a unit ---- */

static void add_target(struct measuring *measuring, uint32_t unit, uint32_t target)
{
	if (measuring->units.items[target].found_from == unit + 1)
		return;
	measuring->units.items[target].found_from = unit + 1;
	sk_array_push(measuring->linker->arena, &measuring->targets, target);
}

static void add_section(struct measuring *measuring, uint32_t unit, const struct sk_input_section *section)
{
	if (section->output)
		add_target(measuring, unit, number_of_section(measuring, section));
}

/* Add the string or record at the offset of a merged section: the last piece that begins there or before. */
static void add_piece(struct measuring *measuring, uint32_t unit, const struct sk_input_section *merged,
		      uint64_t offset)
{
	size_t low = 0, high = merged->piece_count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (merged->pieces[middle].offset <= offset)
			low = middle;
		else
			high = middle;
	}
	if (high)
		add_target(measuring, unit,
			   number_of_unit(measuring, &merged->pieces[low],
					  &(struct unit){.size = merged->pieces[low].size,
							 .kind = kind_of(merged->output->rank)}));
}

static void add_relocation(struct measuring *measuring, uint32_t unit, const struct sk_input_section *section,
			   const sk_elf_relocation *relocation)
{
	const struct sk_target target = sk_relocation_target(measuring->linker, section, relocation);
	const struct sk_object *object = section->object; /* NULL: a section of the caller */
	uint32_t symbol = (uint32_t)ELF64_R_SYM(relocation->r_info);
	bool local = object && symbol && symbol < object->first_global;

	if (!target.section || !target.section->output)
		return;
	if (!(target.section->flags & SHF_MERGE) || target.section->object)
		add_section(measuring, unit, target.section);
	else /* the addend of a local symbol can select the string or record */
		add_piece(measuring, unit, target.section,
			  target.value + (local ? target.offset - object->symbols[symbol].st_value : 0));
}

static void expand(struct measuring *measuring, uint32_t number)
{
	const struct sk_input_section *section = measuring->units.items[number].section;
	size_t first = measuring->targets.count;

	if (section) {
		const struct sk_section_range *range = sk_range_bounded(section);

		for (size_t i = 0; range && i < range->sections.count; i++)
			add_section(measuring, number, range->sections.items[i]);
		for (uint64_t i = 0; i < section->relocation_count; i++)
			add_relocation(measuring, number, section, &section->relocations[i]);
	}

	struct unit *unit = &measuring->units.items[number];

	unit->first_target = first;
	unit->target_count = (uint32_t)(measuring->targets.count - first);
	unit->expanded = true;
}

/* ---- searches ---- */

static void visit_unit(struct measuring *measuring, uint32_t number)
{
	struct unit *unit = &measuring->units.items[number];

	if (unit->search == measuring->search)
		return;
	unit->search = measuring->search;
	if (!measuring->reach)
		unit->reached++;
	else
		*(unit->reached > 1 ? &measuring->reach->shared[unit->kind] : &measuring->reach->own[unit->kind]) +=
			unit->size;
	sk_array_push(measuring->linker->arena, &measuring->work, number);
}

static void search_roots(struct measuring *measuring, const struct sk_roots *roots)
{
	measuring->search++;
	for (size_t i = 0; i < roots->count; i++) {
		const struct sk_input_section *start = sk_symbol_target(measuring->linker, roots->symbols[i]).section;

		if (start && start->output)
			visit_unit(measuring, number_of_section(measuring, start));
	}
	while (measuring->work.count) {
		uint32_t number = measuring->work.items[--measuring->work.count];

		if (!measuring->units.items[number].expanded)
			expand(measuring, number);

		const struct unit *unit = &measuring->units.items[number];

		for (uint32_t i = 0; i < unit->target_count; i++)
			visit_unit(measuring, measuring->targets.items[unit->first_target + i]);
	}
}

void sk_linker_measure(struct sk_linker *linker, const struct sk_roots *kernels, size_t count, struct sk_reach *reaches,
		       struct sk_reach *total)
{
	struct measuring measuring = {.linker = linker};

	sk_map_init(&measuring.numbers, linker->arena);
	for (size_t i = 0; i < count; i++)
		search_roots(&measuring, &kernels[i]);
	for (size_t i = 0; i < count; i++) {
		reaches[i] = (struct sk_reach){0};
		measuring.reach = &reaches[i];
		search_roots(&measuring, &kernels[i]);
	}
	*total = (struct sk_reach){0};
	for (size_t i = 0; i < measuring.units.count; i++) {
		const struct unit *unit = &measuring.units.items[i];

		*(unit->reached > 1 ? &total->shared[unit->kind] : &total->own[unit->kind]) += unit->size;
	}
}
