/* Registration of packages with debuggers; see image.h. The file is not trusted: its section headers are copied only as
 * far as they are valid. */
#include "config.h"

#include "loader/image/image.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Larger packages are not registered: a debugger would also read all of the file. */
enum { SECTION_LIMIT = 4096, NAMES_LIMIT = 1 << 20, FRAMES_LIMIT = 1 << 28, CHUNK = 1 << 16 };
#define FILE_LIMIT (INT64_C(1) << 32)

/* ---- gdb's interface; names, types and order are its own ---- */

enum { NO_ACTION, REGISTER, UNREGISTER };

struct code_entry {
	struct code_entry *next, *previous;
	const char *image;
	uint64_t size;
};

struct descriptor {
	uint32_t version;
	uint32_t action;
	struct code_entry *relevant, *first;
};

/* Protected: another library of the process may define the same names for itself. */
__attribute__((visibility("protected"))) struct descriptor __jit_debug_descriptor = {.version = 1};

/* gdb has a breakpoint here. */
__attribute__((visibility("protected"), noinline)) void __jit_debug_register_code(void);
__attribute__((visibility("protected"), noinline)) void __jit_debug_register_code(void)
{
	__asm__ volatile("" ::: "memory");
}

struct sk_debugger_entry {
	struct code_entry code; /* first */
	int file; /* named in the image; -1: the package has a file name of its own */
	alignas(8) char image[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void tell(struct code_entry *entry, uint32_t action)
{
	__jit_debug_descriptor.relevant = entry;
	__jit_debug_descriptor.action = action;
	__jit_debug_register_code();
	__jit_debug_descriptor.relevant = NULL;
	__jit_debug_descriptor.action = NO_ACTION;
}

/* ---- is there a debugger? ---- */

static bool wanted;

static void find_out(void)
{
	const char *setting = getenv("SKRT_GDB");
	char line[128];
	FILE *file;

	if (setting && *setting) {
		wanted = !strcmp(setting, "1");
		return;
	}
	file = fopen("/proc/self/status", "re");
	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, "TracerPid:", 10))
			wanted = strtol(line + 10, NULL, 10) != 0;
	if (file)
		fclose(file);
}

bool sk_debugger_wanted(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, find_out);
	return wanted;
}

/* ---- the package's file ---- */

static bool read_at(int file, void *bytes, size_t size, uint64_t offset)
{
	return offset <= INT64_MAX && pread(file, bytes, size, (off_t)offset) == (ssize_t)size;
}

/* Compute the checksum for .gnu_debuglink: CRC-32 as in IEEE 802.3, of the whole file. */
static bool compute_checksum(int file, uint32_t *checksum)
{
	uint32_t table[256], sum = UINT32_MAX;
	struct stat status;
	ssize_t count = -1;

	if (fstat(file, &status) || status.st_size > FILE_LIMIT)
		return false;
	unsigned char *chunk = malloc(CHUNK);

	for (uint32_t i = 0; i < 256; i++) {
		table[i] = i;
		for (int bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? UINT32_C(0xedb88320) : 0);
	}
	for (off_t at = 0; chunk && (count = pread(file, chunk, CHUNK, at)) > 0; at += count)
		for (ssize_t i = 0; i < count; i++)
			sum = sum >> 8 ^ table[(sum ^ chunk[i]) & 255];
	free(chunk);
	*checksum = ~sum;
	return count == 0;
}

/* Return the path by which a debugger finds the file, which the caller frees: its own, or, if it has none or has lost
 * it, that of the descriptor. NULL: none. */
static char *find_path(const char *path, int file, bool *named)
{
	struct stat there, own;
	char *found = realpath(path, NULL);

	*named = found && !stat(found, &there) && !fstat(file, &own) && there.st_dev == own.st_dev &&
		 there.st_ino == own.st_ino;
	if (*named)
		return found;
	free(found);
	return asprintf(&found, "/proc/%d/fd/%d", (int)getpid(), file) < 0 ? NULL : found;
}

/* ---- the image ---- */

