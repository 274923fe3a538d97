/* Messages about sizes that would have to be equal, with sizes for which they are not, and with a remedy. */
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/sizes.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators-parts.h"

enum { SAMPLES = 40, MOST_MULTIPLE = 256 };

bool sk_symbolic_error(const struct sk_symbolic *symbolic, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	sk_node_error(symbolic->graph, symbolic->node, "%s", sk_arena_print_list(symbolic->graph->arena, format, args));
	va_end(args);
	return false;
}

uint32_t sk_size_lone_dimension(const struct sk_sizes *sizes, const struct sk_size *size)
{
	for (uint32_t i = 0; i < sk_sizes_count(sizes); i++)
		if (sk_sizes_variable(sizes, i) == size && !sk_size_is_number(size, NULL))
			return i;
	return SK_NONE;
}

/* True if the sizes are equal at all samples, with the dimensions in them rounded down to the multiple. */
static bool are_equal_at(const struct sk_symbolic *symbolic, const struct sk_size *a, const struct sk_size *b,
			 uint64_t multiple)
{
	size_t count = sk_sizes_count(symbolic->sizes);
	uint64_t *values = SK_NEW_ARRAY(symbolic->graph->arena, uint64_t, count + 1);

	for (uint32_t attempt = 0; attempt < SAMPLES; attempt++) {
		sk_sizes_choose(symbolic->sizes, attempt + 60, values);
		for (size_t i = 0; i < count; i++) {
			const struct sk_size_dimension *dimension = sk_sizes_dimension(symbolic->sizes, i);

			if (!sk_size_has(a, i) && !sk_size_has(b, i))
				continue;
			values[i] -= values[i] % multiple;
			if (values[i] < dimension->least)
				values[i] += multiple;
			if (values[i] > dimension->most || values[i] % dimension->multiple)
				return false;
		}
		if (sk_size_at(a, values) != sk_size_at(b, values))
			return false;
	}
	return true;
}

/* True if each dimension in the sizes has two multiples in its bounds. */
static bool has_multiples(const struct sk_symbolic *symbolic, const struct sk_size *a, const struct sk_size *b,
			  uint64_t multiple)
{
	for (size_t i = 0; i < sk_sizes_count(symbolic->sizes); i++) {
		const struct sk_size_dimension *dimension = sk_sizes_dimension(symbolic->sizes, i);
		uint64_t least = (dimension->least + multiple - 1) / multiple, most = dimension->most / multiple;

		if ((sk_size_has(a, i) || sk_size_has(b, i)) && dimension->least < dimension->most && least >= most)
			return false;
	}
	return true;
}

/* Return options that make the dimensions in the sizes multiples, so that the sizes are equal; NULL: none do. *left is
 * the least number of multiples of a dimension. */
static const char *find_multiple(const struct sk_symbolic *symbolic, const struct sk_size *a, const struct sk_size *b,
				 uint64_t *left)
{
	const char *names = "", *options = "";
	uint64_t multiple = 2;

	while (multiple <= MOST_MULTIPLE &&
	       (!has_multiples(symbolic, a, b, multiple) || !are_equal_at(symbolic, a, b, multiple)))
		multiple++;
	if (multiple > MOST_MULTIPLE)
		return NULL;
	for (size_t i = 0; i < sk_sizes_count(symbolic->sizes); i++) {
		const struct sk_size_dimension *dimension = sk_sizes_dimension(symbolic->sizes, i);
		uint64_t least = dimension->least + multiple - 1, most = dimension->most;

		if ((!sk_size_has(a, i) && !sk_size_has(b, i)) || dimension->least == dimension->most)
			continue;
		if (most / multiple - least / multiple + 1 < *left)
			*left = most / multiple - least / multiple + 1;
		names = sk_arena_print(symbolic->graph->arena, "%s%s%s", names, *names ? " and " : "", dimension->name);
		options = sk_arena_print(symbolic->graph->arena, "%s --dim '%s=%" PRIu64 "..%" PRIu64 ":%" PRIu64 "'",
					 options, dimension->name, least - least % multiple, most - most % multiple,
					 multiple);
	}
	return sk_arena_print(symbolic->graph->arena, "; say that %s %s:%s", names,
			      strstr(names, " and ") ? "are multiples" : "is a multiple", options);
}

/* Return the number of the only dimension with bounds in the sizes; SK_NONE: there is none, or there are more. */
static uint32_t only_dimension(const struct sk_symbolic *symbolic, const struct sk_size *a, const struct sk_size *b)
{
	uint32_t only = SK_NONE;

	for (uint32_t i = 0; i < sk_sizes_count(symbolic->sizes); i++) {
		const struct sk_size_dimension *dimension = sk_sizes_dimension(symbolic->sizes, i);

		if (dimension->least == dimension->most || (!sk_size_has(a, i) && !sk_size_has(b, i)))
			continue;
		if (only != SK_NONE)
			return SK_NONE;
		only = i;
	}
	return only;
}

