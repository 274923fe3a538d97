/* Inputs: files that have been read become part of the link, in command-line order. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/file.h"
#include "base/map.h"
#include "base/text.h"
#include "linker/linker-parts.h"
#include "linker/linker.h"
#include "linker/object.h"

/* Enter the global symbols that the object defines into the linker's table. */
static void enter_definitions(struct sk_linker *linker, struct sk_object *object, uint32_t number)
{
	uint32_t globals = object->symbol_count - object->first_global;
	bool versioned = object->more->versioned_names;

	object->globals = SK_NEW_ARRAY(linker->arena, uint32_t, globals);
	for (uint32_t i = 0; i < globals; i++) {
		const sk_elf_symbol *symbol = &object->symbols[object->first_global + i];
		const char *name = object->names + symbol->st_name;

		if (symbol->st_shndx == SHN_UNDEF)
			continue;
		object->globals[i] = sk_symbol_intern(linker, name, strlen(name));
		sk_symbol_add_definition(linker, object->globals[i], number, object->first_global + i);
		if (versioned)
			sk_version_define(linker, object, object->first_global + i, object->globals[i]);
		if (object->isolated)
			object->globals[i] = sk_isolated_symbol(linker, object->globals[i]);
	}
}

static bool is_isolated(struct sk_linker *linker, const struct sk_object *object)
{
	const struct sk_linker_options *options = &linker->options;
	const char *name = options->isolated_count ? sk_object_file_name(linker->arena, object) : NULL;
	bool isolated = options->isolate_objects;

	for (size_t i = 0; i < options->isolated_count; i++) {
		if (!sk_pattern_matches(options->isolated[i], name))
			continue;
		linker->isolated_used[i] = true;
		isolated = true;
	}
	return isolated;
}

void sk_isolation_check(struct sk_linker *linker)
{
	for (size_t i = 0; i < linker->options.isolated_count; i++)
		if (!linker->isolated_used[i])
			sk_warning(linker->diag, (struct sk_place){0},
				   "--isolate-objects=%s: no object and no member of an archive has such a name",
				   linker->options.isolated[i]);
}

bool sk_object_enter(struct sk_linker *linker, struct sk_object *object)
{
	if (linker->architecture && linker->architecture != object->architecture)
		return SK_BAD_OBJECT(linker, object, "is for %s, but the objects before it are for %s",
				     object->architecture->name, linker->architecture->name);
	if (linker->options.emulation && strcmp(linker->options.emulation, object->architecture->emulation) != 0)
		return SK_BAD_OBJECT(linker, object, "is for %s, which is -m %s, not -m %s", object->architecture->name,
				     object->architecture->emulation, linker->options.emulation);
	if (!linker->architecture)
		sk_imports_enter(linker, object->architecture->imports);
	linker->architecture = object->architecture;
	sk_array_push(linker->arena, &linker->objects, object);
	object->isolated = is_isolated(linker, object);
	linker->isolates |= object->isolated;
	enter_definitions(linker, object, (uint32_t)linker->objects.count - 1);
	return true;
}

/* Pull the objects that take part whether or not they are wanted. */
static bool pull_whole(struct sk_linker *linker, const struct sk_input *input)
{
	bool ok = true;

	for (uint32_t i = 0; i < input->object_count; i++)
		ok &= sk_object_pull(linker, linker->objects.items[input->first_object + i]);
	return ok;
}

/* ---- identity of files ---- */

/* A file is identified by device and inode, not by its name. */
struct identity {
	uint64_t device, inode;
};

static struct identity identity_of(const struct stat *status)
{
	return (struct identity){status->st_dev, status->st_ino};
}

/* Return the number of the input that is the same file, or the given number, which the file then has. */
static uint32_t enter_identity(struct sk_linker *linker, struct identity identity, uint32_t number)
{
	uint32_t found = sk_map_find(&linker->input_numbers, (const char *)&identity, sizeof(identity));

	if (found != SK_NONE)
		return found;
	return sk_map_insert(&linker->input_numbers,
			     sk_arena_copy(linker->arena, (const char *)&identity, sizeof(identity)), sizeof(identity),
			     number);
}

/* Ask for the identity of all inputs, since it is needed now. */
static void identify_inputs(struct sk_linker *linker)
{
	for (; linker->identified < linker->inputs.count; linker->identified++) {
		struct sk_input *input = &linker->inputs.items[linker->identified];
		struct stat status;

		if (input->unasked && stat(input->path, &status) == 0)
			enter_identity(linker, identity_of(&status), linker->identified);
		input->unasked = 0;
	}
}

