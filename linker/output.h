/* The output: its sections and segments, merged constants, exported names, unwind tables. */
#ifndef SK_LINKER_OUTPUT_H
#define SK_LINKER_OUTPUT_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "linker/linker.h"
#include "linker/object.h"

/* ==== output ====
 *
 * Output sections and their order, and the parts of the file. */

struct sk_linker;

/* The order of the output sections in the image. */
enum sk_rank {
	SK_RANK_WIDE_NOTE, /* notes padded to 8 bytes */
	SK_RANK_NOTE, /* to 4 */
	SK_RANK_HASH,
	SK_RANK_DYNAMIC_SYMBOLS,
	SK_RANK_DYNAMIC_NAMES,
	SK_RANK_VERSIONS,
	SK_RANK_READ_ONLY, /* synthetic; the loader reads of it, as of all sections before it */
	SK_RANK_RELOCATIONS,
	SK_RANK_READ_ONLY_DATA,
	SK_RANK_FRAME_HEADER,
	SK_RANK_FRAMES,
	SK_RANK_TEXT,
	SK_RANK_PLT,
	SK_RANK_THREAD_DATA, /* initial contents of each thread's thread-local block */
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
	SK_ARRAY(Elf64_Rela) relocations; /* with -r: those left to the next linker */
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
	SK_MADE_GUARD_TABLE,
	SK_MADE_DYNAMIC,
	SK_MADE_GOT,
	SK_MADE_RELRO_PADDING,
	SK_MADE_COUNT,
};

typedef SK_ARRAY(uint8_t) sk_bytes;

/* .symtab and its names. With -r the symbols stand in this order: the null symbol, one for each output section, one for
 * each slot, the other local ones, undefined ones, exported ones. */
struct sk_symbol_table {
	struct sk_arena *arena; /* of symbols and names */
	SK_ARRAY(Elf64_Sym) symbols;
	sk_bytes names;
	uint32_t first_slot, first_global;
};

typedef SK_ARRAY(Elf64_Rela) sk_relocations;

/* ---- labels.c ---- */

/* Choose the labels of functions that share their name and size with another labelled function. Temporary data is in
 * the arena. */
void sk_labels_choose(struct sk_linker *linker, struct sk_arena *arena);

/* ---- section.c ---- */

/* Return the rank for a section of an object, a synthetic or a common one. */
enum sk_rank sk_section_rank(const struct sk_input_section *section);

/* Return the name of the output section that takes it. */
const char *sk_output_name(const struct sk_input_section *section);

/* ---- parts.c ---- */

/* Add the next part of the file. */
void sk_image_add(struct sk_linker *linker, uint64_t offset, const void *bytes, uint64_t size);

/* Add a section after everything that is in the file. */
struct sk_output *sk_image_add_tail(struct sk_linker *linker, const char *name, uint32_t type, const void *bytes,
				    uint64_t size, uint64_t alignment);

/* Add constants, and sections that are not loaded. */
void sk_image_add_uncopied(struct sk_linker *linker);

/* ---- image.c ---- */

/* Make .symtab's contents, in the arena, once all addresses are known; then .symtab and .strtab; then all headers.
 * Another thread may fill the image meanwhile. */
void sk_image_make_symbols(struct sk_linker *linker, struct sk_arena *arena);
struct sk_output *sk_image_add_symbols(struct sk_linker *linker);
void sk_image_add_headers(struct sk_linker *linker);

/* ---- build-id.c ---- */

/* Write the build-id of all parts of the file, when only it and the seal are missing. Keeps the hash of constants. */
void sk_build_id_write(struct sk_linker *linker);

/* ---- dynamic.c ---- */

/* Return the size of .dynamic, once the output sections are known. */
uint64_t sk_dynamic_size(struct sk_linker *linker);

/* ==== exports.c ====
 *
 * The names that other programs see, and their versions. */

/* A line of the version script. */
struct sk_name_pattern {
	const char *text;
	struct sk_place place;
	uint16_t version; /* VER_NDX_GLOBAL, or that of one of linker->defined_versions, from SK_FIRST_VERSION */
	bool global;
	bool exact; /* a name, not a pattern */
};

