/* How calls pass arguments: which of a step's are passed at all, in which kind of register each wants to be, and where
 * that leaves it. What a machine has for it is a const table, which those who make dispatchers and those who make
 * checked calls both read. */
#ifndef SK_CONVENTION_H
#define SK_CONVENTION_H

#include <stdbool.h>
#include <stdint.h>

#include "stubs/skplan.h"

/* A register that a function leaves as it was. */
struct sk_preserved_register {
	uint8_t number; /* the machine's */
	uint8_t dwarf;
};

struct sk_convention {
	const uint8_t *integers, *vectors; /* registers for arguments in their order, by the machine's numbers */
	const struct sk_preserved_register *preserved; /* in the order in which they are saved */
	uint8_t integer_count, vector_count, preserved_count;
	uint8_t slot_size; /* bytes of each further argument on the stack */
	uint8_t stack_alignment; /* of the stack pointer at a call */
};

enum sk_place_kind { SK_IN_INTEGER_REGISTER, SK_IN_VECTOR_REGISTER, SK_ON_STACK };

struct sk_argument_place {
	enum sk_place_kind kind;
	uint32_t index; /* among the convention's registers of the kind */
	uint32_t offset; /* on the stack: bytes from the stack pointer at the call */
};

/* What a call's arguments so far have taken. */
struct sk_places_taken {
	uint32_t integers, vectors, stack;
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

/* All others are addresses. */
static inline bool sk_argument_is_scalar(const struct sk_plan_argument *argument)
{
	return argument->kind == SK_ARGUMENT_VALUE || argument->kind == SK_ARGUMENT_LENGTH ||
	       argument->kind == SK_ARGUMENT_LOAD || argument->kind == SK_ARGUMENT_EXPRESSION;
}

/* A scalar's bits as a register holds them: integers extended to 32 bits as their type says. */
static inline uint64_t sk_scalar_bits(uint64_t value, uint8_t dtype)
{
	switch (dtype) {
	case SK_I8:
		return (uint32_t)(int8_t)value;
	case SK_I16:
		return (uint32_t)(int16_t)value;
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

/* Where the next argument that is passed goes. */
static inline struct sk_argument_place sk_convention_next(const struct sk_convention *convention,
							  struct sk_places_taken *taken,
							  const struct sk_plan_argument *argument)
{
	bool vector = sk_argument_is_scalar(argument) && sk_dtype_is_float(argument->dtype) &&
		      !(argument->flags & SK_ARGUMENT_BY_REFERENCE);

	bool on_stack = argument->flags & SK_ARGUMENT_ON_STACK;

	if (!on_stack && vector && taken->vectors < convention->vector_count)
		return (struct sk_argument_place){SK_IN_VECTOR_REGISTER, .index = taken->vectors++};
	if (!on_stack && !vector && taken->integers < convention->integer_count)
		return (struct sk_argument_place){SK_IN_INTEGER_REGISTER, .index = taken->integers++};
	taken->stack += convention->slot_size;
	return (struct sk_argument_place){SK_ON_STACK, .offset = taken->stack - convention->slot_size};
}

#endif
