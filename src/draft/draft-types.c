/* Types of parameters; see draft-parts.h. Input: debug information, which may be damaged. Output: what signatures can
 * say about a parameter. */
#include "src/draft/draft-parts.h"

#include <dwarf.h>
#include <string.h>

#include "base/arena.h"
#include "format/skplan.h"

enum { LONGEST_CHAIN = 32 }; /* of typedefs and qualifiers: damaged ones can lead to themselves */

/* Find the type of something, without typedefs and qualifiers. False: it has none (void). */
static bool find_type(Dwarf_Die *die, Dwarf_Die *type, bool *constant)
{
	*type = *die;
	for (int i = 0; i < LONGEST_CHAIN; i++) {
		Dwarf_Attribute attribute;

		if (!dwarf_formref_die(dwarf_attr_integrate(type, DW_AT_type, &attribute), type))
			return false;
		switch (dwarf_tag(type)) {
		case DW_TAG_const_type:
			*constant = true;
			break;
		case DW_TAG_typedef:
		case DW_TAG_volatile_type:
		case DW_TAG_restrict_type:
		case DW_TAG_atomic_type:
			break;
		default: /* Zig has a type of no bytes, "void" */
			return dwarf_tag(type) != DW_TAG_base_type || dwarf_bytesize(type) != 0;
		}
	}
	return false;
}

static uint64_t number_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word number = 0;

	return dwarf_formudata(dwarf_attr_integrate(die, name, &attribute), &number) == 0 ? number : 0;
}

/* Return the equivalent of a scalar type. */
static enum sk_dtype dtype_of(Dwarf_Die *type)
{
	static const enum sk_dtype integers[][2] = {
		[1] = {SK_U8, SK_I8}, [2] = {SK_U16, SK_I16}, [4] = {SK_U32, SK_I32}, [8] = {SK_U64, SK_I64}};
	int tag = dwarf_tag(type), bytes = dwarf_bytesize(type);
	const char *name = dwarf_diename(type);

	if ((tag != DW_TAG_base_type && tag != DW_TAG_enumeration_type) ||
	    (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8))
		return SK_DTYPE_NONE;
	switch (tag == DW_TAG_base_type ? number_of(type, DW_AT_encoding) : DW_ATE_signed) {
	case DW_ATE_float:
		if (bytes == 2)
			return name && strstr(name, "bf") ? SK_BF16 : SK_F16;
		return bytes == 4 ? SK_F32 : bytes == 8 ? SK_F64 : SK_DTYPE_NONE;
	case DW_ATE_signed:
	case DW_ATE_signed_char:
		return integers[bytes][1];
	case DW_ATE_boolean: /* also Fortran's logical of any size */
	case DW_ATE_unsigned:
	case DW_ATE_unsigned_char:
		return integers[bytes][0];
	default:
		return SK_DTYPE_NONE;
	}
}

static void set_elements(struct sk_draft_parameter *parameter, Dwarf_Die *type)
{
	parameter->dtype = dtype_of(type);
	parameter->tensor = parameter->dtype != SK_DTYPE_NONE;
}

/* Return the extent of a dimension of an array; 0: it is not a constant. Counts from 0 in C, and from 1 in Fortran. */
static uint64_t extent_of(Dwarf_Die *range, bool fortran)
{
	Dwarf_Attribute attribute;
	Dwarf_Sword lower = fortran, upper;

	if (dwarf_hasattr(range, DW_AT_count))
		return number_of(range, DW_AT_count);
	if (dwarf_hasattr(range, DW_AT_lower_bound) &&
	    dwarf_formsdata(dwarf_attr(range, DW_AT_lower_bound, &attribute), &lower) != 0)
		return 0;
	if (dwarf_formsdata(dwarf_attr(range, DW_AT_upper_bound, &attribute), &upper) != 0 || upper < lower)
		return 0;
	return (uint64_t)upper - (uint64_t)lower + 1;
}

static bool is_fortran(Dwarf_Die *die)
{
	Dwarf_Die unit;

	switch (dwarf_diecu(die, &unit, NULL, NULL) ? dwarf_srclang(&unit) : 0) {
	case DW_LANG_Fortran77:
	case DW_LANG_Fortran90:
	case DW_LANG_Fortran95:
	case DW_LANG_Fortran03:
	case DW_LANG_Fortran08:
		return true;
	default:
		return false;
	}
}

