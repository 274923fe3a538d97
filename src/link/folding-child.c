/* The process that computes constants; see link.h. There may be gigabytes of them. They are read from mapped files, and
 * results are written to the file of results after each launch, so that little of either stays in memory. */
#include "src/link/link.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/file.h"
#include "base/map.h"
#include "base/ranges.h"
#include "graph/graph.h"
#include "linker/linker.h"
#include "loader/skrt.h"
#include "src/command/command.h"
#include "src/model/model.h"

static const uint64_t most_stacks = 4ULL << 30; /* bytes for the stacks of threads and cores */

/* Results that are complete after the same launch, as lists. Recently used memory is several times as fast as new
 * memory. Results that only one launch writes are therefore bound to the same buffer for every launch. If two buffers
 * alternate, one launch can run while the results of another one are written. */
struct results {
	uint8_t *memory; /* each at its offset in the file */
	uint32_t *first; /* by launch; SK_NONE: none */
	uint32_t *next; /* by output */
	bool *alone; /* by output: a single launch writes it */
	uint8_t *buffers[2]; /* for outputs that a single launch writes; both are the same if they are large */
};

/* The state of the thread that writes results. */
struct writer {
	pthread_t thread;
	bool started; /* there is a thread to wait for */
	uint32_t launch; /* the launch with these results */
	int error; /* errno of a failed write, or 0 */
};

struct run {
	const struct sk_folding *folding;
	struct sk_link *link; /* the link of the package with the constants */
	const void **sources; /* by value of the graph: elements of a constant, or NULL */
	struct results results;
	struct writer writer;
	struct skrt_device *device;
	struct skrt_module *module;
	struct skrt_instance *instance;
	struct skrt_stream *stream;
};

/* ---- the package ---- */

static struct sk_command_line child_command(const struct sk_command_line *command)
{
	return (struct sk_command_line){.manifest = command->manifest,
					.output = "-",
					.inputs = {command->inputs.items, command->inputs.count, 0},
					.search_paths = command->search_paths,
					.assignments = command->assignments,
					.ifuncs = command->ifuncs,
					.wrapped = command->wrapped,
					.trap = command->trap,
					.trapped = command->trapped,
					.warn_unresolved = command->warn_unresolved,
					.sysroot = command->sysroot,
					.emulation = command->emulation,
					.allow_multiple_definition = command->allow_multiple_definition,
					.isolate_objects = command->isolate_objects,
					.isolated = command->isolated,
					.no_task_entries = true,
					.strip_all = true,
					.check = true,
					.colour = command->colour,
					.error_limit = command->error_limit,
					.threads = 1};
}

/* The model's constants become inputs of the package; otherwise they would be copied into it. */
static const void **take_sources(const struct sk_folding *folding, struct sk_arena *arena)
{
	struct sk_op_graph *graph = folding->graph;
	const void **sources = SK_NEW_ARRAY(arena, const void *, graph->values.count + 1);

	for (size_t i = 0; i < graph->values.count; i++) { /* this process has its own copy */
		struct sk_value *value = &graph->values.items[i];

		sources[i] = value->contents;
		value->output = false;
		value->input = value->contents != NULL;
		value->contents = NULL;
	}
	return sources;
}

/* The manifest's kernels also apply here. */
static struct sk_model *create_model(const struct sk_folding *folding, struct sk_link *link)
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
	model->allowed_isa = 0; /* compute the same bytes on every machine */
	return model;
}

/* Users' scopes and streams are for tasks of the package, and these are not among them. */
static bool link_constants(const struct sk_folding *folding, struct sk_link *link)
{
	struct sk_op_graph graph = *folding->graph;

	for (size_t i = 0; i < graph.nodes.count; i++) { /* this process has its own copy */
		graph.nodes.items[i].scope = NULL;
		graph.nodes.items[i].stream = 0;
	}
	graph.scopes.count = 0;
	graph.inputs.count = 0;
	graph.outputs.count = 0;
	for (size_t i = 0; i < folding->count; i++) {
		graph.values.items[folding->outputs[i]].output = true;
		sk_array_push(link->arena, &graph.outputs, folding->outputs[i]);
	}
	link->linker = sk_command_create_linker(link->command, link->arena, link->diag, NULL, &link->lines);
	link->model = create_model(folding, link);
	sk_graph_lower(&graph, &folding->calls, NULL, NULL, link->model);
	return sk_pass_inputs(link) && sk_pass_bind(link) && sk_pass_plan(link) && sk_pass_link(link);
}

