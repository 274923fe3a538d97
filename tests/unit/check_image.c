/* The ELF side of the loader: the memory of a good image, the images that are refused and their errors, and damaged
 * images, cut or changed at any place: each is an error and never a crash. */
#include "config.h"

#include <check.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/skplan.h"
#include "loader/base/status.h"
#include "loader/image/image.h"
#include "loader/skrt.h"
#include "tests/lib/handmade.h"
#include "tests/lib/scratch.h"
#include "tests/lib/suite.h"

static char path[128];

static void setup(void)
{
	snprintf(path, sizeof(path), "%s/a.sk", scratch_folder);
}

/* Has text, constants, relocated data, zero-filled data, a constructor and an import; volatile, so that no compiler is
 * clever enough to do without. */
static const char source[] =
	"#include <stddef.h>\n"
	"#define EXPORT __attribute__((visibility(\"default\")))\n"
	"void *memcpy(void *, const void *, size_t);\n"
	"static volatile int constructed;\n"
	"static volatile char zeros[100000];\n"
	"static int one = 1, two = 2;\n"
	"static volatile size_t int_size = sizeof(int);\n"
	"static int *volatile const pointers[] = {&one, &two};\n"
	"static int *volatile changing[] = {&one, &two};\n"
	"__attribute__((constructor)) static void construct(void) { constructed = 7; }\n"
	"EXPORT int answer(void)\n"
	"{ int x; memcpy(&x, pointers[1], int_size); return x * 10 + *changing[0] + constructed; }\n"
	"EXPORT int sum(void) { int s = 0; for (int i = 0; i < 100000; i++) s += zeros[i]; zeros[99999] = 1; return s; "
	"}\n"
	"EXPORT const int sk_plan[4] = {1, 2, 3, 4};\n"
	"EXPORT int writable_global = 5;\n";

static uint32_t count_mappings(const char *text)
{
	FILE *file = fopen("/proc/self/maps", "r");
	char line[512];
	uint32_t count = 0;

	ck_assert_ptr_nonnull(file);
	while (fgets(line, sizeof(line), file))
		count += strstr(line, text) != NULL;
	fclose(file);
	return count;
}

static enum skrt_status open_image(const char *file, struct sk_image *image)
{
	return sk_image_open(&(struct sk_source){.name = file, .file = -1}, image);
}

/* The protection of an address, as "r-xp", and the mapping's file. */
static void look_up(const void *address, char protection[8], char *file_name)
{
	FILE *file = fopen("/proc/self/maps", "r");
	char line[512];

	ck_assert_ptr_nonnull(file);
	protection[0] = '\0';
	while (fgets(line, sizeof(line), file)) {
		unsigned long start, end;
		char found[8];

		file_name[0] = '\0';
		ck_assert_int_ge(sscanf(line, "%lx-%lx %7s %*s %*s %*s %255s", &start, &end, found, file_name), 3);
		if ((uintptr_t)address < start || (uintptr_t)address >= end)
			continue;
		strcpy(protection, found);
		break;
	}
	fclose(file);
}

START_TEST(good_image)
{
	struct sk_image image;
	uint64_t size;
	char protection[8], file_name[256];
	const char *flags[] = {"", "-Wl,--hash-style=sysv", "-Wl,--hash-style=both", "-Wl,-z,norelro",
			       "-Wl,-z,max-page-size=65536"};

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		handmade_compile(path, source, NULL, flags[i]);
		ck_assert_msg(open_image(path, &image) == SKRT_OK, "%s: %s", flags[i], skrt_error());
		int (*answer)(void) = (int (*)(void))(uintptr_t)sk_image_find(&image, "answer", &size);
		int (*sum)(void) = (int (*)(void))(uintptr_t)sk_image_find(&image, "sum", &size);
		const int *plan = sk_image_find(&image, "sk_plan", &size);

		ck_assert_ptr_nonnull(plan);
		ck_assert_uint_eq(size, 16);
		ck_assert_int_eq(plan[3], 4);
		/* Opening it has run nothing. */
		ck_assert_int_eq(answer(), 21);
		ck_assert_uint_eq(image.constructors.count, 1);
		((void (*)(void))(uintptr_t)image.constructors.addresses[0])();
		ck_assert_int_eq(answer(), 28);
		ck_assert_int_eq(sum(), 0);
		ck_assert_int_eq(sum(), 1);
		ck_assert_ptr_null(sk_image_find(&image, "nothing", &size));
		ck_assert_ptr_null(sk_image_find(&image, "memcpy", &size));
		ck_assert(sk_image_holds(&image, plan, 16, PROT_READ));
		ck_assert(!sk_image_holds(&image, plan, 16, PROT_READ | PROT_WRITE));
		ck_assert(!sk_image_holds(&image, plan, UINT64_MAX, PROT_READ));
		ck_assert(!sk_image_holds(&image, &image, 1, PROT_READ));
		ck_assert(sk_image_holds(&image, (const void *)(uintptr_t)answer, 1, PROT_EXEC));

		look_up((const void *)(uintptr_t)answer, protection, file_name);
		ck_assert_str_eq(protection, "r-xp");
		ck_assert_str_eq(file_name, path);
		look_up(sk_image_find(&image, "writable_global", &size), protection, file_name);
		ck_assert_str_eq(protection, "rw-p");

		/* Two copies share nothing. */
		struct sk_image second;
		ck_assert_int_eq(open_image(path, &second), SKRT_OK);
		int (*second_sum)(void) = (int (*)(void))(uintptr_t)sk_image_find(&second, "sum", &size);
		ck_assert_int_eq(second_sum(), 0);
		sk_image_close(&second);
		sk_image_close(&image);
		ck_assert_uint_eq(count_mappings(path), 0);
	}
}
END_TEST

