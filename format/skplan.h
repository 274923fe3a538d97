/* The plan: the tables in a package that describe it. It is the only interface between linker and loader.
 *
 * The plan is the allocated section .sk.plan, found by the dynamic symbol sk_plan. It is little-endian, used in place
 * and needs no load-time relocation: a reference is a signed 32-bit offset from its own address (0: none), all other
 * references are indices into tables. Other programs read it through format/plan/plan.c only, which checks it before
 * use.
 *
 * Byte sizes and offsets are 64-bit. All structs have natural alignment and no hidden padding; the section is aligned
 * to SK_PLAN_ALIGN. Every reserved field is zero. */
#ifndef SK_PLAN_H
#define SK_PLAN_H

#include <stdbool.h>
#include <stdint.h>

/* The records read as tables: */
/* clang-format off */

#define SK_PLAN_MAGIC 0x4c504b53u /* "SKPL" */
#define SK_PLAN_VERSION 15u
#define SK_PLAN_ALIGN 64u

enum {
	SK_MAX_RANK = 8,
	SK_MAX_LANES = 2,
	SK_MAX_NETWORKS = 64,
};

/* Element types. The order is part of the format. */
enum sk_dtype {
	SK_DTYPE_NONE,
	SK_I8, SK_U8, SK_I16, SK_U16, SK_I32, SK_U32, SK_I64, SK_U64,
	SK_F16, SK_BF16, SK_F32, SK_F64, SK_BOOL,
	SK_DTYPE_COUNT,
};

static inline uint32_t sk_dtype_size(enum sk_dtype dtype)
{
	static const uint8_t sizes[SK_DTYPE_COUNT] = {0, 1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8, 1};

	return dtype < SK_DTYPE_COUNT ? sizes[dtype] : 0;
}

/* Return the type for kernels that only move elements: an unsigned integer of the same size. */
static inline enum sk_dtype sk_dtype_moved(enum sk_dtype dtype)
{
	switch (sk_dtype_size(dtype)) {
	case 1:
		return SK_U8;
	case 2:
		return SK_U16;
	case 4:
		return SK_U32;
	default:
		return SK_U64;
	}
}

/* Return the name in signatures, manifests and messages; "?" for an invalid number. */
static inline const char *sk_dtype_name(enum sk_dtype dtype)
{
	static const char *const names[SK_DTYPE_COUNT] = {"?",	 "i8",	"u8",  "i16",  "u16", "i32", "u32",
							  "i64", "u64", "f16", "bf16", "f32", "f64", "bool"};

	return dtype < SK_DTYPE_COUNT ? names[dtype] : "?";
}

/* The role of a tensor for the program that runs the package. */
enum sk_role {
	SK_ROLE_NONE,
	SK_ROLE_INPUT,	   /* read, never written; bound */
	SK_ROLE_OUTPUT,	   /* written; bound */
	SK_ROLE_INOUT,	   /* read before it is first written: state; bound */
	SK_ROLE_CONSTANT,  /* embedded in the package, never written */
	SK_ROLE_TEMPORARY, /* lives in the workspace */
};

/* The base of an address. */
enum sk_space {
	SK_SPACE_NONE,
	SK_SPACE_BINDING,   /* offset from the base of binding number `index` */
	SK_SPACE_WORKSPACE, /* offset from the workspace's base; task entries use the unshared workspace */
	SK_SPACE_CONSTANT,  /* offset from the start of the constants */
	SK_SPACE_STATE,	    /* hidden state number `index` of the kernels; never an address, only an access */
	SK_SPACE_SCRATCH,   /* offset into this core's scratch, which has one tile of a step at a time: temporaries used
			       in that step alone. Task entries have them in the unshared workspace */
	SK_SPACE_SIZES,	    /* offset into the slots of sizes (format/skdims.h), 8 bytes for each; only in packages with
			       sizes, and only of POINTERs that read 64-bit integers */
};

/* Bits. */
enum sk_access { SK_ACCESS_NONE = 0, SK_ACCESS_READ = 1, SK_ACCESS_WRITE = 2 };

