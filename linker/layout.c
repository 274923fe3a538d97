/* Where everything goes: live sections come in; output sections, their addresses and the program headers go out.
 *
 * Five regions, each of whole pages, in this order: what is only read (with the ELF headers), code, what is read-only
 * once the loader has relocated it, writable data (in one segment with the region before, which saves a mapping),
 * constants. Offsets in the file equal addresses, so zeroed data leaves a hole before the constants. Constants come
 * last because they alone may be huge: everything else must be within reach of 32-bit displacements.
 *
 * With -r there are the same output sections in the same order, each at address 0, and no segments. */
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "linker/internal.h"

/* ---- which output section ---- */

enum region { READ_ONLY, CODE, RELRO, WRITABLE, CONSTANTS, NOT_LOADED };

static enum region region_of(enum sk_rank rank)
{
	if (rank <= SK_RANK_READ_ONLY)
		return READ_ONLY;
	if (rank <= SK_RANK_PLT)
		return CODE;
	if (rank <= SK_RANK_RELRO_PADDING)
		return RELRO;
	if (rank <= SK_RANK_ZERO_DATA)
		return WRITABLE;
	return rank == SK_RANK_CONSTANTS ? CONSTANTS : NOT_LOADED;
}

static bool has_prefix(const char *name, const char *prefix)
{
	size_t length = strlen(prefix);

	return !strncmp(name, prefix, length) && (name[length] == 0 || name[length] == '.');
}

enum sk_rank sk_section_rank(const struct sk_input_section *section)
{
	if (!section->object)
		return section->rank;
	if (section->debug)
		return SK_RANK_DEBUG;
	if (section->note)
		return section->alignment == 8 ? SK_RANK_WIDE_NOTE : SK_RANK_NOTE;
	if (section->type == SHT_INIT_ARRAY)
		return SK_RANK_INIT_ARRAY;
	if (section->type == SHT_FINI_ARRAY)
		return SK_RANK_FINI_ARRAY;
	if (section->type == SHT_NOBITS)
		return SK_RANK_ZERO_DATA;
	if (section->flags & SHF_EXECINSTR)
		return SK_RANK_TEXT;
	if (section->flags & SHF_WRITE)
		return has_prefix(section->name, ".data.rel.ro") || has_prefix(section->name, ".gnu.linkonce.d.rel.ro")
			       ? SK_RANK_RELRO_DATA
			       : SK_RANK_DATA;
	/* Tables of addresses in read-only data become RELRO, which is as good: nothing can write there later. */
	return section->holds_addresses ? SK_RANK_RELRO_DATA : SK_RANK_READ_ONLY_DATA;
}

/* One that merge.c has made: its output section says what it consists of. */
static bool is_merged(const struct sk_input_section *section)
{
	return !section->object && (section->flags & SHF_MERGE);
}

bool sk_is_identifier(const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";

	/* The names of most sections begin with a dot, which ends this quickly. */
	return *name && *name != '.' && (*name < '0' || *name > '9') && !name[strspn(name, letters)];
}

