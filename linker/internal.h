/* What the files of this room share: the data that a link consists of, but for what is read (object.h), and the passes
 * over it in the order they run.
 *
 *   read.c     files are read or mapped, archives walked (archive.c), objects opened; by several threads (ahead.c)
 *   input.c    what has been read becomes an input of the link, in command-line order; its symbols are entered
 *   object.c   validate once, then trust: every check of an object's bytes is here, in load.c, and in frames.c for
 *              .eh_frame
 *   symbols.c  names are interned, and know their definitions
 *   aliases.c  names that the command line gives another meaning
 *   resolve.c  members pulled, definitions chosen
 *   version-script.c  reads which names are to be exported; exports.c finds and exports them
 *   kernels.c  what the rest of sklink asks: functions by name, signatures
 *   state.c    and what a function reaches: hidden state, instruction sets
 *   copies.c   functions whose code is there several times
 *   ranges.c   __start_NAME and __stop_NAME
 *   collect.c  marks what is reached
 *   notes.c    joins the program properties of what is reached, keeps its notes
 *   debug.c    keeps the debug information of what is reached; debug-write.c writes it
 *   merge.c    joins equal strings and records
 *   icf.c      folds sections that do the same; significance.c and refine.c help
 *   frames.c   chooses the unwind tables' records, and gives them their places; frames-write.c writes them
 *   scan.c     classifies the relocations of what is reached: GOT slots, PLT stubs, dynamic relocations, every refusal
 *   dynamic.c  symbol, hash, version and dynamic tables
 *   outputs.c  output sections; layout.c, their addresses; segments.c, the program headers (layout.h)
 *   relocate.c computes the expressions; <machine>.c writes the bits
 *   image.c    the bytes of the file, the symbol table, the build-id
 *   relocatable.c  with -r, instead of dynamic.c and relocate.c: an object with the relocations that are left, which
 *              relocatable-emit.c makes
 *   parts.c    the parts of the file
 *   write.c    the file
 *
 * Whom several of them ask:
 *
 *   section.c  what a section, object or symbol is, where it is, what it is called
 *   target.c   what a relocation refers to
 *   imports.c  what the C library has for packages
 *   parallel.c loops in several threads
 *
 * What users are told:
 *
 *   texts.c    the map, the dependencies, and lines on what has happened
 *   cref.c     who defines and who uses each name
 *   reach.c    how much of the image code reaches
 *   statistics.c  counts things
 *
 * Everything lives in the link's arena, except mapped files, which the linker unmaps when it is destroyed. */
#ifndef SK_LINKER_INTERNAL_H
#define SK_LINKER_INTERNAL_H

#include "linker/object.h"
#include "src/base/file.h"

/* A section from sk_linker_add_section. */
struct sk_synthetic {
	struct sk_input_section section;
	enum sk_section_kind kind;
	SK_ARRAY(Elf64_Rela) relocations; /* r_info holds the kind until sk_linker_link, then the machine's type */
};

/* An entry of the linker's symbol table: a global name, or a synthetic local symbol. */
struct sk_linker_symbol {
	const char *name; /* NULL: only a handle */
	uint32_t name_length;
	uint32_t first_definition, last_definition; /* in linker->definitions: all that there are, pulled or not */
	/* The definition that counts. */
	struct sk_object *object; /* NULL: none, or synthetic */
	uint32_t index; /* in the object's symbol table */
	struct sk_input_section *section; /* NULL: absolute, or none */
	uint64_t value, size; /* offset in the section, or absolute value; alignment of a common symbol */
	uint8_t rank; /* enum sk_definition_rank */
	uint8_t type; /* STT_… */
	uint8_t visibility; /* the most constraining one seen */
	bool wanted; /* a pulled object needs it, not weakly */
	bool local; /* synthetic and not exported */
	bool traced;
	bool exported;
	uint16_t version; /* of an exported one, in .gnu.version; 0: none, which is written as VER_NDX_GLOBAL */
	bool needed; /* undefined, and a reference that stays is not weak */
	sk_symbol alias; /* the symbol that this one stands for, or SK_NONE */
	uint32_t import; /* in the table of imports, or SK_NONE */
	uint32_t slot, stub; /* GOT slot and PLT stub, or SK_NONE */
	uint32_t dynamic_index; /* in .dynsym; with -r: of an undefined symbol, among those that stay, from 1 */
	uint32_t first_user, last_user; /* if undefined: in linker->users */
};

