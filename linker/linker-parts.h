/* One link: its passes in their order, its state, the functions of a machine, and the functions of the passes in the
 * order of the passes. */
#ifndef SK_LINKER_LINKER_PARTS_H
#define SK_LINKER_LINKER_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/file.h"
#include "base/map.h"
#include "format/import-row.h"
#include "format/relocation-types.h"
#include "linker/linker.h"
#include "linker/object.h"
#include "linker/output.h"

struct sk_ahead;
struct sk_collecting;
struct sk_linker;
struct sk_property;
struct sk_reading;
struct sk_version;

/* ==== passes ====
 *
 * The passes of a link, in this order; start here to find a part of it. The input is in object.h, the output in
 * output.h.
 *
 *   read.c     reads or maps files, walks archives (archive.c), opens objects; in several threads (ahead.c)
 *   input.c    makes read files inputs of the link, in command-line order, and enters their symbols
 *   object.c   validates once, so that later passes can trust: every check of an object's bytes is here, in load.c,
 *              and in frames.c for .eh_frame
 *   symbols.c  interns names and keeps their definitions
 *   aliases.c  names to which the command line gives another meaning
 *   ifuncs.c   chooses the functions of IFUNCs
 *   resolve.c  pulls members and chooses definitions
 *   panics.c   the functions of Rust that are traps in any case
 *   finalizer.c  destroys static objects when the package is unloaded
 *   synthetic.c  sections that do not come from inputs
 *   landmarks.c  names that linkers define, such as _end
 *   version-script.c  reads which names are to be exported; exports.c finds and exports them
 *   kernels.c  lookups for the other parts of sklink: functions by name, signatures
 *   functions.c  which symbols can be kernels, and local ones by name
 *   state.c    the hidden state and instruction sets that a function reaches
 *   copies.c   copies of functions
 *   ranges.c   __start_NAME and __stop_NAME
 *   constructors.c  chooses the constructors that reached code needs
 *   collect.c  marks reached sections, first those of kernels; why-live.c prints the references that reach them
 *   ordering.c reads the symbol ordering file and finds its sections
 *   notes.c    joins the program properties of reached objects and keeps their notes
 *   debug.c    keeps the debug information of reached objects; debug-write.c writes it
 *   merge.c    joins equal strings and records
 *   icf.c      folds equivalent sections; significance.c and refine.c help
 *   frames.c   chooses and places the unwind tables' records; frames-write.c writes them
 *   scan.c     classifies the relocations of live sections: GOT slots, PLT stubs, dynamic relocations, every refusal
 *   undefined.c  undefined symbols: their users, and suggestions
 *   traps.c    code in place of undefined functions, addresses in place of other undefined symbols
 *   thread-storage.c  slots for thread-local variables, and the image of their blocks
 *   dynamic.c  symbol, hash, version and dynamic tables
 *   outputs.c  output sections; layout.c, their addresses; segments.c, the program headers (output.h)
 *   relocate.c computes the expressions; the machine's table of relocations writes the bits
 *   image.c    the bytes of the file, the symbol table, the build-id
 *   labels.c   distinguishes functions of one name in the symbol table
 *   relocatable.c  with -r, instead of dynamic.c and relocate.c: an object with the remaining relocations, which
 *              relocatable-emit.c makes
 *   parts.c    the parts of the file
 *   write.c    the file
 *
 * Used by several of them:
 *
 *   section.c  kind, place and name of a section (object.h)
 *   target.c   the target of a relocation (linker-parts.h)
 *   imports.c  the C library's functions and objects for packages (object.h)
 *
 * Printed for users (object.h):
 *
 *   texts.c    the map, the dependencies, and lines on decisions of the link
 *   demangle.c names as programmers write them
 *   cref.c     the definers and users of each name
 *   reach.c    how much of the image code reaches
 *   statistics.c  counts */

/* ==== state of a link ====
 *
 * The data of a link. Everything is in the link's arena, except mapped files, which the linker unmaps when it is
 * destroyed. The list of passes above says which of them fills which part. */

/* A section from sk_linker_add_section. */
struct sk_synthetic {
	struct sk_input_section section;
	enum sk_section_kind kind;
	SK_ARRAY(Elf64_Rela) relocations; /* r_info holds the kind until sk_linker_choose, then the machine's type */
};

struct sk_input {
	const char *path;
	bool archive, whole;
	bool is_library; /* from -l */
	bool intermediate; /* has members of intermediate code only */
	uint32_t first_object, object_count;
	uint32_t unasked; /* size of a small object, if its device and inode are not known; or 0 */
	struct sk_map *local_functions; /* -> linker->local_functions; NULL before the first lookup */
};