/* Return whether an input before the object may be the same file: the names that it defines are defined already. Of a
 * refused input no names are known, so after an error every input may be the same file. */
static bool may_be_known(const struct sk_linker *linker, const struct sk_object *object)
{
	if (linker->diag->errors)
		return true;
	for (uint32_t i = object->first_global; i < object->symbol_count; i++) {
		const char *name = object->names + object->symbols[i].st_name;
		uint32_t number;

		if (object->symbols[i].st_shndx == SHN_UNDEF)
			continue;
		number = sk_map_find(&linker->symbol_numbers, name, strlen(name));
		return number != SK_NONE && linker->symbols.items[number].first_definition != SK_NONE;
	}
	return true;
}

/* Return the number of the input that is the same file, or the next number, which the file then has. */
static uint32_t number_of_input(struct sk_linker *linker, struct sk_reading *reading)
{
	uint32_t next = (uint32_t)linker->inputs.count;
	struct stat status;

	if (!reading->identified) {
		if (!may_be_known(linker, reading->object) || stat(reading->path, &status) < 0)
			return next;
		reading->device = status.st_dev;
		reading->inode = status.st_ino;
		reading->identified = true;
	}
	if (!reading->contents) /* else it is not a small object */
		identify_inputs(linker);
	return enter_identity(linker, (struct identity){reading->device, reading->inode}, next);
}

/* Return whether the input is the file. The input's identity has not been needed so far. A file of another size is
 * not. */
static bool is_unasked(const struct sk_input *input, const struct stat *status)
{
	struct stat other;

	return input->unasked && input->unasked == status->st_size && stat(input->path, &other) == 0 &&
	       other.st_dev == status->st_dev && other.st_ino == status->st_ino;
}

/* ---- contents ---- */

static void enter_file(struct sk_linker *linker, const struct sk_file *file)
{
	sk_array_push(linker->arena, &linker->files, *file);
	linker->input_size += file->size;
}

static bool enter_object(struct sk_linker *linker, struct sk_object *object)
{
	object->input = (uint32_t)linker->inputs.count;
	return sk_object_enter(linker, object);
}

static bool enter_contents(struct sk_linker *linker, const struct sk_contents *contents, bool *intermediate)
{
	bool ok = true;

	for (size_t i = 0; i < contents->files.count; i++)
		enter_file(linker, &contents->files.items[i]);
	for (size_t i = 0; i < contents->members.count; i++) {
		const struct sk_member *member = &contents->members.items[i];

		*intermediate |= member->intermediate;
		ok &= !member->object || enter_object(linker, member->object);
	}
	return ok;
}

/* Make a read file an input. It is entered even if it is bad, so that another mention of the file gives no second
 * message. */
static bool enter_input(struct sk_linker *linker, const struct sk_reading *reading)
{
	struct sk_input input = {.path = reading->path,
				 .archive = reading->contents != NULL,
				 .first_object = (uint32_t)linker->objects.count,
				 .unasked = reading->identified ? 0 : (uint32_t)reading->size};
	bool ok = reading->ok;

	enter_file(linker, &(struct sk_file){reading->path, reading->mapped, reading->size, reading->mapped != NULL});
	if (reading->contents)
		ok &= enter_contents(linker, reading->contents, &input.intermediate);
	else
		ok = ok && enter_object(linker, reading->object);
	input.object_count = (uint32_t)linker->objects.count - input.first_object;
	sk_array_push(linker->arena, &linker->inputs, input);
	return ok;
}

/* Load the members that will take part, before their names are entered: the names then point into the copies. Errors of
 * a member are reported when it is pulled, in order with those of the others. */
static void load_members(struct sk_linker *linker, const struct sk_contents *contents)
{
	struct sk_diag unsaid;
	bool ok = true;

	sk_diag_init(&unsaid, linker->arena);
	linker->reader.diag = &unsaid;
	for (size_t i = 0; ok && i < contents->members.count; i++) {
		struct sk_object *object = contents->members.items[i].object;

		ok = !object || sk_object_load(&linker->reader, object);
	}
	linker->reader.diag = linker->diag;
}

static void read_now(struct sk_linker *linker, struct sk_reading *reading, bool whole_archive)
{
	sk_reading_list(&linker->reader, reading);
	if (!reading->contents)
		return;

	const struct sk_contents *contents = reading->contents;

	reading->ok &= sk_reading_open_members(&linker->reader, reading, 0, contents->members.count);
	if (reading->ok && whole_archive)
		load_members(linker, contents);
}

