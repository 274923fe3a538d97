/* The library's entry points: creation and destruction of a linker, the caller's statements about code, and the link as
 * a list of passes. */
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/file.h"
#include "base/map.h"
#include "base/timing.h"
#include "format/import-row.h"
#include "linker/linker-parts.h"
#include "linker/linker.h"
#include "linker/object.h"
#include "linker/output.h"

/* Sections that the linker makes itself. Sizes follow in the course of the link; empty ones are not in the image. */
static const struct {
	const char *name;
	uint32_t type;
	enum sk_rank rank;
	uint32_t alignment;
	uint32_t entry_size;
	uint64_t size;
} made_sections[SK_MADE_COUNT] = {
	[SK_MADE_PROPERTIES] = {".note.gnu.property", SHT_NOTE, SK_RANK_WIDE_NOTE, 8, 0, 0},
	[SK_MADE_BUILD_ID] = {".note.gnu.build-id", SHT_NOTE, SK_RANK_NOTE, 4, 0, 32},
	[SK_MADE_HASH] = {".hash", SHT_HASH, SK_RANK_HASH, 8, 4, 0},
	[SK_MADE_GNU_HASH] = {".gnu.hash", SHT_GNU_HASH, SK_RANK_HASH, 8, 0, 0},
	[SK_MADE_DYNAMIC_SYMBOLS] = {".dynsym", SHT_DYNSYM, SK_RANK_DYNAMIC_SYMBOLS, 8, sizeof(Elf64_Sym), 0},
	[SK_MADE_DYNAMIC_NAMES] = {".dynstr", SHT_STRTAB, SK_RANK_DYNAMIC_NAMES, 1, 0, 0},
	[SK_MADE_VERSIONS] = {".gnu.version", SHT_GNU_versym, SK_RANK_VERSIONS, 2, sizeof(Elf64_Half), 0},
	[SK_MADE_DEFINED_VERSIONS] = {".gnu.version_d", SHT_GNU_verdef, SK_RANK_VERSIONS, 8, 0, 0},
	[SK_MADE_NEEDED_VERSIONS] = {".gnu.version_r", SHT_GNU_verneed, SK_RANK_VERSIONS, 8, 0, 0},
	[SK_MADE_RELOCATIONS] = {".rela.dyn", SHT_RELA, SK_RANK_RELOCATIONS, 8, sizeof(Elf64_Rela), 0},
	[SK_MADE_FRAME_HEADER] = {".eh_frame_hdr", SHT_PROGBITS, SK_RANK_FRAME_HEADER, 4, 0, 0},
	[SK_MADE_FRAMES] = {".eh_frame", SHT_PROGBITS, SK_RANK_FRAMES, 8, 0, 0},
	[SK_MADE_PLT] = {".plt", SHT_PROGBITS, SK_RANK_PLT, 16, 0, 0},
	[SK_MADE_TRAPS] = {".plt.traps", SHT_PROGBITS, SK_RANK_PLT, 8, 0, 0},
	[SK_MADE_TRAP_NAMES] = {".sk.traps", SHT_PROGBITS, SK_RANK_READ_ONLY, 1, 0, 0},
	[SK_MADE_GUARD_TABLE] = {".sk.guards", SHT_PROGBITS, SK_RANK_READ_ONLY, 8, 0, 0},
	[SK_MADE_DYNAMIC] = {".dynamic", SHT_DYNAMIC, SK_RANK_DYNAMIC, 8, sizeof(Elf64_Dyn), 0},
	[SK_MADE_GOT] = {".got", SHT_PROGBITS, SK_RANK_GOT, 8, sizeof(Elf64_Addr), 0},
	[SK_MADE_RELRO_PADDING] = {".padding", SHT_PROGBITS, SK_RANK_RELRO_PADDING, 1, 0, 0},
};

static void describe_made_sections(struct sk_linker *linker)
{
	for (int i = 0; i < SK_MADE_COUNT; i++)
		linker->made[i] = (struct sk_input_section){.name = made_sections[i].name,
							    .type = made_sections[i].type,
							    .rank = (uint8_t)made_sections[i].rank,
							    .alignment = made_sections[i].alignment,
							    .entry_size = made_sections[i].entry_size,
							    .size = made_sections[i].size,
							    .state = SK_NONE,
							    .loaded = true};
	linker->thread.base = (struct sk_input_section){.name = ".tbss",
							.type = SHT_NOBITS,
							.flags = SHF_ALLOC | SHF_WRITE | SHF_TLS,
							.rank = SK_RANK_THREAD_ZERO_DATA,
							.state = SK_NONE,
							.loaded = true};
	linker->guards = (struct sk_input_section){
		.name = "guards", .rank = SK_RANK_READ_ONLY_DATA, .state = SK_NONE, .loaded = true};
	linker->library_state = (struct sk_input_section){.name = "the C library's random numbers",
							  .rank = SK_RANK_DATA,
							  .size = 1,
							  .state = SK_NONE,
							  .loaded = true};
}

