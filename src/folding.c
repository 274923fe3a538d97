/* Constant folding; see folding.h. */
#include "src/folding.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loader/skrt.h"
#include "src/base/checked.h"
#include "src/base/mapped.h"
#include "src/command/configure.h"
#include "src/fusion/passes/canonical-graph.h"
#include "src/fusion/passes/lower.h"
#include "src/link-passes.h"

enum {
	MOST_SECONDS = 600, /* for all constants that are computed at once; of processor time, and of time */
	EXIT_REPORTED = 3, /* the child has said what is wrong */
};

/* Of what is computed there is so much at most, and so much more for each byte of the model's constants: what packs
 * moves them, what dequantises makes four or eight bytes of one. Lower limits of sklink itself (ulimit) stay what they
 * are. */
static const uint64_t most_results = 16ULL << 30, free_results = 1ULL << 30, results_of_byte = 8,
		      most_stacks = 4ULL << 30; /* of cores */

/* What is computed in one go. */
struct folding {
	const struct sk_link *link;
	struct sk_op_graph *graph;
	sk_graph_calls calls;
	const uint32_t *wanted; /* values */
	size_t count;
	uint32_t *outputs; /* by wanted value: itself, or one that nobody else has, with a copy of its elements */
	uint8_t *results; /* of all of them, one behind the other; shared with the child */
	uint64_t size;
	uint64_t most; /* bytes that results may have, and temporaries */
};

static uint64_t value_bytes(const struct sk_value *value)
{
	return sk_value_elements(value) * sk_dtype_size(value->dtype);
}

/* ---- in the child ---- */

static struct sk_command_line child_command(const struct sk_command_line *command)
{
	return (struct sk_command_line){.manifest = command->manifest,
					.output = "-",
					.inputs = {command->inputs.items, command->inputs.count, 0},
					.search_paths = command->search_paths,
					.assignments = command->assignments,
					.ifuncs = command->ifuncs,
					.wrapped = command->wrapped,
					.sysroot = command->sysroot,
					.emulation = command->emulation,
					.allow_multiple_definition = command->allow_multiple_definition,
					.isolate_objects = command->isolate_objects,
					.no_task_entries = true,
					.strip_all = true,
					.check = true,
					.colour = command->colour,
					.error_limit = command->error_limit,
					.threads = 1};
}

/* What the package reads. They are inputs of it: constants would be copied into it. */
struct sources {
	SK_ARRAY(struct sk_value) items; /* as they are in the graph around */
};

static void take_sources(const struct folding *folding, struct sk_arena *arena, struct sources *sources)
{
	struct sk_op_graph *graph = folding->graph;

	for (size_t i = 0; i < graph->values.count; i++) { /* this process has them for itself */
		struct sk_value *value = &graph->values.items[i];

		value->output = false;
		value->input = value->contents != NULL;
		if (value->contents)
			sk_array_push(arena, &sources->items, *value);
		value->contents = NULL;
	}
}

/* What the manifest says of kernels counts here, too. */
static struct sk_model *create_model(const struct folding *folding, struct sk_link *link)
{
	const struct sk_model *outer = folding->link->model;
	struct sk_model *model = sk_model_create(link->arena, link->diag);

	sk_model_set_file(model, outer->manifest);
	model->root = outer->root;
	model->declared.items = outer->declared.items;
	model->declared.count = outer->declared.count;
	model->declared_names = outer->declared_names;
	model->libraries.items = outer->libraries.items;
	model->libraries.count = outer->libraries.count;
	model->allowed_isa = 0; /* the same bytes on every machine */
	return model;
}

static bool link_constants(const struct folding *folding, struct sk_link *link)
{
	struct sk_op_graph graph = *folding->graph;

	for (size_t i = 0; i < folding->count; i++)
		graph.values.items[folding->outputs[i]].output = true;
	graph.inputs.count = 0;
	graph.outputs.items = folding->outputs;
	graph.outputs.count = folding->count;
	link->linker = sk_command_create_linker(link->command, link->arena, link->diag, NULL);
	link->model = create_model(folding, link);
	sk_graph_lower(&graph, &folding->calls, NULL, link->model);
	return sk_pass_inputs(link) && sk_pass_bind(link) && sk_pass_link(link);
}