/* ---- debuggers ---- */

struct code_entry {
	struct code_entry *next, *previous;
	const char *image;
	uint64_t size;
};

extern struct {
	uint32_t version, action;
	struct code_entry *relevant, *first;
} __jit_debug_descriptor;

/* The section of a debugger's image. */
static const Elf64_Shdr *find_section(const struct code_entry *entry, const char *name)
{
	const Elf64_Ehdr *header = (const void *)entry->image;
	const Elf64_Shdr *sections = (const void *)(entry->image + header->e_shoff);
	const char *names = entry->image + sections[header->e_shstrndx].sh_offset;

	ck_assert_uint_le(header->e_shoff + header->e_shnum * sizeof(*sections), entry->size);
	for (int i = 1; i < header->e_shnum; i++)
		if (!strcmp(names + sections[i].sh_name, name))
			return &sections[i];
	ck_abort_msg("no section %s", name);
}

/* gdb finds the sections at their addresses, and the bytes of the package under the name that it is given; also for one
 * without a name. */
START_TEST(told_to_debuggers)
{
	struct sk_image image, second;
	uint64_t size;

	handmade_compile(path, source, NULL, "");
	ck_assert_int_eq(open_image(path, &image), SKRT_OK);

	int file = memfd_create("package", 0);
	static unsigned char bytes[1 << 20], seen[1 << 20];
	int from = open(path, O_RDONLY);
	ssize_t count = read(from, bytes, sizeof(bytes));
	close(from);
	ck_assert(count > 0 && write(file, bytes, (size_t)count) == count);
	ck_assert_int_eq(sk_image_open(&(struct sk_source){.name = "memory", .file = file}, &second), SKRT_OK);
	close(file);

	const struct code_entry *entry = __jit_debug_descriptor.first;
	const struct sk_image *images[] = {&second, &image};

	ck_assert_uint_eq(__jit_debug_descriptor.version, 1);
	for (int i = 0; i < 2; i++, entry = entry->next) {
		const Elf64_Shdr *text = find_section(entry, ".text");
		const Elf64_Shdr *frames = find_section(entry, ".eh_frame");
		const char *link = entry->image + find_section(entry, ".gnu_debuglink")->sh_offset;
		uint64_t function = (uintptr_t)sk_image_find(images[i], "answer", &size);

		ck_assert(function >= text->sh_addr && function + size <= text->sh_addr + text->sh_size);
		ck_assert(!memcmp(entry->image + frames->sh_offset, (void *)frames->sh_addr, frames->sh_size));
		from = open(link, O_RDONLY);
		ck_assert_msg(from >= 0, "%s", link);
		ck_assert_int_eq(read(from, seen, sizeof(seen)), count);
		ck_assert(!memcmp(seen, bytes, (size_t)count));
		close(from);
		if (i == 1)
			ck_assert_str_eq(link, path);
	}
	ck_assert_ptr_null(entry);
	sk_image_close(&image);
	ck_assert_ptr_eq(__jit_debug_descriptor.first->next, NULL);
	sk_image_close(&second);
	ck_assert_ptr_null(__jit_debug_descriptor.first);
}
END_TEST

