/* The independent check of samples/quant_matmul.
 *
 *   reference make DIRECTORY M K N     writes x1, x2, channel_scale, token_scale and weight_scale (.npy)
 *   reference check DIRECTORY [STEP]   reads these and product, y and scale; checks every STEP-th row (default 1)
 *
 * product must agree to the bit. y and scale are checked against the checked product in double precision: scale to 1e-5
 * of itself, y to half a step of the quantisation plus 0.001. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "samples/tensor-file.h"

static void make_integers(const char *directory, const char *name, uint64_t rows, uint64_t columns, uint64_t seed)
{
	int8_t *values = malloc(rows * columns);

	if (!values)
		abort();
	for (uint64_t i = 0; i < rows * columns; i++)
		values[i] = (int8_t)(random_bits(&seed) % 20) - 10;
	tensor_save(directory, name, SK_I8, 2, (uint64_t[]){rows, columns}, values);
	free(values);
}

static void make_reals(const char *directory, const char *name, uint32_t rank, const uint64_t *shape, double largest,
		       uint64_t seed)
{
	uint64_t count = rank == 2 ? shape[0] * shape[1] : shape[0];
	float *values = malloc(count * sizeof(*values));

	if (!values)
		abort();
	for (uint64_t i = 0; i < count; i++)
		values[i] = (float)(largest * random_real(&seed));
	tensor_save(directory, name, SK_F32, rank, shape, values);
	free(values);
}

/* Integers from -10 to 9, as in the example that this sample follows; the scales keep swish's arguments between -20 and
 * 20, where it is neither 0 nor the identity. */
static void make(const char *directory, uint64_t m, uint64_t k, uint64_t n)
{
	make_integers(directory, "x1", m, k, 1);
	make_integers(directory, "x2", n, k, 2);
	make_reals(directory, "channel_scale", 1, (uint64_t[]){n}, 1 / sqrt((double)k), 3);
	make_reals(directory, "token_scale", 1, (uint64_t[]){m}, 0.5, 4);
	make_reals(directory, "weight_scale", 2, (uint64_t[]){m, n}, 2, 5);
}

static double from_bf16(uint16_t value)
{
	uint32_t bits = (uint32_t)value << 16;
	float result;

	memcpy(&result, &bits, sizeof(result));
	return result;
}

/* The bfloat16 nearest to value, of two equally near the even one, found by comparing the distances to both neighbours.
 */
static uint16_t nearest_bf16(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));

	uint16_t inner = (uint16_t)(bits >> 16), outer = (uint16_t)(inner + 1);
	double to_inner = fabs(value - from_bf16(inner)), to_outer = fabs(from_bf16(outer) - value);

	if (to_inner == to_outer)
		return inner % 2 ? outer : inner;
	return to_inner < to_outer ? inner : outer;
}

struct tensors {
	struct sk_npy x1, x2, channel_scale, token_scale, weight_scale, product, y, scale;
	uint64_t m, k, n;
};

static int check_product(const struct tensors *tensors, uint64_t row)
{
	const int8_t *x1 = (const int8_t *)tensors->x1.data + row * tensors->k;
	const float *channel_scale = tensors->channel_scale.data, *token_scale = tensors->token_scale.data;
	const uint16_t *product = (const uint16_t *)tensors->product.data + row * tensors->n;

	for (uint64_t j = 0; j < tensors->n; j++) {
		const int8_t *x2 = (const int8_t *)tensors->x2.data + j * tensors->k;
		int64_t sum = 0;

		for (uint64_t p = 0; p < tensors->k; p++)
			sum += x1[p] * x2[p];

		uint16_t expected = nearest_bf16((float)sum * channel_scale[j] * token_scale[row]);

		if (product[j] != expected) {
			fprintf(stderr, "product[%llu][%llu] is %.9g, expected %.9g\n", (unsigned long long)row,
				(unsigned long long)j, from_bf16(product[j]), from_bf16(expected));
			return 1;
		}
	}
	return 0;
}

