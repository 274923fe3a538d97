/* Notes. Input: loaded notes of reached objects. Output: one .note.gnu.property section for the whole image, joined
 * from those of the objects; other notes are kept, equal ones once.
 *
 * Properties state the needs, uses or tolerances of machine code (the gABI's Linux extensions, "Program Property";
 * those of a machine are its architecture's). The range of the type says how two objects' values are joined; an object
 * without a property also counts in that. The package's own code is one more object. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/ranges.h"
#include "linker/linker-parts.h"
#include "linker/object.h"
#include "linker/output.h"

/* ---- meaning of types ---- */

/* Properties of every machine. */
static const struct sk_property_range generic[] = {
	{GNU_PROPERTY_STACK_SIZE, GNU_PROPERTY_STACK_SIZE, SK_PROPERTY_MAXIMUM, 8},
	{GNU_PROPERTY_NO_COPY_ON_PROTECTED, GNU_PROPERTY_NO_COPY_ON_PROTECTED, SK_PROPERTY_ANY, 0},
	{0xb0000000, 0xb0007fff, SK_PROPERTY_AND, 4}, /* GNU_PROPERTY_UINT32_AND_LO … */
	{0xb0008000, 0xb000ffff, SK_PROPERTY_OR, 4}, /* GNU_PROPERTY_UINT32_OR_LO … */
};

static const struct sk_property_range *find_range(const struct sk_property_range *ranges, size_t count, uint32_t type)
{
	for (size_t i = 0; i < count; i++)
		if (type >= ranges[i].first && type <= ranges[i].last)
			return &ranges[i];
	return NULL;
}

static enum sk_property_rule rule_of(const struct sk_architecture *architecture, uint32_t type, uint32_t *size)
{
	const struct sk_property_range *range = find_range(generic, sizeof(generic) / sizeof(generic[0]), type);

	if (!range)
		range = find_range(architecture->properties, architecture->property_count, type);
	if (!range)
		return SK_PROPERTY_UNKNOWN;
	*size = range->size;
	return range->rule;
}

/* ---- reading ---- */

#define BAD_NOTE(reader, section, offset, ...)                                                                         \
	(sk_error((reader)->diag, sk_section_place((reader)->arena, section, offset), __VA_ARGS__), false)

/* A note in a section. */
struct note {
	Elf64_Nhdr header;
	uint64_t offset; /* in the section */
	uint64_t description;
};

enum note_result { NOTE_READY, NOTE_END, NOTE_BAD };

/* Read the note at *offset and move on to the next one. Names and descriptions are padded to the section's
 * alignment. */
static enum note_result next_note(struct sk_reader *reader, const struct sk_input_section *section, uint64_t alignment,
				  uint64_t *offset, struct note *note)
{
	uint64_t end;

	if (*offset >= section->size) /* trailing padding may be missing */
		return NOTE_END;
	note->offset = *offset;
	if (!sk_within(*offset, sizeof(note->header), section->size)) {
		(void)BAD_NOTE(reader, section, *offset, "the note is truncated in its header");
		return NOTE_BAD;
	}
	memcpy(&note->header, section->bytes + *offset, sizeof(note->header));
	/* Sums of 32-bit numbers and a section's size: no overflow. */
	end = *offset + sizeof(note->header) + note->header.n_namesz;
	sk_align(end, alignment, &note->description);
	if (note->header.n_descsz)
		end = note->description + note->header.n_descsz;
	if (end > section->size) {
		(void)BAD_NOTE(reader, section, *offset,
			       "the note claims %u bytes of name and %u of contents, which the section does not have",
			       note->header.n_namesz, note->header.n_descsz);
		return NOTE_BAD;
	}
	sk_align(end, alignment, offset);
	return NOTE_READY;
}

/* Read the property at `at`, which has `room` bytes of the note after it; *used is its size with padding. */
static bool read_property(struct sk_reader *reader, struct sk_input_section *section, uint64_t at, uint64_t room,
			  struct sk_property *property, uint64_t *used)
{
	const uint8_t *bytes = section->bytes + at;
	uint32_t type, size, expected;