static bool bind_results(const struct folding *folding, struct skrt_instance *instance, struct skrt_module *module)
{
	uint8_t *next = folding->results;

	for (size_t i = 0; i < folding->count; i++) {
		const struct sk_value *value = &folding->graph->values.items[folding->outputs[i]];
		uint64_t bytes = value_bytes(value), room;
		uint32_t number;

		if (skrt_module_find_tensor(module, value->name, &number) != SKRT_OK ||
		    skrt_instance_bind(instance, number, next, bytes) != SKRT_OK)
			return false;
		sk_align(bytes, 64, &room);
		next += room;
	}
	return true;
}

/* Constants are read where they are, unless a kernel reads behind them, or they do not begin where tensors do. */
static bool bind_source(const struct sk_value *value, struct skrt_device *device, struct skrt_instance *instance,
			const struct skrt_module *module)
{
	void *bytes = (void *)value->contents; /* inputs are not written */
	struct skrt_tensor tensor;
	uint32_t number;

	if (skrt_module_find_tensor(module, value->name, &number) != SKRT_OK)
		return true; /* nothing here reads it */
	if (skrt_module_tensor(module, number, &tensor) != SKRT_OK)
		return false;
	if (tensor.padding || (uintptr_t)bytes % 64) {
		if (skrt_allocate(device, tensor.bytes + tensor.padding, &bytes) != SKRT_OK)
			return false;
		memcpy(bytes, value->contents, tensor.bytes);
	}
	return skrt_instance_bind(instance, number, bytes, tensor.bytes + tensor.padding) == SKRT_OK;
}

/* Pages of files and of results leave this process's memory behind each launch: it would have all weights twice. */
static bool run_launches(const struct folding *folding, struct skrt_instance *instance, struct skrt_module *module,
			 struct skrt_stream *stream)
{
	const struct skrt_kernel *kernel;

	for (uint32_t i = 0; i < skrt_module_kernel_count(module); i++) {
		if (skrt_module_kernel(module, i, &kernel) != SKRT_OK || skrt_run(stream, instance, kernel) != SKRT_OK)
			return false;
		sk_mapped_let_go();
		madvise(folding->results, folding->size, MADV_DONTNEED);
	}
	return true;
}

static bool run_constants(const struct folding *folding, const struct sk_link *link, const struct sources *sources)
{
	struct skrt_source source = {.name = "the constants"};
	struct skrt_device *device;
	struct skrt_module *module;
	struct skrt_instance *instance;
	struct skrt_stream *stream;

	source.memory = sk_linker_bytes(link->linker, &source.bytes);
	if (skrt_device_open(&(struct skrt_device_options){.device = "host"}, &device) != SKRT_OK ||
	    skrt_module_load_from(device, &source, &module) != SKRT_OK ||
	    skrt_instance_create(module, &instance) != SKRT_OK || !bind_results(folding, instance, module) ||
	    skrt_stream_create(device, &stream) != SKRT_OK)
		return false;
	for (size_t i = 0; i < sources->items.count; i++)
		if (!bind_source(&sources->items.items[i], device, instance, module))
			return false;
	return run_launches(folding, instance, module, stream);
}

static void limit(int resource, uint64_t most)
{
	struct rlimit limits;

	if (getrlimit(resource, &limits))
		return;
	if (limits.rlim_max > most) /* as RLIM_INFINITY is */
		limits.rlim_max = most;
	if (limits.rlim_cur > most)
		limits.rlim_cur = most;
	setrlimit(resource, &limits);
}

