/* Equal constants are kept once. Input: live sections with SHF_MERGE, cut into their strings or records. Output: one
 * section for each kind (output section, flags, entry size, alignment), with every string or record that is referred
 * to, once, in the order of the inputs. A string that is the end of another one is stored as a part of it (gABI,
 * "Sections", SHF_MERGE and SHF_STRINGS).
 *
 * A reference selects its string or record either by a symbol, and may then point anywhere from there, or by a section
 * symbol and addend together. Contents are hashed once, and ends are found by sorting from the last byte, so all of
 * this takes about linear time. */
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "linker/linker-parts.h"
#include "linker/linker.h"
#include "linker/object.h"
#include "linker/output.h"

static bool is_zero(const uint8_t *bytes, uint64_t size)
{
	for (uint64_t i = 0; i < size; i++)
		if (bytes[i])
			return false;
	return true;
}

bool sk_is_mergeable(const struct sk_input_section *section)
{
	uint64_t unit = section->entry_size;

	if (!(section->flags & SHF_MERGE) || (section->flags & (SHF_WRITE | SHF_EXECINSTR | SHF_TLS)) ||
	    section->type != SHT_PROGBITS)
		return false;
	if (!unit || !section->size || section->size % unit || section->size >= UINT32_MAX)
		return false;
	/* Code may walk from its start to its end. */
	if (sk_is_identifier(section->name))
		return false;
	if (section->flags & SHF_STRINGS)
		return (unit == 1 || unit == 2 || unit == 4) &&
		       is_zero(section->bytes + section->size - unit, unit); /* the last one is terminated */
	return unit % section->alignment == 0;
}

/* ---- cutting ---- */

/* Return the end of the string that begins at the offset, after its terminator. */
static uint64_t end_of_string(const struct sk_input_section *section, uint64_t offset)
{
	uint64_t unit = section->entry_size;

	if (unit == 1) {
		const uint8_t *end = memchr(section->bytes + offset, 0, section->size - offset);

		return (uint64_t)(end - section->bytes) + 1;
	}
	while (!is_zero(section->bytes + offset, unit))
		offset += unit;
	return offset + unit;
}

static void cut_section(struct sk_arena *arena, struct sk_input_section *section)
{
	SK_ARRAY(struct sk_fragment) fragments = {0};

	if (!(section->flags & SHF_STRINGS)) {
		section->fragment_count = (uint32_t)(section->size / section->entry_size);
		section->fragments = SK_NEW_ARRAY(arena, struct sk_fragment, section->fragment_count);
		for (uint32_t i = 0; i < section->fragment_count; i++)
			section->fragments[i] = (struct sk_fragment){(uint32_t)(i * section->entry_size), SK_NONE};
		return;
	}
	for (uint64_t offset = 0; offset < section->size;) {
		sk_array_push(arena, &fragments, (struct sk_fragment){(uint32_t)offset, SK_NONE});
		offset = end_of_string(section, offset);
	}
	section->fragments = fragments.items;
	section->fragment_count = (uint32_t)fragments.count;
}

