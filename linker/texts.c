/* Texts for users about a link. Input: a linked image. Output: the map (addresses of everything) and the dependencies
 * (for make) as texts, and lines on objects, symbols and sections while the link runs. */
#include <stdlib.h>

#include "base/arena.h"
#include "linker/linker-parts.h"
#include "linker/linker.h"
#include "linker/object.h"
#include "linker/output.h"

/* ---- lines ---- */

static const char *role_of(const struct sk_object *object, uint32_t index)
{
	switch (object->symbols[index].st_shndx) {
	case SHN_UNDEF:
		return "reference to";
	case SHN_COMMON:
		return "common definition of";
	default:
		return "definition of";
	}
}

void sk_print_object(struct sk_linker *linker, const struct sk_object *object)
{
	if (linker->options.trace)
		SK_PRINT(linker, "%s", sk_object_name(linker->arena, object));
	for (uint32_t i = object->first_global; linker->options.traced_symbol_count && i < object->symbol_count; i++) {
		const struct sk_linker_symbol *symbol =
			&linker->symbols.items[object->globals[i - object->first_global]];

		if (symbol->traced)
			SK_PRINT(linker, "%s: %s %s", sk_object_name(linker->arena, object), role_of(object, i),
				 sk_demangled(linker, symbol->name));
	}
}

void sk_print_collected(struct sk_linker *linker)
{
	for (size_t i = 0; linker->options.print_gc_sections && i < linker->objects.count; i++) {
		const struct sk_object *object = linker->objects.items[i];

		for (uint32_t j = 0; object->pulled && j < object->part_count; j++) {
			const struct sk_input_section *section = &object->parts[j];

			if (section->loaded && !section->live && !section->discarded && section->size)
				SK_PRINT(linker, "removing unused section %s:(%s)",
					 sk_object_name(linker->arena, object), section->name);
		}
	}
}

/* ---- the map ---- */

struct map_symbol {
	const struct sk_input_section *section;
	uint64_t value, size;
	const char *name;
	size_t order;
};

typedef SK_ARRAY(struct map_symbol) map_symbols;

static void add_text(struct sk_linker *linker, sk_bytes *text, const char *addition)
{
	for (; *addition; addition++)
		sk_array_push(linker->arena, text, (uint8_t)*addition);
}

static void add_symbol(struct sk_linker *linker, map_symbols *symbols, const struct sk_input_section *section,
		       const char *name, uint64_t value, uint64_t size)
{
	if (section && section->output && name && *name)
		sk_array_push(linker->arena, symbols, (struct map_symbol){section, value, size, name, symbols->count});
}

/* Order by section, then by place in it. Sections are only grouped: the order of the map is that of the image. */
static int compare_symbols(const void *a, const void *b)
{
	const struct map_symbol *left = a, *right = b;
	uintptr_t left_section = (uintptr_t)left->section, right_section = (uintptr_t)right->section;

	if (left_section != right_section)
		return left_section < right_section ? -1 : 1;
	if (left->value != right->value)
		return left->value < right->value ? -1 : 1;
	return (left->order > right->order) - (left->order < right->order);
}

static map_symbols gather_symbols(struct sk_linker *linker)
{
	map_symbols symbols = {0};

	for (size_t i = 0; i < linker->symbols.count; i++) {
		const struct sk_linker_symbol *symbol = &linker->symbols.items[i];

		if (symbol->rank == SK_DEFINITION_COMMON) /* its value is an alignment */
			add_symbol(linker, &symbols, symbol->section, symbol->name, 0, symbol->size);
		else if (!symbol->object)
			add_symbol(linker, &symbols, symbol->section, symbol->name, symbol->value, symbol->size);
	}
	for (size_t i = 0; i < linker->objects.count; i++) {
		const struct sk_object *object = linker->objects.items[i];

		for (uint32_t j = 1; object->reached && j < object->symbol_count; j++) {
			const sk_elf_symbol *symbol = &object->symbols[j];
			uint32_t section = sk_object_symbol_section(object, j);

			if (section && ELF64_ST_TYPE(symbol->st_info) != STT_SECTION)
				add_symbol(linker, &symbols, sk_section_follow(sk_object_section(object, section)),
					   object->names + symbol->st_name, symbol->st_value, symbol->st_size);
		}
	}
	if (symbols.count)
		qsort(symbols.items, symbols.count, sizeof(*symbols.items), compare_symbols);
	return symbols;
}

static void add_line(struct sk_linker *linker, sk_bytes *text, uint64_t address, uint64_t size, uint64_t alignment,
		     const char *indent, const char *name)
{
	add_text(linker, text,
		 sk_arena_print(linker->arena, "%16llx %8llx %5llu %s%s\n", (unsigned long long)address,
				(unsigned long long)size, (unsigned long long)alignment, indent,
				sk_arena_escape(linker->arena, name)));
}

