/* How much of the image code reaches: for the map, so that users see what a kernel costs. A section counts as a whole;
 * of mergeable ones only the strings and records that are referred to. Constructors and unwind tables are nobody's. */
#include "linker/internal.h"

/* A section, or a string or record of a merged one. What is the end of another string counts as that one. */
struct unit {
	uint64_t size;
	enum sk_reach_kind kind;
	uint32_t search; /* the last one that came by */
	uint32_t reached; /* number of searches that came by */
};

struct measuring {
	struct sk_linker *linker;
	struct sk_map numbers; /* of units, by the address of the section or the piece */
	SK_ARRAY(struct unit) units;
	SK_ARRAY(const struct sk_input_section *) work;
	uint32_t search;
	struct sk_reach *reach; /* NULL: the units' searches are being counted */
};

static enum sk_reach_kind kind_of(enum sk_rank rank)
{
	if (rank == SK_RANK_TEXT)
		return SK_REACH_TEXT;
	return rank == SK_RANK_DATA || rank == SK_RANK_ZERO_DATA ? SK_REACH_WRITABLE : SK_REACH_READ_ONLY;
}

/* False if this search has been there. */
static bool enter(struct measuring *measuring, const void *identity, uint64_t size, enum sk_rank rank)
{
	struct sk_arena *arena = measuring->linker->arena;
	uint32_t number = sk_map_find(&measuring->numbers, (const char *)&identity, sizeof(identity));

	if (number == SK_NONE) {
		number = (uint32_t)measuring->units.count;
		sk_map_insert(&measuring->numbers, sk_arena_copy(arena, (const char *)&identity, sizeof(identity)),
			      sizeof(identity), number);
		sk_array_push(arena, &measuring->units, (struct unit){.size = size, .kind = kind_of(rank)});
	}

	struct unit *unit = &measuring->units.items[number];

	if (unit->search == measuring->search)
		return false;
	unit->search = measuring->search;
	if (!measuring->reach)
		unit->reached++;
	else
		*(unit->reached > 1 ? &measuring->reach->shared[unit->kind] : &measuring->reach->own[unit->kind]) +=
			unit->size;
	return true;
}

static void enter_section(struct measuring *measuring, const struct sk_input_section *section)
{
	if (!section->output || !enter(measuring, section, section->size, section->output->rank))
		return;
	sk_array_push(measuring->linker->arena, &measuring->work, section);

	const struct sk_range *range = sk_range_bounded(section);

	for (size_t i = 0; range && i < range->sections.count; i++)
		enter_section(measuring, range->sections.items[i]);
}

/* The string or record at the offset of a merged section: the last piece that begins there or before. */
static void enter_piece(struct measuring *measuring, const struct sk_input_section *merged, uint64_t offset)
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
		enter(measuring, &merged->pieces[low], merged->pieces[low].size, merged->output->rank);
}

static void enter_target(struct measuring *measuring, const struct sk_input_section *section,
			 const sk_elf_relocation *relocation)
{
	const struct sk_target target = sk_relocation_target(measuring->linker, section, relocation);
	const struct sk_object *object = section->object; /* NULL: a section of the caller's */
	uint32_t symbol = ELF64_R_SYM(relocation->r_info);
	bool local = object && symbol && symbol < object->first_global;

	if (!target.section || !target.section->output)
		return;
	if (!(target.section->flags & SHF_MERGE) || target.section->object)
		enter_section(measuring, target.section);
	else /* a local symbol's addend can be a part of what is meant */
		enter_piece(measuring, target.section,
			    target.value + (local ? target.offset - object->symbols[symbol].st_value : 0));
}

static void begin_at(struct measuring *measuring, sk_symbol code)
{
	const struct sk_input_section *start = sk_symbol_target(measuring->linker, code).section;

	if (start)
		enter_section(measuring, start);
}

static void search(struct measuring *measuring, const struct sk_functions *functions)
{
	measuring->search++;
	begin_at(measuring, functions->first);
	if (functions->second != SK_NONE)
		begin_at(measuring, functions->second);
	while (measuring->work.count) {
		const struct sk_input_section *section = measuring->work.items[--measuring->work.count];

		for (uint64_t i = 0; i < section->relocation_count; i++)
			enter_target(measuring, section, &section->relocations[i]);
	}
}

void sk_linker_measure(struct sk_linker *linker, const struct sk_functions *functions, size_t count,
		       struct sk_reach *reaches, struct sk_reach *total)
{
	struct measuring measuring = {.linker = linker};

	sk_map_init(&measuring.numbers, linker->arena);
	for (size_t i = 0; i < count; i++)
		search(&measuring, &functions[i]);
	for (size_t i = 0; i < count; i++) {
		reaches[i] = (struct sk_reach){0};
		measuring.reach = &reaches[i];
		search(&measuring, &functions[i]);
	}
	*total = (struct sk_reach){0};
	for (size_t i = 0; i < measuring.units.count; i++) {
		const struct unit *unit = &measuring.units.items[i];

		*(unit->reached > 1 ? &total->shared[unit->kind] : &total->own[unit->kind]) += unit->size;
	}
}
