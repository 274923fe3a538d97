/* The tables for the dynamic loader: symbols (imports and exported entries), their names, both kinds of hash tables,
 * needed versions, and .dynamic. sk_dynamic_prepare makes the parts that do not depend on addresses and thereby fixes
 * all sizes. sk_dynamic_write runs after the layout and writes all tables into the image. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "linker/linker-parts.h"
#include "linker/linker.h"
#include "linker/object.h"
#include "linker/output.h"

/* ---- names ---- */

static uint32_t add_name(struct sk_linker *linker, const char *name, size_t length)
{
	uint32_t offset = (uint32_t)linker->dynamic_names.count;

	for (size_t i = 0; i < length; i++)
		sk_array_push(linker->arena, &linker->dynamic_names, (uint8_t)name[i]);
	sk_array_push(linker->arena, &linker->dynamic_names, 0);
	return offset;
}

/* ---- hashes (gABI, "Hash Table"; the GNU one is Bernstein's) ---- */

static uint32_t system_v_hash(const char *name)
{
	uint32_t hash = 0;

	for (; *name; name++) {
		hash = (hash << 4) + (uint8_t)*name;
		hash ^= (hash >> 24) & 0xf0;
		hash &= 0x0fffffff;
	}
	return hash;
}

static uint32_t gnu_hash(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (uint8_t)*name;
	return hash;
}

static uint32_t gnu_bucket_count(const struct sk_linker *linker)
{
	return (uint32_t)linker->exported.count / 4 + 1;
}

/* Return the number of words of the Bloom filter: about twelve bits a symbol. */
static uint32_t gnu_filter_size(const struct sk_linker *linker)
{
	uint32_t words = 1;

	while ((uint64_t)words * 64 < (uint64_t)linker->exported.count * 12)
		words *= 2;
	return words;
}

static uint32_t symbol_count(const struct sk_linker *linker)
{
	return 1 + (uint32_t)(linker->imported.count + linker->exported.count);
}

static const struct sk_linker_symbol *symbol_at(const struct sk_linker *linker, uint32_t dynamic_index)
{
	size_t imports = linker->imported.count;
	sk_symbol number = dynamic_index <= imports ? linker->imported.items[dynamic_index - 1]
						    : linker->exported.items[dynamic_index - 1 - imports];

	return &linker->symbols.items[number];
}

struct sort_key {
	uint32_t bucket;
	sk_symbol symbol; /* the order of definition decides among equals */
};

static int compare_keys(const void *a, const void *b)
{
	const struct sort_key *left = a, *right = b;

	if (left->bucket != right->bucket)
		return left->bucket < right->bucket ? -1 : 1;
	return (left->symbol > right->symbol) - (left->symbol < right->symbol);
}

/* The GNU hash table requires the symbols of a bucket to be adjacent, and imports to precede them all. */
static void sort_exported(struct sk_linker *linker)
{
	size_t count = linker->exported.count;
	uint32_t buckets = gnu_bucket_count(linker);
	struct sort_key *keys = SK_NEW_ARRAY(linker->arena, struct sort_key, count);

	for (size_t i = 0; i < count; i++) {
		sk_symbol symbol = linker->exported.items[i];

		keys[i] = (struct sort_key){gnu_hash(linker->symbols.items[symbol].name) % buckets, symbol};
	}
	qsort(keys, count, sizeof(*keys), compare_keys);
	for (size_t i = 0; i < count; i++) {
		linker->exported.items[i] = keys[i].symbol;
		linker->symbols.items[keys[i].symbol].dynamic_index = (uint32_t)(1 + linker->imported.count + i);
	}
}

static void write_system_v_hash(struct sk_linker *linker, uint32_t *words)
{
	uint32_t count = symbol_count(linker);
	uint32_t *buckets = words + 2, *chains = buckets + count;

	words[0] = count;
	words[1] = count;
	for (uint32_t i = count - 1; i > 0; i--) {
		uint32_t bucket = system_v_hash(symbol_at(linker, i)->name) % count;

		chains[i] = buckets[bucket];
		buckets[bucket] = i;
	}
}

