/* The files of dumps, and their names; see dumps.h. The graph before a pass is the one after the last pass that changed
 * it, so one dump after each such pass shows both. */
#include "graph/dumps/dumps.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/file.h"
#include "base/map.h"
#include "base/text.h"
#include "graph/dumps/dumps-parts.h"
#include "graph/onnx/onnx.h"

struct sk_dumps {
	struct sk_dump_folders folders;
	struct sk_cluster_texts texts;
	struct sk_ge_dumps *ge; /* NULL: not requested */
	unsigned count; /* dumps of passes so far */
	struct sk_onnx_weights weights; /* shared by all dumps */
	struct sk_fx_names *fx;
};

/* The pass that cuts composites. Its text is separate. */
#define CUTS "graph_kernel_splitter"

static enum sk_cluster_pass cluster_pass(const char *pass)
{
	static const char *const making[] = {"graph_kernel_expander", "fuse_basic", "graph_kernel_cluster"};

	for (size_t i = 0; i < sizeof(making) / sizeof(making[0]); i++)
		if (!strcmp(pass, making[i]))
			return SK_CLUSTERS;
	return strcmp(pass, CUTS) ? SK_OTHER_PASS : SK_CUTS;
}

/* The ends of stages of MindSpore's two-stage fusion, and the names of its dumps there. */
static const struct {
	const char *pass, *name;
} ends[] = {
	{"fuse_basic", "hwopt_d_fuse_basic_opt_end_graph_0"},
	{CUTS, "hwopt_d_composite_opt_end_graph_0"},
};

/* ---- files ---- */

/* Make the folder. After an error it is removed again. */
static bool make_folder(struct sk_diag *diag, const char *path)
{
	for (const char *end = path + (*path == '/'); *end; end += *end == '/') {
		end += strcspn(end, "/");
		if (sk_unfinished_make_folder(sk_arena_copy(diag->arena, path, (size_t)(end - path))) ||
		    errno == EEXIST)
			continue;
		sk_error(diag, (struct sk_place){.file = path}, "cannot make the folder for dumps: %s",
			 strerror(errno));
		return false;
	}
	return true;
}

static bool write_form(const struct sk_dumps *dumps, const struct sk_op_graph *graph, const char *name,
		       const char *ending, struct sk_text *text)
{
	struct sk_arena *arena = sk_arena_create();
	bool written;

	sk_text_close(arena, text);
	written = sk_file_write_text(graph->diag,
				     sk_arena_print(graph->arena, "%s/%s.%s", dumps->folders.dumps, name, ending),
				     text->bytes, text->size);
	sk_arena_destroy(arena);
	return written;
}

static bool write_dump(struct sk_dumps *dumps, const struct sk_op_graph *graph, const char *name)
{
	struct sk_text text;

	sk_text_open(&text);
	sk_dump_dot(graph, name, text.stream);
	if (!write_form(dumps, graph, name, "dot", &text))
		return false;
	sk_text_open(&text);
	sk_dump_text(graph, name, text.stream);
	if (!write_form(dumps, graph, name, "ir", &text))
		return false;
	sk_text_open(&text);
	sk_onnx_write_dump(graph, &dumps->weights, text.stream);
	return write_form(dumps, graph, name, "pbtxt", &text);
}

/* TorchAir's names also have the rank, the process and the time. Equal links would then write different files. */
static bool write_fx(const struct sk_dumps *dumps, const struct sk_op_graph *graph, const char *which)
{
	const char *name = sk_arena_print(graph->arena, "dynamo_%s_graph_0", which);
	struct sk_text text;

	sk_text_open(&text);
	sk_dump_fx_python(graph, dumps->fx, text.stream);
	if (!write_form(dumps, graph, name, "py", &text))
		return false;
	sk_text_open(&text);
	sk_dump_fx_graph(graph, dumps->fx, text.stream);
	return write_form(dumps, graph, name, "txt", &text);
}

/* Names of the graph before the patterns are not used again, as in FX, where nodes get names when they are traced. */
static void name_fx(const struct sk_dumps *dumps, const struct sk_op_graph *graph)
{
	struct sk_text text;

	sk_text_open(&text);
	sk_dump_fx_python(graph, dumps->fx, text.stream);
	sk_text_close(graph->arena, &text);
}

/* ---- dumps ---- */

static bool begin_ge(struct sk_dumps *dumps, const struct sk_op_graph *graph)
{
	struct sk_ge_request *request = dumps->folders.ge;

	if (!request || !request->folder)
		return true;
	dumps->ge = sk_ge_dumps_begin(graph->arena, request);
	return make_folder(graph->diag, request->folder) && sk_ge_dumps_add(dumps->ge, graph, SK_GE_BEGIN, NULL);
}

