/* Drafts from the data that compilers leave in objects; see draft-parts.h. Input: an object, which may be damaged.
 * Output: signatures. */
#include "src/draft/draft-parts.h"

#include <ctype.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "format/convention.h"
#include "format/skplan.h"

struct collector {
	struct sk_arena *arena;
	struct sk_draft_object object;
	sk_draft_entries *entries;
};

/* ---- common ---- */

static struct sk_draft_place after(struct sk_draft_place place, uint64_t bytes)
{
	place.offset += bytes;
	return place;
}

static uint64_t number_at(const struct collector *collector, struct sk_draft_place place, uint64_t offset,
			  uint64_t bytes)
{
	return sk_draft_number(&collector->object, after(place, offset), bytes);
}

static const char *text_at(const struct collector *collector, struct sk_draft_place place, uint64_t offset)
{
	return sk_draft_text(&collector->object, sk_draft_follow(&collector->object, after(place, offset)));
}

static void note(struct collector *collector, struct sk_draft *draft, const char *text)
{
	sk_array_push(collector->arena, &draft->notes, text);
}

/* Append an entry. Its texts outlive the object. */
static void add(struct collector *collector, const char *name, const struct sk_draft_symbol *symbol,
		struct sk_draft draft)
{
	struct sk_arena *arena = collector->arena;
	struct sk_draft_entry entry = {.name = sk_identifier(arena, sk_arena_copy(arena, name, strlen(name))),
				       .symbol = sk_arena_copy(arena, symbol->name, strlen(symbol->name)),
				       .local = symbol->binding == STB_LOCAL,
				       .draft = draft};

	sk_array_push(arena, collector->entries, entry);
}

/* Write the extents of a tensor of which only the rank is known: x_0, x_1 … */
static void put_unknown_extents(FILE *out, const char *name, uint64_t rank)
{
	fputc('[', out);
	for (uint64_t i = 0; i < rank; i++)
		fprintf(out, "%s%s_%" PRIu64, i ? "," : "", name, i);
	fputs(rank ? "]" : "1]", out);
}

/* ---- TVM: the text of its messages about wrong arguments, "dense(x: Tensor([64, 96], float32), n: int64)" ---- */

static enum sk_dtype dtype_of_tvm(const char *name, size_t length)
{
	static const struct {
		const char *name;
		enum sk_dtype dtype;
	} types[] = {{"float32", SK_F32}, {"float64", SK_F64}, {"float16", SK_F16}, {"bfloat16", SK_BF16},
		     {"int8", SK_I8},	  {"uint8", SK_U8},    {"int16", SK_I16},   {"uint16", SK_U16},
		     {"int32", SK_I32},	  {"uint32", SK_U32},  {"int64", SK_I64},   {"uint64", SK_U64},
		     {"bool", SK_BOOL}};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strlen(types[i].name) == length && !strncmp(types[i].name, name, length))
			return types[i].dtype;
	return SK_DTYPE_NONE;
}

/* Write the extents up to "]", without "T.int64()" around numbers. Return the place after it, or NULL. */
static const char *put_extents_of_tvm(FILE *out, const char *text)
{
	fputc('[', out);
	while (*text && *text != ']') {
		if (!strncmp(text, "T.int64(", 8) || !strncmp(text, "T.int32(", 8)) {
			text += 8;
			for (; isdigit((unsigned char)*text); text++)
				fputc(*text, out);
			if (*text++ != ')')
				return NULL;
		} else if (isalnum((unsigned char)*text) || strchr("_*+-,", *text)) {
			fputc(*text++, out);
		} else if (*text++ != ' ') {
			return NULL;
		}
	}
	fputc(']', out);
	return *text ? text + 1 : NULL;
}

