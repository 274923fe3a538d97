/* The cross-reference table, in GNU ld's form. It lists every name that an object in the link defines or uses, with the
 * file of the chosen definition, the files with other definitions, and the files that use it. Definitions outside
 * objects are shown as <internal> or as the command line's; imports are shown as the libraries'. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "linker/linker-parts.h"
#include "linker/linker.h"
#include "linker/object.h"

enum { FILE_COLUMN = 50 };

enum role { DEFINES, DEFINES_TOO, USES };

struct mention {
	const struct sk_linker_symbol *symbol;
	const char *file;
	enum role role;
	size_t order;
};

typedef SK_ARRAY(struct mention) mention_list;

static void add_mention(struct sk_linker *linker, mention_list *mentions, sk_symbol number, const char *file,
			enum role role)
{
	sk_array_push(linker->arena, mentions,
		      (struct mention){&linker->symbols.items[number], file, role, mentions->count});
}

/* Return the symbol that the name means: with isolated objects, the definition that it is bound to. */
static sk_symbol named(const struct sk_linker *linker, sk_symbol number)
{
	const struct sk_linker_symbol *symbol = &linker->symbols.items[number];

	return symbol->alias != SK_NONE && linker->symbols.items[symbol->alias].name == symbol->name ? symbol->alias
												     : number;
}

/* Return the definer of a symbol that no object defines, or NULL. */
static const char *definer(const struct sk_linker_symbol *symbol)
{
	if (symbol->rank == SK_DEFINITION_ASSIGNED)
		return "<command line>";
	if (symbol->rank != SK_DEFINITION_NONE)
		return "<internal>";
	return symbol->import && symbol->visibility == STV_DEFAULT ? symbol->import->library : NULL;
}

/* Add the definer once for each symbol that no object defines. */
static void add_definer(struct sk_linker *linker, mention_list *mentions, bool *seen, sk_symbol number)
{
	const struct sk_linker_symbol *symbol = &linker->symbols.items[number];

	if (!seen[number] && !symbol->object && definer(symbol))
		add_mention(linker, mentions, number, definer(symbol), DEFINES);
	seen[number] = true;
}

static void add_object(struct sk_linker *linker, mention_list *mentions, bool *seen, const struct sk_object *object)
{
	const char *file = sk_object_name(linker->arena, object);

	for (uint32_t i = object->first_global; i < object->symbol_count; i++) {
		sk_symbol number = named(linker, object->globals[i - object->first_global]);
		const struct sk_linker_symbol *symbol = &linker->symbols.items[number];
		bool defines = object->symbols[i].st_shndx != SHN_UNDEF;
		bool counts = symbol->object == object && symbol->index == i;

		add_definer(linker, mentions, seen, number);
		add_mention(linker, mentions, number, file, counts ? DEFINES : defines ? DEFINES_TOO : USES);
	}
}

/* Order by name, then by symbol: isolated objects have several symbols of one name. */
static int compare_mentions(const void *a, const void *b)
{
	const struct mention *left = a, *right = b;
	int order = strcmp(left->symbol->name, right->symbol->name);

	if (order)
		return order;
	if (left->symbol != right->symbol)
		return left->symbol < right->symbol ? -1 : 1;
	if (left->role != right->role)
		return left->role < right->role ? -1 : 1;
	return (left->order > right->order) - (left->order < right->order);
}

static mention_list gather(struct sk_linker *linker)
{
	mention_list mentions = {0};
	bool *seen = SK_NEW_ARRAY(linker->arena, bool, linker->symbols.count);

	for (size_t i = 0; i < linker->exported.count; i++)
		add_definer(linker, &mentions, seen, named(linker, linker->exported.items[i]));
	for (size_t i = 0; i < linker->objects.count; i++)
		if (linker->objects.items[i]->pulled)
			add_object(linker, &mentions, seen, linker->objects.items[i]);
	for (size_t i = 0; i < linker->synthetic.count; i++) {
		const struct sk_input_section *section = &linker->synthetic.items[i]->section;

		for (uint64_t j = 0; j < section->relocation_count; j++) {
			sk_symbol number = named(linker, (uint32_t)ELF64_R_SYM(section->relocations[j].r_info));

			if (!linker->symbols.items[number].local)
				add_mention(linker, &mentions, number, "<internal>", USES);
		}
	}
	if (mentions.count)
		qsort(mentions.items, mentions.count, sizeof(*mentions.items), compare_mentions);
	return mentions;
}

sk_texts sk_cross_references(struct sk_linker *linker)
{
	mention_list mentions = gather(linker);
	sk_texts lines = {0};

	sk_array_push(linker->arena, &lines, "");
	sk_array_push(linker->arena, &lines, "Cross Reference Table");
	sk_array_push(linker->arena, &lines, "");
	sk_array_push(linker->arena, &lines, sk_arena_print(linker->arena, "%-*sFile", FILE_COLUMN, "Symbol"));
	for (size_t i = 0; i < mentions.count; i++) {
		const struct mention *mention = &mentions.items[i], *last = i ? mention - 1 : NULL;
		bool first = !last || last->symbol != mention->symbol;

		if (!first && !strcmp(last->file, mention->file))
			continue;
		sk_array_push(linker->arena, &lines,
			      sk_arena_print(linker->arena, "%-*s %s", FILE_COLUMN - 1,
					     first ? sk_demangled(linker, mention->symbol->name) : "", mention->file));
	}
	return lines;
}