static void write_gnu_hash(struct sk_linker *linker, uint32_t *words)
{
	enum { SHIFT = 6 };
	uint32_t bucket_count = gnu_bucket_count(linker), filter_size = gnu_filter_size(linker);
	uint32_t first = 1 + (uint32_t)linker->imported.count, count = symbol_count(linker);
	uint64_t *filter = (uint64_t *)(words + 4);
	uint32_t *buckets = (uint32_t *)(filter + filter_size), *chains = buckets + bucket_count;

	words[0] = bucket_count;
	words[1] = first;
	words[2] = filter_size;
	words[3] = SHIFT;
	for (uint32_t i = first; i < count; i++) {
		uint32_t hash = gnu_hash(symbol_at(linker, i)->name), bucket = hash % bucket_count;
		bool last = i + 1 == count || gnu_hash(symbol_at(linker, i + 1)->name) % bucket_count != bucket;

		filter[hash / 64 % filter_size] |= (uint64_t)1 << hash % 64 | (uint64_t)1 << (hash >> SHIFT) % 64;
		if (!buckets[bucket])
			buckets[bucket] = i;
		chains[i - first] = (hash & ~1u) | last;
	}
}

/* ---- versions that are defined ---- */

/* Return the name of the base version: symbols without a version have it. */
static const char *base_version(const struct sk_linker *linker)
{
	return linker->options.soname ? linker->options.soname : "package";
}

static void write_defined_versions(struct sk_linker *linker)
{
	uint8_t *bytes = sk_image_at(linker, &linker->made[SK_MADE_DEFINED_VERSIONS]);
	const struct sk_defined_version *versions = linker->defined_versions.items;
	size_t count = linker->defined_versions.count;
	Elf64_Verdef *record = NULL;

	for (size_t i = 0; i <= count; i++) { /* the first is the package itself */
		const struct sk_defined_version *version = i ? &versions[i - 1] : NULL;
		uint16_t names = (uint16_t)(1 + (version ? version->parents.count : 0));
		uint32_t size = (uint32_t)(sizeof(Elf64_Verdef) + names * sizeof(Elf64_Verdaux));

		record = (Elf64_Verdef *)bytes;
		*record = (Elf64_Verdef){.vd_version = VER_DEF_CURRENT,
					 .vd_flags = version ? 0 : VER_FLG_BASE,
					 .vd_ndx = (uint16_t)(VER_NDX_GLOBAL + i),
					 .vd_cnt = names,
					 .vd_hash = system_v_hash(version ? version->name : base_version(linker)),
					 .vd_aux = sizeof(Elf64_Verdef),
					 .vd_next = i == count ? 0 : size};

		Elf64_Verdaux *name = (Elf64_Verdaux *)(record + 1);

		for (uint16_t j = 0; j < names; j++)
			name[j] = (Elf64_Verdaux){.vda_name = !version ? linker->base_version
							      : j ? versions[version->parents.items[j - 1]].name_offset
								  : version->name_offset,
						  .vda_next = j + 1 == names ? 0 : sizeof(Elf64_Verdaux)};
		bytes += size;
	}
}

static uint64_t defined_versions_size(const struct sk_linker *linker)
{
	uint64_t size = sizeof(Elf64_Verdef) + sizeof(Elf64_Verdaux);

	for (size_t i = 0; i < linker->defined_versions.count; i++)
		size += sizeof(Elf64_Verdef) +
			(1 + linker->defined_versions.items[i].parents.count) * sizeof(Elf64_Verdaux);
	return size;
}

/* ---- needed libraries and versions ---- */

/* A version of a library that some import requires. */
struct sk_version {
	const char *soname, *name;
	uint32_t soname_offset, version_name; /* in .dynstr */
	bool first_of_library;
	uint16_t versions_of_library; /* set in the first one: how many versions of this library there are */
};

static int compare_versions(const void *a, const void *b)
{
	const struct sk_version *left = a, *right = b;
	int order = strcmp(left->soname, right->soname);

	return order ? order : strcmp(left->name, right->name);
}

