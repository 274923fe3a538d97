/* The input: objects, their sections and symbols, and the texts that name them. */
#ifndef SK_LINKER_OBJECT_H
#define SK_LINKER_OBJECT_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "format/import-row.h"
#include "linker/linker.h"

struct sk_architecture;
struct sk_arena;
struct sk_map;

/* ==== sections ====
 *
 * Sections of all origins, and basic questions about them: kind, place, name, and the section that replaces one after
 * folding. */

struct sk_linker;
struct sk_object;
struct sk_output;
struct sk_merged;

/* Definitions that old versions of elf.h lack. */
#ifndef SHF_GNU_RETAIN
#define SHF_GNU_RETAIN (1 << 21)
#endif
#ifndef SHT_LLVM_ADDRSIG
#define SHT_LLVM_ADDRSIG 0x6fff4c03
#endif

/* Records as in files. Members of archives are aligned to two bytes only, so no alignment is assumed. */
typedef Elf64_Ehdr sk_elf_header __attribute__((aligned(1)));
typedef Elf64_Shdr sk_elf_section __attribute__((aligned(1)));
typedef Elf64_Sym sk_elf_symbol __attribute__((aligned(1)));
typedef Elf64_Rela sk_elf_relocation __attribute__((aligned(1)));
typedef uint32_t sk_elf_word __attribute__((aligned(1)));

/* A CIE or an FDE of an .eh_frame section. */
struct sk_frame {
	struct sk_input_section *section; /* the .eh_frame section that holds it */
	struct sk_frame *cie; /* of an FDE; NULL: this is a CIE */
	struct sk_input_section *function; /* of an FDE: section of the code that it describes, or NULL */
	struct sk_frame *next; /* the next FDE of the same section of code */
	const sk_elf_relocation *relocations;
	uint32_t relocation_count;
	uint32_t offset, size; /* in the section, with the length field */
	bool marked; /* a CIE: its references are live */
	bool copied; /* an FDE of a copy of a section: its relocation names the original's code */
	bool scanned; /* as of sections */
	bool live;
	union {
		uint64_t output_offset; /* in the joined .eh_frame */
		uint32_t number; /* of a CIE, only while folding: equal ones share it; 0: none yet */
	};
};

/* A string or a record of a mergeable section. */
struct sk_fragment {
	uint32_t offset; /* in the section; it ends where the next one begins */
	uint32_t entry; /* SK_NONE: not needed; otherwise, from sk_merge on, its number in the merged section */
};

/* A property of an object's machine code, see notes.c. */
struct sk_property {
	uint32_t type; /* GNU_PROPERTY_… */
	uint64_t value;
	uint32_t note; /* number of its note within the object */
};

/* A section that may become part of the image: an object's, a synthetic one, a common symbol's or one that the linker
 * makes. There are many: each takes two cache lines, so fields that exclude each other share memory. */
struct sk_input_section {
	/* The fields that every pass over relocations reads are adjacent: links are bound by memory accesses. */
	struct sk_object *object; /* NULL: not from an object */
	const uint8_t *bytes; /* NULL: zeros, pieces, or made by the linker */
	union {
		uint64_t address;
		uint64_t compressed_size; /* of debug information, as long as its flags say that it is compressed */
	};
	union {
		const sk_elf_relocation *relocations; /* unless it is mergeable */
		struct sk_merged *merged; /* if it is: the merged section; NULL before sk_merge */
	};
	uint32_t flags; /* SHF_… */
	uint32_t relocation_count;
	uint32_t visit; /* the last search from kernels that visited it */
	uint32_t type; /* SHT_… */
	uint32_t alignment; /* a power of two: of the byte at offset `aligned` */
	bool loaded; /* SHF_ALLOC, and not one that the linker reads itself */
	bool debug; /* debug information: not loaded, but kept */
	bool mergeable; /* equal strings or records may be joined */
	bool note; /* known to be well-formed, and part of a PT_NOTE segment if it is live */
	bool scanned; /* the collection has found that sk_scan has nothing to do for its relocations */
	bool discarded; /* member of a COMDAT group that another object has provided already */
	bool live;
	bool holds_addresses; /* has relocations that the loader must apply */
	bool significant; /* a program may compare its address */
	bool in_range; /* part of a range, or a bound of one */
	bool within_call; /* no value in it affects a later call of a kernel */
	uint8_t rank; /* of a section that is not an object's: enum sk_rank */

