/* Opens a package with libelf, which checks headers and tables; this file checks the properties peculiar to packages.
 * See skdump.h. */
#include "src/skdump/skdump.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/file.h"
#include "base/map.h"
#include "base/ranges.h"
#include "format/plan/dims-forms.h"
#include "format/plan/dims.h"
#include "format/plan/plan.h"
#include "format/plan/ranks.h"
#include "format/skranks.h"
#include "format/skweights.h"
#include "src/proof/proof.h"

struct opening {
	struct sk_arena *arena;
	struct sk_diag *diag;
	struct sk_package_file *file;
	Elf *elf;
};

static bool refuse_package(const struct opening *opening, const char *text)
{
	sk_error(opening->diag, (struct sk_place){.file = opening->file->path}, "%s", text);
	return false;
}

static bool map_file(const struct opening *opening)
{
	struct sk_package_file *file = opening->file;
	int descriptor = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* rejects pipes */
	struct stat status = {0};

	if (descriptor < 0)
		return refuse_package(opening, strerror(errno));
	if (fstat(descriptor, &status) < 0 || !S_ISREG(status.st_mode) || status.st_size == 0) {
		close(descriptor);
		return refuse_package(opening, "it is not a file with contents");
	}
	file->mapping = sk_map_file(descriptor, (size_t)status.st_size, file->path);
	close(descriptor);
	if (!file->mapping)
		return refuse_package(opening, strerror(errno));
	file->bytes = file->mapping;
	file->size = file->file_size = (uint64_t)status.st_size;
	return true;
}

static bool check_elf_header(const struct opening *opening)
{
	GElf_Ehdr header;

	if (!opening->elf && errno == ENOMEM)
		sk_out_of_memory(); /* libelf's error numbers do not distinguish this from a truncated file */
	if (elf_kind(opening->elf) != ELF_K_ELF || !gelf_getehdr(opening->elf, &header))
		return refuse_package(opening, "it is not an ELF file");
	opening->file->is_object = header.e_type == ET_REL;
	if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
	    (header.e_type != ET_DYN && header.e_type != ET_REL))
		return refuse_package(opening,
				      "it is not a 64-bit little-endian shared object, as packages are, nor an object "
				      "of sklink -r");
	return true;
}

static bool read_segments(const struct opening *opening)
{
	struct sk_package_file *file = opening->file;
	size_t count;

	if (file->is_object) {
		const char *error = sk_package_object_link(opening->arena, opening->elf, file);

		return !error || refuse_package(opening, error);
	}
	if (elf_getphdrnum(opening->elf, &count) < 0)
		return refuse_package(opening, "its program headers are damaged");
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr header;

		if (!gelf_getphdr(opening->elf, (int)i, &header))
			return refuse_package(opening, "its program headers are damaged");
		if (header.p_type != PT_LOAD)
			continue;
		if (!header.p_flags && !header.p_filesz) {
			file->weights_start = header.p_vaddr;
			file->weights_size = header.p_memsz;
			continue;
		}
		if (header.p_offset != header.p_vaddr)
			return refuse_package(opening, "it is not a package: its addresses are not its file offsets");
		if (!sk_within(header.p_offset, header.p_filesz, file->size))
			return refuse_package(opening, "it is cut off: a segment reaches beyond the end of the file");
		sk_array_push(opening->arena, &file->segments,
			      (struct sk_file_segment){.start = header.p_offset,
						       .end = header.p_offset + header.p_filesz,
						       .writable = header.p_flags & PF_W,
						       .executable = header.p_flags & PF_X});
	}
	return true;
}

/* Return the address at which the section's bytes are loaded. */
static uint64_t address_of(const struct sk_package_file *file, const GElf_Shdr *header)
{
	return file->is_object ? header->sh_offset : header->sh_addr;
}

/* Return the section with the name, or NULL. */
static Elf_Scn *find_section(const struct opening *opening, const char *name, GElf_Shdr *header)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(opening->elf, &names) < 0)
		return NULL;
	while ((section = elf_nextscn(opening->elf, section)) != NULL) {
		const char *found =
			gelf_getshdr(section, header) ? elf_strptr(opening->elf, names, header->sh_name) : NULL;

		if (found && strcmp(found, name) == 0)
			return section;
	}
	return NULL;
}