/* Of two definitions the higher rank wins. */
enum sk_definition_rank {
	SK_DEFINITION_NONE,
	SK_DEFINITION_PROVIDED, /* by the linker, unless somebody else has one */
	SK_DEFINITION_WEAK,
	SK_DEFINITION_COMMON,
	SK_DEFINITION_STRONG,
	SK_DEFINITION_ASSIGNED, /* by the command line */
};

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

struct sk_definition {
	uint32_t object, index; /* the symbol's number in the object */
	uint32_t next;
};

/* A section that has been reached from a function, see state.c. */
struct sk_reached_section {
	struct sk_input_section *section;
	uint32_t low; /* the lowest node of an open component that it is known to lead to */
	uint32_t component;
};

/* Sections that reach one another, so that what one of them reaches all do. */
struct sk_component {
	SK_ARRAY(struct sk_input_section *) states; /* among them */
	SK_ARRAY(uint32_t) targets; /* other components that they lead to directly, and that lead to states or isa */
	SK_ARRAY(uint32_t) answer; /* numbers of all states that they lead to, once somebody has asked */
	bool answered;
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
	uint32_t library_search; /* the last one that came by the C library's state */
};

/* A kernel, and who calls it. */
struct sk_ordered {
	sk_symbol code;
	const char *caller; /* or NULL */
};

/* A function that is to begin at a multiple of a number. */
struct sk_aligned {
	sk_symbol code;
	uint32_t alignment;
};

/* Where an undefined symbol is used. */
struct sk_user {
	const struct sk_input_section *section;
	uint64_t offset;
	uint32_t next;
};

struct sk_input {
	const char *path;
	bool archive, whole;
	bool intermediate; /* has members of intermediate code only */
	uint32_t first_object, object_count;
};

/* A file that the caller has read. */
struct sk_dependency {
	const char *path;
	bool listed; /* in the rule for make */
};

/* The sections of one name that is a C identifier. Code can walk over them, from __start_NAME to __stop_NAME. */
struct sk_section_range {
	const char *name;
	struct sk_input_section start, stop; /* empty ones, for the symbols to lie in */
	SK_ARRAY(struct sk_input_section *) sections; /* of pulled objects */
};

/* A word of the GOT. With -r: a place that relocations must name by a symbol of its own. */
struct sk_got_slot {
	sk_symbol symbol; /* SK_NONE: a local symbol, or the word that is reserved for _GLOBAL_OFFSET_TABLE_ */
	const struct sk_input_section *section;
	uint64_t value;
};

/* The order of the output sections in the image. */
enum sk_rank {
	SK_RANK_WIDE_NOTE, /* notes padded to 8 bytes */
	SK_RANK_NOTE, /* to 4 */
	SK_RANK_HASH,
	SK_RANK_DYNAMIC_SYMBOLS,
	SK_RANK_DYNAMIC_NAMES,
	SK_RANK_VERSIONS,
	SK_RANK_RELOCATIONS,
	SK_RANK_READ_ONLY_DATA,
	SK_RANK_FRAME_HEADER,
	SK_RANK_FRAMES,
	SK_RANK_READ_ONLY, /* synthetic */
	SK_RANK_TEXT,
	SK_RANK_PLT,
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
	SK_MADE_DYNAMIC,
	SK_MADE_GOT,
	SK_MADE_RELRO_PADDING,
	SK_MADE_COUNT,
};

typedef SK_ARRAY(uint8_t) sk_bytes;
typedef SK_ARRAY(const char *) sk_lines;

/* .symtab and its names. With -r the symbols stand in this order: the null symbol, one for each output section, one for
 * each slot, the other local ones, undefined ones, exported ones. */
struct sk_symbol_table {
	SK_ARRAY(Elf64_Sym) symbols;
	sk_bytes names;
	uint32_t first_slot, first_global;
};

typedef SK_ARRAY(Elf64_Rela) sk_relocations;

enum { SK_RECENT_MERGED = 32 };

struct sk_linker {
	struct sk_arena *arena;
	struct sk_diag *diag;
	struct sk_reader reader; /* with this arena and this sink */
	struct sk_linker_options options;
	const struct sk_architecture *architecture; /* NULL before the first object */