/* ---- results ---- */

static uint64_t output_bytes(const struct sk_folding *folding, uint32_t output)
{
	return sk_value_bytes(&folding->graph->values.items[folding->outputs[output]]);
}

/* Return, by tensor of the package, its output, or SK_NONE. */
static uint32_t *find_outputs(const struct run *run)
{
	const struct sk_folding *folding = run->folding;
	const struct sk_model *model = run->link->model;
	uint32_t *outputs = SK_NEW_ARRAY(run->link->arena, uint32_t, model->tensors.count + 1);

	for (size_t i = 0; i < model->tensors.count; i++)
		outputs[i] = SK_NONE;
	for (uint32_t i = 0; i < folding->count; i++) {
		const char *name = folding->graph->values.items[folding->outputs[i]].name;
		uint32_t tensor = sk_map_find(&model->tensor_names, name, strlen(name));

		if (tensor != SK_NONE)
			outputs[tensor] = i;
	}
	return outputs;
}

/* A result is complete when the last task that writes it has run. */
static void order_results(struct run *run, const uint32_t *outputs)
{
	const struct sk_model *model = run->link->model;
	const struct sk_plan_view *plan = &run->link->plan;
	struct sk_arena *arena = run->link->arena;
	uint32_t *last = SK_NEW_ARRAY(arena, uint32_t, run->folding->count + 1);
	struct results *results = &run->results;

	results->first = SK_NEW_ARRAY(arena, uint32_t, plan->network_launch_count + (size_t)1);
	results->next = SK_NEW_ARRAY(arena, uint32_t, run->folding->count + 1);
	results->alone = SK_NEW_ARRAY(arena, bool, run->folding->count + 1);
	for (uint32_t l = 0; l < plan->network_launch_count; l++)
		results->first[l] = SK_NONE;
	for (size_t i = 0; i < run->folding->count; i++)
		last[i] = SK_NONE;
	for (uint32_t t = 0; t < model->tasks.count; t++) {
		const struct sk_task *task = &model->tasks.items[t];
		uint32_t launch = plan->tasks[t].launch;

		for (uint32_t a = 0; a < task->bound.argument_count; a++) {
			uint32_t tensor = task->bound.arguments[a].tensor;
			uint32_t output = tensor == SK_NONE ? SK_NONE : outputs[tensor];

			if (output == SK_NONE)
				continue;
			results->alone[output] =
				last[output] == SK_NONE || (results->alone[output] && last[output] == launch);
			if (last[output] == SK_NONE || last[output] < launch)
				last[output] = launch;
		}
	}
	for (uint32_t i = 0; i < run->folding->count; i++) {
		if (last[i] == SK_NONE) /* it has no elements */
			continue;
		results->next[i] = results->first[last[i]];
		results->first[last[i]] = i;
	}
}

/* Write in pieces that suit the kernel's page cache and are aligned to its pages; see base/file.c. Return the errno of
 * a failure, or 0. */
static int write_result(const struct run *run, uint32_t output, const uint8_t *bytes)
{
	enum { PIECE = 64 << 10 };
	uint64_t place = run->folding->places[output], size = output_bytes(run->folding, output);

	for (uint64_t done = 0; done < size;) {
		size_t piece = PIECE - (place + done) % PIECE,
		       now = size - done < piece ? (size_t)(size - done) : piece;
		ssize_t wrote = pwrite(run->folding->file, bytes + done, now, (off_t)(place + done));

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0)
			return wrote ? errno : ENOSPC;
		done += (uint64_t)wrote;
	}
	return 0;
}

/* Return true if the output is in the buffer while the launch that writes it runs. */
static bool is_buffered(const struct run *run, uint32_t output)
{
	return run->results.alone[output] && output_bytes(run->folding, output) >= SK_FOLDING_MUCH;
}

/* Return the bytes of the buffer that an output takes. */
static uint64_t buffer_room(const struct run *run, uint32_t output)
{
	uint64_t room;

	sk_align(output_bytes(run->folding, output), SK_FOLDING_PAGE, &room); /* cannot overflow, as in add_place */
	return is_buffered(run, output) ? room : 0;
}