/* Write a parameter, which begins after its name. Return the place after it, or NULL: the text is another one. */
static const char *put_parameter_of_tvm(FILE *out, const char *name, const char *text, bool last, bool *usable)
{
	size_t length;
	enum sk_dtype dtype;

	if (strncmp(text, "Tensor([", 8) != 0) {
		length = strcspn(text, ",)");
		dtype = dtype_of_tvm(text, length);
		*usable &= dtype != SK_DTYPE_NONE;
		fprintf(out, "%s %s", name,
			dtype == SK_DTYPE_NONE	   ? "ptr = null"
			: sk_dtype_is_float(dtype) ? "f64"
						   : "i64");
		return text + length;
	}

	const char *end = strstr(text, "], ");

	if (!end)
		return NULL;
	length = strcspn(end + 3, ")");
	dtype = dtype_of_tvm(end + 3, length);
	if (dtype == SK_DTYPE_NONE || !end[3 + length])
		return NULL;
	fprintf(out, "%s %s %s", last ? "out" : "in", name, sk_dtype_name(dtype));
	return put_extents_of_tvm(out, text + 8) ? end + 3 + length + 1 : NULL;
}

/* Write the parameters "x: Tensor(…), …)". Return whether signatures have all of them. */
static bool put_parameters_of_tvm(struct collector *collector, FILE *out, const char *text)
{
	bool usable = true;

	for (size_t number = 0; *text && *text != ')'; number++) {
		size_t length = strcspn(text, ":");
		const char *next = NULL, *name;

		if (strncmp(text + length, ": ", 2) != 0)
			return false;
		name = sk_draft_name(collector->arena, sk_arena_copy(collector->arena, text, length), number);
		text += length + 2;
		for (const char *more = text; (more = strstr(more, ": Tensor([")); more++)
			next = more;
		fputs(number ? ", " : "", out);
		text = put_parameter_of_tvm(out, name, text, !next, &usable);
		if (!text)
			return false;
		text += strncmp(text, ", ", 2) == 0 ? 2 : 0;
	}
	return usable && *text == ')';
}

/* Return the text that begins with "NAME(" in the object's data, or NULL. */
static const char *find_text_of_tvm(struct collector *collector, const char *name)
{
	size_t length = strlen(name);
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(collector->object.elf, section))) {
		struct sk_draft_place place = {elf_ndxscn(section), 0};
		GElf_Shdr header;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_PROGBITS ||
		    (header.sh_flags & (SHF_ALLOC | SHF_EXECINSTR)) != SHF_ALLOC)
			continue;
		for (const char *text; (text = sk_draft_text(&collector->object, place));
		     place.offset += strlen(text) + 1)
			if (!strncmp(text, name, length) && text[length] == '(')
				return text + length + 1;
	}
	return NULL;
}

static void collect_tvm(struct collector *collector, const struct sk_draft_symbol *symbol)
{
	static const char prefix[] = "__tvm_ffi_";
	struct sk_draft draft = {.usable = true};
	struct sk_text text;
	const char *name, *from;

	if (strncmp(symbol->name, prefix, strlen(prefix)) != 0)
		return;
	name = symbol->name + strlen(prefix);
	from = find_text_of_tvm(collector, name);
	if (!from) /* __tvm_ffi_main calls another one */
		return;
	sk_text_open(&text);
	fputs("frame=tvm-ffi; ", text.stream);
	draft.usable = put_parameters_of_tvm(collector, text.stream, from);
	sk_text_close(collector->arena, &text);
	draft.signature = text.bytes;
	note(collector, &draft,
	     "the last tensor is taken for the result and the others for inputs, as TVM's operators have them");
	if (!draft.usable)
		note(collector, &draft,
		     sk_arena_print(collector->arena, "not all of it can be in a signature: %s",
				    sk_arena_escape(collector->arena, from)));
	add(collector, name, symbol, draft);
}

/* ---- IREE: iree_hal_executable_library_v0_t of iree/hal/local/executable_library.h, version 0.6 ---- */

enum {
	IREE_VERSION = 6,
	IREE_COUNT = 24, /* exports: count, functions, attributes, … */
	IREE_FUNCTIONS = 32,
	IREE_ATTRIBUTES = 40,
	IREE_ATTRIBUTE_BYTES = 64, /* iree_hal_executable_dispatch_attrs_v0_t */
	IREE_MEMORY_PAGES = 8,
	IREE_CONSTANTS = 10,
	IREE_BINDINGS = 11,
	IREE_SIZE = 12,
};

