/* Links many objects by linker/linker.h, with all their definitions required: tests/linker/archives.sh feeds it
 * archives.
 *
 *   link-members --split ARCHIVE FOLDER
 *       writes the members to FOLDER/00001.o and so on, since names can occur twice
 *   link-members --each FILE COMPANION OBJECT…
 *       links each object with the companion, which defines its other symbols, into FILE, in a process of its own;
 *       prints "OBJECT: reason" for each object that cannot be linked. Exit status 1 if one of them broke the linker:
 *       a signal, more than ten seconds, an error without text, or an output file in spite of an error
 *   link-members --together FILE MAP COMPANION OBJECT…
 *       links all of them into one FILE; exit status 1 if that cannot be done */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/file.h"
#include "linker/linker.h"
#include "tests/lib/whole-link.h"

enum { SECONDS = 10 };

_Noreturn static void stop(const char *path, const char *text)
{
	fprintf(stderr, "link-members: %s: %s\n", path, text);
	exit(2);
}

static Elf *open_elf(const char *path, int *descriptor)
{
	*descriptor = open(path, O_RDONLY | O_CLOEXEC);

	Elf *elf = *descriptor < 0 ? NULL : elf_begin(*descriptor, ELF_C_READ_MMAP, NULL);

	if (!elf)
		stop(path, *descriptor < 0 ? strerror(errno) : elf_errmsg(-1));
	return elf;
}

/* ---- --split ---- */

static void write_member(Elf *member, const char *folder, unsigned number)
{
	char path[4096];
	size_t size;
	const char *bytes = elf_rawfile(member, &size);

	snprintf(path, sizeof(path), "%s/%05u.o", folder, number);

	FILE *stream = fopen(path, "wb");

	if (!bytes || !stream || fwrite(bytes, 1, size, stream) != size || fclose(stream))
		stop(path, "cannot be written");
}

static int split(const char *archive, const char *folder)
{
	int descriptor;
	unsigned number = 0;
	Elf *elf = open_elf(archive, &descriptor), *member;
	Elf_Cmd command = ELF_C_READ_MMAP;

	if (elf_kind(elf) != ELF_K_AR)
		stop(archive, "is no archive");
	while ((member = elf_begin(descriptor, command, elf)) != NULL) {
		if (elf_kind(member) == ELF_K_ELF)
			write_member(member, folder, ++number);
		command = elf_next(member);
		elf_end(member);
	}
	elf_end(elf);
	close(descriptor);
	return 0;
}

/* ---- links ---- */

static void require_defined(struct sk_linker *linker, struct sk_arena *arena, Elf *elf, Elf_Scn *section)
{
	GElf_Shdr header;
	Elf_Data *data = elf_getdata(section, NULL);

	gelf_getshdr(section, &header);
	for (uint32_t i = header.sh_info; i < header.sh_size / header.sh_entsize; i++) {
		GElf_Sym symbol;

		gelf_getsym(data, (int)i, &symbol);
		if (symbol.st_shndx != SHN_UNDEF) {
			const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);

			sk_linker_require(linker, sk_arena_print(arena, "%s", name));
		}
	}
}

/* Every global symbol that the object defines is wanted. */
static void require_all(struct sk_linker *linker, struct sk_arena *arena, const char *path)
{
	int descriptor;
	Elf *elf = open_elf(path, &descriptor);

	for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section)) != NULL;) {
		GElf_Shdr header;

		if (gelf_getshdr(section, &header) && header.sh_type == SHT_SYMTAB && header.sh_entsize)
			require_defined(linker, arena, elf, section);
	}
	elf_end(elf);
	close(descriptor);
}

/* The text of the first error, or NULL. In the arena. */
static const char *link_objects(struct sk_arena *arena, const char *output, const char *map, char *const *objects,
				int count)
{
	struct sk_diag diag;
	char *text = NULL;
	size_t size;

	sk_diag_init(&diag, arena);

	struct sk_linker_options options = {.map_file = map, .allow_multiple_definition = true};
	struct sk_linker *linker = sk_linker_create(arena, &diag, &options);

	for (int i = 0; i < count; i++)
		sk_linker_add_file(linker, objects[i], false);
	for (int i = 1; i < count; i++) /* without the companion */
		require_all(linker, arena, objects[i]);

	bool ok = !diag.errors && link_whole(linker) && sk_linker_write(linker, output, NULL) && sk_files_finish(&diag);
	FILE *stream = open_memstream(&text, &size);

	sk_diag_flush(&diag, "link-members", 0, stream);
	fclose(stream);
	sk_linker_destroy(linker);
	text[strcspn(text, "\n")] = 0;

	const char *copy = ok ? NULL : sk_arena_print(arena, "%s", text);

	free(text);
	return copy;
}

/* One object with the companion, in a process of its own. */
_Noreturn static void link_one(const char *output, char *companion, char *object)
{
	char *objects[] = {companion, object};
	struct sk_arena *arena = sk_arena_create();

	alarm(SECONDS);

	const char *error = link_objects(arena, output, NULL, objects, 2);

	if (error)
		printf("%s: %s\n", object, error);
	fflush(stdout);
	if (error && (!strstr(error, "error: ") || access(output, F_OK) == 0))
		_exit(3);
	sk_arena_destroy(arena);
	exit(error ? 1 : 0); /* with the sanitizers' checks at exit */
}

static int link_each(const char *output, char *companion, char *const *objects, int count)
{
	int broken = 0;

	for (int i = 0; i < count; i++) {
		int status;
		pid_t child = fork();

		if (child == 0)
			link_one(output, companion, objects[i]);
		if (child < 0 || waitpid(child, &status, 0) != child)
			stop(objects[i], strerror(errno));
		unlink(output);
		if (WIFEXITED(status) && WEXITSTATUS(status) <= 1)
			continue;
		fprintf(stderr, "link-members: %s breaks the linker: %s %d\n", objects[i],
			WIFSIGNALED(status) ? "signal" : "exit status",
			WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
		broken = 1;
	}
	return broken;
}

static int link_together(const char *output, const char *map, char *const *objects, int count)
{
	struct sk_arena *arena = sk_arena_create();
	const char *error = link_objects(arena, output, map, objects, count);

	if (error)
		fprintf(stderr, "%s\n", error);

	int status = error ? 1 : 0;

	sk_arena_destroy(arena);
	return status;
}

int main(int count, char **arguments)
{
	elf_version(EV_CURRENT);
	if (count == 4 && !strcmp(arguments[1], "--split"))
		return split(arguments[2], arguments[3]);
	if (count >= 5 && !strcmp(arguments[1], "--each"))
		return link_each(arguments[2], arguments[3], arguments + 4, count - 4);
	if (count >= 6 && !strcmp(arguments[1], "--together"))
		return link_together(arguments[2], arguments[3], arguments + 4, count - 4);
	fprintf(stderr, "usage: link-members --split ARCHIVE FOLDER | --each FILE COMPANION OBJECT... | "
			"--together FILE MAP COMPANION OBJECT...\n");
	return 2;
}