/* Return the position of the section's first symbol. */
static size_t find_symbols(const map_symbols *symbols, const struct sk_input_section *section)
{
	size_t low = 0, high = symbols->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if ((uintptr_t)symbols->items[middle].section < (uintptr_t)section)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void add_section(struct sk_linker *linker, sk_bytes *text, const map_symbols *symbols,
			const struct sk_input_section *section)
{
	const char *file = section->object ? sk_object_name(linker->arena, section->object) : "<internal>";

	add_line(linker, text, section->address, section->size, section->alignment, "        ",
		 sk_arena_print(linker->arena, "%s:(%s)", file, section->name));
	for (size_t i = find_symbols(symbols, section); i < symbols->count && symbols->items[i].section == section; i++)
		add_line(linker, text, section->address + symbols->items[i].value, symbols->items[i].size, 1,
			 "                ", sk_demangled(linker, symbols->items[i].name));
}

static void add_duplicates(struct sk_linker *linker, sk_bytes *text)
{
	const char *title = "\nEqual names: each object has its own\n\n";

	for (size_t i = 0; i < linker->duplicates.count; i++) {
		const char *line = sk_duplicate_text(linker, &linker->duplicates.items[i]);

		if (!line)
			continue;
		add_text(linker, text, sk_arena_print(linker->arena, "%s%s\n", title, line));
		title = "";
	}
}

sk_bytes sk_map_text(struct sk_linker *linker)
{
	map_symbols symbols = gather_symbols(linker);
	sk_bytes text = {0};

	add_text(linker, &text, "         Address     Size Align Out     In      Symbol\n");
	for (size_t i = 0; i < linker->outputs.count; i++) {
		const struct sk_output *output = linker->outputs.items[i];

		add_line(linker, &text, output->address, output->size, output->alignment, "", output->name);
		for (size_t j = 0; j < output->sections.count; j++)
			add_section(linker, &text, &symbols, output->sections.items[j]);
	}
	for (size_t i = 0; i < linker->left_out.count; i++)
		add_text(linker, &text,
			 sk_arena_print(linker->arena, "%s%s:(%s): left out, as no kernel reaches its data\n",
					i ? "" : "\nConstructors and destructors\n\n",
					sk_object_name(linker->arena, linker->left_out.items[i]->object),
					linker->left_out.items[i]->name));
	add_duplicates(linker, &text);
	for (size_t i = 0; i < linker->trapped.count; i++)
		add_text(linker, &text,
			 sk_arena_print(
				 linker->arena, "%s%s\n",
				 i ? "" : "\nNot linked: a use ends its launch; those near to kernels first\n\n",
				 sk_arena_escape(linker->arena, sk_trapped_text(linker, &linker->trapped.items[i]))));
	add_text(linker, &text, linker->map_end ? linker->map_end : "");
	return text;
}

void sk_linker_end_map(struct sk_linker *linker, const char *text)
{
	linker->map_end = text;
}

/* ---- extracted members ---- */

sk_bytes sk_extractions_text(struct sk_linker *linker)
{
	sk_bytes text = {0};

	add_text(linker, &text, "reference\textracted\tsymbol\n");
	for (size_t i = 0; i < linker->extractions.count; i++) {
		const struct sk_extraction *extraction = &linker->extractions.items[i];

		add_text(linker, &text,
			 sk_arena_print(
				 linker->arena, "%s\t%s\t%s\n", sk_arena_escape(linker->arena, extraction->needed_by),
				 sk_arena_escape(linker->arena, sk_object_name(linker->arena, extraction->object)),
				 sk_arena_escape(linker->arena, sk_demangled(linker, extraction->symbol))));
	}
	return text;
}

/* ---- dependencies ---- */

/* Add a path as make reads it. */
static void add_path(struct sk_linker *linker, sk_bytes *text, const char *path)
{
	for (; *path; path++) {
		if (*path == ' ' || *path == '#')
			sk_array_push(linker->arena, text, '\\');
		else if (*path == '$')
			sk_array_push(linker->arena, text, '$');
		sk_array_push(linker->arena, text, (uint8_t)*path);
	}
}

static void add_dependency(struct sk_linker *linker, sk_bytes *text, const char *path)
{
	add_text(linker, text, " \\\n  ");
	add_path(linker, text, path);
}

/* Add a rule without commands, so that make goes on if the file is gone. */
static void add_empty_rule(struct sk_linker *linker, sk_bytes *text, const char *path)
{
	add_text(linker, text, "\n");
	add_path(linker, text, path);
	add_text(linker, text, ":\n");
}

void sk_linker_add_dependency(struct sk_linker *linker, const char *path, bool listed)
{
	sk_array_push(linker->arena, &linker->dependencies, (struct sk_dependency){path, listed});
}

void sk_linker_visit_files(const struct sk_linker *linker, void (*visit)(void *context, const char *path),
			   void *context)
{
	for (size_t i = 0; i < linker->dependencies.count; i++)
		visit(context, linker->dependencies.items[i].path);
	for (size_t i = 0; i < linker->files.count; i++)
		visit(context, linker->files.items[i].path);
}

sk_bytes sk_dependencies_text(struct sk_linker *linker, const char *output)
{
	sk_bytes text = {0};

	add_path(linker, &text, output);
	add_text(linker, &text, ":");
	for (size_t i = 0; i < linker->dependencies.count; i++)
		if (linker->dependencies.items[i].listed)
			add_dependency(linker, &text, linker->dependencies.items[i].path);
	for (size_t i = 0; i < linker->files.count; i++)
		add_dependency(linker, &text, linker->files.items[i].path);
	add_text(linker, &text, "\n");
	for (size_t i = 0; i < linker->dependencies.count; i++)
		if (linker->dependencies.items[i].listed)
			add_empty_rule(linker, &text, linker->dependencies.items[i].path);
	for (size_t i = 0; i < linker->files.count; i++)
		add_empty_rule(linker, &text, linker->files.items[i].path);
	return text;
}
