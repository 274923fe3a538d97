/* The plan: the tables in a package that say what is in it. The only thing that the linker and the loader share.
 *
 * The plan is the allocated section .sk.plan, found by the dynamic symbol sk_plan. It is little-endian, used in place
 * and needs no load-time relocation: a reference is a signed 32-bit offset from its own address (0: none), everything
 * else is an index into a table. Only format/plan/plan.c reads it from outside; it checks before anybody trusts.
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

/* As kernels that only move elements see them: unsigned integers of their size. */
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

/* The name in signatures, manifests and messages; "?" for a number that is none. */
static inline const char *sk_dtype_name(enum sk_dtype dtype)
{
	static const char *const names[SK_DTYPE_COUNT] = {"?",	 "i8",	"u8",  "i16",  "u16", "i32", "u32",
							  "i64", "u64", "f16", "bf16", "f32", "f64", "bool"};

	return dtype < SK_DTYPE_COUNT ? names[dtype] : "?";
}

/* What a tensor is to whoever runs the package. */
enum sk_role {
	SK_ROLE_NONE,
	SK_ROLE_INPUT,	   /* read, never written; bound */
	SK_ROLE_OUTPUT,	   /* written; bound */
	SK_ROLE_INOUT,	   /* read before it is first written: state; bound */
	SK_ROLE_CONSTANT,  /* embedded in the package, never written */
	SK_ROLE_TEMPORARY, /* lives in the workspace */
};

/* Where an address lies. */
enum sk_space {
	SK_SPACE_NONE,
	SK_SPACE_BINDING,   /* offset from the base of binding number `index` */
	SK_SPACE_WORKSPACE, /* offset from the workspace's base; task entries use the unshared workspace */
	SK_SPACE_CONSTANT,  /* offset from the start of the constants */
	SK_SPACE_STATE,	    /* hidden state number `index` of the kernels; never an address, only an access */
	SK_SPACE_SCRATCH,   /* offset into this core's scratch, where one tile of a step is at a time: temporaries that live
			       in that step alone. Task entries have them in the unshared workspace */
};

/* Bits. */
enum sk_access { SK_ACCESS_NONE = 0, SK_ACCESS_READ = 1, SK_ACCESS_WRITE = 2 };

/* How one argument of a call comes about, in the order of the C parameters. */
enum sk_argument_kind {
	SK_ARGUMENT_NONE,
	SK_ARGUMENT_POINTER, /* address of (space, index, offset); SPLIT: plus the range's start times element_bytes, in
				the scratch less what the tile's start is. BLOCKS_RANGE kernels get the whole tensor's address
				and find their range by themselves */
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
	SK_ARGUMENT_OF_LIBRARY = 2,   /* STATE: it is the C library's, which all packages of a process share */
	SK_ARGUMENT_WHOLE = 4,	      /* POINTER: what each call accesses is divided, but the address is not advanced */
	SK_ARGUMENT_STATUS = 8,	      /* BY_REFERENCE, an integer: if the kernel leaves anything but 0 there, the launch ends */
	SK_ARGUMENT_BY_VALUE = 16,    /* SCRATCH: the `size` bytes themselves are passed, a struct; bits of `value` are set
				       for those of its parts of 8 bytes that hold floats alone */
	SK_ARGUMENT_FIELD = 32,	      /* not passed, but stored at byte `field` of this core's scratch in front of each call */
	SK_ARGUMENT_FLAGS = 63,	      /* all of them */
	SK_ARGUMENT_OPERAND = 64,     /* in lists alone: POINTER, LOAD, RESULT: it lies `offset` bytes into the call's next
				       operand; space, index and tensor are 0 */
};

enum { SK_MAX_BY_VALUE = 1024 }; /* bytes of a struct that is passed by value */

struct sk_plan_argument {
	uint8_t kind;	/* enum sk_argument_kind */
	uint8_t dtype;	/* enum sk_dtype; of the elements for POINTER */
	uint8_t access; /* enum sk_access; of no bytes: none, and the address means nothing */
	uint8_t space;	/* enum sk_space */
	uint32_t index; /* binding or state number */
	uint64_t offset;
	uint64_t size;		/* bytes accessed, over all cores together; 0 only of POINTER, to what has no elements */
	uint64_t element_bytes; /* bytes that one element of the call's extent spans here; 0: not divided (shared) */
	uint64_t value;		/* bits of a scalar, zero-extended; EXPRESSION: 64 of them; POINTER: 0, or 1 + the index
				   of its pattern; BY_VALUE: see there */
	uint16_t flags;		/* SK_ARGUMENT_… */
	uint16_t field;		/* FIELD; else 0 */
	uint32_t tensor;	/* POINTER, LOAD, RESULT: index into tensors of the one that the bytes belong to; else 0 */
};

