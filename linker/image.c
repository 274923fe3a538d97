/* The bytes of the file. Input: a relocated image. Output: the file's parts (parts.c), complete with headers, symbol
 * table and build-id (build-id.c). */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/ranges.h"
#include "linker/linker-parts.h"
#include "linker/linker.h"
#include "linker/object.h"
#include "linker/output.h"

/* Add the image; a section that has not been copied into it fills its gap from the caller's memory. */
static void add_loaded(struct sk_linker *linker)
{
	const struct sk_input_section *uncopied = linker->uncopied;
	uint64_t start = 0;

	if (uncopied && !linker->options.relocatable) {
		sk_image_add(linker, 0, linker->image, uncopied->address);
		sk_image_add(linker, uncopied->address, uncopied->bytes, uncopied->size);
		start = uncopied->address + uncopied->size;
	}
	sk_image_add(linker, start, linker->image + start, linker->loaded_size - start);
}

void sk_image_prepare(struct sk_linker *linker)
{
	linker->image = sk_arena_alloc(linker->arena, linker->loaded_size, 1);
	add_loaded(linker);
}

/* ---- .rela.dyn: the RELATIVE ones first, as DT_RELACOUNT promises ---- */

static int compare_relocations(const void *a, const void *b)
{
	const Elf64_Rela *left = a, *right = b;

	return (left->r_offset > right->r_offset) - (left->r_offset < right->r_offset);
}

static void write_loader_relocations(struct sk_linker *linker)
{
	Elf64_Rela *out = (Elf64_Rela *)sk_image_at(linker, &linker->made[SK_MADE_RELOCATIONS]);
	sk_relocations *lists[] = {&linker->relative, &linker->import_relocations};

	for (size_t i = 0; i < 2; i++) {
		if (!lists[i]->count)
			continue;
		qsort(lists[i]->items, lists[i]->count, sizeof(*out), compare_relocations);
		memcpy(out, lists[i]->items, lists[i]->count * sizeof(*out));
		out += lists[i]->count;
	}
}

/* ---- .symtab, so that debuggers and profilers show names ---- */

static uint32_t add_name(struct sk_arena *arena, sk_bytes *names, const char *name)
{
	uint32_t offset = (uint32_t)names->count;

	do
		sk_array_push(arena, names, (uint8_t)*name);
	while (*name++);
	return offset;
}

static void add_symbol(const struct sk_linker *linker, struct sk_symbol_table *table, const char *name, uint8_t info,
		       const struct sk_input_section *section, uint64_t value, uint64_t size)
{
	/* In an image such a symbol is an offset in the block. With -r the block does not exist yet, and offsets start
	 * at 0. */
	bool thread_local = ELF64_ST_TYPE(info) == STT_TLS;

	sk_array_push(table->arena, &table->symbols,
		      (Elf64_Sym){.st_name = add_name(table->arena, &table->names, name),
				  .st_info = info,
				  .st_shndx = (uint16_t)section->output->number,
				  .st_value = thread_local ? sk_thread_offset(linker, section, value)
							   : section->address + value,
				  .st_size = sk_size_within(section, value, size)});
}

/* Add an absolute symbol that a pulled object defines. */
static void add_absolute(struct sk_symbol_table *table, const struct sk_linker_symbol *symbol)
{
	sk_array_push(table->arena, &table->symbols,
		      (Elf64_Sym){.st_name = add_name(table->arena, &table->names, symbol->name),
				  .st_info = ELF64_ST_INFO(STB_LOCAL, symbol->type),
				  .st_shndx = SHN_ABS,
				  .st_value = symbol->value,
				  .st_size = symbol->size});
}

/* Return whether the symbol is among the exported ones, which have their own place in the table. */
static bool is_exported(const struct sk_linker *linker, const struct sk_object *object, uint32_t index)
{
	const struct sk_linker_symbol *symbol;

	if (index < object->first_global)
		return false;
	symbol = &linker->symbols.items[object->globals[index - object->first_global]];
	return symbol->exported && symbol->object == object;
}

