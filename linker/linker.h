/* linker/: objects in, one ET_DYN image out, or one ET_REL object. This room knows ELF and nothing else: no tasks,
 * tensors or scopes.
 *
 * Order of calls:  sk_linker_create, inputs, (kernel look-ups, required symbols), synthetic sections and symbols,
 * sk_linker_choose, sk_linker_make, sk_linker_finish, sk_linker_write, sk_files_finish, sk_linker_destroy.
 *
 * Functions that can fail return false (or a NONE value) after putting the text into the diagnostics sink. */
#ifndef SK_LINKER_H
#define SK_LINKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/map.h"

struct sk_arena;
struct sk_file_draft;
struct sk_file_part;
struct sk_linker;
struct sk_timing;

typedef uint32_t sk_symbol; /* handle of a symbol; SK_NONE: none */
typedef uint32_t sk_section; /* handle of a synthetic section */

/* Which sections of equal contents and meaning are kept once: read-only ones whose addresses nobody compares, or all of
 * these and all code. */
enum sk_icf { SK_ICF_NONE, SK_ICF_SAFE, SK_ICF_ALL };

struct sk_linker_options {
	const char *const *search_paths; /* -L, in order; may be NULL */
	size_t search_path_count;
	const char *root; /* where members of thin archives with absolute paths lie; NULL: where the paths say */
	const char *emulation; /* -m: the machine that all objects must be for; NULL: that of the first one */
	const char *soname; /* NULL: none */
	bool relocatable; /* -r: an object for the next linker instead of an image */
	uint64_t max_page_size; /* a power of two; 0: the architecture's */
	bool no_relro; /* what only the loader writes stays writable */
	bool no_delete; /* dlclose leaves the image where it is */
	bool strip_debug; /* -S: no debug information */
	bool strip_all; /* -s: none, and no symbol table but the one for the dynamic loader */
	bool discard_locals; /* -x: no local symbols of objects in the symbol table */
	bool compress_debug; /* with zlib, where that makes it smaller */
	unsigned threads; /* that may work at the same time; 0: one. The image is the same for every number */

	const char *const *assignments; /* --defsym: "symbol=symbol" or "symbol=number"; they outdo all definitions */
	size_t assignment_count;
	const char *const *ifuncs; /* --ifunc: "symbol=function" */
	size_t ifunc_count;
	const char *const *wrapped; /* --wrap f: references to f mean __wrap_f, and to __real_f mean f */
	size_t wrapped_count;
	bool no_gc_sections; /* all of every object that is pulled stays */
	const char *version_script; /* names to be exported, and their versions; NULL: none */
	bool isolate_objects; /* each object's own definitions win for its own references, and never collide */
	bool trap; /* calls of functions that nothing defines end the launch */
	const char *const *trapped; /* the same for these names */
	size_t trapped_count;
	bool warn_unresolved; /* the same for all, with a warning for each */
	bool allow_multiple_definition; /* of equally strong ones the first counts */

	const char *ordering_file; /* symbols whose sections come first, in this order; NULL: none */

	struct sk_timing *timing; /* takes the times of the passes; NULL: nobody wants to know */
	enum sk_icf icf;

	bool no_demangle; /* names of C++ and Rust are shown as they are */

	/* Takes the lines that the options below ask for, without their newline. */
	void (*print)(void *context, const char *line);
	void *print_context;
	bool print_gc_sections; /* "removing unused section x.o:(.text.f)" */
	bool print_icf_sections; /* "selected section x.o:(.text.f)", "  removing identical section y.o:(.text.g)" */
	bool trace; /* the name of each object that takes part */
	const char *const *traced_symbols; /* "x.o: definition of f", "y.o: reference to f" */
	size_t traced_symbol_count;
	const char *const *asked_symbols; /* --why-live: lines on what each is reached from */
	size_t asked_symbol_count;
	bool cross_references; /* the table of them, at the end of the map or, without one, as lines */
	const char *map_file; /* -Map and --dependency-file; sk_linker_write writes them. NULL: none */
	const char *dependency_file;
	const char *extractions_file; /* --why-extract: which members take part, and why; NULL: none */
	bool check; /* sk_linker_write writes no image */
};

