/* Checks calls against their kernels' signatures at all sizes. Input: a plan whose accesses have been proved for all
 * sizes (sized-verify.c) and whose calls are right at the largest ones (calls.c). Output: errors.
 *
 * Shared bytes and units are compared by forms. All else are equalities, or multiples of constants: calls.c checks them
 * in plans of a grid of sizes (sized-grid.c). Extents that a call's tensors determine have polynomials through their
 * numbers there, and a comparison counts if its degree, by these, is one that the grid suffices for. */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/ranges.h"
#include "format/plan/dims.h"
#include "format/plan/plan.h"
#include "format/signature/signature.h"
#include "format/skdims.h"
#include "format/skplan.h"
#include "src/proof/forms.h"
#include "src/proof/proof-parts.h"
#include "src/proof/proof.h"

enum {
	MOST_CHECKS = 1 << 20, /* calls at points */
	MOST_NUMBERS = 1 << 23, /* extents of calls at points */
};

/* Bytes of plans and values that are made at points. */
#define MOST_BYTES (UINT64_C(1) << 33)

struct call {
	uint32_t launch, step, call;
	uint64_t *extents; /* by extent and point */
	bool wrong; /* an error has been reported */
};

/* Calls that one grid suffices for. */
struct group {
	struct sk_sized_grid grid;
	uint64_t points;
	SK_ARRAY(struct call) calls;
};

struct checker {
	struct sk_calls *calls;
	struct sk_sized *sized;
	struct sk_sized_uses uses;
	SK_ARRAY(struct group) groups;
	uint64_t checks, numbers, bytes;
};

static uint32_t count_dimensions(const struct checker *checker)
{
	return checker->sized->forms.dims->dimension_count;
}

/* Let sk_call_… functions see the call. */
static void enter_call(struct checker *checker, const struct sk_plan_view *view, const struct call *call)
{
	struct sk_calls *calls = checker->calls;

	calls->view = view;
	calls->launch = &view->launches[call->launch];
	calls->step = &view->steps[call->step];
	calls->call = &view->calls[call->call];
	calls->signature = calls->signatures[calls->call->kernel];
}

/* ---- comparisons by forms ---- */

static const struct sk_normal *inner_bytes(struct sk_sized *sized, const struct sk_plan_argument *argument)
{
	const struct sk_plan_pattern *pattern = sk_plan_pattern(sized->view, argument);

	return pattern ? SK_SIZED_FIELD(sized, SK_DIMS_PATTERNS, sized->view->patterns, pattern, inner_bytes)
		       : sk_normal_number(&sized->forms, 0);
}

static bool is_memory(const struct sk_plan_argument *argument)
{
	return (argument->kind == SK_ARGUMENT_POINTER || argument->kind == SK_ARGUMENT_LOAD ||
		argument->kind == SK_ARGUMENT_RESULT) &&
	       argument->size;
}

/* True if the two share no byte at any size, or are one tensor, and the signature allows that. */
static bool may_be_together(struct checker *checker, const struct sk_step_access *one,
			    const struct sk_step_access *other)
{
	struct sk_sized *sized = checker->sized;
	const struct sk_signature *signature = checker->calls->signature;
	const struct sk_plan_argument *a = &sized->view->arguments[one->argument];
	const struct sk_plan_argument *b = &sized->view->arguments[other->argument];
	const struct sk_sized_rows *rows = sk_sized_rows(sized, one), *other_rows = sk_sized_rows(sized, other);
	uint32_t first = sized->view->calls[one->call].first_argument;
	uint32_t x = one->argument - first, y = other->argument - first;

	if (a->space != b->space || a->index != b->index || (a->space == SK_SPACE_SCRATCH && a->tensor != b->tensor) ||
	    (rows && other_rows && sk_sized_apart(sized, rows, other_rows)))
		return true;
	return y < signature->parameter_count && a->tensor == b->tensor &&
	       (sk_signature_may_alias(signature, x, y) || sk_signature_may_alias(signature, y, x)) &&
	       sk_sized_same_rows(sized, one, other) &&
	       sk_normal_equal(&sized->forms, inner_bytes(sized, a), inner_bytes(sized, b));
}

