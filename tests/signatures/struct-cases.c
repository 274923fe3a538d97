/* struct-cases SEED CASES KERNELS.C MODEL.YAML: write kernels that get structs by value, among other parameters, and a
 * manifest that calls them one after the other. Each kernel compares its arguments with the numbers in its source, and
 * returns the number of the first difference; the compiler decides how structs are passed. The structs are those of the
 * table below, and then random ones. */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A letter for each field; {…} is a struct in the struct, <…> a pointer to one, a digit an array of the next field. */
static const char *const patterns[] = {
	"ff",	    "dl",	 "if",	     "pl",    "bsi", "f",     "b",	 "lb",	  "fff",
	"dd",	    "ffd",	 "xl",	     "gn",    "Ng",  "lll",   "dddd",	 "{ff}d", "i{bl}f",
	"f{f}ff",   "{{b}{s}}i", "xy",	     "<dl>f", "NN",  "b<x>n", "lf",	 "fl",	  "llllllll",
	"dfibdfib", "sssss",	 "bbbbbbbb", "fN",    "4bf", "2ff",   "l3s<5s>", "v",	  "vf",
};
enum { PATTERNS = sizeof(patterns) / sizeof(*patterns), EXTENT = 300 };

/* SCALARs as signatures and C have them. */
static const struct {
	char letter;
	const char *type, *c;
	int bits;
} scalars[] = {{'b', "i8", "int8_t", 8},     {'B', "u8", "uint8_t", 8},	   {'s', "i16", "int16_t", 16},
	       {'S', "u16", "uint16_t", 16}, {'i', "i32", "int32_t", 32},  {'I', "u32", "uint32_t", 32},
	       {'l', "i64", "int64_t", 64},  {'L', "u64", "uint64_t", 64}, {'f', "f32", "float", 0},
	       {'d', "f64", "double", 0}};
enum { SCALARS = sizeof(scalars) / sizeof(*scalars) };

static const char *const spreads[] = {"", "split=n; ", "tile=n:96; ", "each=n; "};

static uint64_t state;

static unsigned draw(unsigned below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)(state >> 20) % below;
}

/* ---- one kernel ---- */

static struct {
	FILE *types, *signature, *checks, *set;
	unsigned number, names, values;
	bool divided, has_x, has_y, has_index, has_n;
	char x[64], y[64], index[64], n[64]; /* how C reaches them */
} kernel;

/* "name TYPE = number", or a value that the task sets; of an array, all elements. */
static void put_scalar(const char *name, const char *path, unsigned which, unsigned elements)
{
	const char *suffix = scalars[which].bits == 64 ? "u" : "";
	bool negative = *scalars[which].type != 'u' && draw(2);
	uint64_t number = (uint64_t)draw(1u << 31) << 31 | draw(1u << 31);
	char text[64];

	if (scalars[which].bits)
		snprintf(text, sizeof(text), "%s%llu", negative ? "-" : "",
			 (unsigned long long)(number % ((uint64_t)1 << (scalars[which].bits - 2)) + 1));
	else
		snprintf(text, sizeof(text), "%s%u.%u", negative ? "-" : "", draw(9999), 25 * draw(4));
	fprintf(kernel.signature, "%s %s", name, scalars[which].type);
	if (elements)
		fprintf(kernel.signature, "[%u]", elements);
	for (unsigned i = 0; i < (elements ? elements : 1); i++) {
		fprintf(kernel.checks, "\tif (%s", path);
		if (elements)
			fprintf(kernel.checks, "[%u]", i);
		fprintf(kernel.checks, " != (%s)%s%s)\n\t\treturn %u;\n", scalars[which].c, text,
			negative ? "" : suffix, ++kernel.values);
	}
	if (draw(4))
		fprintf(kernel.signature, " = %s", text);
	else
		fprintf(kernel.set, "%s: %s, ", name, text);
}

static void put_check(const char *path, const char *expected)
{
	fprintf(kernel.checks, "\tif (%s != %s)\n\t\treturn %u;\n", path, expected, ++kernel.values);
}

/* A tensor, if the kernel has it in no other place: the address is looked through. */
static bool put_tensor(FILE *to, bool *has, char place[64], const char *path, const char *text, const char *c,
		       const char *name)
{
	if (*has)
		return false;
	*has = true;
	snprintf(place, 64, "%s", path);
	fputs(text, kernel.signature);
	fprintf(to, "%s%s", c, name);
	return true;
}

static const char *put_fields(FILE *to, const char *prefix, const char *pattern);