/* A file that the caller has read. */
struct sk_dependency {
	const char *path;
	bool listed; /* in the rule for make */
};

/* Why a member of an archive takes part. */
struct sk_extraction {
	const char *needed_by; /* an object, or a text such as the command line */
	const struct sk_object *object;
	const char *symbol;
};

/* A kernel and its caller. */
struct sk_ordered {
	sk_symbol code;
	const char *caller; /* or NULL */
};

/* A symbol that is passed to a kernel by address. */
struct sk_handed {
	struct sk_ordered kernel;
	sk_symbol symbol;
};

/* A function with an alignment. */
struct sk_aligned {
	sk_symbol code;
	uint32_t alignment;
};

/* The initial contents of each thread's block of thread-local variables. The block begins where the image of it
 * does. */
struct sk_thread_image {
	bool exists;
	bool is_static; /* blocks must be at one distance from the thread pointer in every thread */
	uint64_t start, file_end, end; /* addresses; the bytes from file_end on are zero and not in the file */
	uint64_t alignment;
	struct sk_input_section base; /* empty; holds _TLS_MODULE_BASE_ */
	sk_symbol destructors[2]; /* functions by which objects register thread-local destructors, or SK_NONE */
};

/* Distinguishes a function from others of its name. */
struct sk_label {
	sk_symbol code;
	const char *text;
	bool needed; /* there are others (labels.c) */
};

/* An undefined symbol of which a use ends the launch. */
struct sk_trapped {
	sk_symbol symbol;
	const char *text; /* its name in .sk.traps */
	const char *root; /* a kernel, or else a constructor, that leads to a use by the fewest references, or NULL */
	bool constructor; /* it is a constructor or destructor */
	uint32_t distance; /* the number of these references */
	const struct sk_user *user; /* that use */
};

enum { SK_RECENT_MERGED = 32 };

/* Places in the image that have names. */
enum sk_landmark {
	SK_LANDMARK_START,
	SK_LANDMARK_CODE_END,
	SK_LANDMARK_DATA_END,
	SK_LANDMARK_ZERO_START,
	SK_LANDMARK_END,
	SK_LANDMARK_INIT_START,
	SK_LANDMARK_INIT_END,
	SK_LANDMARK_FINI_START,
	SK_LANDMARK_FINI_END,
	SK_LANDMARK_COUNT,
};

/* The constants of the file. */
struct sk_constants_hash {
	uint64_t offset, size; /* 0: no constants */
	uint8_t hash[16]; /* XXH3-128, canonical */
};

/* The contents of a word of the GOT. */
enum sk_slot_kind {
	SK_SLOT_ADDRESS, /* of a place, or an absolute value */
	SK_SLOT_DISTANCE, /* from the thread pointer, of a place in the package's thread-local block, or of an import */
	SK_SLOT_BLOCK, /* the block's identity for __tls_get_addr; the next word holds an offset in it */
	SK_SLOT_OFFSET,
};

/* A word of the GOT. With -r: a place that relocations must name by a symbol of its own. */
struct sk_got_slot {
	enum sk_slot_kind kind;
	sk_symbol symbol; /* SK_NONE: a local symbol, or the word that is reserved for _GLOBAL_OFFSET_TABLE_ */
	const struct sk_input_section *section;
	uint64_t value;
};

/* ---- results on the sections that functions reach: the components that state.c finds ---- */

/* A section that has been reached from a function. */
struct sk_reached_section {
	struct sk_input_section *section;
	uint32_t low; /* the lowest node of an open component that it is known to lead to */
	uint32_t component;
	const char *barrier; /* a barrier that it refers to, or NULL */
};

/* Sections that reach one another, so that they all reach the same sections. */
struct sk_component {
	SK_ARRAY(struct sk_input_section *) states; /* hidden states among them */
	SK_ARRAY(uint32_t)
	targets; /* other components of interest that they lead to directly */
	SK_ARRAY(uint32_t) answer; /* numbers of all states that they lead to; filled at the first question */
	bool answered;
	const char *barrier; /* a barrier that one of them, or a component that they lead to, refers to, or NULL */
	struct sk_input_section *thread_storage; /* thread-local section that they lead to, or NULL */
	bool stateful; /* it contains or leads to states */
	uint32_t group; /* number of the joined states that contain all states it leads to; 0: not joined */
	uint32_t isa; /* levels needed by the objects of the sections that they lead to */
	uint32_t search; /* the last search that visited it */
};

