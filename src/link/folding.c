/* Constant folding; see link.h. */
#include "config.h"

#include "src/link/link.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/file.h"
#include "base/map.h"
#include "base/ranges.h"
#include "format/skweights.h"
#include "graph/graph.h"
#include "graph/passes/passes.h"
#include "src/command/command.h"

/* Limits on computed bytes: an absolute one, and one that grows with the model's constants. Packing moves constants,
 * and dequantising makes four or eight bytes of one. Lower limits of sklink itself (ulimit) stay in force. */
static const uint64_t most_results = 16ULL << 30, free_results = 1ULL << 30, results_of_byte = 8;

/* The constants that are computed together. */
struct folding {
	struct sk_folding
		child; /* the outputs are the wanted values, or private copies of values, with their elements */
	const uint32_t *wanted; /* values */
	const uint64_t *keys; /* by value, of sk_known_keys; NULL: nodes compute the values */
	const uint64_t *shared; /* the same by contents; NULL: no other network takes the results */
	uint64_t *places; /* by wanted value: its offset in the file of results */
	uint64_t start; /* offset of the first result there */
	struct sk_file_draft
		*draft; /* set if the file may become an output file; NULL: the results are contents of values */
};

enum { MUCH = 32 << 20 }; /* bytes of results from which avoiding a copy is worthwhile */

/* ---- outputs of the computation ---- */

/* Return, by value, whether calls read bytes of it. */
static bool *mark_read(const struct sk_folding *folding)
{
	const struct sk_op_graph *graph = folding->graph;
	bool *read = SK_NEW_ARRAY(graph->arena, bool, graph->values.count + 1);

	for (size_t c = 0; c < folding->calls.count; c++)
		for (size_t i = 0; i < folding->calls.items[c].inputs.count; i++) {
			uint32_t root = sk_value_root(graph, folding->calls.items[c].inputs.items[i].value);

			if (root != SK_NONE)
				read[root] = true;
		}
	return read;
}

/* Copy a value that is a part of another one, or that kernels read: they may also read past its end. */
static uint32_t add_copy(struct sk_folding *folding, const struct sk_value value, uint32_t index)
{
	struct sk_op_graph *graph = folding->graph;
	struct sk_canonical canonical = {graph, value.node != SK_NONE ? value.node : folding->calls.items[0].node,
					 &folding->calls, NULL};
	uint32_t copy = sk_graph_new_value(graph, value.name, value.dtype, value.rank, value.shape);

	if (sk_value_elements(&value))
		sk_canonical_copy(&canonical, copy, index);
	return copy;
}

/* Return the limit on computed bytes. */
static uint64_t most_bytes(const struct sk_op_graph *graph)
{
	uint64_t constants = 0;

	for (size_t i = 0; i < graph->values.count; i++)
		if (graph->values.items[i].contents &&
		    sk_add(constants, sk_value_bytes(&graph->values.items[i]), &constants) && constants > most_results)
			break;
	constants = free_results + (constants < most_results ? constants * results_of_byte : most_results);
	return constants < most_results ? constants : most_results;
}

static bool add_place(struct folding *folding, uint32_t index)
{
	struct sk_folding *child = &folding->child;
	const struct sk_value *value = &child->graph->values.items[folding->wanted[index]];
	uint64_t alignment = folding->start || sk_value_bytes(value) < SK_FOLDING_MUCH ? 64 : SK_FOLDING_PAGE, end;

	if (sk_align(child->size, alignment, &folding->places[index]) &&
	    sk_add(folding->places[index], sk_value_bytes(value), &end) && sk_align(end, alignment, &child->size) &&
	    child->size <= child->most)
		return true;
	sk_error(child->graph->diag, value->place,
		 "constants that are computed would have more than %llu MiB, which is too much for a model with so few "
		 "bytes of constants",
		 (unsigned long long)(child->most >> 20));
	return false;
}

