/* --symbol-ordering-file. Input: a text with one symbol a line and comment lines that begin with #. Output: the
 * sections of the objects in the link that define these symbols, in this order; outputs.c places them first. Local
 * symbols also count. A symbol that cannot be placed is a warning, since such files are made from profiles of other
 * builds. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/file.h"
#include "base/map.h"
#include "linker/linker-parts.h"
#include "linker/linker.h"
#include "linker/object.h"

void sk_ordering_read(struct sk_linker *linker)
{
	const char *path = linker->options.ordering_file;
	struct sk_map lines;
	uint32_t number = 0;

	if (!path)
		return;
	sk_linker_add_dependency(linker, path, true);

	char *rest = sk_file_read_text(linker->diag, path, "symbol ordering file"), *line;

	sk_map_init(&lines, linker->arena);
	while ((line = strsep(&rest, "\n"))) {
		struct sk_place place = {.file = path, .line = ++number, .column = 1};

		place.column += (uint32_t)strspn(line, " \t\r");
		line += place.column - 1;
		for (size_t end = strlen(line); end && strchr(" \t\r", line[end - 1]); end--)
			line[end - 1] = '\0';
		if (!*line || *line == '#')
			continue;
		if (sk_map_insert(&lines, line, strlen(line), (uint32_t)linker->listed.count) != linker->listed.count)
			sk_warning(linker->diag, place, "symbol '%s' is listed twice; the first place is used", line);
		else
			sk_array_push(linker->arena, &linker->listed, (struct sk_name){line, place});
	}
}

/* A section in which a listed symbol lies. */
struct found {
	struct sk_input_section *section;
	uint32_t listed; /* the symbol's number */
	uint32_t order;
};

typedef SK_ARRAY(struct found) found_list;

static int compare_found(const void *a, const void *b)
{
	const struct found *left = a, *right = b;

	if (left->listed != right->listed)
		return left->listed < right->listed ? -1 : 1;
	return (left->order > right->order) - (left->order < right->order);
}

static void find_in(struct sk_linker *linker, const struct sk_map *numbers, const struct sk_object *object,
		    found_list *found)
{
	for (uint32_t i = 1; i < object->symbol_count; i++) {
		const char *name = object->names + object->symbols[i].st_name;
		uint32_t section = sk_object_symbol_section(object, i);
		uint32_t number = section && *name ? sk_map_find(numbers, name, strlen(name)) : SK_NONE;

		if (number != SK_NONE)
			sk_array_push(
				linker->arena, found,
				(struct found){sk_object_section(object, section), number, (uint32_t)found->count});
	}
}

/* Warn why the symbol is not in a live section. */
static void warn(struct sk_linker *linker, const struct sk_name *listed, bool found)
{
	sk_symbol number = sk_map_find(&linker->symbol_numbers, listed->text, strlen(listed->text));
	const struct sk_linker_symbol *symbol = number == SK_NONE ? NULL : &linker->symbols.items[number];

	if (found)
		sk_warning(linker->diag, listed->place, "cannot order symbol '%s': nothing reaches its section",
			   listed->text);
	else if (symbol && symbol->object && symbol->rank != SK_DEFINITION_NONE)
		sk_warning(linker->diag, listed->place, "cannot order symbol '%s': it is not in a section",
			   listed->text);
	else
		sk_warning(linker->diag, listed->place,
			   "no such symbol: '%s' is not defined by any object that takes part", listed->text);
}

void sk_ordering_apply(struct sk_linker *linker)
{
	found_list found = {0};
	struct sk_map numbers;
	size_t next = 0;

	sk_map_init(&numbers, linker->arena);
	for (size_t i = 0; i < linker->listed.count; i++)
		sk_map_insert(&numbers, linker->listed.items[i].text, strlen(linker->listed.items[i].text),
			      (uint32_t)i);
	for (size_t i = 0; linker->listed.count && i < linker->objects.count; i++)
		if (linker->objects.items[i]->pulled)
			find_in(linker, &numbers, linker->objects.items[i], &found);
	if (found.count)
		qsort(found.items, found.count, sizeof(*found.items), compare_found);
	for (uint32_t i = 0; i < linker->listed.count; i++) {
		bool any = false, live = false;

		for (; next < found.count && found.items[next].listed == i; next++) {
			struct sk_input_section *section = found.items[next].section;

			any = true;
			live |= section->live;
			if (section->live && !section->mergeable && !sk_is_constructors(section))
				sk_array_push(linker->arena, &linker->first, section);
		}
		if (!live)
			warn(linker, &linker->listed.items[i], any);
	}
}