START_TEST(relro)
{
	struct sk_image image;
	uint64_t size;
	char protection[8], file_name[256];

	handmade_compile(path,
			 "static int one;\n"
			 "__attribute__((visibility(\"default\"))) int *const table[] = {&one};\n",
			 NULL, "");
	ck_assert_msg(open_image(path, &image) == SKRT_OK, "%s", skrt_error());
	look_up(sk_image_find(&image, "table", &size), protection, file_name);
	ck_assert_str_eq(protection, "r--p");
	sk_image_close(&image);
}
END_TEST

/* Sections aligned to more than a page stay so in memory. */
/* Pages of addresses, each of its own, between others that are none. */
START_TEST(many_relocations)
{
	static const char text[] =
		"#define P(n) bytes + (n), bytes + (n) * 2, (const char *)(n),\n"
		"#define P16(n) P(n) P(n + 1) P(n + 2) P(n + 3) P(n + 4) P(n + 5) P(n + 6) P(n + 7) P(n + 8) P(n + 9) "
		"\\\n"
		"	P(n + 10) P(n + 11) P(n + 12) P(n + 13) P(n + 14) P(n + 15)\n"
		"#define P256(n) P16(n) P16(n + 16) P16(n + 32) P16(n + 48) P16(n + 64) P16(n + 80) P16(n + 96) P16(n "
		"+ 112) \\\n"
		"	P16(n + 128) P16(n + 144) P16(n + 160) P16(n + 176) P16(n + 192) P16(n + 208) P16(n + 224) "
		"P16(n + 240)\n"
		"static const char bytes[8192];\n"
		"__attribute__((visibility(\"default\"))) const char *const pointers[] = {\n"
		"	P256(0) P256(256) P256(512) P256(768) P256(1024) P256(1280) P256(1536) P256(1792) bytes};\n";
	struct sk_image image;
	uint64_t size;

	handmade_compile(path, text, NULL, "-Wl,-z,norelro");
	ck_assert_msg(open_image(path, &image) == SKRT_OK, "%s", skrt_error());
	const char *const *pointers = sk_image_find(&image, "pointers", &size);
	ck_assert_uint_eq(size, 8 * (3 * 2048 + 1));
	for (uintptr_t i = 0; i < 2048; i++) {
		ck_assert_ptr_eq(pointers[3 * i], pointers[3 * 2048] + i);
		ck_assert_ptr_eq(pointers[3 * i + 1], pointers[3 * 2048] + 2 * i);
		ck_assert_uint_eq((uintptr_t)pointers[3 * i + 2], i);
	}
	ck_assert(sk_image_holds(&image, pointers[3 * 2048], 8192, PROT_READ));
	sk_image_close(&image);
}
END_TEST

START_TEST(large_alignment)
{
	struct sk_image image;
	uint64_t size;

	handmade_compile(path,
			 "__attribute__((visibility(\"default\"), aligned(32768))) const char block[64] = {1};\n"
			 "__attribute__((visibility(\"default\"), aligned(32768))) int code(void) { return 1; }\n",
			 NULL, "");
	for (int i = 0; i < 8; i++) {
		ck_assert_msg(open_image(path, &image) == SKRT_OK, "%s", skrt_error());
		ck_assert_uint_eq((uintptr_t)sk_image_find(&image, "block", &size) % 32768, 0);
		ck_assert_uint_eq((uintptr_t)sk_image_find(&image, "code", &size) % 32768, 0);
		sk_image_close(&image);
	}
}
END_TEST