static bool check_overlaps(struct checker *checker, const struct call *call)
{
	const struct sk_plan_view *view = checker->sized->view;
	const struct sk_plan_call *record = &view->calls[call->call];

	for (uint32_t b = 1; b < record->argument_count; b++)
		for (uint32_t a = 0; a < b; a++) {
			const struct sk_step_access one = {call->launch, call->step, call->call,
							   record->first_argument + a};
			const struct sk_step_access other = {call->launch, call->step, call->call,
							     record->first_argument + b};
			const struct sk_plan_argument *x = &view->arguments[one.argument];
			const struct sk_plan_argument *y = &view->arguments[other.argument];

			if (is_memory(x) && is_memory(y) && (sk_access_writes(x) || sk_access_writes(y)) &&
			    !may_be_together(checker, &one, &other))
				return sk_call_disagree(checker->calls,
							"%s and %s share bytes at some sizes, and one of them is "
							"written",
							sk_call_parameter_text(checker->calls, a),
							sk_call_parameter_text(checker->calls, b));
		}
	return true;
}

/* Units are those of calls.c, where an extent that varies counts as one of few elements. They are aligned whatever an
 * element's bytes are. */
static bool check_unit(struct checker *checker, const struct call *call)
{
	struct sk_sized *sized = checker->sized;
	const struct sk_plan_view *view = sized->view;
	const struct sk_plan_step *step = &view->steps[call->step];
	const struct sk_plan_call *record = &view->calls[call->call];
	const struct sk_signature *signature = checker->calls->signature;

	if (step->kind != SK_STEP_SPLIT)
		return true;

	const struct sk_plan_partition *partition = &view->partitions[step->partition];
	const struct sk_normal *extent = SK_SIZED_FIELD(sized, SK_DIMS_STEPS, view->steps, step, extent);
	const struct sk_normal *unit = sk_normal_multiply(
		&sized->forms, SK_SIZED_FIELD(sized, SK_DIMS_PARTITIONS, view->partitions, partition, unit),
		sk_normal_number(&sized->forms, record->scale));
	int64_t number;
	bool varies = !sk_normal_is_number(extent, &number), aligned = true;

	for (uint32_t i = 0; i < record->argument_count && signature->align; i++) {
		const struct sk_step_access access = {call->launch, call->step, call->call, record->first_argument + i};

		if (view->arguments[access.argument].kind == SK_ARGUMENT_POINTER)
			aligned &= sk_normal_divides(
				&sized->forms,
				sk_normal_multiply(&sized->forms, unit, sk_sized_element_bytes(sized, &access)),
				signature->align);
	}
	return (aligned &&
		sk_normal_divides(&sized->forms, unit,
				  sk_call_whole_elements(signature, varies, sk_plan_extent(step, record)))) ||
	       sk_call_disagree(checker->calls, "at some sizes its units are not whole or not aligned");
}

/* ---- grids ---- */

static void add_record(struct checker *checker, struct sk_sized_grid *grid, enum sk_dims_table table, size_t record)
{
	uint32_t count;
	const struct sk_dims_field *fields =
		sk_dims_fields_of(checker->sized->forms.dims, table, (uint32_t)record, &count);

	for (uint32_t i = 0; i < count; i++)
		sk_sized_grid_add(&checker->uses, grid, fields[i].value);
}

/* Rows have the bytes of their number times their width. */
static void add_pattern(struct checker *checker, struct sk_sized_grid *grid, const struct sk_plan_pattern *pattern)
{
	static const size_t lengths[] = {offsetof(struct sk_plan_pattern, width),
					 offsetof(struct sk_plan_pattern, stride)};
	const struct sk_dims_view *dims = checker->sized->forms.dims;
	uint32_t record = (uint32_t)(pattern - checker->sized->view->patterns);
	uint32_t rows = sk_dims_value_of(dims, SK_DIMS_PATTERNS, record, offsetof(struct sk_plan_pattern, count));

	add_record(checker, grid, SK_DIMS_PATTERNS, record);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]) && rows != SK_NO_INDEX; i++) {
		uint32_t length = sk_dims_value_of(dims, SK_DIMS_PATTERNS, record, lengths[i]);

		if (length != SK_NO_INDEX)
			sk_sized_grid_add_product(&checker->uses, grid, rows, length);
	}
}