/* Add functions and objects of live sections; labels without a type only if they are global, as in assembly. */
static void add_object_symbols(const struct sk_linker *linker, struct sk_symbol_table *table,
			       const struct sk_object *object)
{
	for (uint32_t i = linker->options.discard_locals ? object->first_global : 1; i < object->symbol_count; i++) {
		const sk_elf_symbol *symbol = &object->symbols[i];
		uint32_t number = sk_object_symbol_section(object, i);
		uint8_t type = ELF64_ST_TYPE(symbol->st_info);

		if (!number || !object->names[symbol->st_name] || is_exported(linker, object, i))
			continue;
		if (type != STT_FUNC && type != STT_OBJECT && type != STT_TLS &&
		    (type != STT_NOTYPE || i < object->first_global))
			continue;

		const struct sk_input_section *section = sk_section_follow(sk_object_section(object, number));
		uint64_t value = symbol->st_value;

		if (section->mergeable && section->merged) {
			if (!sk_merge_find(section, symbol->st_value, &value))
				continue;
			section = &section->merged->section;
		}
		if (section->output)
			add_symbol(linker, table, object->names + symbol->st_name, ELF64_ST_INFO(STB_LOCAL, type),
				   section, value, symbol->st_size);
	}
}

static void add_stub_symbols(const struct sk_linker *linker, struct sk_symbol_table *table)
{
	const uint64_t size = linker->architecture->stub_size;

	for (size_t i = 0; i < linker->stubs.count; i++) {
		const char *name = linker->symbols.items[linker->stubs.items[i]].name;

		add_symbol(linker, table, sk_arena_print(table->arena, "%s@plt", name),
			   ELF64_ST_INFO(STB_LOCAL, STT_FUNC), &linker->made[SK_MADE_PLT], i * size, size);
	}
}

static void add_trap_symbols(const struct sk_linker *linker, struct sk_symbol_table *table)
{
	const uint64_t size = linker->architecture->trap_size;

	for (size_t i = 0; i < linker->traps.count; i++) {
		const char *name = linker->symbols.items[linker->traps.items[i]].name;

		add_symbol(linker, table, sk_arena_print(table->arena, "%s@trap", name),
			   ELF64_ST_INFO(STB_LOCAL, STT_FUNC), &linker->made[SK_MADE_TRAPS], i * size, size);
	}
}

/* With -r: add the symbols that relocations refer to. */
static void add_section_symbols(const struct sk_linker *linker, struct sk_symbol_table *table)
{
	for (size_t i = 0; i < linker->outputs.count; i++)
		sk_array_push(table->arena, &table->symbols,
			      (Elf64_Sym){.st_info = ELF64_ST_INFO(STB_LOCAL, STT_SECTION),
					  .st_shndx = (uint16_t)linker->outputs.items[i]->number});
}

/* Slots are named like a compiler's labels, which linkers do not put into programs. */
static void add_slot_symbols(const struct sk_linker *linker, struct sk_symbol_table *table)
{
	table->first_slot = (uint32_t)table->symbols.count;
	for (size_t i = 0; i < linker->slots.count; i++) {
		const struct sk_got_slot *slot = &linker->slots.items[i];
		const char *name = sk_arena_print(table->arena, ".L%zu", i);

		if (slot->section)
			add_symbol(linker, table, name,
				   ELF64_ST_INFO(STB_LOCAL, slot->section->flags & SHF_TLS ? STT_TLS : STT_NOTYPE),
				   slot->section, slot->value, 0);
		else
			sk_array_push(table->arena, &table->symbols,
				      (Elf64_Sym){.st_name = add_name(table->arena, &table->names, name),
						  .st_shndx = SHN_ABS,
						  .st_value = slot->value});
	}
}

static void add_undefined(const struct sk_linker *linker, struct sk_symbol_table *table)
{
	for (size_t i = 0; i < linker->imported.count; i++) {
		const struct sk_linker_symbol *symbol = &linker->symbols.items[linker->imported.items[i]];
		unsigned binding = symbol->needed ? STB_GLOBAL : STB_WEAK;
		unsigned type = symbol->thread_local ? STT_TLS : STT_NOTYPE;

		sk_array_push(table->arena, &table->symbols,
			      (Elf64_Sym){.st_name = add_name(table->arena, &table->names, symbol->name),
					  .st_info = (uint8_t)ELF64_ST_INFO(binding, type),
					  .st_other = symbol->visibility});
	}
}

/* Add another name of a function or an object, or one that the symbols of its object leave out. */
static void add_named(struct sk_linker *linker, struct sk_symbol_table *table, sk_symbol number)
{
	const char *name = linker->symbols.items[number].name;
	const struct sk_linker_symbol *meant = &linker->symbols.items[sk_alias_follow(linker, number)];

	if (!meant->section) /* a number has no section, nor has a common symbol without references */
		return;

	struct sk_target target = sk_symbol_target(linker, number);

	if (target.section->output)
		add_symbol(linker, table, name, ELF64_ST_INFO(STB_LOCAL, meant->type), target.section, target.value,
			   meant->size);
}