/* Many calls have the same arguments, but for the tensors that they are about. So a plan stores lists of arguments, and of
 * each call its operands, which are tensors. The table of arguments has no records then, but so many as all calls have
 * together, and whoever reads the plan makes them: of an OPERAND space, index, offset and tensor are those of the tensor, in
 * launches of kind 2 those of the unshared workspace. A plan without lists has its arguments as they are. */

/* What is known of a call only when it is made. */
enum sk_variable {
	SK_VARIABLE_BEGIN, /* SPLIT: the first element of the call's range, or of its tile; in a serial entry that of all */
	SK_VARIABLE_SIZE, /* SPLIT: how many they are */
	SK_VARIABLE_INNER_BEGIN, /* of the inner loop, the second one: the first element of the tile … */
	SK_VARIABLE_INNER_SIZE, /* … and how many they are */
	SK_VARIABLE_BLOCK, /* BLOCKS, BLOCKS_RANGE: the block's number */
	SK_VARIABLE_COUNT,
};

/* A term of an EXPRESSION: factor * (floor((variable + addend) / divisor) modulo modulus), modulo nothing if that is 0.
 * Sums and products are those of 64-bit integers that wrap around. */
struct sk_plan_term {
	uint8_t variable; /* enum sk_variable */
	uint8_t reserved[7];
	int64_t factor;
	uint64_t addend;
	uint64_t divisor; /* at least 1 */
	uint64_t modulus;
};

/* How a POINTER's bytes lie, if they are not just `size` bytes one behind the other. What is 0 does not apply. */
struct sk_plan_pattern {
	uint64_t width, stride, count; /* `count` rows of `width` bytes, `stride` bytes from one to the next, are accessed;
					  `size` reaches from the first one's start to the last one's end */
	uint64_t inner_bytes; /* bytes that one element of the inner loop's extent spans here */
	uint64_t halo; /* bytes behind each part that its call reads, too; they are others' parts, or behind all */
	uint64_t over_read; /* bytes behind `size` that calls may read, and do not use */
	uint64_t table_count, table_stride; /* FIELD: so many addresses one behind the other, each so many bytes further */
	uint64_t rank; /* not 0: the call sees its elements in a shape of its own, perhaps as unsigned integers of their
			  size, … */
	uint64_t shape[SK_MAX_RANK]; /* … this one; those behind rank are 0 */
};

/* A symbol of the kernel objects whose address is an argument. */
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
	SK_STEP_PUBLISH = 1,	 /* somebody awaits it: the core stores its progress behind it */
	SK_STEP_NONTEMPORAL = 2, /* a kernel of it stores past the caches: fence (sfence) behind the last call */
	SK_STEP_TIMED = 4,	 /* the dispatcher notes when it comes to the step, begins and ends each call */
	SK_STEP_FLUSH_BEFORE = 8, /* the core's data cache is flushed behind the awaits, before the first call … */
	SK_STEP_FLUSH_AFTER = 16, /* … and behind the last one, before publishing. In a serial entry neither */
	SK_STEP_RESIDENT = 32,	 /* BLOCKS, BLOCKS_RANGE: all blocks run at once, each on a core of its own */
	SK_STEP_CUBE_SIDE = 64,	 /* BLOCKS: the cube side of a mix task; the next step is the vector side */
	SK_STEP_VECTOR_SIDE = 128, /* BLOCKS: the vector side, with as many blocks or twice as many; both are RESIDENT */
	SK_STEP_EARLY_WAIT = 256, /* not SPLIT, no LOAD: the kernel waits for the step's awaits by itself */
	SK_STEP_EARLY_SET = 512, /* not SPLIT, no RESULT: the kernel can publish the step before it returns */
	SK_STEP_FEED = 1024,	 /* RESIDENT: cores without a block take part in sk_sync_all; both sides agree */
	SK_STEP_FLAGS = 2047,	 /* all of them */
	SK_STEP_ONE_CALL = SK_STEP_RESIDENT | SK_STEP_EARLY_WAIT | SK_STEP_EARLY_SET, /* with these it has one call */
};