/* ".text.hot.f" goes into ".text"; names that nobody knows stay. */
const char *sk_output_name(const struct sk_input_section *section)
{
	static const struct {
		const char *prefix, *name;
	} names[] = {
		{".text", ".text"},
		{".rodata", ".rodata"},
		{".data.rel.ro", ".data.rel.ro"},
		{".data", ".data"},
		{".bss", ".bss"},
		{".gnu.linkonce.t", ".text"},
		{".gnu.linkonce.r", ".rodata"},
		{".gnu.linkonce.d.rel.ro", ".data.rel.ro"},
		{".gnu.linkonce.d", ".data"},
		{".gnu.linkonce.b", ".bss"},
		{".lrodata", ".rodata"},
		{".ldata", ".data"},
		{".lbss", ".bss"},
		{"COMMON", ".bss"},
		{".gcc_except_table", ".gcc_except_table"},
	};

	enum sk_rank rank = sk_section_rank(section);

	if (rank == SK_RANK_INIT_ARRAY) /* by type: there is one of each, whatever its parts are called */
		return ".init_array";
	if (rank == SK_RANK_FINI_ARRAY)
		return ".fini_array";
	if (rank == SK_RANK_RELRO_DATA)
		return section->range ? section->name : ".data.rel.ro";
	if (rank >= SK_RANK_CONSTANTS || rank <= SK_RANK_NOTE || is_merged(section))
		return section->name;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (has_prefix(section->name, names[i].prefix))
			return names[i].name;
	return section->name;
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

/* The name of the output section. With -r priorities are for the next linker, which orders all constructors of the
 * program. */
static const char *output_name(const struct sk_linker *linker, const struct sk_input_section *section)
{
	enum sk_rank rank = sk_section_rank(section);
	bool array = rank == SK_RANK_INIT_ARRAY || rank == SK_RANK_FINI_ARRAY;

	return array && linker->options.relocatable && priority_of(section) < NO_PRIORITY ? section->name
											  : sk_output_name(section);
}

static uint64_t rank_flags(enum sk_rank rank)
{
	switch (region_of(rank)) {
	case CODE:
		return SHF_ALLOC | SHF_EXECINSTR;
	case RELRO:
	case WRITABLE:
		return SHF_ALLOC | SHF_WRITE;
	case NOT_LOADED:
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
	uint64_t merge_flags = is_merged(section) ? section->flags & (SHF_MERGE | SHF_STRINGS) : 0;
	uint64_t entry_size = section->object ? 0 : section->entry_size;
	struct sk_output *recent = linker->recent_outputs[rank];

	/* Most sections go where the one before has gone. */
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

/* ---- aligned functions ---- */

/* Aligns the byte at the offset of the section, whose start keeps the alignment that it had. False: the two, or two
 * such bytes, contradict each other. */
static bool align_byte(struct sk_input_section *section, uint64_t offset, uint32_t alignment)
{
	uint32_t smaller = alignment < section->alignment ? alignment : section->alignment;

	if ((offset - section->aligned) % smaller != 0)
		return false;
	if (alignment > section->alignment) {
		section->alignment = alignment;
		section->aligned = (uint32_t)(offset % alignment);
	}
	return true;
}

static bool align_functions(struct sk_linker *linker)
{
	bool good = true;

	for (size_t i = 0; i < linker->aligned.count; i++) {
		const struct sk_aligned *aligned = &linker->aligned.items[i];
		const struct sk_linker_symbol *symbol = &linker->symbols.items[aligned->code];
		struct sk_target target = sk_symbol_target(linker, aligned->code);

		if (!target.section || align_byte(target.section, target.value, aligned->alignment))
			continue;
		sk_error(linker->diag, sk_section_place(linker->arena, target.section, target.value),
			 "'%s' cannot begin at a multiple of %u bytes, since it is one of several functions in its "
			 "section; compile with -ffunction-sections, or align less",
			 symbol->name, aligned->alignment);
		good = false;
	}
	return good;
}

/* ---- in which order ---- */

static void add_synthetic(struct sk_linker *linker)
{
	for (size_t i = 0; i < linker->synthetic.count; i++)
		if (linker->synthetic.items[i]->kind != SK_SECTION_EH_FRAME)
			add_section(linker, &linker->synthetic.items[i]->section);
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

		for (uint32_t j = 1; object->reached && j < object->part_count; j++)
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

/* ---- at which addresses ---- */

/* Space between sections takes memory and disk like contents do: a few bytes with huge alignments must not become
 * gigabytes. This much is free, and eight times the contents. */
#define FREE_PADDING ((uint64_t)32 << 20)

static bool too_sparse(struct sk_linker *linker, uint64_t padding)
{
	sk_error(linker->diag, (struct sk_place){0},
		 "the alignments of sections leave %llu MiB unused between them; align less",
		 (unsigned long long)(padding >> 20));
	return false;
}

static bool too_large(struct sk_linker *linker)
{
	sk_error(linker->diag, (struct sk_place){0},
		 "the image without its constants is larger than 2 GiB, which code cannot reach across");
	return false;
}

/* What the segments of the image are aligned to. */
static uint64_t page_size(const struct sk_linker *linker)
{
	return linker->options.max_page_size ? linker->options.max_page_size : linker->architecture->page_size;
}

/* Whether the region behind another one has pages of its own. */
static bool begins_page(const struct sk_linker *linker, enum region before, enum region region)
{
	return region != before && !(region == WRITABLE && linker->options.no_relro);
}

/* Gives the sections of one output section their places; *address is where it may begin, then where it ends. */
static bool place_output(struct sk_output *output, uint64_t *address)
{
	for (size_t i = 0; i < output->sections.count; i++)
		if (output->sections.items[i]->alignment > output->alignment)
			output->alignment = output->sections.items[i]->alignment;
	if (!sk_align(*address, output->alignment, address))
		return false;
	output->address = output->file_offset = *address;
	for (size_t i = 0; i < output->sections.count; i++) {
		struct sk_input_section *section = output->sections.items[i];

		if (!sk_add(*address, section->aligned, address) || !sk_align(*address, section->alignment, address))
			return false;
		*address -= section->aligned;
		section->address = *address;
		if (!sk_add(*address, section->size, address) || *address > INT64_MAX)
			return false;
	}
	output->size = *address - output->address;
	return true;
}

/* Loaded output sections get addresses; linker->loaded_size and the end of the file so far follow. */
static bool place_outputs(struct sk_linker *linker, uint64_t address)
{
	const uint64_t page = page_size(linker);
	enum region region = READ_ONLY;
	uint64_t contents =
		0; /* without what lies between sections of a region; no overflow, since addresses have none */

	for (size_t i = 0; i < linker->outputs.count; i++) {
		struct sk_output *output = linker->outputs.items[i];

		if (region_of(output->rank) == NOT_LOADED)
			break;
		if (begins_page(linker, region, region_of(output->rank))) {
			uint64_t end = address;

			if (!sk_align(address, page, &address))
				return too_large(linker);
			contents += address - end;
		}
		region = region_of(output->rank);
		if (output->rank == SK_RANK_RELRO_PADDING) /* up to the end of the page */
			output->sections.items[0]->size = -address & (page - 1);
		if (!place_output(output, &address))
			return too_large(linker);
		for (size_t j = 0; j < output->sections.count; j++)
			contents += output->sections.items[j]->size;
		if (output->type != SHT_NOBITS && region != CONSTANTS) {
			linker->loaded_size = address;
			if (address - contents > FREE_PADDING + 8 * contents)
				return too_sparse(linker, address - contents);
			if (address > INT32_MAX)
				return too_large(linker);
		}
		if (output->type != SHT_NOBITS)
			linker->file_size = address;
	}
	return true;
}

/* The same with -r: sections stand one behind the other in the file only. The next linker has the same limits, and
 * these are easier to explain. */
static bool place_apart(struct sk_linker *linker)
{
	uint64_t offset = sizeof(Elf64_Ehdr), contents = 0;

	linker->loaded_size = linker->file_size = offset;
	for (size_t i = 0; i < linker->outputs.count; i++) {
		struct sk_output *output = linker->outputs.items[i];
		uint64_t end = 0;

		if (region_of(output->rank) == NOT_LOADED)
			break;
		if (!place_output(output, &end) || !sk_align(offset, output->alignment, &output->file_offset))
			return too_large(linker);
		if (output->type == SHT_NOBITS)
			continue;
		if (!sk_add(output->file_offset, output->size, &offset))
			return too_large(linker);
		linker->file_size = offset;
		if (region_of(output->rank) == CONSTANTS)
			continue;
		linker->loaded_size = offset;
		for (size_t j = 0; j < output->sections.count; j++)
			contents += output->sections.items[j]->size;
		if (offset - contents > FREE_PADDING + 8 * contents)
			return too_sparse(linker, offset - contents);
		if (offset > INT32_MAX)
			return too_large(linker);
	}
	return true;
}

/* Debug information is not loaded; offsets in its sections are what it refers to. */
static bool place_debug(struct sk_linker *linker)
{
	for (size_t i = 0; i < linker->outputs.count; i++) {
		uint64_t offset = 0;

		if (linker->outputs.items[i]->rank == SK_RANK_DEBUG &&
		    !place_output(linker->outputs.items[i], &offset)) {
			sk_error(linker->diag, (struct sk_place){0}, "the debug information is too large");
			return false;
		}
	}
	return true;
}

/* ---- program headers ---- */

static void add_segment(struct sk_linker *linker, uint32_t type, uint32_t flags, uint64_t start, uint64_t file_end,
			uint64_t end, uint64_t alignment)
{
	sk_array_push(linker->arena, &linker->segments,
		      (Elf64_Phdr){.p_type = type,
				   .p_flags = flags,
				   .p_offset = start,
				   .p_vaddr = start,
				   .p_paddr = start,
				   .p_filesz = file_end - start,
				   .p_memsz = end - start,
				   .p_align = alignment});
}

/* A segment of what the regions from first to last hold, if anything. */
static void add_regions(struct sk_linker *linker, uint32_t type, uint32_t flags, enum region first, enum region last)
{
	uint64_t alignment = page_size(linker), start = 0, file_end = 0, end = 0;
	bool found = false;

	for (size_t i = 0; i < linker->outputs.count; i++) {
		const struct sk_output *output = linker->outputs.items[i];

		if (region_of(output->rank) < first || region_of(output->rank) > last)
			continue;
		if (!found)
			start = file_end = first == READ_ONLY ? 0 : output->address; /* with the ELF headers */
		found = true;
		end = output->address + output->size;
		if (output->type != SHT_NOBITS)
			file_end = end;
		if (output->alignment > alignment)
			alignment = output->alignment;
	}
	if (found)
		add_segment(linker, type, flags, start, file_end, end, type == PT_LOAD ? alignment : 1);
}

static void add_made_segment(struct sk_linker *linker, uint32_t type, uint32_t flags, enum sk_made made)
{
	const struct sk_input_section *section = &linker->made[made];
	uint64_t end = section->address + section->size;

	if (sk_is_made(linker, made))
		add_segment(linker, type, flags, section->address, end, end, section->alignment);
}

/* Readers take the padding inside a note from the segment's alignment: one segment for each. */
static void add_notes(struct sk_linker *linker, enum sk_rank rank)
{
	const struct sk_output *first = NULL, *last = NULL;

	for (size_t i = 0; i < linker->outputs.count; i++) {
		if (linker->outputs.items[i]->rank != rank)
			continue;
		last = linker->outputs.items[i];
		first = first ? first : last;
	}
	if (first)
		add_segment(linker, PT_NOTE, PF_R, first->address, last->address + last->size,
			    last->address + last->size, first->alignment);
}

static int compare_segments(const void *a, const void *b)
{
	const Elf64_Phdr *left = a, *right = b;
	int left_class = left->p_type != PT_LOAD, right_class = right->p_type != PT_LOAD;

	if (left_class != right_class)
		return left_class - right_class;
	if (left->p_vaddr != right->p_vaddr)
		return left->p_vaddr < right->p_vaddr ? -1 : 1;
	return (left->p_type > right->p_type) - (left->p_type < right->p_type);
}

static void make_segments(struct sk_linker *linker)
{
	add_regions(linker, PT_LOAD, PF_R, READ_ONLY, READ_ONLY);
	add_regions(linker, PT_LOAD, PF_R | PF_X, CODE, CODE);
	add_regions(linker, PT_LOAD, PF_R | PF_W, RELRO, WRITABLE);
	add_regions(linker, PT_LOAD, PF_R, CONSTANTS, CONSTANTS);
	if (!linker->options.no_relro)
		add_regions(linker, PT_GNU_RELRO, PF_R, RELRO, RELRO);
	add_made_segment(linker, PT_DYNAMIC, PF_R | PF_W, SK_MADE_DYNAMIC);
	add_notes(linker, SK_RANK_WIDE_NOTE);
	add_notes(linker, SK_RANK_NOTE);
	add_made_segment(linker, PT_GNU_PROPERTY, PF_R, SK_MADE_PROPERTIES);
	add_made_segment(linker, PT_GNU_EH_FRAME, PF_R, SK_MADE_FRAME_HEADER);
	add_segment(linker, PT_GNU_STACK, PF_R | PF_W, 0, 0, 0, 16);
	qsort(linker->segments.items, linker->segments.count, sizeof(Elf64_Phdr), compare_segments);
}

/* An output section without contents is none. */
static void drop_empty_padding(struct sk_linker *linker)
{
	size_t kept = 0;

	for (size_t i = 0; i < linker->outputs.count; i++) {
		struct sk_output *output = linker->outputs.items[i];

		if (output->rank == SK_RANK_RELRO_PADDING && !output->size)
			continue;
		output->number = (uint32_t)kept + 1;
		linker->outputs.items[kept++] = output;
	}
	linker->outputs.count = kept;
}

bool sk_layout(struct sk_linker *linker)
{
	enum { MAXIMUM_SEGMENTS = 11 }; /* all that make_segments knows: a few unused bytes are no harm */
	enum { MAXIMUM_OUTPUTS = SHN_LORESERVE / 2 - 8 }; /* with -r each has relocations, too */

	if (!sk_ranges_unify(linker) || !align_functions(linker))
		return false;
	add_made(linker);
	add_synthetic(linker);
	add_ordered(linker);
	add_rest(linker);
	add_merged(linker);
	if (linker->outputs.count > MAXIMUM_OUTPUTS) {
		sk_error(linker->diag, (struct sk_place){0}, "the inputs have too many different section names");
		return false;
	}
	sort_outputs(linker);
	if (linker->options.relocatable) {
		if (!place_apart(linker) || !place_debug(linker))
			return false;
		sk_ranges_place(linker);
		return true;
	}
	linker->made[SK_MADE_DYNAMIC].size = sk_dynamic_size(linker);
	if (!place_outputs(linker, sizeof(Elf64_Ehdr) + MAXIMUM_SEGMENTS * sizeof(Elf64_Phdr)))
		return false;
	if (!place_debug(linker))
		return false;
	sk_ranges_place(linker);
	drop_empty_padding(linker);
	make_segments(linker);
	return true;
}