/* Only factors of terms are looked at by their degree. */
static void add_term(struct checker *checker, struct sk_sized_grid *grid, size_t term)
{
	uint32_t count;
	const struct sk_dims_field *fields =
		sk_dims_fields_of(checker->sized->forms.dims, SK_DIMS_TERMS, (uint32_t)term, &count);

	for (uint32_t i = 0; i < count; i++) {
		sk_sized_grid_add(&checker->uses, grid, fields[i].value);
		if (fields[i].offset != offsetof(struct sk_plan_term, factor))
			sk_sized_grid_take_all(&checker->uses, grid, fields[i].value);
	}
}

static void add_argument(struct checker *checker, struct sk_sized_grid *grid, const struct sk_plan_call *call,
			 uint32_t number)
{
	const struct sk_plan_view *view = checker->sized->view;
	const struct sk_plan_argument *argument = &view->arguments[call->first_argument + number];
	const struct sk_plan_pattern *pattern = sk_plan_pattern(view, argument);

	if (view->list_count)
		add_record(checker, grid, SK_DIMS_LISTS, call->list + number);
	else
		add_record(checker, grid, SK_DIMS_ARGUMENTS, call->first_argument + number);
	if (pattern)
		add_pattern(checker, grid, pattern);
	for (uint64_t i = 0; argument->kind == SK_ARGUMENT_EXPRESSION && i < argument->size; i++)
		add_term(checker, grid, argument->index + i);
	if (argument->kind == SK_ARGUMENT_POINTER && argument->space != SK_SPACE_SIZES)
		add_record(checker, grid, SK_DIMS_TYPES,
			   (size_t)(sk_plan_type(&view->tensors[argument->tensor]) - view->types));
}

/* Add quotients by the numbers in an expression. */
static void add_divisors(struct checker *checker, struct sk_sized_grid *grid, const struct sk_value_expression *value)
{
	if (!value)
		return;
	add_divisors(checker, grid, value->left);
	add_divisors(checker, grid, value->right);
	if (value->kind == SK_VALUE_DIVIDE && value->right->kind == SK_VALUE_NUMBER)
		sk_sized_grid_add_divisor(&checker->uses, grid, value->right->number);
}

/* True if the expression has a bound or the length of a part. */
static bool names_part(const struct sk_value_expression *value)
{
	return value && (value->kind == SK_VALUE_BEGIN || value->kind == SK_VALUE_END || value->kind == SK_VALUE_SIZE ||
			 names_part(value->left) || names_part(value->right));
}

/* Ranges of blocks are quotients by the number of blocks: all sizes of their extent are looked at. */
static void add_ranges(struct checker *checker, const struct call *call, struct sk_sized_grid *grid)
{
	const struct sk_signature *signature = checker->calls->signature;
	uint32_t extent = sk_dims_value_of(checker->sized->forms.dims, SK_DIMS_STEPS, call->step,
					   offsetof(struct sk_plan_step, extent));
	bool has_ranges = false;

	for (uint32_t i = 0; i < signature->parameter_count; i++)
		has_ranges |= names_part(signature->parameters[i].value);
	if (has_ranges && extent != SK_NO_INDEX && checker->sized->view->steps[call->step].kind == SK_STEP_BLOCKS_RANGE)
		sk_sized_grid_take_all(&checker->uses, grid, extent);
}

static void make_grid(struct checker *checker, const struct call *call, struct sk_sized_grid *grid)
{
	const struct sk_plan_view *view = checker->sized->view;
	const struct sk_plan_step *step = &view->steps[call->step];
	const struct sk_plan_call *record = &view->calls[call->call];
	const struct sk_signature *signature = checker->calls->signature;

	sk_sized_grid_init(&checker->uses, grid);
	add_record(checker, grid, SK_DIMS_STEPS, call->step);
	if (sk_plan_divides(step))
		add_record(checker, grid, SK_DIMS_PARTITIONS, step->partition);
	for (uint32_t i = 0; i < record->loop_count; i++)
		add_record(checker, grid, SK_DIMS_LOOPS, record->first_loop + i);
	for (uint32_t i = 0; i < record->argument_count; i++)
		add_argument(checker, grid, record, i);
	for (uint32_t i = 0; i < signature->parameter_count; i++) {
		add_divisors(checker, grid, signature->parameters[i].value);
		add_divisors(checker, grid, signature->parameters[i].table_stride);
	}
	add_ranges(checker, call, grid);
}