	uint64_t size;
	const char *name;
	struct sk_output *output; /* NULL before the layout, and if the section is not in the image */
	union {
		struct sk_frame *frames; /* FDEs that describe the code in it, unless it is mergeable */
		struct sk_fragment *fragments; /* of a mergeable section that is reached, in order */
	};
	union {
		struct sk_input_section *folded; /* of an object's: the equal live one that replaces it, or NULL */
		const struct sk_piece *pieces; /* of one that is not an object's */
		struct sk_section_range *range; /* of a bound */
	};
	union {
		uint32_t fragment_count; /* of an object's */
		uint32_t piece_count; /* of one that is not an object's */
	};
	uint32_t entry_size; /* of a mergeable section, and of one that the linker makes */
	uint32_t aligned; /* 0, except in sections of code with an aligned function */
	uint32_t state; /* number of this hidden state, or SK_NONE */
	uint32_t candidate; /* number for folding, from 1; 0: not a candidate */
	uint32_t node; /* number in linker->reached.nodes, from 1; 0: not reached by a function looked at */
};

_Static_assert(sizeof(struct sk_input_section) == 128, "see above");

/* ---- section.c ---- */

/* Return the place of a byte in a section. */
struct sk_place sk_section_place(struct sk_arena *arena, const struct sk_input_section *section, uint64_t offset);

/* Return whether merge.c has made the section: its output section has the contents. */
static inline bool sk_is_merged(const struct sk_input_section *section)
{
	return !section->object && (section->flags & SHF_MERGE);
}

/* Copy the section's contents. */
void sk_section_copy(const struct sk_input_section *section, uint8_t *bytes);

/* Return the section that replaces this one after folding; most sections are not replaced. */
static inline struct sk_input_section *sk_section_follow(struct sk_input_section *section)
{
	return !section->live && section->object && section->folded ? section->folded : section;
}

/* ---- names ---- */

/* Return whether the first three characters are equal. Most names begin with a dot and differ in one of the next two
 * characters, and every section of every object is compared some twenty times. `text` has at least three characters. */
static inline bool sk_begins_alike(const char *name, const char *text)
{
	return name[0] == text[0] && name[1] == text[1] && name[2] == text[2];
}

/* The section with the flag for code that needs an executable stack. */
#define SK_STACK_NOTE ".note.GNU-stack"

static inline bool sk_is_called(const char *name, const char *text)
{
	return sk_begins_alike(name, text) && !strcmp(name, text);
}

/* Return whether the name begins with the prefix. */
static inline bool sk_starts_with(const char *name, const char *prefix)
{
	return sk_begins_alike(name, prefix) && !strncmp(name, prefix, strlen(prefix));
}

/* Return whether the name is the prefix, or the prefix, a dot and more. */
static inline bool sk_is_kind(const char *name, const char *prefix)
{
	size_t length = strlen(prefix);

	return sk_starts_with(name, prefix) && (name[length] == 0 || name[length] == '.');
}

/* Return whether the section is a table of constructors or of destructors. */
static inline bool sk_is_constructors(const struct sk_input_section *section)
{
	return section->type == SHT_INIT_ARRAY || section->type == SHT_FINI_ARRAY;
}

/* Return whether code can refer to the section's bounds as __start_NAME and __stop_NAME. */
bool sk_is_identifier(const char *name);

/* ---- ranges.c ---- */

/* The sections of one name that is a C identifier. Code can walk over them, from __start_NAME to __stop_NAME. */
struct sk_section_range {
	const char *name;
	struct sk_input_section start, stop; /* empty ones that hold the symbols */
	SK_ARRAY(struct sk_input_section *) sections; /* of pulled objects */
};

/* Enter the section into the range of its name, if it has one, and provide the symbols. */
void sk_range_add(struct sk_linker *linker, struct sk_input_section *section);

/* Return the range that the section is a bound of, or NULL. A reference to a bound needs all sections of the range. */
const struct sk_section_range *sk_range_bounded(const struct sk_input_section *section);

/* Put each range into one output section, before the layout. Return false if that is impossible. */
bool sk_ranges_unify(struct sk_linker *linker);

/* Set the addresses of the bounds, after the layout. */
void sk_ranges_place(struct sk_linker *linker);

/* ==== object.c ====
 *
 * Objects, the files and archives that they come from, and the functions that read and check them. These functions know
 * only a reader and not the linker, so several threads can read. */

