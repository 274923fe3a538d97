/* Output sections. Input: live sections. Output: output sections in the order of the image, each with its parts in
 * order. The rank of their sections determines their names and access flags. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "linker/linker-parts.h"
#include "linker/linker.h"
#include "linker/object.h"
#include "linker/output.h"

/* ---- choice of the output section ---- */

enum sk_region sk_region_of(enum sk_rank rank)
{
	if (rank <= SK_RANK_FRAMES)
		return SK_REGION_READ_ONLY;
	if (rank <= SK_RANK_PLT)
		return SK_REGION_CODE;
	if (rank <= SK_RANK_RELRO_PADDING)
		return SK_REGION_RELRO;
	if (rank <= SK_RANK_ZERO_DATA)
		return SK_REGION_WRITABLE;
	return rank == SK_RANK_CONSTANTS ? SK_REGION_CONSTANTS : SK_REGION_NOT_LOADED;
}

enum { NO_PRIORITY = 65536 };

/* ".init_array.101" runs before ".init_array", which has the lowest priority. */
static uint64_t priority_of(const struct sk_input_section *section)
{
	const char *dot = strrchr(section->name, '.');
	uint64_t priority = 0;

	if (!dot || dot == section->name || strlen(dot) > 6 || !dot[1])
		return NO_PRIORITY;
	for (const char *digit = dot + 1; *digit; digit++) {
		if (*digit < '0' || *digit > '9')
			return NO_PRIORITY;
		priority = priority * 10 + (uint64_t)(*digit - '0');
	}
	return priority;
}

/* Return the name of the output section. With -r priorities are kept for the next linker, which orders all constructors
 * of the program. */
static const char *output_name(const struct sk_linker *linker, const struct sk_input_section *section)
{
	enum sk_rank rank = sk_section_rank(section);
	bool array = rank == SK_RANK_INIT_ARRAY || rank == SK_RANK_FINI_ARRAY;

	return array && linker->options.relocatable && priority_of(section) < NO_PRIORITY ? section->name
											  : sk_output_name(section);
}

static uint64_t rank_flags(enum sk_rank rank)
{
	if (sk_is_thread_rank(rank))
		return SHF_ALLOC | SHF_WRITE | SHF_TLS;
	switch (sk_region_of(rank)) {
	case SK_REGION_CODE:
		return SHF_ALLOC | SHF_EXECINSTR;
	case SK_REGION_RELRO:
	case SK_REGION_WRITABLE:
		return SHF_ALLOC | SHF_WRITE;
	case SK_REGION_NOT_LOADED:
		return 0;
	default:
		return SHF_ALLOC;
	}
}

static uint32_t rank_type(const struct sk_input_section *section, enum sk_rank rank)
{
	switch (rank) {
	case SK_RANK_INIT_ARRAY:
		return SHT_INIT_ARRAY;
	case SK_RANK_FINI_ARRAY:
		return SHT_FINI_ARRAY;
	case SK_RANK_ZERO_DATA:
	case SK_RANK_THREAD_ZERO_DATA:
		return SHT_NOBITS;
	case SK_RANK_WIDE_NOTE:
	case SK_RANK_NOTE:
		return SHT_NOTE;
	default:
		return section->object ? SHT_PROGBITS : section->type;
	}
}

static struct sk_output *find_output(struct sk_linker *linker, const struct sk_input_section *section)
{
	enum sk_rank rank = sk_section_rank(section);
	const char *name = output_name(linker, section);
	uint64_t merge_flags = sk_is_merged(section) ? section->flags & (SHF_MERGE | SHF_STRINGS) : 0;
	uint64_t entry_size = section->object ? 0 : section->entry_size;
	struct sk_output *recent = linker->recent_outputs[rank];

	/* Most sections go to the same place as the one before. */
	if (recent && recent->name == name && recent->flags == (rank_flags(rank) | merge_flags) &&
	    recent->entry_size == entry_size)
		return recent;

	char *key = sk_arena_print(linker->arena, "%c%llx:%llx:%s", 'A' + (int)rank, (unsigned long long)merge_flags,
				   (unsigned long long)entry_size, name);
	uint32_t fresh = (uint32_t)linker->outputs.count;
	uint32_t number = sk_map_insert(&linker->output_numbers, key, strlen(key), fresh);

	if (number == fresh) {
		struct sk_output *output = SK_NEW(linker->arena, struct sk_output);

		*output = (struct sk_output){.name = name,
					     .rank = rank,
					     .type = rank_type(section, rank),
					     .flags = rank_flags(rank) | merge_flags,
					     .alignment = 1,
					     .entry_size = entry_size};
		sk_array_push(linker->arena, &linker->outputs, output);
	}

	return linker->recent_outputs[rank] = linker->outputs.items[number];
}

static void add_section(struct sk_linker *linker, struct sk_input_section *section)
{
	struct sk_output *output = find_output(linker, section);

	section->output = output;
	sk_array_push(linker->arena, &output->sections, section);
}

/* ---- order ---- */

static void add_synthetic(struct sk_linker *linker)
{
	for (size_t i = 0; i < linker->synthetic.count; i++)
		if (linker->synthetic.items[i]->kind != SK_SECTION_EH_FRAME)
			add_section(linker, &linker->synthetic.items[i]->section);
}