/* Read the sizes that are the end of the plan. */
static bool read_appended_sizes(const struct opening *opening)
{
	struct sk_package_file *file = opening->file;
	uint64_t size = 0;
	const uint8_t *bytes = sk_plan_sizes(&file->plan, &size);
	char error[256];

	if (!bytes)
		return true;
	if (!sk_dims_open(bytes, size, &file->plan, &file->dims, error, sizeof(error)))
		return refuse_package(opening, error);
	file->dims_offset = (uint64_t)(bytes - file->bytes);
	file->forms = sk_forms_make(opening->arena, &file->dims);
	return file->dims.dims->size == size || refuse_package(opening, "its sizes do not fill the plan");
}

/* Read the sizes of a dynamic package with an open plan. */
static bool read_sizes(const struct opening *opening)
{
	struct sk_package_file *file = opening->file;
	const struct sk_file_segment *segment;
	GElf_Shdr header;
	char error[256];

	if (file->is_object)
		return read_appended_sizes(opening);
	if (!find_section(opening, ".sk.dims", &header))
		return true;
	if (header.sh_type != SHT_PROGBITS || !(header.sh_flags & SHF_ALLOC) ||
	    header.sh_offset != address_of(file, &header) || !sk_within(header.sh_offset, header.sh_size, file->size) ||
	    !(segment = sk_package_file_segment(file, header.sh_offset, header.sh_size)))
		return refuse_package(opening, "the section .sk.dims does not lie in a segment");
	if (segment->writable)
		return refuse_package(opening, "its sizes are writable");
	if (!sk_dims_open(file->bytes + header.sh_offset, header.sh_size, &file->plan, &file->dims, error,
			  sizeof(error)))
		return refuse_package(opening, error);
	file->dims_offset = header.sh_offset;
	file->forms = sk_forms_make(opening->arena, &file->dims);
	return file->dims.dims->size == header.sh_size ||
	       refuse_package(opening, "its sizes do not fill the section .sk.dims");
}

/* Read the ranks of a package with an open plan. */
static bool read_ranks(const struct opening *opening)
{
	struct sk_package_file *file = opening->file;
	const struct sk_file_segment *segment;
	GElf_Shdr header;
	char error[256];

	if (file->is_object || !find_section(opening, ".sk.ranks", &header))
		return true;
	if (header.sh_type != SHT_PROGBITS || !(header.sh_flags & SHF_ALLOC) ||
	    header.sh_offset != address_of(file, &header) || !sk_within(header.sh_offset, header.sh_size, file->size) ||
	    !(segment = sk_package_file_segment(file, header.sh_offset, header.sh_size)))
		return refuse_package(opening, "the section .sk.ranks does not lie in a segment");
	if (segment->writable)
		return refuse_package(opening, "its ranks are writable");
	if (!sk_ranks_open(file->bytes + header.sh_offset, header.sh_size, &file->ranks, error, sizeof(error)))
		return refuse_package(opening, error);
	file->ranks_offset = header.sh_offset;
	return file->ranks.ranks->size == header.sh_size ||
	       refuse_package(opening, "its ranks do not fill the section .sk.ranks");
}