START_TEST(refused_by_name)
{
	static const struct {
		const char *source, *flags;
		enum skrt_status status;
		const char *text;
	} cases[] = {
		{"extern __thread int t; int *f(void) { return &t; }", "", SKRT_UNSUPPORTED, "another module's"},
		{"int g(void), h(void); __attribute__((visibility(\"default\"))) int f(void) { return g() + h(); }", "",
		 SKRT_UNSUPPORTED, "does not provide: "},
		{"extern char stuff[]; __attribute__((visibility(\"default\"))) char *f(void) { return stuff; }", "",
		 SKRT_UNSUPPORTED, "does not provide: stuff"},
		{"static void *g(void) { return 0; }\n"
		 "__attribute__((ifunc(\"g\"))) void f(void);\n"
		 "void *pointer = (void *)f;",
		 "", SKRT_UNSUPPORTED, "indirect function"},
		{"void _init(void) {}", "", SKRT_UNSUPPORTED, "DT_INIT"},
		{"int f(void) { return 1; }", "-Wl,-z,execstack", SKRT_UNSUPPORTED, "executable stack"},
		{"int f(void) { return 1; }", "-Wl,--omagic", SKRT_BAD_PACKAGE, "both writable and executable"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sk_image image;

		handmade_compile(path, cases[i].source, NULL, cases[i].flags);
		enum skrt_status status = open_image(path, &image);
		ck_assert_msg(status == cases[i].status && strstr(skrt_error(), cases[i].text), "%s: %s: %s",
			      cases[i].source, skrt_status_name(status), skrt_error());
		ck_assert_ptr_nonnull(strstr(skrt_error(), path));
		ck_assert_uint_eq(count_mappings(path), 0);
	}
}
END_TEST

/* ---- damage ---- */

static void write_all(const unsigned char *bytes, size_t size)
{
	FILE *file = fopen(path, "wb");

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
	ck_assert_int_eq(fclose(file), 0);
}

static Elf64_Phdr *find_header(unsigned char *bytes, uint32_t type, unsigned skip)
{
	Elf64_Ehdr *header = (Elf64_Ehdr *)bytes;
	Elf64_Phdr *headers = (Elf64_Phdr *)(bytes + header->e_phoff);

	for (unsigned i = 0; i < header->e_phnum; i++)
		if (headers[i].p_type == type && skip-- == 0)
			return &headers[i];
	ck_abort_msg("no program header of type %u", type);
}

static Elf64_Dyn *find_tag(unsigned char *bytes, int64_t tag)
{
	Elf64_Dyn *entry = (Elf64_Dyn *)(bytes + find_header(bytes, PT_DYNAMIC, 0)->p_offset);

	while (entry->d_tag != tag) {
		ck_assert_int_ne(entry->d_tag, DT_NULL);
		entry++;
	}
	return entry;
}

static void change_class(unsigned char *bytes)
{
	bytes[EI_CLASS] = ELFCLASS32;
}
static void change_type(unsigned char *bytes)
{
	((Elf64_Ehdr *)bytes)->e_type = ET_EXEC;
}
static void change_machine(unsigned char *bytes)
{
	((Elf64_Ehdr *)bytes)->e_machine = EM_AARCH64;
}
static void change_header_size(unsigned char *bytes)
{
	((Elf64_Ehdr *)bytes)->e_phentsize = 57;
}
static void change_header_count(unsigned char *bytes)
{
	((Elf64_Ehdr *)bytes)->e_phnum = PN_XNUM;
}
static void change_header_offset(unsigned char *bytes)
{
	((Elf64_Ehdr *)bytes)->e_phoff = UINT64_MAX - 55; /* the sum with the size wraps around */
}
static void change_file_size(unsigned char *bytes)
{
	find_header(bytes, PT_LOAD, 1)->p_filesz = UINT64_MAX;
	find_header(bytes, PT_LOAD, 1)->p_memsz = UINT64_MAX;
}
static void change_memory_size(unsigned char *bytes)
{
	find_header(bytes, PT_LOAD, 1)->p_memsz = 0;
}
static void change_offset(unsigned char *bytes)
{
	find_header(bytes, PT_LOAD, 1)->p_offset = UINT64_MAX & ~UINT64_C(4095);
}
static void change_address(unsigned char *bytes)
{
	find_header(bytes, PT_LOAD, 1)->p_vaddr += 1;
}
static void change_order(unsigned char *bytes)
{
	find_header(bytes, PT_LOAD, 1)->p_vaddr = 0;
}
static void change_far(unsigned char *bytes)
{
	find_header(bytes, PT_LOAD, 3)->p_vaddr += UINT64_C(1) << 50;
}
static void change_alignment(unsigned char *bytes)
{
	find_header(bytes, PT_LOAD, 1)->p_align = 4095;
}
static void change_flags(unsigned char *bytes)
{
	find_header(bytes, PT_LOAD, 1)->p_flags = PF_R | PF_W | PF_X;
}
static void change_relro(unsigned char *bytes)
{
	find_header(bytes, PT_GNU_RELRO, 0)->p_vaddr = 0;
}
static void change_dynamic(unsigned char *bytes)
{
	find_header(bytes, PT_DYNAMIC, 0)->p_vaddr = UINT64_MAX - 15;
}
static void change_dynamic_type(unsigned char *bytes)
{
	find_header(bytes, PT_DYNAMIC, 0)->p_type = PT_NULL;
}
static void change_dynamic_end(unsigned char *bytes)
{
	find_header(bytes, PT_DYNAMIC, 0)->p_memsz = 16;
}
static void change_strings(unsigned char *bytes)
{
	find_tag(bytes, DT_STRSZ)->d_un.d_val -= 1; /* the last byte is not NUL any more */
}
static void change_symbols(unsigned char *bytes)
{
	find_tag(bytes, DT_SYMTAB)->d_un.d_val = UINT64_MAX - 7;
}
static void change_symbol_size(unsigned char *bytes)
{
	find_tag(bytes, DT_SYMENT)->d_un.d_val = 16;
}
static void change_hash(unsigned char *bytes)
{
	find_tag(bytes, DT_GNU_HASH)->d_un.d_val = 1;
}
static void change_relocation_size(unsigned char *bytes)
{
	find_tag(bytes, DT_RELASZ)->d_un.d_val -= 1;
}
static void change_relocation_table(unsigned char *bytes)
{
	find_tag(bytes, DT_RELA)->d_un.d_val = UINT64_C(1) << 40;
}
static Elf64_Rela *first_relocation(unsigned char *bytes)
{
	return (Elf64_Rela *)(bytes + find_tag(bytes, DT_RELA)->d_un.d_val); /* offset = address in the first segment */
}
static void change_relocation_place(unsigned char *bytes)
{
	first_relocation(bytes)->r_offset = 0x1000;
}
static void change_relocation_place_end(unsigned char *bytes)
{
	Elf64_Phdr *data = find_header(bytes, PT_LOAD, 3);

	first_relocation(bytes)->r_offset = data->p_vaddr + data->p_memsz - 7;
}
/* Relocations that are alike are done in one go, which must end where the segment does, on both sides. */
static void change_next_place(unsigned char *bytes)
{
	ck_assert_uint_eq(first_relocation(bytes)[0].r_info, first_relocation(bytes)[1].r_info);
	first_relocation(bytes)[1].r_offset = find_header(bytes, PT_LOAD, 3)->p_vaddr - 1;
}
static void change_next_place_end(unsigned char *bytes)
{
	Elf64_Phdr *data = find_header(bytes, PT_LOAD, 3);

	first_relocation(bytes)[1].r_offset = data->p_vaddr + data->p_memsz - 7;
}
static void change_relocation_type(unsigned char *bytes)
{
	first_relocation(bytes)->r_info = ELF64_R_INFO(1, 99);
}
static void change_relocation_symbol(unsigned char *bytes)
{
	first_relocation(bytes)->r_info = ELF64_R_INFO(0xffffff, R_X86_64_GLOB_DAT);
}
static void change_constructor(unsigned char *bytes)
{
	/* The constructor's address comes from a RELATIVE relocation: let it point at data. */
	for (Elf64_Rela *relocation = first_relocation(bytes);; relocation++) {
		if (relocation->r_offset == find_tag(bytes, DT_INIT_ARRAY)->d_un.d_val) {
			relocation->r_addend = 0;
			break;
		}
	}
}
static void change_tag(unsigned char *bytes)
{
	find_tag(bytes, DT_RELACOUNT)->d_tag = DT_JMPREL;
}
static void make_thread_storage(unsigned char *bytes)
{
	*find_header(bytes, PT_GNU_STACK, 0) = (Elf64_Phdr){.p_type = PT_TLS, .p_memsz = 8, .p_align = 24};
}
static void make_large_thread_image(unsigned char *bytes)
{
	*find_header(bytes, PT_GNU_STACK, 0) =
		(Elf64_Phdr){.p_type = PT_TLS, .p_filesz = 16, .p_memsz = 8, .p_align = 8};
}
static void make_far_thread_image(unsigned char *bytes)
{
	*find_header(bytes, PT_GNU_STACK, 0) =
		(Elf64_Phdr){.p_type = PT_TLS, .p_vaddr = UINT64_C(1) << 39, .p_filesz = 8, .p_memsz = 8, .p_align = 8};
}
static void change_interpreter(unsigned char *bytes)
{
	find_header(bytes, PT_GNU_STACK, 0)->p_type = PT_INTERP;
}

START_TEST(single_changes)
{
	static const struct {
		void (*change)(unsigned char *bytes);
		enum skrt_status status;
		const char *text;
	} cases[] = {
		{change_class, SKRT_BAD_PACKAGE, "64-bit"},
		{change_type, SKRT_BAD_PACKAGE, "ELF type 2"},
		{change_machine, SKRT_BAD_PACKAGE, "ELF machine 183"},
		{change_header_size, SKRT_BAD_PACKAGE, "wrong sizes"},
		{change_header_count, SKRT_BAD_PACKAGE, "65535 program headers"},
		{change_header_offset, SKRT_BAD_PACKAGE, "truncated"},
		{change_file_size, SKRT_BAD_PACKAGE, "truncated"},
		{change_memory_size, SKRT_BAD_PACKAGE, "larger in the file"},
		{change_offset, SKRT_BAD_PACKAGE, "truncated"},
		{change_address, SKRT_BAD_PACKAGE, "differ within a page"},
		{change_order, SKRT_BAD_PACKAGE, "not after the previous segment"},
		{change_far, SKRT_BAD_PACKAGE, "too large an address"},
		{change_alignment, SKRT_BAD_PACKAGE, "power of two"},
		{change_flags, SKRT_BAD_PACKAGE, "both writable and executable"},
		{change_relro, SKRT_BAD_PACKAGE, "RELRO"},
		{change_dynamic, SKRT_BAD_PACKAGE, "does not lie in a segment"},
		{change_dynamic_type, SKRT_BAD_PACKAGE, "no dynamic section"},
		{change_dynamic_end, SKRT_BAD_PACKAGE, "has no end"},
		{change_strings, SKRT_BAD_PACKAGE, "string or hash table"},
		{change_symbols, SKRT_BAD_PACKAGE, "string or hash table"},
		{change_symbol_size, SKRT_BAD_PACKAGE, "string or hash table"},
		{change_hash, SKRT_BAD_PACKAGE, "string or hash table"},
		{change_relocation_size, SKRT_BAD_PACKAGE, "relocation table"},
		{change_relocation_table, SKRT_BAD_PACKAGE, "relocation table"},
		{change_relocation_place, SKRT_BAD_PACKAGE, "not in a writable segment"},
		{change_relocation_place_end, SKRT_BAD_PACKAGE, "not in a writable segment"},
		{change_next_place, SKRT_BAD_PACKAGE, "not in a writable segment"},
		{change_next_place_end, SKRT_BAD_PACKAGE, "not in a writable segment"},
		{change_relocation_type, SKRT_UNSUPPORTED, "unknown kind of relocation (type 99)"},
		{change_relocation_symbol, SKRT_BAD_PACKAGE, "no symbol"},
		{change_constructor, SKRT_BAD_PACKAGE, "does not lie in text"},
		{change_tag, SKRT_UNSUPPORTED, "DT_JMPREL"},
		{make_thread_storage, SKRT_BAD_PACKAGE, "PT_TLS is not a power of two"},
		{make_large_thread_image, SKRT_BAD_PACKAGE, "PT_TLS is larger in the file"},
		{make_far_thread_image, SKRT_BAD_PACKAGE, "PT_TLS does not lie in a segment"},
		{change_interpreter, SKRT_BAD_PACKAGE, "interpreter"},
	};
	size_t size;

	handmade_compile(path, source, NULL, "");
	unsigned char *good = read_file(path, &size), *bytes = malloc(size);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sk_image image;

		memcpy(bytes, good, size);
		cases[i].change(bytes);
		write_all(bytes, size);
		enum skrt_status status = open_image(path, &image);
		ck_assert_msg(status == cases[i].status && strstr(skrt_error(), cases[i].text), "case %zu (%s): %s: %s",
			      i, cases[i].text, skrt_status_name(status), skrt_error());
		ck_assert_uint_eq(count_mappings(path), 0);
	}
	free(bytes);
	free(good);
}
END_TEST