	SK_ARRAY(struct sk_input) inputs;
	struct sk_map input_numbers; /* by device and inode */
	struct sk_ahead *ahead; /* threads that read, or what they have read; NULL: none */
	SK_ARRAY(struct sk_file) files;
	const char *map_end; /* what the caller adds to the map; NULL: nothing */
	SK_ARRAY(struct sk_dependency) dependencies; /* files that only the caller reads */
	SK_ARRAY(struct sk_object *) objects;
	SK_ARRAY(struct sk_linker_symbol) symbols;
	struct sk_map symbol_numbers;
	SK_ARRAY(struct sk_definition) definitions;
	SK_ARRAY(sk_symbol) wanted; /* a queue: what comes behind wanted_done has not been looked for */
	size_t wanted_done;
	SK_ARRAY(sk_symbol) required;
	struct sk_map wrapped; /* names */
	SK_ARRAY(struct sk_name_pattern) patterns; /* of the version script */
	struct sk_map exact_patterns; /* by name */
	SK_ARRAY(struct sk_defined_version) defined_versions;
	struct sk_map groups; /* signatures of COMDAT groups, and names of linkonce sections, that have been given */
	SK_ARRAY(struct sk_section_range *) ranges;
	struct sk_map range_numbers; /* by name */
	uint32_t isa; /* levels of x86-64 that any pulled object needs */
	uint32_t needed_isa; /* that the caller says the image needs */

	SK_ARRAY(struct sk_input_section *) states;
	struct sk_input_section library_state; /* stands for what functions of the C library keep; in no output */
	struct sk_reached reached;
	SK_ARRAY(struct sk_input_section *) work; /* of searches from kernels; empty between them */
	uint32_t visit; /* number of the current search */
	uint32_t seen; /* what a search with this number or a higher one has come by is done */

	SK_ARRAY(struct sk_synthetic *) synthetic; /* by sk_section */
	struct sk_frame *frames; /* of the synthetic .eh_frame sections */
	uint64_t frame_count;
	SK_ARRAY(struct sk_ordered) order;
	SK_ARRAY(struct sk_aligned) aligned;
	SK_ARRAY(struct sk_input_section *) copies; /* of sections of code */
	SK_ARRAY(struct sk_frame *) copied_frames;
	struct sk_map copy_numbers; /* by original and number */
	uint64_t copied_size;
	uint32_t first_origin; /* kernel k of the order was the first to reach sections whose visit is k more; 0:
				  unknown */

	/* Of sk_linker_link. */
	SK_ARRAY(struct sk_input_section *) commons;
	SK_ARRAY(struct sk_merged *) merged;
	struct sk_merged *recent_merged[SK_RECENT_MERGED]; /* where sections have gone last, by what merge.c says */
	struct sk_map merged_numbers;
	SK_ARRAY(struct sk_got_slot) slots;
	SK_ARRAY(sk_symbol) stubs;
	SK_ARRAY(sk_symbol) imported; /* in the order of their use */
	SK_ARRAY(sk_symbol) exported;
	SK_ARRAY(sk_symbol) undefined; /* that nothing can be found for */
	SK_ARRAY(struct sk_user) users;
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
	const struct sk_input_section *uncopied; /* its bytes are its part of the image; NULL: there is none */
	sk_relocations relative, import_relocations;
	struct sk_symbol_table symbol_table;
	SK_ARRAY(struct sk_file_part) parts; /* of the file, in order */
	uint64_t file_size;
	uint64_t input_size; /* bytes of all inputs */
	uint64_t decompressed; /* bytes of debug sections */
};

/* A string or a record, once. */
struct sk_merged_entry {
	const uint8_t *bytes;
	uint64_t offset; /* in the merged section */
	uint32_t size;
	uint32_t whole; /* the entry whose end it is; itself: it stands alone */
};

/* What mergeable sections of one kind become. */
struct sk_merged {
	struct sk_input_section section;
	const char *output_name; /* of the sections that go in */
	struct sk_map numbers; /* of entries, by contents */
	SK_ARRAY(struct sk_merged_entry) entries;
};

/* What a relocation refers to. The order is that of the columns of the table in scan.c. */
enum sk_target_kind {
	SK_TARGET_DEFINED, /* in a section of the image */
	SK_TARGET_ABSOLUTE, /* a number */
	SK_TARGET_IMPORT,
	SK_TARGET_WEAK, /* undefined, weakly: 0 */
	SK_TARGET_THREAD_LOCAL,
	SK_TARGET_INDIRECT, /* IFUNC */
	SK_TARGET_KIND_COUNT,
	SK_TARGET_UNDEFINED = SK_TARGET_KIND_COUNT,
	SK_TARGET_MISSING, /* in a section that is not in the image */
	SK_TARGET_OUTSIDE, /* behind the end of a mergeable section, or before its start */
};

