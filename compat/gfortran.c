/* Functions of GNU Fortran's library (libgfortran.h of GCC 9 to 14) that compiled procedures call beside input and
 * output: matmul, copies of arrays that are not contiguous, errors. An error is printed with the text of its format,
 * without values, and ends the launch.
 *
 * Products are sums in ascending order of the inner index, which libgfortran may add in another order. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "compat/compat.h"

enum { GFORTRAN_DIMENSIONS = 15 };

struct gfortran_array {
	void *data;
	size_t offset;
	struct {
		size_t bytes; /* of an element */
		int version;
		signed char rank, type;
		short attribute;
	} dtype;
	ptrdiff_t span; /* bytes from element to element, to which strides refer */
	struct {
		ptrdiff_t stride, lower, upper;
	} dimensions[GFORTRAN_DIMENSIONS];
};

static ptrdiff_t extent(const struct gfortran_array *array, int dimension)
{
	ptrdiff_t count = array->dimensions[dimension].upper - array->dimensions[dimension].lower + 1;

	return count > 0 ? count : 0;
}

/* ---- errors ---- */

#define ERROR(name, parameters, text)                        \
	SK_COMPAT _Noreturn void _gfortran_##name parameters \
	{                                                    \
		sk_compat_fail("Fortran", #name, text);      \
	}
ERROR(runtime_error, (const char *format, ...), format)
ERROR(runtime_error_at, (const char *where __attribute__((unused)), const char *format, ...), format)
ERROR(os_error, (const char *text), text)
ERROR(os_error_at, (const char *where __attribute__((unused)), const char *format, ...), format)
ERROR(stop_numeric, (int code __attribute__((unused)), int quiet __attribute__((unused))), "")
ERROR(error_stop_numeric, (int code __attribute__((unused)), int quiet __attribute__((unused))), "")

/* ---- matmul ---- */

/* Two dimensions of an array; a vector is a row or a column. Distances are in elements. */
struct matrix {
	ptrdiff_t rows, columns, row, column;
};

static struct matrix matrix_of(const struct gfortran_array *array, int is_row)
{
	struct matrix matrix = {1, 1, 0, 0};

	if (array->dtype.rank == 2 || !is_row) {
		matrix.rows = extent(array, 0);
		matrix.row = array->dimensions[0].stride;
	}
	if (array->dtype.rank == 2 || is_row) {
		matrix.columns = extent(array, array->dtype.rank - 1);
		matrix.column = array->dimensions[array->dtype.rank - 1].stride;
	}
	return matrix;
}

/* Give a result without memory its extents and memory. */
static void allocate_result(struct gfortran_array *result, const struct matrix *a, int a_rank, const struct matrix *b,
			    int b_rank, size_t bytes)
{
	ptrdiff_t extents[2] = {a_rank == 1 ? b->columns : a->rows, b->columns}, stride = 1;

	for (int i = 0; i < a_rank + b_rank - 2; i++) {
		result->dimensions[i].stride = stride;
		result->dimensions[i].lower = 0;
		result->dimensions[i].upper = extents[i] - 1;
		stride *= extents[i];
	}
	result->offset = 0;
	result->data = malloc((size_t)(stride ? stride : 1) * bytes);
	if (!result->data)
		sk_compat_fail("Fortran", "matmul", "no memory for the result");
}

struct complex4 {
	float real, imaginary;
};

struct complex8 {
	double real, imaginary;
};

#define ADD_PRODUCT(to, a, b) (to) += (a) * (b)
#define ADD_COMPLEX_PRODUCT(to, a, b)                                         \
	do {                                                                  \
		(to).real += (a).real * (b).real - (a).imaginary * (b).imaginary; \
		(to).imaginary += (a).real * (b).imaginary + (a).imaginary * (b).real; \
	} while (0)

#define MATMUL(kind, type, add)                                                                                        \
	SK_COMPAT void _gfortran_matmul_##kind(struct gfortran_array *result, struct gfortran_array *left,             \
					       struct gfortran_array *right, int use_blas, int blas_limit, void *gemm) \
	{                                                                                                              \
		struct matrix a = matrix_of(left, left->dtype.rank == 1), b = matrix_of(right, 0), c;                  \
                                                                                                                       \
		(void)use_blas, (void)blas_limit, (void)gemm;                                                          \
		if (!result->data)                                                                                     \
			allocate_result(result, &a, left->dtype.rank, &b, right->dtype.rank, sizeof(type));            \
		c = matrix_of(result, left->dtype.rank == 1);                                                          \
		if (a.columns != b.rows || c.rows != a.rows || c.columns != b.columns)                                 \
			sk_compat_fail("Fortran", "matmul", "the extents of the arrays do not fit");                   \
		for (ptrdiff_t j = 0; j < c.columns; j++) {                                                            \
			type *restrict to = (type *)result->data + j * c.column;                                       \
                                                                                                                       \
			for (ptrdiff_t i = 0; i < c.rows; i++)                                                         \
				to[i * c.row] = (type){0};                                                             \
			for (ptrdiff_t k = 0; k < a.columns; k++) {                                                    \
				const type *from = (const type *)left->data + k * a.column;                            \
				type factor = ((const type *)right->data)[k * b.row + j * b.column];                   \
                                                                                                                       \
				for (ptrdiff_t i = 0; i < c.rows; i++)                                                 \
					add(to[i * c.row], from[i * a.row], factor);                                   \
			}                                                                                              \
		}                                                                                                      \
	}