/* The entry of a section number. */
struct sk_section_entry {
	uint32_t name; /* in section_names */
	uint32_t part; /* number in the object's parts; their count: the section cannot be part of the output */
};

/* A section group. */
struct sk_section_group {
	const char *name; /* its signature */
	const sk_elf_word *members; /* section numbers */
	uint64_t count;
	bool comdat;
};

/* Fields that few objects need. */
struct sk_object_more {
	const sk_elf_word *far_sections; /* SHT_SYMTAB_SHNDX, or NULL */
	const uint8_t *significant_symbols; /* contents of .llvm_addrsig, or NULL */
	uint64_t significant_size;
	const char *versioned_names; /* `names` with the default versions of definitions; NULL: no name has a version */
	struct sk_map *records; /* offsets of signature records by symbol; NULL before the first lookup */
	/* Only for loaded objects: */
	struct sk_section_group *groups;
	uint32_t group_count;
	uint32_t property_notes; /* number of notes with the properties */
	SK_ARRAY(struct sk_property) properties;
};

/* A relocatable object: a file or a member of an archive. */
struct sk_object {
	/* The fields that every pass over relocations reads. */
	const sk_elf_symbol *symbols;
	uint32_t *globals; /* for each symbol from first_global: its number in the linker's table; of an undefined one,
			      once the object has been pulled */
	const char *names; /* of symbols */
	uint32_t symbol_count;
	uint32_t first_global;
	/* Only for loaded objects: */
	const struct sk_section_entry *entries; /* by section number */
	struct sk_input_section *parts; /* sections that can be part of the output */
	uint32_t header_count;
	uint32_t part_count;
	bool transient; /* the needed bytes are copied when the object is loaded */
	bool obsolete_debug; /* has debug information that has been dropped */
	bool unreadable_debug; /* the same, as it is compressed with zstd */
	bool executable_stack; /* its code needs one */
	bool loaded;
	bool pulled;
	bool rooted; /* everything in it that is needed without a reference has been marked */
	bool reached; /* one of its sections is live */
	bool unscanned : 1; /* sk_scan may have something to do in these or in their unwind records */
	bool annotated : 1; /* has debug information, or notes */
	bool joined_by_name : 1; /* has sections replaced by or joined with others of the same name */
	bool isolated : 1; /* its definitions are symbols of its own */
	bool plain; /* whatever the link is, its sections reach nothing that state.c looks for */

	const char *path; /* of the file */
	const char *member; /* name in the archive, not terminated; NULL: the object is a file of its own */
	const uint8_t *bytes; /* NULL: the needed bytes have been copied */
	const struct sk_architecture *architecture;
	const sk_elf_section *headers; /* NULL once they are gone */
	const char *section_names;
	const char *kernel_records; /* contents of .sk.kernels, or NULL */
	const struct sk_object_more *more; /* shared by objects without these fields */
	uint32_t member_length;
	uint32_t input;
	uint32_t kernel_records_size;
	uint32_t symbol_table; /* section number, 0: none */
	/* Only for loaded objects: */
	struct sk_frame *frames;
	uint32_t *local_slots; /* GOT slots of local symbols, or NULL */
	uint32_t frame_count;
	uint32_t isa; /* instruction sets that it needs: the architecture's isa_property */
};

/* A file that has been read: an input, or a member that a thin archive refers to. */
struct sk_file {
	const char *path;
	const uint8_t *bytes;
	uint64_t size;
	bool mapped;
};

/* A member of an archive. */
struct sk_member {
	const char *name; /* not terminated */
	uint32_t name_length;
	uint64_t offset; /* of its header */
	const uint8_t *bytes; /* NULL: in a thin archive, before the file has been read */
	uint64_t size;
	struct sk_object *object; /* once it has been opened; NULL: not an object, or a bad one */
	bool intermediate; /* it holds intermediate code only */
};

/* The contents of an archive. */
struct sk_contents {
	SK_ARRAY(struct sk_member) members;
	SK_ARRAY(struct sk_file) files; /* members that a thin archive refers to */
};

/* The result of reading a file. */
struct sk_reading {
	const char *path;
	uint64_t device, inode, size;
	const uint8_t *mapped; /* NULL: it is not mapped */
	struct sk_object *object; /* the file's object, which has been loaded */
	struct sk_contents *contents; /* of an archive; members have been opened */
	int descriptor; /* while the file is open */
	bool identified; /* device and inode are known */
	bool ok; /* all of it could be read */
};