struct sk_target {
	enum sk_target_kind kind;
	sk_symbol symbol; /* SK_NONE: a local one */
	struct sk_input_section *section; /* NULL: in none, as SK_TARGET_ABSOLUTE and what is not defined */
	uint64_t value; /* offset in it, or the absolute value */
	uint64_t offset; /* in the object's section: what is meant, with an addend that selects a string or record */
	bool folded; /* another section stands for the one that is meant */
};

/* ---- input.c, ahead.c ---- */

/* The object is one of the linker's from now on, and its symbols are in the linker's table. */
bool sk_object_enter(struct sk_linker *linker, struct sk_object *object);

/* What a thread has read of this path, or NULL: nothing, or there was something to say about it, so that it has to be
 * read again. Waits until all threads are done. */
struct sk_reading *sk_ahead_take(struct sk_linker *linker, const char *path);
void sk_ahead_destroy(struct sk_linker *linker);

/* ---- symbols.c ---- */

sk_symbol sk_symbol_intern(struct sk_linker *linker, const char *name, size_t length);
/* A symbol that is not found by its name. */
sk_symbol sk_symbol_add(struct sk_linker *linker, const char *name, size_t length);

enum sk_definition_rank sk_definition_rank(const sk_elf_symbol *symbol);
void sk_symbol_add_definition(struct sk_linker *linker, sk_symbol symbol, uint32_t object, uint32_t index);

/* The object takes part in the link from now on. */
bool sk_object_pull(struct sk_linker *linker, struct sk_object *object);

/* Defines the symbol at the start of the section unless an object does. */
void sk_symbol_provide(struct sk_linker *linker, sk_symbol symbol, struct sk_input_section *section);

/* A definition by the linker or its caller. */
void sk_symbol_define(struct sk_linker *linker, sk_symbol symbol, struct sk_input_section *section, uint64_t value,
		      uint64_t size, uint8_t type);

/* Somebody needs the symbol. */
void sk_symbol_want(struct sk_linker *linker, sk_symbol symbol);

/* Pulls members until nothing more is wanted. */
bool sk_symbols_resolve(struct sk_linker *linker);

/* What a symbol says of its size may be too much: as many of these bytes from the value on as the section has. */
uint64_t sk_size_within(const struct sk_input_section *section, uint64_t value, uint64_t size);

/* What a relocation of the section refers to, or a symbol. */
struct sk_target sk_relocation_target(struct sk_linker *linker, const struct sk_input_section *section,
				      const sk_elf_relocation *relocation);
struct sk_target sk_symbol_target(struct sk_linker *linker, sk_symbol symbol);

/* The name of what a relocation of the section refers to, for messages. */
const char *sk_relocation_name(const struct sk_linker *linker, const struct sk_input_section *section,
			       const sk_elf_relocation *relocation);

/* ---- aliases.c ---- */

/* What the options say, before the first input. */
void sk_aliases_read(struct sk_linker *linker);

/* The symbol that an undefined reference to this name means. */
sk_symbol sk_alias_reference(struct sk_linker *linker, const char *name);

/* The symbol that this one stands for; most stand for themselves. */
static inline sk_symbol sk_alias_follow(const struct sk_linker *linker, sk_symbol symbol)
{
	while (linker->symbols.items[symbol].alias != SK_NONE)
		symbol = linker->symbols.items[symbol].alias;
	return symbol;
}

/* ---- kernels.c ---- */

/* Adds to the message added last through which kernel the section is part of the image, if through any. */
void sk_note_kernel(struct sk_linker *linker, const struct sk_input_section *section);

/* An object of the input (SK_NONE: of any) that has a local function of this name, or NULL. For messages: it looks at
 * every local symbol. */
const struct sk_object *sk_find_local_function(const struct sk_linker *linker, uint32_t input, const char *name);

/* ---- isolate.c ---- */

/* The symbol for a definition of this name in one object: another one, if objects are isolated. */
sk_symbol sk_isolated_symbol(struct sk_linker *linker, sk_symbol name);

/* Objects are isolated, and somebody who has no definition wants this name: chooses one. */
bool sk_isolated_bind(struct sk_linker *linker, sk_symbol name);

/* ---- version-script.c, exports.c ---- */

/* Before the first input: linker->patterns and linker->defined_versions. */
void sk_version_script_read(struct sk_linker *linker);