static bool same_grid(const struct checker *checker, const struct sk_sized_grid *one, const struct sk_sized_grid *other)
{
	for (uint32_t d = 0; d < count_dimensions(checker); d++)
		if (one->counts[d] != other->counts[d] || one->all[d] != other->all[d] ||
		    one->steps[d] != other->steps[d] || one->uses[d].degree != other->uses[d].degree ||
		    one->uses[d].period != other->uses[d].period)
			return false;
	return true;
}

/* Return the bytes of all values that numbers_grow evaluates at a point for the scratch of the current call. */
static uint64_t evaluated_bytes(const struct checker *checker)
{
	const struct sk_signature *signature = checker->calls->signature;
	uint64_t count = 0;

	for (uint32_t i = 0; i < signature->parameter_count; i++)
		count += signature->parameters[i].scratch_count ? signature->extent_count : 0;
	return count * checker->sized->forms.dims->value_count * sizeof(uint64_t);
}

static bool add_call(struct checker *checker, const struct call *call)
{
	struct group fresh = {.calls = {0}};
	size_t number = 0;

	make_grid(checker, call, &fresh.grid);
	fresh.points = sk_sized_grid_finish(&checker->uses, &fresh.grid);
	if (fresh.points > MOST_CHECKS)
		return sk_call_disagree(checker->calls,
					"it is not known to hold at all sizes: more than %d of them "
					"would have to be looked at; narrow their bounds",
					MOST_CHECKS);
	checker->checks += fresh.points;
	checker->numbers += fresh.points * (checker->calls->signature->extent_count + 1);
	while (number < checker->groups.count && !same_grid(checker, &checker->groups.items[number].grid, &fresh.grid))
		number++;
	if (number == checker->groups.count) {
		sk_array_push(checker->calls->arena, &checker->groups, fresh);
		checker->bytes += fresh.points * checker->sized->view->plan->size; /* check_point */
	}
	checker->bytes += fresh.points * evaluated_bytes(checker);
	sk_array_push(checker->calls->arena, &checker->groups.items[number].calls, *call);
	return true;
}

/* ---- degrees ---- */

enum { NO_DEGREE = SK_SIZED_MOST_DEGREE + 1 }; /* more than any grid suffices for */

/* The current call, in one dimension. */
struct degrees {
	const struct sk_calls *calls;
	uint32_t values; /* of the plan's numbers */
	const uint32_t *extents; /* by extent */
};

