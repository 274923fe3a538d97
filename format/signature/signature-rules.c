/* The conditions on a whole signature that can be checked without a task. In: a parsed signature with names that are
 * not resolved yet. Out: the same, resolved, or errors. */
#include "format/signature/signature-parts.h"

#include "base/diag.h"
#include "base/map.h"
#include "format/signature/signature.h"
#include "format/skplan.h"

static void check_names(struct sk_signature_source *source, const struct sk_signature *signature)
{
	for (uint32_t i = 0; i < signature->parameter_count; i++) {
		const struct sk_parameter *parameter = &signature->parameters[i];

		if (sk_parameter_is_nameless(parameter))
			continue;
		if (sk_signature_find_parameter(signature, parameter->name) != i)
			sk_signature_error(source, source->parameter_at[i], "duplicate parameter '%s'",
					   parameter->name);

		uint32_t extent = sk_signature_find_extent(signature, parameter->name);

		if (extent == SK_NONE)
			continue;
		if (parameter->kind != SK_PARAMETER_SCALAR)
			sk_signature_error(source, source->parameter_at[i],
					   "'%s' is also an extent; only a scalar can have an extent's name",
					   parameter->name);
		else if (!parameter->value && (parameter->dtype == SK_F32 || parameter->dtype == SK_F64))
			sk_signature_error(source, source->parameter_at[i],
					   "'%s' gets its value from the extent of that name and must be an integer, "
					   "not %s",
					   parameter->name, sk_dtype_name(parameter->dtype));
	}
	if (signature->result && (sk_signature_find_parameter(signature, signature->result) != SK_NONE ||
				  sk_signature_find_extent(signature, signature->result) != SK_NONE))
		sk_signature_error(source, source->result_at, "the result's name '%s' is taken", signature->result);
}

/* True if the parameter may have an alias; for a table, any of its operands. */
static bool takes_alias(const struct sk_parameter *parameter)
{
	return parameter->operands || (parameter->kind == SK_PARAMETER_TENSOR && parameter->first_operand == SK_NONE);
}

static void resolve_aliases(struct sk_signature_source *source, struct sk_signature *signature)
{
	const char *names[SK_MAX_PARAMETERS];
	size_t count = 0;

	for (uint32_t i = 0; i < signature->parameter_count; i++)
		if (takes_alias(&signature->parameters[i]))
			names[count++] = signature->parameters[i].name;
	for (uint32_t i = 0; i < signature->parameter_count; i++) {
		if (!source->alias_name[i])
			continue;

		uint32_t other = sk_signature_find_parameter(signature, source->alias_name[i]);

		if (other == i)
			sk_signature_error(source, source->alias_at[i], "'%s' cannot be an alias of itself",
					   source->alias_name[i]);
		else if (other == SK_NONE)
			sk_signature_error(source, source->alias_at[i], "no parameter '%s'%s", source->alias_name[i],
					   sk_did_you_mean(source->arena, source->alias_name[i], names, count));
		else if (!takes_alias(&signature->parameters[other]))
			sk_signature_error(source, source->alias_at[i], "'%s' is not a tensor", source->alias_name[i]);
		else
			signature->parameters[i].alias_of = other + (signature->parameters[other].operands != 0);
	}
}

/* Operands are given in order, so the start of the next parameter must be known. */
static void check_open_table(struct sk_signature_source *source, const struct sk_signature *signature)
{
	uint32_t table = signature->open_table;

	for (uint32_t i = table == SK_NONE ? signature->parameter_count : table; i < signature->parameter_count; i++)
		if (signature->parameters[i].access & SK_ACCESS_READ && signature->parameters[i].owner != table)
			sk_signature_error(source, source->parameter_at[i],
					   "'%s' is read, but comes after '%s', which takes all inputs that are left",
					   signature->parameters[i].name, signature->parameters[table].name);
}

/* ---- binding ---- */

/* Return the index of the only unbound factor of the sum; SK_NONE if there are none or several. */
static uint32_t only_unbound(const struct sk_extent *extent, const bool *bound)
{
	uint32_t only = SK_NONE;

	for (; extent; extent = extent->more)
		for (uint32_t i = 0; i < extent->name_count; i++) {
			if (bound[extent->names[i]])
				continue;
			if (only != SK_NONE)
				return SK_NONE;
			only = extent->names[i];
		}
	return only;
}

/* A tensor that may be absent binds nothing. */
static bool binds(const struct sk_parameter *parameter)
{
	return parameter->kind == SK_PARAMETER_TENSOR && !parameter->optional;
}

static const char *unbound_reason(const struct sk_signature *signature, uint32_t extent)
{
	for (uint32_t i = 0; i < signature->parameter_count; i++) {
		const struct sk_parameter *parameter = &signature->parameters[i];

		if (binds(parameter) && (parameter->stride == extent || sk_parameter_has_extent(parameter, extent)))
			return "it stands only in products with other unknown extents";
	}
	return "it stands only in tensors that may be absent";
}

