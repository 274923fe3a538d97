/* infer-sizes COUNT [SEED]: for each line "NAME --dim D=LO..HI --dim D=N..." of the standard input, infer NAME.onnx
 * with these bounds. At COUNT sizes in the bounds, compare the shapes of its values with those of the model that is
 * read and inferred again with numbers in place of names. Prints models that differ, and counts. Exit status 1: a model
 * differs. Models are left out if their shapes depend on constants that have to be computed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/sizes.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/onnx/onnx.h"
#include "graph/passes/passes.h"
#include "tests/lib/random.h"

enum { MOST_DIMENSIONS = 16 };

/* A line: a model and its dimensions. */
struct line {
	char path[512];
	struct sk_size_dimension dimensions[MOST_DIMENSIONS];
	size_t count;
	uint64_t sizes[MOST_DIMENSIONS]; /* the present ones */
	size_t values; /* of the file; expansions add others */
};

static uint64_t all, inferred, folded, refused, compared, differ;

static bool needs_constants;

static bool fold_nothing(const void *context, struct sk_op_graph *graph, const uint32_t *wanted, size_t count)
{
	(void)context, (void)wanted, (void)count;
	needs_constants = true;
	sk_error(graph->diag, (struct sk_place){.file = graph->file}, "needs constants");
	return false;
}

static void read_line(struct sk_arena *arena, char *text, struct line *line)
{
	const char *name = strtok(text, " \n"), *error;

	*line = (struct line){.count = 0};
	snprintf(line->path, sizeof(line->path), "%s.onnx", name ? name : "");
	for (char *word = strtok(NULL, " \n"); word; word = strtok(NULL, " \n")) {
		char *equals = strchr(word, '=');
		struct sk_size_dimension *dimension = &line->dimensions[line->count];

		if (!equals)
			continue;
		if (line->count++ == MOST_DIMENSIONS || !sk_size_parse_bounds(arena, equals + 1, dimension, &error))
			abort();
		dimension->name = sk_arena_copy(arena, word, (size_t)(equals - word));
	}
}

/* Read the model and give the dimensions of its inputs the present sizes, and with `bounds` their bounds, too. */
static struct sk_op_graph *infer(struct sk_arena *arena, struct sk_diag *diag, struct line *line, bool bounds)
{
	struct sk_op_graph *graph = sk_onnx_read(arena, diag, line->path, false);

	line->values = graph ? graph->values.count : 0;
	for (size_t i = 0; graph && bounds && i < line->count; i++)
		if (line->dimensions[i].least < line->dimensions[i].most)
			sk_sizes_bound(graph, &line->dimensions[i]);
	for (size_t i = 0; graph && i < graph->inputs.count; i++) {
		struct sk_value *value = &graph->values.items[graph->inputs.items[i]];

		for (uint32_t d = 0; d < value->rank; d++)
			for (size_t n = 0; n < line->count && value->symbols[d]; n++)
				if (!strcmp(value->symbols[d], line->dimensions[n].name))
					value->shape[d] = line->sizes[n];
	}
	return graph && sk_sizes_express(graph) && sk_graph_infer(graph, fold_nothing, NULL) ? graph : NULL;
}

static void report(const struct line *line, const char *text)
{
	printf("%s at", line->path);
	for (size_t i = 0; i < line->count; i++)
		printf(" %s=%" PRIu64, line->dimensions[i].name, line->sizes[i]);
	printf(": %s\n", text);
	differ++;
}

/* Return the first value of the file with another shape than that of its sizes; NULL: all shapes are. */
static const char *find_difference(const struct sk_op_graph *bounded, const struct sk_op_graph *fixed, size_t count,
				   const uint64_t *values)
{
	for (size_t v = 0; v < count; v++) {
		const struct sk_value *value = &fixed->values.items[v], *other;
		uint32_t number = sk_map_find(&bounded->value_names, value->name, strlen(value->name));
		bool same;

		if (number == SK_NONE || (value->node == SK_NONE && !value->input))
			continue;
		other = &bounded->values.items[number];
		same = value->rank == other->rank && value->dtype == other->dtype;
		for (uint32_t d = 0; same && d < value->rank; d++)
			same = (other->sizes[d] ? (uint64_t)sk_size_at(other->sizes[d], values) : other->shape[d]) ==
			       value->shape[d];
		if (!same)
			return sk_arena_print(fixed->arena, "'%s' is %s", value->name,
					      sk_partial_shape_text(fixed->arena, value->rank, value->shape));
	}
	return NULL;
}

/* Compare at the present sizes of the line; false: they differ. */
static bool compare(struct line *line, const struct sk_op_graph *bounded, const uint64_t *values)
{
	struct sk_arena *arena = sk_arena_create();
	const struct sk_op_graph *fixed;
	const char *text;
	struct sk_diag diag;

	sk_diag_init(&diag, arena);
	fixed = infer(arena, &diag, line, false);
	text = fixed ? find_difference(bounded, fixed, line->values, values) : sk_diag_first(&diag);
	if (text)
		report(line, text);
	else
		compared++;
	sk_arena_destroy(arena);
	return !text;
}

static void check(struct line *line, struct sk_arena *arena, uint32_t count, uint64_t *random)
{
	const struct sk_op_graph *bounded;
	struct sk_diag diag;
	uint64_t *values;
	bool same = true;

	sk_diag_init(&diag, arena);
	for (size_t i = 0; i < line->count; i++)
		line->sizes[i] = line->dimensions[i].most;
	needs_constants = false;
	bounded = infer(arena, &diag, line, true);
	all++;
	inferred += bounded != NULL;
	folded += !bounded && needs_constants;
	refused += !bounded && !needs_constants;
	if (!bounded || !bounded->sizes)
		return;
	values = SK_NEW_ARRAY(arena, uint64_t, sk_sizes_count(bounded->sizes) + 1);
	for (uint32_t number = 0; number < count && same; number++) {
		for (size_t i = 0; i < line->count; i++) {
			const struct sk_size_dimension *dimension = &line->dimensions[i];
			uint64_t steps = (dimension->most - dimension->least) / dimension->multiple + 1;

			line->sizes[i] = number < 2 ? (number ? dimension->most : dimension->least)
						    : dimension->least + random_below(random, (uint32_t)steps) *
										 dimension->multiple;
		}
		for (size_t d = 0; d < sk_sizes_count(bounded->sizes); d++)
			for (size_t i = 0; i < line->count; i++)
				if (!strcmp(sk_sizes_dimension(bounded->sizes, d)->name, line->dimensions[i].name))
					values[d] = line->sizes[i];
		same = compare(line, bounded, values);
	}
}

int main(int argc, char **argv)
{
	uint64_t random = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	uint32_t count = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 0;
	char text[4096];

	if (!count)
		return 2;
	while (fgets(text, sizeof(text), stdin)) {
		struct sk_arena *arena = sk_arena_create();
		struct line line;

		read_line(arena, text, &line);
		check(&line, arena, count, &random);
		sk_arena_destroy(arena);
	}
	printf("%" PRIu64 " models, of which %" PRIu64 " are inferred with bounds, %" PRIu64 " refused, and %" PRIu64
	       " need constants; %" PRIu64 " sizes compared\n",
	       all, inferred, refused, folded, compared);
	return differ > 0;
}