/* A section on the path from a function to the section being looked at. */
struct sk_path_step {
	uint32_t node;
	uint32_t next; /* number of its target that is looked at next */
	size_t first_target; /* height of the stack of targets before */
};

/* Hidden states that count as one: a set of a union-find forest. */
struct sk_state_group {
	uint32_t parent; /* its own number: it has not been joined with another set */
	uint32_t search; /* the last search that visited it */
	struct sk_input_section *state; /* represents all of them; NULL until it is first needed */
	bool has_library; /* one of the joined components leads to the C library's state */
};

struct sk_reached {
	SK_ARRAY(struct sk_reached_section) nodes;
	SK_ARRAY(struct sk_component) components;
	SK_ARRAY(struct sk_state_group) groups; /* the first one is unused */
	/* Stacks, empty between searches. */
	SK_ARRAY(struct sk_path_step) path;
	SK_ARRAY(uint32_t) open; /* nodes without a complete component */
	SK_ARRAY(uint32_t) targets; /* components that they lead to */
	uint32_t search; /* number of the last search among components */
	uint32_t import_search; /* the last search that visited the C library's state */
};

struct sk_linker {
	struct sk_arena *arena;
	struct sk_diag *diag;
	struct sk_reader reader; /* with this arena and this sink */
	struct sk_linker_options options;
	const struct sk_architecture *architecture; /* NULL before the first object */

	SK_ARRAY(struct sk_input) inputs;
	struct sk_map input_numbers; /* by device and inode, if they are known */
	uint32_t identified; /* number of inputs entered there */
	struct sk_ahead *ahead; /* threads that read ahead, and their results; NULL: none */
	SK_ARRAY(struct sk_file) files;
	const char *map_end; /* text that the caller adds to the map; NULL: none */
	SK_ARRAY(struct sk_dependency) dependencies; /* files that only the caller reads */
	SK_ARRAY(struct sk_object *) objects;
	SK_ARRAY(struct sk_linker_symbol) symbols;
	struct sk_map symbol_numbers;
	SK_ARRAY(struct sk_definition) definitions;
	SK_ARRAY(struct sk_local_function) local_functions;
	SK_ARRAY(sk_symbol) wanted; /* a queue: symbols from wanted_done on have not been looked for */
	size_t wanted_done;
	SK_ARRAY(sk_symbol) required;
	SK_ARRAY(struct sk_extraction) extractions;
	SK_ARRAY(sk_symbol) handed; /* their addresses are passed to functions */
	struct sk_map wrapped; /* names */
	struct sk_map ifunc_names; /* -> ifunc_choices */
	SK_ARRAY(struct sk_ifunc_choice) ifunc_choices;
	SK_ARRAY(struct sk_name_pattern) patterns; /* of the version script */
	struct sk_map exact_patterns; /* by name */
	SK_ARRAY(struct sk_defined_version) defined_versions;
	SK_ARRAY(sk_symbol) versioned; /* foo@V2, which stand for foo */
	struct sk_map groups; /* signatures of COMDAT groups and names of linkonce sections already seen */
	SK_ARRAY(struct sk_section_range *) ranges;
	struct sk_map range_numbers; /* by name */
	uint32_t isa; /* instruction sets that any pulled object needs */
	bool executable_stack; /* a pulled object needs one */
	bool panics; /* there is code of Rust that can panic */
	SK_ARRAY(sk_symbol) panic_functions; /* those with definitions that are still to be dropped */
	bool isolates; /* some object is isolated */
	bool *isolated_used; /* by pattern of the options: an object has such a name */
	bool told_isolation;
	SK_ARRAY(struct sk_duplicate) duplicates;
	size_t replaced_weak; /* number of definitions when weak ones were last replaced */
	SK_ARRAY(struct sk_hook) hooks; /* of pulled objects; those from hooks_done on have not been looked for */
	size_t hooks_done;
	uint32_t needed_isa; /* instruction sets that the caller says the image needs */

	SK_ARRAY(struct sk_input_section *) states;
	struct sk_input_section library_state; /* stands for the C library's state; in no output section */
	struct sk_reached reached;
	SK_ARRAY(struct sk_input_section *) work; /* of searches from kernels; empty between them */
	uint32_t visit; /* number of the current search */
	uint32_t seen; /* sections visited by a search with this number or a higher one are done */