static bool read_plan(const struct opening *opening)
{
	struct sk_package_file *file = opening->file;
	const struct sk_file_segment *segment;
	GElf_Shdr header;
	char error[256];

	if (!find_section(opening, ".sk.plan", &header))
		return refuse_package(opening, "it is not a package: it has no section .sk.plan");
	if (header.sh_type != SHT_PROGBITS || !(header.sh_flags & SHF_ALLOC) ||
	    header.sh_offset != address_of(file, &header) || !sk_within(header.sh_offset, header.sh_size, file->size) ||
	    !(segment = sk_package_file_segment(file, header.sh_offset, header.sh_size)))
		return refuse_package(opening, "the section .sk.plan does not lie in a segment");
	if (segment->writable) /* proved contents could change, and libskrt refuses it */
		return refuse_package(opening, "its plan is writable");
	file->plan_offset = header.sh_offset;
	if (!sk_plan_open(file->bytes + header.sh_offset, header.sh_size, &file->plan, error, sizeof(error)))
		return refuse_package(opening, error);
	if (!read_sizes(opening) || !read_ranks(opening))
		return false;
	if (!sk_plan_check_all(&file->plan, error, sizeof(error)))
		return refuse_package(opening, error);
	if (file->plan.plan->size != header.sh_size)
		return refuse_package(opening, "its plan does not fill the section .sk.plan");
	if (find_section(opening, ".text", &header))
		file->text = address_of(file, &header);
	if (find_section(opening, ".sk.constants", &header))
		file->constants = address_of(file, &header);
	return true;
}

static bool read_weights(const struct opening *opening)
{
	struct sk_package_file *file = opening->file;
	const struct sk_weights *weights;
	GElf_Shdr header;

	if (!find_section(opening, ".sk.weights", &header))
		return true;
	if (header.sh_type != SHT_PROGBITS || header.sh_size <= sizeof(*weights) ||
	    header.sh_offset % _Alignof(struct sk_weights) ||
	    !sk_within(header.sh_offset, header.sh_size, file->size) ||
	    file->bytes[header.sh_offset + header.sh_size - 1])
		return refuse_package(opening, "the section .sk.weights is damaged");
	weights = (const struct sk_weights *)(file->bytes + header.sh_offset);
	if (weights->version != SK_WEIGHTS_VERSION || weights->identity.size != file->weights_size)
		return refuse_package(opening, "its weights contradict its segments");
	file->weights = weights;
	return true;
}

static bool read_traps(const struct opening *opening)
{
	struct sk_package_file *file = opening->file;
	GElf_Shdr header;

	if (!find_section(opening, ".sk.traps", &header) || !header.sh_size)
		return true;
	if (header.sh_type != SHT_PROGBITS || !sk_within(header.sh_offset, header.sh_size, file->size) ||
	    file->bytes[header.sh_offset + header.sh_size - 1])
		return refuse_package(opening, "the section .sk.traps is damaged");

	const char *names = (const char *)file->bytes + header.sh_offset;

	for (uint64_t at = 0; at < header.sh_size; at += strlen(names + at) + 1)
		sk_array_push(opening->arena, &file->traps, names + at);
	return true;
}

/* Return the reason why a node without a task in the account does not match the plan; NULL: all do. */
static const char *check_nodes(const struct sk_package_file *file)
{
	for (size_t n = 0; n < file->account.node_count; n++)
		for (uint32_t i = 0; i < file->account.nodes[n].slice_count; i++) {
			const struct sk_account_slice *slice = &file->account.nodes[n].slices[i];

			if (slice->tensor >= file->plan.tensor_count)
				return "the account names a tensor that the plan does not have";
			if (!sk_within(slice->offset, slice->bytes,
				       sk_plan_type(&file->plan.tensors[slice->tensor])->bytes))
				return "the account has a slice that lies outside its tensor";
		}
	return NULL;
}

static bool read_account(const struct opening *opening)
{
	struct sk_package_file *file = opening->file;
	GElf_Shdr header;
	const char *error;

	if (!find_section(opening, SK_ACCOUNT_SECTION, &header))
		return true;
	if (header.sh_type != SHT_PROGBITS || !sk_within(header.sh_offset, header.sh_size, file->size))
		return refuse_package(opening, "the section .sk.report lies outside the file");
	error = sk_account_unpack(opening->arena, file->bytes + header.sh_offset, header.sh_size, &file->account);
	for (size_t i = 0; i < file->account.count && !error; i++)
		if (file->account.entries[i].launch >= file->plan.network_launch_count)
			error = "the account names a launch that the plan does not have";
	for (size_t i = 0; i < file->account.count && !error; i++)
		if (file->account.entries[i].task >= file->plan.task_count)
			error = "the account names a task that the plan does not have";
	for (size_t i = 0; i < file->account.order_count && !error; i++)
		if (file->account.orders[i].later >= file->plan.task_count ||
		    file->account.orders[i].earlier >= file->plan.task_count)
			error = "the account names a task that the plan does not have";
	if (!error && file->account.object_count > file->plan.kernel_count)
		error = "the account names a kernel that the plan does not have";
	error = error ? error : check_nodes(file);
	if (error)
		return refuse_package(opening, error);
	file->has_account = true;
	return true;
}