/* Return the versions that the imports have, sorted and without duplicates. */
static struct sk_version *find_versions(struct sk_linker *linker, uint32_t *count)
{
	struct sk_version *versions = SK_NEW_ARRAY(linker->arena, struct sk_version, linker->imported.count);
	struct sk_version *first = versions;
	uint32_t kept = 0;

	for (size_t i = 0; i < linker->imported.count; i++) {
		const struct sk_import *import = linker->symbols.items[linker->imported.items[i]].import;

		versions[i] = (struct sk_version){.soname = import->library, .name = import->version};
	}
	qsort(versions, linker->imported.count, sizeof(*versions), compare_versions);
	for (size_t i = 0; i < linker->imported.count; i++) {
		if (kept && !compare_versions(&versions[kept - 1], &versions[i]))
			continue;
		versions[kept] = versions[i];
		if (!kept || strcmp(versions[kept].soname, versions[kept - 1].soname) != 0) {
			first = &versions[kept];
			first->first_of_library = true;
		}
		first->versions_of_library++;
		kept++;
	}
	*count = kept;
	return versions;
}

/* Numbers of needed versions follow those of defined ones. */
static uint16_t needed_number(const struct sk_linker *linker, uint32_t version)
{
	return (uint16_t)(SK_FIRST_VERSION + linker->defined_versions.count + version);
}

static uint16_t version_of(const struct sk_linker *linker, const struct sk_import *import)
{
	for (uint32_t i = 0; i < linker->version_count; i++)
		if (!strcmp(linker->versions[i].soname, import->library) &&
		    !strcmp(linker->versions[i].name, import->version))
			return needed_number(linker, i);
	return VER_NDX_GLOBAL; /* not reached: find_versions has seen every import */
}

static void write_versions(struct sk_linker *linker)
{
	uint8_t *needed = sk_image_at(linker, &linker->made[SK_MADE_NEEDED_VERSIONS]);
	uint16_t *numbers = (uint16_t *)sk_image_at(linker, &linker->made[SK_MADE_VERSIONS]);

	numbers[0] = VER_NDX_LOCAL;
	for (uint32_t i = 1; i < symbol_count(linker); i++) {
		const struct sk_linker_symbol *symbol = symbol_at(linker, i);

		if (i <= linker->imported.count)
			numbers[i] = version_of(linker, symbol->import);
		else
			numbers[i] = symbol->version ? symbol->version : VER_NDX_GLOBAL;
	}
	for (uint32_t i = 0; i < linker->version_count; i++) {
		const struct sk_version *version = &linker->versions[i];
		bool last = i + 1 == linker->version_count || linker->versions[i + 1].first_of_library;
		bool last_library = i + version->versions_of_library == linker->version_count;

		if (version->first_of_library) {
			Elf64_Verneed *library = (Elf64_Verneed *)needed;
			uint32_t size = (uint32_t)(sizeof(Elf64_Verneed) +
						   version->versions_of_library * sizeof(Elf64_Vernaux));

			*library = (Elf64_Verneed){.vn_version = VER_NEED_CURRENT,
						   .vn_cnt = version->versions_of_library,
						   .vn_file = version->soname_offset,
						   .vn_aux = sizeof(Elf64_Verneed),
						   .vn_next = last_library ? 0 : size};
			needed += sizeof(*library);
		}
		*(Elf64_Vernaux *)needed = (Elf64_Vernaux){.vna_hash = system_v_hash(version->name),
							   .vna_other = needed_number(linker, i),
							   .vna_name = version->version_name,
							   .vna_next = last ? 0 : sizeof(Elf64_Vernaux)};
		needed += sizeof(Elf64_Vernaux);
	}
}

/* ---- .dynamic ---- */

typedef SK_ARRAY(Elf64_Dyn) dynamic_tags;

static void add_tag(struct sk_linker *linker, dynamic_tags *tags, int64_t tag, uint64_t value)
{
	sk_array_push(linker->arena, tags, (Elf64_Dyn){.d_tag = tag, .d_un.d_val = value});
}

