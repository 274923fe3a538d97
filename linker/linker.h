/* linker/: objects in, one ET_DYN image out, or one ET_REL object. This library knows only ELF: no tasks, tensors or
 * scopes.
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

/* Sections of equal contents and meaning that are kept once: read-only ones, if their addresses are not compared, or
 * all of these and all code. */
enum sk_icf { SK_ICF_NONE, SK_ICF_SAFE, SK_ICF_ALL };

struct sk_linker_options {
	const char *const *search_paths; /* -L, in order; may be NULL */
	size_t search_path_count;
	const char *root; /* prefix of absolute paths in thin archives; NULL: none */
	const char *emulation; /* -m: the machine that all objects must be for; NULL: that of the first one */
	const char *soname; /* NULL: none */
	bool relocatable; /* -r: an object for the next linker instead of an image */
	uint64_t max_page_size; /* a power of two; 0: the architecture's */
	bool no_relro; /* data that only the loader writes stays writable */
	bool no_delete; /* dlclose leaves the image where it is */
	bool strip_debug; /* -S: no debug information */
	bool strip_all; /* no debug information, and no symbol table except the dynamic loader's */
	bool discard_locals; /* -x: no local symbols of objects in the symbol table */
	bool compress_debug; /* with zlib, if that makes it smaller */
	unsigned threads; /* number of threads; 0: one. The image is the same for every number */

	const char *const *assignments; /* --defsym: "symbol=symbol" or "symbol=number"; override all definitions */
	size_t assignment_count;
	const char *const *ifuncs; /* --ifunc: "symbol=function" */
	size_t ifunc_count;
	const char *const *wrapped; /* --wrap f: references to f mean __wrap_f, and to __real_f mean f */
	size_t wrapped_count;
	bool no_gc_sections; /* keep all sections of every pulled object */
	const char *version_script; /* names to be exported, and their versions; NULL: none */
	/* An isolated object's own definitions win for its own references, and never collide. */
	bool isolate_objects; /* all are isolated */
	const char *const *isolated; /* patterns of names of objects that are */
	size_t isolated_count;
	bool trap; /* uses of undefined symbols end the launch */
	const char *const *trapped; /* the same for these names */
	size_t trapped_count;
	bool warn_unresolved; /* the same for all, with a warning for each */
	bool allow_multiple_definition; /* the first of equally strong ones is chosen */

	const char *ordering_file; /* symbols; their sections come first, in this order; NULL: none */

	struct sk_timing *timing; /* records the times of the passes; NULL: not measured */
	enum sk_icf icf;

	bool no_demangle; /* names of C++ and Rust are shown as they are */

	/* Receives the lines that the options below ask for, without their newline. */
	void (*print)(void *context, const char *line);
	void *print_context;
	bool print_gc_sections; /* "removing unused section x.o:(.text.f)" */
	bool print_icf_sections; /* "selected section x.o:(.text.f)", "  removing identical section y.o:(.text.g)" */
	bool trace; /* the name of each object that takes part */
	const char *const *traced_symbols; /* "x.o: definition of f", "y.o: reference to f" */
	size_t traced_symbol_count;
	const char *const *asked_symbols; /* --why-live: lines on the references that reach each */
	size_t asked_symbol_count;
	bool cross_references; /* print the table of them: at the end of the map or, without a map, as lines */
	const char *map_file; /* -Map and --dependency-file; sk_linker_write writes them. NULL: none */
	const char *dependency_file;
	const char *extractions_file; /* --why-extract: a list of the pulled members, with the reasons; NULL: none */
	bool check; /* sk_linker_write writes no image */
};

struct sk_linker *sk_linker_create(struct sk_arena *arena, struct sk_diag *diag,
				   const struct sk_linker_options *options);
void sk_linker_destroy(struct sk_linker *linker);

/* ---- inputs, in command-line order ---- */

/* Add an object or an archive. Members of an archive are pulled on demand, or all of them with whole_archive. A file
 * given twice is one input. Return the input's number, or SK_NONE. */
uint32_t sk_linker_add_file(struct sk_linker *linker, const char *path, bool whole_archive);

/* A file that will be added. */
struct sk_ahead_path {
	const char *path;
	bool whole; /* with whole_archive */
};

/* Start to read files that will be added in this order, in all threads but the calling one, which takes part once the
 * first of them is added. Call it at most once; the paths must live until sk_linker_destroy. It affects only the time
 * of the link. */
void sk_linker_read_ahead(struct sk_linker *linker, const struct sk_ahead_path *paths, size_t count);

/* Wait until the threads have read all files, and end them: locks held by threads would stay locked in a child
 * process. */
void sk_linker_wait_ahead(struct sk_linker *linker);

