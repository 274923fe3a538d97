/* What a link does, in this order; whoever looks for something begins here. The data is in link.h, and each topic has a
 * header: object.h, symbol.h, section.h, relocation.h, output.h.
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
 *   outputs.c  output sections; layout.c, their addresses; segments.c, the program headers (layout.h)
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
 *   section.c  what a section is, where it is, what it is called (section.h)
 *   target.c   what a relocation refers to (relocation.h)
 *   imports.c  what the C library has for packages (symbol.h)
 *
 * What users are told (texts.h):
 *
 *   texts.c    the map, the dependencies, and lines on what has happened
 *   demangle.c names as programmers write them
 *   cref.c     who defines and who uses each name
 *   reach.c    how much of the image code reaches
 *   statistics.c  counts things */
#ifndef SK_LINKER_PASSES_H
#define SK_LINKER_PASSES_H

#include <stdbool.h>

struct sk_linker;
struct sk_object;
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

/* ---- sk_linker_link, in linker.c ---- */

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

#endif