static uint32_t greatest(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* Return the degree of an expression of a signature; NO_DEGREE: it is not a polynomial. The grid has a period for
 * quotients by numbers (add_divisors). */
static uint32_t degree_of(const struct degrees *degrees, const struct sk_value_expression *value)
{
	uint32_t left = value->left ? degree_of(degrees, value->left) : 0;
	uint32_t right = value->right ? degree_of(degrees, value->right) : 0;

	switch (value->kind) {
	case SK_VALUE_EXTENT:
		return degrees->extents[value->index];
	case SK_VALUE_SIZEOF:
		return degrees->values;
	case SK_VALUE_BEGIN:
	case SK_VALUE_END:
	case SK_VALUE_SIZE: /* of a block: a quotient of its number times an extent */
		return degrees->calls->step->kind == SK_STEP_BLOCKS_RANGE && degrees->extents[value->index] ? NO_DEGREE
													    : 0;
	case SK_VALUE_ADD:
	case SK_VALUE_SUBTRACT:
		return greatest(left, right);
	case SK_VALUE_MULTIPLY:
		return left + right < NO_DEGREE ? left + right : NO_DEGREE;
	case SK_VALUE_DIVIDE:
		return right || (left && value->right->kind != SK_VALUE_NUMBER) ? NO_DEGREE : left;
	default:
		return 0;
	}
}

/* Return the degree of the number of elements of a tensor's dimensions. */
static uint32_t degree_of_shape(const struct degrees *degrees, const struct sk_parameter *parameter)
{
	uint32_t sum = 0;

	for (uint32_t d = 0; d < parameter->rank; d++) {
		uint32_t most = 0;

		for (const struct sk_extent *extent = &parameter->extents[d]; extent; extent = extent->more) {
			uint32_t product = 0;

			for (uint32_t i = 0; i < extent->name_count && product < NO_DEGREE; i++)
				product += degrees->extents[extent->names[i]];
			most = greatest(most, product);
		}
		sum = sum + most < NO_DEGREE ? sum + most : NO_DEGREE;
	}
	return sum;
}

/* Return the degree of the numbers that are compared for a parameter. */
static uint32_t degree_of_parameter(const struct degrees *degrees, uint32_t number)
{
	const struct sk_parameter *parameter = &degrees->calls->signature->parameters[number];
	uint32_t degree = sk_call_has_tensor(degrees->calls, number) ? degree_of_shape(degrees, parameter) : 0;

	if (parameter->value)
		degree = greatest(degree, degree_of(degrees, parameter->value));
	if (parameter->table_count)
		degree = greatest(degree, degree_of(degrees, parameter->table_count));
	return parameter->table_stride ? greatest(degree, degree_of(degrees, parameter->table_stride)) : degree;
}

static bool is_enough(struct checker *checker, const struct group *group, const struct call *call, uint32_t dimension)
{
	const struct sk_signature *signature = checker->calls->signature;
	uint32_t limit = SK_SIZED_DEGREES * group->grid.uses[dimension].degree, most = 0;
	uint32_t extents[SK_MAX_PARAMETERS] = {0};
	const struct degrees degrees = {checker->calls, group->grid.uses[dimension].degree, extents};

	for (uint32_t e = 0; e < signature->extent_count; e++) {
		extents[e] =
			sk_sized_grid_degree(&group->grid, dimension, &call->extents[e * group->points], group->points);
		if (extents[e] == SK_SIZED_UNLIKE)
			return false;
	}
	for (uint32_t i = 0; i < signature->parameter_count; i++)
		most = greatest(most, degree_of_parameter(&degrees, i));
	for (uint32_t axis = 0; axis < signature->grid_rank; axis++)
		most = greatest(most, degree_of(&degrees, signature->grid[axis]));
	return most <= limit;
}

/* True if the numbers at the group's points are those of a value, which never decreases, at all sizes. */
static bool numbers_grow(const struct checker *checker, const struct group *group, const uint64_t *numbers)
{
	const struct sk_dims_view *dims = checker->sized->forms.dims;
	uint64_t *values = SK_NEW_ARRAY(checker->calls->arena, uint64_t, dims->value_count + 1);
	bool *same = SK_NEW_ARRAY(checker->calls->arena, bool, dims->value_count + 1);
	bool constant = true, found = false;

	for (uint32_t i = 0; i < dims->value_count; i++)
		same[i] = sk_sized_grid_suffices(&checker->uses, &group->grid, i);
	for (uint64_t point = 0; point < group->points; point++) {
		uint64_t sizes[SK_MAX_DIMENSIONS];

		sk_sized_grid_point(&checker->uses, &group->grid, point, sizes);
		sk_dims_evaluate(dims, sizes, values);
		for (uint32_t i = 0; i < dims->value_count; i++)
			same[i] &= values[i] == numbers[point];
		constant &= numbers[point] == numbers[0];
	}
	for (uint32_t i = 0; i < dims->value_count; i++)
		found |= same[i];
	return constant || found;
}

/* The scratch of the largest sizes is enough for others if its size never decreases: it grows with numbers of the plan,
 * which do not. */
static bool grows(const struct checker *checker, const struct group *group, const struct call *call,
		  const struct sk_value_expression *value)
{
	switch (value->kind) {
	case SK_VALUE_NUMBER:
	case SK_VALUE_SIZEOF:
	case SK_VALUE_BLOCK_COUNT:
		return true;
	case SK_VALUE_EXTENT:
		return numbers_grow(checker, group, &call->extents[value->index * group->points]);
	case SK_VALUE_ADD:
	case SK_VALUE_MULTIPLY:
		return grows(checker, group, call, value->left) && grows(checker, group, call, value->right);
	case SK_VALUE_DIVIDE:
		return value->right->kind == SK_VALUE_NUMBER && grows(checker, group, call, value->left);
	default:
		return false;
	}
}

static bool scratch_grows(const struct checker *checker, const struct group *group, const struct call *call)
{
	const struct sk_signature *signature = checker->calls->signature;

	for (uint32_t i = 0; i < signature->parameter_count; i++)
		if (signature->parameters[i].scratch_count &&
		    !grows(checker, group, call, signature->parameters[i].scratch_count))
			return false;
	return true;
}

/* ---- all sizes ---- */

/* Quotients of a part's start or length are seen to be equal if there are enough of these. */
static bool shows_quotients(const struct sk_calls *calls)
{
	const struct sk_plan_view *view = calls->view;
	const struct sk_plan_loop *loops = sk_plan_loops(view, calls->call);
	uint64_t inner = calls->call->loop_count == SK_MAX_LOOPS ? loops[1].extent : 0;

	for (uint32_t a = 0; a < calls->call->argument_count; a++) {
		const struct sk_plan_argument *argument = sk_call_argument(calls, a);

		for (uint64_t i = 0; argument->kind == SK_ARGUMENT_EXPRESSION && i < argument->size; i++) {
			const struct sk_plan_term *term = &view->terms[argument->index + i];
			bool of_inner =
				term->variable == SK_VARIABLE_INNER_BEGIN || term->variable == SK_VARIABLE_INNER_SIZE;
			uint64_t most = of_inner ? inner : sk_plan_extent(calls->step, calls->call);
			uint64_t period = term->divisor;

			if (term->variable == SK_VARIABLE_BLOCK || (term->divisor == 1 && !term->modulus))
				continue;
			if ((term->modulus && !sk_mul(period, term->modulus, &period)) || most / 2 <= period)
				return false;
		}
	}
	return true;
}

static bool is_whole(const struct checker *checker, const struct sk_sized_grid *grid)
{
	bool whole = true;

	for (uint32_t d = 0; d < count_dimensions(checker); d++)
		whole &= grid->all[d] || grid->counts[d] == 1;
	return whole;
}

/* Check the call in the plan of one size. A step without elements makes no call. */
static void check_at(struct checker *checker, const struct group *group, struct call *call, uint64_t point,
		     const struct sk_plan_view *one)
{
	struct sk_calls *calls = checker->calls;

	enter_call(checker, one, call);
	for (uint32_t e = 0; e < calls->signature->extent_count; e++)
		call->extents[e * group->points + point] = SK_EXTENT_UNKNOWN;
	if (calls->step->kind == SK_STEP_SPLIT && calls->step->extent == 0)
		return;
	call->wrong = !sk_call_check(calls);
	if (!call->wrong && !is_whole(checker, &group->grid) && !shows_quotients(calls))
		call->wrong = !sk_call_disagree(calls, "its expressions cannot be compared at all sizes");
	for (uint32_t e = 0; e < calls->signature->extent_count; e++)
		call->extents[e * group->points + point] = calls->extents[e];
}

static const char *sizes_text(const struct checker *checker, const uint64_t *sizes)
{
	const struct sk_dims_view *dims = checker->sized->forms.dims;
	const char *text = "";

	for (uint32_t d = 0; d < dims->dimension_count; d++)
		text = sk_arena_print(checker->calls->arena, "%s%s%s=%" PRIu64, text, d ? ", " : "",
				      sk_plan_string(&dims->dimensions[d].name), sizes[d]);
	return text;
}

static bool check_point(struct checker *checker, struct group *group, uint64_t point)
{
	struct sk_calls *calls = checker->calls;
	uint64_t sizes[SK_MAX_DIMENSIONS];
	struct sk_plan_view one;

	sk_sized_grid_point(&checker->uses, &group->grid, point, sizes);
	if (!sk_dims_concretise(checker->sized->forms.dims, checker->sized->view, sizes, &one)) {
		sk_error(calls->diag, (struct sk_place){.file = calls->file}, "no memory for a plan of one size");
		return false;
	}
	memset(calls->states_of, 0, one.kernel_count * sizeof(*calls->states_of));
	for (size_t i = 0; i < group->calls.count; i++) {
		unsigned errors = calls->diag->errors;

		if (!group->calls.items[i].wrong)
			check_at(checker, group, &group->calls.items[i], point, &one);
		if (calls->diag->errors != errors)
			sk_note(calls->diag, "at the sizes %s", sizes_text(checker, sizes));
	}
	sk_plan_close(&one);
	return true;
}

/* The numbers at the grid's points stand for those at all sizes. */
static void check_polynomials(struct checker *checker, const struct group *group, const struct call *call)
{
	bool enough = true;

	enter_call(checker, checker->sized->view, call);
	for (uint32_t d = 0; d < count_dimensions(checker); d++)
		enough &= group->grid.all[d] || group->grid.counts[d] == 1 || is_enough(checker, group, call, d);
	if (!enough || (!is_whole(checker, &group->grid) && !scratch_grows(checker, group, call)))
		sk_call_disagree(checker->calls, "its numbers cannot be compared at all sizes");
}

static void check_group(struct checker *checker, struct group *group)
{
	for (size_t i = 0; i < group->calls.count; i++) {
		const struct sk_plan_call *record = &checker->sized->view->calls[group->calls.items[i].call];

		group->calls.items[i].extents =
			SK_NEW_ARRAY(checker->calls->arena, uint64_t,
				     group->points * (checker->calls->signatures[record->kernel]->extent_count + 1));
	}
	for (uint64_t point = 0; point < group->points; point++)
		if (!check_point(checker, group, point))
			return;
	for (size_t i = 0; i < group->calls.count; i++)
		if (!group->calls.items[i].wrong)
			check_polynomials(checker, group, &group->calls.items[i]);
}

static void add_launch(struct checker *checker, uint32_t launch)
{
	const struct sk_plan_view *view = checker->sized->view;
	const struct sk_plan_launch *record = &view->launches[launch];

	for (uint32_t i = 0; i < sk_plan_form(record)->step_count; i++) {
		const struct sk_plan_step *step = &view->steps[record->first_step + i];

		for (uint32_t c = 0; c < step->call_count; c++) {
			const struct call call = {
				.launch = launch, .step = record->first_step + i, .call = step->first_call + c};

			enter_call(checker, view, &call);
			if (checker->calls->signature && check_overlaps(checker, &call) && check_unit(checker, &call))
				add_call(checker, &call);
		}
	}
}

/* Return the least unit of a call by itself. Units are aligned whatever an element's bytes are. */
static uint64_t least_unit(struct checker *checker, const struct sk_plan_step *step, const struct sk_plan_call *call)
{
	const struct sk_plan_view *view = checker->sized->view;
	const struct sk_signature *signature = checker->calls->signatures[call->kernel];
	uint32_t number = (uint32_t)(step - view->steps);
	bool varies = sk_dims_value_of(checker->sized->forms.dims, SK_DIMS_STEPS, number,
				       offsetof(struct sk_plan_step, extent)) != SK_NO_INDEX;
	uint64_t unit = sk_call_whole_elements(signature, varies, sk_plan_extent(step, call));

	for (uint32_t i = 0; i < call->argument_count && signature->align; i++) {
		const struct sk_plan_argument *argument = &view->arguments[call->first_argument + i];
		uint64_t bytes = argument->element_bytes;

		if (sk_dims_argument_value(checker->sized->forms.dims, view, call, i,
					   offsetof(struct sk_plan_argument, element_bytes)) != SK_NO_INDEX)
			bytes = 1;
		while (argument->kind == SK_ARGUMENT_POINTER && bytes * unit % signature->align)
			unit *= 2;
	}
	return unit;
}

static void check_device_cores(struct checker *checker)
{
	const struct sk_plan_view *view = checker->sized->view;
	uint64_t *least = SK_NEW_ARRAY(checker->calls->arena, uint64_t, view->call_count);

	for (uint32_t s = 0; s < view->step_count; s++) {
		struct sk_plan_calls all = sk_plan_step_calls(view, &view->steps[s]);

		for (const struct sk_plan_call *call = all.first; call < all.end; call++)
			least[call - view->calls] = least_unit(checker, &view->steps[s], call);
	}
	sk_calls_check_device_cores(checker->calls, least);
}

void sk_sized_calls_check(struct sk_arena *arena, struct sk_diag *diag, struct sk_sized *sized, const char *file)
{
	struct sk_calls calls = {.arena = arena, .diag = diag, .view = sized->view, .file = file};
	struct checker checker = {.calls = &calls, .sized = sized};
	unsigned errors = diag->errors;

	sk_sized_uses_build(&checker.uses, sized);
	sk_calls_read_signatures(&calls);
	for (uint32_t launch = 0; launch < sized->view->launch_count; launch++)
		add_launch(&checker, launch);
	if (checker.checks > MOST_CHECKS || checker.numbers > MOST_NUMBERS || checker.bytes > MOST_BYTES) {
		sk_error(diag, (struct sk_place){.file = file},
			 "calls would have to be compared with signatures %" PRIu64
			 " times, which is too often; narrow the bounds of sizes",
			 checker.checks);
		return;
	}
	for (size_t i = 0; i < checker.groups.count; i++)
		check_group(&checker, &checker.groups.items[i]);
	if (diag->errors == errors)
		check_device_cores(&checker);
}
