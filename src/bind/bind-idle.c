/* Calls that have nothing to compute because their results have no elements. The input is a binder with tensors and
 * extents. The output is whether the call is one, and then its arguments. All other calls get extents that can be
 * divided. */
#include <string.h>

#include "base/map.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "src/bind/bind-parts.h"
#include "src/model/model.h"

/* Return true if the call has results, and none of them has elements. */
static bool writes_nothing(const struct sk_binder *binder)
{
	const struct sk_signature *signature = binder->signature;
	bool writes = false;

	for (uint32_t p = 0; p < signature->parameter_count; p++) {
		if (!binder->tensors[p] || !(signature->parameters[p].access & SK_ACCESS_WRITE))
			continue;
		writes = true;
		if (binder->tensors[p]->elements)
			return false;
	}
	return writes && !signature->result;
}

static bool is_nothing(const struct sk_binder *binder, uint32_t extent)
{
	return binder->extents[extent] == 0 || binder->extents[extent] == SK_EXTENT_OPEN;
}

/* Return true if an extent that cores or loops divide is 0, so that no part is left to call the kernel for. All
 * results have these extents (signature-rules.c). */
static bool has_no_part(const struct sk_binder *binder)
{
	const struct sk_signature *signature = binder->signature;
	bool none = signature->spread_extent != SK_NONE && is_nothing(binder, signature->spread_extent);

	for (uint32_t i = 0; i < signature->loop_count; i++)
		none |= is_nothing(binder, signature->loops[i].extent);
	return none;
}

static bool has_tensor_of(const struct sk_binder *binder, uint32_t extent)
{
	for (uint32_t p = 0; p < binder->signature->parameter_count; p++)
		if (binder->tensors[p] && sk_parameter_has_extent(&binder->signature->parameters[p], extent))
			return true;
	return false;
}

/* Close the open extents. They are multiplied by 0, so any value will do, or belong to absent tensors. */
static void close_extents(struct sk_binder *binder)
{
	const struct sk_signature *signature = binder->signature;

	for (uint32_t e = 0; e < signature->extent_count; e++) {
		if (binder->extents[e] != SK_EXTENT_OPEN)
			continue;
		binder->extents[e] = 0;
		if (!binder->idle && has_tensor_of(binder, e))
			sk_binder_error(binder, binder->request->place,
					"nothing determines extent '%s': the tensors with it have no elements",
					signature->extents[e]);
	}
}

void sk_binder_find_idle(struct sk_binder *binder)
{
	/* A kernel with hidden state is called, since its effect on the state remains. */
	binder->idle = has_no_part(binder) || (writes_nothing(binder) && !binder->stateful);
	close_extents(binder);
}

static const struct sk_set *find_set(const struct sk_binder *binder, const char *name)
{
	for (size_t i = 0; i < binder->request->set_count; i++)
		if (!strcmp(binder->request->set[i].name, name))
			return &binder->request->set[i];
	return NULL;
}

void sk_binder_bind_idle(struct sk_binder *binder)
{
	const struct sk_signature *signature = binder->signature;

	for (uint32_t p = 0; p < signature->parameter_count; p++) {
		const struct sk_parameter *parameter = &signature->parameters[p];
		const struct sk_set *set = find_set(binder, parameter->name);
		struct sk_argument argument = {
			.kind = SK_ARGUMENT_POINTER, .dtype = parameter->dtype, .tensor = SK_NONE};

		if (binder->tensors[p]) {
			argument.access = parameter->access;
			sk_binder_bind_memory(binder, p, &argument);
		} else if (parameter->kind == SK_PARAMETER_SCALAR && set && set->kind == SK_SET_TENSOR) {
			sk_binder_bind_element(binder, parameter, set, &argument);
		}
		if (argument.tensor != SK_NONE)
			binder->arguments[binder->argument_count++] = argument;
	}
}
