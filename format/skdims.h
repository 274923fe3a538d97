/* The sizes of a dynamic package: the section .sk.dims, which says which numbers of its plan are values of which
 * expressions of the package's dimensions. It is part of the interface between linker and loader (format/skplan.h).
 *
 * A dynamic package is the static package of the largest sizes: its plan contains the numbers of those, and is a valid
 * plan by itself. The section lists fields of the plan's records that have another value at other sizes. A package
 * without it is static. The section is allocated and found by the dynamic symbol sk_dims. In a package of sklink -r,
 * an object, the same bytes have no section: they are the end of the plan, at the next multiple of 8 after its tables.
 * Their form is that of the plan: little-endian, used in place, place-relative references (struct sk_plan_table,
 * strings), natural alignment, reserved fields zero. Other programs read it through format/plan/dims.c only, which
 * checks it before use. */
#ifndef SK_DIMS_H
#define SK_DIMS_H

#include <stdint.h>

#include "format/skplan.h"

/* The records read as tables: */
/* clang-format off */

#define SK_DIMS_MAGIC 0x4d444b53u /* "SKDM" */
#define SK_DIMS_VERSION 1u

enum {
	SK_MAX_DIMENSIONS = 64,  /* of a package */
	SK_MAX_DIMENSION = 0x7fffffff, /* the largest bound */
	SK_MAX_DIMS_VALUES = 1 << 20,
};

/* A dimension: least <= size <= most, a multiple of `multiple`, which divides both. */
struct sk_dims_dimension {
	int32_t name;	 /* string; unique in its network */
	int32_t network; /* string, as in struct sk_plan_form; 0: one network */
	uint64_t least, most, multiple;
	uint64_t usual;	 /* the size that choices of speed are made for; a valid size */
};

/* All operations are non-decreasing, so every value has its maximum at the largest sizes, and if none overflows there,
 * none does elsewhere. Values are 64-bit and unsigned. */
enum sk_dims_op {
	SK_DIMS_NUMBER,	   /* number */
	SK_DIMS_DIMENSION, /* of dimension a */
	SK_DIMS_ADD,	   /* a + b */
	SK_DIMS_SUBTRACT,  /* a - number, which is at most a at the least sizes */
	SK_DIMS_MULTIPLY,  /* a * b */
	SK_DIMS_FLOOR,	   /* floor(a / number), number at least 1 */
	SK_DIMS_MIN,	   /* of a and b */
	SK_DIMS_MAX,
	SK_DIMS_OP_COUNT,
};

/* A value; operands are earlier values. */
struct sk_dims_value {
	uint8_t op; /* enum sk_dims_op */
	uint8_t reserved[3];
	uint32_t a, b;
	uint32_t reserved_word;
	uint64_t number;
};

/* The tables that have fields of other values. */
enum sk_dims_table {
	SK_DIMS_TYPES,	    /* bytes, shape */
	SK_DIMS_STEPS,	    /* extent */
	SK_DIMS_ARGUMENTS,  /* of a plan without lists: offset, size, element_bytes, value (VALUE, EXPRESSION) */
	SK_DIMS_LISTS,	    /* the same, for the lists of a plan that has them */
	SK_DIMS_LOOPS,	    /* extent */
	SK_DIMS_TERMS,	    /* factor, addend, divisor, modulus */
	SK_DIMS_PATTERNS,   /* width, stride, count, inner_bytes, halo, table_stride, shape */
	SK_DIMS_PARTITIONS, /* extent, unit, rows */
	SK_DIMS_COSTS,	    /* values */
	SK_DIMS_TABLE_COUNT,
};

/* A field of 64 bits with a value. The record has the value's maximum. Sorted by table, record and offset; all three
 * together are unique. All values of one record depend on dimensions of one network. */
struct sk_dims_field {
	uint16_t table;	 /* enum sk_dims_table */
	uint16_t offset; /* of the field in its record, bytes */
	uint32_t record;
	uint32_t value;
	uint32_t reserved;
};

/* Values that code reads: slot k is the 64-bit word binding_count + k of the bindings (struct sk_core, and the
 * `tensors` of serial entries). The caller fills in all slots; code reads those of the values of its own network.
 * Arguments with space SK_SPACE_SIZES are addresses in the slots: lists of sizes that kernels read. */
struct sk_dims_slot {
	uint32_t value;
};

struct sk_dims {
	uint32_t magic;
	uint32_t version; /* SK_DIMS_VERSION */
	uint64_t size;	  /* of the whole section, this header included */
	struct sk_plan_table dimensions; /* struct sk_dims_dimension: those of a network are adjacent */
	struct sk_plan_table values;	 /* struct sk_dims_value */
	struct sk_plan_table fields;	 /* struct sk_dims_field */
	struct sk_plan_table slots;	 /* struct sk_dims_slot */
	struct sk_plan_table strings;	 /* bytes; the last one is NUL, every string is inside */
};

#endif
