/* One call of a kernel on x86-64: where its arguments lie and how they get there. In: a call and its arguments from the
 * plan. Out: the instructions that place them, the call, the store of a returned value.
 *
 * Where arguments go is what stubs/x86_64/registers.h says. Scratch registers: rax, and before an argument's turn its
 * own register. What stands on the stack or in float registers goes first, while rdi is still free as a second one. */
#include "stubs/x86_64/emitter.h"

/* Constants up to here are addressed directly; the rest of 2 GiB is for the image in front of them. */
#define DIRECT_REACH ((uint64_t)1 << 30)

/* ---- where things lie ---- */

struct place_in_memory {
	uint8_t base;
	int32_t disp;
};

/* The address of an argument without its range's start, as base and displacement. May use `into` and `scratch`. */
static struct place_in_memory locate(struct sk_x86_emitter *e, const struct sk_plan_argument *argument, uint8_t into,
				     uint8_t scratch)
{
	uint64_t offset = argument->offset;
	uint8_t base = into;

	if (argument->kind == SK_ARGUMENT_SCRATCH && e->program->serial) {
		base = WORKSPACE;
		offset += e->program->serial_scratch;
	} else if (argument->kind == SK_ARGUMENT_SCRATCH) {
		/* mov into, [core.scratch] */
		PUT(e, LOAD64, .reg = into, .rm = CORE, .disp = CORE_SCRATCH);
	} else if (argument->space == SK_SPACE_CONSTANT) {
		/* lea into, [rip + constants + offset] */
		uint64_t direct = offset < DIRECT_REACH ? offset : 0;

		PUT(e, ADDRESS_RELATIVE, .reg = into);
		sk_x86_relocate(e, false, SK_CODE_CONSTANTS, 0, direct);
		offset -= direct;
	} else if (argument->space == SK_SPACE_BINDING) {
		/* mov into, [bindings + 8*index] */
		PUT(e, LOAD64, .reg = into, .rm = BINDINGS, .disp = 8 * (int32_t)argument->index);
	} else {
		base = WORKSPACE;
	}
	if (offset <= INT32_MAX)
		return (struct place_in_memory){base, (int32_t)offset};

	if (base != into)
		PUT(e, MOVE64, .rm = into, .reg = base);
	sk_x86_set_register(e, scratch, offset);
	PUT(e, ADD64, .rm = into, .reg = scratch);
	return (struct place_in_memory){into, 0};
}

/* into = low * factor */
static void multiply_low(struct sk_x86_emitter *e, uint8_t into, uint64_t factor)
{
	if ((factor & (factor - 1)) == 0) {
		PUT(e, MOVE64, .rm = into, .reg = LOW);
		PUT(e, SHIFT_LEFT64, .rm = into, .immediate = (uint64_t)__builtin_ctzll(factor));
	} else if (factor <= INT8_MAX) {
		PUT(e, MULTIPLY64_BYTE, .reg = into, .rm = LOW, .immediate = factor);
	} else if (factor <= INT32_MAX) {
		PUT(e, MULTIPLY64_IMMEDIATE, .reg = into, .rm = LOW, .immediate = factor);
	} else {
		sk_x86_set_register(e, into, factor);
		PUT(e, MULTIPLY64, .reg = into, .rm = LOW);
	}
}

/* into = the pointer that the kernel gets */
static void set_pointer(struct sk_x86_emitter *e, const struct sk_plan_argument *argument, bool divided, uint8_t into,
			uint8_t scratch)
{
	struct place_in_memory at = locate(e, argument, into, scratch);
	uint64_t bytes = divided ? argument->element_bytes : 0;

	if (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8) {
		PUT(e, ADDRESS, .reg = into, .rm = at.base, .index = LOW, .scale = (uint8_t)bytes, .disp = at.disp);
	} else if (bytes != 0) {
		multiply_low(e, scratch, bytes);
		PUT(e, ADDRESS, .reg = into, .rm = at.base, .index = scratch, .scale = 1, .disp = at.disp);
	} else if (at.disp != 0) {
		PUT(e, ADDRESS, .reg = into, .rm = at.base, .disp = at.disp);
	} else if (at.base != into) {
		PUT(e, MOVE64, .rm = into, .reg = at.base);
	}
}

/* ---- arguments ---- */

static bool is_wide(uint8_t dtype)
{
	return sk_dtype_size(dtype) == 8;
}

static bool by_reference(const struct sk_plan_argument *argument)
{
	return argument->flags & SK_ARGUMENT_BY_REFERENCE;
}

/* What a call's arguments so far have taken. */
struct taken {
	struct sk_places_taken places;
	uint32_t copies; /* bytes of copies of arguments by reference */
};

struct place {
	enum sk_place_kind kind;
	uint8_t reg;
	uint32_t stack; /* bytes from rsp */
};

