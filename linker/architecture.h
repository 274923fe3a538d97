/* What the linker must know about an instruction set beside its relocations (format/relocation-types.h): what may be
 * rewritten, stubs, and what is the machine's own in ELF files. One const table per machine. */
#ifndef SK_LINKER_ARCHITECTURE_H
#define SK_LINKER_ARCHITECTURE_H

#include "format/import-row.h"
#include "format/relocation-types.h"
#include "linker/linker.h"

struct sk_property;

/* How two objects' values of a program property become the image's (notes.c). */
enum sk_property_rule {
	SK_PROPERTY_UNKNOWN, /* nobody can tell what it means for the image: dropped */
	SK_PROPERTY_MAXIMUM,
	SK_PROPERTY_ANY, /* without data: there if any object has it */
	SK_PROPERTY_AND, /* 0 for objects without it */
	SK_PROPERTY_OR,
	SK_PROPERTY_OR_IF_ALL, /* dropped if an object lacks it */
};

struct sk_property_range {
	uint32_t first, last; /* GNU_PROPERTY_… */
	enum sk_property_rule rule;
	uint32_t size; /* of the data */
};

/* Code without a frame that goes on in a function, with an address as its argument, and where in it both are wanted. */
struct sk_finalizer {
	struct sk_piece piece;
	uint64_t address, call; /* offsets of the fields */
	int64_t addend; /* of both */
};

struct sk_architecture {
	uint16_t machine; /* EM_… */
	const char *name;
	const char *emulation; /* what GNU ld calls it */
	uint64_t page_size; /* the largest that the system may use */
	uint8_t text_fill; /* for the gaps between functions */

	const struct sk_relocation_table *relocations;

	/* Whether the instruction before the field at `offset` can reach a symbol of the image without its GOT slot. */
	bool (*can_relax)(uint32_t type, const uint8_t *bytes, uint64_t offset, int64_t addend);
	/* Rewrites it and returns the offset of its field, which now wants S + A - P. */
	uint64_t (*relax)(uint8_t *bytes, uint64_t offset);
	/* Whether the instruction before the field at `offset` is the one that asks for a thread-local variable's
	 * descriptor. Rewrites it to read the variable's distance from the thread pointer; what then stands in the
	 * place of the call that the descriptor is passed to. */
	bool (*can_rewrite_descriptor)(uint32_t type, const uint8_t *bytes, uint64_t offset, int64_t addend);
	void (*rewrite_descriptor)(uint8_t *bytes, uint64_t offset);
	uint64_t no_descriptor_call;
	/* Whether the field at `offset` in code is that of a direct call or jump. */
	bool (*is_branch)(uint32_t type, const uint8_t *bytes, uint64_t offset);

	/* Whether the instruction before the field at `offset`, one that can be relaxed, calls or jumps to what the
	 * slot holds. */
	bool (*calls_slot)(uint32_t type, const uint8_t *bytes, uint64_t offset, int64_t addend);

	/* Program properties: the machine's own, what the code says that sklink makes, and the type whose bits are the
	 * instruction sets that code needs. */
	const struct sk_property_range *properties;
	uint32_t property_count;
	const struct sk_property *own_properties;
	uint32_t own_property_count;
	uint32_t isa_property;

	uint32_t unwind_section; /* SHT_… that .eh_frame may have beside SHT_PROGBITS, or that one */
	uint16_t far_common; /* SHN_… of common symbols that may lie anywhere, which no package can hold; SHN_UNDEF:
				none */

	const struct sk_import_list *imports; /* that only this machine's libraries have */

	uint32_t stub_size;
	/* A stub at `address` that jumps to what the GOT slot at `slot` holds. */
	void (*write_stub)(uint8_t *stub, uint64_t address, uint64_t slot);

	uint32_t trap_size; /* from one to the next: its code, and what fills that up */
	/* An instruction at `address` that is never executed and whose operand is the name at `name`. */
	void (*write_trap)(uint8_t *trap, uint64_t address, uint64_t name);

	struct sk_finalizer finalizer;
};

#define SK_MACHINE(name) extern const struct sk_architecture sk_architecture_##name;
#include "format/machines.def"
#undef SK_MACHINE

/* The architecture of an ELF machine, or NULL. */
const struct sk_architecture *sk_architecture_find(uint16_t machine);

#endif