static void add_array_tags(struct sk_linker *linker, dynamic_tags *tags, enum sk_rank rank, int64_t address_tag,
			   int64_t size_tag)
{
	for (size_t i = 0; i < linker->outputs.count; i++) {
		const struct sk_output *output = linker->outputs.items[i];

		if (output->rank == rank) {
			add_tag(linker, tags, address_tag, output->address);
			add_tag(linker, tags, size_tag, output->size);
		}
	}
}

/* Make the tags. Called twice: for the number of tags once the output sections are known, and for their values. */
static dynamic_tags make_tags(struct sk_linker *linker)
{
	const struct sk_input_section *made = linker->made;
	dynamic_tags tags = {0};

	for (uint32_t i = 0; i < linker->version_count; i++)
		if (linker->versions[i].first_of_library)
			add_tag(linker, &tags, DT_NEEDED, linker->versions[i].soname_offset);
	if (linker->options.soname)
		add_tag(linker, &tags, DT_SONAME, linker->soname);
	add_array_tags(linker, &tags, SK_RANK_INIT_ARRAY, DT_INIT_ARRAY, DT_INIT_ARRAYSZ);
	add_array_tags(linker, &tags, SK_RANK_FINI_ARRAY, DT_FINI_ARRAY, DT_FINI_ARRAYSZ);
	add_tag(linker, &tags, DT_HASH, made[SK_MADE_HASH].address);
	add_tag(linker, &tags, DT_GNU_HASH, made[SK_MADE_GNU_HASH].address);
	add_tag(linker, &tags, DT_STRTAB, made[SK_MADE_DYNAMIC_NAMES].address);
	add_tag(linker, &tags, DT_SYMTAB, made[SK_MADE_DYNAMIC_SYMBOLS].address);
	add_tag(linker, &tags, DT_STRSZ, made[SK_MADE_DYNAMIC_NAMES].size);
	add_tag(linker, &tags, DT_SYMENT, sizeof(Elf64_Sym));
	if (made[SK_MADE_RELOCATIONS].size) {
		add_tag(linker, &tags, DT_RELA, made[SK_MADE_RELOCATIONS].address);
		add_tag(linker, &tags, DT_RELASZ, made[SK_MADE_RELOCATIONS].size);
		add_tag(linker, &tags, DT_RELAENT, sizeof(Elf64_Rela));
		if (linker->address_count)
			add_tag(linker, &tags, DT_RELACOUNT, linker->address_count);
	}
	add_tag(linker, &tags, DT_FLAGS, DF_BIND_NOW | (linker->thread.is_static ? DF_STATIC_TLS : 0));
	add_tag(linker, &tags, DT_FLAGS_1, DF_1_NOW | (linker->options.no_delete ? DF_1_NODELETE : 0));
	if (made[SK_MADE_VERSIONS].size)
		add_tag(linker, &tags, DT_VERSYM, made[SK_MADE_VERSIONS].address);
	if (linker->defined_versions.count) {
		add_tag(linker, &tags, DT_VERDEF, made[SK_MADE_DEFINED_VERSIONS].address);
		add_tag(linker, &tags, DT_VERDEFNUM, linker->defined_versions.count + 1);
	}
	if (linker->version_count) {
		add_tag(linker, &tags, DT_VERNEED, made[SK_MADE_NEEDED_VERSIONS].address);
		add_tag(linker, &tags, DT_VERNEEDNUM, linker->library_count);
	}
	add_tag(linker, &tags, DT_NULL, 0);
	return tags;
}

uint64_t sk_dynamic_size(struct sk_linker *linker)
{
	return make_tags(linker).count * sizeof(Elf64_Dyn);
}

/* ---- the two passes ---- */

