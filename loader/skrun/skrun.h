/* skrun: its options, session, elements, measurements and results. */
#ifndef SK_LOADER_SKRUN_SKRUN_H
#define SK_LOADER_SKRUN_SKRUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/plan/plan.h"
#include "format/seal.h"
#include "format/skdims.h"
#include "loader/skrt.h"

struct sk_json;
struct sk_launcher;
struct sk_transport;
struct skrt_device;
struct skrt_instance;
struct skrt_module;
struct skrt_stream;
struct skrt_trace;

/* ==== elements.c ====
 *
 * Elements of tensors as numbers, for filling, printing and comparing them. */

uint32_t sk_element_size(enum skrt_dtype dtype);
const char *sk_element_type_name(enum skrt_dtype dtype);

/* Return the i-th element, for floating-point types and, rounded beyond 2^53, for integers. */
double sk_element_value(enum skrt_dtype dtype, const void *data, uint64_t i);

/* Write the i-th element as text, with all digits that distinguish it from its neighbours. Return text. */
const char *sk_element_print(enum skrt_dtype dtype, const void *data, uint64_t i, char *text, size_t size);

/* Fill all elements: integers in [-8, 8) or [0, 16), bool 0 and 1, floating-point numbers in [-1, 1), each exactly
 * representable; with a range instead from range[0] to range[1]. The same seed and name give the same elements
 * everywhere, independent of other tensors. */
void sk_elements_fill(enum skrt_dtype dtype, void *data, uint64_t count, uint64_t seed, const char *name,
		      const double *range);

/* ==== session.c ====
 *
 * The use of a package in skrun: one device, one instance with memory for all its tensors, and runs of the network in
 * each of the three ways. */

enum sk_run_mode {
	SK_RUN_FUSED, /* the network's launches */
	SK_RUN_UNFUSED, /* each task's own entry, in network order */
	SK_RUN_SERIAL, /* the launches' serial entries, on the calling thread */
};

/* A bound tensor with its memory. */
struct sk_slot {
	struct skrt_tensor tensor; /* at the session's sizes */
	uint64_t most_bytes; /* at the largest ones: its memory */
	void *data;
	/* For outputs and inouts, while verifying: */
	void *start; /* inouts: the value before the first run */
	void *reference; /* the result of the unfused run */
	bool *kept; /* by byte: no task writes it (`unwritten: keep`); NULL: each byte is written */
	bool filled;
	bool unbounded; /* filled with random integers, without a range in the manifest */
};

/* --input or --output: NAME=FILE, and, once there is a session, the tensor and path that it means. */
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
	uint64_t sizes[SK_MAX_DIMENSIONS]; /* by dimension of the package */
	uint64_t steps[SK_MAX_DIMENSIONS]; /* by which they grow after each run of --repeat */
	bool grows; /* some do */
	bool given[SK_MAX_DIMENSIONS]; /* by --dim */
	bool shown[SK_MAX_DIMENSIONS]; /* by the shape of an input file */
	const struct sk_plan_view *plan; /* at these sizes: the module's, or: */
	struct sk_plan_view sized_plan;
	struct skrt_instance *instance;
	struct skrt_stream **streams; /* as many as the network's launches use */
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
/* Open the package; `network` NULL: the only one. */
bool sk_session_open(struct sk_session *session, const struct skrt_source *source, const char *network,
		     const struct skrt_device_options *device);
/* Give every tensor memory; without it a session can only be listed. */
bool sk_session_prepare(struct sk_session *session);
/* Continue with another device, in another instance of the same package; tensors keep their memory and its contents. */
bool sk_session_move(struct sk_session *session, const struct skrt_source *source,
		     const struct skrt_device_options *device);
void sk_session_close(struct sk_session *session);

/* Allocate zeroed memory with the alignment for bindings; for free(). NULL: no memory, and nothing is printed. */
void *sk_session_allocate(const struct skrt_tensor *tensor);

/* Fill in the slots and paths of assignments; those with an error have none. Names may contain a "=": of all tensors
 * that the text can mean, it means the one with the longest name. `option` is for errors. */