/* Write one parameter, or one field, with its declaration to `to`. Return the rest of the pattern. */
static const char *put(FILE *to, const char *prefix, const char *pattern)
{
	char name[32], path[128], inner[160], letter;
	unsigned elements = *pattern >= '1' && *pattern <= '9' ? (unsigned)(*pattern++ - '0') : 0;

	letter = *pattern++;

	snprintf(name, sizeof(name), "p%u", kernel.names++);
	snprintf(path, sizeof(path), "%s%s", prefix, name);
	if (letter == '{' || letter == '<') {
		bool pointed = letter == '<';

		fprintf(kernel.signature, "%s {", name);
		fprintf(to, "struct {");
		snprintf(inner, sizeof(inner), "%s%s", path, pointed ? "->" : ".");
		pattern = put_fields(to, inner, pattern);
		fprintf(kernel.signature, "}%s", pointed ? "*" : "");
		fprintf(to, "} %s%s", pointed ? "*" : "", name);
		return pattern;
	}
	if (letter == 'x' && put_tensor(to, &kernel.has_x, kernel.x, path, "in x f32[n]", "const float *", name))
		return pattern;
	if (letter == 'y' && put_tensor(to, &kernel.has_y, kernel.y, path, "out y f32[n]", "float *", name))
		return pattern;
	if (letter == '#' &&
	    put_tensor(to, &kernel.has_index, kernel.index, path, "in index f32[n]", "const float *", name))
		return pattern;
	if (letter == 'm' && put_tensor(to, &kernel.has_n, kernel.n, path, "n i64", "int64_t ", name))
		return pattern;
	if (letter == 'v') {
		fprintf(kernel.signature, "%s i32", name);
		fprintf(kernel.set, "%s: {tensor: five}, ", name);
		fprintf(to, "int32_t %s", name);
		put_check(path, "5");
	} else if (letter == 'p') {
		bool null = draw(2);

		fprintf(kernel.signature, "%s ptr = %s", name, null ? "null" : "&table");
		fprintf(to, "const void *%s", name);
		put_check(path, null ? "(void *)0" : "(const void *)table");
	} else if ((letter == 'n' || letter == 'N' || letter == 'g') && kernel.divided) {
		fprintf(kernel.signature, "%s %s = %s(n)", name, letter == 'N' ? "i32" : "i64",
			letter == 'g' ? "begin" : "size");
		fprintf(to, "%s %s", letter == 'N' ? "int32_t" : "int64_t", name);
		put_check(path, letter == 'g' ? "(int64_t)INDEX[0]" : "LENGTH");
	} else {
		unsigned which = 0;

		while (which < SCALARS && scalars[which].letter != letter)
			which++;
		which = which < SCALARS ? which : draw(SCALARS);
		fprintf(to, "%s %s", scalars[which].c, name);
		if (elements)
			fprintf(to, "[%u]", elements);
		put_scalar(name, path, which, elements);
	}
	return pattern;
}

static const char *put_fields(FILE *to, const char *prefix, const char *pattern)
{
	const char *first = pattern;

	while (*pattern && *pattern != '}' && *pattern != '>') {
		if (pattern != first)
			fputs(", ", kernel.signature);
		pattern = put(to, prefix, pattern);
		fputs("; ", to);
	}
	return pattern + (*pattern != 0);
}

/* The pattern of a struct. */
static void draw_pattern(char *text, unsigned depth)
{
	static const char letters[] = "bBsSiIlLfffffddddpnNgxyv";
	unsigned count = 1 + (draw(3) ? draw(4) : draw(9));
	size_t at = 0;

	for (unsigned i = 0; i < count; i++) {
		unsigned kind = depth ? draw(8) : 8;

		if (kind < 2) {
			text[at++] = kind ? '{' : '<';
			draw_pattern(text + at, depth - 1);
			at += strlen(text + at);
			text[at++] = kind ? '}' : '>';
		} else if (!draw(8)) {
			text[at++] = "2346"[draw(4)];
			text[at++] = "bBsSiIlLfd"[draw(10)];
		} else {
			text[at++] = letters[draw(sizeof(letters) - 1)];
		}
	}
	text[at] = 0;
}

/* ---- the files ---- */

static FILE *open_text(char **text)
{
	static size_t sizes[8];
	static unsigned count;

	return open_memstream(text, &sizes[count++ % 8]);
}

/* S is a struct; n, index and the tensors that no struct has come before it or after it. */
static void draw_order(char order[64])
{
	unsigned before = draw(10), behind = draw(4);

	memset(order, 0, 64);
	while (before--)
		order[strlen(order)] = "ldldfi"[draw(6)];
	strcat(order, draw(2) ? "S" : "SlS");
	strcat(order, draw(3) ? "m#" : "");
	while (behind--)
		order[strlen(order)] = "ldfiS"[draw(5)];
	strcat(order, "xy#m");
}