/* Add lib<name>.a on the search paths for -l name, or the file of that name there for -l :name. */
uint32_t sk_linker_add_library(struct sk_linker *linker, const char *name, bool whole_archive);

/* Return the file that -l name means, or NULL without a message. */
const char *sk_linker_find_library(struct sk_linker *linker, const char *name);

/* Return the file `name` on the search paths (as -l:name has it), or NULL without a message. */
const char *sk_linker_search(struct sk_linker *linker, const char *name);

/* Add another file that the output is made from and that the caller reads. `listed` says whether the rule for make
 * lists it; leave it false for files that may be gone when make reads the rule. The path must live until
 * sk_linker_write has returned. */
void sk_linker_add_dependency(struct sk_linker *linker, const char *path, bool listed);

/* Call visit for every dependency and every file that the linker has read, in order. */
void sk_linker_visit_files(const struct sk_linker *linker, void (*visit)(void *context, const char *path),
			   void *context);

/* Return whether the file at that path is one of the inputs or dependencies, under whatever name it was given. */
bool sk_linker_has_input(struct sk_linker *linker, const char *path);

/* Return the ELF machine of the inputs (EM_…), or EM_NONE before the first object. */
uint16_t sk_linker_machine(const struct sk_linker *linker);

/* Require the symbol to be defined (-u); it and everything that it reaches stay. */
void sk_linker_require(struct sk_linker *linker, const char *symbol);

/* ---- kernels: functions, and the records of .sk.kernels ---- */

struct sk_kernel_record {
	const char *symbol;
	const char *signature; /* NULL: the object has no record for it */
	const char *object; /* "x.o" or "lib.a(member.o)" */
	bool member; /* it is an archive's member; a file may have any name */
	bool is_library; /* from an input of -l */
	uint32_t input;
	struct sk_place place; /* of the record, or of the symbol */
	sk_symbol code; /* the definition; SK_NONE in a record from sk_linker_visit_kernels */
};

/* The place to look for a function in. */
struct sk_lookup {
	uint32_t input; /* SK_NONE: in all inputs, in order, objects before archives' members */
	const char *member; /* the only member of this archive; NULL: any */
	bool local; /* in one input: a local function is found if no global one has the name */
	bool imported; /* in all inputs: an import is found if no function has the name */
};

#define SK_ANYWHERE ((struct sk_lookup){.input = SK_NONE})

/* Find the function `symbol`, pull its member, and fill the record. Return false without a message if there is none. If
 * a symbol exists but cannot be a kernel, put an error into the sink and return false. Such a symbol is not a function,
 * undefined, thread-local, an IFUNC, in an object of intermediate code only, local although `local` is not set, or one
 * of several local ones. */
bool sk_linker_find_kernel(struct sk_linker *linker, struct sk_lookup where, const char *symbol,
			   struct sk_kernel_record *record);

/* Find the signature record of a name that is not a global function: the name stands for several functions, or for a
 * local one. Return false if there is no record, or a function. The record has no code. */
bool sk_linker_find_record(struct sk_linker *linker, struct sk_lookup where, const char *name,
			   struct sk_kernel_record *record);

/* Call visit for every signature record in an input (SK_NONE: in all), pulled or not, in file order. */
void sk_linker_visit_kernels(struct sk_linker *linker, uint32_t input,
			     void (*visit)(void *context, const struct sk_kernel_record *record), void *context);

/* Return the names of defined functions, of local and imported ones if the lookup finds those, and of signature
 * records, for "did you mean". In the arena. */
const char *const *sk_linker_function_names(struct sk_linker *linker, struct sk_lookup where, size_t *count);

/* Return the name as shown to users: the text itself, or its demangled form, in the arena. */
const char *sk_demangled(const struct sk_linker *linker, const char *name);

/* Basic properties of a function. */
struct sk_function {
	uint64_t size; /* bytes, from its symbol, limited to its section; 0 if the symbol gives none */
	bool imported;
	bool leads_on; /* it reaches state, barriers or instruction sets, which the functions below return */
};

/* Return the properties of the function. Resolves the symbols known so far. */
struct sk_function sk_linker_look_at(struct sk_linker *linker, sk_symbol code);

/* Return the symbol that the name means in the object of the function to which the caller passes its address: a local
 * one of that object, or the one that references to the name mean. Return SK_NONE if it has no address that a package
 * can have in its code; *reason, in the arena, says why ("it is …"), or is NULL if the reason is in the sink. Resolves
 * the symbols known so far. */
sk_symbol sk_linker_find_address(struct sk_linker *linker, sk_symbol function, const char *name, const char **reason);