/* The register, or the place on the stack, and room for a copy if the argument is the address of one. */
static struct place next_place(struct taken *taken, const struct sk_plan_argument *argument)
{
	struct sk_argument_place place = sk_convention_next(&sk_x86_convention, &taken->places, argument);

	if (by_reference(argument))
		taken->copies += 8;
	if (place.kind == SK_IN_VECTOR_REGISTER)
		return (struct place){place.kind, .reg = sk_x86_convention.vectors[place.index]};
	if (place.kind == SK_IN_INTEGER_REGISTER)
		return (struct place){place.kind, .reg = sk_x86_convention.integers[place.index]};
	return (struct place){place.kind, .stack = place.offset};
}

/* mov [rsp+disp], bits */
static void store_constant(struct sk_x86_emitter *e, uint32_t disp, uint64_t bits, bool wide)
{
	if (!wide) {
		PUT(e, STORE32_IMMEDIATE, .rm = SK_RSP, .disp = (int32_t)disp, .immediate = bits);
	} else if (bits == (uint64_t)(int32_t)bits) {
		PUT(e, STORE64_IMMEDIATE, .rm = SK_RSP, .disp = (int32_t)disp, .immediate = bits);
	} else {
		sk_x86_set_register(e, SK_RAX, bits);
		PUT(e, STORE64, .reg = SK_RAX, .rm = SK_RSP, .disp = (int32_t)disp);
	}
}

static enum sk_x86_form load_form(uint8_t dtype)
{
	switch (dtype) {
	case SK_I8:
		return SK_X86_LOAD_I8;
	case SK_I16:
		return SK_X86_LOAD_I16;
	case SK_U8:
	case SK_BOOL:
		return SK_X86_LOAD_U8;
	case SK_U16:
	case SK_F16:
	case SK_BF16:
		return SK_X86_LOAD_U16;
	case SK_I64:
	case SK_U64:
	case SK_F64:
		return SK_X86_LOAD64;
	default:
		return SK_X86_LOAD32;
	}
}

/* A scalar that is known only at run time, in a register of its own: into, or LENGTH. */
static uint8_t compute_scalar(struct sk_x86_emitter *e, const struct sk_plan_argument *argument, uint8_t into,
			      uint8_t scratch)
{
	if (argument->kind == SK_ARGUMENT_LENGTH)
		return LENGTH;

	struct place_in_memory at = locate(e, argument, into, scratch);

	sk_x86_put(e, load_form(argument->dtype),
		   (struct sk_x86_operands){.reg = into, .rm = at.base, .disp = at.disp});
	return into;
}

static bool is_constant(const struct sk_op_call *call, const struct sk_plan_argument *argument, uint64_t *bits)
{
	if (argument->kind == SK_ARGUMENT_VALUE)
		*bits = sk_scalar_bits(argument->value, argument->dtype);
	else if (argument->kind == SK_ARGUMENT_LENGTH && !call->divided)
		*bits = sk_scalar_bits(call->extent, argument->dtype);
	else
		return false;
	return true;
}

/* A scalar into its place on the stack: an argument, or a copy whose address is the argument. */
static void store_scalar(struct sk_x86_emitter *e, const struct sk_op_call *call,
			 const struct sk_plan_argument *argument, uint32_t disp, uint8_t scratch)
{
	bool wide = is_wide(argument->dtype);
	uint64_t bits;

	if (is_constant(call, argument, &bits)) {
		store_constant(e, disp, bits, wide);
		return;
	}
	uint8_t reg = compute_scalar(e, argument, SK_RAX, scratch);

	sk_x86_put(e, wide ? SK_X86_STORE64 : SK_X86_STORE32,
		   (struct sk_x86_operands){.reg = reg, .rm = SK_RSP, .disp = (int32_t)disp});
}

static void pass_float(struct sk_x86_emitter *e, const struct sk_op_call *call, const struct sk_plan_argument *argument,
		       uint8_t reg)
{
	uint64_t bits;
	bool constant = is_constant(call, argument, &bits);

	if (constant && bits == 0) {
		PUT(e, ZERO_FLOAT, .reg = reg, .rm = reg);
		return;
	}
	if (constant)
		sk_x86_set_register(e, SK_RAX, bits);
	else
		compute_scalar(e, argument, SK_RAX, SK_RDI);
	sk_x86_put(e, is_wide(argument->dtype) ? SK_X86_TO_FLOAT64 : SK_X86_TO_FLOAT32,
		   (struct sk_x86_operands){.reg = reg, .rm = SK_RAX});
}

static void pass_integer(struct sk_x86_emitter *e, const struct sk_op_call *call,
			 const struct sk_plan_argument *argument, uint8_t reg)
{
	uint64_t bits;

	if (is_constant(call, argument, &bits)) {
		sk_x86_set_register(e, reg, bits);
		return;
	}
	uint8_t from = compute_scalar(e, argument, reg, SK_RAX);

	if (from != reg)
		PUT(e, MOVE64, .rm = reg, .reg = from);
}