static void put_parameters(FILE *to, const char *order, const char *first_pattern)
{
	unsigned structs = 0;

	for (const char *at = order; *at; at++) {
		char one[2] = {*at, 0}, prefix[16], pattern[4096] = "";
		bool done = (*at == 'x' && kernel.has_x) || (*at == 'y' && kernel.has_y) ||
			    (*at == '#' && kernel.has_index) || (*at == 'm' && kernel.has_n);

		if (done)
			continue;
		fputs(at == order ? "" : ", ", kernel.signature);
		fputs(at == order ? "" : ", ", to);
		if (*at != 'S') {
			put(to, "", one);
			continue;
		}
		if (structs == 0 && first_pattern)
			strcpy(pattern, first_pattern);
		else
			draw_pattern(pattern, 2);
		snprintf(prefix, sizeof(prefix), "a%u.", structs);
		fprintf(kernel.signature, "a%u {", structs);
		fprintf(kernel.types, "struct s%u_%u {", kernel.number, structs);
		put_fields(kernel.types, prefix, pattern);
		fprintf(kernel.types, "};\n");
		fprintf(kernel.signature, "}");
		fprintf(to, "struct s%u_%u a%u", kernel.number, structs, structs);
		structs++;
	}
}

static void put_kernel(FILE *c, FILE *manifest, FILE *tasks, unsigned number)
{
	char *types, *signature, *checks, *set, *parameters, order[64];
	const char *spread = spreads[draw(4)];
	FILE *to = open_text(&parameters);

	memset(&kernel, 0, sizeof(kernel));
	kernel.number = number;
	kernel.types = open_text(&types);
	kernel.signature = open_text(&signature);
	kernel.checks = open_text(&checks);
	kernel.set = open_text(&set);
	kernel.divided = *spread;
	draw_order(order);
	put_parameters(to, order, number < PATTERNS ? patterns[number] : NULL);
	fclose(kernel.types);
	fclose(kernel.signature);
	fclose(kernel.checks);
	fclose(kernel.set);
	fclose(to);
	fprintf(c, "%s#define INDEX %s\n#define LENGTH %s\nint k%u(%s)\n{\n%s", types, kernel.index, kernel.n, number,
		parameters, checks);
	fprintf(c,
		"\tfor (int64_t i = 0; i < LENGTH; i++)\n\t\t%s[i] = %s[i] + 1;\n\treturn 0;\n}\n#undef INDEX\n"
		"#undef LENGTH\n",
		kernel.y, kernel.x);
	fprintf(manifest, "  k%u: {signature: \"%s%s -> status\"}\n", number, spread, signature);
	fprintf(tasks, "  - {name: k%u, kernel: k%u, args: {x: x%u, y: x%u, index: index}, set: {%s}, scope: s}\n",
		number, number, number, number + 1, set);
	free(types);
	free(signature);
	free(checks);
	free(set);
	free(parameters);
}

static void put_begin(FILE *c, FILE *manifest, unsigned cases)
{
	fprintf(c, "#include <stdint.h>\nconst int table[4] = {1};\n"
		   "void begin(float *x, float *index, int64_t n, int64_t from)\n{\n"
		   "\tfor (int64_t i = 0; i < n; i++) {\n\t\tx[i] = 0;\n\t\tindex[i] = (float)(from + i);\n\t}\n}\n");
	fprintf(c,
		"int end(const float *x, int64_t n)\n{\n\tfor (int64_t i = 0; i < n; i++)\n\t\tif (x[i] != %u)\n"
		"\t\t\treturn 1;\n\treturn 0;\n}\n",
		cases);
	fprintf(manifest,
		"sklink: 1\ntensors:\n  five: {dtype: i32, shape: [1], data: [5]}\n"
		"  index: {dtype: f32, shape: [%d]}\n",
		EXTENT);
	for (unsigned i = 0; i <= cases; i++)
		fprintf(manifest, "  x%u: {dtype: f32, shape: [%d]%s}\n", i, EXTENT,
			i == cases ? ", role: output" : "");
	fprintf(manifest,
		"kernels:\n"
		"  begin: {signature: \"split=n; out x f32[n], out index f32[n], n i64, from i64 = begin(n)\"}\n"
		"  end: {signature: \"in x f32[n], n i64 -> status\"}\n");
}

int main(int argc, char **argv)
{
	unsigned cases = argc == 5 ? (unsigned)atoi(argv[2]) : 0;
	FILE *c = cases ? fopen(argv[3], "w") : NULL, *manifest = c ? fopen(argv[4], "w") : NULL, *tasks;
	char *text;

	if (!manifest)
		return 1;
	state = strtoull(argv[1], NULL, 0);
	tasks = open_text(&text);
	put_begin(c, manifest, cases);
	for (unsigned i = 0; i < cases; i++)
		put_kernel(c, manifest, tasks, i);
	fclose(tasks);
	fprintf(manifest, "tasks:\n  - {name: begin, kernel: begin, args: [x0, index], scope: s}\n%s", text);
	fprintf(manifest, "  - {name: end, kernel: end, args: [x%u], scope: s}\n", cases);
	free(text);
	return fclose(c) || fclose(manifest);
}