/* The source of an argument of a call; arguments are in the order of the C parameters. */
enum sk_argument_kind {
	SK_ARGUMENT_NONE,
	SK_ARGUMENT_POINTER, /* address of (space, index, offset); SPLIT: plus the range's start times element_bytes, in
				the scratch minus the start of the tile. BLOCKS_RANGE kernels get the whole tensor's
				address and compute their range */
	SK_ARGUMENT_VALUE,   /* scalar of type dtype with the bits `value` */
	SK_ARGUMENT_LENGTH,  /* scalar: the number of split elements of this call (step extent where it is not split) */
	SK_ARGUMENT_LOAD,    /* scalar of type dtype, loaded from (space, index, offset) when the task runs */
	SK_ARGUMENT_BLOCK,   /* const struct sk_block * */
	SK_ARGUMENT_SCRATCH, /* address `offset` bytes into this core's scratch; `size` bytes */
	SK_ARGUMENT_RESULT,  /* not passed: the returned value of type dtype is stored at (space, index, offset) */
	SK_ARGUMENT_STATE,   /* not passed: the kernel's hidden state `index` is read and written */
	SK_ARGUMENT_EXPRESSION, /* integer of type dtype: `value` plus the terms [index, index + size) */
	SK_ARGUMENT_SYMBOL,  /* address of symbol `index` */
	SK_ARGUMENT_KIND_COUNT,
};

enum {
	SK_ARGUMENT_BY_REFERENCE = 1, /* scalars: pass the address of a copy on the core's stack (Fortran) */
	SK_ARGUMENT_OF_LIBRARY = 2,   /* STATE: the C library's, shared by all packages of a process */
	SK_ARGUMENT_WHOLE = 4,	      /* POINTER: the accesses of calls are divided, but the address is not advanced */
	SK_ARGUMENT_STATUS = 8,	      /* BY_REFERENCE, an integer: any value but 0 after the call ends the launch */
	SK_ARGUMENT_BY_VALUE = 16,    /* SCRATCH: the `size` bytes themselves are passed, a struct; bits of `value` mark
					 its parts of 8 bytes that hold only floats */
	SK_ARGUMENT_FIELD = 32,	      /* not passed, but stored at byte `field` of the core's scratch before each call */
	SK_ARGUMENT_FLAGS = 63,	      /* all of them */
	SK_ARGUMENT_OPERAND = 64,     /* in lists only: POINTER, LOAD, RESULT: `offset` is relative to the call's next
					 operand; space, index and tensor are 0 */
};

enum { SK_MAX_BY_VALUE = 1024 }; /* bytes of a struct that is passed by value */

struct sk_plan_argument {
	uint8_t kind;	/* enum sk_argument_kind */
	uint8_t dtype;	/* enum sk_dtype; of the elements for POINTER */
	uint8_t access; /* enum sk_access; none for 0 bytes, and then the address has no meaning */
	uint8_t space;	/* enum sk_space */
	uint32_t index; /* binding or state number */
	uint64_t offset;
	uint64_t size;		/* bytes accessed, over all cores together; 0 only for a POINTER to no elements */
	uint64_t element_bytes; /* bytes that one element of the call's extent spans here; 0: not divided (shared) */
	uint64_t value;		/* bits of a scalar, zero-extended; EXPRESSION: 64 of them; POINTER: in the lower half
				   0, or 1 + the index of its pattern, in the upper half its displacement (i32): bytes
				   that are added to the address that is passed, and to nothing else; BY_VALUE: see
				   there */
	uint16_t flags;		/* SK_ARGUMENT_… */
	uint16_t field;		/* FIELD; else 0 */
	uint32_t tensor;	/* POINTER, LOAD, RESULT: index into tensors of the accessed one; else 0 */
};

/* Many calls have the same arguments except for their tensors. A plan therefore stores lists of arguments, and for each
 * call its operands, which are tensors. The table of arguments then has a count, that of all calls together, but no
 * records: the reader of the plan makes them. Space, index, offset and tensor of an OPERAND are those of the tensor, in
 * launches of kind 2 those in the unshared workspace. A plan without lists stores arguments as they are. */

/* Variables of a call that are known only when it is made. */
enum sk_variable {
	SK_VARIABLE_BEGIN, /* SPLIT: the first element of the call's range, or of its tile; in a serial entry, of the
			      extent */
	SK_VARIABLE_SIZE, /* SPLIT: the number of these elements */
	SK_VARIABLE_INNER_BEGIN, /* of the inner (second) loop: the first element of the tile … */
	SK_VARIABLE_INNER_SIZE, /* … and the number of its elements */
	SK_VARIABLE_BLOCK, /* BLOCKS, BLOCKS_RANGE: the block's number */
	SK_VARIABLE_COUNT,
};