/* Bytes that have been kept; NULL and 0 if there are none. */
struct sk_kept {
	const void *bytes;
	uint64_t size;
};

/* State for reading objects. Several threads read at a time, each with its own reader. */
struct sk_reader {
	struct sk_arena *arena;
	struct sk_diag *diag;
	bool keep_debug;
	const char *root; /* prefix of absolute paths in thin archives */
	uint64_t object_size; /* of the object that is being opened */
	SK_ARRAY(struct sk_input_section) parts; /* of the object that is being read, until their number is known */
	SK_ARRAY(struct sk_frame) frames;
	uint8_t *buffer; /* for one small file; NULL before the first */
	struct sk_section_entry *entries; /* of the object that is being read: room for so many */
	uint32_t entry_capacity;
	/* Tables of the last object: objects of one compiler mostly have equal ones, and then share them. */
	struct sk_kept section_names, kept_entries;
};

/* ---- archive.c ---- */

struct sk_archive {
	const uint8_t *bytes;
	uint64_t size;
	uint64_t offset; /* of the next header */
	const char *long_names;
	uint64_t long_names_size;
	bool thin; /* members are paths of files */
	const char *error; /* reason for the failure of the last call of sk_archive_next */
};

enum sk_archive_result { SK_ARCHIVE_MEMBER, SK_ARCHIVE_END, SK_ARCHIVE_ERROR };

/* Start to read an archive; the bytes begin with one of its two magic strings. */
void sk_archive_open(struct sk_archive *archive, const uint8_t *bytes, uint64_t size);

/* Return the next member that is not one of the archive's own tables. */
enum sk_archive_result sk_archive_next(struct sk_archive *archive, struct sk_member *member);

/* ---- read.c ---- */

/* Open the file and identify it. */
bool sk_reading_open(struct sk_reader *reader, const char *path, struct sk_reading *reading);

/* Read and close the file: an object as a whole, or the list of an archive's members. */
bool sk_reading_list(struct sk_reader *reader, struct sk_reading *reading);

/* Do both. The device and inode of a small object are not looked up, which saves one system call of four. */
bool sk_reading_open_and_list(struct sk_reader *reader, const char *path, struct sk_reading *reading);

/* Open some members. */
bool sk_reading_open_members(struct sk_reader *reader, struct sk_reading *reading, size_t first, size_t end);

/* ---- object.c, load.c ---- */

/* Put an error about the object into the sink; the value is false. */
#define SK_BAD_OBJECT(reader, object, ...)                                                                             \
	(sk_error((reader)->diag, (struct sk_place){.file = sk_object_name((reader)->arena, object)}, __VA_ARGS__),    \
	 false)

static inline bool sk_object_has_section(const struct sk_object *object, uint32_t number)
{
	return number != SHN_UNDEF && number < object->header_count;
}

/* Return the section of a loaded object that a symbol lies in. Sections that cannot be part of the output share one
 * structure after the object's parts, which is neither live nor loaded. */
static inline struct sk_input_section *sk_object_section(const struct sk_object *object, uint32_t number)
{
	return &object->parts[object->entries[number].part];
}

/* The origin of the bytes, for sk_object_open. */
struct sk_object_source {
	const char *path, *member;
	uint32_t member_length;
	bool transient; /* the bytes are valid until sk_object_load has returned, or should not be read again */
	const uint8_t *bytes;
	uint64_t size;
};

enum sk_object_result { SK_OBJECT_READY, SK_OBJECT_INTERMEDIATE, SK_OBJECT_BAD };

/* Check header, section headers, symbols and signature records. SK_OBJECT_INTERMEDIATE: it holds only code of link-time
 * optimisation; there was no message. */
enum sk_object_result sk_object_open(struct sk_reader *reader, const struct sk_object_source *source,
				     struct sk_object **object);

/* Return the number of the section that holds the names of sections. */
uint32_t sk_object_names_section(const struct sk_object *object);

/* Return the object's fields that few objects need, for changes. */
struct sk_object_more *sk_object_own_more(struct sk_arena *arena, struct sk_object *object);

/* Check the rest (groups, relocations, frames) and fill the fields of loaded objects. */
bool sk_object_load(struct sk_reader *reader, struct sk_object *object);

/* Return "x.o" or "lib.a(member.o)", in the arena. */
const char *sk_object_name(struct sk_arena *arena, const struct sk_object *object);

