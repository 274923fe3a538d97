/* --signature-of; see draft.h. Input: a file. Output: lines of YAML. The functions are those that other objects can
 * call, in the order of the symbol table. */
#include "config.h"

#include "src/draft/draft.h"

#include "base/diag.h"

#ifdef HAVE_LIBDW
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/text.h"
#include "src/draft/draft-parts.h"

enum { DEEPEST = 8 }; /* namespaces and modules, one in another */

struct reader {
	struct sk_arena *arena;
	const char *file;
	struct sk_map described; /* names of functions in `dies`, of the current module */
	SK_ARRAY(Dwarf_Die) dies;
	struct sk_map names_of_entries; /* of those that are not local: the first one of each symbol */
	sk_draft_entries entries; /* of compilers that tell more than debug information, of all modules */
	struct sk_map printed; /* names of functions, of all modules, numbered */
	uint32_t count;
	FILE *table; /* descriptions */
	bool usable; /* one of them is not a comment */
	sk_texts others; /* functions without known parameters */
	size_t of_rust; /* functions that are called in Rust's own way */
	size_t of_runtime; /* functions of the compiler's libraries, which only its own code calls */
	bool runtime; /* the module is a member of an archive that is such a library */
};

/* ---- functions with debug information ---- */

static const char *symbol_of(Dwarf_Die *function)
{
	Dwarf_Attribute attribute;
	const char *name = dwarf_formstring(dwarf_attr_integrate(function, DW_AT_linkage_name, &attribute));

	return name ? name : dwarf_diename(function);
}

static void add_function(struct reader *reader, Dwarf_Die *die)
{
	const char *name = symbol_of(die);

	if (!name || !(dwarf_hasattr(die, DW_AT_low_pc) || dwarf_hasattr(die, DW_AT_ranges)))
		return;
	if (sk_map_insert(&reader->described, name, strlen(name), (uint32_t)reader->dies.count) == reader->dies.count)
		sk_array_push(reader->arena, &reader->dies, *die);
}

static void add_functions(struct reader *reader, Dwarf_Die *scope, int depth)
{
	Dwarf_Die die;

	for (int more = dwarf_child(scope, &die); more == 0; more = dwarf_siblingof(&die, &die)) {
		int tag = dwarf_tag(&die);

		if (tag == DW_TAG_subprogram)
			add_function(reader, &die);
		else if ((tag == DW_TAG_namespace || tag == DW_TAG_module) && depth < DEEPEST)
			add_functions(reader, &die, depth + 1);
	}
}

/* ---- functions of compilers' libraries, which a static library of Rust also has ---- */

/* Return whether the member is of a crate of Rust's standard library: CRATE-HASH.CRATE.HASH-cgu.NUMBER.rcgu.o. Crates
 * of the user's have the same form. */
static bool is_of_rust_library(const char *member)
{
	static const char *const crates[] = {"addr2line",
					     "adler",
					     "adler2",
					     "alloc",
					     "cfg_if",
					     "compiler_builtins",
					     "core",
					     "gimli",
					     "hashbrown",
					     "libc",
					     "memchr",
					     "miniz_oxide",
					     "object",
					     "panic_abort",
					     "panic_unwind",
					     "rustc_demangle",
					     "rustc_literal_escaper",
					     "rustc_std_workspace_alloc",
					     "rustc_std_workspace_core",
					     "rustc_std_workspace_std",
					     "std",
					     "std_detect",
					     "sysroot",
					     "test",
					     "unwind"};
	static const char end[] = ".rcgu.o";
	size_t length = strlen(member);

	if (length < strlen(end) || strcmp(member + length - strlen(end), end) != 0)
		return false;
	for (size_t i = 0; i < sizeof(crates) / sizeof(crates[0]); i++) {
		size_t crate = strlen(crates[i]);

		if (!strncmp(member, crates[i], crate) && member[crate] == '-')
			return true;
	}
	return false;
}

/* Return whether the name is of the functions by which Rust's compiler finds the allocator. */
static bool is_of_rust_allocator(const char *name)
{
	return !strncmp(name, "__rust_", 7) || !strncmp(name, "__rdl_", 6) || !strncmp(name, "__rg_", 5) ||
	       (!strncmp(name, "_R", 2) && strstr(name, "7___rustc"));
}

/* Return whether the function is one of compiler-rt's: arithmetic that machines lack. */
static bool is_of_compiler_rt(const char *name, Dwarf_Die *die)
{
	Dwarf_Die unit;
	const char *file = dwarf_diecu(die, &unit, NULL, NULL) ? dwarf_diename(&unit) : NULL;

	return !strncmp(name, "__", 2) && file && strstr(file, "lib/builtins/");
}