/* The package's section headers and their names, from its file. */
struct sections {
	uint32_t count;
	Elf64_Shdr *headers;
	char *names; /* ends with NUL */
	uint64_t names_size;
};

static void free_sections(struct sections *sections)
{
	free(sections->headers);
	free(sections->names);
}

static bool read_sections(int file, Elf64_Ehdr *header, struct sections *sections)
{
	if (!read_at(file, header, sizeof(*header), 0) || header->e_shentsize != sizeof(Elf64_Shdr) ||
	    header->e_shnum == 0 || header->e_shnum > SECTION_LIMIT || header->e_shstrndx >= header->e_shnum)
		return false;
	sections->count = header->e_shnum;
	sections->headers = calloc(sections->count, sizeof(*sections->headers));
	if (!sections->headers ||
	    !read_at(file, sections->headers, sections->count * sizeof(*sections->headers), header->e_shoff))
		return false;
	const Elf64_Shdr *names = &sections->headers[header->e_shstrndx];
	if (names->sh_size == 0 || names->sh_size > NAMES_LIMIT)
		return false;
	sections->names_size = names->sh_size;
	sections->names = malloc(names->sh_size);
	if (!sections->names || !read_at(file, sections->names, names->sh_size, names->sh_offset))
		return false;
	sections->names[names->sh_size - 1] = '\0';
	return true;
}

static const char link_name[] = ".gnu_debuglink", names_name[] = ".shstrtab";

/* Places in the image: header, names, unwind tables, link, section headers. */
struct layout {
	uint64_t names, names_size, frames, frames_size, link, link_size, headers, size;
	uint32_t count; /* sections: null, the loaded ones, the link, the names */
};

static bool is_kept(const struct sk_image *image, const struct sections *sections, const Elf64_Shdr *section)
{
	return (section->sh_flags & SHF_ALLOC) && section->sh_size && section->sh_name < sections->names_size &&
	       sk_image_memory(image, section->sh_addr, section->sh_size, 1, 0);
}

/* gdb takes unwind tables from this image and not from the linked file. They refer to code by distance. */
static bool is_frames(const struct sections *sections, const Elf64_Shdr *section)
{
	return !strcmp(sections->names + section->sh_name, ".eh_frame") && section->sh_size <= FRAMES_LIMIT;
}

static uint64_t align(uint64_t offset)
{
	return (offset + 7) & ~UINT64_C(7);
}

static struct layout lay_out(const struct sk_image *image, const struct sections *sections, const char *path)
{
	struct layout layout = {.names = sizeof(Elf64_Ehdr), .count = 3};

	for (uint32_t i = 1; i < sections->count; i++) {
		const Elf64_Shdr *section = &sections->headers[i];

		if (!is_kept(image, sections, section))
			continue;
		layout.count++;
		if (is_frames(sections, section))
			layout.frames_size = section->sh_size;
	}
	layout.names_size = sections->names_size + sizeof(link_name) + sizeof(names_name);
	layout.frames = align(layout.names + layout.names_size);
	layout.link = align(layout.frames + layout.frames_size);
	/* The path with its NUL, padded to a multiple of 4; the checksum. */
	layout.link_size = ((strlen(path) + 4) & ~UINT64_C(3)) + 4;
	layout.headers = align(layout.link + layout.link_size);
	layout.size = layout.headers + layout.count * sizeof(Elf64_Shdr);
	return layout;
}