/* Return the name of the file or the member, without folders. Patterns of --isolate-objects match it, so a reproduction
 * isolates the same objects. */
const char *sk_object_file_name(struct sk_arena *arena, const struct sk_object *object);

const char *sk_object_section_name(const struct sk_object *object, uint32_t section);

/* Return whether the section holds code. */
bool sk_object_is_code(const struct sk_object *object, uint32_t section);

/* Return its SHF_ flags. */
uint64_t sk_object_section_flags(const struct sk_object *object, uint32_t section);

uint64_t sk_object_section_size(const struct sk_object *object, uint32_t section);

/* Return the number of the section that a symbol lies in, or SHN_UNDEF (undefined, absolute, common). */
static inline uint32_t sk_object_symbol_section(const struct sk_object *object, uint32_t symbol)
{
	uint32_t number = object->symbols[symbol].st_shndx;

	if (number < SHN_LORESERVE)
		return number;
	return number == SHN_XINDEX ? object->more->far_sections[symbol] : SHN_UNDEF;
}

/* Return the place of a symbol: that of the byte that it names. */
struct sk_place sk_symbol_place(struct sk_arena *arena, const struct sk_object *object, uint32_t symbol);

/* ---- of sections, while an object is loaded: frames.c, notes.c, debug.c, merge.c ---- */

/* Split an .eh_frame section into records, check every length and reference, and append them to the reader's frames. */
bool sk_frames_read(struct sk_reader *reader, const struct sk_architecture *architecture,
		    struct sk_input_section *section);

/* Return the reader's frames, in an array of their own. */
struct sk_frame *sk_frames_take(struct sk_reader *reader, uint32_t *count);

/* Return whether the section holds program properties. sk_properties_read reads them and takes the section out of the
 * image; it returns false if the section is damaged. */
bool sk_is_property_note(const struct sk_input_section *section);
bool sk_properties_read(struct sk_reader *reader, struct sk_input_section *section);

/* Set `debug` if the section holds debug information that is to be kept. A compressed one is described as it will be
 * without compression. Return false if its header is damaged. */
bool sk_debug_describe(struct sk_reader *reader, struct sk_input_section *section);

/* Return whether the strings or records of the section may be joined. */
bool sk_is_mergeable(const struct sk_input_section *section);

/* ==== symbol ====
 *
 * Names and their meanings: the linker's symbol table, all definitions of each symbol, and the chosen one. */

/* An entry of the linker's symbol table: a global name, or a synthetic local symbol. */
struct sk_linker_symbol {
	const char *name; /* NULL: only a handle */
	uint32_t name_length;
	uint32_t first_definition, last_definition; /* in linker->definitions: all of them, pulled or not */
	/* The chosen definition. */
	struct sk_object *object; /* NULL: none, or synthetic */
	uint32_t index; /* in the object's symbol table */
	struct sk_input_section *section; /* NULL: absolute, or none */
	uint64_t value, size; /* offset in the section, or absolute value; alignment of a common symbol */
	uint8_t rank; /* enum sk_definition_rank */
	uint8_t type; /* STT_… */
	uint8_t visibility; /* the most constraining one seen */
	bool wanted; /* a pulled object needs it, not weakly */
	bool local; /* synthetic and not exported, or an object's own */
	bool traced;
	bool exported;
	bool kernel; /* a kernel that names its object: no other object replaces its function */
	bool referred; /* something without a strong definition of the name means it: an object, a kernel, an option */
	bool replaced; /* weak, and an alias of another object's strong definition, with --isolate-objects */
	bool collected; /* ahead of the link: it means code or data in a live section */
	uint16_t version; /* of an exported one, in .gnu.version; 0: none, written as VER_NDX_GLOBAL */
	bool missing; /* undefined, and reported as an error */
	bool trap; /* undefined, and calls of it lead to a trap: the one of number `stub` */
	bool named; /* undefined, with a trap or a guard: its name is in .sk.traps, at `trap_name` */
	uint32_t trap_name;
	uint32_t guard; /* undefined: 1 + the number of its guard; 0: none */
	bool thread_local; /* with -r: undefined, and referred to as a thread-local variable */
	bool needed; /* undefined, and a remaining reference is not weak */
	sk_symbol alias; /* the symbol that this one stands for, or SK_NONE */
	const struct sk_import *import; /* its import if no input defines it, or NULL */
	uint32_t slot, stub; /* GOT slot; PLT stub, or for data the slot that stands for it; or SK_NONE */
	uint32_t dynamic_index; /* in .dynsym; with -r: number among the undefined symbols that stay, from 1 */
	const struct sk_object *wanted_by; /* the first that needs it; NULL: the command line */
	uint32_t first_user, last_user; /* if undefined: in linker->users */
};

