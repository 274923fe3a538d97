/* The data of a link. Everything lives in the link's arena, except mapped files, which the linker unmaps when it is
 * destroyed. passes.h says who fills what. */
#ifndef SK_LINKER_LINK_H
#define SK_LINKER_LINK_H

#include "base/file.h"
#include "linker/exports.h"
#include "linker/merge.h"
#include "linker/object.h"
#include "linker/output.h"
#include "linker/relocation.h"
#include "linker/state.h"
#include "linker/symbol.h"

/* A section from sk_linker_add_section. */
struct sk_synthetic {
	struct sk_input_section section;
	enum sk_section_kind kind;
	SK_ARRAY(Elf64_Rela) relocations; /* r_info holds the kind until sk_linker_link, then the machine's type */
};

struct sk_input {
	const char *path;
	bool archive, whole;
	bool is_library; /* -l names it */
	bool intermediate; /* has members of intermediate code only */
	uint32_t first_object, object_count;
	uint32_t unasked; /* bytes of a small object whose device and inode nobody has asked for; 0: they are known */
	struct sk_map *local_functions; /* -> linker->local_functions; NULL before somebody asks */
};

/* A file that the caller has read. */
struct sk_dependency {
	const char *path;
	bool listed; /* in the rule for make */
};

/* Why a member of an archive takes part. */
struct sk_extraction {
	const char *needed_by; /* an object, or what is in its place */
	const struct sk_object *object;
	const char *symbol;
};

/* A kernel, and who calls it. */
struct sk_ordered {
	sk_symbol code;
	const char *caller; /* or NULL */
};

/* A symbol whose address a kernel is handed. */
struct sk_handed {
	struct sk_ordered kernel;
	sk_symbol symbol;
};

/* A function that is to begin at a multiple of a number. */
struct sk_aligned {
	sk_symbol code;
	uint32_t alignment;
};

/* What each thread's block of thread-local variables is made from. The block's beginning is that of the image. */
struct sk_thread_image {
	bool exists;
	bool is_static; /* blocks must be at one distance from the thread pointer in every thread */
	uint64_t start, file_end, end; /* addresses; what is behind file_end is zero and takes none in the package */
	uint64_t alignment;
	struct sk_input_section base; /* empty, for _TLS_MODULE_BASE_ to lie in */
	sk_symbol destructors[2]; /* functions by which objects ask for destructors, or SK_NONE */
};

/* What tells a function from others of its name. */
struct sk_label {
	sk_symbol code;
	const char *text;
	bool needed; /* there are others (labels.c) */
};

enum { SK_RECENT_MERGED = 32 };

/* The constants of the file. */
struct sk_constants_hash {
	uint64_t offset, size; /* none: 0 */
	uint8_t hash[16]; /* XXH3-128, canonical */
};

struct sk_linker {
	struct sk_arena *arena;
	struct sk_diag *diag;
	struct sk_reader reader; /* with this arena and this sink */
	struct sk_linker_options options;
	const struct sk_architecture *architecture; /* NULL before the first object */

	SK_ARRAY(struct sk_input) inputs;
	struct sk_map input_numbers; /* by device and inode, if they are known */
	uint32_t identified; /* of so many inputs they are */
	struct sk_ahead *ahead; /* threads that read, or what they have read; NULL: none */
	SK_ARRAY(struct sk_file) files;
	const char *map_end; /* what the caller adds to the map; NULL: nothing */
	SK_ARRAY(struct sk_dependency) dependencies; /* files that only the caller reads */
	SK_ARRAY(struct sk_object *) objects;
	SK_ARRAY(struct sk_linker_symbol) symbols;
	struct sk_map symbol_numbers;
	SK_ARRAY(struct sk_definition) definitions;
	SK_ARRAY(struct sk_local_function) local_functions;
	SK_ARRAY(sk_symbol) wanted; /* a queue: what comes behind wanted_done has not been looked for */
	size_t wanted_done;
	SK_ARRAY(sk_symbol) required;
	SK_ARRAY(struct sk_extraction) extractions;
	SK_ARRAY(sk_symbol) handed; /* whose addresses the caller hands to functions */
	struct sk_map wrapped; /* names */
	struct sk_map ifunc_names; /* -> ifunc_choices */
	SK_ARRAY(struct sk_ifunc_choice) ifunc_choices;
	SK_ARRAY(struct sk_name_pattern) patterns; /* of the version script */
	struct sk_map exact_patterns; /* by name */
	SK_ARRAY(struct sk_defined_version) defined_versions;
	SK_ARRAY(sk_symbol) versioned; /* foo@V2, which stand for foo */
	struct sk_map groups; /* signatures of COMDAT groups, and names of linkonce sections, that have been given */
	SK_ARRAY(struct sk_section_range *) ranges;
	struct sk_map range_numbers; /* by name */
	uint32_t isa; /* instruction sets that any pulled object needs */
	bool executable_stack; /* a pulled object wants one */
	uint32_t needed_isa; /* that the caller says the image needs */