/* A term of an EXPRESSION: factor * (floor((variable + addend) / divisor) modulo modulus), without the modulo if
 * modulus is 0. Arithmetic is that of 64-bit integers that wrap around. */
struct sk_plan_term {
	uint8_t variable; /* enum sk_variable */
	uint8_t reserved[7];
	int64_t factor;
	uint64_t addend;
	uint64_t divisor; /* at least 1 */
	uint64_t modulus;
};

/* The layout of a POINTER's bytes, unless they are just `size` contiguous bytes. Fields that are 0 do not apply. */
struct sk_plan_pattern {
	uint64_t width, stride, count; /* the accessed bytes are `count` rows of `width` bytes, `stride` bytes apart;
					  `size` reaches from the start of the first to the end of the last */
	uint64_t inner_bytes; /* bytes that one element of the inner loop's extent spans here */
	uint64_t halo; /* bytes after each part that its call also reads; they are in other parts, or after all */
	uint64_t over_read; /* bytes after `size` that calls may read, but do not use */
	uint64_t table_count, table_stride; /* FIELD: the number of consecutive addresses, and the distance of one to
					       the next */
	uint64_t rank; /* not 0: the call sees its elements in another shape, perhaps as unsigned integers of their
			  size, … */
	uint64_t shape[SK_MAX_RANK]; /* … this one; extents from rank on are 0 */
};

/* A symbol of the kernel objects, used as an argument by its address. */
struct sk_plan_symbol {
	int32_t name;	 /* string */
	int32_t address; /* reference */
};

enum sk_step_kind {
	SK_STEP_PLAIN,	      /* one call on the step's home */
	SK_STEP_BLOCKS,	      /* block b of `blocks` on core first_core + b modulo the lane's cores */
	SK_STEP_BLOCKS_RANGE, /* block b computes range b of extent: [b*extent/blocks, (b+1)*extent/blocks); the blocks are
				 divided among the cores as the step's partition says (consecutive blocks, one core) */
	SK_STEP_SPLIT,	      /* each core gets its range of `extent` as the step's partition says; empty: no call */
	SK_STEP_KIND_COUNT,
};

enum {
	SK_STEP_PUBLISH = 1,	 /* another step awaits it: the core stores its progress after it */
	SK_STEP_NONTEMPORAL = 2, /* a kernel of it stores past the caches: fence (sfence) after the last call */
	SK_STEP_TIMED = 4,	 /* the dispatcher records when it reaches the step, and begins and ends each call */
	SK_STEP_FLUSH_BEFORE = 8, /* the core's data cache is flushed after the awaits, before the first call … */
	SK_STEP_FLUSH_AFTER = 16, /* … and after the last one, before publishing. Neither in a serial entry */
	SK_STEP_RESIDENT = 32,	 /* BLOCKS, BLOCKS_RANGE: all blocks run at once, each on a core of its own */
	SK_STEP_CUBE_SIDE = 64,	 /* BLOCKS: the cube side of a mix task; the next step is the vector side */
	SK_STEP_VECTOR_SIDE = 128, /* BLOCKS: the vector side, with as many blocks or twice as many; both are RESIDENT */
	SK_STEP_EARLY_WAIT = 256, /* not SPLIT, no LOAD: the kernel waits for the step's awaits by itself */
	SK_STEP_EARLY_SET = 512, /* not SPLIT, no RESULT: the kernel can publish the step before it returns */
	SK_STEP_FEED = 1024,	 /* RESIDENT: cores without a block take part in sk_sync_all; both sides agree */
	SK_STEP_OWN_AWAITS = 2048, /* BLOCKS, BLOCKS_RANGE, neither RESIDENT nor EARLY_WAIT, not with SYNC_ALL: cores
				      without a block skip the awaits */
	SK_STEP_FLAGS = 4095,	 /* all of them */
	SK_STEP_ONE_CALL = SK_STEP_RESIDENT | SK_STEP_EARLY_WAIT | SK_STEP_EARLY_SET, /* with these it has one call */
};

#define SK_ALL_CORES UINT32_MAX /* core_set: all cores of the lane */
#define SK_NO_INDEX UINT32_MAX