static double swiglu(const struct tensors *tensors, uint64_t row, uint64_t j)
{
	const uint16_t *product = (const uint16_t *)tensors->product.data + row * tensors->n;
	const float *weight_scale = (const float *)tensors->weight_scale.data + row * tensors->n;
	uint64_t h = tensors->n / 2;
	double gate = from_bf16(product[h + j]) * weight_scale[h + j];

	return from_bf16(product[j]) * weight_scale[j] * gate / (1 + exp(-gate));
}

static int check_quantised(const struct tensors *tensors, uint64_t row)
{
	uint64_t h = tensors->n / 2;
	const int8_t *y = (const int8_t *)tensors->y.data + row * h;
	double scale = ((const float *)tensors->scale.data)[row], largest = 0;

	for (uint64_t j = 0; j < h; j++)
		largest = fmax(largest, fabs(swiglu(tensors, row, j)));
	if (!(fabs(scale - largest / 127) <= 1e-5 * largest / 127)) {
		fprintf(stderr, "scale[%llu] is %.9g, expected %.9g\n", (unsigned long long)row, scale, largest / 127);
		return 1;
	}
	for (uint64_t j = 0; j < h; j++) {
		double exact = largest > 0 ? swiglu(tensors, row, j) / (largest / 127) : 0;

		if (!(fabs(y[j] - exact) <= 0.501)) {
			fprintf(stderr, "y[%llu][%llu] is %d, expected %.4f\n", (unsigned long long)row,
				(unsigned long long)j, y[j], exact);
			return 1;
		}
	}
	return 0;
}

static int check(const char *directory, uint64_t step)
{
	struct tensors tensors = {.x1 = tensor_load(directory, "x1", SK_I8, 2, NULL),
				  .x2 = tensor_load(directory, "x2", SK_I8, 2, NULL)};
	uint64_t m = tensors.m = tensors.x1.shape[0], k = tensors.k = tensors.x1.shape[1];
	uint64_t n = tensors.n = tensors.x2.shape[0], checked = 0;
	int wrong = 0;

	tensors.channel_scale = tensor_load(directory, "channel_scale", SK_F32, 1, (uint64_t[]){n});
	tensors.token_scale = tensor_load(directory, "token_scale", SK_F32, 1, (uint64_t[]){m});
	tensors.weight_scale = tensor_load(directory, "weight_scale", SK_F32, 2, (uint64_t[]){m, n});
	tensors.product = tensor_load(directory, "product", SK_BF16, 2, (uint64_t[]){m, n});
	tensors.y = tensor_load(directory, "y", SK_I8, 2, (uint64_t[]){m, n / 2});
	tensors.scale = tensor_load(directory, "scale", SK_F32, 1, (uint64_t[]){m});
	for (uint64_t row = 0; row < m; row += step, checked++) {
		wrong += check_product(&tensors, row);
		wrong += check_quantised(&tensors, row);
	}
	tensor_free(&tensors.x1);
	tensor_free(&tensors.x2);
	tensor_free(&tensors.channel_scale);
	tensor_free(&tensors.token_scale);
	tensor_free(&tensors.weight_scale);
	tensor_free(&tensors.product);
	tensor_free(&tensors.y);
	tensor_free(&tensors.scale);
	if (!wrong)
		printf("%llu of %llu rows agree with the plain loops (m %llu, k %llu, n %llu)\n",
		       (unsigned long long)checked, (unsigned long long)m, (unsigned long long)m, (unsigned long long)k,
		       (unsigned long long)n);
	return wrong != 0;
}

static uint64_t number(const char *text)
{
	return strtoull(text, NULL, 10);
}

int main(int argc, char **argv)
{
	if (argc == 6 && !strcmp(argv[1], "make"))
		return make(argv[2], number(argv[3]), number(argv[4]), number(argv[5])), 0;
	if ((argc == 3 || argc == 4) && !strcmp(argv[1], "check")) {
		uint64_t step = argc == 4 ? number(argv[3]) : 1;

		if (step > 0)
			return check(argv[2], step);
	}
	fprintf(stderr, "usage: reference make DIRECTORY M K N\n       reference check DIRECTORY [STEP]\n");
	return 1;
}
