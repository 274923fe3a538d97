/* Copies of functions. Input: a function, if its code is wanted several times. Output: sections with the bytes and
 * relocations of the function's section, each with a symbol for the function, with unwind records and without debug
 * information.
 *
 * A copy behaves like the original because its relocations have the same targets: data, other functions and the entries
 * of jump tables, which lead into the original, are shared. */
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "linker/linker-parts.h"
#include "linker/linker.h"
#include "linker/object.h"

/* Limit for all copies together. */
enum { MAXIMUM_MIB = 64 };

static const char *copy_obstacle(const struct sk_input_section *section)
{
	if (!section || !section->object)
		return "it is not in an object";
	if (section->in_range)
		return "programs can ask for the bounds of its section";
	if (section->flags & SHF_WRITE)
		return "its code is writable";
	if (section->mergeable || !section->bytes)
		return "its section has no code";
	return NULL;
}

/* Describe the copy's code by copies of the records, in the same order. */
static void copy_frames(struct sk_linker *linker, struct sk_input_section *copy)
{
	struct sk_frame **end = &copy->frames;

	for (const struct sk_frame *frame = copy->frames; frame; frame = frame->next) {
		struct sk_frame *other = SK_NEW(linker->arena, struct sk_frame);

		*other = *frame;
		other->function = copy;
		other->copied = true;
		*end = other;
		end = &other->next;
		sk_array_push(linker->arena, &linker->copied_frames, other);
	}
}

/* Return the number-th copy of the section. */
static struct sk_input_section *copy_section(struct sk_linker *linker, const struct sk_input_section *section,
					     uint32_t number)
{
	struct {
		const struct sk_input_section *section;
		uint64_t number;
	} key = {section, number};
	uint32_t fresh = (uint32_t)linker->copies.count;
	uint32_t found = sk_map_insert(&linker->copy_numbers, sk_arena_copy(linker->arena, (char *)&key, sizeof(key)),
				       sizeof(key), fresh);

	if (found != fresh)
		return linker->copies.items[found];

	struct sk_input_section *copy = SK_NEW(linker->arena, struct sk_input_section);

	*copy = *section;
	copy->live = false; /* the original may have been collected ahead */
	copy_frames(linker, copy);
	linker->copied_size += section->size;
	sk_array_push(linker->arena, &linker->copies, copy);
	return copy;
}

sk_symbol sk_linker_copy(struct sk_linker *linker, sk_symbol code, uint32_t number, struct sk_place place)
{
	struct sk_target target = sk_symbol_target(linker, code);
	const char *code_name = linker->symbols.items[target.symbol].name;
	const char *reason = copy_obstacle(target.section);

	if (reason) {
		sk_error(linker->diag, place, "'%s' cannot be copied: %s", code_name, reason);
		return SK_NONE;
	}

	struct sk_input_section *copy = copy_section(linker, target.section, number);

	if (linker->copied_size > (uint64_t)MAXIMUM_MIB << 20) {
		sk_error(linker->diag, place, "the copies of code take more than %d MiB; make fewer", MAXIMUM_MIB);
		return SK_NONE;
	}

	uint64_t size = linker->symbols.items[target.symbol].size;
	const char *name = sk_arena_print(linker->arena, "%s.split%u", linker->symbols.items[code].name, number);
	sk_symbol symbol = sk_symbol_add(linker, name, strlen(name));

	linker->symbols.items[symbol].local = true;
	sk_symbol_define(linker, symbol, copy, target.value, size, STT_FUNC);
	sk_linker_order(linker, symbol, NULL);
	return symbol;
}