struct sk_linker *sk_linker_create(struct sk_arena *arena, struct sk_diag *diag,
				   const struct sk_linker_options *options)
{
	struct sk_linker *linker = SK_NEW(arena, struct sk_linker);
	const char *offset_table = "_GLOBAL_OFFSET_TABLE_", *thread_block = "_TLS_MODULE_BASE_";

	linker->arena = arena;
	linker->diag = diag;
	linker->options = *options;
	linker->reader = (struct sk_reader){.arena = arena,
					    .diag = diag,
					    .keep_debug = !options->strip_debug && !options->strip_all,
					    .root = options->root ? options->root : ""};
	sk_map_init(&linker->input_numbers, arena);
	sk_map_init(&linker->symbol_numbers, arena);
	sk_map_init(&linker->wrapped, arena);
	sk_map_init(&linker->ifunc_names, arena);
	sk_map_init(&linker->exact_patterns, arena);
	sk_map_init(&linker->groups, arena);
	sk_map_init(&linker->copy_numbers, arena);
	sk_map_init(&linker->range_numbers, arena);
	sk_map_init(&linker->output_numbers, arena);
	sk_map_init(&linker->merged_numbers, arena);
	sk_map_init(&linker->thread_slots, arena);
	linker->isolated_used = SK_NEW_ARRAY(arena, bool, options->isolated_count + 1);
	describe_made_sections(linker);
	sk_imports_enter(linker, &sk_imports);
	if (!options->relocatable) { /* else they stay undefined */
		sk_symbol_define(linker, sk_symbol_intern(linker, offset_table, strlen(offset_table)),
				 &linker->made[SK_MADE_GOT], 0, 0, STT_OBJECT);
		sk_symbol_define(linker, sk_symbol_intern(linker, thread_block, strlen(thread_block)),
				 &linker->thread.base, 0, 0, STT_TLS);
	}
	sk_aliases_read(linker);
	sk_ifuncs_read(linker);
	sk_version_script_read(linker);
	sk_ordering_read(linker);
	return linker;
}

void sk_linker_destroy(struct sk_linker *linker)
{
	if (!linker)
		return;
	sk_linker_wait_collected(linker); /* of a link that has failed; it needs the results of reading ahead */
	sk_ahead_destroy(linker);
	for (size_t i = linker->files.count; i-- > 0;) {
		const struct sk_file *file = &linker->files.items[i];

		if (file->mapped)
			sk_unmap_file(file->bytes, file->size);
	}
}

uint16_t sk_linker_machine(const struct sk_linker *linker)
{
	return linker->architecture ? linker->architecture->machine : EM_NONE;
}

void sk_linker_require(struct sk_linker *linker, const char *name)
{
	sk_symbol symbol = sk_symbol_intern(linker, name, strlen(name));

	sk_array_push(linker->arena, &linker->required, symbol);
	sk_symbol_want(linker, symbol, NULL);
}

/* ---- the caller's statements about code ---- */

void sk_linker_need_isa(struct sk_linker *linker, uint32_t levels)
{
	linker->needed_isa |= levels;
}

void sk_linker_order(struct sk_linker *linker, sk_symbol code, const char *caller)
{
	sk_array_push(linker->arena, &linker->order, (struct sk_ordered){code, caller});
}

void sk_linker_hand(struct sk_linker *linker, sk_symbol code, const char *caller, sk_symbol symbol)
{
	sk_array_push(linker->arena, &linker->handed_in_order, (struct sk_handed){{code, caller}, symbol});
}

void sk_linker_label(struct sk_linker *linker, sk_symbol code, const char *label)
{
	sk_array_push(linker->arena, &linker->labels, (struct sk_label){.code = code, .text = label});
}

void sk_linker_align(struct sk_linker *linker, sk_symbol code, uint32_t alignment)
{
	sk_array_push(linker->arena, &linker->aligned, (struct sk_aligned){code, alignment});
}

/* ---- the link: the list of passes, with the state after each ---- */