static bool add_outputs(struct folding *folding)
{
	struct sk_folding *child = &folding->child;
	const struct sk_op_graph *graph = child->graph;
	uint32_t *outputs = SK_NEW_ARRAY(graph->arena, uint32_t, child->count + 1);
	const bool *read = mark_read(child);

	child->most = most_bytes(graph);
	child->size = folding->start;
	child->places = folding->places = SK_NEW_ARRAY(graph->arena, uint64_t, child->count + 1);
	child->outputs = outputs;
	for (uint32_t i = 0; i < child->count; i++) {
		const struct sk_value value = graph->values.items[folding->wanted[i]];

		outputs[i] = value.view_of == SK_NONE && !value.contents && !read[folding->wanted[i]]
				     ? folding->wanted[i]
				     : add_copy(child, value, folding->wanted[i]);
		if (!add_place(folding, i))
			return false;
	}
	return true;
}

/* ---- results ---- */

/* One byte more, so that results without elements at the end also have an address. */
static size_t mapped_size(uint64_t size)
{
	return size + 1;
}

/* Networks that fail for lack of space for results get a single report. */
static void report_unwritten(const struct folding *folding, int error)
{
	struct sk_diag *diag = folding->child.graph->diag;
	const struct sk_place place = {.file = folding->child.graph->file};
	static const char key[] = "unwritten constants";

	if (sk_map_find(&diag->alike, key, strlen(key)) == SK_NONE)
		sk_error_alike(diag, place, key, "cannot store the values computed from constants", "%s",
			       strerror(error));
}

/* Create a file without a name. A large one is in the directory of the weights file, which it may become. The system
 * writes such a file faster than its memory, in particular if it knows the size in advance. Return -1 after an
 * error. */
static int create_results(const struct folding *folding)
{
	const struct sk_command_line *command = folding->child.link->command;
	const char *output = command->weights ? command->weights : command->output;
	const char *slash = output ? strrchr(output, '/') : NULL;
	const char *folder =
		slash ? sk_arena_copy(folding->child.graph->arena, output, (size_t)(slash + 1 - output)) : ".";
	int file = -1;

	signal(SIGXFSZ, SIG_IGN); /* a file that gets too large is an error, as when the package is written */
	if (output && folding->child.size > MUCH && !sk_is_special(output))
		file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0777);
	if (file >= 0 && folding->child.size > folding->start)
		fallocate(file, 0, (off_t)folding->start, (off_t)(folding->child.size - folding->start));
	if (file < 0)
		file = memfd_create("constants", MFD_CLOEXEC);
	if (file >= 0 && !ftruncate(file, (off_t)mapped_size(folding->child.size)))
		return file;
	report_unwritten(folding, errno);
	if (file >= 0)
		close(file);
	return -1;
}

static void take_results(const struct folding *folding)
{
	const struct sk_folding *child = &folding->child;
	const uint8_t *results = mmap(NULL, mapped_size(child->size), PROT_READ, MAP_SHARED, child->file, 0);

	if (results == MAP_FAILED)
		sk_out_of_memory();
	if (folding->start)
		*folding->draft = (struct sk_file_draft){child->file, results, folding->start, child->size};
	else
		close(child->file);
	for (size_t i = 0; i < child->count; i++)
		sk_graph_make_constant(child->graph, folding->wanted[i], results + folding->places[i]);
}

static void report_end(const struct folding *folding, int status)
{
	struct sk_diag *diag = folding->child.graph->diag;
	const struct sk_place place = {.file = folding->child.graph->file};
	const char *first = folding->child.graph->values.items[folding->wanted[0]].name;

	if (WIFEXITED(status) && WEXITSTATUS(status) > SK_FOLDING_UNWRITTEN)
		report_unwritten(folding, WEXITSTATUS(status) - SK_FOLDING_UNWRITTEN);
	else if (WIFEXITED(status))
		sk_error(diag, place, "cannot compute '%s' from the constants that it depends on", first);
	else if (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL || WTERMSIG(status) == SIGALRM)
		sk_error(diag, place, "computing '%s' from the constants that it depends on takes too long", first);
	else
		sk_error(diag, place, "computing '%s' from the constants that it depends on ended with signal %d",
			 first, WTERMSIG(status));
}