static void collect_export(struct collector *collector, struct sk_draft_place attributes,
			   const struct sk_draft_symbol *symbol)
{
	uint64_t constants = number_at(collector, attributes, IREE_CONSTANTS, 1);
	uint64_t bindings = number_at(collector, attributes, IREE_BINDINGS, 1);
	struct sk_draft draft = {.usable = false};
	struct sk_text text;

	sk_text_open(&text);
	fputs("blocks frame=iree; ", text.stream);
	for (uint64_t i = 0; i < bindings; i++)
		fprintf(text.stream, "%sinout b%" PRIu64 " f32[n%" PRIu64 "]", i ? ", " : "", i, i);
	for (uint64_t i = 0; i < constants; i++)
		fprintf(text.stream, "%sc%" PRIu64 " u32", i || bindings ? ", " : "", i);
	sk_text_close(collector->arena, &text);
	draft.signature = text.bytes;
	note(collector, &draft,
	     sk_arena_print(collector->arena,
			    "%" PRIu64 " bindings and %" PRIu64 " constants; directions, element types and extents are "
			    "not known: f32[n0] is a placeholder",
			    bindings, constants));
	note(collector, &draft,
	     sk_arena_print(collector->arena,
			    "workgroups of %" PRIu64 " x %" PRIu64 " x %" PRIu64 "; their number is not known: see "
			    "workgroups([…]) of the phase hal",
			    number_at(collector, attributes, IREE_SIZE, 4),
			    number_at(collector, attributes, IREE_SIZE + 4, 4),
			    number_at(collector, attributes, IREE_SIZE + 8, 2)));
	if (number_at(collector, attributes, IREE_MEMORY_PAGES, 2))
		note(collector, &draft, "it needs local memory, which frame=iree does not have");
	add(collector, symbol->name, symbol, draft);
}

static void collect_iree(struct collector *collector, const struct sk_draft_symbol *symbol)
{
	static const char suffix[] = "_library_query_v0";
	const struct sk_draft_object *object = &collector->object;
	size_t length = strlen(symbol->name);

	if (length < strlen(suffix) || strcmp(symbol->name + length - strlen(suffix), suffix) != 0)
		return;

	struct sk_draft_place library = symbol->place;
	struct sk_draft_place functions = sk_draft_follow(object, after(library, IREE_FUNCTIONS));
	struct sk_draft_place attributes = sk_draft_follow(object, after(library, IREE_ATTRIBUTES));
	uint64_t count = number_at(collector, library, IREE_COUNT, 4);

	if (number_at(collector, sk_draft_follow(object, library), 0, 4) != IREE_VERSION ||
	    !sk_draft_bytes(object, attributes, count * IREE_ATTRIBUTE_BYTES))
		return;
	for (uint64_t i = 0; i < count; i++) {
		const struct sk_draft_symbol *function =
			sk_draft_function_at(object, sk_draft_follow(object, after(functions, 8 * i)));

		if (function)
			collect_export(collector, after(attributes, i * IREE_ATTRIBUTE_BYTES), function);
	}
}

/* ---- Halide: halide_filter_metadata_t of HalideRuntime.h v10 to v21, which NAME_metadata returns ---- */

enum {
	HALIDE_ARGUMENTS = 8, /* version, number, arguments, target, name */
	HALIDE_ARGUMENT_BYTES = 64, /* name, kind, dimensions, type code, bits, lanes, … */
	HALIDE_OUTPUT = 2,
};

static enum sk_dtype dtype_of_halide(uint64_t code, uint64_t bits)
{
	static const enum sk_dtype types[5][4] = {{SK_I8, SK_I16, SK_I32, SK_I64},
						  {SK_U8, SK_U16, SK_U32, SK_U64},
						  {SK_DTYPE_NONE, SK_F16, SK_F32, SK_F64},
						  {SK_DTYPE_NONE, SK_DTYPE_NONE, SK_DTYPE_NONE, SK_DTYPE_NONE},
						  {SK_DTYPE_NONE, SK_BF16, SK_DTYPE_NONE, SK_DTYPE_NONE}};