/* A dimension binds the one factor of its product that is still open. The signature alone therefore determines whether
 * all extents can be bound. */
static void check_binding(struct sk_signature_source *source, const struct sk_signature *signature)
{
	bool bound[SK_MAX_PARAMETERS] = {false};

	for (uint32_t i = 0; i < signature->parameter_count; i++)
		if (binds(&signature->parameters[i]) && signature->parameters[i].stride != SK_NONE)
			bound[signature->parameters[i].stride] = true;
	for (bool progress = true; progress;) {
		progress = false;
		for (uint32_t i = 0; i < signature->parameter_count; i++) {
			const struct sk_parameter *parameter = &signature->parameters[i];

			for (uint32_t d = 0; binds(parameter) && d < parameter->rank; d++) {
				uint32_t extent = only_unbound(&parameter->extents[d], bound);

				if (extent != SK_NONE)
					progress = bound[extent] = true;
			}
		}
	}
	for (uint32_t i = 0; i < signature->extent_count; i++)
		if (!bound[i])
			sk_signature_error(source, source->extent_at[i], "nothing can bind extent '%s': %s",
					   signature->extents[i], unbound_reason(signature, i));
}

/* ---- spread ---- */

static uint32_t count_extent(const struct sk_parameter *parameter, uint32_t extent)
{
	uint32_t times = 0;

	for (uint32_t d = 0; d < parameter->rank; d++)
		for (const struct sk_extent *part = &parameter->extents[d]; part; part = part->more)
			for (uint32_t i = 0; i < part->name_count; i++)
				times += part->names[i] == extent;
	return times;
}

/* True for a dimension that is not only a distance between rows. */
static bool is_dimension(const struct sk_signature *signature, uint32_t extent)
{
	for (uint32_t i = 0; i < signature->parameter_count; i++)
		if (count_extent(&signature->parameters[i], extent))
			return true;
	return false;
}

static uint32_t find_divided(struct sk_signature_source *source, const struct sk_signature *signature, const char *name,
			     const char *at)
{
	uint32_t extent = sk_signature_find_extent(signature, name);

	if (extent != SK_NONE && !is_dimension(signature, extent))
		sk_signature_error(source, at, "'%s' is the distance between rows, not a dimension that can be divided",
				   name);
	else if (extent == SK_NONE)
		sk_signature_error(source, at, "nothing can bind extent '%s': no tensor has it%s", name,
				   sk_did_you_mean(source->arena, name, signature->extents, signature->extent_count));
	return extent;
}

static void resolve_spread(struct sk_signature_source *source, struct sk_signature *signature)
{
	if (source->spread_name)
		signature->spread_extent = find_divided(source, signature, source->spread_name, source->spread_at);
	if (signature->loop_count)
		signature->loops[0].extent = signature->spread_extent;
	if (signature->loop_count == SK_MAX_LOOPS)
		signature->loops[1].extent = find_divided(source, signature, source->loop_name[1], source->loop_at[1]);
}

/* A call may write only inside its range, so written tensors must be divided. */
static void check_written(struct sk_signature_source *source, const struct sk_signature *signature, uint32_t extent,
			  const char *attribute)
{
	for (uint32_t i = 0; i < signature->parameter_count; i++) {
		const struct sk_parameter *parameter = &signature->parameters[i];

		if (parameter->kind != SK_PARAMETER_TENSOR || !(parameter->access & SK_ACCESS_WRITE))
			continue;
		if (!sk_parameter_has_extent(parameter, extent))
			sk_signature_error(source, source->parameter_at[i],
					   "'%s' is written, but has no extent '%s' that %s= could divide",
					   parameter->name, signature->extents[extent], attribute);
		else if (signature->spread != SK_STEP_SPLIT &&
			 !sk_parameter_is_divided_by(parameter, extent)) /* of split: see check_ranges */
			sk_signature_error(source, source->parameter_at[i],
					   "'%s' is written, so '%s' must be its outermost factor, for blocks= to "
					   "divide it",
					   parameter->name, signature->extents[extent]);
	}
}

/* True if an expression of that kind refers to the extent. */
static bool is_told(const struct sk_signature_source *source, enum sk_value_kind kind, uint32_t extent)
{
	for (size_t i = 0; i < source->open.count; i++)
		if (source->open.items[i].expression->kind == kind && source->open.items[i].expression->index == extent)
			return true;
	return false;
}