bool sk_session_assign(struct sk_session *session, const char *option, struct sk_assignment *assignments,
		       uint32_t count);

/* Take files of inputs that nothing uses out of the list, with a note on each. */
void sk_session_leave_unused(const struct sk_session *session, struct sk_assignment *inputs, uint32_t *count);

/* Find the manifest's range of random values for the tensor in that slot; false: none, or an invalid one. */
bool sk_session_range(const struct sk_session *session, uint32_t slot, double range[2]);

/* Fill inputs and inouts: one from a file; the remaining ones from a seed; or print an error that names the remaining
 * ones. */
bool sk_session_read(struct sk_slot *slot, const char *path);
void sk_session_fill(struct sk_session *session, uint64_t seed);
bool sk_session_check_filled(const struct sk_session *session);

/* After a failed run: if a kernel has failed, name the inputs with random integers without bounds. */
void sk_session_suspect_random(const struct sk_session *session);

/* Fill all inputs again, at the session's sizes. */
bool sk_session_refill(struct sk_session *session, uint64_t seed);

/* Make inputs read-only: a kernel that writes one has a fault. */
bool sk_session_protect_inputs(const struct sk_session *session);

/* Run the network once; add the wall time in seconds to *seconds. */
bool sk_session_run(struct sk_session *session, enum sk_run_mode mode, double *seconds);

/* verification.c: compare `repeats` fused runs, and one serial run, bit for bit with an unfused one, all from the same
 * start. Print the result, or the first difference. seconds gets the time of each fused run. */
bool sk_session_verify(struct sk_session *session, uint32_t repeats, double *seconds);
/* After that: compare a fused run on one core of each lane, and one on two, if the device has more. The session stays
 * on that device. */
bool sk_session_verify_fewer(struct sk_session *session, const struct skrt_source *source,
			     const struct skrt_device_options *device);

/* watched-run.c: make an unfused run in which each task ends before the next one begins, and check that it has not
 * changed the bytes that it only reads. */
bool sk_session_run_watched(struct sk_session *session);

/* split-check.c: run each task by itself, on a device with SKRT_CHECK_SPLIT. Print the result, or all tasks with
 * findings. */
bool sk_session_check_split(struct sk_session *session, uint32_t repeats);

/* Begin and end the trace of runs; it is written to the path, if there is one. */
bool sk_session_begin_trace(struct sk_session *session);
bool sk_session_end_trace(struct sk_session *session, const char *path);

bool sk_session_write(const struct sk_slot *slot, const char *path);

/* summary.c: print the contents of the package, and summaries of the outputs. */
bool sk_session_list(struct sk_session *session);
void sk_session_print_cores(const struct sk_session *session);
/* After runs without a finding, print the errors that SKRT_GUARD and SKRT_CHECK_RACES have looked for. */
void sk_session_print_checks(const struct sk_session *session, uint64_t checks);
/* Summarise the first outputs, and count the others; `all`: summarise all. */
void sk_session_summarise(const struct sk_session *session, bool all);

/* ==== session-sizes.c ====
 *
 * The sizes of a session of a dynamic package. All functions return false after an error. */

/* Read --dim: texts NAME=SIZE, or NAME=SIZE+STEP for sizes that grow. Other dimensions get their usual size. */
bool sk_session_read_dimensions(struct sk_session *session, const char *const *texts, uint32_t count);

/* Make the session's plan that of its sizes; and let the instance, and the slots, have these sizes. */
bool sk_session_plan(struct sk_session *session);
bool sk_session_resize(struct sk_session *session);

/* Set the sizes of `runs` runs later, or of earlier ones if it is negative. */
bool sk_session_grow(struct sk_session *session, int64_t runs);

/* Set the sizes that the shapes of the input files say. */
bool sk_session_take_shapes(struct sk_session *session, const struct sk_assignment *inputs, uint32_t count);

/* Write "batch=2, seq=37", or an empty text for a static package. */
void sk_session_sizes_text(const struct sk_session *session, char *text, size_t size);