/* Ends the process. What it holds goes with it. */
static _Noreturn void run_child(const struct folding *folding)
{
	const struct sk_command_line command = child_command(folding->link->command);
	struct sk_arena *arena = sk_arena_create();
	struct sk_diag diag;
	struct sk_link link = {.arena = arena, .diag = &diag, .command = &command};
	struct sources sources = {{NULL, 0, 0}};

	prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody else would wait for it */
	limit(RLIMIT_CPU, MOST_SECONDS);
	alarm(MOST_SECONDS); /* a kernel may sleep, too */
#ifndef __SANITIZE_ADDRESS__ /* it takes many times as much of the address space */
	limit(RLIMIT_AS, 64ULL << 30); /* bytes, most of which are mapped files */
	limit(RLIMIT_DATA, folding->most + most_stacks); /* bytes that it has for itself */
#endif
	limit(RLIMIT_CORE, 0);
	sk_diag_init(&diag, arena);
	take_sources(folding, arena, &sources);
	if (link_constants(folding, &link) && !run_constants(folding, &link, &sources))
		sk_error(&diag, (struct sk_place){.file = folding->graph->file}, "cannot compute constants: %s",
			 skrt_error());
	diag.no_warnings = true; /* the link itself gives them */
	sk_diag_flush(&diag, "sklink", command.error_limit, stderr);
	fflush(stderr);
	_exit(diag.errors ? EXIT_REPORTED : 0);
}

/* ---- around it ---- */

/* By value: whether calls read bytes of it. */
static bool *mark_read(const struct folding *folding)
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

/* A copy of the value, which is a part of another one, or is read: there kernels may also read behind it. */
static uint32_t add_copy(struct folding *folding, const struct sk_value value, uint32_t index)
{
	struct sk_op_graph *graph = folding->graph;
	struct sk_canonical canonical = {graph, value.node != SK_NONE ? value.node : folding->calls.items[0].node,
					 &folding->calls, NULL};
	uint32_t copy = sk_graph_new_value(graph, value.name, value.dtype, value.rank, value.shape);

	if (sk_value_elements(&value))
		sk_canonical_copy(&canonical, copy, index);
	return copy;
}

/* How much may be computed. */
static uint64_t most_bytes(const struct sk_op_graph *graph)
{
	uint64_t constants = 0;

	for (size_t i = 0; i < graph->values.count; i++)
		if (graph->values.items[i].contents &&
		    sk_add(constants, value_bytes(&graph->values.items[i]), &constants) && constants > most_results)
			break;
	constants = free_results + (constants < most_results ? constants * results_of_byte : most_results);
	return constants < most_results ? constants : most_results;
}

static bool add_outputs(struct folding *folding)
{
	struct sk_op_graph *graph = folding->graph;
	const bool *read = mark_read(folding);
	uint64_t room;

	folding->most = most_bytes(graph);
	folding->outputs = SK_NEW_ARRAY(graph->arena, uint32_t, folding->count + 1);
	for (size_t i = 0; i < folding->count; i++) {
		const struct sk_value value = graph->values.items[folding->wanted[i]];

		folding->outputs[i] = value.view_of == SK_NONE && !value.contents && !read[folding->wanted[i]]
					      ? folding->wanted[i]
					      : add_copy(folding, value, folding->wanted[i]);
		if (!sk_align(value_bytes(&value), 64, &room) || !sk_add(folding->size, room, &folding->size) ||
		    folding->size > folding->most) {
			sk_error(graph->diag, value.place,
				 "constants that are computed would have more than %llu MiB, which is too much for a "
				 "model with so few bytes of constants",
				 (unsigned long long)(folding->most >> 20));
			return false;
		}
	}
	return true;
}

static void take_results(struct folding *folding)
{
	uint8_t *next = folding->results;

	for (size_t i = 0; i < folding->count; i++) {
		struct sk_value *value = &folding->graph->values.items[folding->wanted[i]];
		uint64_t room;

		sk_align(value_bytes(value), 64, &room);
		value->contents = next;
		value->view_of = SK_NONE;
		value->node = SK_NONE;
		next += room;
	}
}

