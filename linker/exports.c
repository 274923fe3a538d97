/* The package's exports beyond its caller's entries. Input: the patterns of the version script. Output:
 * linker->exported and the versions of its symbols. An exact name must be defined by some input, and its definition is
 * kept. A wildcard matches the definitions that exist when the link begins: those in objects that take part, unless
 * they are hidden or of a kind that cannot be exported.
 *
 * If several patterns match, GNU ld's order applies: exact names before wildcards, and these before a plain *; among
 * equals a global pattern before a local one, and then the last. Entries of the caller are exported whether or not a
 * pattern matches. */
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/text.h"
#include "linker/linker-parts.h"
#include "linker/linker.h"
#include "linker/object.h"
#include "linker/output.h"

/* ---- patterns ---- */

/* Return the pattern that decides about the name, or NULL. */
static const struct sk_name_pattern *find_pattern(const struct sk_linker *linker, const char *name, size_t length)
{
	uint32_t exact = sk_map_find(&linker->exact_patterns, name, length);
	const struct sk_name_pattern *best = NULL;
	int best_rank = 0;

	if (exact != SK_NONE)
		return &linker->patterns.items[exact];
	for (size_t i = 0; i < linker->patterns.count; i++) {
		const struct sk_name_pattern *pattern = &linker->patterns.items[i];
		int rank = (strcmp(pattern->text, "*") ? 2 : 0) + pattern->global;

		if (pattern->exact || (best && rank < best_rank) || !sk_pattern_matches(pattern->text, name))
			continue;
		best = pattern;
		best_rank = rank;
	}
	return best;
}

/* ---- symbols ---- */

/* Return why the symbol cannot be exported, or NULL. */
static const char *export_obstacle(struct sk_linker *linker, sk_symbol number)
{
	const struct sk_linker_symbol *meant = &linker->symbols.items[sk_alias_follow(linker, number)];

	switch (sk_symbol_target(linker, number).kind) {
	case SK_TARGET_DEFINED:
	case SK_TARGET_ABSOLUTE:
		return meant->visibility == STV_HIDDEN || meant->visibility == STV_INTERNAL ? "it is declared hidden"
											    : NULL;
	case SK_TARGET_IMPORT:
	case SK_TARGET_DATA:
	case SK_TARGET_THREAD_IMPORT:
		return "it is only imported";
	case SK_TARGET_THREAD_LOCAL:
		return "it is thread-local, which a package keeps to itself; export a function that returns its "
		       "address";
	case SK_TARGET_INDIRECT:
		return "it is an IFUNC; say which function it is: --ifunc=SYMBOL=FUNCTION";
	default:
		return "no input defines it";
	}
}

static void export(struct sk_linker *linker, sk_symbol number, uint16_t version)
{
	struct sk_linker_symbol *symbol = &linker->symbols.items[number];
	uint16_t own = sk_version_own(linker, number);

	symbol->version = own ? own : version;
	if (symbol->exported)
		return;
	symbol->exported = true;
	sk_array_push(linker->arena, &linker->exported, number);
	/* With isolated objects this is the same symbol: it is in the symbol table once. */
	if (symbol->alias != SK_NONE && linker->symbols.items[symbol->alias].name == symbol->name)
		linker->symbols.items[symbol->alias].exported = true;
}

/* Return "; did you mean 'x'?", or "". A script may have any number of wrong names, so only the first ones are looked
 * at. */
static const char *suggest_symbol(struct sk_linker *linker, const char *name)
{
	enum { MAXIMUM_SUGGESTIONS = 20 };
	const char *const *names;
	size_t count;

	if (linker->diag->errors >= MAXIMUM_SUGGESTIONS)
		return "";
	names = sk_linker_function_names(linker, SK_ANYWHERE, &count);
	return sk_did_you_mean(linker->arena, name, names, count);
}

static void export_named(struct sk_linker *linker, const struct sk_name_pattern *pattern)
{
	sk_symbol number = sk_symbol_intern(linker, pattern->text, strlen(pattern->text));
	const char *reason = export_obstacle(linker, number);
	bool undefined = sk_symbol_target(linker, number).kind == SK_TARGET_UNDEFINED;

	if (!reason)
		export(linker, number, pattern->version);
	else
		sk_error(linker->diag, pattern->place, "cannot export '%s': %s%s", pattern->text, reason,
			 undefined ? suggest_symbol(linker, pattern->text) : "");
}

/* Export the object's definitions that a pattern selects. */
static bool export_matching(struct sk_linker *linker, const struct sk_object *object)
{
	for (uint32_t i = object->first_global; i < object->symbol_count; i++) {
		const char *name = object->names + object->symbols[i].st_name;
		size_t length = strlen(name);
		const struct sk_name_pattern *pattern;
		sk_symbol number;

		if (object->symbols[i].st_shndx == SHN_UNDEF)
			continue;
		number = sk_map_find(&linker->symbol_numbers, name, length);
		if (linker->symbols.items[number].exported)
			continue;
		pattern = find_pattern(linker, name, length);
		if (!pattern || !pattern->global)
			continue;
		sk_symbol_want(linker, number, NULL);
		if (!sk_symbols_resolve(linker))
			return false;
		if (!export_obstacle(linker, number))
			export(linker, number, pattern->version);
	}
	return true;
}

Elf64_Sym sk_exported_symbol(struct sk_linker *linker, sk_symbol number)
{
	struct sk_target target = sk_symbol_target(linker, number);
	const struct sk_linker_symbol *symbol = &linker->symbols.items[target.symbol];
	bool weak = symbol->rank == SK_DEFINITION_WEAK, common = symbol->rank == SK_DEFINITION_COMMON;
	const struct sk_output *output = target.section ? target.section->output : NULL;
	uint64_t address = (target.section ? target.section->address : 0) + target.value;

	return (Elf64_Sym){
		.st_info = (uint8_t)ELF64_ST_INFO(weak ? STB_WEAK : STB_GLOBAL, common ? STT_OBJECT : symbol->type),
		.st_shndx = output ? (uint16_t)output->number : SHN_ABS,
		.st_value = address,
		.st_size = target.section ? sk_size_within(target.section, target.value, symbol->size) : symbol->size,
	};
}

bool sk_export(struct sk_linker *linker)
{
	unsigned errors = linker->diag->errors;
	size_t entries = linker->exported.count, objects = linker->objects.count;

	for (size_t i = 0; i < entries; i++) {
		struct sk_linker_symbol *symbol = &linker->symbols.items[linker->exported.items[i]];
		const struct sk_name_pattern *pattern = find_pattern(linker, symbol->name, symbol->name_length);

		if (pattern && pattern->global)
			symbol->version = pattern->version;
	}
	for (size_t i = 0; i < linker->patterns.count; i++) {
		const struct sk_name_pattern *pattern = &linker->patterns.items[i];

		/* If a name has several versions, the first one applies, unless the symbol has its own. */
		if (pattern->exact && pattern->global &&
		    find_pattern(linker, pattern->text, strlen(pattern->text)) == pattern)
			export_named(linker, pattern);
	}
	for (size_t i = 0; linker->patterns.count && i < objects; i++)
		if (linker->objects.items[i]->pulled && !export_matching(linker, linker->objects.items[i]))
			return false;
	return linker->diag->errors == errors;
}