/* Collect the writable sections that the function reaches through relocations: its hidden state. Numbers are stable for
 * the linker's life; two kernels share a number if they share the section. The array is in the arena. Resolves the
 * symbols known so far (pulls members until nothing more is wanted). */
bool sk_linker_find_state(struct sk_linker *linker, sk_symbol code, const uint32_t **sections, size_t *count);

/* Return the name of a thread-local section that the function reaches, or NULL. *within_call is true if no value lasts
 * in this section, and in all others that it reaches, from call to call of a kernel. */
const char *sk_linker_thread_storage(struct sk_linker *linker, sk_symbol code, bool *within_call);

/* Return how to keep the machinery of panics out of the code's object, which has state, or NULL if it has none. */
const char *sk_linker_panic_advice(const struct sk_linker *linker, sk_symbol code);

/* Return the name of a function that the function reaches and in which threads wait for one another (ggml_barrier), or
 * NULL. */
const char *sk_linker_find_barrier(struct sk_linker *linker, sk_symbol code);

/* Join the writable sections that any of the functions or a constructor reaches into one hidden state. Call it before
 * sk_linker_find_state, once all functions are known. The function can leave the address of one section in another, and
 * a function that reaches the second then touches both. Symbols passed to a function count as reached by it: symbols
 * with the same owner, which must be adjacent, are treated as one. */
void sk_linker_join_states(struct sk_linker *linker, const sk_symbol *symbols, const uint32_t *owners, size_t count);

/* Return the instruction sets (bits of the machine's program property; x86-64: levels) needed by the objects of which
 * the function reaches sections. */
uint32_t sk_linker_find_isa(struct sk_linker *linker, sk_symbol code);

/* Do the same for the constructors and destructors of all objects that take part. */
uint32_t sk_linker_find_constructor_isa(struct sk_linker *linker);

/* Return whether the state is that of the C library's functions, which all packages share, and not a section. */
bool sk_linker_state_is_library(const struct sk_linker *linker, uint32_t state);

/* Return "name in object" of a state number, for messages. */
const char *sk_linker_state_name(struct sk_linker *linker, uint32_t state);

/* Begin to collect the sections that these functions reach, which are certain to be in the image, while the caller does
 * other work. The array must live as long as the linker. The caller must not change the linker until
 * sk_linker_wait_collected. */
void sk_linker_collect_ahead(struct sk_linker *linker, const sk_symbol *functions, size_t count);
void sk_linker_wait_collected(struct sk_linker *linker);

/* ---- sections of the caller ---- */

enum sk_section_kind {
	SK_SECTION_TEXT, /* R-X; these precede all other text */
	SK_SECTION_READ_ONLY, /* R-- */
	SK_SECTION_CONSTANTS, /* R--, in a segment of its own at the end of the image, page-aligned */
	SK_SECTION_CONSTANTS_ELSEWHERE, /* the same, but the image's loader takes the bytes from another file */
	SK_SECTION_ADDRESSES, /* R-- after the loader has written addresses there */
	SK_SECTION_DESTRUCTORS, /* addresses that are a part of .fini_array */
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
	uint8_t *bytes; /* instead of pieces: memory that is relocated in place, without a copy; for one section */
};

sk_section sk_linker_add_section(struct sk_linker *linker, const struct sk_section_spec *spec);

enum sk_symbol_kind { SK_SYMBOL_FUNCTION, SK_SYMBOL_OBJECT };

/* Define a symbol in a synthetic section. Exported ones are in .dynsym (with -r: global), the others are local in
 * .symtab; name NULL: only a handle, in no table. */
sk_symbol sk_linker_define(struct sk_linker *linker, sk_section section, const char *name, uint64_t offset,
			   uint64_t size, enum sk_symbol_kind kind, bool exported);

enum sk_relocation_kind {
	SK_RELOCATION_RELATIVE32, /* 32 bits: S + A - P */
	SK_RELOCATION_CALL, /* the architecture's direct call or jump at this offset */
	SK_RELOCATION_ADDRESS64, /* S + A; in SK_SECTION_ADDRESSES, SK_SECTION_DESTRUCTORS and SK_SECTION_DEBUG only */
	SK_RELOCATION_OFFSET32, /* 32 bits: offset of a debug section's symbol in the output section, plus A; in
				   SK_SECTION_DEBUG only */
};

void sk_linker_relocate(struct sk_linker *linker, sk_section section, uint64_t offset, enum sk_relocation_kind kind,
			sk_symbol target, int64_t addend);

/* Place the kernel's text after the synthetic text: first call, first placed. Text of other functions follows in input
 * order. `caller` names the kernel's caller for messages, or is NULL; it must live as long as the linker. */