/* Ranks of definitions. The higher of two wins. */
enum sk_definition_rank {
	SK_DEFINITION_NONE,
	SK_DEFINITION_PROVIDED, /* by the linker, unless there is another definition */
	SK_DEFINITION_WEAK,
	SK_DEFINITION_COMMON,
	SK_DEFINITION_STRONG,
	SK_DEFINITION_ASSIGNED, /* by the command line */
};

/* A strong definition of a name that an object before it defines, too, or a kernel's weak one. */
struct sk_duplicate {
	sk_symbol symbol;
	struct sk_object *object;
	uint32_t index; /* of the definition in the object */
	bool separate; /* it has a symbol of its own */
	bool reported;
};

struct sk_definition {
	uint32_t object, index; /* the symbol's number in the object */
	uint32_t next;
};

/* A weak variable without a value, which a runtime fills in. */
struct sk_hook {
	struct sk_object *object;
	uint32_t index; /* the symbol's number in the object */
};

/* A local function that may be a kernel. */
struct sk_local_function {
	uint32_t object, index; /* the symbol's number in the object */
	sk_symbol symbol; /* its symbol; SK_NONE: not needed so far */
	/* In the first one of a name in the input, or in the member: how many have the name. */
	uint32_t of_name, of_member;
};

/* The function chosen for an IFUNC on the command line. */
struct sk_ifunc_choice {
	const char *text; /* as written */
	const char *function; /* the function within the text */
	bool used; /* there is such an IFUNC */
};

/* A place that uses an undefined symbol. */
struct sk_user {
	const struct sk_input_section *section;
	uint64_t offset;
	uint32_t next;
};

/* ---- symbols.c ---- */

sk_symbol sk_symbol_intern(struct sk_linker *linker, const char *name, size_t length);
/* Add a symbol that is not found by its name. */
sk_symbol sk_symbol_add(struct sk_linker *linker, const char *name, size_t length);

enum sk_definition_rank sk_definition_rank(const sk_elf_symbol *symbol);
void sk_symbol_add_definition(struct sk_linker *linker, sk_symbol symbol, uint32_t object, uint32_t index);

/* Define the symbol at the start of the section unless an object defines it. */
void sk_symbol_provide(struct sk_linker *linker, sk_symbol symbol, struct sk_input_section *section);

/* Add a definition by the linker or its caller. */
void sk_symbol_define(struct sk_linker *linker, sk_symbol symbol, struct sk_input_section *section, uint64_t value,
		      uint64_t size, uint8_t type);

/* Note that an object needs the symbol; NULL: the command line. */
void sk_symbol_want(struct sk_linker *linker, sk_symbol symbol, const struct sk_object *by);

/* Return a symbol's size, limited to the bytes that the section has from the value on. Sizes in symbol tables may be
 * too large. */
uint64_t sk_size_within(const struct sk_input_section *section, uint64_t value, uint64_t size);

/* Return the symbol for a definition of this name in an isolated object: a separate one, unless the command line
 * assigns it. */
sk_symbol sk_isolated_symbol(struct sk_linker *linker, sk_symbol name);

/* ---- versioned.c ---- */

/* Return the name that a reference means: an import's own if its version follows it. */
const char *sk_version_reference(const struct sk_linker *linker, const char *name);

/* Note that an object's definition has been entered as that symbol; its default version becomes an alias. */
void sk_version_define(struct sk_linker *linker, const struct sk_object *object, uint32_t index, sk_symbol symbol);

/* Report each reference to foo@V2 that would get a definition of foo without that version. */
bool sk_versions_hold(struct sk_linker *linker);

/* Report an error if a definition of a pulled object has a version that is neither the default nor defined by the
 * version script. */
void sk_version_check(struct sk_linker *linker, const struct sk_object *object, uint32_t index);

/* Return the version of the symbol's definition, for .gnu.version; 0: none, or one that the version script does not
 * define. */
uint16_t sk_version_own(const struct sk_linker *linker, sk_symbol symbol);

/* ---- functions.c ---- */

/* Return the reason why the symbol cannot be called as a kernel, or NULL. */
const char *sk_kernel_refusal(const struct sk_object *object, uint32_t index);

