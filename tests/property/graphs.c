/* The property test of models. Every graph that random-graph.c draws must link. It must compute the same bytes in these
 * ways: fused on any number of cores, task by task, serially, without tile groups, with any flags and switches of
 * fusion (random-flags.c), and with every value as an output and nothing fused. Each node must compute, from its inputs
 * in that run, the result of graph-reference.c. Where flags expand and simplify, results may also differ by as much as
 * graph-expansions.c allows. Where patterns become other operators, whose arithmetic rounds otherwise, only the values
 * at the ends of a chain of nodes remain. They are compared with the chain's definition, within the errors that
 * accumulate on the way (graph-errors.c); a bound that inputs within their errors exceed is also a failure. The last
 * dump of a link with flags, and another one of its dumps, must link to the same steps, and the last one must compute
 * the same.
 *
 *   graphs [--cases COUNT] [--seed FIRST] [--removed MASK] [--jobs COUNT] [--keep FOLDER] [--print] SKLINK SKDUMP
 *   MAKE-MODEL LIBRARIES
 *
 * A case is a seed, some graphs in one file, and runs in a process of its own. A failing case is made smaller: nodes
 * are left out (--removed, a bit for each), and their outputs become inputs. It is then left in a folder (--keep), as
 * lines for make-model and as a model, with its inputs. LIBRARIES is the folder with libskernels.a. */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "format/npy/npy.h"
#include "format/skplan.h"
#include "loader/skrt.h"
#include "tests/property/random-flags.h"
#include "tests/property/random-graph.h"

enum {
	MOST_JOBS = 64,
	MOST_FAILURES = 5,
	SECONDS = 600, /* on a busy machine most of them pass without a turn */
	FEWER_SECONDS = 10,
	TEXT = 4096,
	PATH = 512,
	GUARD = 64,
	GUARD_BYTE = 0xd7
};

static struct {
	uint64_t cases, seed, jobs;
	uint64_t removed;
	const char *keep, *sklink, *skdump, *make_model, *libraries;
} options = {.cases = 100, .seed = 1};

/* Shared by the processes of the cases: the last failure, and counts. */
struct board {
	char message[TEXT], flags[TEXT];
	uint64_t graphs, nodes, elements, chained, fused, dumps;
	uint32_t failures;
};

static struct board *board;

static void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

static void fail(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(board->message, TEXT, format, arguments);
	va_end(arguments);
	_exit(1);
}

/* ---- programs ---- */