enum { SK_MAX_RESIDENT = 4096 }; /* the most cores of a lane for RESIDENT steps */

/* Bits. */
enum {
	SK_CALL_STATUS = 1, /* the kernel returns int; non-zero ends the launch */
	SK_CALL_FLAGS = 1,  /* all of them */
};

/* One kernel called for one task, with its arguments. */
struct sk_plan_call {
	uint32_t task;	 /* index into tasks */
	uint32_t kernel; /* index into kernels */
	uint32_t first_argument;
	uint32_t list;		/* index into lists: the first record of its arguments; 0 without lists */
	uint32_t first_operand; /* index into operands; 0 if it has none */
	uint32_t first_loop;
	uint16_t argument_count;
	uint8_t flags;	    /* SK_CALL_… */
	uint8_t loop_count; /* the kernel is called for each tile; 0: once for the core's whole part */
	uint32_t reserved;
	uint64_t scale; /* SPLIT: elements of the call's extent for each element of the step's; else 1 */
};

enum { SK_MAX_LOOPS = 2 };

/* SPLIT: the kernel computes up to `tile` elements of an extent at a time. The outer loop covers the core's range of
 * the call's extent, whose units are whole tiles; the inner loop covers all of another extent. */
struct sk_plan_loop {
	uint64_t extent;
	uint64_t tile; /* at least 1; it may be larger than the extent */
};

/* One lane's turn at one task, or at several. Each core makes the step's calls in order, each one for the core's whole
 * part of the step's extent. A call's extent has `scale` elements for each element of the step's. A step in tiles makes
 * all its calls for one tile of the part, then for the next. There is no wait between two calls of a step, so data that
 * they share must be on one core, and in one tile. A mix task has two adjacent steps, of one call each with equal
 * arguments. They run at once, and neither awaits the other. The steps of a launch are in its global order (network
 * order). */
struct sk_plan_step {
	uint32_t first_call, call_count; /* at least one */
	uint8_t lane;	   /* index into lanes */
	uint8_t kind;	   /* enum sk_step_kind */
	uint16_t flags;	   /* SK_STEP_… */
	uint32_t number;   /* from 1 in the lane's program */
	uint32_t core_set; /* SK_ALL_CORES, or index into homes, one of the launch's */
	uint32_t partition; /* SPLIT, BLOCKS_RANGE: index into partitions, one of the launch's; else SK_NO_INDEX */
	uint32_t blocks;    /* BLOCKS, BLOCKS_RANGE: the constant number of blocks; else 0 */
	uint32_t first_await, await_count;
	uint32_t first_core; /* BLOCKS: the core that has block 0, modulo the lane's cores; else 0 */
	uint64_t extent; /* SPLIT, BLOCKS_RANGE: elements of the divided extent; else 0 */
	uint64_t tile;	 /* SPLIT: elements in a tile, whole units; 0: the step is not in tiles */
};

/* The awaiting step starts when the core set of step `step` (index into steps, an earlier one of the launch) has
 * finished it. */
struct sk_plan_await {
	uint32_t step;
};

/* Core h = stream modulo the lane's core count is the home. */
struct sk_plan_home {
	uint32_t lane;
	uint32_t stream;
};

/* Division of [0, extent) among C cores in whole units: with U = ceil(extent / unit), part p is [min(extent,
 * floor(p*U/C)*unit), min(extent, floor((p+1)*U/C)*unit)), and core c has part (c - first_core) modulo C. For
 * BLOCKS_RANGE, extent is the number of blocks and unit is 1.
 *
 * If `blocks` is not 0, parts are those of a BLOCKS_RANGE step of the same launch with `blocks` blocks and `rows`
 * elements: with start(b) = floor(b*rows/blocks) * (extent/rows), part p is [start(floor(p*blocks/C)),
 * start(floor((p+1)*blocks/C))). rows divides extent. All these starts are whole units, except start(blocks), which is
 * the extent. */
struct sk_plan_partition {
	uint64_t extent;
	uint64_t unit;
	uint64_t rows, blocks; /* both 0: units are divided */
	uint64_t first_core; /* the core with part 0 */
};

