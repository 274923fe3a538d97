/* One link: its state, its passes in their order, relocations, and the functions of a machine. */
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
struct sk_arena;
struct sk_collecting;
struct sk_version;

/* ==== relocation ====
 *
 * Relocations of sections: what each refers to, by which way code reaches that, and what is done about it. */

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

/* ==== state.c ====
 *
 * What is known of what functions reach: the components that state.c finds. */

/* A section that has been reached from a function. */
struct sk_reached_section {
	struct sk_input_section *section;
	uint32_t low; /* the lowest node of an open component that it is known to lead to */
	uint32_t component;
	const char *barrier; /* that it refers to, or NULL */
};

/* Sections that reach one another, so that what one of them reaches all do. */
struct sk_component {
	SK_ARRAY(struct sk_input_section *) states; /* among them */
	SK_ARRAY(uint32_t)
	targets; /* other components that they lead to directly, and that lead to what is of interest */
	SK_ARRAY(uint32_t) answer; /* numbers of all states that they lead to, once somebody has asked */
	bool answered;
	const char *barrier; /* a function that one of them, or what they lead to, refers to, or NULL */
	struct sk_input_section *thread_storage; /* thread-local, and led to; NULL: none is */
	bool stateful; /* it leads to states, or has some */
	uint32_t group; /* of states that are one, to which those belong that it leads to; 0: not joined */
	uint32_t isa; /* levels that objects need in which anything lies that they lead to */
	uint32_t search; /* the last one that came by */
};

/* A section on the way from a function to what is being looked at. */
struct sk_path_step {
	uint32_t node;
	uint32_t next; /* number of its target that is looked at next */
	size_t first_target; /* how many the stack of targets had before */
};

/* Hidden states that count as one: a set of a union-find forest. */
struct sk_state_group {
	uint32_t parent; /* a set's own number: it has not been joined with another one */
	uint32_t search; /* the last one that came by */
	struct sk_input_section *state; /* stands for all of them; NULL before the first is asked for */
	bool has_library; /* one that it has been joined of leads to the C library's state */
};

struct sk_reached {
	SK_ARRAY(struct sk_reached_section) nodes;
	SK_ARRAY(struct sk_component) components;
	SK_ARRAY(struct sk_state_group) groups; /* the first one stands for none */
	/* Stacks; empty between searches. */
	SK_ARRAY(struct sk_path_step) path;
	SK_ARRAY(uint32_t) open; /* nodes whose components are not complete */
	SK_ARRAY(uint32_t) targets; /* components that they lead to */
	uint32_t search; /* number of the last one among components */
	uint32_t import_search; /* the last one that came by the C library's state */
};

/* ==== state of a link ====
 *
 * The data of a link. Everything lives in the link's arena, except mapped files, which the linker unmaps when it is
 * destroyed. The list of the passes, below, says which of them fills which part. */

/* A section from sk_linker_add_section. */
struct sk_synthetic {
	struct sk_input_section section;
	enum sk_section_kind kind;
	SK_ARRAY(Elf64_Rela) relocations; /* r_info holds the kind until sk_linker_choose, then the machine's type */
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

