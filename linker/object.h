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
 * Sections, whoever they are from, and the small questions about them: what a section is, where it is, what it is
 * called, and which one stands for it. */

struct sk_linker;
struct sk_object;
struct sk_output;
struct sk_merged;

/* What old versions of elf.h lack. */
#ifndef SHF_GNU_RETAIN
#define SHF_GNU_RETAIN (1 << 21)
#endif
#ifndef SHT_LLVM_ADDRSIG
#define SHT_LLVM_ADDRSIG 0x6fff4c03
#endif

/* Records as they stand in files. Members of archives are aligned to two bytes only, so nothing is assumed. */
typedef Elf64_Ehdr sk_elf_header __attribute__((aligned(1)));
typedef Elf64_Shdr sk_elf_section __attribute__((aligned(1)));
typedef Elf64_Sym sk_elf_symbol __attribute__((aligned(1)));
typedef Elf64_Rela sk_elf_relocation __attribute__((aligned(1)));
typedef uint32_t sk_elf_word __attribute__((aligned(1)));

/* A CIE or an FDE of an .eh_frame section. */
struct sk_frame {
	struct sk_input_section *section; /* the .eh_frame section that it stands in */
	struct sk_frame *cie; /* of an FDE; NULL: this is a CIE */
	struct sk_input_section *function; /* of an FDE: where the code lies that it describes; NULL: nowhere */
	struct sk_frame *next; /* the next FDE of the same section of code */
	const sk_elf_relocation *relocations;
	uint32_t relocation_count;
	uint32_t offset, size; /* in the section, with the length field */
	bool marked; /* a CIE: what it refers to is live */
	bool copied; /* an FDE of a copy of a section: its relocation names the original's code */
	bool scanned; /* as of sections */
	bool live;
	union {
		uint64_t output_offset; /* in the joined .eh_frame */
		uint32_t number; /* of a CIE, for folding, which is over then: equal ones share it; 0: none yet */
	};
};

/* A string or a record of a mergeable section. */
struct sk_fragment {
	uint32_t offset; /* in the section; it ends where the next one begins */
	uint32_t entry; /* SK_NONE: nobody needs it; otherwise, from sk_merge on, its number in the merged section */
};

/* Of an object's machine code, see notes.c. */
struct sk_property {
	uint32_t type; /* GNU_PROPERTY_… */
	uint64_t value;
	uint32_t note; /* number of the note that it stands in, within the object */
};

/* A section that may become part of the image: an object's, a synthetic one, a common symbol's or one that the linker
 * makes. There are many: each takes two cache lines, so what excludes each other shares its place. */
struct sk_input_section {
	/* What every pass over relocations reads, side by side: links are bound by the memory that they touch. */
	struct sk_object *object; /* NULL: not from an object */
	const uint8_t *bytes; /* NULL: zeros, pieces, or made by the linker */
	union {
		uint64_t address;
		uint64_t compressed_size; /* of debug information, as long as its flags say that it is compressed */
	};
	union {
		const sk_elf_relocation *relocations; /* unless it is mergeable */
		struct sk_merged *merged; /* if it is: where the fragments have gone; NULL before sk_merge */
	};
	uint32_t flags; /* SHF_… */
	uint32_t relocation_count;
	uint32_t visit; /* the last search from kernels that came by */
	uint32_t type; /* SHT_… */
	uint32_t alignment; /* a power of two: of the byte at offset `aligned` */
	bool loaded; /* SHF_ALLOC, and not one that the linker reads itself */
	bool debug; /* debug information: not loaded, but kept */
	bool mergeable; /* equal strings or records may be joined */
	bool note; /* known to be well-formed, and part of a PT_NOTE segment if it is live */
	bool scanned; /* the collection has seen that its relocations have nothing for sk_scan to do */
	bool discarded; /* member of a COMDAT group that another object has given already */
	bool live;
	bool holds_addresses; /* has relocations that the loader must apply */
	bool significant; /* a program may compare its address */
	bool in_range; /* part of one, or a bound of one */
	uint8_t rank; /* of a section that is not an object's: enum sk_rank */