/* Choose the contents of the image: the passes from names to relocations that are known to be possible. */
static bool choose_contents(struct sk_linker *linker)
{
	struct sk_timing *timing = linker->options.timing;

	sk_timing_begin(timing, "resolve", NULL);
	/* Every wanted symbol that any input defines has its definition. */
	if (!sk_symbols_resolve(linker) || linker->diag->errors)
		return false;
	sk_ifuncs_check(linker);
	sk_isolation_check(linker);
	/* If a package registers destructors of static objects, unloading it runs them. */
	sk_finalizer_add(linker);
	/* Names of places in the image are defined. */
	sk_landmarks_provide(linker);
	/* Names to be exported are exported. */
	if (!sk_export(linker))
		return false;
	sk_duplicates_check(linker);
	if (linker->diag->errors)
		return false;
	sk_timing_next(timing, "collect");
	/* Synthetic sections look like those of objects. */
	if (!sk_synthetic_prepare(linker))
		return false;
	/* Live sections, and only they, are marked. */
	sk_collect(linker);
	/* The sections that users want first are known. */
	sk_ordering_apply(linker);
	/* Live notes are marked, and the image's properties are known. */
	if (!sk_notes_collect(linker))
		return false;
	sk_print_collected(linker);
	/* Debug sections of objects with live sections are live. */
	if (!sk_debug_collect(linker))
		return false;
	sk_timing_next(timing, "merge");
	/* Needed strings and records exist once; references lead to their new places. */
	sk_merge(linker);
	/* Equivalent sections exist once, if the options say so. */
	if (!sk_icf(linker))
		return false;
	/* The unwind records of live functions have their places in .eh_frame. */
	sk_frames_place(linker);
	sk_timing_next(timing, "scan relocations");
	/* A package can hold every relocation of a live section; slots, stubs and imports are numbered. */
	return sk_scan(linker);
}

/* Fill the image with code, data and tables. */
static bool fill_image(struct sk_linker *linker)
{
	if (!sk_relocate(linker) || !sk_frames_write(linker))
		return false;
	sk_dynamic_write(linker);
	return true;
}

/* State of the thread that makes the symbol table. */
struct naming {
	struct sk_linker *linker;
	struct sk_arena *arena; /* the thread's own */
	struct sk_beside beside;
};

static void make_symbols(void *context)
{
	const struct naming *naming = context;

	sk_image_make_symbols(naming->linker, naming->arena);
}

/* Fill the image and make the symbol table at the same time; the two share only the addresses. */
static bool fill_image_and_symbols(struct sk_linker *linker)
{
	struct naming naming = {.linker = linker};
	bool filled;

	if (linker->options.strip_all)
		return fill_image(linker);
	naming.arena = sk_arena_create();
	sk_beside_start(&naming.beside, linker->options.threads, make_symbols, &naming);
	filled = fill_image(linker);
	sk_beside_wait(&naming.beside);
	sk_arena_adopt(linker->arena, naming.arena);
	linker->symbol_table.arena = linker->arena;
	return filled;
}

/* Lay out and fill the image, except for the caller's bytes that are relocated in place. */
static bool make_image(struct sk_linker *linker)
{
	struct sk_timing *timing = linker->options.timing;

	/* All sizes are known. */
	sk_dynamic_prepare(linker);
	/* All addresses are known. */
	if (!sk_layout(linker))
		return false;
	sk_timing_next(timing, "relocate");
	sk_image_prepare(linker);
	/* The image is complete, except for references in a section that is not copied. */
	return fill_image_and_symbols(linker);
}

static bool finish_image(struct sk_linker *linker)
{
	/* Every byte has its value. */
	if (!sk_relocate_uncopied(linker))
		return false;
	/* The file's parts are complete. */
	return sk_image_finish(linker);
}

bool sk_linker_choose(struct sk_linker *linker)
{
	bool chosen;

	if (!linker->architecture) {
		sk_error(linker->diag, (struct sk_place){0}, "there is no object among the inputs");
		return false;
	}
	chosen = choose_contents(linker);
	sk_timing_end(linker->options.timing);
	return chosen;
}

bool sk_linker_make(struct sk_linker *linker)
{
	bool made;

	sk_timing_begin(linker->options.timing, "lay out", NULL);
	made = linker->options.relocatable ? sk_relocatable_make(linker) : make_image(linker);
	sk_timing_end(linker->options.timing);
	return made;
}

bool sk_linker_finish(struct sk_linker *linker)
{
	bool finished;

	sk_timing_begin(linker->options.timing, "finish", NULL);
	finished = linker->options.relocatable ? sk_relocatable_finish(linker) : finish_image(linker);
	sk_timing_end(linker->options.timing);
	return finished;
}
