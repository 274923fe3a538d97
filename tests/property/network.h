/* Random networks for the property test. From a seed it makes tensors, tasks, streams, scopes and events, the manifest
 * for them, and the expected results of a run. A naive interpreter computes these, which shares no code with sklink,
 * libskrt or the kernels. Values are unsigned integers that wrap around, so that results are exact.
 *
 *   network.c            the generator, which can also leave tasks out
 *   network-manifest.c   the manifest
 *   network-kernels.c    the table of kernels, and the interpreter */
#ifndef SK_TESTS_NETWORK_H
#define SK_TESTS_NETWORK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "format/skplan.h"

enum {
	NETWORK_TENSORS = 64,
	NETWORK_TASKS = 24,
	NETWORK_SCOPES = 3,
	NETWORK_RANK = 4,
	NETWORK_OPTIONS = 19,
	NETWORK_KERNELS = 256, /* rows of the table of kernels; the last one is its end */
	KERNEL_PARAMETERS = 5, /* tensors of a kernel */
	KERNEL_SETS = 2, /* scalars that a manifest sets */
	KERNEL_EXTENTS = 4,
};

/* ---- kernels ---- */

struct kernel_call;

/* A tensor parameter, or the result: read from the signature. */
struct kernel_parameter {
	char name[16];
	unsigned access; /* enum sk_access */
	bool of_words; /* its type is u64, not the kernel's */
	uint32_t alias_of; /* the parameter that it may be (y@x); NETWORK_NONE: none */
	uint32_t rank;
	char extents[2][8]; /* "r", "n*3", "r+2", "1" */
	bool in_rows; /* its rows may lie apart: T[r,w:NAME] */
	bool reads_behind; /* and uses nothing of that: T[n]+64 */
};

struct kernel_set {
	char name[16];
};

/* The state that kernels keep from call to call: one for each type, except the last one. */
enum kernel_state {
	STATE_NONE,
	STATE_OWN, /* one kernel has it */
	STATE_COMMON, /* several reach it through a function */
	STATE_LIBRARY, /* the C library has it: random numbers. Each call begins with a seed */
	KERNEL_STATES,
};

/* A call of a function of property-kernels.c: a row of the table. T stands for the type that it is made for; its symbol
 * ends in that type's name. */
struct kernel {
	const char *function;
	const char *attributes; /* beside the lane: "split=n", "blocks" … */
	const char *parameters; /* the part of the signature after the semicolon */
	void (*compute)(const struct kernel_call *call);
	enum kernel_state state;

	/* Read from the text: */
	struct kernel_parameter tensors[KERNEL_PARAMETERS];
	uint32_t tensor_count;
	struct kernel_set sets[KERNEL_SETS];
	uint32_t set_count;
	bool has_blocks;
	bool is_mix; /* it has a side on each lane */
	bool in_rows; /* rows of some tensor may lie apart */
	bool has_halo; /* it reads more of some tensor than it divides */
	bool is_resident; /* its blocks wait for one another */
	uint32_t align; /* bytes of which its tensors begin at multiples; 1 if it does not say */
};

/* The table, ended by a row without a function; its texts have been read. */
const struct kernel *network_kernels(void);

enum lie {
	LIE_SPLIT, /* in calls for parts it computes other bits than in one for all of an extent of several units */
	LIE_INPUT, /* it writes through a pointer that is for reading */
	LIE_UNWRITTEN, /* it leaves at least 16 successive elements of an output as they are */
};

/* A kernel that belies its signature, which is that of an honest one: attributes and parameters are the same. It does
 * so in tasks with so many elements, and columns, at least. */
struct liar {
	struct kernel kernel;
	uint64_t least, least_columns;
	enum lie lie;
};

/* The table, ended in the same way. */
const struct liar *network_liars(void);

/* ---- options of scopes ---- */

/* A row of the table. */
struct network_option {
	const char *name;
	const char *values[5]; /* ended by NULL; "KERNEL" stands for a kernel of the scope */
	uint32_t percent; /* of the scopes that have it */
	bool two_lanes; /* for devices with two lanes only */
};

/* The table, ended by a row without a name. The first rows are stream-fusion and strict-scope-check. */
extern const struct network_option network_options[];

#define NETWORK_NONE UINT32_MAX

/* ---- networks ---- */

enum network_data { DATA_FILE, DATA_LIST, DATA_FILL, DATA_TEXT };