/* An image cut anywhere before the end of the last segment is an error; a cut after it makes no difference. */
START_TEST(cuts)
{
	struct sk_image image;
	size_t size;

	handmade_compile(path, source, NULL, "");
	unsigned char *bytes = read_file(path, &size);
	uint64_t end = 0;
	for (unsigned i = 0; i < 4; i++) {
		Elf64_Phdr *header = find_header(bytes, PT_LOAD, i);

		end = header->p_offset + header->p_filesz > end ? header->p_offset + header->p_filesz : end;
	}
	ck_assert_uint_gt(size, end);
	ck_assert_int_eq(truncate(path, (off_t)end), 0);
	ck_assert_msg(open_image(path, &image) == SKRT_OK, "%s", skrt_error());
	sk_image_close(&image);
	ck_assert_int_eq(truncate(path, (off_t)end - 1), 0);
	ck_assert_int_eq(open_image(path, &image), SKRT_BAD_PACKAGE);
	for (off_t cut = (off_t)((end - 1) / 64 * 64); cut >= 0; cut -= 64) {
		ck_assert_int_eq(truncate(path, cut), 0);
		ck_assert_msg(open_image(path, &image) == SKRT_BAD_PACKAGE, "cut at %ld", (long)cut);
	}
	ck_assert_uint_eq(count_mappings(path), 0);
	free(bytes);
}
END_TEST