/* Place the section that remains after folding at the first position at which one of the folded sections is wanted. */
static void add_first(struct sk_linker *linker)
{
	for (size_t i = 0; i < linker->first.count; i++) {
		struct sk_input_section *section = sk_section_follow(linker->first.items[i]);

		if (section->live && !section->output)
			add_section(linker, section);
	}
}

static void add_ordered(struct sk_linker *linker)
{
	for (size_t i = 0; i < linker->order.count; i++) {
		struct sk_input_section *section = sk_symbol_target(linker, linker->order.items[i].code).section;

		if (section && section->live && !section->output)
			add_section(linker, section);
	}
}

static void add_rest(struct sk_linker *linker)
{
	for (size_t i = 0; i < linker->objects.count; i++) {
		struct sk_object *object = linker->objects.items[i];

		for (uint32_t j = 0; object->reached && j < object->part_count; j++)
			if (object->parts[j].live && !object->parts[j].output && !object->parts[j].mergeable)
				add_section(linker, &object->parts[j]);
	}
	for (size_t i = 0; i < linker->commons.count; i++)
		if (linker->commons.items[i]->live)
			add_section(linker, linker->commons.items[i]);
}

static void add_merged(struct sk_linker *linker)
{
	for (size_t i = 0; i < linker->merged.count; i++)
		add_section(linker, &linker->merged.items[i]->section);
}

static void add_made(struct sk_linker *linker)
{
	struct sk_input_section *made = linker->made;

	if (linker->options.relocatable) { /* all others are for the loader */
		if (made[SK_MADE_FRAMES].size)
			add_section(linker, &made[SK_MADE_FRAMES]);
		return;
	}
	made[SK_MADE_PLT].size = linker->stubs.count * linker->architecture->stub_size;
	made[SK_MADE_RELOCATIONS].size = (linker->address_count + linker->import_address_count) * sizeof(Elf64_Rela);
	if (linker->slots.count || made[SK_MADE_GOT].live)
		made[SK_MADE_GOT].size = (linker->slots.count ? linker->slots.count : 1) * sizeof(uint64_t);
	made[SK_MADE_DYNAMIC].size = 1; /* known later, but never empty */
	made[SK_MADE_RELRO_PADDING].size = !linker->options.no_relro; /* known later */
	for (int i = 0; i < SK_MADE_COUNT; i++)
		if (made[i].size)
			add_section(linker, &made[i]);
}

struct sort_key {
	uint64_t key;
	size_t index;
};

static int compare_keys(const void *a, const void *b)
{
	const struct sort_key *left = a, *right = b;

	if (left->key != right->key)
		return left->key < right->key ? -1 : 1;
	return (left->index > right->index) - (left->index < right->index);
}

static void sort_by_priority(struct sk_linker *linker, struct sk_output *output)
{
	size_t count = output->sections.count;
	struct sort_key *keys = SK_NEW_ARRAY(linker->arena, struct sort_key, count);
	struct sk_input_section **sorted = SK_NEW_ARRAY(linker->arena, struct sk_input_section *, count);

	for (size_t i = 0; i < count; i++)
		keys[i] = (struct sort_key){priority_of(output->sections.items[i]), i};
	qsort(keys, count, sizeof(*keys), compare_keys);
	for (size_t i = 0; i < count; i++)
		sorted[i] = output->sections.items[keys[i].index];
	if (count)
		memcpy(output->sections.items, sorted, count * sizeof(*sorted));
}

static void sort_outputs(struct sk_linker *linker)
{
	size_t count = linker->outputs.count;
	struct sort_key *keys = SK_NEW_ARRAY(linker->arena, struct sort_key, count);
	struct sk_output **sorted = SK_NEW_ARRAY(linker->arena, struct sk_output *, count);

	for (size_t i = 0; i < count; i++)
		keys[i] = (struct sort_key){linker->outputs.items[i]->rank, i};
	qsort(keys, count, sizeof(*keys), compare_keys);
	for (size_t i = 0; i < count; i++) {
		sorted[i] = linker->outputs.items[keys[i].index];
		sorted[i]->number = (uint32_t)i + 1;
		if (sorted[i]->rank == SK_RANK_INIT_ARRAY || sorted[i]->rank == SK_RANK_FINI_ARRAY)
			sort_by_priority(linker, sorted[i]);
	}
	if (count) /* with -r there may be nothing */
		memcpy(linker->outputs.items, sorted, count * sizeof(*sorted)); /* not replaced: more will be pushed */
}

bool sk_outputs_make(struct sk_linker *linker)
{
	enum { MAXIMUM_OUTPUTS = SHN_LORESERVE / 2 - 8 }; /* with -r each also has relocations */

	add_made(linker);
	add_synthetic(linker);
	add_first(linker);
	add_ordered(linker);
	add_rest(linker);
	add_merged(linker);
	if (linker->outputs.count > MAXIMUM_OUTPUTS) {
		sk_error(linker->diag, (struct sk_place){0}, "the inputs have too many different section names");
		return false;
	}
	sort_outputs(linker);
	return true;
}
