/* Names to which the command line gives another meaning. Input: --defsym and --wrap. Output: symbols with a value or an
 * alias, and the symbols that undefined references mean. All of these are known before the first input is read. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "linker/linker-parts.h"
#include "linker/linker.h"
#include "linker/object.h"

static void assign_number(struct sk_linker *linker, sk_symbol symbol, const char *assignment, const char *text)
{
	char *end;

	errno = 0;

	unsigned long long value = strtoull(text, &end, 0);

	if (errno || *end)
		sk_error(linker->diag, (struct sk_place){0}, "--defsym %s: '%s' is not a 64-bit number", assignment,
			 text);
	linker->symbols.items[symbol].value = value;
}

/* The chain of aliases must end. */
static void assign_symbol(struct sk_linker *linker, sk_symbol symbol, const char *assignment, const char *name)
{
	sk_symbol meaning = sk_symbol_intern(linker, name, strlen(name));

	if (sk_alias_follow(linker, meaning) == symbol)
		sk_error(linker->diag, (struct sk_place){0}, "--defsym %s: the symbol would be an alias of itself",
			 assignment);
	else
		linker->symbols.items[symbol].alias = meaning;
	linker->symbols.items[meaning].referred = true;
}

static void read_assignment(struct sk_linker *linker, const char *assignment)
{
	const char *equals = strchr(assignment, '=');

	if (!equals || equals == assignment || !equals[1]) {
		sk_error(linker->diag, (struct sk_place){0}, "--defsym %s: must be symbol=symbol or symbol=number",
			 assignment);
		return;
	}

	size_t length = (size_t)(equals - assignment);
	const char *name = sk_arena_copy(linker->arena, assignment, length);
	sk_symbol symbol = sk_symbol_intern(linker, name, length);

	if (linker->symbols.items[symbol].rank != SK_DEFINITION_NONE) {
		sk_error(linker->diag, (struct sk_place){0}, "--defsym %s: the symbol has been defined already",
			 assignment);
		return;
	}
	linker->symbols.items[symbol].rank = SK_DEFINITION_ASSIGNED;
	if (equals[1] >= '0' && equals[1] <= '9')
		assign_number(linker, symbol, assignment, equals + 1);
	else
		assign_symbol(linker, symbol, assignment, equals + 1);
}

void sk_aliases_read(struct sk_linker *linker)
{
	const struct sk_linker_options *options = &linker->options;

	for (size_t i = 0; i < options->wrapped_count; i++)
		sk_map_insert(&linker->wrapped, options->wrapped[i], strlen(options->wrapped[i]), 0);
	for (size_t i = 0; i < options->assignment_count; i++)
		read_assignment(linker, options->assignments[i]);
	for (size_t i = 0; i < options->traced_symbol_count; i++) {
		const char *name = options->traced_symbols[i];
		sk_symbol symbol = sk_symbol_intern(linker, name, strlen(name)); /* may move the symbols */

		linker->symbols.items[symbol].traced = true;
	}
}

static bool is_wrapped(const struct sk_linker *linker, const char *name)
{
	return linker->wrapped.count && sk_map_find(&linker->wrapped, name, strlen(name)) != SK_NONE;
}

sk_symbol sk_alias_reference(struct sk_linker *linker, const char *name)
{
	static const char real[] = "__real_";
	const size_t length = sizeof(real) - 1;

	if (is_wrapped(linker, name))
		name = sk_arena_print(linker->arena, "__wrap_%s", name);
	else if (!strncmp(name, real, length) && is_wrapped(linker, name + length))
		name += length;
	return sk_symbol_intern(linker, name, strlen(name));
}
