/* The writer of fusion_result.json; see manager.h. Its numbers are strings, and each key has a line. */
#include "graph/manager/manager.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/json.h"

void sk_fusion_results_add(struct sk_arena *arena, struct sk_fusion_results *results, const char *pass,
			   const sk_rule_counts *counts)
{
	struct sk_fusion_result result = {.graph = results->graphs - 1, .pass = pass};

	for (size_t i = 0; i < counts->count; i++) {
		result.found += counts->items[i].found;
		result.replaced += counts->items[i].replaced;
	}
	if (result.found)
		sk_array_push(arena, &results->items, result);
}

static int compare(const void *first, const void *second)
{
	const struct sk_fusion_result *a = first, *b = second;

	return a->graph != b->graph ? (a->graph > b->graph) - (a->graph < b->graph) : strcmp(a->pass, b->pass);
}

static void print_result(struct sk_arena *arena, const struct sk_fusion_result *result, const char *comma, FILE *stream)
{
	fprintf(stream,
		"%s\n            %s: {\n                \"effect_times\": \"%" PRIu64
		"\",\n                \"match_times\": \"%" PRIu64 "\"\n            }",
		comma, sk_json_string(arena, result->pass), result->replaced, result->found);
}

void sk_fusion_results_print(struct sk_arena *arena, const struct sk_fusion_results *results, FILE *stream)
{
	size_t count = results->items.count, next = 0;
	struct sk_fusion_result *sorted = SK_NEW_ARRAY(arena, struct sk_fusion_result, count + 1);

	if (count)
		memcpy(sorted, results->items.items, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), compare);
	putc('{', stream);
	for (uint32_t graph = 0; graph < results->graphs; graph++) {
		size_t first = next;

		fprintf(stream, "%s\n    \"session_and_graph_id_0_%" PRIu32 "\": {\n        \"graph_fusion\": {",
			graph ? "," : "", graph);
		for (; next < count && sorted[next].graph == graph; next++)
			print_result(arena, &sorted[next], next > first ? "," : "", stream);
		fprintf(stream, "%s},\n        \"ub_fusion\": {}\n    }", next > first ? "\n        " : "");
	}
	fputs("\n}\n", stream);
}
