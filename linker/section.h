/* Sections, whoever they are from, and the small questions about them: what a section is, where it is, what it is
 * called, and which one stands for it. */
#ifndef SK_LINKER_SECTION_H
#define SK_LINKER_SECTION_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"

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

#endif