struct sk_linker *sk_linker_create(struct sk_arena *arena, struct sk_diag *diag,
				   const struct sk_linker_options *options);
void sk_linker_destroy(struct sk_linker *linker);

/* ---- inputs, in command-line order ---- */

/* Adds an object or an archive. Members of an archive are pulled on demand, or all of them with whole_archive. A file
 * given twice is one input. Returns the input's number, or SK_NONE. */
uint32_t sk_linker_add_file(struct sk_linker *linker, const char *path, bool whole_archive);

/* A file that will be added. */
struct sk_ahead_path {
	const char *path;
	bool whole; /* with whole_archive */
};

/* Starts to read files that will be added in this order, in all threads but the calling one, which takes part once the
 * first of them is added. At most once; the paths must live until sk_linker_destroy. Nothing depends on it but the
 * time. */
void sk_linker_read_ahead(struct sk_linker *linker, const struct sk_ahead_path *paths, size_t count);

/* Until they have read all of it, and end: what threads lock stays locked in a child process. */
void sk_linker_wait_ahead(struct sk_linker *linker);

/* -l name: lib<name>.a on the search paths; -l :name: the file of that name there. */
uint32_t sk_linker_add_library(struct sk_linker *linker, const char *name, bool whole_archive);

/* The file that -l name means, or NULL; says nothing. */
const char *sk_linker_find_library(struct sk_linker *linker, const char *name);

/* The file `name` on the search paths (as -l:name has it), or NULL; says nothing. */
const char *sk_linker_search(struct sk_linker *linker, const char *name);

/* Another file that the output is made from, which the caller reads; listed in the rule for make unless it may be gone
 * when that is looked at. The path must live until sk_linker_write has
 * returned. */
void sk_linker_add_dependency(struct sk_linker *linker, const char *path, bool listed);

/* Calls visit for every dependency and every file that the linker has read, in order. */
void sk_linker_visit_files(const struct sk_linker *linker, void (*visit)(void *context, const char *path),
			   void *context);

/* True if the file at that path is one of the inputs or dependencies, under whatever name it was given. */
bool sk_linker_has_input(struct sk_linker *linker, const char *path);

/* The ELF machine of the inputs (EM_…), or EM_NONE before the first object. */
uint16_t sk_linker_machine(const struct sk_linker *linker);

/* -u: the symbol must be defined; it and what it reaches stay. */
void sk_linker_require(struct sk_linker *linker, const char *symbol);

/* ---- kernels: functions, and the records of .sk.kernels ---- */

struct sk_kernel_record {
	const char *symbol;
	const char *signature; /* NULL: the object has none for it */
	const char *object; /* "x.o" or "lib.a(member.o)" */
	bool member; /* it is an archive's; a file may have any name */
	bool is_library; /* of an input that -l names */
	uint32_t input;
	struct sk_place place; /* of the record, or of the symbol */
	sk_symbol code; /* the definition; SK_NONE in a record from sk_linker_visit_kernels */
};

/* Where a function is looked for. */
struct sk_lookup {
	uint32_t input; /* SK_NONE: in all inputs, in order, objects before archives' members */
	const char *member; /* the only one of this archive; NULL: any */
	bool local; /* of an input: a local function counts where no global one has the name */
	bool imported; /* of all inputs: one that packages import counts where none has the name */
};

#define SK_ANYWHERE ((struct sk_lookup){.input = SK_NONE})

/* Finds the function `symbol`, pulls its member, and fills the record. False, silently, if there is none. A symbol that
 * is there but cannot be a kernel (not a function, undefined, thread-local, IFUNC, in an object of intermediate code
 * only, local where that does not count, one of several local ones) is an error in the sink, and false. */
