/* The name of the function at an address, for messages: from the symbol table in the package's file, which is not
 * loaded. The file is not trusted: it is read piece by piece, and any inconsistency means that the name is not known.
 * Also the names of undefined symbols, to which their traps and guards refer. */
#include "config.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/skguards.h"
#include "loader/arch/machine.h"
#include "loader/image/image.h"

enum { SYMBOLS_AT_ONCE = 256 };

static bool read_at(int file, void *bytes, size_t size, uint64_t offset)
{
	return offset <= INT64_MAX && pread(file, bytes, size, (off_t)offset) == (ssize_t)size;
}

/* Find the section of the type, or the one with the index if the type is SHT_NULL. */
static bool find_section(int file, const Elf64_Ehdr *header, uint32_t type, uint32_t index, Elf64_Shdr *section)
{
	for (uint32_t i = 0; i < header->e_shnum; i++) {
		uint64_t offset;

		if (__builtin_add_overflow(header->e_shoff, i * sizeof(*section), &offset) ||
		    !read_at(file, section, sizeof(*section), offset))
			return false;
		if (type == SHT_NULL ? i == index : section->sh_type == type)
			return true;
	}
	return false;
}

/* Find the symbol of the type, STT_FUNC or STT_OBJECT, that contains the virtual address. */
static bool find_symbol(int file, const Elf64_Shdr *table, unsigned type, uint64_t address, Elf64_Sym *found)
{
	Elf64_Sym symbols[SYMBOLS_AT_ONCE];
	uint64_t count = table->sh_size / sizeof(symbols[0]);

	for (uint64_t i = 0; i < count; i += SYMBOLS_AT_ONCE) {
		uint64_t some = count - i < SYMBOLS_AT_ONCE ? count - i : SYMBOLS_AT_ONCE, offset;

		if (__builtin_add_overflow(table->sh_offset, i * sizeof(symbols[0]), &offset) ||
		    !read_at(file, symbols, some * sizeof(symbols[0]), offset))
			return false;
		for (uint64_t j = 0; j < some; j++) {
			*found = symbols[j];
			if (ELF64_ST_TYPE(found->st_info) == type && found->st_shndx != SHN_UNDEF &&
			    address - found->st_value < found->st_size)
				return true;
		}
	}
	return false;
}

static bool find_in_file(int file, unsigned type, uint64_t address, char *name, size_t size, uint64_t *offset)
{
	Elf64_Ehdr header;
	Elf64_Shdr table, strings;
	Elf64_Sym symbol;

	if (!read_at(file, &header, sizeof(header), 0) || header.e_shentsize != sizeof(table) ||
	    !find_section(file, &header, SHT_SYMTAB, 0, &table) ||
	    !find_section(file, &header, SHT_NULL, table.sh_link, &strings) ||
	    !find_symbol(file, &table, type, address, &symbol) || symbol.st_name >= strings.sh_size ||
	    strings.sh_offset > INT64_MAX - strings.sh_size)
		return false;
	ssize_t length = pread(file, name, size - 1, (off_t)(strings.sh_offset + symbol.st_name));
	if (length <= 0)
		return false;
	name[length] = '\0';
	*offset = address - symbol.st_value;
	return name[0] != '\0';
}

static bool symbol_at(const struct sk_image *image, const char *path, unsigned type, const void *address, char *name,
		      size_t size, uint64_t *offset)
{
	struct stat status;
	bool found = false;
	int file = image->inode ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;

	if (file < 0)
		return false;
	if (!fstat(file, &status) && S_ISREG(status.st_mode) && status.st_ino == image->inode &&
	    status.st_dev == image->filesystem)
		found = find_in_file(file, type, (uintptr_t)address - image->bias, name, size, offset);
	close(file);
	return found;
}

bool sk_image_function_at(const struct sk_image *image, const char *path, const void *address, char *name, size_t size,
			  uint64_t *offset)
{
	return symbol_at(image, path, STT_FUNC, address, name, size, offset);
}

bool sk_image_variable_at(const struct sk_image *image, const char *path, const void *address, char *name, size_t size,
			  uint64_t *offset)
{
	return symbol_at(image, path, STT_OBJECT, address, name, size, offset);
}

/* Return the string, if the image holds it all. */
static const char *checked_string(const struct sk_image *image, const char *string)
{
	for (const char *end = string; end && sk_image_holds(image, end, 1, PROT_READ); end++)
		if (!*end)
			return string;
	return NULL;
}

const char *sk_image_trap_at(const struct sk_image *image, const void *address)
{
	bool readable = sk_image_holds(image, address, SK_TRAP_CODE_SIZE, PROT_READ | PROT_EXEC);

	return readable ? checked_string(image, sk_trap_name(address)) : NULL;
}

const char *sk_image_guard_at(const struct sk_image *image, const void *address, int64_t *offset)
{
	uint64_t size = 0;
	const struct sk_guards *guards = sk_image_find(image, "sk_guards", &size);

	if (!guards || size < sizeof(*guards) || !sk_image_holds(image, guards, size, PROT_READ) ||
	    (uintptr_t)guards % sizeof(uint64_t) || guards->version != SK_GUARDS_VERSION ||
	    guards->count > (size - sizeof(*guards)) / sizeof(guards->names[0]))
		return NULL;

	uint64_t distance = (uintptr_t)address - ((uintptr_t)guards + (uint64_t)guards->first);
	uint64_t number = distance / SK_GUARD_SIZE;

	if (number >= guards->count || sk_image_holds(image, address, 1, 0))
		return NULL;
	*offset = (int64_t)(distance % SK_GUARD_SIZE) - SK_GUARD_SIZE / 2;
	return checked_string(image, (const char *)guards + guards->names[number]);
}
