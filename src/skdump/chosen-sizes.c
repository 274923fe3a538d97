/* The plan of a package at one size of each dimension; see skdump.h. */
#include "src/skdump/skdump.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/text.h"
#include "format/plan/dims.h"
#include "format/plan/plan.h"
#include "format/skdims.h"
#include "format/skplan.h"

static bool refuse_sizes(struct sk_diag *diag, const struct sk_package_file *file, const char *text)
{
	sk_error(diag, (struct sk_place){.file = file->path}, "%s", text);
	return false;
}

/* Return the dimension of a text "seq" or "network:seq"; SK_NO_INDEX: none, or one of several networks. */
static uint32_t find_dimension(const struct sk_dims_view *dims, const char *text, size_t length)
{
	uint32_t found = SK_NO_INDEX;

	for (uint32_t i = 0; i < dims->dimension_count; i++) {
		const char *name = sk_plan_string(&dims->dimensions[i].name);
		const char *network = sk_plan_string(&dims->dimensions[i].network);
		size_t start = strlen(network);
		bool same = strlen(name) == length && !memcmp(name, text, length);
		bool full = start && length == start + 1 + strlen(name) && !memcmp(text, network, start) &&
			    text[start] == ':' && !memcmp(text + start + 1, name, strlen(name));

		if (full)
			return i;
		if (same && found != SK_NO_INDEX)
			return SK_NO_INDEX;
		if (same)
			found = i;
	}
	return found;
}

static const char *list_dimensions(struct sk_arena *arena, const struct sk_dims_view *dims)
{
	const char *list = "";

	for (uint32_t i = 0; i < dims->dimension_count; i++) {
		const char *network = sk_plan_string(&dims->dimensions[i].network);

		list = sk_arena_print(arena, "%s%s%s%s%s", list, i ? ", " : "", network, *network ? ":" : "",
				      sk_plan_string(&dims->dimensions[i].name));
	}
	return list;
}

static bool read_size(struct sk_arena *arena, struct sk_diag *diag, const struct sk_package_file *file,
		      const char *text, uint64_t *sizes)
{
	const char *equals = strchr(text, '=');
	uint32_t index = equals ? find_dimension(&file->dims, text, (size_t)(equals - text)) : SK_NO_INDEX;
	char *end = NULL, refusal[256];

	errno = 0;
	if (equals && equals[1] >= '0' && equals[1] <= '9' && index != SK_NO_INDEX)
		sizes[index] = strtoull(equals + 1, &end, 10);
	if (equals && index == SK_NO_INDEX)
		return refuse_sizes(diag, file,
				    sk_arena_print(arena, "--dim %s: its dimensions are %s", text,
						   list_dimensions(arena, &file->dims)));
	if (!end || *end || errno)
		return refuse_sizes(diag, file, sk_arena_print(arena, "--dim %s: not NAME=SIZE", text));
	if (sk_dims_takes(&file->dims.dimensions[index], sizes[index]))
		return true;
	sk_dims_refusal_text(&file->dims.dimensions[index], sizes[index], file->path, refusal, sizeof(refusal));
	sk_error(diag, (struct sk_place){0}, "%s", refusal);
	return false;
}

bool sk_package_file_choose(struct sk_arena *arena, struct sk_diag *diag, struct sk_package_file *file,
			    const sk_texts *texts)
{
	uint64_t sizes[SK_MAX_DIMENSIONS];
	struct sk_plan_view concrete;

	if (!file->dims.dims)
		return refuse_sizes(diag, file, "--dim: the sizes of this package do not vary");
	for (uint32_t i = 0; i < file->dims.dimension_count; i++)
		sizes[i] = file->dims.dimensions[i].usual;
	for (size_t i = 0; i < texts->count; i++)
		if (!read_size(arena, diag, file, texts->items[i], sizes))
			return false;
	if (!sk_dims_concretise(&file->dims, &file->plan, sizes, &concrete))
		sk_out_of_memory();
	sk_plan_close(&file->plan);
	file->plan = concrete;
	sk_dims_close(&file->dims);
	return true;
}