/* Turn the value of an object's symbol into an address. Return false if the symbol is in no section. */
static bool place_symbol(const struct opening *opening, GElf_Sym *symbol)
{
	Elf_Scn *section = elf_getscn(opening->elf, symbol->st_shndx);
	GElf_Shdr header;

	if (symbol->st_shndx >= SHN_LORESERVE || !gelf_getshdr(section, &header))
		return false;
	symbol->st_value += header.sh_offset;
	return true;
}

static bool read_symbols(const struct opening *opening)
{
	struct sk_package_file *file = opening->file;
	GElf_Shdr header;
	Elf_Scn *section = find_section(opening, file->is_object ? ".symtab" : ".dynsym", &header);
	bool right_type = section && header.sh_type == (file->is_object ? SHT_SYMTAB : SHT_DYNSYM);
	Elf_Data *data = right_type ? elf_getdata(section, NULL) : NULL;
	GElf_Sym symbol;

	sk_map_init(&file->symbols, opening->arena);
	file->plan_symbol = "sk_plan";
	if (!data)
		return refuse_package(opening, file->is_object ? "it has no symbols" : "it has no dynamic symbols");
	for (int i = 1; gelf_getsym(data, i, &symbol); i++) {
		const char *name = elf_strptr(opening->elf, header.sh_link, symbol.st_name);

		if (!name || symbol.st_shndx == SHN_UNDEF ||
		    (file->is_object && (GELF_ST_BIND(symbol.st_info) == STB_LOCAL || !place_symbol(opening, &symbol))))
			continue;
		name = sk_arena_copy(opening->arena, name, strlen(name));
		if (file->is_object && symbol.st_value == file->plan_offset && !strncmp(name, "sk_plan_", 8))
			file->plan_symbol = name;
		sk_map_insert(&file->symbols, name, strlen(name), (uint32_t)file->symbol_values.count);
		sk_array_push(opening->arena, &file->symbol_values, symbol.st_value);
	}
	return true;
}

/* Return a string of the table, in place; NULL if it is not terminated there. */
static const char *string_in(const struct sk_package_file *file, const GElf_Shdr *table, uint64_t offset)
{
	const char *string;

	if (table->sh_type != SHT_STRTAB || !sk_within(table->sh_offset, table->sh_size, file->size) ||
	    offset >= table->sh_size)
		return NULL;
	string = (const char *)file->bytes + table->sh_offset + offset;
	return memchr(string, '\0', table->sh_size - offset) ? string : NULL;
}

static int compare_functions(const void *a, const void *b)
{
	const struct sk_file_function *one = a, *other = b;

	return (one->address > other->address) - (one->address < other->address);
}

static void find_widest(const struct sk_package_file *file)
{
	struct sk_file_function *functions = file->functions.items;
	uint64_t last_end = 0;

	for (size_t i = 0; i < file->functions.count; i++) {
		uint64_t end;

		if (!sk_add(functions[i].address, functions[i].size, &end))
			end = UINT64_MAX;
		functions[i].widest = i && end < last_end ? functions[i - 1].widest : i;
		last_end = end > last_end ? end : last_end;
	}
}

