/* skrun: its options, session, elements, measurements and results. */
#ifndef SK_LOADER_SKRUN_SKRUN_H
#define SK_LOADER_SKRUN_SKRUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/plan/plan.h"
#include "format/seal.h"
#include "loader/skrt.h"

struct skrt_device;
struct skrt_instance;
struct skrt_module;
struct skrt_stream;
struct skrt_trace;

/* ==== elements.c ====
 *
 * Elements of tensors as numbers: what skrun fills, prints and compares. */

uint32_t sk_element_size(enum skrt_dtype dtype);
const char *sk_element_type_name(enum skrt_dtype dtype);

/* The i-th element, for floating-point types and, rounded beyond 2^53, for integers. */
double sk_element_value(enum skrt_dtype dtype, const void *data, uint64_t i);

/* Writes the i-th element as text: all digits that tell it from its neighbours. Returns text. */
const char *sk_element_print(enum skrt_dtype dtype, const void *data, uint64_t i, char *text, size_t size);

/* Fills all elements: integers in [-8, 8) or [0, 16), bool 0 and 1, floating-point numbers in [-1, 1), each exactly
 * representable; with a range instead from range[0] to range[1]. The same seed and name give the same elements
 * everywhere, whatever else is filled. */
void sk_elements_fill(enum skrt_dtype dtype, void *data, uint64_t count, uint64_t seed, const char *name,
		      const double *range);

/* ==== session.c ====
 *
 * What skrun does with a package: one device, one instance with memory for all its tensors, and runs of the network in
 * each of the three ways. */

enum sk_run_mode {
	SK_RUN_FUSED, /* the network's launches */
	SK_RUN_UNFUSED, /* each task's own entry, in network order */
	SK_RUN_SERIAL, /* the launches' serial entries, on the calling thread */
};

/* A bound tensor with its memory. */
struct sk_slot {
	struct skrt_tensor tensor;
	void *data;
	/* Of outputs and inouts, while verifying: */
	void *start; /* inouts: the value before the first run */
	void *reference; /* what the unfused run left */
	bool *kept; /* by byte: no task writes it (`unwritten: keep`); NULL: there is none */
	bool filled;
};

/* --input or --output: NAME=FILE, and what of a session that means, once there is one. */
struct sk_assignment {
	const char *text;
	struct sk_slot *slot;
	const char *path;
};

struct sk_session {
	const char *path;
	struct skrt_device *device;
	struct skrt_module *module;
	const char *chosen; /* name of the network; NULL: it is the only one */
	struct skrt_network network;
	struct skrt_instance *instance;
	struct skrt_stream **streams; /* as many as the network's launches are on */
	uint32_t stream_count; /* at least 1 */
	struct skrt_trace *trace; /* NULL: none */
	struct sk_slot *slots; /* of the network's tensors, in their order */
	uint32_t slot_count;
	void *inputs; /* memory of those that no task writes */
	size_t inputs_size;
};

static inline bool sk_slot_is_input(const struct sk_slot *slot)
{
	return slot->tensor.role != SKRT_OUTPUT;
}

static inline bool sk_slot_is_output(const struct sk_slot *slot)
{
	return slot->tensor.role != SKRT_INPUT;
}

static inline uint64_t sk_slot_element_count(const struct sk_slot *slot)
{
	return slot->tensor.bytes / sk_element_size(slot->tensor.dtype);
}

/* All functions return false after printing "skrun: error: …". */
/* `network` NULL: the only one. */
bool sk_session_open(struct sk_session *session, const struct skrt_source *source, const char *network,
		     const struct skrt_device_options *device);
/* Gives every tensor memory; without it a session can only be listed. */
bool sk_session_prepare(struct sk_session *session);
/* Runs go on on another device, in another instance of the same package; tensors keep their memory and what is in it.
 */
bool sk_session_move(struct sk_session *session, const struct skrt_source *source,
		     const struct skrt_device_options *device);
void sk_session_close(struct sk_session *session);

/* Memory as bindings want it, zeroed; for free(). NULL: there is none, and nothing is printed. */
void *sk_session_allocate(const struct skrt_tensor *tensor);

/* Fills the slots and paths of assignments; those that have an error have none. Names may have a "=" in them: of all
 * tensors that the text can mean, it means the one with the longest name. `option` is for errors. */
bool sk_session_assign(struct sk_session *session, const char *option, struct sk_assignment *assignments,
		       uint32_t count);

/* What the manifest says of random values of the tensor in that slot; false: nothing, or nothing that makes sense. */
bool sk_session_range(const struct sk_session *session, uint32_t slot, double range[2]);

/* Fills inputs and inouts: one from a file; those that are left from a seed; or an error that names those that are
 * left. */
bool sk_session_read(struct sk_slot *slot, const char *path);
void sk_session_fill(struct sk_session *session, uint64_t seed);
bool sk_session_check_filled(const struct sk_session *session);

/* From here on inputs are read-only: a kernel that writes one has a fault. */
bool sk_session_protect_inputs(const struct sk_session *session);