/* ---- copies ---- */

/* A copied image has no bytes of the file after text, and no later changes of the file. */
START_TEST(copied)
{
	struct sk_image image;
	uint64_t size;
	size_t file_size;

	handmade_compile(path, source, NULL, "");
	unsigned char *bytes = read_file(path, &file_size);
	const Elf64_Phdr *text = find_header(bytes, PT_LOAD, 1);
	uint64_t end = text->p_vaddr + text->p_filesz;
	bytes[text->p_offset + text->p_filesz] = 0xcc;
	write_all(bytes, file_size);
	ck_assert_msg(open_image(path, &image) == SKRT_OK, "%s", skrt_error());
	ck_assert_int_eq(*(unsigned char *)(image.bias + end), 0xcc);
	sk_image_close(&image);

	struct sk_source own = {.name = path, .file = -1, .copied = true};
	ck_assert_msg(sk_image_open(&own, &image) == SKRT_OK, "%s", skrt_error());
	ck_assert_int_eq(*(unsigned char *)(image.bias + end), 0);
	ck_assert_uint_eq(count_mappings(path), 0);
	memset(bytes, 0xcc, file_size);
	int file = open(path, O_WRONLY); /* in place, not by a new file */
	ck_assert_int_eq(pwrite(file, bytes, file_size, 0), (ssize_t)file_size);
	ck_assert_int_eq(ftruncate(file, 0), 0);
	close(file);

	int (*answer)(void) = (int (*)(void))(uintptr_t)sk_image_find(&image, "answer", &size);
	int (*sum)(void) = (int (*)(void))(uintptr_t)sk_image_find(&image, "sum", &size);
	char protection[8], file_name[256];
	look_up((const void *)(uintptr_t)answer, protection, file_name);
	ck_assert_str_eq(protection, "r-xp");
	ck_assert_str_eq(file_name, "");
	ck_assert_int_eq(answer(), 21); /* the constructor has not run */
	ck_assert_int_eq(sum(), 0);
	ck_assert_int_eq(sum(), 1);
	sk_image_close(&image);
	free(bytes);
}
END_TEST