/* Release the mapped pages. The members that take part from the start have been loaded, the needed parts of small ones
 * have been copied, and few of the others will be looked at. Until then, archives take no memory. */
static void let_go(const struct sk_linker *linker, size_t first_file)
{
	for (size_t i = first_file; i < linker->files.count; i++)
		if (linker->files.items[i].mapped)
			sk_mapped_let_go_of(linker->files.items[i].bytes, linker->files.items[i].size);
}

/* Return the file's number; enter its contents if it is new. */
static uint32_t add_file(struct sk_linker *linker, const char *path, bool whole_archive)
{
	struct sk_reading *ahead = sk_ahead_take(linker, path);
	struct sk_reading reading;

	if (ahead)
		reading = *ahead;
	else if (!sk_reading_open(&linker->reader, sk_arena_copy(linker->arena, path, strlen(path)), &reading))
		return SK_NONE;

	uint32_t number = number_of_input(linker, &reading);

	if (number == linker->inputs.count) {
		if (!ahead)
			read_now(linker, &reading, whole_archive);
		else
			*ahead = (struct sk_reading){0}; /* its files are the linker's now */
		if (!enter_input(linker, &reading))
			return SK_NONE;
	} else if (!ahead) {
		close(reading.descriptor);
	}
	return number;
}

uint32_t sk_linker_add_file(struct sk_linker *linker, const char *path, bool whole_archive)
{
	size_t first_file = linker->files.count;
	uint32_t number = add_file(linker, path, whole_archive);
	struct sk_input *input;

	if (number == SK_NONE)
		return number;
	input = &linker->inputs.items[number];
	if (!input->whole && (!input->archive || whole_archive)) {
		input->whole = true;
		if (!pull_whole(linker, input))
			return SK_NONE;
	}
	if (linker->inputs.items[number].archive)
		let_go(linker, first_file);
	return number;
}

bool sk_linker_has_input(struct sk_linker *linker, const char *path)
{
	struct stat status;

	if (stat(path, &status) < 0)
		return false;

	const struct identity identity = identity_of(&status);

	if (sk_map_find(&linker->input_numbers, (const char *)&identity, sizeof(identity)) != SK_NONE)
		return true;
	for (size_t i = 0; i < linker->inputs.count; i++)
		if (is_unasked(&linker->inputs.items[i], &status))
			return true;
	for (size_t i = 0; i < linker->dependencies.count; i++) {
		struct stat other;

		if (stat(linker->dependencies.items[i].path, &other) == 0 && other.st_dev == status.st_dev &&
		    other.st_ino == status.st_ino)
			return true;
	}
	return false;
}

const char *sk_linker_search(struct sk_linker *linker, const char *name)
{
	for (size_t i = 0; i < linker->options.search_path_count; i++) {
		const char *path = sk_arena_print(linker->arena, "%s/%s", linker->options.search_paths[i], name);

		if (access(path, R_OK) == 0)
			return path;
	}
	return NULL;
}

static const char *library_file(struct sk_linker *linker, const char *name)
{
	return name[0] == ':' ? name + 1 : sk_arena_print(linker->arena, "lib%s.a", name);
}

const char *sk_linker_find_library(struct sk_linker *linker, const char *name)
{
	return sk_linker_search(linker, library_file(linker, name));
}

/* Return whether the library is a part of the C library. Its functions are imports. */
static bool is_of_c_library(const char *name)
{
	static const char *const parts[] = {"c", "m", "mvec", "pthread", "dl", "rt"};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (!strcmp(name, parts[i]))
			return true;
	return false;
}

uint32_t sk_linker_add_library(struct sk_linker *linker, const char *name, bool whole_archive)
{
	const char *file = library_file(linker, name);
	const char *path = sk_linker_search(linker, file);

	if (path) {
		uint32_t input = sk_linker_add_file(linker, path, whole_archive);

		if (input != SK_NONE)
			linker->inputs.items[input].is_library = true;
		return input;
	}
	sk_error(linker->diag, (struct sk_place){0}, "library -l%s: there is no %s on the search paths", name, file);
	if (is_of_c_library(name)) {
		sk_note(linker->diag,
			"it is not needed: leave it out; 'skdump --imports' lists the functions of the C library that "
			"packages import");
		return SK_NONE;
	}
	for (size_t i = 0; i < linker->options.search_path_count; i++)
		sk_note(linker->diag, "searched %s", linker->options.search_paths[i]);
	if (!linker->options.search_path_count)
		sk_note(linker->diag, "there are none: -L names a folder to search");
	return SK_NONE;
}