/* Bytes of the address ranges that cores divide among them in a step, for reasoning about conflicts ("units" of an
 * access):
 *
 *   SPLIT:        ceil(extent / unit) units of unit * scale * element_bytes bytes
 *   BLOCKS_RANGE: `blocks` units; of extent / blocks * element_bytes bytes if blocks divides extent, else irregular
 *   otherwise, or with element_bytes 0 or a halo: not divided.
 *
 * For rows, this is the distance between units; bytes between rows may not be accessed. */

enum sk_launch_kind {
	SK_LAUNCH_SUPERKERNEL, /* a segment of a scope */
	SK_LAUNCH_SINGLE,      /* a task that could not be fused, or is outside of every scope */
	SK_LAUNCH_TASK,	       /* the entry of one task for unfused runs; not part of the network's launches */
	SK_LAUNCH_EXCHANGE,    /* as SINGLE: a task that exchanges bytes with other ranks (format/skranks.h). A step
				  of a superkernel may do this, too */
	SK_LAUNCH_KIND_COUNT,
};

/* preload-code: the amount of a kernel's code that is fetched before its step's turn, in lines of SK_PRELOAD_LINE
 * bytes. */
enum sk_preload { SK_PRELOAD_NONE, SK_PRELOAD_FUNCTION, SK_PRELOAD_MAX, SK_PRELOAD_COUNT };
enum { SK_PRELOAD_LINE = 64, SK_PRELOAD_FUNCTION_LINES = 16, SK_PRELOAD_MAX_LINES = 256 };

/* Bits. */
enum {
	SK_LAUNCH_SYNC_ALL = 1, /* every step has one call, and starts when all steps before it have ended on all cores
				   */
	SK_LAUNCH_DEBUG = 2,	/* the package was linked to hold debug information */
	SK_LAUNCH_EARLY = 4,	/* it has steps with EARLY_WAIT or EARLY_SET */
	SK_LAUNCH_ONCE = 8,	/* it runs once for an instance: it reads only constants and results of such launches,
				   and its results have bytes of the workspace for themselves */
	SK_LAUNCH_THUNK = 16,	/* kind 2: its entry is a thunk, which other tasks may share: see format/plan/plan.h */
	SK_LAUNCH_ORDERED = 32,	/* its steps have an order that the planner has chosen, not the list's */
	SK_LAUNCH_FLAGS = 63,	/* all of them */
};

enum { SK_MAX_FUNC_ALIGN = 4096, SK_MAX_COPIES = 64 };

/* Fields that launches may share, usually those of single tasks with the same form of call. */
struct sk_plan_form {
	int32_t scope;	 /* string, or 0 */
	int32_t network; /* string: its network, if there are several, see below; 0: one network, without a name */
	uint32_t step_count, follow_count, partition_count, home_count;
	uint32_t task_count;			 /* calls of its steps, without those of vector sides */
	uint32_t stream;			 /* the stream that it is launched on: its first task's */
	uint32_t lane_steps[SK_MAX_LANES];	 /* length of each lane's program; 0: the lane is idle */
	uint64_t scratch_size;			 /* bytes of scratch that each core needs, 64-byte aligned */
	uint32_t resident_cores[SK_MAX_LANES];	 /* the least number of cores of a lane while the launch runs, for its
						    RESIDENT steps */
	uint32_t device_cores[SK_MAX_LANES];	 /* cores that it uses on the device that it was planned for;
						    SK_ALL_CORES on a host, if it uses all */
	uint16_t flags;				 /* SK_LAUNCH_… */
	uint8_t kind;				 /* enum sk_launch_kind */
	uint8_t reserved;
	/* The scope's options; all 0 for kinds 1 and 2. */
	uint8_t preload;     /* enum sk_preload */
	uint8_t copies;	     /* of the kernels' code, one for each core modulo this number; 0: the same as 1 */
	uint16_t func_align; /* alignment of its entries and kernels, a power of two; 0: default */
	uint32_t lane_cores[SK_MAX_LANES]; /* the most cores of each lane that it runs on; 0: all */
};

struct sk_plan_launch {
	int32_t name;		  /* string; the entry's symbol for kinds 0 and 1 */
	int32_t entry;		  /* code: int entry(struct sk_core *) */
	int32_t serial_entry;	  /* code: int entry(void *const *tensors, void *workspace); 0: none, since a step is
				     RESIDENT, or the entry is a thunk */
	int32_t form;		  /* reference: one of forms */
	uint32_t first_step;
	uint32_t first_follow;	  /* launches (indices in follows) that must have ended before */
	uint32_t first_partition; /* the ranges table of this launch; launches may share records */
	uint32_t first_home;	  /* the homes table of this launch, likewise */
};