static void read_functions(const struct opening *opening)
{
	struct sk_package_file *file = opening->file;
	GElf_Shdr header, strings;
	Elf_Scn *section = find_section(opening, ".symtab", &header);
	Elf_Data *data = section && header.sh_type == SHT_SYMTAB ? elf_getdata(section, NULL) : NULL;
	GElf_Sym symbol;

	if (!data || !gelf_getshdr(elf_getscn(opening->elf, header.sh_link), &strings))
		return;
	file->has_symtab = true;
	for (int i = 1; gelf_getsym(data, i, &symbol); i++) {
		const char *name = string_in(file, &strings, symbol.st_name);
		unsigned type = GELF_ST_TYPE(symbol.st_info);

		if (!name || (type != STT_FUNC && type != STT_NOTYPE && type != STT_OBJECT))
			continue;
		if (symbol.st_shndx == SHN_UNDEF && file->is_object)
			sk_array_push(opening->arena, &file->functions,
				      (struct sk_file_function){file->undefined + (uint64_t)i * SK_UNDEFINED_ROOM,
								SK_UNDEFINED_ROOM,
								sk_arena_join(opening->arena, name, "@plt"), 0});
		else if (symbol.st_shndx != SHN_UNDEF && (!file->is_object || place_symbol(opening, &symbol)))
			sk_array_push(opening->arena, &file->functions,
				      (struct sk_file_function){symbol.st_value, symbol.st_size, name, 0});
	}
	if (file->functions.count)
		qsort(file->functions.items, file->functions.count, sizeof(struct sk_file_function), compare_functions);
	find_widest(file);
}

static bool check_machine(const struct opening *opening)
{
	GElf_Ehdr header;

	return (gelf_getehdr(opening->elf, &header) && header.e_machine == opening->file->plan.plan->machine) ||
	       refuse_package(opening, "its plan is for a different machine than its code");
}

bool sk_package_file_open(struct sk_arena *arena, struct sk_diag *diag, const char *path, struct sk_package_file *file)
{
	struct opening opening = {.arena = arena, .diag = diag, .file = file};
	bool sound;

	*file = (struct sk_package_file){.path = path};
	if (!map_file(&opening))
		return false;
	sk_package_move(arena, file);
	elf_version(EV_CURRENT);
	/* libelf does not write to the image; its interface only lacks the const. */
	errno = 0;
	opening.elf = elf_memory((char *)(uintptr_t)file->bytes, file->size);
	/* Nothing that libelf allocates is kept beyond elf_end. */
	sound = check_elf_header(&opening) && read_segments(&opening) && read_plan(&opening) &&
		read_weights(&opening) && check_machine(&opening) && read_traps(&opening) && read_account(&opening) &&
		read_symbols(&opening);
	if (sound)
		read_functions(&opening);
	elf_end(opening.elf);
	if (!sound)
		sk_package_file_close(file);
	return sound;
}

void sk_package_file_close(struct sk_package_file *file)
{
	sk_plan_close(&file->plan);
	sk_dims_close(&file->dims);
	if (file->mapping)
		sk_unmap_file(file->mapping, file->file_size);
	*file = (struct sk_package_file){0};
}

uint64_t sk_package_file_target(const struct sk_package_file *file, const int32_t *reference)
{
	uint64_t field = file->plan_offset + (uint64_t)((const uint8_t *)reference - (const uint8_t *)file->plan.plan);

	return field + (uint64_t)(int64_t)*reference;
}

const struct sk_file_segment *sk_package_file_segment(const struct sk_package_file *file, uint64_t address,
						      uint64_t size)
{
	for (size_t i = 0; i < file->segments.count; i++) {
		const struct sk_file_segment *segment = &file->segments.items[i];

		if (address >= segment->start &&
		    sk_within(address - segment->start, size, segment->end - segment->start))
			return segment;
	}
	return NULL;
}

size_t sk_package_file_behind(const struct sk_package_file *file, uint64_t address)
{
	size_t low = 0, high = file->functions.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (file->functions.items[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint64_t sk_package_file_code(const struct sk_package_file *file, uint64_t address)
{
	size_t behind = sk_package_file_behind(file, address);
	const struct sk_file_function *entry = behind ? &file->functions.items[behind - 1] : NULL;

	if (!entry || entry->address != address)
		return 0;

	size_t length = strlen(entry->name);
	uint64_t size = entry->size;

	for (; behind < file->functions.count; behind++) {
		const struct sk_file_function *part = &file->functions.items[behind];

		if (strncmp(part->name, entry->name, length) != 0 || part->name[length] != '.')
			break;
		size += part->size;
	}
	return size;
}
