/* What the linker must know about an instruction set: how each relocation type computes its value (an expression, which
 * common code evaluates), which values fit, and how the bits are written. One const table per machine. */
#ifndef SK_LINKER_ARCHITECTURE_H
#define SK_LINKER_ARCHITECTURE_H

#include <stdbool.h>
#include <stdint.h>

/* In the psABI's letters: S symbol, A addend, P place, G GOT slot, GOT its start, L the PLT stub or else S. The order
 * is that of the rows of the table in scan.c. */
enum sk_expression {
	SK_EXPRESSION_NONE, /* nothing to do */
	SK_EXPRESSION_WORD, /* S + A in a whole address: the loader can do it */
	SK_EXPRESSION_NARROW, /* S + A in less */
	SK_EXPRESSION_RELATIVE, /* S + A - P */
	SK_EXPRESSION_CALL, /* L + A - P */
	SK_EXPRESSION_SLOT, /* G + A - P */
	SK_EXPRESSION_TABLE, /* GOT + A - P */
	SK_EXPRESSION_FROM_TABLE, /* S + A - GOT */
	SK_EXPRESSION_THREAD, /* any form of thread-local storage */
	SK_EXPRESSION_SIZE, /* of a symbol, + A */
	SK_EXPRESSION_COUNT,
	SK_EXPRESSION_UNSUPPORTED = SK_EXPRESSION_COUNT,
};

struct sk_relocation_type {
	const char *name; /* NULL: there is no such type */
	enum sk_expression expression;
	uint8_t width; /* bytes that are written */
	bool relaxable;
	int64_t minimum, maximum; /* of the value; both 0: any */
};

struct sk_architecture {
	uint16_t machine; /* EM_… */
	const char *name;
	uint64_t page_size; /* the largest that the system may use */
	uint8_t text_fill; /* for the gaps between functions */

	const struct sk_relocation_type *types;
	uint32_t type_count;
	uint32_t relative32, call, address64, offset32; /* types that sk_linker_relocate uses */
	uint32_t loader_relative, loader_import; /* types for the loader */

	/* Whether the instruction before the field at `offset` can reach a symbol of the image without its GOT slot. */
	bool (*can_relax)(uint32_t type, const uint8_t *bytes, uint64_t offset, int64_t addend);
	/* Rewrites it and returns the offset of its field, which now wants S + A - P. */
	uint64_t (*relax)(uint8_t *bytes, uint64_t offset);
	/* Whether the field at `offset` in code is that of a direct call or jump. */
	bool (*is_branch)(uint32_t type, const uint8_t *bytes, uint64_t offset);
	void (*write)(uint32_t type, uint8_t *field, uint64_t value);

	uint32_t stub_size;
	/* A stub at `address` that jumps to what the GOT slot at `slot` holds. */
	void (*write_stub)(uint8_t *stub, uint64_t address, uint64_t slot);
};

extern const struct sk_architecture sk_x86_64;

/* The architecture of an ELF machine, or NULL. */
const struct sk_architecture *sk_architecture_find(uint16_t machine);

/* The type, or NULL. */
static inline const struct sk_relocation_type *sk_relocation_type_find(const struct sk_architecture *architecture,
								       uint32_t type)
{
	return type < architecture->type_count && architecture->types[type].name ? &architecture->types[type] : 0;
}

#endif