	if (room < sizeof(type) + sizeof(size))
		return BAD_NOTE(reader, section, at, "the property is truncated in its header");
	memcpy(&type, bytes, sizeof(type));
	memcpy(&size, bytes + sizeof(type), sizeof(size));
	*used = sizeof(type) + sizeof(size) + (((uint64_t)size + 7) & ~(uint64_t)7);
	if (*used > room)
		return BAD_NOTE(reader, section, at, "property 0x%x claims %u bytes, more than the note has", type,
				size);
	property->type = type;
	property->value = 0;
	if (rule_of(section->object->architecture, type, &expected) == SK_PROPERTY_UNKNOWN)
		return true;
	if (size != expected)
		return BAD_NOTE(reader, section, at, "property 0x%x has %u bytes of data instead of %u", type, size,
				expected);
	memcpy(&property->value, bytes + sizeof(type) + sizeof(size), size);
	return true;
}

static bool read_properties(struct sk_reader *reader, struct sk_input_section *section, const struct note *note)
{
	struct sk_object *object = section->object;
	struct sk_object_more *more = sk_object_own_more(reader->arena, object);
	struct sk_property property;
	uint64_t end = note->description + note->header.n_descsz, used;

	property.note = more->property_notes++;
	for (uint64_t at = note->description; at < end; at += used) {
		if (!read_property(reader, section, at, end - at, &property, &used))
			return false;
		sk_array_push(reader->arena, &more->properties, property);
		if (property.type == object->architecture->isa_property)
			object->isa |= (uint32_t)property.value;
	}
	return true;
}

bool sk_is_property_note(const struct sk_input_section *section)
{
	return section->type == SHT_NOTE && !strcmp(section->name, ".note.gnu.property");
}

bool sk_properties_read(struct sk_reader *reader, struct sk_input_section *section)
{
	const uint64_t alignment = 8; /* also where old assemblers have aligned the section to 4 */
	enum note_result result;
	uint64_t offset = 0;
	struct note note;

	section->flags &= ~(uint32_t)SHF_ALLOC; /* it is split and not part of the image */
	while ((result = next_note(reader, section, alignment, &offset, &note)) == NOTE_READY) {
		bool gnu =
			note.header.n_namesz == sizeof(ELF_NOTE_GNU) &&
			!memcmp(section->bytes + note.offset + sizeof(note.header), ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU));

		if (gnu && note.header.n_type == NT_GNU_PROPERTY_TYPE_0 && !read_properties(reader, section, &note))
			return false;
	}
	return result == NOTE_END;
}

/* ---- joining properties ---- */

/* A property of the image. */
struct total {
	uint32_t type;
	enum sk_property_rule rule;
	uint32_t size;
	uint64_t value;
	uint64_t count; /* of objects with it */
	uint64_t last; /* the last one with it, from 1 */
};

struct totals {
	struct sk_linker *linker;
	struct sk_map numbers; /* by type */
	SK_ARRAY(struct total) items;
	uint64_t objects; /* so far; each note counts as one, since objects may have been joined before */
};

/* Add a property of the object (or note) with this number, from 1. */
static void add_property(struct totals *totals, const struct sk_property *property, uint64_t object)
{
	uint32_t fresh = (uint32_t)totals->items.count, size = 0, number;
	enum sk_property_rule rule = rule_of(totals->linker->architecture, property->type, &size);

	if (rule == SK_PROPERTY_UNKNOWN)
		return;
	number = sk_map_insert(&totals->numbers, (const char *)&property->type, sizeof(property->type), fresh);
	if (number == fresh)
		sk_array_push(totals->linker->arena, &totals->items,
			      (struct total){.type = property->type,
					     .rule = rule,
					     .size = size,
					     .value = rule == SK_PROPERTY_AND ? UINT64_MAX : 0});

	struct total *total = &totals->items.items[number];

	total->count += total->last != object;
	total->last = object;
	if (rule == SK_PROPERTY_AND)
		total->value &= property->value;
	else if (rule != SK_PROPERTY_MAXIMUM)
		total->value |= property->value;
	else if (property->value > total->value)
		total->value = property->value;
}

static void add_object(struct totals *totals, const struct sk_object *object)
{
	const struct sk_object_more *more = object->more;

	for (size_t i = 0; i < more->properties.count; i++)
		add_property(totals, &more->properties.items[i], totals->objects + more->properties.items[i].note + 1);
	totals->objects += more->property_notes ? more->property_notes : 1;
}

static bool is_kept(const struct totals *totals, const struct total *total)
{
	switch (total->rule) {
	case SK_PROPERTY_AND:
		return total->count == totals->objects && total->value;
	case SK_PROPERTY_OR_IF_ALL:
		return total->count == totals->objects;
	default:
		return total->value || total->rule == SK_PROPERTY_ANY;
	}
}