	uint64_t size;
	const char *name;
	struct sk_output *output; /* NULL before the layout, and if the section is not in the image */
	union {
		struct sk_frame *frames; /* FDEs that describe the code in it, unless it is mergeable */
		struct sk_fragment *fragments; /* of a mergeable section that is reached, in order */
	};
	union {
		struct sk_input_section *folded; /* of an object's: the equal one that is live in its place, or NULL */
		const struct sk_piece *pieces; /* of one that is not an object's */
		struct sk_section_range *range; /* that it is a bound of */
	};
	union {
		uint32_t fragment_count; /* of an object's */
		uint32_t piece_count; /* of one that is not an object's */
	};
	uint32_t entry_size; /* of a mergeable section, and of one that the linker makes */
	uint32_t aligned; /* 0, but in sections of code with an aligned function */
	uint32_t state; /* number of this hidden state, or SK_NONE */
	uint32_t candidate; /* number for folding, from 1; 0: not a candidate */
	uint32_t node; /* number in linker->reached.nodes, from 1; 0: no function that was asked about reaches it */
};

_Static_assert(sizeof(struct sk_input_section) == 128, "see above");

/* ---- section.c ---- */

/* The place of a byte in a section. */
struct sk_place sk_section_place(struct sk_arena *arena, const struct sk_input_section *section, uint64_t offset);

/* Whether merge.c has made the section: its output section says what it consists of. */
static inline bool sk_is_merged(const struct sk_input_section *section)
{
	return !section->object && (section->flags & SHF_MERGE);
}

/* Copies the section's contents. */
void sk_section_copy(const struct sk_input_section *section, uint8_t *bytes);

/* The section that stands for this one; most stand for themselves. */
static inline struct sk_input_section *sk_section_follow(struct sk_input_section *section)
{
	return !section->live && section->object && section->folded ? section->folded : section;
}

/* ---- names ---- */

/* Most names begin with a dot, and most that are no other one's equal or begin have another character behind it: every
 * section of every object is asked some twenty times. `text` has at least two characters. */
static inline bool sk_begins_alike(const char *name, const char *text)
{
	return name[0] == text[0] && name[1] == text[1];
}

/* The section whose flags say whether an object's code wants an executable stack. */
#define SK_STACK_NOTE ".note.GNU-stack"

static inline bool sk_is_called(const char *name, const char *text)
{
	return sk_begins_alike(name, text) && !strcmp(name, text);
}

/* Whether the name begins with the prefix. */
static inline bool sk_starts_with(const char *name, const char *prefix)
{
	return sk_begins_alike(name, prefix) && !strncmp(name, prefix, strlen(prefix));
}

/* Whether the name is the prefix, or the prefix, a dot and more. */
static inline bool sk_is_kind(const char *name, const char *prefix)
{
	size_t length = strlen(prefix);

	return sk_starts_with(name, prefix) && (name[length] == 0 || name[length] == '.');
}

/* Whether the section is a table of constructors or of destructors. */
static inline bool sk_is_constructors(const struct sk_input_section *section)
{
	return section->type == SHT_INIT_ARRAY || section->type == SHT_FINI_ARRAY;
}

/* Whether code can refer to the section's bounds as __start_NAME and __stop_NAME. */
bool sk_is_identifier(const char *name);

/* ---- ranges.c ---- */

/* The sections of one name that is a C identifier. Code can walk over them, from __start_NAME to __stop_NAME. */
struct sk_section_range {
	const char *name;
	struct sk_input_section start, stop; /* empty ones, for the symbols to lie in */
	SK_ARRAY(struct sk_input_section *) sections; /* of pulled objects */
};

/* Enters the section into the range of its name, if it has one, and provides the symbols. */
void sk_range_add(struct sk_linker *linker, struct sk_input_section *section);

/* The range that the section is a bound of, or NULL: who refers to a bound needs all of it. */
const struct sk_section_range *sk_range_bounded(const struct sk_input_section *section);

/* Before the layout: what is walked over goes into one output section. False: it cannot. */
bool sk_ranges_unify(struct sk_linker *linker);