/* The bytes are all 0. */
static void write_image(char *bytes, const struct layout *layout, const struct sk_image *image,
			const Elf64_Ehdr *header, const struct sections *sections, const char *path, uint32_t checksum)
{
	Elf64_Ehdr own = {
		.e_type = ET_DYN,
		.e_machine = header->e_machine,
		.e_version = EV_CURRENT,
		.e_entry = image->bias + header->e_entry, /* by which gdb matches the sections with the file's */
		.e_shoff = layout->headers,
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = (Elf64_Half)layout->count,
		.e_shstrndx = (Elf64_Half)(layout->count - 1),
	};
	Elf64_Shdr *to = (void *)(bytes + layout->headers);

	memcpy(own.e_ident, header->e_ident, sizeof(own.e_ident));
	memcpy(bytes, &own, sizeof(own));
	memcpy(bytes + layout->names, sections->names, sections->names_size);
	memcpy(bytes + layout->names + sections->names_size, link_name, sizeof(link_name));
	memcpy(bytes + layout->names + sections->names_size + sizeof(link_name), names_name, sizeof(names_name));
	memcpy(bytes + layout->link, path, strlen(path));
	memcpy(bytes + layout->link + layout->link_size - sizeof(checksum), &checksum, sizeof(checksum));
	for (uint32_t i = 1; i < sections->count; i++) {
		const Elf64_Shdr *from = &sections->headers[i];

		if (!is_kept(image, sections, from))
			continue;
		*++to = (Elf64_Shdr){
			.sh_name = from->sh_name,
			.sh_type = SHT_NOBITS,
			.sh_flags = from->sh_flags & (SHF_ALLOC | SHF_WRITE | SHF_EXECINSTR),
			.sh_addr = image->bias + from->sh_addr,
			.sh_size = from->sh_size,
			.sh_addralign = 1,
		};
		if (is_frames(sections, from) && from->sh_size == layout->frames_size) {
			memcpy(bytes + layout->frames, (const void *)to->sh_addr, to->sh_size);
			to->sh_type = SHT_PROGBITS;
			to->sh_offset = layout->frames;
		}
	}
	*++to = (Elf64_Shdr){
		.sh_name = (Elf64_Word)sections->names_size,
		.sh_type = SHT_PROGBITS,
		.sh_offset = layout->link,
		.sh_size = layout->link_size,
		.sh_addralign = 4,
	};
	*++to = (Elf64_Shdr){
		.sh_name = (Elf64_Word)(sections->names_size + sizeof(link_name)),
		.sh_type = SHT_STRTAB,
		.sh_offset = layout->names,
		.sh_size = layout->names_size,
		.sh_addralign = 1,
	};
}

static struct sk_debugger_entry *make_entry(const struct sk_image *image, const char *path, int file)
{
	struct sections sections = {0};
	struct sk_debugger_entry *entry = NULL;
	Elf64_Ehdr header;
	uint32_t checksum;

	if (read_sections(file, &header, &sections) && compute_checksum(file, &checksum)) {
		struct layout layout = lay_out(image, &sections, path);

		entry = calloc(1, sizeof(*entry) + layout.size);
		if (entry) {
			write_image(entry->image, &layout, image, &header, &sections, path, checksum);
			entry->code.image = entry->image;
			entry->code.size = layout.size;
		}
	}
	free_sections(&sections);
	return entry;
}

struct sk_debugger_entry *sk_debugger_register(const struct sk_image *image, const char *path, int file)
{
	int kept = fcntl(file, F_DUPFD_CLOEXEC, 0);
	bool named = false;
	char *found = kept < 0 ? NULL : find_path(path, kept, &named);
	struct sk_debugger_entry *entry = found ? make_entry(image, found, kept) : NULL;

	free(found);
	if (kept >= 0 && (named || !entry)) {
		close(kept);
		kept = -1;
	}
	if (!entry)
		return NULL;
	entry->file = kept;
	pthread_mutex_lock(&lock);
	entry->code.next = __jit_debug_descriptor.first;
	if (entry->code.next)
		entry->code.next->previous = &entry->code;
	__jit_debug_descriptor.first = &entry->code;
	tell(&entry->code, REGISTER);
	pthread_mutex_unlock(&lock);
	return entry;
}

void sk_debugger_unregister(struct sk_debugger_entry *entry)
{
	if (!entry)
		return;
	pthread_mutex_lock(&lock);
	if (entry->code.previous)
		entry->code.previous->next = entry->code.next;
	else
		__jit_debug_descriptor.first = entry->code.next;
	if (entry->code.next)
		entry->code.next->previous = entry->code.previous;
	tell(&entry->code, UNREGISTER);
	pthread_mutex_unlock(&lock);
	if (entry->file >= 0)
		close(entry->file);
	free(entry);
}