/* Return bounds of the only dimension in the sizes for which they are equal, up to a size or from one on; NULL: there
 * are none, or there are more dimensions. *left is the number of sizes in them. */
static const char *find_bounds(const struct sk_symbolic *symbolic, const struct sk_size *a, const struct sk_size *b,
			       uint64_t *left)
{
	enum { MOST_STEPS = 1 << 16 };
	struct sk_arena *arena = symbolic->graph->arena;
	uint64_t *values = SK_NEW_ARRAY(arena, uint64_t, sk_sizes_count(symbolic->sizes) + 1);
	uint32_t place = only_dimension(symbolic, a, b);
	const struct sk_size_dimension *only;
	uint64_t up = 0, down = 0, count;

	if (place == SK_NONE)
		return NULL;
	for (size_t i = 0; i < sk_sizes_count(symbolic->sizes); i++)
		values[i] = sk_sizes_dimension(symbolic->sizes, i)->least;
	only = sk_sizes_dimension(symbolic->sizes, place);
	count = (only->most - only->least) / only->multiple + 1;
	for (; up < count && up < MOST_STEPS && sk_size_at(a, values) == sk_size_at(b, values); up++)
		values[place] += only->multiple;
	values[place] = only->most;
	for (; down < count && down < MOST_STEPS && sk_size_at(a, values) == sk_size_at(b, values); down++)
		values[place] -= down + 1 < count ? only->multiple : 0;
	if (up >= count || down >= count || (up < 2 && down < 2))
		return NULL;
	*left = up >= down ? up : down;
	return up >= down ? sk_arena_print(arena,
					   "; they are equal up to '%s' of %" PRIu64 ": --dim '%s=%" PRIu64 "..%" PRIu64
					   "'",
					   only->name, only->least + (up - 1) * only->multiple, only->name, only->least,
					   only->least + (up - 1) * only->multiple)
			  : sk_arena_print(arena,
					   "; they are equal from '%s' of %" PRIu64 " on: --dim '%s=%" PRIu64
					   "..%" PRIu64 "'",
					   only->name, only->most - (down - 1) * only->multiple, only->name,
					   only->most - (down - 1) * only->multiple, only->most);
}

static const char *find_remedy(const struct sk_symbolic *symbolic, const struct sk_size *a, const struct sk_size *b)
{
	struct sk_arena *arena = symbolic->graph->arena;
	uint32_t one = sk_size_lone_dimension(symbolic->sizes, a), other = sk_size_lone_dimension(symbolic->sizes, b);
	uint64_t multiples = UINT64_MAX, bounds = 0;
	const char *remedy, *multiple;

	if (one != SK_NONE && !sk_size_has(b, one))
		return sk_arena_print(arena, "; if they are equal: --dim '%s=%s'",
				      sk_sizes_dimension(symbolic->sizes, one)->name, sk_size_text(arena, b));
	if (other != SK_NONE && !sk_size_has(a, other))
		return sk_arena_print(arena, "; if they are equal: --dim '%s=%s'",
				      sk_sizes_dimension(symbolic->sizes, other)->name, sk_size_text(arena, a));
	multiple = find_multiple(symbolic, a, b, &multiples);
	remedy = find_bounds(symbolic, a, b, &bounds);
	if (!remedy || (multiple && multiples >= bounds))
		remedy = multiple;
	return remedy ? remedy : "; give one of their dimensions a number";
}

bool sk_symbolic_equal(const struct sk_symbolic *symbolic, const char *are, const struct sk_size *a,
		       const struct sk_size *b)
{
	struct sk_arena *arena = symbolic->graph->arena;
	uint64_t *values = SK_NEW_ARRAY(arena, uint64_t, sk_sizes_count(symbolic->sizes) + 1);

	if (!a || !b)
		return sk_symbolic_error(symbolic, "a size with bounds is too complicated to be expressed");
	if (a == b || sk_size_compare(symbolic->sizes, a, b) == SK_SIZE_EQUAL)
		return true;
	if (!sk_size_differ(symbolic->sizes, a, b, values))
		return sk_symbolic_error(symbolic, "dimensions '%s' and '%s' are %s, and perhaps differ%s",
					 sk_size_text(arena, a), sk_size_text(arena, b), are,
					 find_remedy(symbolic, a, b));
	return sk_symbolic_error(
		symbolic, "dimensions '%s' and '%s' are %s, and can differ (%" PRIi64 " and %" PRIi64 " at %s)%s",
		sk_size_text(arena, a), sk_size_text(arena, b), are, sk_size_at(a, values), sk_size_at(b, values),
		sk_sizes_values_text(arena, symbolic->sizes, symbolic->graph->dimensions_of, values),
		find_remedy(symbolic, a, b));
}