	SK_ARRAY(struct sk_synthetic *) synthetic; /* by sk_section */
	struct sk_frame *frames; /* of the synthetic .eh_frame sections */
	uint32_t frame_count;
	SK_ARRAY(struct sk_ordered) order;
	SK_ARRAY(struct sk_handed) handed_in_order; /* symbols passed to them */
	SK_ARRAY(struct sk_aligned) aligned;
	SK_ARRAY(struct sk_label) labels;
	SK_ARRAY(struct sk_name) listed; /* symbols of the ordering file */
	SK_ARRAY(struct sk_input_section *) first; /* their sections, in that order */
	SK_ARRAY(struct sk_input_section *) copies; /* of sections of code */
	SK_ARRAY(struct sk_frame *) copied_frames;
	struct sk_map copy_numbers; /* by original and number */
	uint64_t copied_size;
	uint32_t first_origin; /* a section with this visit + k was first reached by kernel k of the order, or after all
				  kernels by symbols passed to kernel k; 0: unknown */

	struct sk_collecting *collecting; /* results of collecting ahead; NULL: none */

	/* Results of the passes: */
	SK_ARRAY(struct sk_input_section *) left_out; /* tables of constructors or destructors that nothing needs */
	SK_ARRAY(struct sk_input_section *) commons;
	SK_ARRAY(struct sk_merged *) merged;
	struct sk_merged *recent_merged[SK_RECENT_MERGED]; /* merged sections used last, by a hash of their kind */
	struct sk_map merged_numbers;
	SK_ARRAY(struct sk_got_slot) slots;
	SK_ARRAY(sk_symbol) stubs;
	SK_ARRAY(sk_symbol) traps;
	SK_ARRAY(sk_symbol) guarded; /* undefined, and used otherwise than by calls */
	SK_ARRAY(struct sk_trapped) trapped; /* the symbols of both, those near to kernels first */
	struct sk_input_section guards; /* in no output section: addresses that nothing is mapped at */
	SK_ARRAY(sk_symbol) imported; /* in the order of their use */
	SK_ARRAY(sk_symbol) exported;
	SK_ARRAY(sk_symbol) undefined; /* without a definition or an import */
	SK_ARRAY(struct sk_user) users;
	struct sk_map thread_slots; /* by variable and kind of access */
	struct sk_thread_image thread;
	uint64_t address_count, import_address_count; /* words for the loader to write */
	struct sk_input_section made[SK_MADE_COUNT];
	struct sk_input_section landmarks[SK_LANDMARK_COUNT]; /* empty; they hold the symbols */
	sk_bytes dynamic_names;
	uint32_t *dynamic_name_offsets; /* by number in .dynsym */
	struct sk_version *versions; /* of imports */
	uint32_t version_count, library_count;
	uint32_t base_version; /* in .dynstr */
	uint32_t soname; /* in .dynstr */
	SK_ARRAY(struct sk_output *) outputs;
	struct sk_map output_numbers;
	struct sk_output *recent_outputs[SK_RANK_COUNT]; /* the last one that took a section */
	SK_ARRAY(Elf64_Phdr) segments;
	uint64_t loaded_size; /* file bytes of everything loaded before the constants: the size of `image` */
	uint8_t *image;
	struct sk_constants_hash constants_hash;
	const struct sk_input_section *uncopied; /* its part of the file uses its own bytes; NULL: there is none */
	sk_relocations relative, import_relocations;
	struct sk_symbol_table symbol_table;
	SK_ARRAY(struct sk_file_part) parts; /* of the file, in order */
	uint64_t file_size;
	uint64_t input_size; /* bytes of all inputs */
	uint64_t decompressed; /* bytes of debug sections */
};

/* Return the symbol that this one stands for; most stand for themselves. */
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

/* ==== architecture.c ====
 *
 * Properties of an instruction set beyond its relocations (format/relocation-types.h): rewritable instructions, stubs,
 * and machine-specific values in ELF files. One const table per machine. */

/* The rule by which objects' values of a program property are combined into the image's (notes.c). */
enum sk_property_rule {
	SK_PROPERTY_UNKNOWN, /* meaning for the image unknown: dropped */
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

/* Code without a frame that jumps to a function with an address as its argument, and where both are filled in. */
struct sk_finalizer {
	struct sk_piece piece;
	uint64_t address, call; /* offsets of the fields */
	int64_t addend; /* of both */
};

struct sk_architecture {
	uint16_t machine; /* EM_… */
	const char *name;
	const char *emulation; /* name in GNU ld */
	uint64_t page_size; /* the largest that the system may use */
	uint8_t text_fill; /* for the gaps between functions */

	const struct sk_relocation_table *relocations;

