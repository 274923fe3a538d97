/* The independent check of samples/foreign.
 *
 *   reference make DIRECTORY    writes a.npy, b.npy, x.npy and velocity.npy
 *   reference check DIRECTORY   reads these and the package's results: residual.npy, error.npy, new_velocity.npy and
 *                               new_x.npy; compares with plain loops
 *
 * The kernels add in another order than the loops here, so results may differ by 1e-12 of the sum of the magnitudes of
 * their inputs: a sum of 300 products has rounding errors below 300 * 2^-53 = 3.4e-14 of it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "samples/tensor-file.h"

enum { M = 300, N = 200 };

static const uint64_t matrix_shape[] = {M, N}, m_shape[] = {M}, n_shape[] = {N}, scalar_shape[] = {1};

static void make_tensor(const char *directory, const char *name, uint32_t rank, const uint64_t *shape, uint64_t seed)
{
	static double values[M * N];
	uint64_t count = 1;

	for (uint32_t i = 0; i < rank; i++)
		count *= shape[i];
	for (uint64_t i = 0; i < count; i++)
		values[i] = random_real(&seed);
	tensor_save(directory, name, SK_F64, rank, shape, values);
}

static void make(const char *directory)
{
	make_tensor(directory, "a", 2, matrix_shape, 1);
	make_tensor(directory, "b", 1, m_shape, 2);
	make_tensor(directory, "x", 1, n_shape, 3);
	make_tensor(directory, "velocity", 1, n_shape, 4);
}

/* Returns 1 with a message if the value is off by more than 1e-12 of the magnitude. */
static int compare(const char *name, int index, double value, double expected, double magnitude)
{
	if (fabs(value - expected) <= 1e-12 * magnitude)
		return 0;
	fprintf(stderr, "%s[%d] is %.17g, expected %.17g\n", name, index, value, expected);
	return 1;
}

static int check(const char *directory)
{
	enum { A, B, X, VELOCITY, RESIDUAL, ERROR, NEW_VELOCITY, NEW_X, COUNT };
	static const struct {
		const char *name;
		uint32_t rank;
		const uint64_t *shape;
	} files[COUNT] = {
		[A] = {"a", 2, matrix_shape},
		[B] = {"b", 1, m_shape},
		[X] = {"x", 1, n_shape},
		[VELOCITY] = {"velocity", 1, n_shape},
		[RESIDUAL] = {"residual", 1, m_shape},
		[ERROR] = {"error", 1, scalar_shape},
		[NEW_VELOCITY] = {"new_velocity", 1, n_shape},
		[NEW_X] = {"new_x", 1, n_shape},
	};
	struct sk_npy tensors[COUNT];
	const double *values[COUNT];
	double residual[M], residual_magnitude[M], error = 0, error_magnitude = 0;
	int wrong = 0;

	for (int i = 0; i < COUNT; i++) {
		tensors[i] = tensor_load(directory, files[i].name, SK_F64, files[i].rank, files[i].shape);
		values[i] = tensors[i].data;
	}
	for (int i = 0; i < M; i++) {
		residual[i] = values[B][i];
		residual_magnitude[i] = fabs(values[B][i]);
		for (int j = 0; j < N; j++) {
			residual[i] -= values[A][i * N + j] * values[X][j];
			residual_magnitude[i] += fabs(values[A][i * N + j] * values[X][j]);
		}
		error += residual[i] * residual[i];
		error_magnitude += 2 * residual_magnitude[i] * fabs(residual[i]);
		wrong += compare("residual", i, values[RESIDUAL][i], residual[i], residual_magnitude[i]);
	}
	wrong += compare("error", 0, values[ERROR][0], error, error_magnitude);
	for (int j = 0; j < N; j++) {
		double velocity = values[VELOCITY][j], magnitude = fabs(velocity);

		for (int i = 0; i < M; i++) {
			velocity += values[A][i * N + j] * residual[i];
			magnitude += fabs(values[A][i * N + j]) * residual_magnitude[i];
		}
		wrong += compare("new_velocity", j, values[NEW_VELOCITY][j], velocity, magnitude);
		wrong += compare("new_x", j, values[NEW_X][j], values[X][j] + 0.001 * velocity,
				 fabs(values[X][j]) + 0.001 * magnitude);
	}
	for (int i = 0; i < COUNT; i++)
		tensor_free(&tensors[i]);
	if (!wrong)
		printf("one step of gradient descent: residual, error %.6f, velocity and x agree\n", error);
	return wrong != 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "make"))
		return make(argv[2]), 0;
	if (argc == 3 && !strcmp(argv[1], "check"))
		return check(argv[2]);
	fprintf(stderr, "usage: reference make|check DIRECTORY\n");
	return 1;
}