/* Run a program with files as standard input and error; its message after a failure is the case's. */
static void run_program(const char *folder, const char *input, const char *const *words)
{
	char errors[PATH], text[TEXT - 200] = "";
	pid_t child;
	int status;
	FILE *file;

	snprintf(errors, sizeof(errors), "%s/err.txt", folder);
	child = fork();
	if (child == 0) {
		if (!freopen(input ? input : "/dev/null", "r", stdin) || !freopen(errors, "w", stderr))
			_exit(127);
		execv(words[0], (char **)(uintptr_t)words); /* which only reads them */
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		fail("no process for %s", words[0]);
	if (!status)
		return;
	file = fopen(errors, "r");
	text[file ? fread(text, 1, sizeof(text) - 1, file) : 0] = 0;
	fail("%s: status %d: %s", words[0], status, text);
}

static void make_model(const struct graph *graph, const char *folder, const char *name, enum graph_outputs outputs)
{
	char lines[PATH], model[PATH];
	FILE *file;

	snprintf(lines, sizeof(lines), "%s/%s.txt", folder, name);
	snprintf(model, sizeof(model), "%s/%s.onnx", folder, name);
	file = fopen(lines, "w");
	if (!file)
		fail("%s: %s", lines, strerror(errno));
	graph_write(graph, file, outputs);
	fclose(file);
	run_program(folder, lines, (const char *[]){options.make_model, model, NULL});
}

enum { MOST_OPTIONS = 4 };

/* The package FOLDER/NAME.sk of the model FOLDER/FILE; the options end with NULL. */
static void link_file(const char *folder, const char *file, const char *name, const char *const *more)
{
	char input[PATH], output[PATH], libraries[PATH];
	const char *words[7 + MOST_OPTIONS] = {options.sklink, input, libraries, "-lskernels", "-o", output};

	snprintf(input, sizeof(input), "%s/%s", folder, file);
	snprintf(output, sizeof(output), "%s/%s.sk", folder, name);
	snprintf(libraries, sizeof(libraries), "-L%s", options.libraries);
	for (uint32_t i = 0; more[i]; i++)
		words[6 + i] = more[i];
	run_program(folder, NULL, words);
}

static void link_model(const char *folder, const char *model, const char *name, const char *const *more)
{
	char file[64];

	snprintf(file, sizeof(file), "%s.onnx", model);
	link_file(folder, file, name, more);
}

/* ---- runs ---- */

enum mode { FUSED, UNFUSED, SERIAL };

struct run {
	const char *package, *device;
	enum mode mode;
	uint32_t cores;
	enum graph_outputs outputs; /* that the package has */
};

/* The bytes of each value after a run; NULL: the package has no such tensor. */
struct results {
	uint8_t *bytes[GRAPH_VALUES];
};

static void must(const struct run *run, enum skrt_status status)
{
	static const char *const modes[] = {"fused", "unfused", "serial"};

	if (status != SKRT_OK)
		fail("%s.sk, %s on %s with %u cores: %s: %s", run->package, modes[run->mode], run->device, run->cores,
		     skrt_status_name(status), skrt_error());
}

static size_t size_of(const struct graph_value *value)
{
	return (size_t)value->count * sk_dtype_size(value->dtype);
}

static void bind_tensors(const struct graph *graph, const struct run *run, struct skrt_module *module,
			 struct skrt_instance *instance, struct results *results)
{
	for (uint32_t i = 0; i < skrt_module_tensor_count(module); i++) {
		struct skrt_tensor tensor = {.size = sizeof(tensor)};
		const struct graph_value *value;
		uint32_t index;
		size_t room;

		must(run, skrt_module_tensor(module, i, &tensor));
		index = (uint32_t)strtoul(tensor.name + 1, NULL, 10);
		value = &graph->values[index];
		if (index >= graph->value_count || tensor.bytes != size_of(value) || tensor.rank != value->rank ||
		    (int)tensor.dtype != (int)value->dtype)
			fail("%s.sk: tensor %s is another one", run->package, tensor.name);
		if (value->kind == GRAPH_COMPUTED && !graph_has(graph, index, run->outputs))
			fail("%s.sk: %s is bound, and no output", run->package, tensor.name);
		room = (tensor.bytes + tensor.padding + GUARD + 63) / 64 * 64;
		results->bytes[index] = aligned_alloc(64, room);
		if (!results->bytes[index])
			abort();
		memset(results->bytes[index], GUARD_BYTE, room);
		if (value->kind != GRAPH_COMPUTED)
			graph_encode(value->dtype, value->elements, value->count, results->bytes[index]);
		must(run, skrt_instance_bind(instance, i, results->bytes[index], tensor.bytes + tensor.padding));
	}
}

static void launch(const struct run *run, struct skrt_module *module, struct skrt_instance *instance,
		   struct skrt_stream *stream)
{
	const struct skrt_kernel *kernel;

	must(run, skrt_instance_fill_workspace(instance, 0xa5));
	if (run->mode == FUSED)
		must(run, skrt_run_network(stream, instance));
	for (uint32_t i = 0; run->mode == UNFUSED && i < skrt_module_task_count(module); i++) {
		must(run, skrt_module_task(module, i, &kernel));
		must(run, skrt_run(stream, instance, kernel));
	}
	for (uint32_t i = 0; run->mode == SERIAL && i < skrt_module_kernel_count(module); i++) {
		must(run, skrt_module_kernel(module, i, &kernel));
		must(run, skrt_run_serial(instance, kernel));
	}
}

static void run_package(const struct graph *graph, const char *folder, const struct run *run, struct results *results)
{
	const struct skrt_device_options device_options = {.size = sizeof(device_options),
							   .device = run->device,
							   .cores = run->cores,
							   .timeout_ms = 60000,
							   .seed = strcmp(run->device, "host") ? graph->seed % 1000
											       : 0};
	struct skrt_device *device;
	struct skrt_module *module;
	struct skrt_instance *instance;
	struct skrt_stream *stream;
	char path[PATH];

	*results = (struct results){0};
	snprintf(path, sizeof(path), "%s/%s.sk", folder, run->package);
	must(run, skrt_device_open(&device_options, &device));
	must(run, skrt_module_load(device, path, &module));
	must(run, skrt_instance_create(module, &instance));
	must(run, skrt_stream_create(device, &stream));
	bind_tensors(graph, run, module, instance, results);
	launch(run, module, instance, stream);
	for (uint32_t i = 0; i < skrt_module_tensor_count(module); i++) {
		struct skrt_tensor tensor = {.size = sizeof(tensor)};
		uint32_t index;

		must(run, skrt_module_tensor(module, i, &tensor));
		index = (uint32_t)strtoul(tensor.name + 1, NULL, 10);
		for (uint32_t k = 0; k < GUARD; k++)
			if (results->bytes[index][tensor.bytes + tensor.padding + k] != GUARD_BYTE)
				fail("%s.sk on %u cores: bytes behind %s were written", run->package, run->cores,
				     tensor.name);
	}
	must(run, skrt_stream_destroy(stream));
	must(run, skrt_instance_destroy(instance));
	must(run, skrt_module_unload(module));
	must(run, skrt_device_close(device));
}

static void free_results(struct results *results)
{
	for (uint32_t i = 0; i < GRAPH_VALUES; i++)
		free(results->bytes[i]);
}

/* ---- checks ---- */

static void check_node(const struct graph *graph, const struct graph_node *node, uint32_t output, bool expanded)
{
	const struct graph_value *value = &graph->values[node->outputs[output]];
	number *expected = calloc((size_t)value->count + 1, sizeof(number));
	number *room = calloc((size_t)value->count + 1, sizeof(number));

	if (!expected || !room)
		abort();
	if (!graph_reference(graph, node, output, expected, room))
		fail("nobody knows what %s is", node->op);
	for (int64_t i = 0; expanded && i < value->count; i++)
		room[i] += graph_expansion_room(graph, node, i);
	for (int64_t i = 0; i < value->count; i++)
		if (!graph_is_near(value->dtype, value->elements[i], expected[i], room[i]))
			fail("%sn%u (%s, %s): element %lld of v%u is %.20Lg (%La), not %.20Lg by %.3Lg",
			     expanded ? "expanded.sk: " : "", (uint32_t)(node - graph->nodes), node->op,
			     sk_dtype_name(value->dtype), (long long)i, node->outputs[output], value->elements[i],
			     value->elements[i], expected[i], room[i]);
	__atomic_add_fetch(&board->elements, (uint64_t)value->count, __ATOMIC_RELAXED);
	free(expected);
	free(room);
}

/* From a run in which all values are outputs. */
static void check_nodes(struct graph *graph, const struct results *results, bool expanded)
{
	for (uint32_t i = 0; i < graph->value_count; i++) {
		struct graph_value *value = &graph->values[i];

		if (value->kind != GRAPH_COMPUTED)
			continue;
		if (!results->bytes[i])
			fail("%s.sk has no output v%u", expanded ? "expanded" : "all", i);
		graph_decode(value->dtype, results->bytes[i], value->count, value->elements);
	}
	for (uint32_t i = 0; i < graph->node_count; i++)
		for (uint32_t o = 0; !graph->nodes[i].removed && o < graph->nodes[i].output_count; o++)
			check_node(graph, &graph->nodes[i], o, expanded);
}

/* Take the expected elements for a value that a run does not show, with all the error that may have accumulated. If an
 * element may not fit into its type, nothing is known. */
static void imagine(struct graph_value *value, number *expected, number *room)
{
	for (int64_t i = 0; i < value->count; i++) {
		number most = fabsl(expected[i]) + room[i], held;
		uint64_t bits = 0;

		graph_encode(value->dtype, &most, 1, &bits);
		graph_decode(value->dtype, &bits, 1, &held);
		if (!isfinite(held) && isfinite(expected[i]))
			room[i] = HUGE_VALL;
	}
	free(value->elements);
	free(value->error);
	value->elements = expected;
	value->error = room;
}

static void check_chained(struct graph *graph, const struct graph_node *node, uint32_t output, const uint8_t *bytes)
{
	struct graph_value *value = &graph->values[node->outputs[output]];
	number *expected = calloc((size_t)value->count + 1, sizeof(number));
	number *room = calloc((size_t)value->count + 1, sizeof(number));
	int64_t outside;

	if (!expected || !room)
		abort();
	graph_reference(graph, node, output, expected, room);
	graph_spread(graph, node, output, expected, room);
	outside = graph_outside(graph, node, output, expected, room);
	if (outside >= 0)
		fail("graph-errors.c: n%u (%s, %s): element %lld of v%u may be farther from %.20Lg than %.3Lg",
		     (uint32_t)(node - graph->nodes), node->op, sk_dtype_name(value->dtype), (long long)outside,
		     node->outputs[output], expected[outside], room[outside]);
	if (!bytes) {
		imagine(value, expected, room);
		return;
	}
	graph_decode(value->dtype, bytes, value->count, value->elements);
	free(value->error);
	value->error = NULL;
	for (int64_t i = 0; i < value->count; i++) {
		if (!graph_is_near(value->dtype, value->elements[i], expected[i], room[i]))
			fail("fused.sk: n%u (%s, %s): element %lld of v%u is %.20Lg (%La), not %.20Lg by %.3Lg",
			     (uint32_t)(node - graph->nodes), node->op, sk_dtype_name(value->dtype), (long long)i,
			     node->outputs[output], value->elements[i], value->elements[i], expected[i], room[i]);
		board->chained += isfinite(room[i]) ? 1 : 0;
	}
	free(expected);
	free(room);
}

/* For a run in which patterns have become other operators: compare the ends of chains, computed from the chains'
 * inputs. */
static void check_chains(struct graph *graph, const struct results *results)
{
	for (uint32_t i = 0; i < graph->node_count; i++)
		for (uint32_t o = 0; !graph->nodes[i].removed && o < graph->nodes[i].output_count; o++)
			check_chained(graph, &graph->nodes[i], o, results->bytes[graph->nodes[i].outputs[o]]);
}

/* By the bytes; but any NaN is as good as another one, since sign and payload depend on how it is computed. */
static bool is_same(enum sk_dtype dtype, const uint8_t *one, const uint8_t *other, int64_t count)
{
	size_t size = sk_dtype_size(dtype);
	number a, b;

	for (int64_t i = 0; i < count; i++, one += size, other += size) {
		if (!memcmp(one, other, size))
			continue;
		graph_decode(dtype, one, 1, &a);
		graph_decode(dtype, other, 1, &b);
		if (!isnan(a) || !isnan(b))
			return false;
	}
	return true;
}

static void check_same(const struct graph *graph, const struct run *run, const struct results *results,
		       const struct results *expected)
{
	static const char *const modes[] = {"fused", "unfused", "serial"};

	for (uint32_t i = 0; i < graph->value_count; i++)
		if (graph->values[i].kind == GRAPH_COMPUTED && results->bytes[i] &&
		    !is_same(graph->values[i].dtype, results->bytes[i], expected->bytes[i], graph->values[i].count))
			fail("%s.sk, %s on %s with %u cores: v%u has other bytes than in the first run", run->package,
			     modes[run->mode], run->device, run->cores, i);
}

/* ---- dumps ---- */

static FILE *read_steps(const char *folder, const char *name)
{
	char command[2 * TEXT];
	FILE *steps;

	snprintf(command, sizeof(command), "'%s' --steps '%s/%s.sk'", options.skdump, folder, name);
	steps = popen(command, "r");
	if (!steps)
		fail("%s: %s", command, strerror(errno));
	return steps;
}

/* The package "again", which is linked from that dump, has the steps of the package that the dump is of. */
static void check_steps(const char *folder, const char *name, const char *dump)
{
	FILE *expected = read_steps(folder, name), *steps = read_steps(folder, "again");
	char line[TEXT / 4], other[TEXT / 4];
	bool more = true;

	while (more) {
		more = fgets(line, sizeof(line), expected);
		if (more != !!fgets(other, sizeof(other), steps) || (more && strcmp(line, other)))
			fail("%s links to other steps than %s.sk has: %s", dump, name, more ? line : other);
	}
	if (pclose(expected) || pclose(steps))
		fail("%s fails", options.skdump);
	__atomic_add_fetch(&board->dumps, 1, __ATOMIC_RELAXED);
}

static int is_model(const struct dirent *file)
{
	const char *ending = strrchr(file->d_name, '.');

	return ending && !strcmp(ending, ".pbtxt");
}

/* One of the dumps of the last link, by the seed: the order of their names does not depend on the locale. */
static void draw_dump(uint64_t seed, const char *folder, char *path, size_t size)
{
	char dumps[PATH];
	struct dirent **files;
	int count;

	snprintf(dumps, sizeof(dumps), "%.400s/dumps", folder);
	count = scandir(dumps, &files, is_model, alphasort);
	if (count < 1)
		fail("%s: no dumps", dumps);
	snprintf(path, size, "dumps/%s", files[seed % (uint64_t)count]->d_name);
	while (count--)
		free(files[count]);
	free(files);
}

/* Link one of the dumps of the package NAME, and then the last one, to the package "again". */
static void link_dumps(uint64_t seed, const char *folder, const char *name, const char *const *more)
{
	char dumps[2][PATH] = {"", "dumps/hwopt_d_end_graph_0.pbtxt"};

	draw_dump(seed, folder, dumps[0], sizeof(dumps[0]));
	for (size_t i = 0; i < 2; i++) {
		link_file(folder, dumps[i], "again", more);
		check_steps(folder, name, dumps[i]);
	}
}

/* Link with flags; a failure names them. Every other link also has a switch file. Dumps are linked in the same way. */
static void link_flagged(const struct graph *graph, const char *folder, const char *model, const char *name,
			 const char *target, const char *flags, bool switches)
{
	char target_option[64], flags_option[TEXT / 2 + 32], switches_option[PATH], path[PATH];
	char dumps_option[PATH];
	const char *const more[] = {dumps_option, target_option, flags_option, switches ? switches_option : NULL, NULL};
	FILE *file;

	snprintf(dumps_option, sizeof(dumps_option), "--dump-dir=%.400s/dumps", folder);

	snprintf(target_option, sizeof(target_option), "--fusion-target=%s", target);
	snprintf(flags_option, sizeof(flags_option), "--fusion-flags=%s", flags);
	snprintf(path, sizeof(path), "%s/%s.switches", folder, name);
	snprintf(switches_option, sizeof(switches_option), "--fusion-switch-file=%.400s", path);
	snprintf(board->flags, sizeof(board->flags), "'%s' '%s'", target_option, flags_option);
	file = fopen(path, "w");
	if (!file)
		fail("%s: %s", path, strerror(errno));
	flags_write_switches(graph->seed, file);
	fclose(file);
	link_model(folder, model, name, more);
	link_dumps(graph->seed, folder, name, more + 1);
}

/* One graph in four is also linked without tile groups. */
static bool is_plain(const struct graph *graph)
{
	return graph->seed % 4 == 2;
}

static void check_runs(struct graph *graph, const char *folder)
{
	static const struct run first = {"all", "host", FUSED, 2, GRAPH_ALL};
	const struct run runs[] = {
		is_plain(graph) ? (struct run){"plain", "host", FUSED, 2, GRAPH_SOME}
				: (struct run){"all", "host", graph->seed % 2 ? UNFUSED : FUSED, 2, GRAPH_ALL},
		{"some", "host", FUSED, 1, GRAPH_SOME},
		{"some", "host", FUSED, 2, GRAPH_SOME},
		{"some", "host", FUSED, 7, GRAPH_SOME},
		{"some", "host", UNFUSED, 2, GRAPH_SOME},
		{"some", "host", SERIAL, 1, GRAPH_SOME},
		{"some", "a3", FUSED, 5, GRAPH_SOME},
		{"flagged", "host", FUSED, 2, GRAPH_SOME},
		{"flagged", "host", graph->seed % 2 ? UNFUSED : FUSED, 7, GRAPH_SOME},
		{"again", "host", FUSED, 3, GRAPH_SOME},
	};
	struct results expected, results;

	run_package(graph, folder, &first, &expected);
	check_nodes(graph, &expected, false);
	for (size_t i = 0; i < sizeof(runs) / sizeof(*runs); i++) {
		run_package(graph, folder, &runs[i], &results);
		check_same(graph, &runs[i], &results, &expected);
		free_results(&results);
	}
	free_results(&expected);
}

/* Run a package with results of its own: they must be the same however it runs. */
static void check_apart(struct graph *graph, const char *folder, const char *package, enum graph_outputs outputs)
{
	const struct run first = {package, "host", FUSED, 2, outputs};
	const struct run other = {package, graph->seed % 3 ? "host" : "a3", graph->seed % 2 ? SERIAL : UNFUSED, 3,
				  outputs};
	const struct run again = {"again", "host", FUSED, 2, outputs};
	struct results expected, results;

	run_package(graph, folder, &first, &expected);
	if (!strcmp(package, "fused"))
		check_chains(graph, &expected);
	else
		check_nodes(graph, &expected, true);
	run_package(graph, folder, &other, &results);
	check_same(graph, &other, &results, &expected);
	free_results(&results);
	if (!strcmp(package, "expanded")) {
		run_package(graph, folder, &again, &results);
		check_same(graph, &again, &results, &expected);
		free_results(&results);
	}
	free_results(&expected);
}

/* Flags that expand and simplify change results; each node must still be right for the inputs that it had. */
static void check_expanded(struct graph *graph, const char *folder)
{
	char flags[TEXT / 2];
	const char *target;

	flags_draw_expansion(graph, &target, flags, sizeof(flags));
	link_flagged(graph, folder, "all", "expanded", target, flags, false);
	check_apart(graph, folder, "expanded", GRAPH_ALL);
}

/* Return how often fusion_result.json reports a replaced pattern. */
static uint64_t count_fused(const char *folder)
{
	char path[PATH], line[TEXT];
	uint64_t sum = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/result.json", folder);
	file = fopen(path, "r");
	if (!file)
		fail("%s: %s", path, strerror(errno));
	while (fgets(line, sizeof(line), file)) {
		const char *times = strstr(line, "\"effect_times\": \"");

		sum += times ? strtoull(times + strlen("\"effect_times\": \""), NULL, 10) : 0;
	}
	fclose(file);
	return sum;
}

/* Patterns become other operators, which round otherwise: by default, or with flags and switches. */
static void check_fused(struct graph *graph, const char *folder)
{
	enum graph_outputs outputs = graph->seed % 4 == 3 ? GRAPH_SOME : GRAPH_OUTER;
	char flags[TEXT / 2], result[PATH + 32];
	const char *const plain[] = {result, graph->seed % 8 == 4 ? "--no-pattern-fusion" : NULL, NULL};
	const char *target;
	uint64_t fused;

	snprintf(result, sizeof(result), "--fusion-result=%s/result.json", folder);
	make_model(graph, folder, "outer", outputs);
	flags_draw(graph->seed, true, &target, flags, sizeof(flags));
	strcpy(board->flags, "none");
	if (graph->seed % 2) {
		link_flagged(graph, folder, "outer", "fused", target, flags, graph->seed % 4 == 1);
	} else {
		link_model(folder, "outer", "fused", plain);
		fused = count_fused(folder);
		if (graph->is_scattered && fused)
			fail("fused.sk: %llu patterns are fused across scopes", (unsigned long long)fused);
		board->fused += fused;
	}
	check_apart(graph, folder, "fused", outputs);
}

static void check_case(uint64_t seed, uint64_t removed, const char *folder)
{
	struct graph *graph = graph_create(seed, removed);
	char flags[TEXT / 2], without[TEXT / 2] = "--fusion-flags=";
	const char *target;

	flags_without_fusion(without, sizeof(without));
	make_model(graph, folder, "all", GRAPH_ALL);
	make_model(graph, folder, "some", GRAPH_SOME);
	link_model(folder, "all", "all", (const char *[]){"--fusion-flags=--opt_level=0", NULL});
	link_model(folder, "some", "some", (const char *[]){without, NULL});
	flags_draw(graph->seed, false, &target, flags, sizeof(flags));
	link_flagged(graph, folder, "some", "flagged", target, flags, graph->seed % 2);
	if (is_plain(graph))
		link_model(folder, "some", "plain", (const char *[]){"--scope-options=*=tile-fusion=0", without, NULL});
	check_runs(graph, folder);
	check_expanded(graph, folder);
	check_fused(graph, folder);
	__atomic_add_fetch(&board->graphs, graph->part_count, __ATOMIC_RELAXED);
	__atomic_add_fetch(&board->nodes, graph->node_count, __ATOMIC_RELAXED);
	graph_free(graph);
}

/* ---- failures ---- */

/* Run the case in a process of its own. Return 0, or waitpid's status after a failure; the board has the reason. */
static int run_alone(uint64_t seed, uint64_t removed, const char *folder, unsigned seconds)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		alarm(seconds);
		check_case(seed, removed, folder);
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		abort();
	if (WIFSIGNALED(status))
		snprintf(board->message, TEXT, "ended by signal %d", WTERMSIG(status));
	return status;
}