bool sk_linker_find_kernel(struct sk_linker *linker, struct sk_lookup where, const char *symbol,
			   struct sk_kernel_record *record);

/* The signature record of that name where no global function has the name: the name stands for several functions, or a
 * local one. False if there is none, or a function. The record has no code. */
bool sk_linker_find_record(struct sk_linker *linker, struct sk_lookup where, const char *name,
			   struct sk_kernel_record *record);

/* Calls visit for every signature record in an input (SK_NONE: in all), pulled or not, in file order. */
void sk_linker_visit_kernels(struct sk_linker *linker, uint32_t input,
			     void (*visit)(void *context, const struct sk_kernel_record *record), void *context);

/* Names of defined functions, and of local and imported ones where they count, and of signature records, for "did you
 * mean". In the arena. */
const char *const *sk_linker_function_names(struct sk_linker *linker, struct sk_lookup where, size_t *count);

/* The name as users are shown it: the text itself, or what its mangled name says, in the arena. */
const char *sk_demangled(const struct sk_linker *linker, const char *name);

/* What is known of a function at once. */
struct sk_function {
	uint64_t size; /* bytes, as its symbol says, as far as they lie in its section; 0 if that says nothing */
	bool imported;
	bool leads_on; /* it reaches some of what the questions below are about: state, barriers, instruction sets */
};

/* Resolves what is known so far. */
struct sk_function sk_linker_look_at(struct sk_linker *linker, sk_symbol code);

/* Resolves what is known so far. The symbol that the name means in the object of the function, whose address the caller
 * hands to it: a local one of that object, or what references to the name mean. SK_NONE: it has no address that a
 * package can have in its code, and *reason, in the arena, says why ("it is …"); NULL if that is in the sink. */
sk_symbol sk_linker_find_address(struct sk_linker *linker, sk_symbol function, const char *name, const char **reason);

/* Resolves what is known so far (pulls members until nothing more is wanted) and collects the writable sections that
 * the function reaches through relocations: its hidden state. Numbers are stable for the linker's life; two kernels
 * share a number if they share the section. The array is in the arena. */
bool sk_linker_find_state(struct sk_linker *linker, sk_symbol code, const uint32_t **sections, size_t *count);

/* The name of a thread-local section that the function reaches, or NULL. */
const char *sk_linker_thread_storage(struct sk_linker *linker, sk_symbol code);

/* The name of a function that the function reaches, and in which threads wait for one another (ggml_barrier), or NULL.
 */
const char *sk_linker_find_barrier(struct sk_linker *linker, sk_symbol code);

/* Before sk_linker_find_state, once all functions are known: writable sections that one of them or a constructor
 * reaches are one hidden state from now on. It can leave the address of one of them in another, and then whoever
 * reaches that one touches both. A function also reaches what it is handed: symbols with the same owner, which stand
 * together, are as one. */
void sk_linker_join_states(struct sk_linker *linker, const sk_symbol *symbols, const uint32_t *owners, size_t count);

/* The instruction sets (bits of the machine's program property; x86-64: levels) that objects need of which the function
 * reaches something. */
uint32_t sk_linker_find_isa(struct sk_linker *linker, sk_symbol code);

/* The same of the constructors and destructors of all objects that take part. */
uint32_t sk_linker_find_constructor_isa(struct sk_linker *linker);

/* Whether the state is not a section, but the one that functions of the C library keep; all packages share it. */
bool sk_linker_state_is_library(const struct sk_linker *linker, uint32_t state);

/* "name in object" of a state number, for messages. */
const char *sk_linker_state_name(struct sk_linker *linker, uint32_t state);

/* Begins to collect what these functions reach, which are going to be in the image in any case, beside what the caller
 * does. The array must live as long as the linker, which the caller must not change until sk_linker_wait_collected. */