static bool run_child(struct folding *folding)
{
	int status = 0;
	pid_t child;

	if (folding->child.link->children)
		++*folding->child.link->children;
	fflush(NULL);
	child = fork();
	if (!child)
		sk_folding_child(&folding->child);
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		continue;
	if (child > 0 && !status)
		return true;
	report_end(folding, child < 0 ? SK_FOLDING_REPORTED << 8 : status);
	return false;
}

static bool run_folding(struct folding *folding)
{
	bool computed;

	if (!add_outputs(folding))
		return false;
	folding->child.file = create_results(folding);
	if (folding->child.file < 0)
		return false;
	computed = run_child(folding);
	if (computed)
		take_results(folding);
	else
		close(folding->child.file);
	return computed;
}

static uint64_t key_of_value(const struct folding *folding, uint32_t value)
{
	return folding->keys ? folding->keys[value] : 0;
}

/* Return the contents of a wanted value, which it may have if it is wanted twice; NULL: they are not known. */
static const void *find_known(const struct folding *folding, uint32_t wanted)
{
	const struct sk_link *link = folding->child.link;
	struct sk_op_graph *graph = folding->child.graph;
	struct sk_value found = graph->values.items[wanted];

	if (graph->sizes && !found.contents)
		found.contents = sk_known_find(link->known, graph, &found, key_of_value(folding, wanted));
	if (found.contents || !folding->shared)
		return found.contents;
	found.contents = sk_folded_find(link->folded, graph, &found, folding->shared[wanted]);
	if (graph->sizes && found.contents)
		sk_known_add(link->known, &found, key_of_value(folding, wanted));
	return found.contents;
}

/* Make constants of the wanted values with known contents. Return the number of the others, which come first then. */
static size_t take_known(const struct folding *folding, uint32_t *wanted, size_t count)
{
	struct sk_op_graph *graph = folding->child.graph;
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		struct sk_value *value = &graph->values.items[wanted[i]];
		const void *contents = graph->sizes || folding->shared ? find_known(folding, wanted[i]) : NULL;

		if (contents && value->varies)
			value->known = contents;
		else if (contents)
			sk_graph_make_constant(graph, wanted[i], contents);
		else
			wanted[kept++] = wanted[i];
	}
	return kept;
}

/* A constant is computed by this process alone. */
static bool refuse_exchanges(const struct sk_folding *child)
{
	struct sk_op_graph *graph = child->graph;

	for (size_t c = 0; c < child->calls.count; c++) {
		if (!child->calls.items[c].exchange)
			continue;
		sk_node_error(graph, &graph->nodes.items[child->calls.items[c].node],
			      "a shape, or another number that is needed while linking, depends on what ranks "
			      "exchange");
		return false;
	}
	return true;
}

static bool fold_unknown(struct folding *folding)
{
	const struct sk_link *link = folding->child.link;
	const struct sk_op_graph *graph = folding->child.graph;

	if (!refuse_exchanges(&folding->child) || !run_folding(folding))
		return false;
	for (size_t i = 0; i < folding->child.count; i++) {
		const struct sk_value *value = &graph->values.items[folding->wanted[i]];

		if (graph->sizes)
			sk_known_add(link->known, value, key_of_value(folding, folding->wanted[i]));
		if (folding->shared && !graph->sizes_at) /* results of samples end with them */
			sk_folded_add(link->folded, value, folding->shared[folding->wanted[i]]);
	}
	return true;
}

bool sk_fold_values(const void *link, struct sk_op_graph *graph, const uint32_t *wanted, size_t count)
{
	struct folding folding = {.child = {.link = link, .graph = graph}};
	uint32_t *unknown = SK_NEW_ARRAY(graph->arena, uint32_t, count + 1);

	memcpy(unknown, wanted, count * sizeof(*wanted));
	folding.wanted = unknown;
	folding.child.count = take_known(&folding, unknown, count);
	return !folding.child.count || (sk_graph_canonical(graph, unknown, folding.child.count, &folding.child.calls) &&
					fold_unknown(&folding));
}

/* ---- calls of constants ---- */