/* A case that has hung is given less time when it has fewer nodes. */
static uint64_t shrink(uint64_t seed, const char *folder, int status)
{
	unsigned seconds = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? FEWER_SECONDS : SECONDS;
	struct graph *graph = graph_create(seed, options.removed);
	uint64_t removed = options.removed, before, all = ~0ull >> (64 - graph->node_count);

	do {
		before = removed;
		for (uint32_t i = graph->node_count; i--;)
			if (!(removed >> i & 1) && (removed | 1ull << i) != all &&
			    run_alone(seed, removed | 1ull << i, folder, seconds))
				removed |= 1ull << i;
	} while (removed != before);
	graph_free(graph);
	return removed;
}

/* Keep the model with its inputs; the message comes before the lines that make it. */
static void keep_failure(uint64_t seed, uint64_t removed, const char *message)
{
	struct graph *graph = graph_create(seed, removed);
	char folder[PATH], path[2 * PATH], error[256];
	FILE *file;

	snprintf(folder, sizeof(folder), "%s/graph-%llu", options.keep, (unsigned long long)seed);
	mkdir(options.keep, 0777);
	mkdir(folder, 0777);
	make_model(graph, folder, "all", GRAPH_ALL);
	make_model(graph, folder, "some", GRAPH_SOME);
	make_model(graph, folder, "outer", GRAPH_OUTER);
	for (uint32_t i = 0; i < graph->value_count; i++) {
		const struct graph_value *value = &graph->values[i];
		uint8_t *bytes = malloc(size_of(value) + 1);

		if (!bytes)
			abort();
		graph_encode(value->dtype, value->elements, value->count, bytes);
		snprintf(path, sizeof(path), "%s/v%u.npy", folder, i);
		if (value->kind == GRAPH_INPUT && value->uses &&
		    !sk_npy_write(path, value->dtype, value->rank, (const uint64_t *)value->shape, bytes, error,
				  sizeof(error)))
			fail("%s: %s", path, error);
		free(bytes);
	}
	snprintf(path, sizeof(path), "%s/failure.txt", folder);
	file = fopen(path, "w");
	if (file) {
		fprintf(file, "%s\n", message);
		fclose(file);
	}
	graph_free(graph);
}