/* Program headers may be anywhere in the file, as other tools move them. */
START_TEST(headers_elsewhere)
{
	struct sk_image image;
	uint64_t function_size;
	unsigned char *bytes, *moved;
	size_t size, at, length;

	handmade_compile(path, source, NULL, "");
	bytes = read_file(path, &size);
	length = ((Elf64_Ehdr *)bytes)->e_phnum * sizeof(Elf64_Phdr);
	at = (size + 7) / 8 * 8;
	moved = calloc(1, at + length);
	ck_assert_ptr_nonnull(moved);
	memcpy(moved, bytes, size);
	memcpy(moved + at, bytes + sizeof(Elf64_Ehdr), length);
	memset(moved + sizeof(Elf64_Ehdr), 0xff, length);
	((Elf64_Ehdr *)moved)->e_phoff = at;
	write_all(moved, at + length);
	ck_assert_msg(open_image(path, &image) == SKRT_OK, "%s", skrt_error());
	int (*answer)(void) = (int (*)(void))(uintptr_t)sk_image_find(&image, "answer", &function_size);
	ck_assert_int_eq(answer(), 21);
	sk_image_close(&image);
	write_all(moved, at + length - 1);
	ck_assert_int_eq(open_image(path, &image), SKRT_BAD_PACKAGE);
	ck_assert_ptr_nonnull(strstr(skrt_error(), "program headers lie past its end"));
	free(moved);
	free(bytes);
}
END_TEST

