/* The command line of skrun, as what a run is to do. */
#ifndef SK_LOADER_RUN_OPTIONS_H
#define SK_LOADER_RUN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "format/plan/task-filter.h"
#include "format/seal.h"
#include "loader/skrt.h"
#include "loader/skrun/session.h"

struct sk_run_options {
	struct skrt_source package;
	uint8_t public_key[SK_SEAL_KEY]; /* of --trust */
	struct sk_assignment *inputs, *outputs; /* room for one each argument */
	uint32_t input_count, output_count;
	bool random, verify, time, profile, list, predict, json, verbose;
	bool by_kernel; /* of --profile and --predict: sums */
	struct sk_task_filter tasks; /* that these two tell about */
	const char *trace, *page, *costs, *measure; /* paths, or NULL */
	const char *network; /* NULL: the only one */
	enum sk_run_mode mode;
	bool mode_given, repeats_given;
	uint64_t seed, repeats, warm_up;
	struct skrt_device_options device;
	bool help, version; /* asked for: nothing else matters */
};

/* False after "skrun: error: …". To be freed in either case. */
bool sk_run_options_read(struct sk_run_options *options, int argc, char **argv);
void sk_run_options_free(struct sk_run_options *options);

/* What --help prints. */
void sk_run_options_help(void);

#endif
