/* The sizes of a package with bounds, in skrun: from --dim, from the shapes of input files, and for --sizes the
 * corners of the bounds and random ones. */
#include "config.h"

#include "loader/skrun/skrun.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "format/npy/npy.h"
#include "format/plan/dims.h"
#include "format/plan/plan.h"
#include "format/skdims.h"
#include "format/skplan.h"
#include "loader/base/status.h"
#include "loader/device/device.h"
#include "loader/flight/flight.h"
#include "loader/skrt.h"

/* ---- --dim ---- */

/* Read the step of "past=17+1"; the text before it remains. False after an error. */
static bool read_step(const char *text, char *size, uint64_t *step)
{
	char *plus = strrchr(size, '+'), *end = NULL;

	*step = 0;
	if (!plus || !strchr(size, '=') || plus < strchr(size, '='))
		return true;
	errno = 0;
	if (plus[1] >= '0' && plus[1] <= '9')
		*step = strtoull(plus + 1, &end, 10);
	*plus = '\0';
	if (end && !*end && !errno && *step && *step <= INT32_MAX)
		return true;
	sk_skrun_error("--dim %s: a size that grows is NAME=SIZE+STEP, such as past=17+1", text);
	return false;
}

static bool read_dimension(struct sk_session *session, const char *text)
{
	struct sk_dims_size size;
	char error[512], *copy = strdup(text);
	uint64_t step = 0;
	bool good = copy && read_step(text, copy, &step);

	if (!copy)
		sk_skrun_error("no memory");
	if (good && !sk_dims_read_size(&session->module->dims, session->network.name, session->path, copy, &size, error,
				       sizeof(error))) {
		sk_skrun_error("%s", error);
		good = false;
	}
	free(copy);
	if (!good)
		return false;
	session->sizes[size.dimension] = size.size;
	session->given[size.dimension] = true;
	session->steps[size.dimension] = step;
	session->grows |= step > 0;
	return true;
}

bool sk_session_read_dimensions(struct sk_session *session, const char *const *texts, uint32_t count)
{
	const struct sk_dims_view *dims = &session->module->dims;
	bool good = true;

	for (uint32_t i = 0; i < dims->dimension_count; i++)
		session->sizes[i] = dims->dimensions[i].usual;
	for (uint32_t i = 0; i < count; i++)
		good &= read_dimension(session, texts[i]);
	return good;
}

/* ---- the session at its sizes ---- */

/* Make the session's plan that of its sizes. */
bool sk_session_plan(struct sk_session *session)
{
	const struct skrt_module *module = session->module;
	struct sk_plan_view *plan = &session->module->plan;
	char error[512];

	session->plan = plan;
	if (!module->dims.dims)
		return true;
	sk_plan_close(&session->sized_plan);
	session->sized_plan = (struct sk_plan_view){0};
	if (!sk_plan_make_room(plan, error, sizeof(error)) || !sk_plan_check_all(plan, error, sizeof(error))) {
		sk_skrun_error("%s: %s", session->path, error);
		return false;
	}
	if (!sk_dims_concretise(&module->dims, plan, session->sizes, &session->sized_plan)) {
		sk_skrun_error("no memory for a plan of the sizes");
		return false;
	}
	session->plan = &session->sized_plan;
	return true;
}

bool sk_session_resize(struct sk_session *session)
{
	const struct sk_dims_view *dims = &session->module->dims;

	for (uint32_t i = 0; i < dims->dimension_count; i++)
		if (!strcmp(sk_plan_string(&dims->dimensions[i].network), session->network.name) &&
		    !sk_succeeded(skrt_instance_set_dimension(
			    session->instance, sk_plan_string(&dims->dimensions[i].name), session->sizes[i])))
			return false;
	for (uint32_t i = 0; i < session->slot_count && dims->dims; i++) {
		struct sk_slot *slot = &session->slots[i];
		const char *name = slot->tensor.name;

		if (!sk_succeeded(
			    sk_instance_tensor(session->instance, session->network.first_tensor + i, &slot->tensor)))
			return false;
		slot->tensor.name = name;
	}
	return sk_session_plan(session);
}