#define SK_ALL_CORES UINT32_MAX /* core_set: all cores of the lane */
#define SK_NO_INDEX UINT32_MAX

enum { SK_MAX_RESIDENT = 4096 }; /* cores of a lane that RESIDENT steps can want */

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
	uint32_t list;		/* index into lists: where the records of its arguments begin; 0 where there are none */
	uint32_t first_operand; /* index into operands; 0 if it has none */
	uint32_t first_loop;
	uint16_t argument_count;
	uint8_t flags;	    /* SK_CALL_… */
	uint8_t loop_count; /* the kernel is called for each tile; 0: once for all of the core's part */
	uint32_t reserved;
	uint64_t scale; /* SPLIT: elements of the call's extent for each one of the step's; else 1 */
};

enum { SK_MAX_LOOPS = 2 };

/* SPLIT: the kernel computes up to `tile` elements of an extent at a time. The first loop goes through the core's range of
 * the call's extent, whose units are whole tiles, the second one inside it through all of another extent. */
struct sk_plan_loop {
	uint64_t extent;
	uint64_t tile; /* at least 1; it may be more than there are */
};

/* One lane's turn at one task, or at several: each core makes the step's calls in order, each one for all of the core's
 * part, which is the same for all of them: of an extent that has `scale` elements for each one of the step's it is so many
 * times as many. A step in tiles makes all its calls for one tile of the part, then for the next. Nothing waits between two
 * calls of a step, so what they share must fall to one core, and to one tile. A mix task has two steps, one behind the other, of one call each with equal arguments, and awaits on neither
 * of them by the other, which run at once. The steps of a launch stand in its global order (network order). */
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

/* The awaiting step starts when the core set of step `step` (index into steps, an earlier one of the launch) has finished
 * it. */
struct sk_plan_await {
	uint32_t step;
};

/* Core h = stream modulo the lane's core count is the home. */
struct sk_plan_home {
	uint32_t lane;
	uint32_t stream;
};

/* Division of [0, extent) among C cores in whole units: with U = ceil(extent / unit), part p is
 * [min(extent, floor(p*U/C)*unit), min(extent, floor((p+1)*U/C)*unit)), and core c has part (c - first_core) modulo C. For
 * BLOCKS_RANGE, extent is the number of blocks and unit is 1.
 *
 * Where `blocks` is not 0, parts are those of a BLOCKS_RANGE step with so many blocks of `rows` elements, which
 * stands in the same launch: with start(b) = floor(b*rows/blocks) * (extent/rows), part p is
 * [start(floor(p*blocks/C)), start(floor((p+1)*blocks/C))). rows divides extent, and but for start(blocks), which is the
 * extent, all these are whole units. */
struct sk_plan_partition {
	uint64_t extent;
	uint64_t unit;
	uint64_t rows, blocks; /* both 0: units are shared out */
	uint64_t first_core; /* it has part 0 */
};

/* Bytes of the address ranges that cores share out in a step, for reasoning about conflicts ("units" of an access):
 *   SPLIT:        ceil(extent / unit) units of unit * scale * element_bytes bytes
 *   BLOCKS_RANGE: `blocks` units; of extent / blocks * element_bytes bytes if blocks divides extent, else irregular
 *   otherwise, or with element_bytes 0 or a halo: not divided.
 * Of rows, that is how far units lie apart; in between may be bytes that are not accessed. */

enum sk_launch_kind {
	SK_LAUNCH_SUPERKERNEL, /* a segment of a scope */
	SK_LAUNCH_SINGLE,      /* a task that could not be fused, or stands outside every scope */
	SK_LAUNCH_TASK,	       /* the entry of one task for unfused runs; not part of the network's launches */
	SK_LAUNCH_KIND_COUNT,
};

/* preload-code: how much of a kernel's code is fetched before its step's turn, in lines of SK_PRELOAD_LINE bytes. */
enum sk_preload { SK_PRELOAD_NONE, SK_PRELOAD_FUNCTION, SK_PRELOAD_MAX, SK_PRELOAD_COUNT };
enum { SK_PRELOAD_LINE = 64, SK_PRELOAD_FUNCTION_LINES = 16, SK_PRELOAD_MAX_LINES = 256 };