/* After the layout: the bounds have addresses. */
void sk_ranges_place(struct sk_linker *linker);

/* ==== object.c ====
 *
 * What is read: objects, the files and archives that they come from, and the functions that read and check them. A
 * reader is all that these know; no linker, so several threads can read. */

/* What a section's number leads to. */
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

/* What few objects have. */
struct sk_object_more {
	const sk_elf_word *far_sections; /* SHT_SYMTAB_SHNDX, or NULL */
	const uint8_t *significant_symbols; /* contents of .llvm_addrsig, or NULL */
	uint64_t significant_size;
	const char *versioned_names; /* of symbols, as they are in the file: in `names` default versions of definitions
					are cut off; NULL: no name has a version */
	struct sk_map *records; /* offsets of signature records by symbol; NULL before somebody asks */
	/* Of loaded objects only. */
	struct sk_section_group *groups;
	uint32_t group_count;
	uint32_t property_notes; /* that the properties stand in */
	SK_ARRAY(struct sk_property) properties;
};

/* A relocatable object: a file or a member of an archive. */
struct sk_object {
	/* What every pass over relocations reads. */
	const sk_elf_symbol *symbols;
	uint32_t *globals; /* for each symbol from first_global: its number in the linker's table */
	const char *names; /* of symbols */
	uint32_t symbol_count;
	uint32_t first_global;
	/* Of loaded objects only. */
	const struct sk_section_entry *entries; /* by section number */
	struct sk_input_section *parts; /* sections that can be part of the output */
	uint32_t header_count;
	uint32_t part_count;
	bool transient; /* what is needed of the bytes is copied when the object is loaded */
	bool obsolete_debug; /* has debug information that has been dropped */
	bool executable_stack; /* its code wants one */
	bool loaded;
	bool pulled;
	bool rooted; /* what is needed of it whoever refers to it has been marked */
	bool reached; /* one of its sections is live */
	bool unscanned : 1; /* sk_scan may have something to do in these or in their unwind records */
	bool annotated : 1; /* has debug information, or notes */
	bool joined_by_name : 1; /* has sections that those of their name in other objects replace or are joined with */
	bool plain; /* whatever the link is, from its sections nothing is reached that state.c looks for */

