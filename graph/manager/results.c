/* The writer of fusion_result.json; see manager.h. Its numbers are strings, and each key has a line. */
#include "graph/manager/manager.h"

#include <inttypes.h>
#include <stdio.h>
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

static int compare_results(const void *first, const void *second)
{
	const struct sk_fusion_result *a = first, *b = second;

	return a->graph != b->graph ? (a->graph > b->graph) - (a->graph < b->graph) : strcmp(a->pass, b->pass);
}

static void put_count(struct sk_json *json, const char *key, uint64_t count)
{
	fprintf(sk_json_put_value(json, key), "\"%" PRIu64 "\"", count);
}

static void put_result(struct sk_json *json, const struct sk_fusion_result *result)
{
	sk_json_begin_object(json, result->pass, SK_JSON_LINES);
	put_count(json, "effect_times", result->replaced);
	put_count(json, "match_times", result->found);
	sk_json_end(json);
}

void sk_fusion_results_print(struct sk_arena *arena, const struct sk_fusion_results *results, FILE *stream)
{
	size_t count = results->items.count, next = 0;
	struct sk_fusion_result *sorted = SK_NEW_ARRAY(arena, struct sk_fusion_result, count + 1);
	struct sk_json json = {.stream = stream, .indent = 4};
	char name[64];

	if (count)
		memcpy(sorted, results->items.items, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), compare_results);
	sk_json_begin_object(&json, NULL, SK_JSON_LINES);
	for (uint32_t graph = 0; graph < results->graphs; graph++) {
		bool any = next < count && sorted[next].graph == graph;

		snprintf(name, sizeof(name), "session_and_graph_id_0_%" PRIu32, graph);
		sk_json_begin_object(&json, name, SK_JSON_LINES);
		sk_json_begin_object(&json, "graph_fusion", any ? SK_JSON_LINES : SK_JSON_LINE);
		for (; next < count && sorted[next].graph == graph; next++)
			put_result(&json, &sorted[next]);
		sk_json_end(&json);
		sk_json_begin_object(&json, "ub_fusion", SK_JSON_LINE);
		sk_json_end(&json);
		sk_json_end(&json);
	}
	sk_json_end(&json);
	putc('\n', stream);
}