/* Bits. */
enum {
	SK_LAUNCH_SYNC_ALL = 1, /* every step has one call, and starts when all steps in front of it have ended on all
				   cores */
	SK_LAUNCH_DEBUG = 2,	/* the package was linked to hold debug information */
	SK_LAUNCH_EARLY = 4,	/* it has steps with EARLY_WAIT or EARLY_SET */
	SK_LAUNCH_ONCE = 8,	/* it runs for an instance once: only constants and results of such launches are read, and
				   its results lie in bytes of the workspace that nothing else has */
	SK_LAUNCH_THUNK = 16,	/* kind 2: its entry is a thunk, which other tasks may share: see format/plan/plan.h */
	SK_LAUNCH_FLAGS = 31,	/* all of them */
};

enum { SK_MAX_FUNC_ALIGN = 4096, SK_MAX_COPIES = 64 };

/* What launches may have in common: as a rule, those of tasks by themselves that are called in one way. */
struct sk_plan_form {
	int32_t scope;	 /* string, or 0 */
	int32_t network; /* string: the one of several networks that it is of, see below; 0: there is one, without a name */
	uint32_t step_count, follow_count, partition_count, home_count;
	uint32_t task_count;			 /* calls of its steps, but for the vector sides */
	uint32_t stream;			 /* the stream it is launched on: its first task's */
	uint32_t lane_steps[SK_MAX_LANES];	 /* length of each lane's program; 0: the lane has nothing to do */
	uint64_t scratch_size;			 /* bytes of scratch that each core needs, 64-byte aligned */
	uint32_t resident_cores[SK_MAX_LANES];	 /* a lane has at least so many cores while the launch runs, for its
						    RESIDENT steps */
	uint32_t device_cores[SK_MAX_LANES];	 /* cores that it takes on the device it was planned for; SK_ALL_CORES on
						    a host, if it takes all that there are */
	uint16_t flags;				 /* SK_LAUNCH_… */
	uint8_t kind;				 /* enum sk_launch_kind */
	uint8_t reserved;
	/* What the scope's options say; all 0 for kinds 1 and 2. */
	uint8_t preload;     /* enum sk_preload */
	uint8_t copies;	     /* of the kernels' code, one for each core modulo this number; 0: as 1 */
	uint16_t func_align; /* its entries and its kernels begin at multiples of this power of two; 0: as they come */
	uint32_t lane_cores[SK_MAX_LANES]; /* cores of each lane that it runs on, as far as there are; 0: all */
};

struct sk_plan_launch {
	int32_t name;		  /* string; the entry's symbol for kinds 0 and 1 */
	int32_t entry;		  /* code: int entry(struct sk_core *) */
	int32_t serial_entry;	  /* code: int entry(void *const *tensors, void *workspace); 0: there is none, since a step is
				     RESIDENT, or the entry a thunk */
	int32_t form;		  /* reference: one of forms */
	uint32_t first_step;
	uint32_t first_follow;	  /* launches (indices in follows) that must have ended before */
	uint32_t first_partition; /* the ranges table of this launch; launches may share records */
	uint32_t first_home;	  /* the homes table of this launch, likewise */
};

/* A package of several networks: each launch names its own, all of a network stand one behind the other, and none runs once.
 * Names of its tasks, and of the tensors that they access but for constants, begin with the network's name and a colon. So bindings
 * and tasks stand network by network as well, in the order of the launches. Whoever runs the package runs one network, for which
 * only its own tensors are bound. */

/* What the manifest can say about a cost. The order is part of the format. */
enum sk_cost {
	SK_COST_CYCLES,	     /* of the whole task (or side), as if one core did it all */
	SK_COST_OPERATIONS,  /* of the whole task; not together with cycles */
	SK_COST_BYTES,	     /* read from and written to memory by the whole task */
	SK_COST_CODE,	     /* bytes of the kernel's code on the device */
	SK_COST_BEFORE_WAIT, /* of the cycles or operations: those of all blocks in front of their wait … */
	SK_COST_AFTER_SET,   /* … and behind their set; the two are not more than all */
	SK_COST_WAITS,	     /* how often each block waits for others of its task: sk_sync_all, sk_wait_flag */
	SK_COST_COUNT,
};

/* The key in manifests and messages. */
static inline const char *sk_cost_name(enum sk_cost cost)
{
	static const char *const names[SK_COST_COUNT] = {"cycles", "operations", "bytes", "code", "before-wait",
							 "after-set", "waits"};

	return names[cost];
}

