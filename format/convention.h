/* Calling conventions: the arguments of a step that a call passes, and the register or stack slot of each. A const
 * table describes a machine's convention. Dispatchers and the checks of calls read the same table. */
#ifndef SK_CONVENTION_H
#define SK_CONVENTION_H

#include <stdbool.h>
#include <stdint.h>

#include "format/skplan.h"

/* A register that a function preserves. */
struct sk_preserved_register {
	uint8_t number; /* the machine's number */
	uint8_t dwarf;
};

struct sk_convention {
	const uint8_t *integers, *vectors; /* argument registers in order, by the machine's numbers */
	const struct sk_preserved_register *preserved; /* in the order in which they are saved */
	uint8_t integer_count, vector_count, preserved_count;
	uint8_t struct_parts; /* of the largest struct passed by value in registers; larger ones are on the stack */
	uint8_t slot_size; /* bytes of each argument on the stack */
	uint8_t stack_alignment; /* of the stack pointer at a call */
};

enum sk_place_kind { SK_IN_INTEGER_REGISTER, SK_IN_VECTOR_REGISTER, SK_ON_STACK };

struct sk_argument_place {
	enum sk_place_kind kind;
	uint32_t index; /* among the convention's registers of the kind */
	uint32_t offset; /* on the stack: bytes from the stack pointer at the call */
};

/* The registers and stack slots taken by the arguments so far. */
struct sk_places_taken {
	uint32_t integers, vectors, stack;
	bool in_memory; /* all parts of the current struct are on the stack */
};

static inline bool sk_dtype_is_float(enum sk_dtype dtype)
{
	return dtype == SK_F16 || dtype == SK_BF16 || dtype == SK_F32 || dtype == SK_F64;
}

static inline bool sk_dtype_is_signed(enum sk_dtype dtype)
{
	return dtype == SK_I8 || dtype == SK_I16 || dtype == SK_I32 || dtype == SK_I64;
}

static inline bool sk_argument_is_passed(const struct sk_plan_argument *argument)
{
	return argument->kind != SK_ARGUMENT_RESULT && argument->kind != SK_ARGUMENT_STATE &&
	       !(argument->flags & SK_ARGUMENT_FIELD);
}

/* Return the parts of an argument. A struct by value is passed in parts of 8 bytes, the last one perhaps shorter; any
 * other argument in one. */
static inline uint32_t sk_argument_parts(const struct sk_plan_argument *argument)
{
	return argument->flags & SK_ARGUMENT_BY_VALUE ? (uint32_t)((argument->size + 7) / 8) : 1;
}

/* True for scalars; all others are addresses, or structs by value. */
static inline bool sk_argument_is_scalar(const struct sk_plan_argument *argument)
{
	return argument->kind == SK_ARGUMENT_VALUE || argument->kind == SK_ARGUMENT_LENGTH ||
	       argument->kind == SK_ARGUMENT_LOAD || argument->kind == SK_ARGUMENT_EXPRESSION;
}

/* Return a scalar's bits in a register: integers are extended to 32 bits according to their type. */
static inline uint64_t sk_scalar_bits(uint64_t value, uint8_t dtype)
{
	switch (dtype) {
	case SK_I8:
		return (uint64_t)(uint32_t)(int8_t)value;
	case SK_I16:
		return (uint64_t)(uint32_t)(int16_t)value;
	case SK_U8:
	case SK_BOOL:
		return (uint8_t)value;
	case SK_U16:
	case SK_F16:
	case SK_BF16:
		return (uint16_t)value;
	case SK_I64:
	case SK_U64:
	case SK_F64:
		return value;
	default:
		return (uint32_t)value;
	}
}

static inline bool sk_argument_part_is_float(const struct sk_plan_argument *argument, uint32_t part)
{
	if (argument->flags & SK_ARGUMENT_BY_VALUE)
		return part < 64 && argument->value >> part & 1;
	return sk_argument_is_scalar(argument) && sk_dtype_is_float(argument->dtype) &&
	       !(argument->flags & SK_ARGUMENT_BY_REFERENCE);
}

/* True if registers remain for all parts of a struct by value; otherwise none of its parts is in a register. */
static inline bool sk_convention_has_room(const struct sk_convention *convention, const struct sk_places_taken *taken,
					  const struct sk_plan_argument *argument)
{
	uint32_t parts = sk_argument_parts(argument), vectors = 0;

	if (parts > convention->struct_parts)
		return false;
	for (uint32_t part = 0; part < parts; part++)
		vectors += sk_argument_part_is_float(argument, part);
	return taken->vectors + vectors <= convention->vector_count &&
	       taken->integers + parts - vectors <= convention->integer_count;
}

/* Return the place of the next part of a passed argument. The parts of an argument come in order. */
static inline struct sk_argument_place sk_convention_next(const struct sk_convention *convention,
							  struct sk_places_taken *taken,
							  const struct sk_plan_argument *argument, uint32_t part)
{
	if (part == 0)
		taken->in_memory = !sk_convention_has_room(convention, taken, argument);
	if (taken->in_memory) {
		taken->stack += convention->slot_size;
		return (struct sk_argument_place){SK_ON_STACK, .offset = taken->stack - convention->slot_size};
	}
	if (sk_argument_part_is_float(argument, part))
		return (struct sk_argument_place){SK_IN_VECTOR_REGISTER, .index = taken->vectors++};
	return (struct sk_argument_place){SK_IN_INTEGER_REGISTER, .index = taken->integers++};
}

#endif
