/* Relocations of sections: what each refers to, by which way code reaches that, and what is done about it. */
#ifndef SK_LINKER_RELOCATION_H
#define SK_LINKER_RELOCATION_H

#include "format/relocation-types.h"
#include "linker/symbol.h"

struct sk_linker;

/* What a relocation refers to. The order is that of the columns of the table in scan.c. */
enum sk_target_kind {
	SK_TARGET_DEFINED, /* in a section of the image */
	SK_TARGET_ABSOLUTE, /* a number */
	SK_TARGET_IMPORT, /* of a function */
	SK_TARGET_DATA, /* import of data */
	SK_TARGET_WEAK, /* undefined, weakly: 0 */
	SK_TARGET_THREAD_LOCAL,
	SK_TARGET_THREAD_IMPORT, /* import of a thread-local variable */
	SK_TARGET_INDIRECT, /* IFUNC */
	SK_TARGET_KIND_COUNT,
	SK_TARGET_UNDEFINED = SK_TARGET_KIND_COUNT,
	SK_TARGET_MISSING, /* in a section that is not in the image */
	SK_TARGET_OUTSIDE, /* behind the end of a mergeable section, or before its start */
};

static inline bool sk_is_import(enum sk_target_kind kind)
{
	return kind == SK_TARGET_IMPORT || kind == SK_TARGET_DATA || kind == SK_TARGET_THREAD_IMPORT;
}

struct sk_target {
	enum sk_target_kind kind;
	sk_symbol symbol; /* SK_NONE: a local one */
	struct sk_input_section *section; /* NULL: in none, as SK_TARGET_ABSOLUTE and what is not defined */
	uint64_t value; /* offset in it, or the absolute value */
	uint64_t offset; /* in the object's section: what is meant, with an addend that selects a string or record */
	bool folded; /* another section stands for the one that is meant */
};

/* What a word of the GOT holds. */
enum sk_slot_kind {
	SK_SLOT_ADDRESS, /* of a place, or an absolute value */
	SK_SLOT_DISTANCE, /* from the thread pointer, of a place in the package's thread-local block, or of an import */
	SK_SLOT_BLOCK, /* what __tls_get_addr knows the block by; the next word holds an offset in it */
	SK_SLOT_OFFSET,
};

/* A word of the GOT. With -r: a place that relocations must name by a symbol of its own. */
struct sk_got_slot {
	enum sk_slot_kind kind;
	sk_symbol symbol; /* SK_NONE: a local symbol, or the word that is reserved for _GLOBAL_OFFSET_TABLE_ */
	const struct sk_input_section *section;
	uint64_t value;
};

/* ---- target.c ---- */

/* What a relocation of the section refers to, or a symbol. */
struct sk_target sk_relocation_target(struct sk_linker *linker, const struct sk_input_section *section,
				      const sk_elf_relocation *relocation);
struct sk_target sk_symbol_target(struct sk_linker *linker, sk_symbol symbol);

/* The name of what a relocation of the section refers to, for messages. */
const char *sk_relocation_name(const struct sk_linker *linker, const struct sk_input_section *section,
			       const sk_elf_relocation *relocation);

/* Whether a GOT access of a live section is rewritten to reach the symbol directly. */
bool sk_is_relaxed(const struct sk_linker *linker, const struct sk_input_section *section,
		   const sk_elf_relocation *relocation, const struct sk_target *target);

/* The GOT slot of a target, or SK_NONE. */
uint32_t sk_slot_of(const struct sk_linker *linker, const struct sk_input_section *section,
		    const sk_elf_relocation *relocation, const struct sk_target *target);

/* ---- undefined.c ---- */

/* The relocation uses a symbol that nothing defines: a trap serves a call, if the user wants that; else it is missing.
 */
void sk_undefined_use(struct sk_linker *linker, const struct sk_input_section *section,
		      const sk_elf_relocation *relocation, sk_symbol symbol);

/* The command line or the manifest requires a symbol that nothing defines. */
void sk_undefined_require(struct sk_linker *linker, sk_symbol symbol);

/* Errors for those that are missing, and warnings about traps, if the user wants those. */
void sk_undefined_report(struct sk_linker *linker);

/* ---- traps.c ---- */

/* Whether the user wants calls of this undefined symbol to lead to traps. */
bool sk_trap_is_wanted(const struct sk_linker *linker, sk_symbol symbol);

/* Whether the relocation is that of a call or jump, which a trap can be the target of. */
bool sk_trap_serves(const struct sk_linker *linker, const struct sk_input_section *section,
		    const sk_elf_relocation *relocation);

/* The undefined symbol has a trap. */
void sk_trap_add(struct sk_linker *linker, sk_symbol symbol);
uint64_t sk_trap_address(const struct sk_linker *linker, sk_symbol symbol);

void sk_traps_write(struct sk_linker *linker);

/* ---- thread-storage.c ---- */

/* Whether the relocation belongs to an access to a thread-local variable. */
bool sk_is_thread_expression(enum sk_expression expression);

/* Before any relocation is looked at: which symbols C++ calls for a thread-local object that has a destructor. */
void sk_thread_destructors_find(struct sk_linker *linker);
bool sk_is_thread_destructor(const struct sk_linker *linker, sk_symbol symbol);

/* The slots that the relocation of a thread-local variable needs; the first of them. */
void sk_thread_slots_need(struct sk_linker *linker, enum sk_expression expression, const struct sk_target *target);
uint32_t sk_thread_slot_of(const struct sk_linker *linker, enum sk_expression expression,
			   const struct sk_target *target);

/* The offset of a place in the package's thread-local block. */
uint64_t sk_thread_offset(const struct sk_linker *linker, const struct sk_input_section *section, uint64_t value);

/* ---- scan.c ---- */

/* Whether the relocation may ask for more than a value that is known when linking: sk_scan has to look at it. */
bool sk_needs_scan(const struct sk_linker *linker, const struct sk_input_section *section,
		   const sk_elf_relocation *relocation, const struct sk_target *target);

/* With -r: whether the relocation must name its target by a symbol of the target's own, since section and offset would
 * not do: in a GOT access, and where a string or record is meant that the next linker may move. */
bool sk_needs_symbol(const struct sk_linker *linker, const struct sk_input_section *section,
		     const sk_elf_relocation *relocation, const struct sk_target *target);

/* ---- relocate.c ---- */

/* Writes the value into a field, if it fits, which is at `place` in the image. */
void sk_relocate_field(struct sk_linker *linker, const struct sk_input_section *section,
		       const sk_elf_relocation *relocation, uint8_t *field, uint64_t value, uint64_t place);

/* Applies one relocation: `bytes` are those of the whole section (or record), that stand at `address` in the image and
 * begin at `base` in the section. */
void sk_relocate_one(struct sk_linker *linker, const struct sk_input_section *section,
		     const sk_elf_relocation *relocation, uint8_t *bytes, uint64_t base, uint64_t address);

/* ---- relocatable-emit.c ---- */

/* Resolves a relocation of a section into its bytes, as far as the value is known, or leaves it to the next linker. */
void sk_relocatable_emit(struct sk_linker *linker, const struct sk_input_section *section,
			 const sk_elf_relocation *relocation, uint8_t *bytes);

/* The same with a record of an unwind table, if it is live, and its relocations. */
void sk_relocatable_emit_frame(struct sk_linker *linker, struct sk_frame *frame);

#endif