static int compare_types(const void *a, const void *b)
{
	const struct total *left = a, *right = b;

	return (left->type > right->type) - (left->type < right->type);
}

/* Write the note's bytes: a header with the owner's name, and each property padded to 8 bytes. */
static void write_properties(struct totals *totals)
{
	struct sk_linker *linker = totals->linker;
	uint64_t capacity = sizeof(Elf64_Nhdr) + sizeof(ELF_NOTE_GNU) + totals->items.count * 16;
	Elf64_Nhdr header = {.n_namesz = sizeof(ELF_NOTE_GNU), .n_type = NT_GNU_PROPERTY_TYPE_0};
	uint8_t *note = sk_arena_alloc(linker->arena, capacity, 1);
	uint8_t *at = note + sizeof(header) + sizeof(ELF_NOTE_GNU);

	if (totals->items.count)
		qsort(totals->items.items, totals->items.count, sizeof(*totals->items.items), compare_types);
	for (size_t i = 0; i < totals->items.count; i++) {
		const struct total *total = &totals->items.items[i];

		if (!is_kept(totals, total))
			continue;
		memcpy(at, &total->type, sizeof(total->type));
		memcpy(at + 4, &total->size, sizeof(total->size));
		memcpy(at + 8, &total->value, total->size);
		at += total->size ? 16 : 8;
	}
	header.n_descsz = (uint32_t)((size_t)(at - note) - sizeof(header) - sizeof(ELF_NOTE_GNU));
	if (!header.n_descsz)
		return;
	memcpy(note, &header, sizeof(header));
	memcpy(note + sizeof(header), ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU));
	linker->made[SK_MADE_PROPERTIES].bytes = note;
	linker->made[SK_MADE_PROPERTIES].size = (uint64_t)(at - note);
}

static void join_properties(struct sk_linker *linker)
{
	const struct sk_architecture *architecture = linker->architecture;
	const struct sk_property needed = {.type = architecture->isa_property, .value = linker->needed_isa};
	struct totals totals = {.linker = linker, .objects = 1};

	sk_map_init(&totals.numbers, linker->arena);
	for (size_t i = 0; i < architecture->own_property_count; i++)
		add_property(&totals, &architecture->own_properties[i], 1);
	add_property(&totals, &needed, 1);
	for (size_t i = 0; i < linker->objects.count; i++)
		if (linker->objects.items[i]->reached)
			add_object(&totals, linker->objects.items[i]);
	write_properties(&totals);
}

/* ---- other notes ---- */

/* Return whether the section is a note that tools look for in the loaded image. A note with relocations is treated as
 * data: it stays if it is referred to. A build-id is too, since the image gets its own. */
static bool is_note(const struct sk_input_section *section)
{
	return section->type == SHT_NOTE && section->loaded && !section->discarded && section->size &&
	       !(section->flags & (SHF_WRITE | SHF_EXECINSTR | SHF_TLS)) && !section->relocation_count &&
	       section->alignment <= 8 && strcmp(section->name, ".note.gnu.build-id") != 0;
}

static bool keep_note(struct sk_linker *linker, struct sk_input_section *section, struct sk_map *kept)
{
	uint32_t number = (uint32_t)kept->count;
	uint64_t offset = 0;
	enum note_result result;
	struct note note;
	char *key;

	section->alignment = section->alignment < 4 ? 4 : section->alignment;
	while ((result = next_note(&linker->reader, section, section->alignment, &offset, &note)) == NOTE_READY)
		;
	if (result != NOTE_END)
		return false;

	size_t name_length = strlen(section->name) + 1;

	key = sk_arena_alloc(linker->arena, name_length + section->size, 1);
	memcpy(key, section->name, name_length);
	memcpy(key + name_length, section->bytes, section->size);
	section->note = true;
	section->live |= sk_map_insert(kept, key, name_length + section->size, number) == number;
	return true;
}

bool sk_notes_collect(struct sk_linker *linker)
{
	struct sk_map kept;
	bool ok = true;

	sk_map_init(&kept, linker->arena);
	for (size_t i = 0; i < linker->objects.count; i++) {
		struct sk_object *object = linker->objects.items[i];

		for (uint32_t j = 0; object->reached && object->annotated && j < object->part_count; j++)
			if (is_note(&object->parts[j]))
				ok &= keep_note(linker, &object->parts[j], &kept);
	}
	join_properties(linker);
	return ok;
}