	SK_ARRAY(struct sk_input_section *) states;
	struct sk_input_section library_state; /* stands for what functions of the C library keep; in no output */
	struct sk_reached reached;
	SK_ARRAY(struct sk_input_section *) work; /* of searches from kernels; empty between them */
	uint32_t visit; /* number of the current search */
	uint32_t seen; /* what a search with this number or a higher one has come by is done */

	SK_ARRAY(struct sk_synthetic *) synthetic; /* by sk_section */
	struct sk_frame *frames; /* of the synthetic .eh_frame sections */
	uint32_t frame_count;
	SK_ARRAY(struct sk_ordered) order;
	SK_ARRAY(struct sk_handed) handed_in_order; /* what they are handed */
	SK_ARRAY(struct sk_aligned) aligned;
	SK_ARRAY(struct sk_label) labels;
	SK_ARRAY(struct sk_name) listed; /* symbols of the ordering file */
	SK_ARRAY(struct sk_input_section *) first; /* their sections, in that order */
	SK_ARRAY(struct sk_input_section *) copies; /* of sections of code */
	SK_ARRAY(struct sk_frame *) copied_frames;
	struct sk_map copy_numbers; /* by original and number */
	uint64_t copied_size;
	uint32_t first_origin; /* kernel k of the order, or behind them what k is handed, was the first to reach
				  sections whose visit is k more; 0: unknown */

	struct sk_collecting *collecting; /* what has been collected ahead; NULL: nothing */

	/* Of sk_linker_link. */
	SK_ARRAY(struct sk_input_section *) commons;
	SK_ARRAY(struct sk_merged *) merged;
	struct sk_merged *recent_merged[SK_RECENT_MERGED]; /* where sections have gone last, by what merge.c says */
	struct sk_map merged_numbers;
	SK_ARRAY(struct sk_got_slot) slots;
	SK_ARRAY(sk_symbol) stubs;
	SK_ARRAY(sk_symbol) traps;
	SK_ARRAY(sk_symbol) imported; /* in the order of their use */
	SK_ARRAY(sk_symbol) exported;
	SK_ARRAY(sk_symbol) undefined; /* that nothing can be found for */
	SK_ARRAY(struct sk_user) users;
	struct sk_map thread_slots; /* by what is asked for */
	struct sk_thread_image thread;
	uint64_t address_count, import_address_count; /* words for the loader to write */
	struct sk_input_section made[SK_MADE_COUNT];
	sk_bytes dynamic_names;
	uint32_t *dynamic_name_offsets; /* by number in .dynsym */
	struct sk_version *versions; /* that imports have */
	uint32_t version_count, library_count;
	uint32_t base_version; /* in .dynstr */
	uint32_t soname; /* in .dynstr */
	SK_ARRAY(struct sk_output *) outputs;
	struct sk_map output_numbers;
	struct sk_output *recent_outputs[SK_RANK_COUNT]; /* the last one that a section has gone to */
	SK_ARRAY(Elf64_Phdr) segments;
	uint64_t loaded_size; /* file bytes of everything that is loaded before the constants: what `image` holds */
	uint8_t *image;
	struct sk_constants_hash constants_hash;
	const struct sk_input_section *uncopied; /* its bytes are its part of the image; NULL: there is none */
	sk_relocations relative, import_relocations;
	struct sk_symbol_table symbol_table;
	SK_ARRAY(struct sk_file_part) parts; /* of the file, in order */
	uint64_t file_size;
	uint64_t input_size; /* bytes of all inputs */
	uint64_t decompressed; /* bytes of debug sections */
};

/* The symbol that this one stands for; most stand for themselves. */
static inline sk_symbol sk_alias_follow(const struct sk_linker *linker, sk_symbol symbol)
{
	while (linker->symbols.items[symbol].alias != SK_NONE)
		symbol = linker->symbols.items[symbol].alias;
	return symbol;
}

static inline uint8_t *sk_image_at(const struct sk_linker *linker, const struct sk_input_section *section)
{
	return section == linker->uncopied ? (uint8_t *)(uintptr_t)section->bytes : linker->image + section->address;
}

static inline bool sk_is_made(const struct sk_linker *linker, enum sk_made made)
{
	return linker->made[made].output != NULL;
}

#endif
