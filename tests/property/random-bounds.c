/* See random-bounds.h. Tensors have up to three dimensions, which are texts. A task takes a tensor that is an input or
 * that tasks have written, and makes a new one. Whether a manifest holds at some sizes is not known here; most do. */
#include "tests/property/random-bounds.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/random.h"

enum { TENSORS = 64, RANK = 3, EXPRESSION = 96 };

typedef char expression[EXPRESSION];

struct tensor {
	uint32_t rank;
	expression shape[RANK];
	bool gaps; /* a view with rows apart */
	bool written; /* by a task, whole */
};

/* The tensors that a kernel takes and writes. */
enum form {
	ELEMENTS, /* x, and y of its shape */
	TWO_ELEMENTS, /* two of one shape, and y */
	IN_PLACE, /* x, which is also the result */
	ROWS, /* x and y of several dimensions */
	ROWS_APART, /* x and y, each perhaps with gaps */
	ROW_AND_ROWS, /* x, a row, and y */
	COLUMN_AND_ROWS, /* x, a column, and y */
	SUMS, /* y has no last dimension */
	PRODUCT,
	HALO_OF_ROWS, /* x has two rows more */
	HALO, /* x of one dimension has two elements more; a window of 3 */
	THREE_FOR_ONE, /* y has three times the last dimension */
	ONE_FOR_THREE, /* x has */
	FORMS,
};

struct kernel {
	enum form form;
	const char *function, *attributes[4], *parameters;
	bool factor; /* the task sets `factor` */
	uint32_t blocks;
};

#define FLAT  "in x u32[n], out y@x u32[n], n i64"
#define APART "in x u32[r,w:ldx], out y u32[r,w:ldy], r i64, w i64, ldx i64, ldy i64"
#define DIVIDED                                                                                                        \
	{                                                                                                              \
		"split=n", "each=n", "tile=n:7", ""                                                                    \
	}
#define BY_ROWS                                                                                                        \
	{                                                                                                              \
		"split=r", "each=r", "tile=r:3", ""                                                                    \
	}
#define TWO_ROWS "in x u32[r,w], out y@x u32[r,w]"