/* Calls that compute constants: each of their operands is a constant, or computed by such calls alone. */
struct constants {
	const struct sk_op_graph *graph;
	const sk_graph_calls *calls;
	bool *varies; /* by value that has bytes of its own */
	bool *folded; /* by call */
	bool *once; /* by call: it is one of them, but stays in the network */
};

/* True if a call repeats elements. With bounds it may do so in a number that depends on sizes, which only the values of
 * nodes show. */
static bool repeats(const struct constants *constants, const struct sk_graph_call *call)
{
	uint64_t elements = 0;

	if (!constants->graph->sizes || (strcmp(call->op, "Copy") && strcmp(call->op, "Range")))
		return false;
	for (size_t i = 0; i < call->inputs.count; i++)
		elements += sk_operand_elements(&call->inputs.items[i]);
	return sk_operand_elements(&call->outputs.items[0]) > elements;
}

/* True if a value differs from run to run, or from size to size. A part of a constant does if the part's place or its
 * size depends on dimensions with bounds. */
static bool is_varying(const struct constants *constants, uint32_t value)
{
	const struct sk_value *values = constants->graph->values.items;

	for (; value != SK_NONE; value = values[value].view_of)
		if (values[value].varies || constants->varies[value])
			return true;
	return false;
}

static bool is_constant_call(const struct constants *constants, const struct sk_graph_call *call)
{
	if (call->exchange || repeats(constants, call))
		return false;
	for (size_t i = 0; i < call->inputs.count; i++)
		if (is_varying(constants, call->inputs.items[i].value))
			return false;
	for (size_t i = 0; i < call->outputs.count; i++) {
		uint32_t root = sk_value_root(constants->graph, call->outputs.items[i].value);

		if (root != SK_NONE && (constants->varies[root] || constants->graph->values.items[root].output))
			return false;
	}
	return true;
}

/* Return the offset in the file of results at which they can stay when it becomes an output: after the header of a
 * weights file, or after everything else that a package may contain for this number of calls. 0: there are too few
 * bytes of results. The choice depends only on the model, as the package does. */
static uint64_t find_start(const struct folding *folding, size_t calls)
{
	const struct sk_op_graph *graph = folding->child.graph;
	uint64_t size = 0, start = 2 << 20;

	for (size_t i = 0; i < folding->child.count; i++)
		if (!sk_add(size, sk_value_bytes(&graph->values.items[folding->wanted[i]]), &size))
			return 0; /* add_place reports it */
	if (folding->child.link->command->weights)
		return size < MUCH ? 0 : SK_WEIGHTS_START;
	while (start < (2 << 20) + calls * 4096)
		start *= 2;
	return size < MUCH || size / 8 < start ? 0 : start;
}

/* A value that several calls write varies if one of them does. */
static void find_constants(struct constants *constants)
{
	bool changed = true;

	for (size_t v = 0; v < constants->graph->values.count; v++)
		constants->varies[v] =
			constants->graph->values.items[v].varies ||
			(constants->graph->values.items[v].input && !constants->graph->values.items[v].contents);
	while (changed) {
		changed = false;
		for (size_t c = 0; c < constants->calls->count; c++) {
			const struct sk_graph_call *call = &constants->calls->items[c];

			constants->folded[c] = is_constant_call(constants, call);
			for (size_t i = 0; i < call->outputs.count && !constants->folded[c]; i++) {
				uint32_t root = sk_value_root(constants->graph, call->outputs.items[i].value);

				if (root == SK_NONE || constants->varies[root])
					continue;
				constants->varies[root] = changed = true;
			}
		}
	}
}

/* Drop the calls that no wanted value depends on: their results are constants by now, or computed when the network
 * runs. */