bool sk_session_grow(struct sk_session *session, int64_t runs)
{
	for (uint32_t i = 0; i < session->module->dims.dimension_count; i++) {
		int64_t more;

		if (__builtin_mul_overflow((int64_t)session->steps[i], runs, &more) ||
		    __builtin_add_overflow((int64_t)session->sizes[i], more, &more) || more < 0) {
			sk_skrun_error("a size of the last run has more than 63 bits");
			return false;
		}
		session->sizes[i] = (uint64_t)more;
	}
	return sk_session_resize(session);
}

/* Take the sizes of a file's shape. Other errors are reported when it is read. */
static bool take_shape(struct sk_session *session, const struct sk_assignment *assignment)
{
	uint32_t index = session->network.first_tensor + (uint32_t)(assignment->slot - session->slots);
	const struct skrt_tensor *tensor = &assignment->slot->tensor;
	struct skrt_device *device = session->module->device;
	struct sk_npy npy;
	char error[SK_SHAPE_SIZE];
	bool good = true;

	if (!sk_npy_open(assignment->path, (enum sk_dtype)tensor->dtype, &npy, error, sizeof(error)))
		return true;
	if (npy.rank == tensor->rank && (good = sk_succeeded(sk_device_lock(device)))) {
		good = sk_succeeded(sk_instance_fit(session->instance, index, npy.shape));
		sk_device_unlock(device);
	}
	sk_npy_close(&npy);
	return good;
}

/* Return the file of the input that has set the dimension. */
static const struct sk_assignment *setter_of(const struct sk_session *session, const struct sk_assignment *inputs,
					     uint32_t count, uint32_t dimension)
{
	uint32_t setter = session->instance->sizes->setters[dimension];

	for (uint32_t i = 0; i < count; i++)
		if (inputs[i].slot &&
		    session->network.first_tensor + (uint32_t)(inputs[i].slot - session->slots) == setter)
			return &inputs[i];
	return NULL;
}

/* Take the shape of an input; false with an error if it says another size than an earlier one. */
static bool take_next_shape(struct sk_session *session, const struct sk_assignment *inputs, uint32_t number)
{
	const struct sk_dims_view *dims = &session->module->dims;
	const struct sk_assignment *setters[SK_MAX_DIMENSIONS];
	uint64_t before[SK_MAX_DIMENSIONS];

	for (uint32_t i = 0; i < dims->dimension_count; i++) {
		before[i] = session->instance->sizes->sizes[i];
		setters[i] = setter_of(session, inputs, number, i);
	}
	if (!take_shape(session, &inputs[number]))
		return false;
	for (uint32_t i = 0; i < dims->dimension_count; i++) {
		uint64_t size = session->instance->sizes->sizes[i];

		if (!setters[i] || size == before[i])
			continue;
		sk_skrun_error("%s is %" PRIu64 " by the shape of input '%s' (%s), and %" PRIu64
			       " by that of input '%s' (%s)",
			       sk_plan_string(&dims->dimensions[i].name), before[i], setters[i]->slot->tensor.name,
			       setters[i]->path, size, inputs[number].slot->tensor.name, inputs[number].path);
		return false;
	}
	return true;
}