/* A range must be passed: its start by pointers, and its length by the scalar, or its start and end by expressions. */
static void check_length(struct sk_signature_source *source, const struct sk_signature *signature, uint32_t extent,
			 const char *at)
{
	const char *name = signature->extents[extent];
	uint32_t scalar = sk_signature_find_parameter(signature, name);

	if ((scalar == SK_NONE || signature->parameters[scalar].value) && !is_told(source, SK_VALUE_SIZE, extent) &&
	    !(is_told(source, SK_VALUE_BEGIN, extent) && is_told(source, SK_VALUE_END, extent)))
		sk_signature_error(source, at,
				   "nothing tells the function how long its range of '%s' is: '%s=%s' needs a scalar "
				   "parameter '%s', such as '%s i64', or an expression with size(%s)",
				   name, signature->loop_count ? "tile" : "split", name, name, name, name);
}

/* A range of the split extent must be one contiguous part of every tensor with that extent. */
static void check_ranges(struct sk_signature_source *source, struct sk_signature *signature)
{
	uint32_t extent = signature->spread_extent;

	signature->elementwise = true;
	for (uint32_t i = 0; i < signature->parameter_count; i++) {
		const struct sk_parameter *parameter = &signature->parameters[i];

		if (parameter->kind != SK_PARAMETER_TENSOR || !sk_parameter_has_extent(parameter, extent))
			continue;
		if (!sk_parameter_is_divided_by(parameter, extent) || count_extent(parameter, extent) > 1)
			sk_signature_error(source, source->parameter_at[i],
					   "the %s extent '%s' must be the outermost factor of '%s' and stand there "
					   "only once",
					   signature->loop_count ? "first loop's" : "split", signature->extents[extent],
					   parameter->name);
		if (parameter->rank > 1 || parameter->extents[0].name_count > 1 || parameter->extents[0].constant > 1)
			signature->elementwise = false;
	}
}

/* Bytes that are read around a part belong to other parts, so they must not be written. */
static void check_around(struct sk_signature_source *source, const struct sk_signature *signature)
{
	for (uint32_t i = 0; i < signature->parameter_count; i++) {
		const struct sk_parameter *parameter = &signature->parameters[i];
		bool halo = signature->spread_extent != SK_NONE && parameter->rank && parameter->extents[0].more &&
			    sk_parameter_is_divided_by(parameter, signature->spread_extent);

		if (parameter->over_read && parameter->access != SK_ACCESS_READ)
			sk_signature_error(
				source, source->parameter_at[i],
				"'%s' is written: only tensors that are only read ('in') can have '+' bytes after them",
				parameter->name);
		if (halo && parameter->access != SK_ACCESS_READ)
			sk_signature_error(source, source->parameter_at[i],
					   "'%s' is written and has a halo: the call with the next range writes the "
					   "elements after a range of '%s', so its extent is a product",
					   parameter->name, signature->extents[signature->spread_extent]);
	}
}

/* The parts of the inner loop may have gaps, but equal ones. */
static void check_inner_ranges(struct sk_signature_source *source, const struct sk_signature *signature)
{
	uint32_t extent = signature->loops[1].extent;

	for (uint32_t i = 0; i < signature->parameter_count; i++) {
		const struct sk_parameter *parameter = &signature->parameters[i];

		if (sk_parameter_has_extent(parameter, extent) &&
		    (sk_parameter_dimension_of(parameter, extent) == SK_NONE || count_extent(parameter, extent) > 1))
			sk_signature_error(source, source->parameter_at[i],
					   "the second loop's extent '%s' must be the first factor of a dimension of "
					   "'%s' and stand there only once",
					   signature->extents[extent], parameter->name);
	}
}

static void check_loops(struct sk_signature_source *source, const struct sk_signature *signature)
{
	for (uint32_t i = 0; i < signature->loop_count; i++)
		if (signature->loops[i].extent != SK_NONE && signature->loops[i].tile > 1)
			check_length(source, signature, signature->loops[i].extent, source->loop_at[i]);
	if (signature->loop_count < SK_MAX_LOOPS || signature->loops[1].extent == SK_NONE)
		return;
	check_written(source, signature, signature->loops[1].extent, signature->loops[1].tile > 1 ? "tile" : "each");
	check_inner_ranges(source, signature);
}

static void check_spread(struct sk_signature_source *source, struct sk_signature *signature)
{
	if (signature->spread_extent == SK_NONE)
		return;
	check_written(source, signature, signature->spread_extent, source->spread_attribute);
	if (signature->spread != SK_STEP_SPLIT)
		return;
	check_ranges(source, signature);
	if (signature->loop_count)
		check_loops(source, signature);
	else
		check_length(source, signature, signature->spread_extent, source->spread_at);
}

/* Addresses are aligned as they are passed. */
static void check_displacements(struct sk_signature_source *source, const struct sk_signature *signature)
{
	for (uint32_t i = 0; i < signature->parameter_count; i++) {
		const struct sk_parameter *parameter = &signature->parameters[i];
		int32_t align = (int32_t)signature->align;

		if (align && parameter->displacement % align)
			sk_signature_error(source, source->parameter_at[i],
					   "'%s' must be aligned to %d bytes, but its address is displaced by %d",
					   parameter->name, align, parameter->displacement);
	}
}