	/* Return whether the instruction before the field at `offset` can reach a symbol of the image without its GOT
	 * slot. */
	bool (*can_relax)(uint32_t type, const uint8_t *bytes, uint64_t offset, int64_t addend);
	/* Rewrite the instruction and return the offset of its field. The field's value becomes S + A - P. */
	uint64_t (*relax)(uint8_t *bytes, uint64_t offset);
	/* Return whether the instruction before the field at `offset` loads a thread-local variable's descriptor. The
	 * next two rewrite it to read the variable's distance from the thread pointer, and give the bytes that replace
	 * the call through the descriptor. */
	bool (*can_rewrite_descriptor)(uint32_t type, const uint8_t *bytes, uint64_t offset, int64_t addend);
	void (*rewrite_descriptor)(uint8_t *bytes, uint64_t offset);
	uint64_t no_descriptor_call;
	/* Return whether the field at `offset` is the absolute address in an instruction of the large code model that
	 * can be rewritten to reach its target, code or not, relative to the place. The next one rewrites it, subtracts
	 * the processor's distance from the field from *value, and returns the offset of the new field, which has the
	 * type `relative32`. Both are NULL on machines without such instructions. */
	bool (*can_narrow)(uint32_t type, const uint8_t *bytes, uint64_t offset, bool to_code);
	uint64_t (*narrow)(uint8_t *bytes, uint64_t offset, uint64_t *value);
	/* Return whether the field at `offset` in code is that of a direct call or jump. */
	bool (*is_branch)(uint32_t type, const uint8_t *bytes, uint64_t offset);

	/* Return whether the instruction before the field at `offset`, which can be relaxed, calls or jumps to the
	 * slot's value. */
	bool (*calls_slot)(uint32_t type, const uint8_t *bytes, uint64_t offset, int64_t addend);

	/* Program properties: the machine's own, those of the code that sklink makes, and the type with the instruction
	 * sets that code needs as its bits. */
	const struct sk_property_range *properties;
	uint32_t property_count;
	const struct sk_property *own_properties;
	uint32_t own_property_count;
	uint32_t isa_property;

	uint32_t unwind_section; /* SHT_… that .eh_frame may have beside SHT_PROGBITS, or that one */
	uint16_t far_common; /* SHN_… of common symbols that may lie anywhere, which packages cannot hold; SHN_UNDEF:
				none */

	const struct sk_import_list *imports; /* that only this machine's libraries have */

	uint32_t stub_size;
	/* Write a stub at `address` that jumps to the address in the GOT slot at `slot`. */
	void (*write_stub)(uint8_t *stub, uint64_t address, uint64_t slot);

	uint32_t trap_size; /* from one to the next: its code and padding */
	/* Write an instruction at `address` that is never executed, with the name at `name` as its operand. */
	void (*write_trap)(uint8_t *trap, uint64_t address, uint64_t name);