static void drop_unneeded(struct folding *folding)
{
	struct sk_folding *child = &folding->child;
	bool *needed = SK_NEW_ARRAY(child->graph->arena, bool, child->graph->values.count + 1);
	sk_graph_calls kept = {NULL, 0, 0};

	for (size_t i = 0; i < child->count; i++)
		needed[folding->wanted[i]] = true;
	for (size_t c = child->calls.count; c-- > 0;) {
		struct sk_graph_call *call = &child->calls.items[c];
		bool needs = false;

		for (size_t i = 0; i < call->outputs.count; i++) {
			uint32_t root = sk_value_root(child->graph, call->outputs.items[i].value);

			needs |= root != SK_NONE && needed[root] && !child->graph->values.items[root].contents;
		}
		for (size_t i = 0; i < call->inputs.count && needs; i++) {
			uint32_t root = sk_value_root(child->graph, call->inputs.items[i].value);

			if (root != SK_NONE)
				needed[root] = true;
		}
		if (!needs)
			call->op = NULL;
	}
	for (size_t c = 0; c < child->calls.count; c++)
		if (child->calls.items[c].op)
			sk_array_push(child->graph->arena, &kept, child->calls.items[c]);
	child->calls = kept;
}

/* List the values that the remaining calls read, and that have to be computed. */
static uint32_t *list_wanted(const struct constants *constants, struct folding *folding)
{
	struct sk_op_graph *graph = folding->child.graph;
	bool *wanted = SK_NEW_ARRAY(graph->arena, bool, graph->values.count + 1);
	SK_ARRAY(uint32_t) values = {NULL, 0, 0};

	for (size_t c = 0; c < constants->calls->count; c++) {
		const struct sk_graph_call *call = &constants->calls->items[c];

		for (size_t i = 0; i < call->inputs.count && (!constants->folded[c] || constants->once[c]); i++) {
			uint32_t root = sk_value_root(graph, call->inputs.items[i].value);

			if (root == SK_NONE || constants->varies[root] || graph->values.items[root].contents ||
			    graph->values.items[root].once || wanted[root])
				continue;
			wanted[root] = true;
			sk_array_push(graph->arena, &values, root);
		}
	}
	folding->wanted = values.items;
	folding->child.count = values.count;
	return values.items;
}

/* Remove the calls that are folded. Those that run once come first, in their order. */
static void remove_folded(struct sk_op_graph *graph, const struct constants *constants, sk_graph_calls *calls)
{
	sk_graph_calls kept = {NULL, 0, 0};

	for (size_t c = 0; c < calls->count; c++) {
		if (!constants->once[c])
			continue;
		sk_array_push(graph->arena, &kept, calls->items[c]);
		kept.items[kept.count - 1].once = true;
	}
	for (size_t c = 0; c < calls->count; c++)
		if (!constants->folded[c])
			sk_array_push(graph->arena, &kept, calls->items[c]);
	*calls = kept;
}

bool sk_fold_calls(const struct sk_link *link, struct sk_op_graph *graph, sk_graph_calls *calls,
		   struct sk_file_draft *draft)
{
	struct folding folding = {.child = {.link = link, .graph = graph}, .draft = draft};
	struct constants constants = {.graph = graph,
				      .calls = calls,
				      .varies = SK_NEW_ARRAY(graph->arena, bool, graph->values.count + 1),
				      .folded = SK_NEW_ARRAY(graph->arena, bool, calls->count + 1),
				      .once = SK_NEW_ARRAY(graph->arena, bool, calls->count + 1)};
	uint32_t *wanted;

	find_constants(&constants);
	sk_folding_leave(link, graph, calls, constants.folded, constants.once);
	wanted = list_wanted(&constants, &folding);
	for (size_t c = 0; c < calls->count; c++)
		if (constants.folded[c])
			sk_array_push(graph->arena, &folding.child.calls, calls->items[c]);
	remove_folded(graph, &constants, calls);
	if (graph->sizes)
		folding.keys =
			sk_known_keys(graph, folding.child.calls.items, folding.child.calls.count, SK_KNOWN_BY_NAMES);
	if (link->folded)
		folding.shared = sk_known_keys(graph, folding.child.calls.items, folding.child.calls.count,
					       SK_KNOWN_BY_CONTENTS);
	folding.child.count = take_known(&folding, wanted, folding.child.count);
	drop_unneeded(&folding);
	folding.start = draft ? find_start(&folding, calls->count) : 0;
	return !folding.child.count || fold_unknown(&folding);
}

void sk_fold_close(const struct sk_file_draft *draft)
{
	close(draft->descriptor);
}