/* An address: of a tensor, of scratch, of the block, of the copy of a scalar. */
static void pass_address(struct sk_x86_emitter *e, const struct sk_op_call *call,
			 const struct sk_plan_argument *argument, struct place place, uint32_t copy)
{
	uint8_t into = place.kind == SK_IN_INTEGER_REGISTER ? place.reg : SK_RAX;
	uint8_t scratch = place.kind == SK_IN_INTEGER_REGISTER ? SK_RAX : SK_RDI;

	if (argument->kind == SK_ARGUMENT_BLOCK) {
		PUT(e, ADDRESS, .reg = into, .rm = SK_RSP, .disp = (int32_t)e->frame.block);
	} else if (sk_argument_is_scalar(argument)) {
		store_scalar(e, call, argument, copy, place.kind == SK_IN_INTEGER_REGISTER ? place.reg : SK_RDI);
		PUT(e, ADDRESS, .reg = into, .rm = SK_RSP, .disp = (int32_t)copy);
	} else {
		set_pointer(e, argument, call->divided, into, scratch);
	}
	if (place.kind == SK_ON_STACK)
		PUT(e, STORE64, .reg = SK_RAX, .rm = SK_RSP, .disp = (int32_t)place.stack);
}

static void pass(struct sk_x86_emitter *e, const struct sk_op_call *call, const struct sk_plan_argument *argument,
		 struct place place, uint32_t copy)
{
	if (!sk_argument_is_scalar(argument) || by_reference(argument))
		pass_address(e, call, argument, place, copy);
	else if (place.kind == SK_ON_STACK)
		store_scalar(e, call, argument, place.stack, SK_RDI);
	else if (place.kind == SK_IN_VECTOR_REGISTER)
		pass_float(e, call, argument, place.reg);
	else
		pass_integer(e, call, argument, place.reg);
}

void sk_x86_emit_call(struct sk_x86_emitter *e, const struct sk_op_call *call)
{
	for (int turn = 0; turn < 2; turn++) {
		struct taken taken = {0};

		for (uint32_t i = 0; i < call->argument_count; i++) {
			const struct sk_plan_argument *argument = &call->arguments[i];

			if (!sk_argument_is_passed(argument))
				continue;
			uint32_t copy = e->frame.copies + taken.copies;
			struct place place = next_place(&taken, argument);

			if ((place.kind != SK_IN_INTEGER_REGISTER) == (turn == 0))
				pass(e, call, argument, place, copy);
		}
	}
	/* call kernel */
	PUT(e, CALL, 0);
	sk_x86_relocate(e, true, call->vector_side ? SK_CODE_VECTOR_KERNEL : SK_CODE_KERNEL, call->kernel, 0);
}

static uint32_t argument_registers(const struct sk_x86_emitter *e, const struct sk_plan_argument *argument)
{
	if (argument->kind == SK_ARGUMENT_SCRATCH)
		return 1u << (e->program->serial ? WORKSPACE : CORE);
	if (argument->space == SK_SPACE_BINDING)
		return 1u << BINDINGS;
	return argument->space == SK_SPACE_WORKSPACE ? 1u << WORKSPACE : 0;
}

struct sk_x86_call_needs sk_x86_call_needs(const struct sk_x86_emitter *e, const struct sk_op_call *call)
{
	struct sk_x86_call_needs needs = {0};
	struct taken taken = {0};

	for (uint32_t i = 0; i < call->argument_count; i++) {
		needs.registers |= argument_registers(e, &call->arguments[i]);
		if (sk_argument_is_passed(&call->arguments[i]))
			next_place(&taken, &call->arguments[i]);
	}
	needs.arguments = taken.places.stack;
	needs.copies = taken.copies;
	return needs;
}

/* The returned value stands in rax or xmm0. */
void sk_x86_emit_result(struct sk_x86_emitter *e, const struct sk_plan_argument *result)
{
	static const enum sk_x86_form stores[] = {
		[1] = SK_X86_STORE8, [2] = SK_X86_STORE16, [4] = SK_X86_STORE32, [8] = SK_X86_STORE64};

	if (sk_dtype_is_float(result->dtype))
		sk_x86_put(e, is_wide(result->dtype) ? SK_X86_FROM_FLOAT64 : SK_X86_FROM_FLOAT32,
			   (struct sk_x86_operands){.rm = SK_RAX});

	struct place_in_memory at = locate(e, result, SK_R11, SK_R10);

	sk_x86_put(e, stores[sk_dtype_size(result->dtype)],
		   (struct sk_x86_operands){.reg = SK_RAX, .rm = at.base, .disp = at.disp});
}