/* Add the labels that distinguish functions of one name and one size. */
static void add_labels(struct sk_linker *linker, struct sk_symbol_table *table)
{
	sk_labels_choose(linker, table->arena);
	for (size_t i = 0; i < linker->labels.count; i++) {
		const struct sk_label *label = &linker->labels.items[i];
		const struct sk_linker_symbol *symbol = &linker->symbols.items[label->code];
		const struct sk_target target = sk_symbol_target(linker, label->code);

		if (label->needed)
			add_symbol(linker, table, sk_arena_print(table->arena, "%s.%s", symbol->name, label->text),
				   ELF64_ST_INFO(STB_LOCAL, STT_FUNC), target.section, target.value,
				   linker->symbols.items[target.symbol].size);
	}
}

/* Add local symbols, for debuggers and for skdump --verify. */
static void add_local_symbols(struct sk_linker *linker, struct sk_symbol_table *table)
{
	for (size_t i = 0; i < linker->symbols.count; i++) {
		const struct sk_linker_symbol *symbol = &linker->symbols.items[i];

		if (symbol->exported) /* exported symbols come last */
			continue;
		/* -x keeps local symbols of objects that the caller or the command line asks for. */
		if (symbol->rank == SK_DEFINITION_ASSIGNED ||
		    (symbol->local && symbol->object && linker->options.discard_locals))
			add_named(linker, table, (sk_symbol)i);
		if (symbol->local && !symbol->object && symbol->name && symbol->section->output)
			add_symbol(linker, table, symbol->name, ELF64_ST_INFO(STB_LOCAL, symbol->type), symbol->section,
				   symbol->value, symbol->size);
		else if (symbol->rank == SK_DEFINITION_COMMON && symbol->section && symbol->section->output)
			add_symbol(linker, table, symbol->name,
				   ELF64_ST_INFO(STB_LOCAL, symbol->type == STT_TLS ? STT_TLS : STT_OBJECT),
				   symbol->section, 0, symbol->size); /* its value is an alignment */
		else if (symbol->object && symbol->rank != SK_DEFINITION_COMMON && !symbol->section &&
			 symbol->alias == SK_NONE)
			add_absolute(table, symbol);
	}
	for (size_t i = 0; i < linker->objects.count; i++)
		if (linker->objects.items[i]->reached)
			add_object_symbols(linker, table, linker->objects.items[i]);
	add_labels(linker, table);
	add_stub_symbols(linker, table);
	add_trap_symbols(linker, table);
}

void sk_image_make_symbols(struct sk_linker *linker, struct sk_arena *arena)
{
	struct sk_symbol_table *table = &linker->symbol_table;

	table->arena = arena;
	sk_array_push(table->arena, &table->symbols, (Elf64_Sym){0});
	add_name(table->arena, &table->names, "");
	if (linker->options.relocatable) {
		add_section_symbols(linker, table);
		add_slot_symbols(linker, table);
	}
	if (!linker->options.strip_all)
		add_local_symbols(linker, table);
	table->first_global = (uint32_t)table->symbols.count;
	if (linker->options.relocatable)
		add_undefined(linker, table);
	for (size_t i = 0; i < linker->exported.count; i++) {
		Elf64_Sym symbol = sk_exported_symbol(linker, linker->exported.items[i]);

		symbol.st_name =
			add_name(table->arena, &table->names, linker->symbols.items[linker->exported.items[i]].name);
		/* A program's copy of data in a shared object would be separated from data at a fixed distance. */
		if (linker->options.relocatable && ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT)
			symbol.st_other = STV_PROTECTED;
		sk_array_push(table->arena, &table->symbols, symbol);
	}
}

/* ---- sections after the loaded part ---- */

static void link_sections(struct sk_linker *linker)
{
	const struct sk_input_section *made = linker->made;
	uint32_t symbols = made[SK_MADE_DYNAMIC_SYMBOLS].output->number;
	uint32_t names = made[SK_MADE_DYNAMIC_NAMES].output->number;
	static const enum sk_made of_symbols[] = {SK_MADE_HASH, SK_MADE_GNU_HASH, SK_MADE_VERSIONS,
						  SK_MADE_RELOCATIONS};
	static const enum sk_made of_names[] = {SK_MADE_DYNAMIC_SYMBOLS, SK_MADE_DEFINED_VERSIONS,
						SK_MADE_NEEDED_VERSIONS, SK_MADE_DYNAMIC};

	for (size_t i = 0; i < sizeof(of_symbols) / sizeof(of_symbols[0]); i++)
		if (sk_is_made(linker, of_symbols[i]))
			made[of_symbols[i]].output->link = symbols;
	for (size_t i = 0; i < sizeof(of_names) / sizeof(of_names[0]); i++)
		if (sk_is_made(linker, of_names[i]))
			made[of_names[i]].output->link = names;
	made[SK_MADE_DYNAMIC_SYMBOLS].output->info = 1; /* the first symbol that is not local */
	if (sk_is_made(linker, SK_MADE_DEFINED_VERSIONS))
		made[SK_MADE_DEFINED_VERSIONS].output->info = (uint32_t)linker->defined_versions.count + 1;
	if (sk_is_made(linker, SK_MADE_NEEDED_VERSIONS))
		made[SK_MADE_NEEDED_VERSIONS].output->info = linker->library_count;
}