/* ---- the table ---- */

/* Other names need quotes in YAML. */
static bool is_plain(const char *name)
{
	return *name && name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")] == '\0';
}

/* Return whether the name is one that Rust has made: _R…, or that of C++ with a hash, _ZN…17h0123456789abcdefE. LLVM
 * may have added .llvm.NUMBER. */
static bool is_of_rust(const char *name)
{
	const char *end = strstr(name, ".llvm.");
	size_t length = end ? (size_t)(end - name) : strlen(name);
	const char *hash = length > 20 ? name + length - 20 : "";

	if (!strncmp(name, "_R", 2))
		return name[2] && strchr("INMXY", name[2]);
	return !strncmp(name, "_ZN", 3) && !strncmp(hash, "17h", 3) && hash[19] == 'E' &&
	       strspn(hash + 3, "0123456789abcdef") == 16;
}

/* Read the entries of the object, or of all members of the archive. libdwfl has other contents: it relocates them. */
static void read_entries(struct reader *reader)
{
	int file = open(reader->file, O_RDONLY | O_CLOEXEC);
	Elf *whole = file < 0 ? NULL : elf_begin(file, ELF_C_READ, NULL), *part;

	if (whole && elf_kind(whole) != ELF_K_AR)
		sk_draft_of_compilers(reader->arena, whole, &reader->entries);
	while (whole && elf_kind(whole) == ELF_K_AR && (part = elf_begin(file, ELF_C_READ, whole))) {
		sk_draft_of_compilers(reader->arena, part, &reader->entries);

		Elf_Cmd next = elf_next(part);

		elf_end(part);
		if (next == ELF_C_NULL)
			break;
	}
	elf_end(whole);
	if (file >= 0)
		close(file);
	sk_map_init(&reader->names_of_entries, reader->arena);
	for (size_t i = 0; i < reader->entries.count; i++) {
		const struct sk_draft_entry *entry = &reader->entries.items[i];

		if (!entry->local)
			sk_map_insert(&reader->names_of_entries, entry->symbol, strlen(entry->symbol), (uint32_t)i);
	}
}

/* Print a description. `symbol` and `object` may be NULL. */
static void print_draft(struct reader *reader, const char *name, const char *symbol, const char *object,
			const struct sk_draft *draft)
{
	const char *comment = draft->usable ? "" : "# ";

	fprintf(reader->table, "  %s%s:\n", comment, name);
	for (size_t i = 0; i < draft->notes.count; i++)
		fprintf(reader->table, "    # %s\n", draft->notes.items[i]);
	if (object)
		fprintf(reader->table, "  %s  object: \"%s\"\n", comment, object);
	if (symbol)
		fprintf(reader->table, "  %s  symbol: \"%s\"\n", comment, symbol);
	fprintf(reader->table, "  %s  signature: \"%s\"\n", comment, draft->signature);
	reader->usable |= draft->usable;
}

static void print_function(struct reader *reader, const char *name, Dwarf_Die *die)
{
	struct sk_draft draft = sk_draft_function(reader->arena, die);

	if (*draft.signature) /* line tables alone have no parameters */
		print_draft(reader, name, NULL, NULL, &draft);
	else
		sk_array_push(reader->arena, &reader->others, name);
}

/* Print what the compiler tells of the function; return whether it tells anything. */
static bool print_entry(struct reader *reader, const char *symbol)
{
	uint32_t index = sk_map_find(&reader->names_of_entries, symbol, strlen(symbol));
	const struct sk_draft_entry *entry;

	if (index == SK_NONE)
		return false;
	entry = &reader->entries.items[index];
	print_draft(reader, entry->name, strcmp(entry->name, symbol) ? symbol : NULL, NULL, &entry->draft);
	return true;
}

/* Print the local functions of which a compiler tells. */
static void print_local_entries(struct reader *reader)
{
	for (size_t i = 0; i < reader->entries.count; i++) {
		const struct sk_draft_entry *entry = &reader->entries.items[i];

		if (entry->local)
			print_draft(reader, entry->name, strcmp(entry->name, entry->symbol) ? entry->symbol : NULL,
				    sk_arena_escape(reader->arena, reader->file), &entry->draft);
	}
}