/* No value of a cost is greater: up to here a double counts exactly. */
#define SK_COST_MAX (UINT64_C(1) << 53)

/* A cost is for predictions only (loader/predict/predict.h): nothing that runs depends on it. */
struct sk_plan_cost {
	uint32_t given; /* bit number enum sk_cost for each value that is given; the others are 0 */
	uint32_t reserved;
	uint64_t values[SK_COST_COUNT];
};

static inline bool sk_cost_gives(const struct sk_plan_cost *cost, enum sk_cost value)
{
	return cost->given >> value & 1;
}

/* Tasks that have nothing to compute are none of the plan's. */
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
	SK_KERNEL_IMPORTED = 1, /* the function is a library's; `code` is what the package reaches it by */
	SK_KERNEL_FLAGS = SK_KERNEL_IMPORTED
};

struct sk_plan_kernel {
	int32_t name;	   /* string: the kernel's name in the manifest */
	int32_t symbol;	   /* string */
	int32_t signature; /* string, normalised */
	int32_t code;	   /* the function */
	uint64_t isa;	   /* instruction sets that it needs, as format/plan/isa.h has them */
	uint32_t code_size; /* bytes of the function alone, as its symbol says, within its section; 0: not known */
	uint32_t first_copy; /* kernels from this one on are copies of it, for the cores whose number modulo the
				launch's copies is 1, 2 …; 0: there are none */
	int32_t vector_code; /* mix kernels: the function of the vector side, while `code` is the cube side's; else 0 */
	uint32_t vector_code_size; /* as code_size */
	uint32_t early; /* SK_STEP_EARLY_…: what its signature says that it does by itself where the launch lets it */
	uint32_t flags; /* SK_KERNEL_… */
};

/* What tensors may have in common. */
struct sk_plan_type {
	uint8_t dtype; /* enum sk_dtype */
	uint8_t rank;
	uint16_t reserved;
	int32_t range; /* string "LOW HIGH": random values lie from low to high; 0: none was given. For skrun alone */
	uint64_t bytes;
	uint64_t padding; /* bytes behind it that may be read, though nobody uses what they hold: the most over_read of its
			     accesses */
	uint64_t shape[SK_MAX_RANK]; /* of no extent: one element; with an extent of 0: none */
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

/* What the package's bytes were when it was linked; format/seal.h computes it. Loaded bytes are where the seal stands in
 * what follows (64 bits), and those of the PT_LOAD segments in the file, in their order, ELF and program headers
 * included; what strip changes of them counts as zero: e_shoff and e_shentsize to e_shstrndx of the ELF header, and p_offset of
 * each program header. Hashes are XXH3-128 in canonical form. */
struct sk_plan_seal {
	uint64_t file_size;    /* a file of another size has been stripped */
	uint8_t rest[16];      /* hash of those fields, then of all bytes that are not loaded */
	uint8_t signature[64]; /* Ed25519ph of the loaded bytes with zeros here and in `loaded`; zeros: not signed */
	uint8_t loaded[16];    /* hash of the place, then of the hashes of each segment's bytes, with zeros here */
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
	int32_t device;	   /* string: the profile it was planned for */
	uint32_t resident_cores[SK_MAX_LANES]; /* the most of any launch */
	uint32_t device_cores[SK_MAX_LANES];   /* of the device's lanes; 0: of a host, where only the machine knows */
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
	struct sk_plan_table arguments;	 /* struct sk_plan_argument, call by call; with lists only a number */
	struct sk_plan_table lists;	 /* struct sk_plan_argument: arguments that calls share */
	struct sk_plan_table operands;	 /* uint32_t tensor indices */
	struct sk_plan_table loops;	 /* struct sk_plan_loop, call by call */
	struct sk_plan_table terms;	 /* struct sk_plan_term, argument by argument, or by record of a list */
	struct sk_plan_table patterns;	 /* struct sk_plan_pattern, likewise */
	struct sk_plan_table symbols;	 /* struct sk_plan_symbol */
	struct sk_plan_table partitions; /* struct sk_plan_partition */
	struct sk_plan_table homes;	 /* struct sk_plan_home */
	struct sk_plan_table follows;	 /* uint32_t launch indices */
	struct sk_plan_table strings;	 /* bytes; the last one is NUL, every string lies inside */
	struct sk_plan_seal seal;
};

#endif