	struct sk_finalizer finalizer;
};

#define SK_MACHINE(name) extern const struct sk_architecture sk_architecture_##name;
#include "format/machines.def"
#undef SK_MACHINE

/* Return the architecture of an ELF machine, or NULL. */
const struct sk_architecture *sk_architecture_find(uint16_t machine);

/* Return the alignment of the image's segments. */
static inline uint64_t sk_page_size(const struct sk_linker *linker)
{
	return linker->options.max_page_size ? linker->options.max_page_size : linker->architecture->page_size;
}

/* ==== input ==== */

/* Read --defsym and --wrap, before the first input. */
void sk_aliases_read(struct sk_linker *linker);
void sk_ifuncs_read(struct sk_linker *linker);

/* Fill linker->patterns and linker->defined_versions, before the first input. */
void sk_version_script_read(struct sk_linker *linker);

/* Fill linker->listed, before the first input. */
void sk_ordering_read(struct sk_linker *linker);

/* Return the reading of this path by a thread, or NULL if there is none, or if it had errors or warnings and must be
 * repeated. Waits until the file has been read, with all members if it is an archive. */
struct sk_reading *sk_ahead_take(struct sk_linker *linker, const char *path);
void sk_ahead_destroy(struct sk_linker *linker);

/* Add the object to the linker, and the symbols that it defines to the linker's table. */
bool sk_object_enter(struct sk_linker *linker, struct sk_object *object);

/* Warn of patterns of --isolate-objects that match no object, once all inputs are known. */
void sk_isolation_check(struct sk_linker *linker);

/* ==== resolution ==== */

/* Warn of each choice of --ifunc that is not about an IFUNC, once all inputs are known. */
void sk_ifuncs_check(struct sk_linker *linker);

/* Define __dso_handle if it is referred to, with the package's destructor that belongs to it. Called after
 * resolution. */
void sk_finalizer_add(struct sk_linker *linker);

/* ---- landmarks.c ---- */

/* Define the names of places in the image that inputs refer to and none defines. Called after resolution. */
void sk_landmarks_provide(struct sk_linker *linker);

/* Set their addresses, after the layout. */
void sk_landmarks_place(struct sk_linker *linker);

/* Export the names of the version script. Called after resolution. */
bool sk_export(struct sk_linker *linker);

/* ---- kernels.c ---- */

/* Add to the last message the kernel through which the section is part of the image, if there is one. */
void sk_note_kernel(struct sk_linker *linker, const struct sk_input_section *section);

/* Return an object of the input (SK_NONE: of any) with a local function of this name, or NULL. For messages only: it
 * looks at every local symbol. */
const struct sk_object *sk_find_local_function(const struct sk_linker *linker, uint32_t input, const char *name);

/* ==== collection ==== */

/* Make synthetic sections look like those of objects: relocations get the machine's types, unwind records are read.
 * Return false if a record is damaged. */
bool sk_synthetic_prepare(struct sk_linker *linker);

/* Mark the live sections. */
void sk_collect(struct sk_linker *linker);

/* Fill linker->first, and warn about symbols that cannot be ordered. Called after the collection. */
void sk_ordering_apply(struct sk_linker *linker);

/* Mark notes of reached objects live, equal ones once, and join their properties. Called after the collection. Return
 * false if a note is damaged. */
bool sk_notes_collect(struct sk_linker *linker);

/* Mark the debug sections of reached objects live, with plain contents and checked relocations. Return false if one is
 * damaged. */
bool sk_debug_collect(struct sk_linker *linker);

/* ==== merging and folding ==== */

/* Join the needed strings and records: linker->merged, with all sizes. */
void sk_merge(struct sk_linker *linker);

/* Fold equivalent sections if the options say so. Called after sk_merge, before sections have addresses. Return false
 * if an object is damaged. */
bool sk_icf(struct sk_linker *linker);

/* ---- significance.c, refine.c ---- */

/* Nodes with numbered edges, and a class for each. */
struct sk_graph {
	uint32_t node_count, class_count;
	uint32_t *classes; /* of nodes */
	const uint64_t *first_edges; /* of nodes, in targets, and the end */
	const uint32_t *targets; /* of edges: nodes */
};

/* Mark the sections with significant addresses. Return false if a table of them is damaged. */
bool sk_find_significant(struct sk_linker *linker);

/* Split the classes until equal nodes have equal successors, edge by edge. Nodes of one class must have equal numbers
 * of edges. Takes m log n steps for m edges and n nodes. */
void sk_refine(struct sk_arena *arena, struct sk_graph *graph);

/* Choose the remaining records and place them: sets the sizes of .eh_frame and .eh_frame_hdr. */
void sk_frames_place(struct sk_linker *linker);

/* ==== relocations of live sections ====
 *
 * The target of each, how code reaches it, and the slots, stubs and imports for it. */

/* Check that a package can hold every relocation of a live section; number slots, stubs and imports. */
bool sk_scan(struct sk_linker *linker);

/* The kind of a relocation's target. The order is that of the columns of the table in scan.c. */
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
	SK_TARGET_OUTSIDE, /* after the end of a mergeable section, or before its start */
};

static inline bool sk_is_import(enum sk_target_kind kind)
{
	return kind == SK_TARGET_IMPORT || kind == SK_TARGET_DATA || kind == SK_TARGET_THREAD_IMPORT;
}

struct sk_target {
	enum sk_target_kind kind;
	sk_symbol symbol; /* SK_NONE: a local symbol */
	struct sk_input_section *section; /* NULL: not in a section: SK_TARGET_ABSOLUTE and undefined symbols */
	uint64_t value; /* offset in it, or the absolute value */
	uint64_t offset; /* in the object's section, with an addend that selects a string or record */
	bool folded; /* another section replaces the one that is meant */
};

/* ---- target.c ---- */

/* Return the target of a relocation of the section, or of a symbol. */
struct sk_target sk_relocation_target(struct sk_linker *linker, const struct sk_input_section *section,
				      const sk_elf_relocation *relocation);
struct sk_target sk_symbol_target(struct sk_linker *linker, sk_symbol symbol);

/* Return the name of the target of a relocation of the section, for messages. */
const char *sk_relocation_name(const struct sk_linker *linker, const struct sk_input_section *section,
			       const sk_elf_relocation *relocation);