/* Append the dimensions of an array. The first one of Fortran is the last one of signatures. */
static void describe_array(Dwarf_Die *array, struct sk_draft_parameter *parameter)
{
	bool fortran = is_fortran(array);
	uint64_t extents[SK_MAX_RANK];
	uint32_t rank = 0;
	Dwarf_Die range, element;

	parameter->descriptor = dwarf_hasattr(array, DW_AT_data_location);
	for (int more = dwarf_child(array, &range); more == 0; more = dwarf_siblingof(&range, &range)) {
		if (dwarf_tag(&range) != DW_TAG_subrange_type)
			continue;
		if (rank + parameter->rank == SK_MAX_RANK)
			return;
		extents[rank++] = extent_of(&range, fortran);
	}
	for (uint32_t i = 0; i < rank; i++)
		parameter->extents[parameter->rank++] = extents[fortran ? rank - 1 - i : i];
	if (rank && find_type(array, &element, &parameter->constant))
		set_elements(parameter, &element);
}

/* Rust does not mark targets as constant: it names the pointers "*const f32", "&f32", "&mut f32". */
static bool is_constant_of_rust(Dwarf_Die *pointer)
{
	const char *name = dwarf_diename(pointer);

	return name && (!strncmp(name, "*const ", 7) || (*name == '&' && strncmp(name, "&mut ", 5) != 0));
}

static void describe_pointer(Dwarf_Die *pointer, struct sk_draft_parameter *parameter)
{
	Dwarf_Die target;

	parameter->constant = is_constant_of_rust(pointer);
	if (!find_type(pointer, &target, &parameter->constant)) {
		parameter->type = "void *";
		return;
	}
	if (parameter->constant && dwarf_tag(pointer) == DW_TAG_reference_type &&
	    dwarf_tag(&target) != DW_TAG_array_type) {
		parameter->by_reference = true;
		parameter->dtype = dtype_of(&target);
		return;
	}
	parameter->extents[parameter->rank++] = 0;
	if (dwarf_tag(&target) == DW_TAG_array_type)
		describe_array(&target, parameter);
	else
		set_elements(parameter, &target);
}

/* "&[f32]" and "&mut [f32]" are structs: the address and the length. */
static bool describe_slice(Dwarf_Die *type, struct sk_draft_parameter *parameter)
{
	const char *name = dwarf_diename(type);
	Dwarf_Die member, pointer;

	if (!name || (strncmp(name, "&[", 2) != 0 && strncmp(name, "&mut [", 6) != 0))
		return false;
	for (int more = dwarf_child(type, &member); more == 0; more = dwarf_siblingof(&member, &member)) {
		if (dwarf_tag(&member) != DW_TAG_member || !find_type(&member, &pointer, &parameter->constant) ||
		    dwarf_tag(&pointer) != DW_TAG_pointer_type)
			continue;
		describe_pointer(&pointer, parameter);
		parameter->constant = name[1] == '[';
		return parameter->slice = parameter->tensor && parameter->rank == 1;
	}
	return false;
}

/* True if a scalar of Fortran is in a register or on the stack when the function starts, rather than its address. */
static bool is_passed_by_value(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Addr base, start, end;
	Dwarf_Op *operations;
	size_t count;

	if (!dwarf_attr_integrate(die, DW_AT_location, &attribute) ||
	    dwarf_getlocations(&attribute, 0, &base, &start, &end, &operations, &count) <= 0)
		return false;
	return count == 1 && ((operations->atom >= DW_OP_reg0 && operations->atom <= DW_OP_reg31) ||
			      operations->atom == DW_OP_regx || operations->atom == DW_OP_fbreg);
}

static const char *words_for(struct sk_arena *arena, Dwarf_Die *type)
{
	const char *name = dwarf_diename(type);

	switch (dwarf_tag(type)) {
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
		return "a pointer to something else than elements";
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		return sk_arena_print(arena, "a struct%s%s", name ? " " : "", name ? sk_arena_escape(arena, name) : "");
	default:
		return name ? sk_arena_escape(arena, name) : "a type that signatures do not have";
	}
}

void sk_draft_describe(struct sk_arena *arena, Dwarf_Die *die, struct sk_draft_parameter *parameter)
{
	bool constant = false;
	Dwarf_Die type;

	if (!find_type(die, &type, &constant))
		return;
	switch (dwarf_tag(&type)) {
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
		describe_pointer(&type, parameter);
		break;
	case DW_TAG_array_type:
		describe_array(&type, parameter);
		break;
	case DW_TAG_structure_type:
		describe_slice(&type, parameter);
		break;
	default:
		parameter->dtype = dtype_of(&type);
		parameter->by_reference =
			dwarf_tag(die) == DW_TAG_formal_parameter && is_fortran(die) && !is_passed_by_value(die);
	}
	if (parameter->dtype == SK_DTYPE_NONE && !parameter->type)
		parameter->type = words_for(arena, &type);
}
