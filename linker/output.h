/* What is written: output sections and their order, and the parts of the file. */
#ifndef SK_LINKER_OUTPUT_H
#define SK_LINKER_OUTPUT_H

#include "linker/section.h"

struct sk_linker;

/* The order of the output sections in the image. */
enum sk_rank {
	SK_RANK_WIDE_NOTE, /* notes padded to 8 bytes */
	SK_RANK_NOTE, /* to 4 */
	SK_RANK_HASH,
	SK_RANK_DYNAMIC_SYMBOLS,
	SK_RANK_DYNAMIC_NAMES,
	SK_RANK_VERSIONS,
	SK_RANK_READ_ONLY, /* synthetic; loading reads of it, as of all that stands before it */
	SK_RANK_RELOCATIONS,
	SK_RANK_READ_ONLY_DATA,
	SK_RANK_FRAME_HEADER,
	SK_RANK_FRAMES,
	SK_RANK_TEXT,
	SK_RANK_PLT,
	SK_RANK_THREAD_DATA, /* what the thread-local block of each thread is made from */
	SK_RANK_THREAD_ZERO_DATA,
	SK_RANK_INIT_ARRAY,
	SK_RANK_FINI_ARRAY,
	SK_RANK_RELRO_DATA,
	SK_RANK_DYNAMIC,
	SK_RANK_GOT,
	SK_RANK_RELRO_PADDING,
	SK_RANK_DATA,
	SK_RANK_ZERO_DATA,
	SK_RANK_CONSTANTS,
	SK_RANK_DEBUG,
	SK_RANK_NOT_LOADED,
	SK_RANK_COUNT,
};

static inline bool sk_is_thread_rank(enum sk_rank rank)
{
	return rank == SK_RANK_THREAD_DATA || rank == SK_RANK_THREAD_ZERO_DATA;
}

struct sk_output {
	const char *name;
	enum sk_rank rank;
	uint32_t type;
	uint64_t flags;
	uint64_t alignment, size, address, entry_size;
	uint64_t file_offset; /* equals the address if it is loaded */
	uint32_t number; /* in the section header table */
	uint32_t link, info;
	SK_ARRAY(struct sk_input_section *) sections;
	SK_ARRAY(Elf64_Rela) relocations; /* with -r: what is left to the next linker */
};

/* Sections that the linker itself makes. */
enum sk_made {
	SK_MADE_PROPERTIES,
	SK_MADE_BUILD_ID,
	SK_MADE_HASH,
	SK_MADE_GNU_HASH,
	SK_MADE_DYNAMIC_SYMBOLS,
	SK_MADE_DYNAMIC_NAMES,
	SK_MADE_VERSIONS,
	SK_MADE_DEFINED_VERSIONS,
	SK_MADE_NEEDED_VERSIONS,
	SK_MADE_RELOCATIONS,
	SK_MADE_FRAME_HEADER,
	SK_MADE_FRAMES,
	SK_MADE_PLT,
	SK_MADE_TRAPS,
	SK_MADE_TRAP_NAMES,
	SK_MADE_DYNAMIC,
	SK_MADE_GOT,
	SK_MADE_RELRO_PADDING,
	SK_MADE_COUNT,
};

typedef SK_ARRAY(uint8_t) sk_bytes;

/* .symtab and its names. With -r the symbols stand in this order: the null symbol, one for each output section, one for
 * each slot, the other local ones, undefined ones, exported ones. */
struct sk_symbol_table {
	SK_ARRAY(Elf64_Sym) symbols;
	sk_bytes names;
	uint32_t first_slot, first_global;
};

typedef SK_ARRAY(Elf64_Rela) sk_relocations;

/* ---- labels.c ---- */

/* Finds the labels of functions that have their name and their size in common with another one with a label. */
void sk_labels_choose(struct sk_linker *linker);

/* ---- section.c ---- */

/* Where a section of an object, a synthetic or a common one goes. */
enum sk_rank sk_section_rank(const struct sk_input_section *section);

/* The name of the output section that takes it. */
const char *sk_output_name(const struct sk_input_section *section);

/* ---- parts.c ---- */

/* The next part of the file. */
void sk_image_add(struct sk_linker *linker, uint64_t offset, const void *bytes, uint64_t size);

/* A section behind everything that is in the file. */
struct sk_output *sk_image_add_tail(struct sk_linker *linker, const char *name, uint32_t type, const void *bytes,
				    uint64_t size, uint64_t alignment);

/* Constants, and sections that are not loaded. */
void sk_image_add_uncopied(struct sk_linker *linker);

/* ---- image.c ---- */

/* .symtab's contents, once everything has its address; .symtab and .strtab; all headers. */
void sk_image_make_symbols(struct sk_linker *linker);
struct sk_output *sk_image_add_symbols(struct sk_linker *linker);
void sk_image_add_headers(struct sk_linker *linker);

/* ---- build-id.c ---- */

/* Of all parts of the file, when nothing but it and the seal is missing. Keeps the hash of constants. */
void sk_build_id_write(struct sk_linker *linker);

/* ---- dynamic.c ---- */

/* The size of .dynamic, once the output sections are known. */
uint64_t sk_dynamic_size(struct sk_linker *linker);

#endif