/* Return whether a GOT access of a live section is rewritten to reach the symbol directly. */
bool sk_is_relaxed(const struct sk_linker *linker, const struct sk_input_section *section,
		   const sk_elf_relocation *relocation, const struct sk_target *target);

/* Return whether the instruction in these bytes can be rewritten so, on an architecture that does. */
bool sk_can_narrow(const struct sk_linker *linker, const sk_elf_relocation *relocation, const struct sk_target *target,
		   const uint8_t *bytes, uint64_t offset);

/* Return whether the relocation's instruction is rewritten from an absolute address to a distance: the target lies in
 * the package, or is reached by a stub or a slot of it. */
bool sk_is_narrowed(const struct sk_linker *linker, const struct sk_input_section *section,
		    const sk_elf_relocation *relocation, const struct sk_target *target);

/* Return the GOT slot of a target, or SK_NONE. */
uint32_t sk_slot_of(const struct sk_linker *linker, const struct sk_input_section *section,
		    const sk_elf_relocation *relocation, const struct sk_target *target);

/* ---- scan.c ---- */

/* Return whether sk_scan has to look at the relocation, because it may need more than a value known at link time. */
bool sk_needs_scan(const struct sk_linker *linker, const struct sk_input_section *section,
		   const sk_elf_relocation *relocation, const struct sk_target *target);

/* With -r: return whether the relocation must name its target by a symbol of the target's own. Section and offset are
 * not enough in a GOT access, and for a string or record that the next linker may move. */
bool sk_needs_symbol(const struct sk_linker *linker, const struct sk_input_section *section,
		     const sk_elf_relocation *relocation, const struct sk_target *target);

/* ---- undefined.c ---- */

/* Note that the relocation uses an undefined symbol. If the options ask for it, a trap serves a call, and a guard other
 * uses; otherwise the symbol is missing. Return whether it has a guard, so that it is defined from now on. */
bool sk_undefined_use(struct sk_linker *linker, const struct sk_input_section *section,
		      const sk_elf_relocation *relocation, sk_symbol symbol);

/* Note that the command line or the manifest requires an undefined symbol. */
void sk_undefined_require(struct sk_linker *linker, sk_symbol symbol);

/* Report the missing symbols as errors, and traps as warnings if the options ask for them. */
void sk_undefined_report(struct sk_linker *linker);

/* ---- traps.c ---- */

/* Return whether the options ask for traps for calls of this undefined symbol. */
bool sk_trap_is_wanted(struct sk_linker *linker, sk_symbol symbol);

/* Return whether the relocation is that of a call or jump, which a trap can be the target of. */
bool sk_trap_serves(const struct sk_linker *linker, const struct sk_input_section *section,
		    const sk_elf_relocation *relocation);

/* Give the undefined symbol a trap. */
void sk_trap_add(struct sk_linker *linker, sk_symbol symbol);
uint64_t sk_trap_address(const struct sk_linker *linker, sk_symbol symbol);

/* Give the undefined symbol a guard, which makes it defined, in linker->guards. */
void sk_guard_add(struct sk_linker *linker, sk_symbol symbol);

/* List the symbols with a trap or a guard, and export the table of guards. Called after all relocations have been
 * looked at. */
void sk_traps_end(struct sk_linker *linker);

/* Return a sentence on the use of a symbol of the list. */
const char *sk_trapped_text(struct sk_linker *linker, const struct sk_trapped *trapped);

void sk_traps_write(struct sk_linker *linker);

/* ---- thread-storage.c ---- */

/* Return whether the relocation belongs to an access to a thread-local variable. */
bool sk_is_thread_expression(enum sk_expression expression);

/* Find the symbols that C++ calls for a thread-local object with a destructor. Called before any relocation is looked
 * at. */
void sk_thread_destructors_find(struct sk_linker *linker);
bool sk_is_thread_destructor(const struct sk_linker *linker, sk_symbol symbol);

/* Make the slots that the relocation of a thread-local variable needs, and return the first of them. */
void sk_thread_slots_need(struct sk_linker *linker, enum sk_expression expression, const struct sk_target *target);
uint32_t sk_thread_slot_of(const struct sk_linker *linker, enum sk_expression expression,
			   const struct sk_target *target);

/* Return the offset of a place in the package's thread-local block. */
uint64_t sk_thread_offset(const struct sk_linker *linker, const struct sk_input_section *section, uint64_t value);

/* ==== image ==== */

/* Make the dynamic tables' parts that do not depend on addresses; all sizes are known afterwards. */
void sk_dynamic_prepare(struct sk_linker *linker);