static void report(uint64_t seed, const char *folder, int status)
{
	char message[TEXT];
	uint64_t removed;

	if (__atomic_add_fetch(&board->failures, 1, __ATOMIC_RELAXED) > MOST_FAILURES)
		return;
	strcpy(message, board->message);
	removed = shrink(seed, folder, status);
	if (run_alone(seed, removed, folder, SECONDS))
		strcpy(message, board->message);
	else
		removed = options.removed;
	printf("seed %llu fails: %s\n  flags: %s\n  graphs --cases 1 --seed %llu --removed %#llx %s %s %s "
	       "%s\n",
	       (unsigned long long)seed, message, board->flags, (unsigned long long)seed, (unsigned long long)removed,
	       options.sklink, options.skdump, options.make_model, options.libraries);
	fflush(stdout);
	if (options.keep)
		keep_failure(seed, removed, message);
}

/* ---- all cases ---- */

/* Messages of cases that run at the same time must not meet: each job has a board, but for the sums. */
static void run_job(uint64_t job)
{
	char folder[] = "/tmp/sklink-graphs.XXXXXX", command[PATH];

	if (!mkdtemp(folder))
		abort();
	for (uint64_t i = job; i < options.cases && board->failures < MOST_FAILURES; i += options.jobs) {
		int status = run_alone(options.seed + i, options.removed, folder, SECONDS);

		if (status)
			report(options.seed + i, folder, status);
	}
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	_exit(system(command) != 0);
}