	/* Of the passes of the link: */
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

/* ==== architecture.c ====
 *
 * What the linker must know about an instruction set beside its relocations (format/relocation-types.h): what may be
 * rewritten, stubs, and what is the machine's own in ELF files. One const table per machine. */

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

/* What the segments of the image are aligned to. */
static inline uint64_t sk_page_size(const struct sk_linker *linker)
{
	return linker->options.max_page_size ? linker->options.max_page_size : linker->architecture->page_size;
}

/* ==== folding ====
 *
 * Which sections do the same: for icf.c, with the help of significance.c and refine.c. */

/* Nodes with numbered edges, and a class for each. */
struct sk_graph {
	uint32_t node_count, class_count;
	uint32_t *classes; /* of nodes */
	const uint64_t *first_edges; /* of nodes, in targets, and the end */
	const uint32_t *targets; /* of edges: nodes */
};

/* Marks the sections whose addresses matter. False: a table of them is damaged. */
bool sk_find_significant(struct sk_linker *linker);

/* Splits the classes until equal nodes have as many edges as each other, and these lead to equal nodes. Nodes of one
 * class must have equal numbers of edges. Takes m log n steps for m edges and n nodes. */
void sk_refine(struct sk_arena *arena, struct sk_graph *graph);

/* ==== passes ====
 *
 * What a link does, in this order; whoever looks for something begins here. The input is in object.h, the
 * output in output.h.
 *
 *   read.c     files are read or mapped, archives walked (archive.c), objects opened; by several threads (ahead.c)
 *   input.c    what has been read becomes an input of the link, in command-line order; its symbols are entered
 *   object.c   validate once, then trust: every check of an object's bytes is here, in load.c, and in frames.c for
 *              .eh_frame
 *   symbols.c  names are interned, and know their definitions
 *   aliases.c  names that the command line gives another meaning
 *   ifuncs.c   which function an IFUNC is
 *   resolve.c  members pulled, definitions chosen
 *   finalizer.c  what has objects with static storage destroyed when the package goes
 *   synthetic.c  sections that no input has
 *   version-script.c  reads which names are to be exported; exports.c finds and exports them
 *   kernels.c  what the rest of sklink asks: functions by name, signatures
 *   functions.c  which symbols can be kernels, and local ones by name
 *   state.c    and what a function reaches: hidden state, instruction sets
 *   copies.c   functions whose code is there several times
 *   ranges.c   __start_NAME and __stop_NAME
 *   collect.c  marks what is reached, from kernels ahead of all else; why-live.c says from where
 *   ordering.c reads the symbol ordering file, and finds its sections
 *   notes.c    joins the program properties of what is reached, keeps its notes
 *   debug.c    keeps the debug information of what is reached; debug-write.c writes it
 *   merge.c    joins equal strings and records
 *   icf.c      folds sections that do the same; significance.c and refine.c help
 *   frames.c   chooses the unwind tables' records, and gives them their places; frames-write.c writes them
 *   scan.c     classifies the relocations of what is reached: GOT slots, PLT stubs, dynamic relocations, every refusal
 *   undefined.c  what nothing defines: who uses it, what may be meant
 *   traps.c    code in place of functions that nothing defines
 *   thread-storage.c  slots for thread-local variables, and the image of their blocks
 *   dynamic.c  symbol, hash, version and dynamic tables
 *   outputs.c  output sections; layout.c, their addresses; segments.c, the program headers (output.h)
 *   relocate.c computes the expressions; the machine's table of relocations writes the bits
 *   image.c    the bytes of the file, the symbol table, the build-id
 *   labels.c   tells functions of one name apart in the symbol table
 *   relocatable.c  with -r, instead of dynamic.c and relocate.c: an object with the relocations that are left, which
 *              relocatable-emit.c makes
 *   parts.c    the parts of the file
 *   write.c    the file
 *
 * Whom several of them ask:
 *
 *   section.c  what a section is, where it is, what it is called (object.h)
 *   target.c   what a relocation refers to (linker-parts.h)
 *   imports.c  what the C library has for packages (object.h)
 *
 * What users are told (object.h):
 *
 *   texts.c    the map, the dependencies, and lines on what has happened
 *   demangle.c names as programmers write them
 *   cref.c     who defines and who uses each name
 *   reach.c    how much of the image code reaches
 *   statistics.c  counts things */

struct sk_reading;

/* ---- while inputs are added ---- */

/* What the options say, before the first input. */
void sk_aliases_read(struct sk_linker *linker);
void sk_ifuncs_read(struct sk_linker *linker);

/* Once all inputs are known: what the options say about IFUNCs and is about none is a warning. */
void sk_ifuncs_check(struct sk_linker *linker);

/* Before the first input: linker->patterns and linker->defined_versions. */
void sk_version_script_read(struct sk_linker *linker);

/* Before the first input: linker->listed. */
void sk_ordering_read(struct sk_linker *linker);

/* What a thread has read of this path, or NULL: nothing, or there was something to say about it, so that it has to be
 * read again. Waits until it has been read, with all members if it is an archive. */
struct sk_reading *sk_ahead_take(struct sk_linker *linker, const char *path);
void sk_ahead_destroy(struct sk_linker *linker);

/* The object is one of the linker's from now on, and its symbols are in the linker's table. */
bool sk_object_enter(struct sk_linker *linker, struct sk_object *object);

/* ---- the passes of the link, in linker.c ---- */

/* After the names have been resolved: who wants a __dso_handle has one, and the package the destructor that goes with
 * it. */
void sk_finalizer_add(struct sk_linker *linker);

/* After the names have been resolved: exports what the version script says. */
bool sk_export(struct sk_linker *linker);

/* Synthetic sections look like those of objects: relocations have the machine's types, unwind records are known. False:
 * a record is damaged. */
bool sk_synthetic_prepare(struct sk_linker *linker);

/* Marks the live sections, and only them. */
void sk_collect(struct sk_linker *linker);

/* After the collection: linker->first, and warnings about what cannot be ordered. */
void sk_ordering_apply(struct sk_linker *linker);

/* After the collection: notes of reached objects are live, equal ones once, and their properties are joined. False: a
 * note is damaged. */
bool sk_notes_collect(struct sk_linker *linker);

/* The debug sections of reached objects are live, with plain contents and relocations that are known. False: they are
 * not. */
bool sk_debug_collect(struct sk_linker *linker);

/* Joins what is needed: linker->merged, with all sizes. */
void sk_merge(struct sk_linker *linker);

/* After sk_merge, before anything has a place: sections that do the same are one, if the options say so. False: an
 * object is damaged. */
bool sk_icf(struct sk_linker *linker);

/* Chooses the records that stay and gives them their places: the sizes of .eh_frame and .eh_frame_hdr. */
void sk_frames_place(struct sk_linker *linker);

/* Every relocation of a live section is one that a package can hold; slots, stubs and imports are numbered. */
bool sk_scan(struct sk_linker *linker);

/* Lays out and writes an object, in two steps: what stands behind sk_scan in the list of passes. */
bool sk_relocatable_make(struct sk_linker *linker);
bool sk_relocatable_finish(struct sk_linker *linker);

/* All sizes are known. */
void sk_dynamic_prepare(struct sk_linker *linker);

/* Everything has its address. */
bool sk_layout(struct sk_linker *linker);

/* Code, data and tables are in the image, but for the section that is not copied. */
void sk_image_prepare(struct sk_linker *linker);
bool sk_relocate(struct sk_linker *linker);
bool sk_frames_write(struct sk_linker *linker);
void sk_dynamic_write(struct sk_linker *linker);

/* Once nobody else reads that section: so is this one. */
bool sk_relocate_uncopied(struct sk_linker *linker);

/* The file's parts are complete. */
bool sk_image_finish(struct sk_linker *linker);

/* Writes the debug sections behind what is in the file. False: a relocation was out of range. */
bool sk_debug_write(struct sk_linker *linker);

/* ==== texts.c ====
 *
 * What users are told about a link. */

/* A line for the caller, if it wants any. */
#define SK_PRINT(linker, ...)                                                                                          \
	((linker)->options.print ? (linker)->options.print((linker)->options.print_context,                            \
							   sk_arena_print((linker)->arena, __VA_ARGS__))               \
				 : (void)0)

/* The object has been pulled; its sections have been collected or not. */
void sk_print_object(struct sk_linker *linker, const struct sk_object *object);
void sk_print_collected(struct sk_linker *linker);

/* --why-extract, in lld's form. */
sk_bytes sk_extractions_text(struct sk_linker *linker);

/* Texts of the map and the dependencies of `output`. */
sk_bytes sk_map_text(struct sk_linker *linker);
sk_bytes sk_dependencies_text(struct sk_linker *linker, const char *output);

/* ---- why-live.c ---- */

/* How a section that is live was found. */
struct sk_finding {
	const char *root; /* why it is needed whoever refers to it; NULL: */
	uint32_t from; /* the number of the section whose code or unwind information refers to it */
	const struct sk_input_section *section; /* where that reference stands, */
	uint64_t offset; /* and at which offset */
};

/* All live sections, in the order in which they were found; the findings only if somebody asks. */
struct sk_found {
	SK_ARRAY(struct sk_input_section *) sections;
	SK_ARRAY(struct sk_finding) findings;
};

/* For each symbol that somebody asks about, why its section is part of the image. */
void sk_print_reasons(struct sk_linker *linker, const struct sk_found *found);

/* ---- cref.c ---- */

/* The lines of the cross reference table. */
sk_texts sk_cross_references(struct sk_linker *linker);

/* ---- kernels.c ---- */

/* Adds to the message added last through which kernel the section is part of the image, if through any. */
void sk_note_kernel(struct sk_linker *linker, const struct sk_input_section *section);

/* An object of the input (SK_NONE: of any) that has a local function of this name, or NULL. For messages: it looks at
 * every local symbol. */
const struct sk_object *sk_find_local_function(const struct sk_linker *linker, uint32_t input, const char *name);

#endif