struct sk_dumps *sk_dumps_begin(const struct sk_op_graph *graph, struct sk_dump_folders folders)
{
	struct sk_dumps *dumps = SK_NEW(graph->arena, struct sk_dumps);

	dumps->folders = folders;
	dumps->fx = sk_fx_names_create(graph->arena);
	if (folders.texts)
		sk_cluster_texts_begin(&dumps->texts, graph);
	dumps->weights.location = "constants.bin";
	dumps->weights.extent = SK_DUMP_FULL;
	sk_map_init(&dumps->weights.places, graph->arena);
	if (folders.dumps && (!make_folder(graph->diag, folders.dumps) || !write_dump(dumps, graph, "6_validate")))
		return NULL;
	if (folders.dumps)
		name_fx(dumps, graph);
	return begin_ge(dumps, graph) ? dumps : NULL;
}

bool sk_dumps_after(struct sk_dumps *dumps, const struct sk_op_graph *graph, const char *full, const char *pass,
		    bool changed)
{
	if (dumps->folders.texts && changed)
		sk_cluster_texts_add(&dumps->texts, graph, cluster_pass(pass));
	if (dumps->ge && changed && !sk_ge_dumps_add(dumps->ge, graph, SK_GE_PASS, full))
		return false;
	if (!dumps->folders.dumps)
		return true;
	if (changed && !write_dump(dumps, graph, sk_arena_print(graph->arena, "hwopt_%s_%04u", full, dumps->count++)))
		return false;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (!strcmp(ends[i].pass, pass) && !write_dump(dumps, graph, ends[i].name))
			return false;
	return true;
}

bool sk_dumps_patterns(struct sk_dumps *dumps, const struct sk_op_graph *graph)
{
	return !dumps->folders.dumps || (write_fx(dumps, graph, "original") && write_fx(dumps, graph, "optimized"));
}

bool sk_dumps_transformed(struct sk_dumps *dumps, const struct sk_op_graph *graph)
{
	return !dumps->ge || sk_ge_dumps_add(dumps->ge, graph, SK_GE_FUSED, NULL);
}

/* The files are read-only, since each describes one process. */
static bool write_text(const struct sk_dumps *dumps, const struct sk_op_graph *graph, const char *name,
		       const struct sk_cluster_text *text)
{
	const char *path = sk_arena_print(graph->arena, "%s/%s%ld.txt", dumps->folders.texts, name, (long)getpid());

	return !text->size || (make_folder(graph->diag, dumps->folders.texts) &&
			       sk_file_write(graph->diag, path, 0444, text->parts.items, text->parts.count, NULL));
}

bool sk_dumps_end(struct sk_dumps *dumps, const struct sk_op_graph *graph)
{
	if (dumps->ge &&
	    (!sk_ge_dumps_add(dumps->ge, graph, SK_GE_END, NULL) || !sk_ge_dumps_end(dumps->ge, graph->diag)))
		return false;
	return !dumps->folders.texts || (write_text(dumps, graph, "graph_kernel_cluster_", &dumps->texts.clusters) &&
					 write_text(dumps, graph, "graph_kernel_split_mode.", &dumps->texts.splits));
}

/* Remove dumps of earlier links: which passes have dumps depends on their changes. This link's files do not have their
 * final names yet. */
static void remove_old(const char *folder, struct sk_arena *arena)
{
	DIR *files = opendir(folder);

	for (const struct dirent *file = files ? readdir(files) : NULL; file; file = readdir(files)) {
		const char *ending = strrchr(file->d_name, '.');

		if (!strncmp(file->d_name, "hwopt_", 6) && ending &&
		    (!strcmp(ending, ".ir") || !strcmp(ending, ".dot") || !strcmp(ending, ".pbtxt")))
			unlink(sk_arena_print(arena, "%s/%s", folder, file->d_name));
	}
	if (files)
		closedir(files);
}

bool sk_dumps_placed(struct sk_dumps *dumps, const struct sk_op_graph *graph)
{
	const struct sk_onnx_weights *weights = &dumps->weights;

	remove_old(dumps->folders.dumps, graph->arena);
	return write_dump(dumps, graph, "hwopt_d_end_graph_0") &&
	       (!weights->parts.count ||
		sk_file_write(graph->diag,
			      sk_arena_print(graph->arena, "%s/%s", dumps->folders.dumps, weights->location), 0666,
			      weights->parts.items, weights->parts.count, NULL));
}