/* A package of several networks: each launch names its own, all launches of a network are adjacent, and none runs once.
 * Names of its tasks, and of the tensors that they access except constants, begin with the network's name and a colon.
 * Bindings and tasks are therefore also sorted by network, in the order of the launches. A program runs one network,
 * and binds only the tensors of that one. */

/* The costs that a manifest can give. The order is part of the format. */
enum sk_cost {
	SK_COST_CYCLES,	     /* of the whole task (or side), as if one core did all of it */
	SK_COST_OPERATIONS,  /* of the whole task; not together with cycles */
	SK_COST_BYTES,	     /* read from and written to memory by the whole task */
	SK_COST_CODE,	     /* bytes of the kernel's code on the device */
	SK_COST_BEFORE_WAIT, /* part of the cycles or operations: of all blocks before their wait … */
	SK_COST_AFTER_SET,   /* … and after their set; together at most all */
	SK_COST_WAITS,	     /* waits of each block for others of its task: sk_sync_all, sk_wait_flag */
	SK_COST_COUNT,
};

/* Return the key in manifests and messages. */
static inline const char *sk_cost_name(enum sk_cost cost)
{
	static const char *const names[SK_COST_COUNT] = {"cycles", "operations", "bytes", "code", "before-wait",
							 "after-set", "waits"};

	return names[cost];
}

/* The largest value of a cost: a double counts exactly up to here. */
#define SK_COST_MAX (UINT64_C(1) << 53)

/* A cost, for predictions only (loader/predict/predict.h): execution does not depend on it. */
struct sk_plan_cost {
	uint32_t given; /* bit number enum sk_cost for each value that is given; the others are 0 */
	uint32_t reserved;
	uint64_t values[SK_COST_COUNT];
};

static inline bool sk_cost_gives(const struct sk_plan_cost *cost, enum sk_cost value)
{
	return cost->given >> value & 1;
}

/* A task. Tasks without anything to compute are not in the plan. */
struct sk_plan_task {
	int32_t name;  /* string */
	int32_t scope; /* string, or 0 */
	uint32_t kernel;
	uint32_t stream;
	uint32_t launch;      /* the network launch (kind 0 or 1) that runs it */
	uint32_t task_launch; /* its own entry (kind 2), or SK_NO_INDEX */
	uint32_t line;	      /* in the manifest */
	uint32_t cost;	      /* index into costs, or SK_NO_INDEX */
	uint32_t vector_cost; /* mix tasks: SK_NO_INDEX, or index into costs: that of the vector side, `cost` being the
				 cube side's alone */
};

enum {
	SK_KERNEL_IMPORTED = 1, /* the function is a library's; `code` is the package's reference to it */
	SK_KERNEL_FLAGS = SK_KERNEL_IMPORTED
};

struct sk_plan_kernel {
	int32_t name;	   /* string: the kernel's name in the manifest */
	int32_t symbol;	   /* string */
	int32_t signature; /* string, normalised */
	int32_t code;	   /* the function */
	uint64_t isa;	   /* instruction sets that it needs, as in format/plan/isa.h */
	uint32_t code_size; /* bytes of the function alone, by its symbol, within its section; 0: not known */
	uint32_t first_copy; /* the first of its copies, for the cores with a number modulo the launch's copies of 1, 2
				…; 0: none */
	int32_t vector_code; /* mix kernels: the function of the vector side, with that of the cube side in `code`; else
				0 */
	uint32_t vector_code_size; /* as code_size */
	uint32_t early; /* SK_STEP_EARLY_…: its abilities by its signature, used if the launch allows it */
	uint32_t flags; /* SK_KERNEL_… */
};

/* Fields that tensors may share. */
struct sk_plan_type {
	uint8_t dtype; /* enum sk_dtype */
	uint8_t rank;
	uint16_t reserved;
	int32_t range; /* string "LOW HIGH": random values are from low to high; 0: not given. For skrun only */
	uint64_t bytes;
	uint64_t padding; /* bytes after it that may be read, but are not used: the largest over_read of its accesses */
	uint64_t shape[SK_MAX_RANK]; /* without extents: one element; with an extent of 0: none */
};