MATMUL(i1, int8_t, ADD_PRODUCT)
MATMUL(i2, int16_t, ADD_PRODUCT)
MATMUL(i4, int32_t, ADD_PRODUCT)
MATMUL(i8, int64_t, ADD_PRODUCT)
MATMUL(r4, float, ADD_PRODUCT)
MATMUL(r8, double, ADD_PRODUCT)
MATMUL(c4, struct complex4, ADD_COMPLEX_PRODUCT)
MATMUL(c8, struct complex8, ADD_COMPLEX_PRODUCT)

/* ---- copies for procedures that need contiguous arrays ---- */

static size_t count_elements(const struct gfortran_array *array)
{
	size_t count = 1;

	for (int i = 0; i < array->dtype.rank; i++)
		count *= (size_t)extent(array, i);
	return count;
}

static int is_contiguous(const struct gfortran_array *array)
{
	ptrdiff_t stride = 1;

	for (int i = 0; i < array->dtype.rank; i++) {
		if (array->dimensions[i].stride != stride)
			return 0;
		stride *= extent(array, i);
	}
	return 1;
}

/* Return the address of the element with this number in the array's order. */
static char *element_at(const struct gfortran_array *array, size_t number)
{
	ptrdiff_t at = 0;

	for (int i = 0; i < array->dtype.rank; i++) {
		size_t count = (size_t)extent(array, i);

		at += (ptrdiff_t)(number % count) * array->dimensions[i].stride;
		number /= count;
	}
	return (char *)array->data + at * (ptrdiff_t)array->dtype.bytes;
}

SK_COMPAT void *_gfortran_internal_pack(struct gfortran_array *array)
{
	size_t count = count_elements(array), bytes = array->dtype.bytes;
	char *copy;

	if (!count || is_contiguous(array))
		return array->data;
	copy = malloc(count * bytes);
	if (!copy)
		sk_compat_fail("Fortran", "internal_pack", "no memory for the copy of an array");
	for (size_t i = 0; i < count; i++)
		memcpy(copy + i * bytes, element_at(array, i), bytes);
	return copy;
}

/* Write the copy back; its memory is released by the caller. */
SK_COMPAT void _gfortran_internal_unpack(struct gfortran_array *array, const void *copy)
{
	size_t count = count_elements(array), bytes = array->dtype.bytes;

	if (copy == array->data || !count || is_contiguous(array))
		return;
	for (size_t i = 0; i < count; i++)
		memcpy(element_at(array, i), (const char *)copy + i * bytes, bytes);
}