struct sk_output *sk_image_add_symbols(struct sk_linker *linker)
{
	const struct sk_symbol_table *table = &linker->symbol_table;
	struct sk_output *symbols = sk_image_add_tail(linker, ".symtab", SHT_SYMTAB, table->symbols.items,
						      table->symbols.count * sizeof(Elf64_Sym), sizeof(uint64_t));

	symbols->entry_size = sizeof(Elf64_Sym);
	symbols->info = table->first_global;
	symbols->link =
		sk_image_add_tail(linker, ".strtab", SHT_STRTAB, table->names.items, table->names.count, 1)->number;
	return symbols;
}

/* Add .shstrtab and the section headers, which end the file. */
static uint64_t add_section_headers(struct sk_linker *linker)
{
	size_t count = linker->outputs.count + 2; /* the null section and .shstrtab */
	Elf64_Shdr *headers = SK_NEW_ARRAY(linker->arena, Elf64_Shdr, count);
	sk_bytes names = {0};

	add_name(linker->arena, &names, "");
	for (size_t i = 1; i + 1 < count; i++)
		headers[i].sh_name = add_name(linker->arena, &names, linker->outputs.items[i - 1]->name);
	headers[count - 1].sh_name = add_name(linker->arena, &names, ".shstrtab");
	sk_image_add_tail(linker, ".shstrtab", SHT_STRTAB, names.items, names.count, 1);
	for (size_t i = 1; i < count; i++) {
		const struct sk_output *output = linker->outputs.items[i - 1];
		uint32_t name = headers[i].sh_name;

		headers[i] = (Elf64_Shdr){.sh_name = name,
					  .sh_type = output->type,
					  .sh_flags = output->flags,
					  .sh_addr = output->address,
					  .sh_offset = output->file_offset,
					  .sh_size = output->size,
					  .sh_link = output->link,
					  .sh_info = output->info,
					  .sh_addralign = output->alignment,
					  .sh_entsize = output->entry_size};
	}

	uint64_t offset;

	sk_align(linker->file_size, sizeof(uint64_t), &offset);
	sk_image_add(linker, offset, headers, count * sizeof(*headers));
	linker->file_size = offset + count * sizeof(*headers);
	return offset;
}

static void write_headers(struct sk_linker *linker, uint64_t section_headers)
{
	Elf64_Ehdr *header = (Elf64_Ehdr *)linker->image;

	*header = (Elf64_Ehdr){
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT, ELFOSABI_NONE},
		.e_type = linker->options.relocatable ? ET_REL : ET_DYN,
		.e_machine = linker->architecture->machine,
		.e_version = EV_CURRENT,
		.e_phoff = linker->segments.count ? sizeof(Elf64_Ehdr) : 0,
		.e_shoff = section_headers,
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = linker->segments.count ? sizeof(Elf64_Phdr) : 0,
		.e_phnum = (uint16_t)linker->segments.count,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = (uint16_t)(linker->outputs.count + 1),
		.e_shstrndx = (uint16_t)linker->outputs.count,
	};
	if (linker->segments.count)
		memcpy(header + 1, linker->segments.items, linker->segments.count * sizeof(Elf64_Phdr));
}

void sk_image_add_headers(struct sk_linker *linker)
{
	write_headers(linker, add_section_headers(linker));
}

/* ---- complete image ---- */

bool sk_image_finish(struct sk_linker *linker)
{
	if (sk_is_made(linker, SK_MADE_RELOCATIONS))
		write_loader_relocations(linker);
	link_sections(linker);
	sk_image_add_uncopied(linker);
	if (!sk_debug_write(linker))
		return false;
	if (!linker->options.strip_all)
		sk_image_add_symbols(linker);
	sk_image_add_headers(linker);
	sk_build_id_write(linker);
	return true;
}