struct network_tensor {
	enum sk_dtype dtype; /* SK_U8, SK_U32 or SK_U64 */
	uint32_t rank;
	uint64_t shape[NETWORK_RANK];
	uint64_t elements;
	uint32_t root; /* the tensor whose memory it has; its own number if it is not a view */
	uint64_t start; /* elements from the root's start */
	uint64_t strides[NETWORK_RANK]; /* elements of the root from one index to the next */
	uint64_t width, apart; /* its elements lie in rows of that many, so many elements of the root apart */
	uint32_t view_of; /* views: the tensor that it is a part of; else NETWORK_NONE */
	uint64_t offset[NETWORK_RANK];
	/* For roots: */
	bool prefers_constant, prefers_output; /* where the tasks leave a choice */
	bool silent; /* the manifest leaves its role out if that is allowed */
	enum network_data data; /* the form in which the manifest gives a constant's contents */
	enum sk_role role; /* NONE: no task uses it */
	bool read, written;
	/* The first task that reads elements that no task has written before, and the first such element; task
	 * NETWORK_NONE: there is none. */
	uint32_t gap_task;
	uint64_t gap;
	uint64_t unwritten; /* the first element that no task writes; the number of elements: all are written */
};

enum set_kind { SET_NUMBER, SET_EXTENT, SET_TENSOR };

struct network_set {
	enum set_kind kind;
	uint64_t number;
	char extent;
	uint32_t tensor;
};

struct network_task {
	const struct kernel *kernel;
	enum sk_dtype dtype;
	const char *lane; /* "", "cube " or "vector "; "" of a mix kernel */
	bool unfusible, nontemporal;
	uint64_t n, r, w, k; /* extents: n = r * w */
	uint32_t tensors[KERNEL_PARAMETERS];
	struct network_set sets[KERNEL_SETS];
	uint32_t stream;
	uint32_t scopes; /* bits */
	bool never_fuse;
	bool once; /* also never_fuse */
	uint32_t after; /* tasks, as bits */
	bool record; /* an event, which has the task's number */
	uint32_t wait; /* events, as bits */
	uint32_t blocks; /* 0: the device's number */
	bool dropped;
};

struct network {
	struct network_tensor tensors[NETWORK_TENSORS];
	uint32_t tensor_count;
	struct network_task tasks[NETWORK_TASKS];
	uint32_t task_count; /* with those that are dropped */
	uint32_t scope_count;
	uint32_t options[NETWORK_SCOPES][NETWORK_OPTIONS]; /* by option: a value's number + 1; 0: it is not given */
	/* A root about which the manifest is silent or lies, so that a link must be refused; NETWORK_NONE: it is right.
	 */
	uint32_t flawed;
	enum sk_role flaw; /* the role that it says; NONE: none, and no `unwritten: keep` either */
	uint32_t strict; /* a scope that has strict-scope-check=abort beside its options; NETWORK_NONE: none has */
	bool splits; /* it is for devices with sync-all-split, and the devices' profiles are files beside the manifest
		      * */
	uint64_t seed;
	/* For roots, by tensor: the contents before the first run. */
	uint64_t *contents[NETWORK_TENSORS];
};

/* The same for the same seed and tasks. tasks: those to keep, as bits. */
struct network *network_create(uint64_t seed, uint32_t tasks);
void network_destroy(struct network *network);

/* Return true if the manifest must be right about the root: that it is inout, since tasks read elements that no task
 * has written, or an output that no task writes whole. */
bool network_can_flaw(const struct network *network, uint32_t root);

/* Return the place of an element of a tensor among its root's. */
uint64_t network_element(const struct network_tensor *tensor, uint64_t element);

/* True if views of the root that tasks use have rows that are not equally far apart. */
bool network_has_mixed_rows(const struct network *network, uint32_t root);

/* A number below the limit; splitmix64. */
uint32_t network_draw(uint64_t *state, uint32_t limit);

/* True if the two tasks touch common bytes or hidden state, and one of them writes. */
bool network_conflict(const struct network *network, uint32_t one, uint32_t other);

/* The lane's number on a3: 0 cube, 1 vector; of a mix task that of its cube side. */
uint32_t network_lane(const struct network_task *task);

/* Write the manifest for a built-in device, or one like it. Constants are c<tensor>.npy beside it, the device's profile
 * is <device>.profile if the network splits. */
void network_print(const struct network *network, const char *device, FILE *stream);

/* ---- the interpreter ---- */

/* The operands of one task. Values are masked to their types afterwards. */
struct kernel_call {
	uint64_t *tensors[KERNEL_PARAMETERS];
	uint64_t n, r, w, k;
	uint64_t sets[KERNEL_SETS];
	uint32_t blocks;
	uint64_t *state; /* of the kernels that have some */
	uint64_t mask; /* of the kernel's type */
};

/* The tensors' contents, by root. */
struct network_state {
	uint64_t *values[NETWORK_TENSORS];
	uint64_t hidden[KERNEL_STATES][SK_DTYPE_COUNT];
};

/* The state before the first run, and after one more. default_blocks: by lane of a3; on the host both are the same. */
struct network_state *network_begin(const struct network *network);
void network_run(const struct network *network, struct network_state *state, const uint32_t default_blocks[2]);
void network_end(const struct network *network, struct network_state *state);

#endif