/* A file that changes while it is loaded: other headers are obeyed than those that are checked. */
static enum skrt_status check_with_other_headers(const struct sk_source *from, const struct sk_image *image,
						 const struct sk_image_file *file)
{
	Elf64_Ehdr header = *file->header;
	Elf64_Phdr headers[16];
	enum skrt_status status;

	ck_assert_uint_le(header.e_phnum, 16);
	memcpy(headers, file->headers, header.e_phnum * sizeof(headers[0]));
	headers[header.e_phnum - 1].p_flags ^= PF_X;
	status = sk_integrity_check(from, image,
				    &(struct sk_image_file){file->descriptor, file->size, &header, headers});
	ck_assert_int_eq(status, SKRT_BAD_PACKAGE);
	ck_assert_ptr_nonnull(strstr(skrt_error(), "its headers are not in the first segment"));
	header.e_version++;
	return sk_integrity_check(from, image,
				  &(struct sk_image_file){file->descriptor, file->size, &header, file->headers});
}

START_TEST(other_headers)
{
	struct sk_source own = {.name = path, .file = -1, .check_integrity = true, .check = check_with_other_headers};
	struct sk_image image;

	handmade_compile(path, source, NULL, "");
	ck_assert_int_eq(sk_image_open(&own, &image), SKRT_BAD_PACKAGE);
	ck_assert_ptr_nonnull(strstr(skrt_error(), "its headers are not in the first segment"));
}
END_TEST

/* A plan that may be written, of which the file has all but the end of the seal. */
START_TEST(seal_not_in_file)
{
	struct sk_source own = {.name = path, .file = -1, .check_integrity = true, .check = sk_integrity_check};
	struct sk_image image;
	uint64_t size;
	size_t file_size;
	char plan_source[256];

	snprintf(plan_source, sizeof(plan_source),
		 "__attribute__((visibility(\"default\"), aligned(%u))) unsigned sk_plan[%zu] = {%uu, %uu};\n",
		 SK_PLAN_ALIGN, sizeof(struct sk_plan) / sizeof(unsigned), SK_PLAN_MAGIC, SK_PLAN_VERSION);
	handmade_compile(path, plan_source, NULL, "");
	ck_assert_msg(open_image(path, &image) == SKRT_OK, "%s", skrt_error());
	uint64_t plan = (uintptr_t)sk_image_find(&image, "sk_plan", &size) - image.bias;
	sk_image_close(&image);
	unsigned char *bytes = read_file(path, &file_size);
	for (unsigned i = 0;; i++) {
		Elf64_Phdr *header = find_header(bytes, PT_LOAD, i);

		if (plan < header->p_vaddr || plan - header->p_vaddr >= header->p_filesz)
			continue;
		ck_assert(header->p_flags & PF_W);
		header->p_filesz = plan - header->p_vaddr + sizeof(struct sk_plan) - 8;
		break;
	}
	write_all(bytes, file_size);
	ck_assert_int_eq(sk_image_open(&own, &image), SKRT_BAD_PACKAGE);
	ck_assert_msg(strstr(skrt_error(), "no plan in a read-only segment"), "%s", skrt_error());
	free(bytes);
}
END_TEST

START_TEST(not_packages)
{
	struct sk_image image;

	ck_assert_int_eq(open_image("/nonexistent/a.sk", &image), SKRT_CANNOT_READ);
	ck_assert_str_eq(skrt_error(), "/nonexistent/a.sk: No such file or directory");
	ck_assert_int_eq(open_image("/", &image), SKRT_CANNOT_READ);
	ck_assert_int_eq(open_image("/dev/null", &image), SKRT_CANNOT_READ);
	write_all((const unsigned char *)"sklink: 1\n", 10);
	ck_assert_int_eq(open_image(path, &image), SKRT_BAD_PACKAGE);
	unsigned char text[100] = "sklink: 1\n";
	write_all(text, sizeof(text));
	ck_assert_int_eq(open_image(path, &image), SKRT_BAD_PACKAGE);
	ck_assert_ptr_nonnull(strstr(skrt_error(), "not an ELF file"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("image");
	TCase *tests = tcase_create("image");

	setenv("SKRT_GDB", "1", 1); /* debuggers get every image, also damaged ones */

	scratch_add(tests);
	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_set_timeout(tests, 120);
	tcase_add_test(tests, good_image);
	tcase_add_test(tests, told_to_debuggers);
	tcase_add_test(tests, relro);
	tcase_add_test(tests, many_relocations);
	tcase_add_test(tests, large_alignment);
	tcase_add_test(tests, refused_by_name);
	tcase_add_test(tests, single_changes);
	tcase_add_test(tests, cuts);
	tcase_add_test(tests, copied);
	tcase_add_test(tests, headers_elsewhere);
	tcase_add_test(tests, other_headers);
	tcase_add_test(tests, seal_not_in_file);
	tcase_add_test(tests, not_packages);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