static struct board *create_boards(void)
{
	struct board *boards =
		mmap(NULL, MOST_JOBS * sizeof(*boards), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (boards == MAP_FAILED)
		abort();
	return boards;
}

static int run_cases(void)
{
	struct board *boards = create_boards(), sum = {0};
	int status, result = 0;

	for (uint64_t i = 0; i < options.jobs; i++) {
		pid_t child;

		board = &boards[i];
		child = fork();
		if (child < 0)
			abort();
		if (child == 0)
			run_job(i);
	}
	while (wait(&status) > 0)
		result |= status;
	for (uint64_t i = 0; i < options.jobs; i++) {
		sum.graphs += boards[i].graphs;
		sum.nodes += boards[i].nodes;
		sum.elements += boards[i].elements;
		sum.chained += boards[i].chained;
		sum.fused += boards[i].fused;
		sum.dumps += boards[i].dumps;
		sum.failures += boards[i].failures;
	}
	printf("%llu graphs, from seed %llu on, %llu nodes, %llu elements compared, and %llu behind fusion of %llu "
	       "patterns, steps of %llu dumps compared, %u failures\n",
	       (unsigned long long)sum.graphs, (unsigned long long)options.seed, (unsigned long long)sum.nodes,
	       (unsigned long long)sum.elements, (unsigned long long)sum.chained, (unsigned long long)sum.fused,
	       (unsigned long long)sum.dumps, sum.failures);
	return result || sum.failures;
}

/* ---- the command line ---- */

static void usage(void)
{
	fprintf(stderr, "usage: graphs [--cases COUNT] [--seed FIRST] [--removed MASK] [--jobs COUNT] [--keep FOLDER] "
			"[--print] "
			"SKLINK SKDUMP MAKE-MODEL LIBRARIES\n");
	exit(2);
}

int main(int count, char **arguments)
{
	bool print = false;
	int at = 1;

	options.jobs = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
	for (; at < count && arguments[at][0] == '-'; at++) {
		const char *name = arguments[at] + 2, *value = at + 1 < count ? arguments[at + 1] : "";

		if (!strcmp(name, "print")) {
			print = true;
			continue;
		}
		if (!strcmp(name, "cases"))
			options.cases = strtoull(value, NULL, 0);
		else if (!strcmp(name, "seed"))
			options.seed = strtoull(value, NULL, 0);
		else if (!strcmp(name, "removed"))
			options.removed = strtoull(value, NULL, 0);
		else if (!strcmp(name, "jobs"))
			options.jobs = strtoull(value, NULL, 0);
		else if (!strcmp(name, "keep"))
			options.keep = value;
		else
			usage();
		at++;
	}
	if (print) {
		graph_write(graph_create(options.seed, options.removed), stdout, GRAPH_SOME);
		return 0;
	}
	if (at + 4 != count)
		usage();
	options.sklink = arguments[at];
	options.skdump = arguments[at + 1];
	options.make_model = arguments[at + 2];
	options.libraries = arguments[at + 3];
	if (options.jobs < 1 || options.jobs > MOST_JOBS)
		options.jobs = 1;
	return run_cases();
}