static uint64_t launch_room(const struct run *run, uint32_t launch)
{
	uint64_t size = 0;

	for (uint32_t i = run->results.first[launch]; i != SK_NONE; i = run->results.next[i])
		size += buffer_room(run, i);
	return size;
}

/* Return the size of the largest buffer that a launch needs. */
static uint64_t buffer_size(const struct run *run)
{
	uint64_t most = 0;

	for (uint32_t l = 0; l < run->link->plan.network_launch_count; l++)
		most = launch_room(run, l) > most ? launch_room(run, l) : most;
	return most;
}

/* ---- running the package ---- */

/* Constants are bound in place, unless a kernel reads past their end, or they are not aligned like tensors. */
static bool bind_source(const struct run *run, const struct sk_tensor *tensor, const void *contents)
{
	void *bytes = (void *)(uintptr_t)contents; /* inputs are not written */

	if (tensor->padding || (uintptr_t)bytes % 64) {
		if (skrt_allocate(run->device, tensor->bytes + tensor->padding, &bytes) != SKRT_OK)
			return false;
		memcpy(bytes, contents, tensor->bytes);
	}
	return skrt_instance_bind(run->instance, tensor->binding, bytes, tensor->bytes + tensor->padding) == SKRT_OK;
}

static bool bind_tensors(const struct run *run, const uint32_t *outputs)
{
	const struct sk_op_graph *graph = run->folding->graph;
	const struct sk_model *model = run->link->model;

	for (size_t i = 0; i < model->tensors.count; i++) {
		const struct sk_tensor *tensor = &model->tensors.items[i];
		uint32_t output = outputs[i];

		if (tensor->view_of != SK_NONE || tensor->binding == SK_NONE)
			continue;
		if (output == SK_NONE ? !bind_source(run, tensor,
						     run->sources[sk_map_find(&graph->value_names, tensor->name,
									      strlen(tensor->name))])
				      : skrt_instance_bind(run->instance, tensor->binding,
							   run->results.memory + run->folding->places[output],
							   tensor->bytes) != SKRT_OK)
			return false;
	}
	return true;
}

