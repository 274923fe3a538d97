/* Basic questions about objects, sections and symbols: kind, place, name, contents. Answers depend only on the object,
 * section or symbol itself; the functions here change none of them. */
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "linker/object.h"
#include "linker/output.h"

const char *sk_object_name(struct sk_arena *arena, const struct sk_object *object)
{
	if (!object->member)
		return object->path;

	/* "path(member)"; copied without a format, since every kernel of an archive has such a name. */
	size_t length = strlen(object->path);
	char *name = sk_arena_alloc(arena, length + object->member_length + 3, 1);

	memcpy(name, object->path, length);
	name[length] = '(';
	memcpy(name + length + 1, object->member, object->member_length);
	name[length + 1 + object->member_length] = ')';
	return name;
}

static const char *without_folders(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

const char *sk_object_file_name(struct sk_arena *arena, const struct sk_object *object)
{
	if (!object->member)
		return without_folders(object->path);
	return without_folders(sk_arena_copy(arena, object->member, object->member_length));
}

const char *sk_object_section_name(const struct sk_object *object, uint32_t section)
{
	return object->section_names +
	       (object->headers ? object->headers[section].sh_name : object->entries[section].name);
}

uint64_t sk_object_section_flags(const struct sk_object *object, uint32_t section)
{
	return object->headers ? object->headers[section].sh_flags : sk_object_section(object, section)->flags;
}

bool sk_object_is_code(const struct sk_object *object, uint32_t section)
{
	return sk_object_section_flags(object, section) & SHF_EXECINSTR;
}

struct sk_place sk_section_place(struct sk_arena *arena, const struct sk_input_section *section, uint64_t offset)
{
	const char *file = section->object ? sk_object_name(arena, section->object) : "the package's own code";

	return (struct sk_place){.file = file, .section = section->name, .offset = offset};
}

struct sk_place sk_symbol_place(struct sk_arena *arena, const struct sk_object *object, uint32_t symbol)
{
	struct sk_place place = {.file = sk_object_name(arena, object)};
	uint32_t section = sk_object_symbol_section(object, symbol);

	if (section) {
		place.section = sk_object_section_name(object, section);
		place.offset = object->symbols[symbol].st_value;
	}
	return place;
}

enum sk_rank sk_section_rank(const struct sk_input_section *section)
{
	if (!section->object)
		return section->rank;
	if (section->debug)
		return SK_RANK_DEBUG;
	if (section->note)
		return section->alignment == 8 ? SK_RANK_WIDE_NOTE : SK_RANK_NOTE;
	if (section->flags & SHF_TLS)
		return section->type == SHT_NOBITS ? SK_RANK_THREAD_ZERO_DATA : SK_RANK_THREAD_DATA;
	if (section->type == SHT_INIT_ARRAY)
		return SK_RANK_INIT_ARRAY;
	if (section->type == SHT_FINI_ARRAY)
		return SK_RANK_FINI_ARRAY;
	if (section->type == SHT_NOBITS)
		return SK_RANK_ZERO_DATA;
	if (section->flags & SHF_EXECINSTR)
		return SK_RANK_TEXT;
	if (section->flags & SHF_WRITE)
		return sk_is_kind(section->name, ".data.rel.ro") || sk_is_kind(section->name, ".gnu.linkonce.d.rel.ro")
			       ? SK_RANK_RELRO_DATA
			       : SK_RANK_DATA;
	/* Tables of addresses in read-only data go to SK_REGION_RELRO, which is equivalent: they are read-only after
	 * relocation. */
	return section->holds_addresses ? SK_RANK_RELRO_DATA : SK_RANK_READ_ONLY_DATA;
}

bool sk_is_identifier(const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";

	/* The names of most sections begin with a dot, which ends this quickly. */
	return *name && *name != '.' && (*name < '0' || *name > '9') && !name[strspn(name, letters)];
}

/* Return the name of the output section: ".text.hot.f" goes into ".text"; unknown names stay. */
const char *sk_output_name(const struct sk_input_section *section)
{
	static const struct {
		const char *prefix, *name;
	} names[] = {
		{".text", ".text"},
		{".rodata", ".rodata"},
		{".data.rel.ro", ".data.rel.ro"},
		{".data", ".data"},
		{".bss", ".bss"},
		{".gnu.linkonce.t", ".text"},
		{".gnu.linkonce.r", ".rodata"},
		{".gnu.linkonce.d.rel.ro", ".data.rel.ro"},
		{".gnu.linkonce.d", ".data"},
		{".gnu.linkonce.b", ".bss"},
		{".lrodata", ".rodata"},
		{".ldata", ".data"},
		{".lbss", ".bss"},
		{"COMMON", ".bss"},
		{".gcc_except_table", ".gcc_except_table"},
	};

	enum sk_rank rank = sk_section_rank(section);

	if (rank == SK_RANK_INIT_ARRAY) /* by type: there is one of each, whatever the names of its parts are */
		return ".init_array";
	if (rank == SK_RANK_FINI_ARRAY)
		return ".fini_array";
	if (sk_is_thread_rank(rank))
		return rank == SK_RANK_THREAD_DATA ? ".tdata" : ".tbss";
	if (rank == SK_RANK_RELRO_DATA)
		return section->in_range ? section->name : ".data.rel.ro";
	if (rank >= SK_RANK_CONSTANTS || rank <= SK_RANK_NOTE || sk_is_merged(section))
		return section->name;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (sk_is_kind(section->name, names[i].prefix))
			return names[i].name;
	return section->name;
}

void sk_section_copy(const struct sk_input_section *section, uint8_t *bytes)
{
	if (section->bytes && section->bytes != bytes)
		memcpy(bytes, section->bytes, section->size);
	for (size_t i = 0; !section->object && i < section->piece_count; i++)
		memcpy(bytes + section->pieces[i].offset, section->pieces[i].bytes, section->pieces[i].size);
}