void sk_linker_collect_ahead(struct sk_linker *linker, const sk_symbol *functions, size_t count);
void sk_linker_wait_collected(struct sk_linker *linker);

/* ---- what the caller synthesizes ---- */

enum sk_section_kind {
	SK_SECTION_TEXT, /* R-X; these precede all other text */
	SK_SECTION_READ_ONLY, /* R-- */
	SK_SECTION_CONSTANTS, /* R--, in a segment of its own at the end of the image, page-aligned */
	SK_SECTION_CONSTANTS_ELSEWHERE, /* the same, but whoever loads the image takes the bytes from another file */
	SK_SECTION_ADDRESSES, /* R-- once the loader has written addresses there */
	SK_SECTION_DESTRUCTORS, /* such a one that is a part of .fini_array */
	SK_SECTION_EH_FRAME, /* joined with the inputs' .eh_frame */
	SK_SECTION_DEBUG, /* debug information, joined with the inputs' of that name */
	SK_SECTION_NOT_LOADED, /* kept in the file only */
};

/* A piece of a section's contents. Gaps between pieces are zero. */
struct sk_piece {
	uint64_t offset;
	const void *bytes; /* must live until sk_linker_write has returned */
	uint64_t size;
};

struct sk_section_spec {
	const char *name; /* ".text.f": the output section is .text */
	enum sk_section_kind kind;
	uint64_t alignment;
	uint64_t size;
	const struct sk_piece *pieces;
	size_t piece_count;
	uint8_t *bytes; /* instead of pieces: memory that is relocated where it is, without a copy; for one section */
};

sk_section sk_linker_add_section(struct sk_linker *linker, const struct sk_section_spec *spec);

enum sk_symbol_kind { SK_SYMBOL_FUNCTION, SK_SYMBOL_OBJECT };

/* Defines a symbol in a synthetic section. Exported ones are in .dynsym (with -r: global), the others are local in
 * .symtab; name NULL: only a handle, in no table. */
sk_symbol sk_linker_define(struct sk_linker *linker, sk_section section, const char *name, uint64_t offset,
			   uint64_t size, enum sk_symbol_kind kind, bool exported);

enum sk_relocation_kind {
	SK_RELOCATION_RELATIVE32, /* 32 bits: S + A - P */
	SK_RELOCATION_CALL, /* the architecture's direct call or jump at this offset */
	SK_RELOCATION_ADDRESS64, /* S + A; in SK_SECTION_ADDRESSES, SK_SECTION_DESTRUCTORS and SK_SECTION_DEBUG only */
	SK_RELOCATION_OFFSET32, /* 32 bits: where a debug section's symbol lies in the output section, plus A; in
				    SK_SECTION_DEBUG only */
};

void sk_linker_relocate(struct sk_linker *linker, sk_section section, uint64_t offset, enum sk_relocation_kind kind,
			sk_symbol target, int64_t addend);

/* The order of kernels' text behind the synthetic text: first call, first placed. Text of functions that are not named
 * follows in input order. `caller` is who calls the kernel, for messages; NULL: nobody in particular. It must live as
 * long as the linker. */
void sk_linker_order(struct sk_linker *linker, sk_symbol code, const char *caller);

/* Who calls the kernel, `caller`, hands it the symbol's address: what that reaches, the kernel reaches, in messages. */
void sk_linker_hand(struct sk_linker *linker, sk_symbol code, const char *caller, sk_symbol symbol);

/* Where another function has its name and its size, a function with a label is in the symbol table as NAME.LABEL, too.
 * The label must live until sk_linker_finish has returned. */
void sk_linker_label(struct sk_linker *linker, sk_symbol code, const char *label);

/* The function is to begin at a multiple of this power of two. An error of sk_linker_make if it cannot, since it stands
 * with another one in a section. */
void sk_linker_align(struct sk_linker *linker, sk_symbol code, uint32_t alignment);