/* Assign all addresses. */
bool sk_layout(struct sk_linker *linker);

/* Fill the image with code, data and tables, except for the section that is not copied. */
void sk_image_prepare(struct sk_linker *linker);
bool sk_relocate(struct sk_linker *linker);
bool sk_frames_write(struct sk_linker *linker);
void sk_dynamic_write(struct sk_linker *linker);

/* Relocate the section that is not copied, once no other thread reads it. */
bool sk_relocate_uncopied(struct sk_linker *linker);

/* Complete the file's parts. */
bool sk_image_finish(struct sk_linker *linker);

/* Write the debug sections after the rest of the file. Return false if a relocation was out of range. */
bool sk_debug_write(struct sk_linker *linker);

/* ---- relocate.c ---- */

/* Write the value into the field, which is at `place` in the image, if it fits. */
void sk_relocate_field(struct sk_linker *linker, const struct sk_input_section *section,
		       const sk_elf_relocation *relocation, uint8_t *field, uint64_t value, uint64_t place);

/* Apply one relocation: `bytes` is the whole section (or record), which is at `address` in the image and begins at
 * `base` in the section. */
void sk_relocate_one(struct sk_linker *linker, const struct sk_input_section *section,
		     const sk_elf_relocation *relocation, uint8_t *bytes, uint64_t base, uint64_t address);

/* ==== with -r: an object ==== */

/* Lay out and write an object, in two steps that replace the passes after sk_scan. */
bool sk_relocatable_make(struct sk_linker *linker);
bool sk_relocatable_finish(struct sk_linker *linker);

/* ---- relocatable-emit.c ---- */

/* Resolve a relocation of a section into its bytes as far as the value is known, or leave it to the next linker. */
void sk_relocatable_emit(struct sk_linker *linker, const struct sk_input_section *section,
			 const sk_elf_relocation *relocation, uint8_t *bytes);

/* Do the same for a record of an unwind table, if it is live, and its relocations. */
void sk_relocatable_emit_frame(struct sk_linker *linker, struct sk_frame *frame);

/* ==== texts.c ====
 *
 * Texts for users about a link. */

/* Print a line for the caller, if the options ask for lines. */
#define SK_PRINT(linker, ...)                                                                                          \
	((linker)->options.print ? (linker)->options.print((linker)->options.print_context,                            \
							   sk_arena_print((linker)->arena, __VA_ARGS__))               \
				 : (void)0)

/* Print that the object has been pulled, or the outcome of the collection of its sections. */
void sk_print_object(struct sk_linker *linker, const struct sk_object *object);
void sk_print_collected(struct sk_linker *linker);

/* Return the text of --why-extract, in lld's form. */
sk_bytes sk_extractions_text(struct sk_linker *linker);

/* Return the text of the map, or of the dependencies of `output`. */
sk_bytes sk_map_text(struct sk_linker *linker);
sk_bytes sk_dependencies_text(struct sk_linker *linker, const char *output);

/* ---- why-live.c ---- */

/* How a live section was found. */
struct sk_finding {
	const char *root; /* why it is needed without a reference; NULL: see below */
	uint32_t from; /* number of the section that refers to it by code or unwind information */
	const struct sk_input_section *section; /* where that reference is, */
	uint64_t offset; /* and at which offset */
};

/* All live sections, in the order in which they were found; the findings only for --why-live. */
struct sk_found {
	SK_ARRAY(struct sk_input_section *) sections;
	SK_ARRAY(struct sk_finding) findings;
};

/* Print for each symbol of --why-live why its section is part of the image. */
void sk_print_reasons(struct sk_linker *linker, const struct sk_found *found);

/* ---- constructors.c ---- */

struct sk_constructors;

/* Search from the tables of constructors and destructors, which are not live. */
struct sk_constructors *sk_constructors_search(struct sk_linker *linker, struct sk_input_section **tables,
					       size_t count);

/* Take note of live sections found since the last call. */
void sk_constructors_learn(struct sk_constructors *constructors, const struct sk_found *found);

/* Return whether the table is needed, as far as live sections are known. */
bool sk_constructors_need(const struct sk_constructors *constructors, const struct sk_input_section *table);

/* Record the tables that have not become live: linker->left_out. Warn of those that lack a symbol. */
void sk_constructors_end(struct sk_constructors *constructors);

/* ---- state.c ---- */

/* Return whether the section holds data that is written. */
bool sk_is_state(const struct sk_input_section *section);

/* ---- cref.c ---- */

/* Return the lines of the cross-reference table. */
sk_texts sk_cross_references(struct sk_linker *linker);

#endif