/* Return the local function of this name in the input (or the member). Return NULL if there is none, or several, which
 * is an error. */
struct sk_local_function *sk_find_local_kernel(struct sk_linker *linker, struct sk_lookup where, const char *name);

/* Return a symbol for a local symbol of a pulled object. */
sk_symbol sk_local_symbol(struct sk_linker *linker, struct sk_object *object, uint32_t index);

/* Return the symbol for the function. Its object has been pulled. */
sk_symbol sk_local_function_symbol(struct sk_linker *linker, struct sk_local_function *function);

/* Return the name of the object's function that holds the byte, for messages, or NULL. Takes a pass over all symbols of
 * the object. */
const char *sk_containing_function(struct sk_linker *linker, const struct sk_input_section *section, uint64_t offset);

/* ---- panics.c ---- */

/* Note the symbol, which has got a definition, if it is a function by which Rust panics. */
void sk_panic_note(struct sk_linker *linker, sk_symbol symbol);

/* Make these functions undefined. Called after resolution. */
void sk_panics_end(struct sk_linker *linker);

/* Return whether the name is of a function by which Rust panics, which becomes a trap. */
bool sk_is_panic(struct sk_linker *linker, const char *name);

/* Return whether the function only matters for unwinding, which no panic does. */
bool sk_is_of_unwinding(const struct sk_linker *linker, const char *name);

/* Return whether the object is of the standard library that rustc puts into each staticlib:
 * "std-HASH.std.HASH-cgu.0.rcgu.o". */
bool sk_is_of_rust(const struct sk_object *object);

/* Return how to keep the machinery of panics out of an object that is loaded, or NULL if it has none. The text is
 * constant. */
const char *sk_panic_advice(const struct sk_object *object);

/* ---- resolve.c ---- */

/* Make the object take part in the link. */
bool sk_object_pull(struct sk_linker *linker, struct sk_object *object);

/* Pull the definer of a needed symbol. The name is for --why-extract. */
bool sk_object_extract(struct sk_linker *linker, struct sk_object *object, const char *symbol, const char *needed_by);

/* Pull members until nothing more is wanted. */
bool sk_symbols_resolve(struct sk_linker *linker);

/* Note that the symbol is a kernel's function, which no other isolated object replaces. */
void sk_symbol_keep(struct sk_linker *linker, sk_symbol number);

/* ---- duplicates.c ---- */

/* Note a strong definition of a symbol that has one. Symbols can move. */
void sk_duplicate_add(struct sk_linker *linker, sk_symbol symbol, struct sk_object *object, uint32_t index);

/* A kernel that names its object uses the definition of the symbol: each object with a strong definition, and this one
 * in any case, gets a symbol of its own. The object has been pulled. Symbols can move. */
void sk_duplicates_keep(struct sk_linker *linker, sk_symbol symbol, struct sk_object *object, uint32_t index);

/* Report duplicates of names that can be misunderstood. */
void sk_duplicates_check(struct sk_linker *linker);

/* Return the line of the map about a duplicate, or NULL if no other object defines the name. */
const char *sk_duplicate_text(struct sk_linker *linker, const struct sk_duplicate *duplicate);

/* ---- aliases.c ---- */

/* Return the symbol that an undefined reference to this name means. */
sk_symbol sk_alias_reference(struct sk_linker *linker, const char *name);

/* ---- ifuncs.c ---- */

/* Return whether the command line chooses a function for an IFUNC of this name. */
bool sk_ifunc_is_chosen(const struct sk_linker *linker, const char *name);

/* Make the symbol an alias of the chosen function, if there is one. Its definition is an IFUNC of a pulled object.
 * Symbols can move. */
void sk_ifunc_choose(struct sk_linker *linker, sk_symbol symbol);

/* Add to the last message the functions that the IFUNC's resolver can return. The object is loaded. */
void sk_ifunc_note_choices(struct sk_linker *linker, const struct sk_object *object, uint32_t index);

/* ---- imports.c ---- */

/* Make the names of the rows imports, unless an input defines them. */
void sk_imports_enter(struct sk_linker *linker, const struct sk_import_list *list);

/* Return whether threads wait for one another in the function. */
bool sk_is_barrier(const char *name);

/* Return whether it is an object of the C library that kernels are known to use and that a package cannot import. */
bool sk_is_library_data(const char *name);

#endif