/* Return memory that becomes resident only when it is written. */
static uint8_t *reserve_memory(uint64_t size)
{
	void *memory = mmap(NULL, size + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		sk_out_of_memory();
	return memory;
}

static bool prepare_run(struct run *run)
{
	enum {
		MOST_TWICE = 64 << 20, /* bytes; they are needed in addition to the weights */
		FEW = 1 << 20, /* bytes that one core computes before others have started */
	};
	struct skrt_device_options options = {.size = sizeof(options), .cores = run->folding->size < FEW ? 1 : 0};
	const uint32_t *outputs = find_outputs(run);
	struct skrt_source source = {.size = sizeof(source), .name = "the constants"};
	uint64_t buffer;

	order_results(run, outputs);
	run->results.memory = reserve_memory(run->folding->size);
	buffer = buffer_size(run);
	run->results.buffers[0] = run->results.buffers[1] = reserve_memory(buffer);
	if (buffer <= MOST_TWICE)
		run->results.buffers[1] = reserve_memory(buffer);
	source.memory = sk_linker_bytes(run->link->linker, &source.bytes);
	return skrt_device_open(&options, &run->device) == SKRT_OK &&
	       skrt_module_load_from(run->device, &source, &run->module) == SKRT_OK &&
	       skrt_instance_create(run->module, &run->instance) == SKRT_OK && bind_tensors(run, outputs) &&
	       skrt_stream_create(run->device, &run->stream) == SKRT_OK;
}

static bool report_runtime_error(const struct run *run)
{
	sk_error(run->link->diag, (struct sk_place){.file = run->folding->graph->file}, "cannot compute constants: %s",
		 skrt_error());
	return false;
}

static uint32_t binding_of(const struct run *run, uint32_t output)
{
	const struct sk_model *model = run->link->model;
	const char *name = run->folding->graph->values.items[run->folding->outputs[output]].name;

	return model->tensors.items[sk_map_find(&model->tensor_names, name, strlen(name))].binding;
}

/* Bind the results that the launch completes to the buffer, or back to their own places. */
static bool bind_results(const struct run *run, uint32_t launch, bool buffered)
{
	uint8_t *next = run->results.buffers[launch % 2];

	for (uint32_t i = run->results.first[launch]; i != SK_NONE; i = run->results.next[i]) {
		uint8_t *bytes = buffered ? next : run->results.memory + run->folding->places[i];

		if (is_buffered(run, i) && skrt_instance_bind(run->instance, binding_of(run, i), bytes,
							      output_bytes(run->folding, i)) != SKRT_OK)
			return false;
		next += buffer_room(run, i);
	}
	return true;
}

static void *write_results(void *context)
{
	struct run *run = context;
	const uint8_t *next = run->results.buffers[run->writer.launch % 2];

	for (uint32_t i = run->results.first[run->writer.launch]; i != SK_NONE && !run->writer.error;
	     i = run->results.next[i]) {
		run->writer.error = write_result(
			run, i, is_buffered(run, i) ? next : run->results.memory + run->folding->places[i]);
		next += buffer_room(run, i);
	}
	return NULL;
}

/* Wait until the results of earlier launches are written. */
static bool finish_writing(struct run *run)
{
	if (run->writer.started)
		pthread_join(run->writer.thread, NULL);
	run->writer.started = false;
	return !run->writer.error;
}

/* Write small results without a thread, since starting one costs more. If no thread can be created, also write without
 * one. */
static bool start_writing(struct run *run, uint32_t launch)
{
	const bool apart = run->results.buffers[0] != run->results.buffers[1];

	if (!finish_writing(run))
		return false;
	run->writer.launch = launch;
	run->writer.started = apart && launch_room(run, launch) >= SK_FOLDING_MUCH &&
			      !pthread_create(&run->writer.thread, NULL, write_results, run);
	if (run->writer.started)
		return true;
	write_results(run);
	return finish_writing(run);
}

static bool run_launches(struct run *run)
{
	const struct skrt_kernel *kernel;

	if (!prepare_run(run))
		return report_runtime_error(run);
	for (uint32_t l = 0; l < skrt_module_kernel_count(run->module); l++) {
		if (skrt_module_kernel(run->module, l, &kernel) != SKRT_OK || !bind_results(run, l, true) ||
		    skrt_run(run->stream, run->instance, kernel) != SKRT_OK)
			return report_runtime_error(run);
		if (!start_writing(run, l))
			return false;
		if (!bind_results(run, l, false))
			return report_runtime_error(run);
		sk_mapped_let_go();
	}
	return finish_writing(run);
}

/* ---- the process ---- */

static void limit(int resource, uint64_t most)
{
	struct rlimit limits;

	if (getrlimit(resource, &limits))
		return;
	if (limits.rlim_max > most) /* true of RLIM_INFINITY */
		limits.rlim_max = most;
	if (limits.rlim_cur > most)
		limits.rlim_cur = most;
	setrlimit(resource, &limits);
}

static void set_limits(const struct sk_folding *folding)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* no process would wait for this one any more */
	limit(RLIMIT_CPU, SK_FOLDING_SECONDS);
	alarm(SK_FOLDING_SECONDS); /* a kernel may also sleep */
#ifndef __SANITIZE_ADDRESS__ /* it takes many times as much of the address space */
	limit(RLIMIT_AS, 64ULL << 30); /* bytes, mostly mapped files */
	limit(RLIMIT_DATA, folding->size + folding->most + most_stacks); /* bytes of private memory */
#endif
	limit(RLIMIT_CORE, 0);
}

_Noreturn void sk_folding_child(const struct sk_folding *folding)
{
	const struct sk_command_line command = child_command(folding->link->command);
	struct sk_arena *arena = sk_arena_create();
	struct sk_diag diag;
	struct sk_link link = {.arena = arena, .diag = &diag, .command = &command, .lines = stdout};
	struct run run = {.folding = folding, .link = &link};

	set_limits(folding);
	sk_diag_init(&diag, arena);
	diag.no_warnings = true; /* the link itself reports them */
	run.sources = take_sources(folding, arena);
	if (link_constants(folding, &link))
		run_launches(&run);
	sk_diag_flush(&diag, "sklink", command.error_limit, stderr);
	fflush(stderr);
	_exit(run.writer.error ? SK_FOLDING_UNWRITTEN + run.writer.error : diag.errors ? SK_FOLDING_REPORTED : 0);
}