bool sk_session_take_shapes(struct sk_session *session, const struct sk_assignment *inputs, uint32_t count)
{
	const struct sk_dims_view *dims = &session->module->dims;
	uint64_t before[SK_MAX_DIMENSIONS];

	if (!dims->dims)
		return true;
	for (uint32_t i = 0; i < count; i++)
		if (inputs[i].slot && !take_next_shape(session, inputs, i))
			return false;
	for (uint32_t i = 0; i < dims->dimension_count; i++)
		session->shown[i] = session->instance->sizes->setters[i] != SK_NO_INDEX;
	memcpy(before, session->sizes, sizeof(before));
	memcpy(session->sizes, session->instance->sizes->sizes, dims->dimension_count * sizeof(*session->sizes));
	for (uint32_t i = 0; i < dims->dimension_count; i++)
		if (session->given[i] && before[i] != session->sizes[i]) {
			const struct sk_assignment *setter = setter_of(session, inputs, count, i);

			sk_skrun_error("--dim %s=%" PRIu64 ": by the shape of %s it is %" PRIu64,
				       sk_plan_string(&dims->dimensions[i].name), before[i],
				       setter ? setter->path : "an input file", session->sizes[i]);
			return false;
		}
	return sk_session_resize(session);
}

/* ---- output ---- */

void sk_session_sizes_text(const struct sk_session *session, char *text, size_t size)
{
	sk_dims_sizes_text(&session->module->dims, session->network.name, session->sizes, text, size);
}

void sk_session_print_sizes(const struct sk_session *session)
{
	char text[SK_DIMS_TEXT_SIZE];

	sk_session_sizes_text(session, text, sizeof(text));
	if (*text)
		sk_print_named("sizes ", text, "\n");
}

void sk_session_note_usual(const struct sk_session *session)
{
	const struct sk_dims_view *dims = &session->module->dims;

	for (uint32_t i = 0; i < dims->dimension_count; i++) {
		const struct sk_dims_dimension *dimension = &dims->dimensions[i];
		const char *name = sk_plan_string(&dimension->name);

		if (!session->given[i] && !session->shown[i] && dimension->least < dimension->most &&
		    !strcmp(sk_plan_string(&dimension->network), session->network.name))
			sk_skrun_note("no input file shows %s, and no --dim gives it: it is %" PRIu64
				      ", the usual size of %" PRIu64 "..%" PRIu64,
				      name, session->sizes[i], dimension->least, dimension->most);
	}
}

/* ---- --sizes ---- */

/* Return a size of the dimension: first all least sizes, then all most ones, then up to two other corners, then random
 * ones. */
static uint64_t sample_size(const struct sk_dims_view *dims, uint32_t index, uint64_t number, uint64_t seed)
{
	const struct sk_dims_dimension *dimension = &dims->dimensions[index];
	uint64_t steps = (dimension->most - dimension->least) / dimension->multiple + 1;
	uint64_t corner = number < 2 ? number : (number - 1) >> index % 2 & 1;
	uint64_t state = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15) + number * UINT64_C(0xbf58476d1ce4e5b9) + index;

	if (number < 2 || (number < 4 && dims->dimension_count > 1))
		return corner ? dimension->most : dimension->least;
	state = (state ^ state >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	state = (state ^ state >> 27) * UINT64_C(0x94d049bb133111eb);
	return dimension->least + (state ^ state >> 31) % steps * dimension->multiple;
}

/* Forget the copies of earlier sizes. */
static void free_copies(struct sk_session *session)
{
	for (uint32_t i = 0; i < session->slot_count; i++) {
		struct sk_slot *slot = &session->slots[i];

		free(slot->start);
		free(slot->reference);
		free(slot->kept);
		slot->start = slot->reference = NULL;
		slot->kept = NULL;
	}
}

bool sk_session_sample_sizes(struct sk_session *session, uint64_t number, uint64_t seed)
{
	const struct sk_dims_view *dims = &session->module->dims;

	for (uint32_t i = 0; i < dims->dimension_count; i++) {
		if (strcmp(sk_plan_string(&dims->dimensions[i].network), session->network.name))
			continue;
		if (!session->given[i])
			session->sizes[i] = sample_size(dims, i, number, seed);
	}
	sk_session_print_sizes(session);
	free_copies(session);
	return sk_session_resize(session);
}