/* A version that the version script defines. */
struct sk_defined_version {
	const char *name;
	SK_ARRAY(uint32_t) parents; /* in linker->defined_versions */
	uint32_t name_offset; /* in .dynstr */
};

enum { SK_FIRST_VERSION = 2 }; /* 0 and 1 are reserved: local and global */

/* Return the symbol without its name, after the layout. */
Elf64_Sym sk_exported_symbol(struct sk_linker *linker, sk_symbol symbol);

/* ==== frames.c ====
 *
 * Records of unwind tables (LSB 3.0, section 10.6) and their index: frames.c reads them and gives them their places,
 * frames-write.c writes them. */

enum {
	SK_FRAME_ID_OFFSET = 4, /* of the CIE pointer (0 in a CIE), after the length */
	SK_FRAME_START_OFFSET = 8, /* of the function's start in an FDE */
	SK_FRAME_TERMINATOR_SIZE = 4,
	SK_FRAME_HEADER_SIZE = 12,
	SK_FRAME_ENTRY_SIZE = 8,
};

/* Find each FDE's function and chain the FDEs to it. Called after the array has stopped moving. The linker knows the
 * symbols of synthetic sections; NULL: the frames are an object's. */
void sk_frames_attach(const struct sk_linker *linker, struct sk_frame *frames, uint64_t count);

/* Copy a live record, with its length and the distance to its CIE in the joined section. */
void sk_frame_copy(const struct sk_frame *frame, uint8_t *bytes);

/* Call visit for every record if any stays; the remaining ones are live. The second function leaves out those of
 * objects in which sk_scan has nothing to do. */
typedef void sk_frame_visitor(struct sk_linker *linker, struct sk_frame *frame);
void sk_frames_visit(struct sk_linker *linker, sk_frame_visitor *visit);
void sk_frames_visit_unscanned(struct sk_linker *linker, sk_frame_visitor *visit);

/* ==== layout.c ====
 *
 * Shared by the three files that lay out the image: outputs.c assigns sections to output sections, layout.c assigns
 * addresses, and segments.c makes the program headers. */

/* Regions of output sections with equal access: each has its own pages. */
enum sk_region {
	SK_REGION_READ_ONLY,
	SK_REGION_CODE,
	SK_REGION_RELRO,
	SK_REGION_WRITABLE,
	SK_REGION_CONSTANTS,
	SK_REGION_NOT_LOADED,
};

enum sk_region sk_region_of(enum sk_rank rank);

/* Put all live sections into output sections, in the order of the image. Return false if there are too many. */
bool sk_outputs_make(struct sk_linker *linker);

/* Make the program headers, once all addresses are known. */
void sk_segments_make(struct sk_linker *linker);

/* ---- thread-storage.c ---- */

/* Align the block's beginning as its variables require, before output sections have addresses. The second function,
 * after the layout, sets the block's addresses. */
void sk_thread_align(struct sk_linker *linker);
void sk_thread_place(struct sk_linker *linker);

/* ==== merge.c ====
 *
 * Equal strings and records, once. */

/* A string or a record, once. */
struct sk_merged_entry {
	const uint8_t *bytes;
	uint64_t offset; /* in the merged section */
	uint32_t size;
	uint32_t whole; /* the entry that it is the end of; itself: it stands alone */
};

/* Mergeable sections of one kind, merged. */
struct sk_merged {
	struct sk_input_section section;
	const char *output_name; /* of the merged sections */
	struct sk_map numbers; /* of entries, by contents */
	SK_ARRAY(struct sk_merged_entry) entries;
};

/* Mark the string or record at the offset of a live mergeable section as needed, or all of them. */
void sk_merge_mark(struct sk_arena *arena, struct sk_input_section *section, uint64_t offset);
void sk_merge_mark_all(struct sk_arena *arena, struct sk_input_section *section);

/* Find the new place of a byte of a mergeable section, after sk_merge. Return false if it was not needed and is not in
 * the image. */
bool sk_merge_find(const struct sk_input_section *section, uint64_t offset, uint64_t *merged_offset);

#endif