/* Another copy of the function's section, its number-th (from 1), with its own code and everything else shared. Not
 * with -r. The copy's text follows that of all functions that have been ordered so far. SK_NONE after an error, which
 * the place goes with: it cannot be copied, or there are more than 64 MiB of copies. */
sk_symbol sk_linker_copy(struct sk_linker *linker, sk_symbol code, uint32_t number, struct sk_place place);

/* The image needs these instruction sets, too. */
void sk_linker_need_isa(struct sk_linker *linker, uint32_t levels);

/* ---- the link ---- */

/* Resolves, collects what neither an exported synthetic symbol, a synthetic relocation nor a required symbol reaches,
 * and looks at every relocation of the rest. */
bool sk_linker_choose(struct sk_linker *linker);

/* Behind it: lays out, relocates. Up to here the caller's bytes are only read, as others may do meanwhile. */
bool sk_linker_make(struct sk_linker *linker);

/* Behind it: relocates those that are for it to change. The image is complete in memory afterwards. */
bool sk_linker_finish(struct sk_linker *linker);

enum sk_reach_kind {
	SK_REACH_TEXT,
	SK_REACH_READ_ONLY, /* when it is loaded */
	SK_REACH_WRITABLE,
	SK_REACH_KINDS,
};

/* A kernel: its functions, and what it is handed the address of. */
struct sk_roots {
	const sk_symbol *symbols;
	size_t count;
};

/* Bytes of sections that a kernel reaches through relocations, those of its roots included: sections that no others
 * asked about reach, and the others. */
struct sk_reach {
	uint64_t own[SK_REACH_KINDS], shared[SK_REACH_KINDS];
};

/* What each of the kernels reaches in an image that is complete; in the total, sections that are shared count once. */
void sk_linker_measure(struct sk_linker *linker, const struct sk_roots *kernels, size_t count, struct sk_reach *reaches,
		       struct sk_reach *total);

/* Text for the end of the map. It must live until sk_linker_write has returned. */
void sk_linker_end_map(struct sk_linker *linker, const char *text);
/* What sk_linker_write is going to write, in one piece, in the arena. */
const uint8_t *sk_linker_bytes(struct sk_linker *linker, uint64_t *size);

/* The parts of the file of a link that has succeeded; what none covers is zeros. */
const struct sk_file_part *sk_linker_parts(const struct sk_linker *linker, size_t *count);

/* The hash (XXH3-128, canonical) of so many bytes of that file at the offset, if the link has one: it has that of
 * constants where nothing else is loaded with them. NULL: it has none. */
const uint8_t *sk_linker_hash(const struct sk_linker *linker, uint64_t offset, uint64_t size);

/* Where the contents of a synthetic section that is loaded, and no constants, stand in a part. May be changed until
 * sk_linker_write. */
void *sk_linker_contents(struct sk_linker *linker, sk_section section);

/* Writes the image, after the map and the dependencies; sk_files_finish (base/file.h) makes them the files of their
 * names. Of the draft, if there is one, may be constants. */
bool sk_linker_write(struct sk_linker *linker, const char *path, const struct sk_file_draft *draft);

/* What a link that has succeeded has handled. */
struct sk_linker_statistics {
	uint64_t inputs, input_size; /* files, and bytes with those of members of thin archives */
	uint64_t objects, pulled; /* that there are, and that took part */
	/* Of the objects that took part: */
	uint64_t symbols;
	/* Sections that are not empty; those in the image; of COMDAT groups given before; with an equal one in their
	 * place. */
	uint64_t sections, kept, replaced, folded;
	uint64_t fragments, entries; /* strings and records that are needed, and different ones */
	uint64_t relocations; /* applied */
	uint64_t output_size; /* bytes of the file */
};

void sk_linker_count(const struct sk_linker *linker, struct sk_linker_statistics *statistics);

#endif