static const struct kernel kernels[] = {
	{ELEMENTS, "scale", DIVIDED, FLAT ", factor u64", true, 0},
	{ELEMENTS, "scale", DIVIDED, FLAT ", factor u64", true, 0},
	{ELEMENTS, "checked", DIVIDED, "in x u32[n], out y u32[n], n i64 -> status", false, 0},
	{ELEMENTS, "reverse", {""}, "in x u32[n], out y u32[n], n i64", false, 0},
	{ELEMENTS, "look_at", DIVIDED, "table ptr = &property_squares, " FLAT, false, 0},
	{ELEMENTS,
	 "scale_bytes",
	 {"split=n", "tile=n:17"},
	 "bytes u64 = sizeof(u32)*size(n), in x u32[n], out y@x u32[n], factor u64, none ptr = null",
	 true,
	 0},
	{ELEMENTS,
	 "add_index",
	 {"split=n"},
	 "in x u32[n] whole, out y@x u32[n] whole, b i64 = begin(n), ref e i64 = end(n)",
	 false,
	 0},
	{ELEMENTS, "checked", {"split=n", "tile=n:9", ""}, "in x u32[n]+64, out y@x u32[n], n i64", false, 0},
	{TWO_ELEMENTS, "add", DIVIDED, "in a u32[n], in b u32[n], out y u32[n], n i64", false, 0},
	{TWO_ELEMENTS, "add", DIVIDED, "in a u32[n], in b u32[n], out y u32[n], n i64", false, 0},
	{TWO_ELEMENTS,
	 "add_boxed",
	 {"split=n", "tile=n:100", ""},
	 "p {in a u32[n], q {in b u32[n], n i64}*, out y@a u32[n]}*",
	 false,
	 0},
	{IN_PLACE, "scale", DIVIDED, FLAT ", factor u64", true, 0},
	{IN_PLACE, "row_scan", BY_ROWS, "inout y u32[r,w], r i64, w i64", false, 0},
	{IN_PLACE,
	 "stride_number",
	 {"blocks"},
	 "i u32 = block.index, inout y u32[n], n i64, count i64 = block.count",
	 false,
	 5},
	{ROWS, "scale_memref", {"split=r frame=mlir", "tile=r:3 frame=mlir"}, TWO_ROWS ", factor u64", true, 0},
	{ROWS, "scale_halide", {"split=r frame=halide", "tile=r:3 frame=halide"}, TWO_ROWS ", factor u64", true, 0},
	{ROWS, "scale_fortran", {"split=r frame=gfortran"}, TWO_ROWS ", ref factor u64", true, 0},
	{ROWS, "toggle_packed", {"split=r frame=tvm-packed"}, "in x u32[r,w], out y u32[r,w]", false, 0},
	{ROWS,
	 "add_rows",
	 {"split=r", "each=r"},
	 "rows ptr[r] of in x u32[r,w], out y u32[r,w], r i64, w i64",
	 false,
	 0},
	{ROWS,
	 "number_rows",
	 {"each=r,w", "tile=r:4,w:3"},
	 "in x u32[r,w], out y u32[r,w], first i64 = w*begin(r)+begin(w), rows i64 = size(r), columns i64 = size(w), "
	 "stride i64 = w",
	 false,
	 0},
	{ROWS_APART, "scale_rows", BY_ROWS, APART ", factor u64", true, 0},
	{ROWS_APART, "scale_rows", {"split=r", "tile=r:4,w:3"}, APART ", factor u64", true, 0},
	{ROWS_APART, "scale_rows", BY_ROWS, APART ", factor u64", true, 0},
	{ROWS_APART,
	 "rows_apart",
	 {"split=r"},
	 "p {in x u32[r,w:ldx]+40, ldx i64, out y u32[r,w:ldy], ldy i64}*, r i64, w i64, factor u64",
	 true,
	 0},
	{ROWS_APART,
	 "scale_memref",
	 {"split=r frame=mlir", "tile=r:4 frame=mlir"},
	 "in x u32[r,w:ldx], out y u32[r,w:ldy], factor u64",
	 true,
	 0},
	{ROWS_APART,
	 "scale_halide",
	 {"tile=r:4 frame=halide"},
	 "in x u32[r,w:ldx], out y u32[r,w:ldy], factor u64",
	 true,
	 0},
	{ROWS_APART, "stripe", {"blocks=r"}, "block, " APART, false, 3},
	{ROW_AND_ROWS, "add_row", BY_ROWS, "in x u32[r,w], in row u32[w], out y u32[r,w], r i64, w i64, factor u64",
	 true, 0},
	{ROW_AND_ROWS, "add_row", BY_ROWS, "in x u32[r,w], in row u32[w], out y u32[r,w], r i64, w i64, factor u64",
	 true, 0},
	{COLUMN_AND_ROWS, "add_column", BY_ROWS, "in x u32[r,w], in column u32[r], out y u32[r,w], r i64, w i64", false,
	 0},
	{SUMS, "row_sums", BY_ROWS, "in x u32[r,w], out y u32[r], r i64, w i64", false, 0},
	{PRODUCT, "multiply", BY_ROWS, "in a u32[r,k], in b u32[k,w], out y u32[r,w], r i64, k i64, w i64", false, 0},
	{PRODUCT, "multiply", BY_ROWS, "in a u32[r,k], in b u32[k,w], out y u32[r,w], r i64, k i64, w i64", false, 0},
	{PRODUCT,
	 "multiply_tile",
	 {"tile=r:6,w:5"},
	 "in a u32[r,k], in b u32[k,w], out y u32[r,w], r i64, k i64, w i64, bytes u64 = sizeof(u32)*w",
	 false,
	 0},
	{HALO_OF_ROWS, "three_rows", BY_ROWS, "in x u32[r+2,w], out y u32[r,w], r i64, w i64", false, 0},
	{HALO_OF_ROWS,
	 "three_in_blocks",
	 {"blocks=r"},
	 "block, in x u32[r+2,w], out y u32[r,w], r i64, w i64",
	 false,
	 4},
	{HALO, "window", DIVIDED, "in x u32[n+k-1], in h u32[k], out y u32[n], n i64, k i64", false, 0},
	{THREE_FOR_ONE, "triple", DIVIDED, "in x u32[n], out y u32[n*3], n i64", false, 0},
	{ONE_FOR_THREE, "third", DIVIDED, "in x u32[n*3], out y u32[n], n i64", false, 0},
};

