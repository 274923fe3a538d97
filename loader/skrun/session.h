/* What skrun does with a package: one device, one instance with memory for all its tensors, and runs of the network in
 * each of the three ways. */
#ifndef SK_LOADER_SESSION_H
#define SK_LOADER_SESSION_H

#include <stdbool.h>

#include "loader/skrt.h"
#include "loader/skrun/elements.h"

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

#endif