struct sk_plan_tensor {
	int32_t name;  /* string */
	int32_t type;  /* reference: one of types */
	uint8_t role;  /* enum sk_role */
	uint8_t space; /* enum sk_space: BINDING, WORKSPACE, CONSTANT; NONE: unused */
	uint16_t reserved;
	uint32_t index;		  /* binding number, or 0 */
	uint64_t offset;	  /* in its space */
	uint64_t unshared_offset; /* temporaries: in the unshared workspace */
};

/* A table: place-relative reference to its first record, and the number of records. */
struct sk_plan_table {
	int32_t offset;
	uint32_t count;
};

/* The hashes of the package's bytes at link time; format/seal.h computes them. The loaded bytes are the seal's position
 * among them (64 bits), followed by the bytes of the PT_LOAD segments in the file, in their order, including ELF and
 * program headers. Fields that strip changes count as zero: e_shoff and e_shentsize to e_shstrndx of the ELF header,
 * and p_offset of each program header. Hashes are XXH3-128 in canonical form. */
struct sk_plan_seal {
	uint64_t file_size;    /* a file of another size has been stripped */
	uint8_t rest[16];      /* hash of those fields, then of all bytes that are not loaded */
	uint8_t signature[64]; /* Ed25519ph of the loaded bytes with zeros here and in `loaded`; zeros: not signed */
	uint8_t loaded[16];    /* hash of the position, then of the hashes of each segment's bytes, with zeros here */
};

struct sk_plan {
	uint32_t magic;
	uint32_t version;     /* SK_PLAN_VERSION */
	uint32_t abi_version; /* SK_ABI_VERSION of the dispatchers */
	uint32_t machine;     /* EM_… */
	uint64_t size;	      /* of the whole section, this header included */
	uint64_t workspace_size;
	uint64_t unshared_workspace_size; /* for task entries */
	uint64_t constants_size;
	uint64_t isa;	   /* instruction sets that the kernels and the constructors need, see sk_plan_kernel */
	int32_t constants; /* reference to the start of the constants, or 0 */
	int32_t device;	   /* string: the profile that it was planned for */
	uint32_t resident_cores[SK_MAX_LANES]; /* the maximum over all launches */
	uint32_t device_cores[SK_MAX_LANES];   /* of the device's lanes; 0: a host, with a number that depends on the
						  machine */
	struct sk_plan_table lanes;	 /* int32_t string references: names */
	struct sk_plan_table forms;	 /* struct sk_plan_form */
	struct sk_plan_table launches;	 /* struct sk_plan_launch: the network's launches in order, then the task entries */
	struct sk_plan_table tasks;	 /* struct sk_plan_task, in network order */
	struct sk_plan_table costs;	 /* struct sk_plan_cost */
	struct sk_plan_table kernels;	 /* struct sk_plan_kernel */
	struct sk_plan_table types;	 /* struct sk_plan_type */
	struct sk_plan_table tensors;	 /* struct sk_plan_tensor */
	struct sk_plan_table bindings;	 /* uint32_t: tensor of each binding number */
	struct sk_plan_table steps;	 /* struct sk_plan_step, launch by launch */
	struct sk_plan_table calls;	 /* struct sk_plan_call, step by step */
	struct sk_plan_table awaits;	 /* struct sk_plan_await */
	struct sk_plan_table arguments;	 /* struct sk_plan_argument, call by call; only a count with lists */
	struct sk_plan_table lists;	 /* struct sk_plan_argument: arguments that calls share */
	struct sk_plan_table operands;	 /* uint32_t tensor indices */
	struct sk_plan_table loops;	 /* struct sk_plan_loop, call by call */
	struct sk_plan_table terms;	 /* struct sk_plan_term, argument by argument, or by record of a list */
	struct sk_plan_table patterns;	 /* struct sk_plan_pattern, likewise */
	struct sk_plan_table symbols;	 /* struct sk_plan_symbol */
	struct sk_plan_table partitions; /* struct sk_plan_partition */
	struct sk_plan_table homes;	 /* struct sk_plan_home */
	struct sk_plan_table follows;	 /* uint32_t launch indices */
	struct sk_plan_table strings;	 /* bytes; the last one is NUL, every string is inside */
	struct sk_plan_seal seal;
};

#endif