struct maker {
	struct bounds_case *drawn;
	uint64_t random;
	uint32_t kept, scopes, streams;
	bool large; /* a dimension has many sizes: no products of dimensions */
	struct tensor tensors[TENSORS];
	uint32_t tensor_count;
	uint32_t ready[TENSORS], ready_count; /* inputs, and results of tasks */
	bool lists_kernel[sizeof(kernels) / sizeof(*kernels) * 4];
};

/* ---- drawing ---- */

static uint32_t below(struct maker *maker, uint32_t limit)
{
	return random_below(&maker->random, limit);
}

static bool percent(struct maker *maker, uint32_t share)
{
	return below(maker, 100) < share;
}

static void append(char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void append(char *text, const char *format, ...)
{
	size_t length = strlen(text);
	va_list args;

	va_start(args, format);
	if (vsnprintf(text + length, BOUNDS_TEXT - length, format, args) >= (int)(BOUNDS_TEXT - length))
		abort();
	va_end(args);
}

static char name_of(struct maker *maker)
{
	return (char)('a' + below(maker, maker->drawn->dimension_count));
}

/* Draw a size: the last kinds have no product of dimensions. */
static void draw_expression(struct maker *maker, char *text)
{
	char one = name_of(maker), other = name_of(maker);
	unsigned number = 1 + below(maker, 4);

	switch (maker->large ? 11 + below(maker, 11) : below(maker, 22)) {
	case 0:
		snprintf(text, EXPRESSION, "%u", 1 + below(maker, 9));
		break;
	case 1:
		snprintf(text, EXPRESSION, "%u*%c", number, one);
		break;
	case 2:
		snprintf(text, EXPRESSION, "(%c+%u)", one, number);
		break;
	case 3:
		snprintf(text, EXPRESSION, "%c*%c", one, other);
		break;
	case 4:
		snprintf(text, EXPRESSION, "((%c+1)//2)", one);
		break;
	case 5:
		snprintf(text, EXPRESSION, "ceil(%c/%u)", one, number + 1);
		break;
	case 6:
		snprintf(text, EXPRESSION, "(%c+%c)", one, other);
		break;
	case 7:
		snprintf(text, EXPRESSION, "min(%c,%c)", one, other);
		break;
	case 8:
		snprintf(text, EXPRESSION, "max(%c,%c)", one, other);
		break;
	case 9:
		snprintf(text, EXPRESSION, "%s(%c,%u)", number % 2 ? "min" : "max", one, 2 + number);
		break;
	case 10:
		snprintf(text, EXPRESSION, "(%c*%c+%c)", one, other, one);
		break;
	case 11:
		snprintf(text, EXPRESSION, "(2*%c-1)", one);
		break;
	case 12:
		snprintf(text, EXPRESSION, "(%c//2+1)", one);
		break;
	case 13:
		snprintf(text, EXPRESSION, "(%c//2+%c)", one, other);
		break;
	default:
		snprintf(text, EXPRESSION, "%c", one);
	}
}

static void draw_extent(struct maker *maker, char *text, bool last)
{
	static const unsigned numbers[] = {1, 4, 6, 8, 16, 64};

	if (percent(maker, last ? 50 : 10))
		snprintf(text, EXPRESSION, "%u", numbers[below(maker, 6)]);
	else
		draw_expression(maker, text);
}

static void draw_dimensions(struct maker *maker)
{
	static const uint64_t multiples[] = {1, 1, 1, 1, 2, 4, 8};
	struct bounds_case *drawn = maker->drawn;

	drawn->dimension_count = 1 + below(maker, BOUNDS_DIMENSIONS);
	for (uint32_t d = 0; d < drawn->dimension_count; d++) {
		struct bounds_dimension *dimension = &drawn->dimensions[d];
		uint64_t multiple = multiples[below(maker, 7)], steps = 1 + below(maker, percent(maker, 15) ? 90 : 12);

		if (drawn->dimension_count > 1 && steps > 12)
			steps = 12;
		if (steps > 12)
			multiple = 1;
		else if (multiple > 2)
			steps = 1 + steps / 4;
		dimension->multiple = multiple;
		dimension->least = multiple * (percent(maker, 60) ? 1 : 1 + below(maker, 3));
		dimension->most = dimension->least + steps * multiple;
		maker->large |= dimension->most > 20;
		dimension->usual = dimension->least + below(maker, (uint32_t)steps + 1) * multiple;
	}
}

/* ---- tensors ---- */

static void print_shape(char *text, const struct tensor *tensor)
{
	append(text, "[");
	for (uint32_t d = 0; d < tensor->rank; d++)
		append(text, "%s\"%s\"", d ? ", " : "", tensor->shape[d]);
	append(text, "]");
}

static uint32_t keep_tensor(struct maker *maker, const struct tensor *tensor)
{
	if (maker->tensor_count == TENSORS)
		abort();
	maker->tensors[maker->tensor_count] = *tensor;
	return maker->tensor_count++;
}

static uint32_t new_tensor(struct maker *maker, const struct tensor *shape, const char *more)
{
	struct tensor tensor = *shape;
	uint32_t number;

	tensor.gaps = tensor.written = false;
	number = keep_tensor(maker, &tensor);
	append(maker->drawn->tensors, "  t%u: {dtype: u32, shape: ", number);
	print_shape(maker->drawn->tensors, &tensor);
	append(maker->drawn->tensors, "%s}\n", more);
	return number;
}

static void become_ready(struct maker *maker, uint32_t tensor)
{
	maker->ready[maker->ready_count++] = tensor;
}

static uint32_t draw_input(struct maker *maker)
{
	struct tensor tensor = {.rank = 1 + below(maker, RANK)};
	uint32_t number;

	for (uint32_t d = 0; d < tensor.rank; d++)
		draw_extent(maker, tensor.shape[d], d + 1 == tensor.rank);
	number = new_tensor(maker, &tensor, percent(maker, 15) ? ", role: inout" : "");
	become_ready(maker, number);
	return number;
}

static void print_view(struct maker *maker, uint32_t of, const struct tensor *view, char offsets[RANK][EXPRESSION])
{
	append(maker->drawn->tensors, "  t%u: {of: t%u, shape: ", maker->tensor_count - 1, of);
	print_shape(maker->drawn->tensors, view);
	append(maker->drawn->tensors, ", offset: [");
	for (uint32_t d = 0; d < view->rank; d++)
		append(maker->drawn->tensors, "%s\"%s\"", d ? ", " : "", offsets[d]);
	append(maker->drawn->tensors, "]}\n");
}

/* Return a view of part of the tensor: some rows, or columns. */
static uint32_t draw_view(struct maker *maker, uint32_t of)
{
	struct tensor view = maker->tensors[of];
	uint32_t last = view.rank - 1, cut = percent(maker, 40) ? last : 0;
	char offsets[RANK][EXPRESSION] = {"0", "0", "0"};
	expression whole;

	memcpy(whole, view.shape[cut], sizeof(whole));
	switch (strlen(whole) > 40 ? 1 : below(maker, 5)) {
	case 0:
		snprintf(view.shape[cut], EXPRESSION, "(%s)//2", whole);
		break;
	case 1:
		snprintf(view.shape[cut], EXPRESSION, "1");
		snprintf(offsets[cut], EXPRESSION, "%.80s-1", whole);
		break;
	case 2:
		snprintf(view.shape[cut], EXPRESSION, "%.80s-(%.8s)//2", whole, whole);
		if (strlen(whole) < 9) {
			snprintf(offsets[cut], EXPRESSION, "(%s)//2", whole);
			break;
		}
		/* fallthrough */
	case 3:
		snprintf(view.shape[cut], EXPRESSION, "1");
		break;
	default:
		snprintf(view.shape[cut], EXPRESSION, "%.80s-1", whole);
		snprintf(offsets[cut], EXPRESSION, "1");
	}
	view.gaps = view.gaps || cut;
	keep_tensor(maker, &view);
	print_view(maker, of, &view, offsets);
	return maker->tensor_count - 1;
}

static uint32_t draw_ready(struct maker *maker)
{
	uint32_t from = maker->ready_count > 3 && percent(maker, 60) ? maker->ready_count - 3 : 0;
	uint32_t tensor = maker->ready[from + below(maker, maker->ready_count - from)];

	return percent(maker, 15) ? draw_view(maker, tensor) : tensor;
}

/* ---- tasks ---- */

static void print_places(struct maker *maker, uint32_t task, char *text)
{
	if (percent(maker, 85) && maker->scopes)
		append(text, ", scope: s%u", below(maker, maker->scopes));
	if (maker->streams > 1)
		append(text, ", stream: %u", below(maker, maker->streams));
	if (task && percent(maker, 8) && maker->kept >> (task - 1) & 1)
		append(text, ", after: n%u", task - 1);
	append(text, "}\n");
}

static void print_kernel(struct maker *maker, uint32_t kernel, uint32_t variant)
{
	const struct kernel *row = &kernels[kernel];
	const char *lanes[] = {"", "", "cube ", "vector "}, *attributes = row->attributes[variant];
	const char *lane = strcmp(maker->drawn->device, "a3") ? "" : lanes[below(maker, 4)];

	if (maker->lists_kernel[4 * kernel + variant])
		return;
	maker->lists_kernel[4 * kernel + variant] = true;
	append(maker->drawn->kernels, "  k%u_%u: {symbol: %s_u32, signature: \"%s%s%s%s\"}\n", kernel, variant,
	       row->function, lane, attributes, *lane || *attributes ? "; " : "", row->parameters);
}

static void print_task(struct maker *maker, uint32_t kernel, const uint32_t *arguments, uint32_t count)
{
	const struct kernel *row = &kernels[kernel];
	char *text = maker->drawn->tasks;
	uint32_t variants = 0, variant, task = maker->drawn->task_count++;
	size_t before = strlen(text);
	expression factor;

	while (variants < 4 && row->attributes[variants])
		variants++;
	variant = below(maker, variants);
	print_kernel(maker, kernel, variant);
	append(text, "  - {name: n%u, kernel: k%u_%u, args: [", task, kernel, variant);
	for (uint32_t i = 0; i < count; i++)
		append(text, "%st%u", i ? ", " : "", arguments[i]);
	append(text, "]");
	draw_expression(maker, factor);
	if (row->factor)
		append(text, ", set: {factor: \"%s\"}", factor);
	if (row->blocks)
		append(text, ", blocks: %u", row->blocks);
	print_places(maker, task, text);
	if (!(maker->kept >> task & 1))
		text[before] = 0;
}

/* Return a tensor of the shape: an input, or one that has been written. */
static uint32_t find_tensor(struct maker *maker, const struct tensor *shape)
{
	uint32_t number;

	for (uint32_t i = maker->ready_count; i-- > 0 && percent(maker, 80);) {
		const struct tensor *tensor = &maker->tensors[maker->ready[i]];
		bool same = tensor->rank == shape->rank && !tensor->gaps;

		for (uint32_t d = 0; d < shape->rank && same; d++)
			same = !strcmp(tensor->shape[d], shape->shape[d]);
		if (same)
			return maker->ready[i];
	}
	number = new_tensor(maker, shape, "");
	become_ready(maker, number);
	return number;
}

/* The tensors of a task. */
struct arguments {
	uint32_t numbers[4], count;
};

static void add_argument(struct arguments *arguments, uint32_t tensor)
{
	arguments->numbers[arguments->count++] = tensor;
}

/* Add an input, or a tensor that has been written, of one dimension. */
static void add_row(struct maker *maker, struct arguments *arguments, const char *extent)
{
	struct tensor row = {.rank = 1};

	snprintf(row.shape[0], EXPRESSION, "%s", extent);
	add_argument(arguments, find_tensor(maker, &row));
}

/* Of kernels that take x whole: other tensors that they read, and the shape of the result. False: they do not take
 * it. */
static bool choose_readers(struct maker *maker, enum form form, struct tensor *shape, struct arguments *arguments)
{
	char *last = shape->shape[shape->rank - 1];
	struct tensor other = *shape;

	if (shape->rank < 2 && form != ELEMENTS && form != TWO_ELEMENTS && form != THREE_FOR_ONE)
		return false;
	switch (form) {
	case TWO_ELEMENTS:
		add_argument(arguments, find_tensor(maker, shape));
		return true;
	case ROW_AND_ROWS:
		add_row(maker, arguments, last);
		return true;
	case COLUMN_AND_ROWS:
		other.rank--;
		add_argument(arguments, find_tensor(maker, &other));
		return true;
	case SUMS:
		shape->rank--;
		return true;
	case PRODUCT:
		other.rank = 2;
		memcpy(other.shape[0], last, EXPRESSION);
		draw_extent(maker, other.shape[1], true);
		memcpy(last, other.shape[1], EXPRESSION);
		add_argument(arguments, find_tensor(maker, &other));
		return true;
	case THREE_FOR_ONE:
		snprintf(last, EXPRESSION, "3*(%.80s)", other.shape[other.rank - 1]);
		return strlen(last) < 60;
	default:
		return form == ELEMENTS || form == ROWS;
	}
}

/* Of kernels that read a larger tensor than x: all that they read. x has the shape of the result. */
static bool choose_larger(struct maker *maker, enum form form, const struct tensor *shape, struct arguments *arguments)
{
	struct tensor other = *shape;
	uint32_t cut = form == ONE_FOR_THREE ? shape->rank - 1 : 0;

	if (strlen(shape->shape[cut]) > 50 || (form == HALO_OF_ROWS && shape->rank != 2) ||
	    (form == HALO && shape->rank != 1))
		return false;
	snprintf(other.shape[cut], EXPRESSION, form == ONE_FOR_THREE ? "3*(%.80s)" : "%.80s+2", shape->shape[cut]);
	arguments->numbers[0] = find_tensor(maker, &other);
	if (form == HALO)
		add_row(maker, arguments, "3");
	return true;
}

/* Find the tensors of a task that takes x. False: the kernel does not take it. */
static bool choose_arguments(struct maker *maker, uint32_t x, enum form form, struct arguments *arguments)
{
	struct tensor shape = maker->tensors[x];
	bool larger = form == HALO_OF_ROWS || form == HALO || form == ONE_FOR_THREE, gaps = shape.gaps;

	*arguments = (struct arguments){.numbers = {x}, .count = 1};
	shape.gaps = false;
	if (form == ROWS_APART ? shape.rank < 2
			       : gaps || !(larger ? choose_larger(maker, form, &shape, arguments)
						  : choose_readers(maker, form, &shape, arguments)))
		return false;
	add_argument(arguments, new_tensor(maker, &shape, ""));
	return true;
}

/* Write two tensors, one after the other, into parts of a new one. */
static void draw_join(struct maker *maker, uint32_t x)
{
	struct tensor whole = maker->tensors[x], part = whole;
	uint32_t cut = percent(maker, 50) ? whole.rank - 1 : 0, rows = 0, parts[2];
	char offsets[RANK][EXPRESSION] = {"0", "0", "0"};
	uint32_t to;

	if (whole.rank < 2 || strlen(part.shape[cut]) > 40)
		return;
	while (kernels[rows].form != ROWS_APART)
		rows++;
	whole.gaps = false;
	snprintf(whole.shape[cut], EXPRESSION, "2*(%.80s)", part.shape[cut]);
	to = new_tensor(maker, &whole, "");
	for (uint32_t i = 0; i < 2; i++) {
		memcpy(offsets[cut], i ? part.shape[cut] : "0", i ? EXPRESSION : 2);
		part.gaps = cut > 0;
		parts[i] = keep_tensor(maker, &part);
		print_view(maker, to, &part, offsets);
	}
	print_task(maker, rows, (uint32_t[]){x, parts[0]}, 2);
	print_task(maker, rows + below(maker, 2), (uint32_t[]){percent(maker, 50) ? x : parts[0], parts[1]}, 2);
	maker->tensors[to].written = true;
	become_ready(maker, to);
}

/* Change a tensor that a task has written. */
static void draw_in_place(struct maker *maker, uint32_t kernel)
{
	uint32_t tensor = maker->ready[maker->ready_count - 1];
	const struct kernel *row = &kernels[kernel];
	bool twice = !strcmp(row->function, "scale");

	if (!maker->tensors[tensor].written)
		return;
	if (maker->tensors[tensor].rank < 2 && !strcmp(row->function, "row_scan"))
		return;
	print_task(maker, kernel, (uint32_t[]){tensor, tensor}, twice ? 2 : 1);
}

static void draw_task(struct maker *maker)
{
	uint32_t kernel = below(maker, sizeof(kernels) / sizeof(*kernels)), result;
	uint32_t x = draw_ready(maker);
	struct arguments arguments;

	if (percent(maker, 10)) {
		draw_join(maker, x);
	} else if (kernels[kernel].form == IN_PLACE) {
		draw_in_place(maker, kernel);
	} else if (choose_arguments(maker, x, kernels[kernel].form, &arguments)) {
		print_task(maker, kernel, arguments.numbers, arguments.count);
		result = arguments.numbers[arguments.count - 1];
		maker->tensors[result].written = true;
		become_ready(maker, result);
	}
}

void bounds_draw(struct bounds_case *drawn, uint64_t seed, uint32_t kept)
{
	static const char *const options[] = {"", "tile-fusion=0", "tile-fusion=1", "stream-fusion=1",
					      "stream-fusion=0"};
	struct maker maker = {.drawn = drawn, .random = seed * 0x9e3779b97f4a7c15u, .kept = kept};
	uint32_t tasks;

	memset(drawn, 0, sizeof(*drawn));
	drawn->device = percent(&maker, 25) ? "a3" : "host";
	draw_dimensions(&maker);
	maker.scopes = below(&maker, 4) ? 1 : below(&maker, 3);
	maker.streams = percent(&maker, 75) ? 1 : 2;
	for (uint32_t s = 0; s < maker.scopes; s++)
		append(drawn->scopes, "%s  s%u: {options: \"%s\"}\n", s ? "" : "scopes:\n", s,
		       options[below(&maker, 5)]);
	draw_input(&maker);
	tasks = 2 + below(&maker, 7);
	for (uint32_t attempt = 0; drawn->task_count < tasks && attempt < 40; attempt++)
		draw_task(&maker);
}

/* ---- the manifest ---- */

void bounds_sizes(const struct bounds_case *drawn, uint64_t *random, uint32_t attempt, uint64_t *sizes)
{
	for (uint32_t d = 0; d < drawn->dimension_count; d++) {
		const struct bounds_dimension *dimension = &drawn->dimensions[d];
		uint32_t steps = (uint32_t)((dimension->most - dimension->least) / dimension->multiple);
		uint32_t step = random_below(random, steps + 1);

		if (attempt < 1u << drawn->dimension_count)
			step = attempt >> d & 1 ? steps : 0;
		sizes[d] = dimension->least + step * dimension->multiple;
	}
}

char *bounds_manifest(const struct bounds_case *drawn, const uint64_t *sizes)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	if (!stream)
		abort();
	fprintf(stream, "sklink: 1\ndevice: %s\ndims: {", drawn->device);
	for (uint32_t d = 0; d < drawn->dimension_count; d++) {
		const struct bounds_dimension *dimension = &drawn->dimensions[d];

		fprintf(stream, "%s%c: ", d ? ", " : "", 'a' + d);
		if (sizes)
			fprintf(stream, "%llu", (unsigned long long)sizes[d]);
		else
			fprintf(stream, "%llu..%llu:%llu@%llu", (unsigned long long)dimension->least,
				(unsigned long long)dimension->most, (unsigned long long)dimension->multiple,
				(unsigned long long)dimension->usual);
	}
	fprintf(stream, "}\ntensors:\n%skernels:\n%stasks:\n%s%s", drawn->tensors, drawn->kernels, drawn->tasks,
		drawn->scopes);
	fclose(stream);
	return text;
}