/* Print the line "sizes batch=2, seq=37" of a package with bounds. */
void sk_session_print_sizes(const struct sk_session *session);

/* Print a note on each dimension that has its usual size because neither an input file nor --dim gives another one. */
void sk_session_note_usual(const struct sk_session *session);

/* --sizes: set sample number `number` of the sizes without --dim, and print it. */
bool sk_session_sample_sizes(struct sk_session *session, uint64_t number, uint64_t seed);

/* ==== run-options.c ====
 *
 * The command line of skrun, as the options of a run. */

struct sk_run_options {
	struct skrt_source package;
	uint8_t public_key[SK_SEAL_KEY]; /* of --trust */
	struct sk_assignment *inputs, *outputs; /* room for one each argument */
	uint32_t input_count, output_count;
	const char **dimensions; /* of --dim; room likewise */
	uint32_t dimension_count;
	uint64_t sizes; /* of --sizes */
	bool random, verify, time, profile, list, predict, json, verbose;
	bool by_kernel; /* for --profile and --predict: sums */
	struct sk_task_filter tasks; /* for these two: tasks to show */
	const char *trace, *page, *costs, *measure; /* paths, or NULL */
	const char *network; /* NULL: the only one */
	enum sk_run_mode mode;
	bool mode_given, repeats_given;
	uint64_t seed, repeats, warm_up;
	uint64_t ranks; /* of --ranks; 0: none are simulated */
	bool check_ranks;
	struct skrt_device_options device;
	bool help, version; /* requested: all else is ignored */
};

/* Read the options. False after "skrun: error: …". To be freed in either case. */
bool sk_run_options_read(struct sk_run_options *options, int argc, char **argv);
void sk_run_options_free(struct sk_run_options *options);

/* Print the text of --help. */
void sk_run_options_help(void);

/* ==== keep-inputs.c ====
 *
 * Protection of the files that a run reads: the package, its weights, the costs of a prediction. */

/* Return false after "skrun: error: …" if the path of an output is one of these files. NULL: no output. */
bool sk_keep_inputs(const struct sk_session *session, const struct sk_run_options *options, const char *output);

/* ==== measure.c ====
 *
 * skrun --measure: the time of each task by itself, for predictions (loader/predict/predict.h has the file's
 * format). */

/* Run all tasks, one after the other on the calling thread, `rounds` times, and write the median time of each. Only the
 * kernel and its dispatcher are timed. False after printing an error. */
bool sk_measure(struct sk_session *session, const char *path, uint32_t rounds);

/* ==== ranks.c ====
 *
 * skrun --ranks: simulated ranks, each a process of its own. */

/* Run `work` for each rank, in a process with the names of its files. Return false if one has failed; the reasons have
 * been printed. */
bool sk_ranks_run(struct sk_run_options *options, bool (*work)(struct sk_run_options *options));

/* ==== launched.c ====
 *
 * Ranks that a launcher has started, such as mpirun. */

/* Run `work` as one of them, over the transport of that name or file, in a child process. Return false if it has
 * failed; the reason has been printed. */
bool sk_launched_run(struct sk_run_options *options, const char *name, const struct sk_launcher *launcher,
		     bool (*work)(struct sk_run_options *options));

/* ==== rank.c ====
 *
 * This process, if it is a rank. */

/* Join the other ranks by a transport that stays; the time-out is in ms. */
void sk_rank_join(const struct sk_transport *transport, uint64_t timeout);

/* Return the transport to the other ranks; NULL: this process is alone. */
const struct sk_transport *sk_rank_transport(void);

/* Return whether each rank is meant to have a package of its own. */
bool sk_rank_has_package(void);

/* Check, for several ranks, that names of outputs have the place of a rank's number: "%r". */
bool sk_rank_check_names(const struct sk_run_options *options, uint32_t ranks);
bool sk_rank_is_named(const char *text);

/* Return the text with "%r" replaced by the number, to be freed; NULL for NULL. */
char *sk_rank_name(const char *text, uint32_t rank);

