/* A process that is a rank: its transport, the names of its files, and its agreement with the other ranks. It is one of
 * ranks.c, which simulates them, or of launched.c, for those that a launcher starts. */
#include "config.h"

#include "loader/skrun/skrun.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loader/ranks/transport.h"
#include "loader/skrt.h"

static const struct sk_transport *joined; /* NULL: this process is alone */
static uint64_t joined_timeout; /* ms */
static bool own_packages, own_traces; /* files with the number of each rank */

const struct sk_transport *sk_rank_transport(void)
{
	return joined;
}

bool sk_rank_has_package(void)
{
	return own_packages;
}

bool sk_rank_merges_traces(void)
{
	return joined && joined->ranks > 1 && !own_traces;
}

/* ---- names of files ---- */

char *sk_rank_name(const char *text, uint32_t rank)
{
	char *result = NULL;
	size_t size;

	if (!text)
		return NULL;
	FILE *stream = open_memstream(&result, &size);

	if (!stream)
		return NULL;
	for (; *text; text++)
		if (text[0] == '%' && text[1] == 'r') {
			fprintf(stream, "%" PRIu32, rank);
			text++;
		} else {
			putc(*text, stream);
		}
	return fclose(stream) ? NULL : result;
}

bool sk_rank_is_named(const char *text)
{
	return strstr(text, "%r") != NULL;
}

static bool check_output(const char *option, const char *text)
{
	if (!text || sk_rank_is_named(text))
		return true;
	sk_skrun_error("--%s %s: each rank writes a file of its own; write %%r where its number is to be in the name",
		       option, text);
	return false;
}

bool sk_rank_check_names(const struct sk_run_options *options, uint32_t ranks)
{
	bool good = ranks < 2 || (check_output("html", options->page) &&
				  check_output("trace", options->page ? options->trace : NULL) &&
				  check_output("measure", options->measure));

	for (uint32_t i = 0; i < options->output_count && ranks > 1; i++)
		good &= check_output("output", options->outputs[i].text);
	return good;
}

/* Give the options the names of the rank. */
static void set_names(struct sk_run_options *options, uint32_t rank)
{
	own_packages = sk_rank_is_named(options->package.path);
	own_traces = options->trace && sk_rank_is_named(options->trace);
	options->package.path = sk_rank_name(options->package.path, rank);
	options->package.weights = sk_rank_name(options->package.weights, rank);
	options->trace = sk_rank_name(options->trace, rank);
	options->page = sk_rank_name(options->page, rank);
	options->measure = sk_rank_name(options->measure, rank);
	for (uint32_t i = 0; i < options->input_count; i++)
		options->inputs[i].text = sk_rank_name(options->inputs[i].text, rank);
	for (uint32_t i = 0; i < options->output_count; i++)
		options->outputs[i].text = sk_rank_name(options->outputs[i].text, rank);
}

/* ---- the run ---- */

/* Only one rank prints results. */
static bool become_silent(void)
{
	int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

	return nowhere >= 0 && dup2(nowhere, STDOUT_FILENO) >= 0;
}

bool sk_rank_gather(const char *title, const void *own, void *all, uint64_t bytes)
{
	char error[512];
	struct sk_gathering gathering = {joined, joined_timeout, error, sizeof(error)};

	if (sk_gather(&gathering, title, own, all, bytes))
		return true;
	sk_skrun_error("%s", error);
	return false;
}

bool sk_rank_bring(const char *title, uint32_t from, void *bytes, uint64_t size)
{
	char error[512];
	struct sk_gathering gathering = {joined, joined_timeout, error, sizeof(error)};

	if (sk_bring(&gathering, title, from, bytes, size))
		return true;
	sk_skrun_error("%s", error);
	return false;
}

bool sk_rank_agree(const char *title)
{
	uint64_t own = 0, *all = joined ? calloc(joined->ranks, sizeof(*all)) : NULL;
	bool good = !joined || (all && sk_rank_gather(title, &own, all, sizeof(own)));

	if (joined && !all)
		sk_skrun_error("no memory for %" PRIu32 " ranks", joined->ranks);
	free(all);
	return good;
}

void sk_rank_join(const struct sk_transport *transport, uint64_t timeout)
{
	joined = transport;
	joined_timeout = timeout;
}

bool sk_rank_run(struct sk_run_options *options, bool (*work)(struct sk_run_options *options))
{
	set_names(options, joined->rank);
	if (options->random)
		options->seed += joined->rank; /* other values on each rank */
	return (joined->rank == 0 || become_silent()) && work(options);
}

void sk_rank_take_processors(uint32_t rank, uint32_t ranks)
{
	cpu_set_t all, own;
	uint32_t count, number = 0;

	if (sched_getaffinity(0, sizeof(all), &all))
		return;
	CPU_ZERO(&own);
	count = (uint32_t)CPU_COUNT(&all);
	for (int i = 0; i < CPU_SETSIZE; i++) {
		if (!CPU_ISSET((size_t)i, &all))
			continue;
		if (count >= ranks ? (uint64_t)number * ranks / count == rank : rank % count == number)
			CPU_SET((size_t)i, &own);
		number++;
	}
	sched_setaffinity(0, sizeof(own), &own);
}