/* After the names have been resolved: exports what the version script says. */
bool sk_export(struct sk_linker *linker);

/* After the layout: all but the name. */
Elf64_Sym sk_exported_symbol(struct sk_linker *linker, sk_symbol symbol);

/* ---- texts.c ---- */

/* A line for the caller, if it wants any. */
#define SK_PRINT(linker, ...)                                                                                          \
	((linker)->options.print ? (linker)->options.print((linker)->options.print_context,                            \
							   sk_arena_print((linker)->arena, __VA_ARGS__))               \
				 : (void)0)

/* The object has been pulled; its sections have been collected or not. */
void sk_print_object(struct sk_linker *linker, const struct sk_object *object);
void sk_print_collected(struct sk_linker *linker);

/* Texts of the map and the dependencies of `output`. */
sk_bytes sk_map_text(struct sk_linker *linker);
sk_bytes sk_dependencies_text(struct sk_linker *linker, const char *output);

/* ---- cref.c ---- */

/* The lines of the cross reference table. */
sk_lines sk_cross_references(struct sk_linker *linker);

/* ---- imports.c ---- */

struct sk_import {
	const char *name, *soname, *version;
	bool keeps_state; /* in the C library, where all that do have the same */
};

extern const struct sk_import sk_imports[];
extern const uint32_t sk_import_count;

/* True for objects of the C library that kernels are known to use, such as stderr. */
bool sk_is_library_data(const char *name);

/* ---- frames.c ---- */

/* After the array has stopped moving: finds each FDE's function and chains the FDEs to it. */
void sk_frames_attach(struct sk_linker *linker, struct sk_frame *frames, uint64_t count);

/* Chooses the records that stay and gives them their places: the sizes of .eh_frame and .eh_frame_hdr. */
void sk_frames_place(struct sk_linker *linker);

/* Copies a live record, with its length and the distance to its CIE as they are in the joined section. */
void sk_frame_copy(const struct sk_frame *frame, uint8_t *bytes);

/* Calls visit for every record if any stays; those that do are live. */
void sk_frames_visit(struct sk_linker *linker, void (*visit)(struct sk_linker *linker, struct sk_frame *frame));

/* Writes both sections into the image. False: a relocation was out of range. */
bool sk_frames_write(struct sk_linker *linker);

/* ---- ranges.c ---- */

/* Enters the section into the range of its name, if it has one, and provides the symbols. */
void sk_range_add(struct sk_linker *linker, struct sk_input_section *section);

/* The range that the section is a bound of, or NULL: who refers to a bound needs all of it. */
const struct sk_section_range *sk_range_bounded(const struct sk_input_section *section);

/* Before the layout: what is walked over goes into one output section. False: it cannot. */
bool sk_ranges_unify(struct sk_linker *linker);

/* After the layout: the bounds have addresses. */
void sk_ranges_place(struct sk_linker *linker);

/* ---- notes.c ---- */

/* After the collection: notes of reached objects are live, equal ones once, and their properties are joined. False: a
 * note is damaged. */
bool sk_notes_collect(struct sk_linker *linker);

/* ---- debug.c ---- */

/* The debug sections of reached objects are live, with plain contents and relocations that are known. False: they are
 * not. */
bool sk_debug_collect(struct sk_linker *linker);

/* Writes the debug sections behind what is in the file. False: a relocation was out of range. */
bool sk_debug_write(struct sk_linker *linker);

/* ---- merge.c ---- */

/* The string or record at the offset of a live mergeable section is needed; or all of them. */
void sk_merge_mark(struct sk_linker *linker, struct sk_input_section *section, uint64_t offset);
void sk_merge_mark_all(struct sk_linker *linker, struct sk_input_section *section);

/* Joins what is needed: linker->merged, with all sizes. */
void sk_merge(struct sk_linker *linker);

/* After sk_merge: where a byte of a mergeable section has gone. False: nobody needed it, so it is not there. */
bool sk_merge_find(const struct sk_input_section *section, uint64_t offset, uint64_t *merged_offset);

/* ---- parallel.c ---- */

/* Calls body for parts of 0 to count, in as many threads as the options allow; returns when all are done. */
void sk_parallel(const struct sk_linker *linker, size_t count, void (*body)(void *context, size_t first, size_t end),
		 void *context);

/* ---- significance.c, refine.c, icf.c ---- */

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

/* After sk_merge, before anything has a place: sections that do the same are one, if the options say so. False: an
 * object is damaged. */