/* Runs the network once; adds the wall time in seconds to *seconds. */
bool sk_session_run(struct sk_session *session, enum sk_run_mode mode, double *seconds);

/* verification.c: compares `repeats` fused runs, and one serial run, bit for bit with an unfused one, all from the same
 * start. Prints the result, or where they differ first. seconds gets the time of each fused run. */
bool sk_session_verify(struct sk_session *session, uint32_t repeats, double *seconds);
/* Behind that: compares a fused run on one core of each lane, and one on two, if the device has more. The session stays
 * there. */
bool sk_session_verify_fewer(struct sk_session *session, const struct skrt_source *source,
			     const struct skrt_device_options *device);

/* watched-run.c: an unfused run in which each task ends before the next one begins, and has left the bytes that it only
 * reads as they were. */
bool sk_session_run_watched(struct sk_session *session);

/* split-check.c: runs each task by itself, on a device with SKRT_CHECK_SPLIT. Prints the result, or all tasks that are
 * found. */
bool sk_session_check_split(struct sk_session *session, uint32_t repeats);

/* Around the runs that a trace is to tell about; it is written to the path, if there is one. */
bool sk_session_begin_trace(struct sk_session *session);
bool sk_session_end_trace(struct sk_session *session, const char *path);

bool sk_session_write(const struct sk_slot *slot, const char *path);

/* summary.c. For people: what the package holds, and what the outputs are. */
bool sk_session_list(struct sk_session *session);
void sk_session_print_cores(const struct sk_session *session);
/* After runs without a finding, what SKRT_GUARD and SKRT_CHECK_RACES have looked for. */
void sk_session_print_checks(const struct sk_session *session, uint64_t checks);
/* Of the first outputs, and how many more there are; `all`: of all. */
void sk_session_summarise(const struct sk_session *session, bool all);

/* ==== run-options.c ====
 *
 * The command line of skrun, as what a run is to do. */

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

/* ==== keep-inputs.c ====
 *
 * What a run reads stays as it is: the package, its weights, the costs of a prediction. */

/* False after "skrun: error: …": a file at that path, where an output is to be, is one of them. NULL is nothing. */
bool sk_keep_inputs(const struct sk_session *session, const struct sk_run_options *options, const char *output);

/* ==== measure.c ====
 *
 * skrun --measure: what each task takes by itself, for predictions (loader/predict/predict.h has the file's format). */

/* Runs all tasks, one after the other on the calling thread, `rounds` times, and writes the median time of each.
 * Nothing but the kernel and its dispatcher is timed. False after printing an error. */
bool sk_measure(struct sk_session *session, const char *path, uint32_t rounds);

/* ==== messages.c ====
 *
 * What skrun says: errors, and words of the package. */

/* Prints "skrun: error: …" on standard error. */
void sk_skrun_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints the library's text as an error if the status is not SKRT_OK. True: it is. */
bool sk_succeeded(enum skrt_status status);

/* A name, which is the package's, on standard output. */
void sk_print_named(const char *before, const char *name, const char *behind);

/* ==== progress.c ====
 *
 * What skrun is at, for people who wait: a line on the terminal once that has taken a second, which goes when it is
 * done. Without a terminal as standard error there is none. */

/* So many runs of a kind begin, such as "fused run"; those of before have ended. */
void sk_progress_begin(const char *what, uint64_t count);
/* One of them has ended. */
void sk_progress_step(void);
/* All have, or there is something else to say: the line goes. */
void sk_progress_end(void);

/* For signal handlers: the cursor is behind the line. */
bool sk_progress_is_shown(void);

/* ==== run-results.c ====
 *
 * What skrun says of the time that runs took: for people, and with --json as data, which skrun(1) describes. */

/* --time: of the runs, in seconds, which get sorted. */
void sk_results_print_time(const struct sk_session *session, const struct sk_run_options *options, double *seconds);

/* --json: what --time and --profile have found, as one object. The seconds get sorted. False after "skrun: error: …".
 */
bool sk_results_print_json(const struct sk_session *session, const struct sk_run_options *options, double *seconds);

/* ==== task-table.c ====
 *
 * skrun --profile: a trace's totals, as a table or as data. Shares are of the time that all cores had, so they add up
 * to 100 with what cores did besides, and with tasks that nobody has asked for. */

/* Prints those tasks that the options choose, or their kernels, the longest first. False after "skrun: error: …". */
bool sk_task_table_print(const struct sk_session *session, const struct sk_run_options *options);

/* The same as a member of an object in JSON: , "profile": {…} */
bool sk_task_table_put_json(const struct sk_session *session, const struct sk_run_options *options);

/* ==== trace-page.c ====
 *
 * skrun --html: the page that skdump makes of a package and of a trace of it. skdump proves the package first, which
 * the runtime cannot. */

/* Runs the skdump beside this program. False after an error. */
bool sk_page_make(const char *page, const char *trace, const char *package);

#endif
