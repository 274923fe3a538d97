/* library.h: shared by tests of the kernel library: the kernels, their arguments in guarded memory, and how far results
 * may be from the expected ones. A family adds a table of rows, in a file of its own, which library.c lists. */
#ifndef TESTS_KERNELS_LIBRARY_H
#define TESTS_KERNELS_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

/* Expected results are computed in these. */
typedef __float128 wide;
typedef __int128 whole;

/* An element type. */
struct type {
	const char *name;
	size_t size;
	int is_float, is_signed;
	/* For floats: the bits of the significand with the leading one, and the exponents of the least normal number
	 * and the greatest one. */
	int digits, least, greatest;
};

const struct type *find_type(const char *name);
wide get_wide(const struct type *type, const void *elements, int64_t i);
whole get_whole(const struct type *type, const void *elements, int64_t i);
/* Return the address of element i. */
void *element_at(const struct type *type, const void *elements, int64_t i);
/* To the nearest; integers lose their upper bits. */
void put_wide(const struct type *type, void *elements, int64_t i, wide value);
void put_whole(const struct type *type, void *elements, int64_t i, whole value);
/* The error that an operation may have in the type that it is computed in, f32 or f64, relative to its result. */
wide roundoff(const struct type *type);
/* The error of a number of that size after rounding to f32, f16 or bf16. */
wide rounding(const struct type *type, wide value);

/* A kernel as its signature in the archive says it. */
struct kernel {
	char name[80], operator[80], form[16], isa[16];
	const struct type *in, *out; /* of the first input, of the output */
	void *function;
	const struct kernel *base; /* the same one that needs nothing of the processor; NULL: itself */
	/* How far results may be from the exact ones, in units of the last place of the result, or of the larger one of
	 * the result and the value that `scale` names: "x", the input, "terms", the terms of the result's sum, "dy", a
	 * gradient, or "1". From doc/reference/operators.md. */
	double units;
	char scale[8];
};

/* One operator of the library, with its conditions and its definition. */
struct row {
	const char *operator;
	void (*run)(const struct kernel *kernel, const struct row *row);
	wide (*unary)(wide x);
	wide (*binary)(wide a, wide b);
	whole (*whole_unary)(whole x);
	whole (*whole_binary)(whole a, whole b, const struct type *type);
	/* For operators with attributes: the attributes, and the definition with them. */
	int attributes;
	float attribute[2];
	wide (*with_attributes)(wide x, const float *attribute);
	whole (*whole_with_attributes)(whole x, const float *attribute, const struct type *type);
	/* For composites: the number of inputs, the result for them, and the largest of the terms added on the way. */
	int inputs;
	wide (*composite)(const wide *x, const float *attribute, wide *term);
};

/* Tables end with a row without an operator. */
extern const struct row elementwise_rows[], composite_rows[], axis_rows[], move_rows[], normal_rows[], recurrent_rows[],
	fused_rows[], product_rows[], tree_rows[];

/* Memory of so many bytes, all 0xa5, that ends before a page without access; the last 64 of them are valid. */
void *guarded(size_t bytes);
/* Fail if anything before such memory has changed. Call it after each call that writes there. */
void check_front(const struct kernel *kernel, const void *memory);
/* n elements: special numbers first, then random ones of all sizes. */
void *random_elements(const struct type *type, int64_t n);
/* n elements between both ends. */
void *random_reals(const struct type *type, int64_t n, double low, double high);
/* Multiply them by 2^exponent. */
void scale_elements(const struct type *type, void *elements, int64_t n, int exponent);
/* A whole number between both ends, which are among them. */
int64_t between(int64_t low, int64_t high);
extern int64_t usual_count;
int64_t special_count(const struct type *type);
uint64_t random_bits(void);

/* Report an error if element i of the results is not as expected; x is the input, or the term, that bounds may be
 * relative to. */
void check_wide(const struct kernel *kernel, const void *results, int64_t i, wide expected, wide x, const char *inputs);
void check_whole(const struct kernel *kernel, const void *results, int64_t i, whole expected, const char *inputs);
/* Report an error if element i is further from the expected value than is allowed in the type that it is computed in,
 * rounded to its own type. */
void check_near(const struct kernel *kernel, const struct type *type, const void *results, int64_t i, wide expected,
		wide allowed, const char *inputs);
/* Report an error if bytes differ. */
void check_bytes(const struct kernel *kernel, const char *what, const void *results, const void *expected,
		 size_t bytes);
/* Report an error if a kernel that returns a status does not return this one. */
void check_status(const struct kernel *kernel, const char *what, int result, int expected);
/* Report an error if results of the kernel's output type differ in a bit, except for NaNs. */
void check_same(const struct kernel *kernel, const char *what, const void *results, const void *expected, size_t bytes);
/* Describe the inputs of element i, for the next error message, which reads them. */
const char *two_inputs(const struct type *type, const void *a, int64_t i, const void *b, int64_t j);

#endif