void sk_linker_order(struct sk_linker *linker, sk_symbol code, const char *caller);

/* Note that the kernel's caller, `caller`, passes it the symbol's address: in messages, the kernel also reaches
 * everything that the symbol reaches. */
void sk_linker_hand(struct sk_linker *linker, sk_symbol code, const char *caller, sk_symbol symbol);

/* Give the function a label: if another function has its name and its size, the function is also in the symbol table as
 * NAME.LABEL. The label must live until sk_linker_finish has returned. */
void sk_linker_label(struct sk_linker *linker, sk_symbol code, const char *label);

/* Align the function's start to this power of two. sk_linker_make fails if another function of its section makes that
 * impossible. */
void sk_linker_align(struct sk_linker *linker, sk_symbol code, uint32_t alignment);

/* Make another copy of the function's section, its number-th (from 1), with its own code; everything else is shared.
 * Not with -r. The copy's text follows that of all functions ordered so far. Return SK_NONE after an error at `place`:
 * it cannot be copied, or there are more than 64 MiB of copies. */
sk_symbol sk_linker_copy(struct sk_linker *linker, sk_symbol code, uint32_t number, struct sk_place place);

/* Add these instruction sets to those that the image needs. */
void sk_linker_need_isa(struct sk_linker *linker, uint32_t levels);

/* ---- the link ---- */

/* Resolve symbols, drop the sections that no exported synthetic symbol, synthetic relocation or required symbol
 * reaches, and check every relocation of the rest. */
bool sk_linker_choose(struct sk_linker *linker);

/* Lay out and relocate, after sk_linker_choose. Until it returns, the caller's bytes are only read, so other threads
 * may also read them. */
bool sk_linker_make(struct sk_linker *linker);

/* Relocate the bytes that may be changed in place, after sk_linker_make. The image in memory is then complete. */
bool sk_linker_finish(struct sk_linker *linker);

enum sk_reach_kind {
	SK_REACH_TEXT,
	SK_REACH_READ_ONLY, /* when it is loaded */
	SK_REACH_WRITABLE,
	SK_REACH_KINDS,
};

/* A kernel: its functions, and the symbols passed to it by address. */
struct sk_roots {
	const sk_symbol *symbols;
	size_t count;
};

/* Bytes of the sections that a kernel reaches through relocations, including those of its roots: sections that no other
 * measured kernel reaches, and the others. */
struct sk_reach {
	uint64_t own[SK_REACH_KINDS], shared[SK_REACH_KINDS];
};

/* Measure the sections that each of the kernels reaches in a complete image; in the total, shared sections count
 * once. */
void sk_linker_measure(struct sk_linker *linker, const struct sk_roots *kernels, size_t count, struct sk_reach *reaches,
		       struct sk_reach *total);

/* Set a text for the end of the map. It must live until sk_linker_write has returned. */
void sk_linker_end_map(struct sk_linker *linker, const char *text);
/* Return the bytes that sk_linker_write is going to write, in one piece, in the arena. */
const uint8_t *sk_linker_bytes(struct sk_linker *linker, uint64_t *size);

/* Return the parts of the file of a successful link; bytes outside all parts are zero. */
const struct sk_file_part *sk_linker_parts(const struct sk_linker *linker, size_t *count);

/* Return the hash (XXH3-128, canonical) of `size` bytes of that file at the offset, or NULL if the link does not have
 * it. It has the hash of the constants if nothing else is loaded with them. */
const uint8_t *sk_linker_hash(const struct sk_linker *linker, uint64_t offset, uint64_t size);

/* Return the contents of a loaded synthetic section without constants, within a part. They may be changed until
 * sk_linker_write. */
void *sk_linker_contents(struct sk_linker *linker, sk_section section);

/* Write the image, after the map and the dependencies; sk_files_finish (base/file.h) renames the files. The draft, if
 * there is one, may hold constants already. */
bool sk_linker_write(struct sk_linker *linker, const char *path, const struct sk_file_draft *draft);

/* Counts of a successful link. */
struct sk_linker_statistics {
	uint64_t inputs, input_size; /* files, and bytes with those of members of thin archives */
	uint64_t objects, pulled; /* all, and those that took part */
	/* In the objects that took part: */
	uint64_t symbols;
	/* Sections that are not empty; those in the image; those of COMDAT groups provided before; those replaced by an
	 * equal one. */
	uint64_t sections, kept, replaced, folded;
	uint64_t fragments, entries; /* strings and records that are needed, and distinct ones */
	uint64_t relocations; /* applied */
	uint64_t output_size; /* bytes of the file */
};

void sk_linker_count(const struct sk_linker *linker, struct sk_linker_statistics *statistics);

#endif