/* Return the fragment that holds the byte; past the end, the last one. */
static uint32_t fragment_at(const struct sk_input_section *section, uint64_t offset)
{
	uint32_t low = 0, high = section->fragment_count;

	if (!(section->flags & SHF_STRINGS))
		return offset < section->size ? (uint32_t)(offset / section->entry_size) : high - 1;
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (section->fragments[middle].offset <= offset)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static uint32_t fragment_size(const struct sk_input_section *section, uint32_t fragment)
{
	uint32_t end = fragment + 1 < section->fragment_count ? section->fragments[fragment + 1].offset
							      : (uint32_t)section->size;

	return end - section->fragments[fragment].offset;
}

void sk_merge_mark(struct sk_arena *arena, struct sk_input_section *section, uint64_t offset)
{
	if (!section->fragments)
		cut_section(arena, section);
	section->fragments[fragment_at(section, offset)].entry = 0;
}

void sk_merge_mark_all(struct sk_arena *arena, struct sk_input_section *section)
{
	if (!section->fragments)
		cut_section(arena, section);
	for (uint32_t i = 0; i < section->fragment_count; i++)
		section->fragments[i].entry = 0;
}

/* ---- joining ---- */

/* Return the name of the merged section, such as ".rodata.str1": constants of .rodata go to a section with their own
 * entry size. */
static const char *merged_name(struct sk_linker *linker, const struct sk_input_section *section, const char *name)
{
	if (strcmp(name, ".rodata") != 0)
		return name;
	return sk_arena_print(linker->arena, "%s.%s%u", name, section->flags & SHF_STRINGS ? "str" : "cst",
			      (unsigned)section->entry_size);
}

/* Return the merged section for the kind of this one. */
static struct sk_merged *find_merged(struct sk_linker *linker, const struct sk_input_section *section)
{
	uint32_t flags = section->flags & (SHF_ALLOC | SHF_MERGE | SHF_STRINGS);
	const char *output_name = sk_output_name(section);
	uint64_t place = (section->entry_size ^ (uint64_t)section->alignment << 2 ^ flags) % SK_RECENT_MERGED;
	const struct sk_merged *recent = linker->recent_merged[place];

	/* Most sections go to the same place as the last one of their kind. */
	if (recent && recent->output_name == output_name && recent->section.flags == flags &&
	    recent->section.entry_size == section->entry_size && recent->section.alignment == section->alignment)
		return linker->recent_merged[place];

	const char *name = merged_name(linker, section, output_name);
	const char *key =
		sk_arena_print(linker->arena, "%x:%llx:%llx:%s", flags, (unsigned long long)section->entry_size,
			       (unsigned long long)section->alignment, name);
	uint32_t fresh = (uint32_t)linker->merged.count;
	uint32_t number = sk_map_insert(&linker->merged_numbers, key, strlen(key), fresh);

	if (number == fresh) {
		struct sk_merged *merged = SK_NEW(linker->arena, struct sk_merged);

		merged->section = (struct sk_input_section){.name = name,
							    .type = SHT_PROGBITS,
							    .flags = flags,
							    .alignment = section->alignment,
							    .entry_size = section->entry_size,
							    .rank = (uint8_t)sk_section_rank(section),
							    .state = SK_NONE,
							    .loaded = section->loaded,
							    .debug = section->debug,
							    .live = true};
		merged->output_name = output_name;
		sk_map_init(&merged->numbers, linker->arena);
		sk_array_push(linker->arena, &linker->merged, merged);
	}
	return linker->recent_merged[place] = linker->merged.items[number];
}

static void join_section(struct sk_linker *linker, struct sk_input_section *section)
{
	struct sk_merged *merged = find_merged(linker, section);

	section->merged = merged;
	for (uint32_t i = 0; i < section->fragment_count; i++) {
		struct sk_fragment *fragment = &section->fragments[i];
		uint32_t fresh = (uint32_t)merged->entries.count;
		const uint8_t *bytes = section->bytes + fragment->offset;
		uint32_t size = fragment_size(section, i);

		if (fragment->entry == SK_NONE)
			continue;
		fragment->entry = sk_map_insert(&merged->numbers, (const char *)bytes, size, fresh);
		if (fragment->entry == fresh)
			sk_array_push(linker->arena, &merged->entries, (struct sk_merged_entry){bytes, 0, size, fresh});
	}
}

/* ---- ends of strings ---- */

/* Return the byte at this distance from the end, or -1 before the start. */
static int byte_from_end(const struct sk_merged_entry *entry, uint32_t distance)
{
	return distance < entry->size ? entry->bytes[entry->size - 1 - distance] : -1;
}

static void swap(uint32_t *a, uint32_t *b)
{
	uint32_t kept = *a;

	*a = *b;
	*b = kept;
}

/* Sort strings by their bytes from the last one, the larger first: a string follows those that it is the end of. All
 * are equal in the last `distance` bytes. Multikey quicksort (Bentley and Sedgewick, 1997); the largest part is left to
 * the loop, so that the recursion is shallow. */
static void sort_by_ends(const struct sk_merged_entry *entries, uint32_t *order, uint32_t count, uint32_t distance)
{
	while (count > 1) {
		int pivot = byte_from_end(&entries[order[count / 2]], distance);
		uint32_t larger = 0, smaller = count;

		for (uint32_t i = 0; i < smaller;) {
			int byte = byte_from_end(&entries[order[i]], distance);

			if (byte > pivot)
				swap(&order[i++], &order[larger++]);
			else if (byte < pivot)
				swap(&order[i], &order[--smaller]);
			else
				i++;
		}

		/* Entries are different, so only one can have ended here. */
		struct part {
			uint32_t *order, count, distance;
		} parts[] = {
			{order, larger, distance},
			{order + larger, smaller - larger, distance + 1},
			{order + smaller, count - smaller, distance},
		};
		size_t largest = 0;

		for (size_t i = 1; i < 3; i++)
			if (parts[i].count > parts[largest].count)
				largest = i;
		for (size_t i = 0; i < 3; i++)
			if (i != largest)
				sort_by_ends(entries, parts[i].order, parts[i].count, parts[i].distance);
		order = parts[largest].order;
		count = parts[largest].count;
		distance = parts[largest].distance;
	}
}

static bool is_end_of(const struct sk_merged_entry *end, const struct sk_merged_entry *whole)
{
	return end->size <= whole->size && !memcmp(whole->bytes + whole->size - end->size, end->bytes, end->size);
}

static void share_ends(struct sk_linker *linker, struct sk_merged *merged)
{
	uint32_t count = (uint32_t)merged->entries.count;
	struct sk_merged_entry *entries = merged->entries.items;
	uint32_t *order = SK_NEW_ARRAY(linker->arena, uint32_t, count);

	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
	sort_by_ends(entries, order, count, 0);
	for (uint32_t i = 1; i < count; i++) {
		struct sk_merged_entry *entry = &entries[order[i]];
		uint32_t whole = entries[order[i - 1]].whole;

		if (is_end_of(entry, &entries[whole]) &&
		    (entries[whole].size - entry->size) % merged->section.alignment == 0)
			entry->whole = whole;
	}
}

/* ---- places ---- */

static void place_merged(struct sk_linker *linker, struct sk_merged *merged)
{
	struct sk_input_section *section = &merged->section;
	const uint64_t alignment = section->alignment;
	size_t count = merged->entries.count;
	uint32_t pieces = 0;
	struct sk_piece *contents = SK_NEW_ARRAY(linker->arena, struct sk_piece, count);

	/* It saves few of the names in debug information, for a fifth of the time of a link that has them. */
	if ((section->flags & SHF_STRINGS) && (section->flags & SHF_ALLOC))
		share_ends(linker, merged);
	for (uint32_t i = 0; i < count; i++) {
		struct sk_merged_entry *entry = &merged->entries.items[i];

		if (entry->whole != i)
			continue;
		/* sizes of existing memory: no overflow */
		entry->offset = (section->size + alignment - 1) & ~(alignment - 1);
		section->size = entry->offset + entry->size;
		contents[pieces++] = (struct sk_piece){entry->offset, entry->bytes, entry->size};
	}
	for (uint32_t i = 0; i < count; i++) {
		struct sk_merged_entry *entry = &merged->entries.items[i];
		const struct sk_merged_entry *whole = &merged->entries.items[entry->whole];

		entry->offset = whole->offset + whole->size - entry->size;
	}
	section->pieces = contents;
	section->piece_count = pieces;
}

void sk_merge(struct sk_linker *linker)
{
	for (size_t i = 0; i < linker->objects.count; i++) {
		struct sk_object *object = linker->objects.items[i];

		for (uint32_t j = 0; object->reached && j < object->part_count; j++)
			if (object->parts[j].live && object->parts[j].mergeable)
				join_section(linker, &object->parts[j]);
	}
	for (size_t i = 0; i < linker->merged.count; i++)
		place_merged(linker, linker->merged.items[i]);
}

bool sk_merge_find(const struct sk_input_section *section, uint64_t offset, uint64_t *merged_offset)
{
	if (!section->fragment_count)
		return false;

	const struct sk_fragment *fragment = &section->fragments[fragment_at(section, offset)];

	if (fragment->entry == SK_NONE)
		return false;
	*merged_offset = section->merged->entries.items[fragment->entry].offset + (offset - fragment->offset);
	return true;
}