bool sk_icf(struct sk_linker *linker);

/* The section that stands for this one; most stand for themselves. */
static inline struct sk_input_section *sk_section_follow(struct sk_input_section *section)
{
	return !section->live && section->folded ? section->folded : section;
}

/* ---- relocatable.c ---- */

/* Lays out and writes an object: what stands behind sk_scan in the list of passes. */
bool sk_relocatable_make(struct sk_linker *linker);

/* Resolves a relocation of a section into its bytes, as far as the value is known, or leaves it to the next linker. */
void sk_relocatable_emit(struct sk_linker *linker, const struct sk_input_section *section,
			 const sk_elf_relocation *relocation, uint8_t *bytes);

/* The same with a record of an unwind table, if it is live, and its relocations. */
void sk_relocatable_emit_frame(struct sk_linker *linker, struct sk_frame *frame);

/* ---- section.c ---- */

/* Whether merge.c has made the section: its output section says what it consists of. */
static inline bool sk_is_merged(const struct sk_input_section *section)
{
	return !section->object && (section->flags & SHF_MERGE);
}

/* ---- collect.c, scan.c, dynamic.c, layout.c, relocate.c, image.c ---- */

/* Where a section of an object, a synthetic or a common one goes. */
enum sk_rank sk_section_rank(const struct sk_input_section *section);

/* The name of the output section that takes it. */
const char *sk_output_name(const struct sk_input_section *section);

void sk_collect(struct sk_linker *linker);
bool sk_scan(struct sk_linker *linker);
void sk_dynamic_prepare(struct sk_linker *linker);
uint64_t sk_dynamic_size(struct sk_linker *linker); /* of .dynamic, once the output sections are known */
void sk_dynamic_write(struct sk_linker *linker);
bool sk_layout(struct sk_linker *linker);
bool sk_relocate(struct sk_linker *linker);
void sk_image_prepare(struct sk_linker *linker);
bool sk_image_finish(struct sk_linker *linker);

/* Writes the value into a field, if it fits. */
void sk_relocate_field(struct sk_linker *linker, const struct sk_input_section *section,
		       const sk_elf_relocation *relocation, uint8_t *field, uint64_t value);

/* Copies the section's contents. */
void sk_section_copy(const struct sk_input_section *section, uint8_t *bytes);

/* The next part of the file. */
void sk_image_add(struct sk_linker *linker, uint64_t offset, const void *bytes, uint64_t size);

/* A section behind everything that is in the file. */
struct sk_output *sk_image_add_tail(struct sk_linker *linker, const char *name, uint32_t type, const void *bytes,
				    uint64_t size, uint64_t alignment);

/* Constants, and sections that are not loaded; .symtab's contents; .symtab and .strtab; all headers. */
void sk_image_add_uncopied(struct sk_linker *linker);
void sk_image_make_symbols(struct sk_linker *linker);
struct sk_output *sk_image_add_symbols(struct sk_linker *linker);
void sk_image_add_headers(struct sk_linker *linker);

/* Applies one relocation: `bytes` are those of the whole section (or record), that stand at `address` in the image and
 * begin at `base` in the section. */
void sk_relocate_one(struct sk_linker *linker, const struct sk_input_section *section,
		     const sk_elf_relocation *relocation, uint8_t *bytes, uint64_t base, uint64_t address);

/* Whether a GOT access of a live section is rewritten to reach the symbol directly. */
bool sk_is_relaxed(const struct sk_linker *linker, const struct sk_input_section *section,
		   const sk_elf_relocation *relocation, const struct sk_target *target);

/* With -r: whether the relocation must name its target by a symbol of the target's own, since section and offset would
 * not do: in a GOT access, and where a string or record is meant that the next linker may move. */
bool sk_needs_symbol(const struct sk_linker *linker, const struct sk_input_section *section,
		     const sk_elf_relocation *relocation, const struct sk_target *target);

/* The GOT slot of a target, or SK_NONE. */
uint32_t sk_slot_of(const struct sk_linker *linker, const struct sk_input_section *section,
		    const sk_elf_relocation *relocation, const struct sk_target *target);

static inline uint8_t *sk_image_at(const struct sk_linker *linker, const struct sk_input_section *section)
{
	return section == linker->uncopied ? (uint8_t *)section->bytes : linker->image + section->address;
}

static inline bool sk_is_made(const struct sk_linker *linker, enum sk_made made)
{
	return linker->made[made].output != NULL;
}

#endif