/* A tensor that is passed whole is still divided, and the function must learn the start of its part. */
static void check_whole(struct sk_signature_source *source, const struct sk_signature *signature)
{
	for (uint32_t i = 0; i < signature->parameter_count; i++) {
		const struct sk_parameter *parameter = &signature->parameters[i];
		bool divided = false;

		if (!parameter->whole)
			continue;
		for (uint32_t e = 0; e < signature->extent_count; e++) {
			if (!sk_signature_divides(signature, e) || !sk_parameter_has_extent(parameter, e))
				continue;
			divided = true;
			if (!is_told(source, SK_VALUE_BEGIN, e) && !is_told(source, SK_VALUE_END, e))
				sk_signature_error(source, source->parameter_at[i],
						   "'%s' is passed whole, and nothing tells the function where its "
						   "part of '%s' begins: it needs an expression with begin(%s)",
						   parameter->name, signature->extents[e], signature->extents[e]);
		}
		if (!divided || signature->spread != SK_STEP_SPLIT)
			sk_signature_error(source, source->parameter_at[i], "'%s' is passed whole anyway",
					   parameter->name);
	}
}

/* Return the attribute by which the blocks of a kernel cooperate; NULL: none. */
static const char *cooperation(const struct sk_signature *signature)
{
	return signature->lane == SK_LANE_MIX		       ? "mix"
	       : signature->sync_all			       ? "sync-all"
	       : signature->early_wait || signature->early_set ? "early-start"
							       : NULL;
}

/* A kernel with blocks that wait for one another has blocks, even without an attribute that says so. */
static void resolve_cooperation(struct sk_signature_source *source, struct sk_signature *signature)
{
	const char *attribute = cooperation(signature);

	if (attribute && signature->spread == SK_STEP_SPLIT)
		sk_signature_error(source, source->spread_at, "'%s' and '%s' exclude each other",
				   source->spread_attribute, attribute);
	if (signature->lane == SK_LANE_MIX && (signature->spread == SK_STEP_BLOCKS_RANGE || signature->grid_rank))
		sk_signature_error(source, source->spread_at,
				   "a 'mix' kernel cannot have '%s', since its sides may have different "
				   "numbers of blocks; write 'blocks'",
				   signature->grid_rank ? "grid" : "blocks=NAME");
	if (source->sides_at && signature->lane != SK_LANE_MIX)
		sk_signature_error(source, source->sides_at, "'aic' and 'aiv' name the sides of a 'mix' kernel");
	if ((signature->lane == SK_LANE_MIX || signature->sync_all) && signature->spread == SK_STEP_PLAIN)
		signature->spread = SK_STEP_BLOCKS;
}

static void check_block(struct sk_signature_source *source, const struct sk_signature *signature)
{
	uint32_t block = SK_NONE;
	const char *attribute = cooperation(signature);
	const char *several = sk_signature_has_blocks(signature) ? source->spread_attribute : NULL;
	const char *needs = attribute ? attribute : several;
	bool told = !attribute && is_told(source, SK_VALUE_BLOCK_INDEX, 0);

	for (uint32_t i = 0; i < signature->parameter_count; i++) {
		if (signature->parameters[i].kind != SK_PARAMETER_BLOCK)
			continue;
		if (block != SK_NONE)
			sk_signature_error(source, source->parameter_at[i], "duplicate parameter 'block'");
		block = i;
	}
	if (needs && block == SK_NONE && !told)
		sk_signature_error(source, source->text, "'%s' needs the parameter 'block'%s", needs,
				   attribute ? "" : " or an expression with block.index");
	if (block != SK_NONE && !needs)
		sk_signature_error(source, source->parameter_at[block],
				   "the parameter 'block' needs the attribute 'blocks', 'blocks=NAME' or 'grid=…'");
}

bool sk_signature_check_rules(struct sk_signature_source *source, struct sk_signature *signature)
{
	check_names(source, signature);
	resolve_aliases(source, signature);
	check_open_table(source, signature);
	check_binding(source, signature);
	resolve_spread(source, signature);
	resolve_cooperation(source, signature);
	sk_signature_resolve_expressions(source, signature);
	check_spread(source, signature);
	check_around(source, signature);
	check_displacements(source, signature);
	check_whole(source, signature);
	check_block(source, signature);
	if (signature->result && signature->spread != SK_STEP_PLAIN)
		sk_signature_error(source, source->result_at,
				   "a result is returned once, but a kernel with '%s' is called many times",
				   source->spread_attribute ? source->spread_attribute : cooperation(signature));
	return !source->failed;
}