static void print_symbol(struct reader *reader, const char *name)
{
	uint32_t index = sk_map_find(&reader->described, name, strlen(name));

	name = sk_arena_copy(reader->arena, name, strlen(name));
	if (sk_map_insert(&reader->printed, name, strlen(name), reader->count) != reader->count)
		return;
	reader->count++;
	if (print_entry(reader, name))
		return;
	if (reader->runtime || is_of_rust_allocator(name) ||
	    (index != SK_NONE && is_of_compiler_rt(name, &reader->dies.items[index])))
		reader->of_runtime++;
	else if (is_of_rust(name))
		reader->of_rust++;
	else if (index == SK_NONE || !is_plain(name))
		sk_array_push(reader->arena, &reader->others, sk_arena_escape(reader->arena, name));
	else
		print_function(reader, name, &reader->dies.items[index]);
}

static int read_module(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base, void *context)
{
	struct reader *reader = context;
	Dwarf_Addr bias;
	Dwarf_Die *unit = NULL;
	int symbols;

	(void)user, (void)base;
	reader->runtime = is_of_rust_library(name);
	sk_map_init(&reader->described, reader->arena);
	memset(&reader->dies, 0, sizeof(reader->dies));
	while ((unit = dwfl_module_nextcu(module, unit, &bias)))
		add_functions(reader, unit, 0);
	symbols = dwfl_module_getsymtab(module);
	for (int i = 1; i < symbols; i++) {
		GElf_Sym symbol;
		GElf_Addr address;
		GElf_Word section;
		const char *text = dwfl_module_getsym_info(module, i, &symbol, &address, &section, NULL, NULL);

		if (text && GELF_ST_TYPE(symbol.st_info) == STT_FUNC && GELF_ST_BIND(symbol.st_info) != STB_LOCAL &&
		    symbol.st_shndx != SHN_UNDEF)
			print_symbol(reader, text);
	}
	return DWARF_CB_OK;
}

static void print_others(const struct reader *reader, FILE *stream)
{
	if (reader->others.count)
		fputs("# No parameters of these functions are known; debug information (-g) has them:\n", stream);
	for (size_t i = 0; i < reader->others.count; i++)
		fprintf(stream, "#   %s\n", reader->others.items[i]);
	if (reader->of_runtime)
		fprintf(stream, "# Functions of the compiler's own libraries, which are left out: %zu\n",
			reader->of_runtime);
	if (reader->of_rust)
		fprintf(stream, "# Functions that are not extern \"C\", which only Rust can call: %zu\n",
			reader->of_rust);
}

static void print_table(struct reader *reader, Dwfl *dwfl, const char *file, FILE *stream)
{
	struct sk_text table;

	sk_text_open(&table);
	reader->table = table.stream;
	read_entries(reader);
	dwfl_getmodules(dwfl, read_module, reader, 0);
	print_local_entries(reader);
	sk_text_close(reader->arena, &table);
	fprintf(stream,
		"# A draft of the signatures of %s. Check the directions and the comments; one call computes\n"
		"# everything, unless the signature begins with an attribute such as split=n; (sk-signatures(5)).\n"
		"kernels:%s\n%s",
		sk_arena_escape(reader->arena, file), reader->usable ? "" : " {}", table.bytes);
	print_others(reader, stream);
}

void sk_draft_print(struct sk_arena *arena, struct sk_diag *diag, const char *file, FILE *stream)
{
	char *folders = NULL;
	const Dwfl_Callbacks callbacks = {.find_elf = dwfl_build_id_find_elf,
					  .find_debuginfo = dwfl_standard_find_debuginfo,
					  .section_address = dwfl_offline_section_address,
					  .debuginfo_path = &folders};
	Dwfl *dwfl = dwfl_begin(&callbacks);
	struct reader reader = {.arena = arena, .file = file};

	sk_map_init(&reader.printed, arena);
	if (!dwfl || !dwfl_report_offline(dwfl, "", file, -1))
		sk_error(diag, (struct sk_place){.file = file},
			 "has no functions that could be described: %s; give an object, an archive or a shared library",
			 dwfl_errmsg(-1));
	else if (dwfl_report_end(dwfl, NULL, NULL))
		sk_error(diag, (struct sk_place){.file = file}, "cannot be read: %s", dwfl_errmsg(-1));
	else
		print_table(&reader, dwfl, file, stream);
	dwfl_end(dwfl);
}

#else

void sk_draft_print(struct sk_arena *arena, struct sk_diag *diag, const char *file, FILE *stream)
{
	(void)arena, (void)stream;
	sk_error(diag, (struct sk_place){.file = file},
		 "cannot be described: this sklink was built without libdw, which reads debug information");
}

#endif