	if (code == 1 && bits == 1)
		return SK_BOOL;
	for (int i = 0; code < 5 && i < 4; i++)
		if (bits == 8u << i)
			return types[code][i];
	return SK_DTYPE_NONE;
}

/* Write an argument; return whether signatures have such parameters. */
static bool put_argument(struct collector *collector, FILE *out, struct sk_draft_place argument, size_t number)
{
	const char *name = sk_draft_name(collector->arena, text_at(collector, argument, 0), number);
	uint64_t kind = number_at(collector, argument, 8, 4), rank = number_at(collector, argument, 12, 4);
	uint64_t code = number_at(collector, argument, 16, 1), bits = number_at(collector, argument, 17, 1);
	uint64_t lanes = number_at(collector, argument, 18, 2);
	enum sk_dtype dtype = lanes == 1 ? dtype_of_halide(code, bits) : SK_DTYPE_NONE;

	fputs(number ? ", " : "", out);
	if (dtype == SK_DTYPE_NONE || kind > HALIDE_OUTPUT || rank > SK_MAX_RANK) {
		fprintf(out, "%s ptr = null", name);
		return false;
	}
	if (kind == 0) {
		fprintf(out, "%s %s", name, dtype == SK_BOOL ? "u8" : sk_dtype_name(dtype));
		return true;
	}
	fprintf(out, "%s %s %s", kind == HALIDE_OUTPUT ? "out" : "in", name, sk_dtype_name(dtype));
	put_unknown_extents(out, name, rank);
	return true;
}

static void collect_halide(struct collector *collector, const struct sk_draft_symbol *symbol)
{
	const struct sk_draft_symbol *teller =
		sk_draft_find(&collector->object, sk_arena_print(collector->arena, "%s_metadata", symbol->name));
	struct sk_draft_place metadata = {0}, arguments;
	struct sk_draft draft = {.usable = true};
	struct sk_text text;

	/* The function loads the address in one of its first instructions. */
	for (uint64_t i = 0; teller && i < teller->size && i < 64 && !metadata.section; i++)
		metadata = sk_draft_follow(&collector->object, after(teller->place, i));

	uint64_t count = number_at(collector, metadata, 4, 4);

	arguments = sk_draft_follow(&collector->object, after(metadata, HALIDE_ARGUMENTS));
	if (!metadata.section || number_at(collector, metadata, 0, 4) != 1 || !count ||
	    !sk_draft_bytes(&collector->object, arguments, count * HALIDE_ARGUMENT_BYTES))
		return;
	sk_text_open(&text);
	fputs("frame=halide; ", text.stream);
	for (uint64_t i = 0; i < count; i++)
		draft.usable &= put_argument(collector, text.stream, after(arguments, i * HALIDE_ARGUMENT_BYTES), i);
	sk_text_close(collector->arena, &text);
	draft.signature = text.bytes;
	note(collector, &draft, "the extents are not known; in Halide the innermost dimension comes first, here last");
	add(collector, symbol->name, symbol, draft);
}

/* ---- Numba: names mangled by numba/core/itanium_mangler.py of 0.50 to 0.68 ---- */

static enum sk_dtype dtype_of_numba(const char **text)
{
	static const char letters[] = "bhatsjiyxfd";
	static const enum sk_dtype types[] = {SK_BOOL, SK_U8,  SK_I8,  SK_U16, SK_I16, SK_U32,
					      SK_I32,  SK_U64, SK_I64, SK_F32, SK_F64};
	const char *letter = **text ? strchr(letters, **text) : NULL;

	if (!strncmp(*text, "Dh", 2)) {
		*text += 2;
		return SK_F16;
	}
	if (!letter)
		return SK_DTYPE_NONE;
	++*text;
	return types[letter - letters];
}

