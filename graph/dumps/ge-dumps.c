/* The choice and the names of GE's dumps; see dumps.h. */
#include "graph/dumps/dumps-parts.h"

#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/file.h"
#include "base/map.h"
#include "base/text.h"
#include "graph/dumps/dumps.h"
#include "graph/onnx/onnx.h"

#define PREFIX "ge_onnx_"

static const char *const stages[] = {
	[SK_GE_BEGIN] = "PreRunBegin",
	[SK_GE_FUSED] = "PreRunAfterOptimize2",
	[SK_GE_END] = "PreRunAfterOptimizeGraphBeforeBuild",
};

/* A dump that the level names. */
struct wanted {
	const char *name;
	bool written;
};

struct sk_ge_dumps {
	struct sk_arena *arena;
	struct sk_ge_request *request;
	uint32_t number; /* of the graph */
	struct sk_onnx_weights weights;
	SK_ARRAY(struct wanted) names; /* of the level */
};

/* ---- requests ---- */

/* Words separated by '|'. */
static bool read_format(struct sk_diag *diag, const char *format, struct sk_ge_request *request)
{
	const struct sk_place place = {.file = "DUMP_GRAPH_FORMAT"};

	for (const char *word = format; *word; word += *word == '|') {
		size_t length = strcspn(word, "|");
		const char *name = sk_arena_copy(diag->arena, word, length);

		if (!strcmp(name, "onnx"))
			request->onnx = true;
		else if (!strcmp(name, "readable"))
			request->readable = true;
		else if (!strcmp(name, "ge_proto"))
			sk_warning(diag, place, "there are no dumps in 'ge_proto': 'onnx' has the same contents");
		else {
			sk_error(diag, place, "must be 'onnx', 'readable', or both with '|' between them, not '%s'",
				 name);
			return false;
		}
		word += length;
	}
	return true;
}

bool sk_ge_request_read(struct sk_diag *diag, const struct sk_ge_variables *variables, const char *folder,
			struct sk_ge_request *request)
{
	const char *extent = variables->extent, *level = variables->level, *path = variables->path;

	*request = (struct sk_ge_request){.level = level && *level ? level : "2"};
	if (!extent || !*extent || !strcmp(extent, "0"))
		return true;
	if (strlen(extent) != 1 || *extent < '1' || *extent > '3') {
		sk_error(diag, (struct sk_place){.file = "DUMP_GE_GRAPH"},
			 "must be 1 (all of a graph), 2 (without weights) or 3 (nodes and edges), not '%s'", extent);
		return false;
	}
	request->extent = (enum sk_dump_extent)(*extent - '0');
	request->folder = path && *path ? path : folder;
	return read_format(diag, variables->format && *variables->format ? variables->format : "onnx", request);
}

bool sk_ge_request_replaces(struct sk_arena *arena, const struct sk_ge_request *request, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	return request->folder && !strncmp(name, PREFIX, strlen(PREFIX)) &&
	       sk_file_same(path, sk_arena_print(arena, "%s/%s", request->folder, name));
}

static bool is_level(const struct sk_ge_dumps *dumps, const char *level)
{
	return !strcmp(dumps->request->level, level);
}

/* True if the list of DUMP_GRAPH_LEVEL has the name. */
static bool is_named(struct sk_ge_dumps *dumps, const char *name)
{
	bool named = false;

	for (size_t i = 0; i < dumps->names.count; i++)
		if (!strcmp(dumps->names.items[i].name, name))
			named = dumps->names.items[i].written = true;
	return named;
}

static bool is_wanted(struct sk_ge_dumps *dumps, enum sk_ge_stage stage, const char *name)
{
	return is_level(dumps, "1") || (is_level(dumps, "2") && stage != SK_GE_PASS) ||
	       (is_level(dumps, "3") && stage == SK_GE_END) || (is_level(dumps, "4") && stage == SK_GE_BEGIN) ||
	       is_named(dumps, name);
}

/* ---- files ---- */

struct sk_ge_dumps *sk_ge_dumps_begin(struct sk_arena *arena, struct sk_ge_request *request)
{
	struct sk_ge_dumps *dumps = SK_NEW(arena, struct sk_ge_dumps);
	bool number_only = strlen(request->level) == 1 && strchr("1234", *request->level);

	dumps->arena = arena;
	dumps->request = request;
	dumps->number = request->graphs++;
	dumps->weights.location = sk_arena_print(arena, PREFIX "graph_%" PRIu32 "_constants.bin", dumps->number);
	dumps->weights.extent = request->extent;
	dumps->weights.decisions = true; /* the dumps around the pass differ in them alone */
	sk_map_init(&dumps->weights.places, arena);
	for (const char *name = request->level; *name && !number_only; name += *name == '|') {
		size_t length = strcspn(name, "|");

		sk_array_push(arena, &dumps->names, (struct wanted){sk_arena_copy(arena, name, length), false});
		name += length;
	}
	return dumps;
}

/* Write a file of that form, with the number of the dump. */
static bool write_form(const struct sk_ge_dumps *dumps, const struct sk_op_graph *graph, const char *form,
		       const char *name, const char *ending, struct sk_text *text)
{
	struct sk_arena *arena = sk_arena_create();
	const char *path =
		sk_arena_print(dumps->arena, "%s/ge_%s_%08" PRIu32 "_graph_%" PRIu32 "_%s.%s", dumps->request->folder,
			       form, dumps->request->files, dumps->number, name, ending);
	bool written;

	sk_text_close(arena, text);
	written = sk_file_write_text(graph->diag, path, text->bytes, text->size);
	sk_arena_destroy(arena);
	return written;
}

bool sk_ge_dumps_add(struct sk_ge_dumps *dumps, const struct sk_op_graph *graph, enum sk_ge_stage stage,
		     const char *pass)
{
	const char *name = stage == SK_GE_PASS ? pass : stages[stage];
	bool written = true;
	struct sk_text text;

	if (!is_wanted(dumps, stage, name))
		return true;
	if (dumps->request->onnx) {
		sk_text_open(&text);
		sk_onnx_write_dump(graph, &dumps->weights, text.stream);
		written = write_form(dumps, graph, "onnx", name, "pbtxt", &text);
	}
	if (dumps->request->readable && written) {
		sk_text_open(&text);
		sk_dump_readable(graph, dumps->request->extent == SK_DUMP_FULL, text.stream);
		written = write_form(dumps, graph, "readable", name, "txt", &text);
	}
	dumps->request->files++;
	return written;
}

bool sk_ge_dumps_end(struct sk_ge_dumps *dumps, struct sk_diag *diag)
{
	const struct sk_onnx_weights *weights = &dumps->weights;
	const char *path = sk_arena_print(dumps->arena, "%s/%s", dumps->request->folder, weights->location);

	for (size_t i = 0; i < dumps->names.count; i++) {
		const char *name = dumps->names.items[i].name;

		if (!dumps->names.items[i].written)
			sk_warning(diag, (struct sk_place){.file = "DUMP_GRAPH_LEVEL"},
				   "no dump of this graph is called '%s'%s", name,
				   sk_did_you_mean(dumps->arena, name, stages, sizeof(stages) / sizeof(stages[0])));
	}
	return !weights->parts.count ||
	       sk_file_write(diag, path, 0666, weights->parts.items, weights->parts.count, NULL);
}