void sk_dynamic_prepare(struct sk_linker *linker)
{
	struct sk_input_section *made = linker->made;
	uint32_t count;

	sort_exported(linker);
	count = symbol_count(linker);
	linker->versions = find_versions(linker, &linker->version_count);

	add_name(linker, "", 0);
	linker->dynamic_name_offsets = SK_NEW_ARRAY(linker->arena, uint32_t, count);
	for (uint32_t i = 1; i < count; i++) {
		const struct sk_linker_symbol *symbol = symbol_at(linker, i);

		linker->dynamic_name_offsets[i] = add_name(linker, symbol->name, symbol->name_length);
	}
	for (uint32_t i = 0; i < linker->version_count; i++) {
		struct sk_version *version = &linker->versions[i];

		version->version_name = add_name(linker, version->name, strlen(version->name));
		if (version->first_of_library) {
			linker->library_count++;
			version->soname_offset = add_name(linker, version->soname, strlen(version->soname));
		}
	}
	for (size_t i = 0; i < linker->defined_versions.count; i++) {
		struct sk_defined_version *version = &linker->defined_versions.items[i];

		version->name_offset = add_name(linker, version->name, strlen(version->name));
	}
	if (linker->defined_versions.count)
		linker->base_version = add_name(linker, base_version(linker), strlen(base_version(linker)));
	if (linker->options.soname)
		linker->soname = add_name(linker, linker->options.soname, strlen(linker->options.soname));

	made[SK_MADE_HASH].size = (2 + 2 * (uint64_t)count) * sizeof(uint32_t);
	made[SK_MADE_GNU_HASH].size = 4 * sizeof(uint32_t) + gnu_filter_size(linker) * sizeof(uint64_t) +
				      (gnu_bucket_count(linker) + linker->exported.count) * sizeof(uint32_t);
	made[SK_MADE_DYNAMIC_SYMBOLS].size = count * sizeof(Elf64_Sym);
	made[SK_MADE_DYNAMIC_NAMES].size = linker->dynamic_names.count;
	if (linker->version_count || linker->defined_versions.count)
		made[SK_MADE_VERSIONS].size = count * sizeof(uint16_t);
	if (linker->defined_versions.count)
		made[SK_MADE_DEFINED_VERSIONS].size = defined_versions_size(linker);
	if (linker->version_count) {
		made[SK_MADE_NEEDED_VERSIONS].size =
			linker->library_count * sizeof(Elf64_Verneed) + linker->version_count * sizeof(Elf64_Vernaux);
	}
}

static void write_symbols(struct sk_linker *linker)
{
	Elf64_Sym *symbols = (Elf64_Sym *)sk_image_at(linker, &linker->made[SK_MADE_DYNAMIC_SYMBOLS]);
	uint32_t imports = (uint32_t)linker->imported.count;

	for (uint32_t i = 1; i <= imports; i++) {
		const struct sk_import *import = symbol_at(linker, i)->import;
		uint8_t type = import->thread_local ? STT_TLS : import->data ? STT_OBJECT : STT_FUNC;

		symbols[i] = (Elf64_Sym){.st_name = linker->dynamic_name_offsets[i],
					 .st_info = ELF64_ST_INFO(STB_GLOBAL, type)};
	}
	for (uint32_t i = imports + 1; i < symbol_count(linker); i++) {
		symbols[i] = sk_exported_symbol(linker, linker->exported.items[i - 1 - imports]);
		symbols[i].st_name = linker->dynamic_name_offsets[i];
	}
}

void sk_dynamic_write(struct sk_linker *linker)
{
	const struct sk_input_section *made = linker->made;
	dynamic_tags tags = make_tags(linker);

	memcpy(sk_image_at(linker, &made[SK_MADE_DYNAMIC]), tags.items, tags.count * sizeof(Elf64_Dyn));
	memcpy(sk_image_at(linker, &made[SK_MADE_DYNAMIC_NAMES]), linker->dynamic_names.items,
	       linker->dynamic_names.count);
	write_symbols(linker);
	write_system_v_hash(linker, (uint32_t *)sk_image_at(linker, &made[SK_MADE_HASH]));
	write_gnu_hash(linker, (uint32_t *)sk_image_at(linker, &made[SK_MADE_GNU_HASH]));
	if (linker->made[SK_MADE_VERSIONS].size)
		write_versions(linker);
	if (linker->defined_versions.count)
		write_defined_versions(linker);
}