/* Write a parameter: a scalar, or "5ArrayIfLi2E1C7mutable7alignedE". Return whether signatures have such ones. */
static bool put_parameter_of_numba(FILE *out, const char **text, size_t number)
{
	static const char array[] = "5ArrayI";
	bool is_array = !strncmp(*text, array, strlen(array)), is_constant;
	enum sk_dtype dtype;
	char *end;

	*text += is_array ? strlen(array) : 0;
	dtype = dtype_of_numba(text);
	if (dtype == SK_DTYPE_NONE)
		return false;
	if (!is_array) {
		fprintf(out, "p%zu %s", number + 1, dtype == SK_BOOL ? "u8" : sk_dtype_name(dtype));
		return dtype != SK_F16;
	}
	if (strncmp(*text, "Li", 2) != 0)
		return false;

	unsigned long rank = strtoul(*text + 2, &end, 10);

	is_constant = strncmp(end, "E1C8readonly7alignedE", 21) == 0;
	if (rank > SK_MAX_RANK || (!is_constant && strncmp(end, "E1C7mutable7alignedE", 20) != 0))
		return false;
	fprintf(out, "%s p%zu %s[", is_constant ? "in" : "inout", number + 1, sk_dtype_name(dtype));
	for (unsigned long i = 0; i < rank; i++)
		fprintf(out, "%sp%zu_%lu", i ? "," : "", number + 1, i);
	fputs(rank ? "]" : "1]", out);
	*text = end + (is_constant ? 21 : 20);
	return true;
}

/* Return the last of the names "4main7softmaxB2v1…E", which ends before tags, and set the text to the types after them;
 * NULL: it is mangled in another way. */
static const char *name_of_numba(struct sk_arena *arena, const char **text)
{
	const char *name = NULL;

	while (**text && **text != 'E') {
		bool tag = **text == 'B';
		char *from;
		unsigned long length = strtoul(*text + tag, &from, 10);

		if (from == *text + tag || length > strlen(from))
			return NULL;
		if (!tag)
			name = sk_arena_copy(arena, from, length);
		*text = from + length;
	}
	*text += **text == 'E';
	return name;
}

/* A function that users compile has an environment of the same name. */
static void collect_numba(struct collector *collector, const struct sk_draft_symbol *symbol)
{
	struct sk_draft draft = {.usable = true};
	struct sk_text text;
	const char *types = symbol->name + 3, *name;

	if (symbol->binding != STB_GLOBAL || strncmp(symbol->name, "_ZN", 3) != 0 ||
	    !sk_draft_find(&collector->object, sk_arena_print(collector->arena, "_ZN08NumbaEnv%s", types)))
		return;
	name = name_of_numba(collector->arena, &types);
	if (!name)
		return;
	sk_text_open(&text);
	fputs("frame=numba; ", text.stream);
	for (size_t number = 0; *types && draft.usable; number++) {
		const char *before = types;

		fputs(number ? ", " : "", text.stream);
		draft.usable = put_parameter_of_numba(text.stream, &types, number);
		if (!draft.usable)
			note(collector, &draft,
			     sk_arena_print(collector->arena, "p%zu: its type cannot be in a signature: %s", number + 1,
					    sk_arena_escape(collector->arena, before)));
	}
	sk_text_close(collector->arena, &text);
	draft.signature = text.bytes;
	note(collector, &draft,
	     "inout: 'out' if the function writes all of it and reads nothing of it before, 'in' if it writes nothing");
	note(collector, &draft, "the names, the extents and a result are not in the object");
	add(collector, name, symbol, draft);
}

void sk_draft_of_compilers(struct sk_arena *arena, Elf *elf, sk_draft_entries *entries)
{
	struct collector collector = {.arena = arena, .entries = entries};

	if (!sk_draft_open(arena, elf, &collector.object))
		return;
	for (size_t i = 0; i < collector.object.symbols.count; i++) {
		const struct sk_draft_symbol *symbol = &collector.object.symbols.items[i];

		if (symbol->type == STT_OBJECT)
			collect_iree(&collector, symbol);
		if (symbol->type != STT_FUNC || symbol->binding == STB_LOCAL)
			continue;
		collect_tvm(&collector, symbol);
		collect_halide(&collector, symbol);
		collect_numba(&collector, symbol);
	}
}