	const char *path; /* of the file */
	const char *member; /* name in the archive, not terminated; NULL: the object is a file of its own */
	const uint8_t *bytes; /* NULL: what is needed of them has been copied */
	const struct sk_architecture *architecture;
	const sk_elf_section *headers; /* NULL once they are gone */
	const char *section_names;
	const char *kernel_records; /* contents of .sk.kernels, or NULL */
	const struct sk_object_more *more; /* shared by those that have nothing of it */
	uint32_t member_length;
	uint32_t input;
	uint32_t kernel_records_size;
	uint32_t symbol_table; /* section number, 0: none */
	/* Of loaded objects only. */
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

/* Of an archive. */
struct sk_member {
	const char *name; /* not terminated */
	uint32_t name_length;
	uint64_t offset; /* of its header */
	const uint8_t *bytes; /* NULL: in a thin archive, before the file has been read */
	uint64_t size;
	struct sk_object *object; /* once it has been opened; NULL: it is none, or a bad one */
	bool intermediate; /* it holds intermediate code only */
};

/* What an archive holds. */
struct sk_contents {
	SK_ARRAY(struct sk_member) members;
	SK_ARRAY(struct sk_file) files; /* members that a thin archive refers to */
};

/* What reading a file gives. */
struct sk_reading {
	const char *path;
	uint64_t device, inode, size;
	const uint8_t *mapped; /* NULL: it is not */
	struct sk_object *object; /* that the file is; it has been loaded */
	struct sk_contents *contents; /* of an archive; members have been opened */
	int descriptor; /* while the file is open */
	bool identified; /* device and inode are known */
	bool ok; /* all of it could be read */
};

/* Bytes that have been kept; none: NULL and 0. */
struct sk_kept {
	const void *bytes;
	uint64_t size;
};

/* What reading an object needs. Several threads read at a time, each with a reader of its own. */
struct sk_reader {
	struct sk_arena *arena;
	struct sk_diag *diag;
	bool keep_debug;
	const char *root; /* of absolute paths in thin archives */
	uint64_t object_size; /* of the object that is being opened */
	SK_ARRAY(struct sk_input_section) parts; /* of the object that is being read, until their number is known */
	SK_ARRAY(struct sk_frame) frames;
	uint8_t *buffer; /* for one small file; NULL before the first */
	struct sk_section_entry *entries; /* of the object that is being read: room for so many */
	uint32_t entry_capacity;
	/* Of the last object: objects of one compiler mostly have them in common, and share them then. */
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
	const char *error; /* why the last call of sk_archive_next failed */
};

enum sk_archive_result { SK_ARCHIVE_MEMBER, SK_ARCHIVE_END, SK_ARCHIVE_ERROR };

/* Starts to read; bytes begin with one of the two magics of archives. */
void sk_archive_open(struct sk_archive *archive, const uint8_t *bytes, uint64_t size);

/* The next member that is not one of the archive's own tables. */
enum sk_archive_result sk_archive_next(struct sk_archive *archive, struct sk_member *member);

/* ---- read.c ---- */

/* Opens the file and finds out what it is. */
bool sk_reading_open(struct sk_reader *reader, const char *path, struct sk_reading *reading);

/* Reads and closes it: an object as a whole, of an archive the list of its members. */
bool sk_reading_list(struct sk_reader *reader, struct sk_reading *reading);

/* Both. Which file a small object is nobody has asked then: that is a system call of four. */
bool sk_reading_open_and_list(struct sk_reader *reader, const char *path, struct sk_reading *reading);

/* Opens some members. */
bool sk_reading_open_members(struct sk_reader *reader, struct sk_reading *reading, size_t first, size_t end);

/* ---- object.c, load.c ---- */

/* Puts an error about the object into the sink; false. */
#define SK_BAD_OBJECT(reader, object, ...)                                                                             \
	(sk_error((reader)->diag, (struct sk_place){.file = sk_object_name((reader)->arena, object)}, __VA_ARGS__),    \
	 false)

static inline bool sk_object_has_section(const struct sk_object *object, uint32_t number)
{
	return number != SHN_UNDEF && number < object->header_count;
}

/* The section of a loaded object that a symbol lies in. One that cannot be part of the output is not live, nor loaded,
 * and shares its structure, behind the object's parts, with others. */
static inline struct sk_input_section *sk_object_section(const struct sk_object *object, uint32_t number)
{
	return &object->parts[object->entries[number].part];
}

/* Whose bytes these are, for sk_object_open. */
struct sk_object_source {
	const char *path, *member;
	uint32_t member_length;
	bool transient; /* the bytes are there until sk_object_load has returned, or better not looked at again */
	const uint8_t *bytes;
	uint64_t size;
};

enum sk_object_result { SK_OBJECT_READY, SK_OBJECT_INTERMEDIATE, SK_OBJECT_BAD };

/* Checks header, section headers, symbols and signature records. SK_OBJECT_INTERMEDIATE: it holds only code of
 * link-time optimisation; nothing was said. */
enum sk_object_result sk_object_open(struct sk_reader *reader, const struct sk_object_source *source,
				     struct sk_object **object);

/* The number of the section that holds the names of sections. */
uint32_t sk_object_names_section(const struct sk_object *object);

/* What the object has of what few have, to be changed. */
struct sk_object_more *sk_object_own_more(struct sk_arena *arena, struct sk_object *object);

/* Checks the rest (groups, relocations, frames) and fills what loaded objects have. */
bool sk_object_load(struct sk_reader *reader, struct sk_object *object);

/* "x.o" or "lib.a(member.o)", in the arena. */
const char *sk_object_name(struct sk_arena *arena, const struct sk_object *object);

const char *sk_object_section_name(const struct sk_object *object, uint32_t section);

/* Whether code is in the section. */
bool sk_object_is_code(const struct sk_object *object, uint32_t section);

uint64_t sk_object_section_size(const struct sk_object *object, uint32_t section);

/* The number of the section that a symbol lies in; SHN_UNDEF if in none (undefined, absolute, common). */
static inline uint32_t sk_object_symbol_section(const struct sk_object *object, uint32_t symbol)
{
	uint32_t number = object->symbols[symbol].st_shndx;

	if (number < SHN_LORESERVE)
		return number;
	return number == SHN_XINDEX ? object->more->far_sections[symbol] : SHN_UNDEF;
}

/* The place of a symbol, as that of the byte that it names. */
struct sk_place sk_symbol_place(struct sk_arena *arena, const struct sk_object *object, uint32_t symbol);

/* ---- of sections, while an object is loaded: frames.c, notes.c, debug.c, merge.c ---- */

/* Splits an .eh_frame section into records, with every length and reference checked, and appends them to the reader's
 * frames. */
bool sk_frames_read(struct sk_reader *reader, const struct sk_architecture *architecture,
		    struct sk_input_section *section);

/* The reader's frames, in an array of their own. */
struct sk_frame *sk_frames_take(struct sk_reader *reader, uint32_t *count);

/* Whether the section holds program properties; reads them and takes the section out of the image. False: it is
 * damaged. */
bool sk_is_property_note(const struct sk_input_section *section);
bool sk_properties_read(struct sk_reader *reader, struct sk_input_section *section);

/* Whether the section holds debug information that is to be kept. A compressed one is described as it will be without
 * compression. False: its header is damaged. */
bool sk_debug_describe(struct sk_reader *reader, struct sk_input_section *section);

/* Whether the strings or records of the section may be joined. */
bool sk_is_mergeable(const struct sk_input_section *section);

/* ==== symbol ====
 *
 * Names and what they mean: the linker's symbol table, the definitions that there are of each symbol, and the one that
 * counts. */

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
	bool local; /* synthetic and not exported, or an object's own */
	bool traced;
	bool exported;
	bool collected; /* ahead of the link: what it means is code or data in a section that is live */
	uint16_t version; /* of an exported one, in .gnu.version; 0: none, which is written as VER_NDX_GLOBAL */
	bool missing; /* undefined, which is an error */
	bool trap; /* undefined, and calls of it lead to a trap: the one of number `stub` */
	bool thread_local; /* with -r: undefined, and referred to as a thread-local variable */
	bool needed; /* undefined, and a reference that stays is not weak */
	sk_symbol alias; /* the symbol that this one stands for, or SK_NONE */
	const struct sk_import *import; /* what it is if nobody defines it, or NULL */
	uint32_t slot, stub; /* GOT slot; PLT stub, or of data the slot that stands for it; or SK_NONE */
	uint32_t dynamic_index; /* in .dynsym; with -r: of an undefined symbol, among those that stay, from 1 */
	const struct sk_object *wanted_by; /* the first that needs it; NULL: the command line */
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

struct sk_definition {
	uint32_t object, index; /* the symbol's number in the object */
	uint32_t next;
};

/* A local function that may be a kernel. */
struct sk_local_function {
	uint32_t object, index; /* the symbol's number in the object */
	sk_symbol symbol; /* that stands for it; SK_NONE: nobody wants it */
	/* Of the first one with its name in the input, or in the member: how many there are. */
	uint32_t of_name, of_member;
};

/* Which function an IFUNC is, as the command line says. */
struct sk_ifunc_choice {
	const char *text; /* as written */
	const char *function; /* in it */
	bool used; /* there is such an IFUNC */
};

/* Where an undefined symbol is used. */
struct sk_user {
	const struct sk_input_section *section;
	uint64_t offset;
	uint32_t next;
};

/* ---- symbols.c ---- */

sk_symbol sk_symbol_intern(struct sk_linker *linker, const char *name, size_t length);
/* A symbol that is not found by its name. */
sk_symbol sk_symbol_add(struct sk_linker *linker, const char *name, size_t length);

enum sk_definition_rank sk_definition_rank(const sk_elf_symbol *symbol);
void sk_symbol_add_definition(struct sk_linker *linker, sk_symbol symbol, uint32_t object, uint32_t index);

/* Defines the symbol at the start of the section unless an object does. */
void sk_symbol_provide(struct sk_linker *linker, sk_symbol symbol, struct sk_input_section *section);

/* A definition by the linker or its caller. */
void sk_symbol_define(struct sk_linker *linker, sk_symbol symbol, struct sk_input_section *section, uint64_t value,
		      uint64_t size, uint8_t type);

/* An object needs the symbol; NULL: the command line. */
void sk_symbol_want(struct sk_linker *linker, sk_symbol symbol, const struct sk_object *by);

/* What a symbol says of its size may be too much: as many of these bytes from the value on as the section has. */
uint64_t sk_size_within(const struct sk_input_section *section, uint64_t value, uint64_t size);

/* The symbol for a definition of this name in one object: another one, if objects are isolated. */
sk_symbol sk_isolated_symbol(struct sk_linker *linker, sk_symbol name);

/* ---- versioned.c ---- */

/* The name that a reference means: an import's own, if its version stands behind it. */
const char *sk_version_reference(const struct sk_linker *linker, const char *name);

/* An object's definition has been entered as that symbol: with its default version it is that, too. */
void sk_version_define(struct sk_linker *linker, const struct sk_object *object, uint32_t index, sk_symbol symbol);

/* An error for each reference to foo@V2 that would get a definition of foo without that version. */
bool sk_versions_hold(struct sk_linker *linker);

/* An error if a definition of an object that takes part has a version that is not the default and that nobody defines.
 */
void sk_version_check(struct sk_linker *linker, const struct sk_object *object, uint32_t index);

/* The version that the symbol's definition says, in .gnu.version; 0: none, or one that the version script does not
 * define. */
uint16_t sk_version_own(const struct sk_linker *linker, sk_symbol symbol);

/* ---- functions.c ---- */

/* Why the symbol cannot be called as a kernel, or NULL. */
const char *sk_why_not_kernel(const struct sk_object *object, uint32_t index);

/* The local function of this name in the input (or the member) that is meant. NULL: there is none, or several, which is
 * an error. */
struct sk_local_function *sk_find_local_kernel(struct sk_linker *linker, struct sk_lookup where, const char *name);

/* A symbol for a local symbol of an object that has been pulled. */
sk_symbol sk_local_symbol(struct sk_linker *linker, struct sk_object *object, uint32_t index);

/* The symbol for the function, whose object has been pulled. */
sk_symbol sk_local_function_symbol(struct sk_linker *linker, struct sk_local_function *function);

/* ---- resolve.c ---- */

/* The object takes part in the link from now on. */
bool sk_object_pull(struct sk_linker *linker, struct sk_object *object);

/* The same of what defines a symbol that somebody needs, whose name is for --why-extract. */
bool sk_object_extract(struct sk_linker *linker, struct sk_object *object, const char *symbol, const char *needed_by);

/* Pulls members until nothing more is wanted. */
bool sk_symbols_resolve(struct sk_linker *linker);

/* ---- aliases.c ---- */

/* The symbol that an undefined reference to this name means. */
sk_symbol sk_alias_reference(struct sk_linker *linker, const char *name);

/* ---- ifuncs.c ---- */

/* Whether the command line says which function an IFUNC of this name is. */
bool sk_ifunc_is_chosen(const struct sk_linker *linker, const char *name);

/* The symbol, whose definition is an IFUNC of an object that has been pulled, becomes an alias of the chosen function,
 * if there is one. Symbols can move. */
void sk_ifunc_choose(struct sk_linker *linker, sk_symbol symbol);

/* Adds to the message added last which functions the IFUNC's resolver takes the addresses of. The object is loaded. */
void sk_ifunc_note_choices(struct sk_linker *linker, const struct sk_object *object, uint32_t index);

/* ---- imports.c ---- */

/* The names of the rows mean them, unless somebody defines them. */
void sk_imports_enter(struct sk_linker *linker, const struct sk_import_list *list);

/* True for functions in which threads wait for one another. */
bool sk_is_barrier(const char *name);

/* True for objects of the C library that kernels are known to use and that a package cannot import. */
bool sk_is_library_data(const char *name);

#endif