static void report_end(const struct folding *folding, int status)
{
	const struct sk_place place = {.file = folding->graph->file};
	const char *first = folding->graph->values.items[folding->wanted[0]].name;

	if (WIFEXITED(status))
		sk_error(folding->graph->diag, place, "cannot compute '%s' from the constants that it depends on",
			 first);
	else if (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL || WTERMSIG(status) == SIGALRM)
		sk_error(folding->graph->diag, place,
			 "computing '%s' from the constants that it depends on takes too long", first);
	else
		sk_error(folding->graph->diag, place,
			 "computing '%s' from the constants that it depends on ended with signal %d", first,
			 WTERMSIG(status));
}

static bool run(struct folding *folding)
{
	int status = 0;
	pid_t child;

	if (!add_outputs(folding))
		return false;
	folding->results = mmap(NULL, folding->size + 64, PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (folding->results == MAP_FAILED)
		sk_out_of_memory();
	fflush(NULL);
	child = fork();
	if (!child)
		run_child(folding);
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		continue;
	if (child < 0 || status) {
		report_end(folding, child < 0 ? EXIT_REPORTED << 8 : status);
		return false;
	}
	take_results(folding);
	return true;
}

bool sk_fold_values(void *link, struct sk_op_graph *graph, const uint32_t *wanted, size_t count)
{
	struct folding folding = {.link = link, .graph = graph, .wanted = wanted, .count = count};

	return sk_graph_canonical(graph, wanted, count, &folding.calls) && run(&folding);
}

/* ---- calls of constants ---- */

/* Which calls compute constants: those of whose operands each is a constant, or computed by such calls alone. */
struct constants {
	const struct sk_op_graph *graph;
	const sk_graph_calls *calls;
	bool *varies; /* by value that has bytes of its own */
	bool *folded; /* by call */
};

static bool is_constant_call(const struct constants *constants, const struct sk_graph_call *call)
{
	for (size_t i = 0; i < call->inputs.count; i++) {
		uint32_t root = sk_value_root(constants->graph, call->inputs.items[i].value);

		if (root != SK_NONE && constants->varies[root])
			return false;
	}
	for (size_t i = 0; i < call->outputs.count; i++) {
		uint32_t root = sk_value_root(constants->graph, call->outputs.items[i].value);

		if (root != SK_NONE && (constants->varies[root] || constants->graph->values.items[root].output))
			return false;
	}
	return true;
}

/* A value that several calls write varies if one of them does. */
static void find_constants(struct constants *constants)
{
	bool changed = true;

	for (size_t v = 0; v < constants->graph->values.count; v++)
		constants->varies[v] =
			constants->graph->values.items[v].input && !constants->graph->values.items[v].contents;
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

bool sk_fold_calls(const struct sk_link *link, struct sk_op_graph *graph, sk_graph_calls *calls)
{
	struct folding folding = {.link = link, .graph = graph};
	struct constants constants = {.graph = graph,
				      .calls = calls,
				      .varies = SK_NEW_ARRAY(graph->arena, bool, graph->values.count + 1),
				      .folded = SK_NEW_ARRAY(graph->arena, bool, calls->count + 1)};
	bool *wanted = SK_NEW_ARRAY(graph->arena, bool, graph->values.count + 1);
	SK_ARRAY(uint32_t) values = {NULL, 0, 0};
	size_t kept = 0;

	find_constants(&constants);
	for (size_t c = 0; c < calls->count; c++) {
		const struct sk_graph_call *call = &calls->items[c];

		if (constants.folded[c]) {
			sk_array_push(graph->arena, &folding.calls, *call);
			continue;
		}
		for (size_t i = 0; i < call->inputs.count; i++) {
			uint32_t root = sk_value_root(graph, call->inputs.items[i].value);

			if (root == SK_NONE || constants.varies[root] || graph->values.items[root].contents ||
			    wanted[root])
				continue;
			wanted[root] = true;
			sk_array_push(graph->arena, &values, root);
		}
		calls->items[kept++] = *call;
	}
	calls->count = kept;
	folding.wanted = values.items;
	folding.count = values.count;
	return !folding.count || run(&folding);
}