/* Run `work` with the names of this rank's files. Only rank 0 prints results. */
bool sk_rank_run(struct sk_run_options *options, bool (*work)(struct sk_run_options *options));

/* Use the rank-th of `ranks` parts of the processors that this process may use. */
void sk_rank_take_processors(uint32_t rank, uint32_t ranks);

/* Give each rank the bytes of all of them, in their order. False after "skrun: error: …". */
bool sk_rank_gather(const char *title, const void *own, void *all, uint64_t bytes);

/* Bring the bytes of rank `from` to rank 0; they are `size` on both. False after "skrun: error: …". */
bool sk_rank_bring(const char *title, uint32_t from, void *bytes, uint64_t size);

/* Return whether the traces of all ranks go to one file. */
bool sk_rank_merges_traces(void);

/* Wait until all ranks have come here without a failure. True if this process is alone. */
bool sk_rank_agree(const char *title);

/* ==== rank-trace.c ====
 *
 * One trace of all ranks: rank 0 writes it, with the times of its own clock. All ranks call these functions. */

/* Compare the clocks of the ranks; when the trace begins, and when it has ended. False after "skrun: error: …". */
bool sk_rank_compare_clocks(bool ended);

/* Write the traces of all ranks to the path, after that. False after "skrun: error: …". */
bool sk_rank_write_trace(const struct skrt_trace *trace, const char *path);

/* ==== messages.c ====
 *
 * Output of skrun: errors, and names from the package. */

/* From now on messages are of that rank: "skrun: rank 1: error: …". */
void sk_messages_of_rank(uint32_t rank);

/* Print "skrun: error: …" on standard error. */
void sk_skrun_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Print "skrun: note: …" on standard error. */
void sk_skrun_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Print the library's text as an error if the status is not SKRT_OK. Return true if it is. */
bool sk_succeeded(enum skrt_status status);

/* Return true if such a status was SKRT_KERNEL_FAILED. */
bool sk_kernel_has_failed(void);

/* Print a name from the package, between two texts, on standard output. */
void sk_print_named(const char *before, const char *name, const char *after);

/* ==== progress.c ====
 *
 * The progress of skrun: a line on the terminal, which appears after a second and is removed at the end. It needs a
 * terminal as standard error. */

/* Begin so many runs of a kind, such as "fused run"; earlier ones have ended. */
void sk_progress_begin(const char *kind, uint64_t count);
/* Note that one of them has ended. */
void sk_progress_step(void);
/* Remove the line: all runs have ended, or other text is to be printed. */
void sk_progress_end(void);

/* For signal handlers: return whether the cursor is after the line. */
bool sk_progress_is_shown(void);

/* ==== run-results.c ====
 *
 * The times of runs: for people, and with --json as data, which skrun(1) describes. */

/* --time: print the times of the runs, in seconds; they get sorted. */
void sk_results_print_time(const struct sk_session *session, const struct sk_run_options *options, double *seconds);

/* --json: print the results of --time and --profile as one object. The seconds get sorted. False after "skrun: error:
 * …". */
bool sk_results_print_json(const struct sk_session *session, const struct sk_run_options *options, double *seconds);

/* ==== task-table.c ====
 *
 * skrun --profile: a trace's totals, as a table or as data. Shares are of the time of all cores. They add up to 100
 * together with the time outside tasks, and with the tasks that are not shown. */

/* Print those tasks that the options choose, or their kernels, the longest first. False after "skrun: error: …". */
bool sk_task_table_print(const struct sk_session *session, const struct sk_run_options *options);

/* Print the same as a member of an object in JSON: "profile": {…} */
bool sk_task_table_put_json(const struct sk_session *session, const struct sk_run_options *options,
			    struct sk_json *json);

/* ==== trace-page.c ====
 *
 * skrun --html: the page that skdump makes of a package and a trace of it. skdump also proves the package, which the
 * runtime cannot. */

/* Run the skdump beside this program. False after an error. */
bool sk_page_make(const char *page, const char *trace, const char *package);

#endif
