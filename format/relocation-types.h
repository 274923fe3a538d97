/* The relocations of each machine: the expression that computes a type's value, the range of its field, and the
 * encoding of the field. A const table describes a machine; the linker, dispatchers and the re-emission of dispatchers
 * use it. */
#ifndef SK_RELOCATION_TYPES_H
#define SK_RELOCATION_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In the psABI's letters: S symbol, A addend, P place, G GOT slot, GOT its start, L the PLT entry or else S. The rows
 * of the table in scan.c have the same order. */
enum sk_expression {
	SK_EXPRESSION_NONE, /* nothing to do */
	SK_EXPRESSION_WORD, /* S + A in a whole address: the loader can compute it */
	SK_EXPRESSION_NARROW, /* S + A in fewer bytes */
	SK_EXPRESSION_RELATIVE, /* S + A - P */
	SK_EXPRESSION_CALL, /* L + A - P */
	SK_EXPRESSION_SLOT, /* G + A - P */
	SK_EXPRESSION_TABLE, /* GOT + A - P */
	SK_EXPRESSION_FROM_TABLE, /* S + A - GOT */
	SK_EXPRESSION_CALL_FROM_TABLE, /* L + A - GOT */
	SK_EXPRESSION_SLOT_FROM_TABLE, /* G + A - GOT */
	/* For thread-local variables: T is the distance of a place in the package's block from the thread pointer, B
	 * its offset in the block. */
	SK_EXPRESSION_THREAD, /* T + A, which is not known when linking */
	SK_EXPRESSION_THREAD_SLOT, /* G + A - P, with T in the slot */
	SK_EXPRESSION_DESCRIPTOR, /* G + A - P, where two slots lead to T: the instruction is rewritten to read T */
	SK_EXPRESSION_DESCRIPTOR_CALL, /* nothing to do, once the instruction has been rewritten */
	SK_EXPRESSION_THREAD_PAIR, /* G + A - P, where two slots have the operands of __tls_get_addr: the block, and B
				    */
	SK_EXPRESSION_BLOCK_PAIR, /* the same for the start of the block */
	SK_EXPRESSION_THREAD_OFFSET, /* B + A */
	SK_EXPRESSION_SIZE, /* of a symbol, + A */
	SK_EXPRESSION_COUNT,
	SK_EXPRESSION_UNSUPPORTED = SK_EXPRESSION_COUNT,
};

/* True if the addend is relative to a slot, and so does not give a place in the target. */
static inline bool sk_expression_is_slot(enum sk_expression expression)
{
	return expression == SK_EXPRESSION_SLOT || expression == SK_EXPRESSION_SLOT_FROM_TABLE;
}

struct sk_relocation_type {
	const char *name; /* NULL: there is no such type */
	enum sk_expression expression;
	uint8_t width; /* bytes of the field */
	int64_t minimum, maximum; /* range of the value; both 0: any value */
};

struct sk_relocation_table {
	const struct sk_relocation_type *types;
	uint32_t count;
	uint32_t relative32, call, address64, offset32; /* types of references in sections that sklink makes */
	uint32_t loader_relative, loader_import; /* types for the loader */
	uint32_t loader_block, loader_distance; /* of thread-local storage: the block, and T */
	/* Write a value that fits, for a type of the table. `place` is the address of the field, which affects the
	 * encoding on some machines. */
	void (*write)(uint32_t type, uint8_t *field, uint64_t value, uint64_t place);
};

#define SK_MACHINE(name) extern const struct sk_relocation_table sk_relocations_##name;
#include "format/machines.def"
#undef SK_MACHINE

/* Return the type, or NULL. */
static inline const struct sk_relocation_type *sk_relocation_type_find(const struct sk_relocation_table *table,
								       uint32_t type)
{
	return type < table->count && table->types[type].name ? &table->types[type] : NULL;
}

/* Write the value into the field at `place`, for a type of the table. False: it does not fit. */
static inline bool sk_relocation_apply(const struct sk_relocation_table *table, uint32_t type, uint8_t *field,
				       uint64_t value, uint64_t place)
{
	const struct sk_relocation_type *it = &table->types[type];

	if (it->minimum != it->maximum && ((int64_t)value < it->minimum || (int64_t)value > it->maximum))
		return false;
	table->write(type, field, value, place);
	return true;
}

#endif
