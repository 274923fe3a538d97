/* What is read: objects, the files and archives that they come from, and the functions that read and check them. A
 * reader is all that these know; no linker, so several threads can read. */
#ifndef SK_LINKER_OBJECT_H
#define SK_LINKER_OBJECT_H

#include "linker/architecture.h"
#include "linker/linker.h"
#include "linker/section.h"

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

#endif
