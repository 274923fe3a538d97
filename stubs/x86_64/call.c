/* One call of a kernel on x86-64. In: a call and its arguments from the plan. Out: the instructions that place the
 * arguments, the call, the store of a returned value.
 *
 * format/x86_64/registers.h has the places of arguments. Scratch registers are rax and, before an argument's turn, its
 * own register. Arguments on the stack or in float registers come first, while rdi is still free as a second scratch
 * register. Before that all argument registers are free: then fields are stored, and copies of expressions that need
 * more than two registers. */
#include "stubs/x86_64/emitter.h"

#include "format/convention.h"
#include "format/plan/plan.h"
#include "format/skdims.h"
#include "format/skplan.h"
#include "format/x86_64/registers.h"
#include "stubs/dispatcher/dispatcher.h"
#include "stubs/dispatcher/ops.h"

/* ---- arguments ---- */

static bool is_wide(uint8_t dtype)
{
	return sk_dtype_size(dtype) == 8;
}

static bool by_reference(const struct sk_plan_argument *argument)
{
	return argument->flags & SK_ARGUMENT_BY_REFERENCE;
}

/* The registers and stack taken by the arguments so far. */
struct taken {
	struct sk_places_taken places;
	uint32_t copies; /* bytes of copies of arguments by reference, and of early ones */
	bool in_memory; /* some are not in integer registers, and come before these */
};

struct place {
	enum sk_place_kind kind;
	uint8_t reg;
	uint32_t stack; /* bytes from rsp */
};

/* Return the register, or the place on the stack, with room for a copy if the argument is early or the address of a
 * copy. */
static struct place next_place(const struct sk_x86_emitter *e, const struct sk_op_call *call, struct taken *taken,
			       const struct sk_plan_argument *argument, uint32_t part)
{
	struct sk_argument_place place = sk_convention_next(&sk_x86_convention, &taken->places, argument, part);

	if (by_reference(argument) || sk_x86_is_early(e, call, argument))
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
	} else if (sk_x86_is_i32(bits)) {
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

/* into = a scalar in a slot */
static void load_value(struct sk_x86_emitter *e, const struct sk_op_call *call, const struct sk_plan_argument *argument,
		       uint8_t into)
{
	struct sk_op_number number = sk_op_argument_number(e->program->slots, call->record, argument,
							   offsetof(struct sk_plan_argument, value), 0);

	sk_x86_put(e, load_form(argument->dtype),
		   (struct sk_x86_operands){.reg = into, .rm = BINDINGS, .disp = sk_x86_slot(e, number)});
}

/* Compute a scalar that is known only at run time, in a register of its own: `into`, or LENGTH. The copy of an early
 * one already has it. */
static uint8_t compute_scalar(struct sk_x86_emitter *e, const struct sk_op_call *call,
			      const struct sk_plan_argument *argument, uint32_t copy, uint8_t into, uint8_t scratch)
{
	if (argument->kind == SK_ARGUMENT_LENGTH && call->divided)
		return LENGTH;
	if (argument->kind == SK_ARGUMENT_LENGTH) {
		sk_x86_load_extent(e, call, into);
		return into;
	}
	if (argument->kind == SK_ARGUMENT_VALUE) {
		load_value(e, call, argument, into);
		return into;
	}
	if (argument->kind == SK_ARGUMENT_EXPRESSION) {
		if (sk_x86_is_early(e, call, argument))
			PUT(e, LOAD64, .reg = into, .rm = SK_RSP, .disp = (int32_t)copy);
		else
			sk_x86_compute_expression(e, call, argument, into, scratch);
		return into;
	}

	struct sk_x86_memory at = sk_x86_locate(e, call->record, argument, into, scratch);

	sk_x86_put(e, load_form(argument->dtype),
		   (struct sk_x86_operands){.reg = into, .rm = at.base, .disp = at.disp});
	return into;
}

/* Store a scalar in its place on the stack: an argument, or a copy with its address as the argument. */
static void store_scalar(struct sk_x86_emitter *e, const struct sk_op_call *call,
			 const struct sk_plan_argument *argument, uint32_t disp, uint32_t copy, uint8_t scratch)
{
	bool wide = is_wide(argument->dtype);
	uint64_t bits;

	if (sk_x86_is_constant(e, call, argument, &bits)) {
		store_constant(e, disp, bits, wide);
		return;
	}
	uint8_t reg = compute_scalar(e, call, argument, copy, SK_RAX, scratch);

	sk_x86_put(e, wide ? SK_X86_STORE64 : SK_X86_STORE32,
		   (struct sk_x86_operands){.reg = reg, .rm = SK_RSP, .disp = (int32_t)disp});
}

static void pass_float(struct sk_x86_emitter *e, const struct sk_op_call *call, const struct sk_plan_argument *argument,
		       uint8_t reg)
{
	uint64_t bits;
	bool constant = sk_x86_is_constant(e, call, argument, &bits);

	if (constant && bits == 0) {
		PUT(e, ZERO_FLOAT, .reg = reg, .rm = reg);
		return;
	}
	if (constant)
		sk_x86_set_register(e, SK_RAX, bits);
	else
		compute_scalar(e, call, argument, 0, SK_RAX, SK_RDI);
	sk_x86_put(e, is_wide(argument->dtype) ? SK_X86_TO_FLOAT64 : SK_X86_TO_FLOAT32,
		   (struct sk_x86_operands){.reg = reg, .rm = SK_RAX});
}

static void pass_integer(struct sk_x86_emitter *e, const struct sk_op_call *call,
			 const struct sk_plan_argument *argument, uint8_t reg, uint32_t copy)
{
	uint64_t bits;

	if (sk_x86_is_constant(e, call, argument, &bits)) {
		sk_x86_set_register(e, reg, bits);
		return;
	}
	uint8_t from = compute_scalar(e, call, argument, copy, reg, SK_RAX);

	if (from != reg)
		PUT(e, MOVE64, .rm = reg, .reg = from);
}

/* Pass an address, or that of the copy of a scalar. */
static void pass_address(struct sk_x86_emitter *e, const struct sk_op_call *call,
			 const struct sk_plan_argument *argument, struct place place, uint32_t copy)
{
	uint8_t into = place.kind == SK_IN_INTEGER_REGISTER ? place.reg : SK_RAX;
	uint8_t scratch = place.kind == SK_IN_INTEGER_REGISTER ? SK_RAX : SK_RDI;

	if (sk_argument_is_scalar(argument)) {
		if (!sk_x86_is_early(e, call, argument))
			store_scalar(e, call, argument, copy, copy,
				     place.kind == SK_IN_INTEGER_REGISTER ? place.reg : SK_RDI);
		PUT(e, ADDRESS, .reg = into, .rm = SK_RSP, .disp = (int32_t)copy);
	} else {
		sk_x86_set_address(e, call, argument, into, scratch);
	}
	if (place.kind == SK_ON_STACK)
		PUT(e, STORE64, .reg = SK_RAX, .rm = SK_RSP, .disp = (int32_t)place.stack);
}

/* ---- structs by value ---- */

static bool is_in_part(const struct sk_plan_argument *field, const struct sk_plan_argument *argument, uint32_t part)
{
	uint64_t start = argument->offset + 8 * (uint64_t)part;

	return field->flags & SK_ARGUMENT_FIELD && field->field >= start && field->field - start < 8;
}

/* The fields in a part of a struct, and the bits of the constant ones. */
struct fields {
	const struct sk_plan_argument *last;
	uint32_t count, constants;
	uint64_t bits;
};

static struct fields find_fields(const struct sk_x86_emitter *e, const struct sk_op_call *call,
				 const struct sk_plan_argument *argument, uint32_t part)
{
	struct fields fields = {0};
	uint64_t value;

	for (uint32_t i = 0; i < call->argument_count; i++) {
		const struct sk_plan_argument *field = &call->arguments[i];

		if (!is_in_part(field, argument, part))
			continue;
		fields.last = field;
		fields.count++;
		if (!sk_argument_is_scalar(field) || !sk_x86_is_constant(e, call, field, &value))
			continue;
		fields.constants++;
		value &= UINT64_MAX >> (64 - 8 * sk_dtype_size(field->dtype));
		fields.bits |= value << 8 * (field->field % 8);
	}
	return fields;
}

static bool is_constant_part(const struct sk_x86_emitter *e, const struct sk_op_call *call,
			     const struct sk_plan_argument *argument, uint32_t part, uint64_t *bits)
{
	struct fields fields = find_fields(e, call, argument, part);

	*bits = fields.bits;
	return fields.count && fields.count == fields.constants;
}

/* Pass a part of a struct: a constant, or the contents of the scratch. */
static void pass_part(struct sk_x86_emitter *e, const struct sk_op_call *call, const struct sk_plan_argument *argument,
		      uint32_t part, struct place place)
{
	struct sk_plan_argument piece = *argument;
	uint8_t into = place.kind == SK_IN_INTEGER_REGISTER ? place.reg : SK_RAX;
	uint64_t bits;

	if (is_constant_part(e, call, argument, part, &bits)) {
		sk_x86_set_register(e, into, bits);
	} else {
		piece.offset += 8 * (uint64_t)part;

		struct sk_x86_memory at = sk_x86_locate(e, NULL, &piece, into, into == SK_RAX ? SK_RDI : SK_RAX);

		PUT(e, LOAD64, .reg = into, .rm = at.base, .disp = at.disp);
	}
	if (place.kind == SK_ON_STACK)
		PUT(e, STORE64, .reg = into, .rm = SK_RSP, .disp = (int32_t)place.stack);
	else if (place.kind == SK_IN_VECTOR_REGISTER)
		PUT(e, TO_FLOAT64, .reg = place.reg, .rm = into);
}

static void pass_argument(struct sk_x86_emitter *e, const struct sk_op_call *call,
			  const struct sk_plan_argument *argument, struct place place, uint32_t copy)
{
	if (!sk_argument_is_scalar(argument) || by_reference(argument))
		pass_address(e, call, argument, place, copy);
	else if (place.kind == SK_ON_STACK)
		store_scalar(e, call, argument, place.stack, copy, SK_RDI);
	else if (place.kind == SK_IN_VECTOR_REGISTER)
		pass_float(e, call, argument, place.reg);
	else
		pass_integer(e, call, argument, place.reg, copy);
}

/* ---- fields ---- */

static const enum sk_x86_form store_forms[] = {
	[1] = SK_X86_STORE8, [2] = SK_X86_STORE16, [4] = SK_X86_STORE32, [8] = SK_X86_STORE64};

/* [at] = rdi, and after it more addresses, each `stride` bytes further */
static void store_table(struct sk_x86_emitter *e, struct sk_x86_memory at, uint64_t count, struct sk_op_number stride)
{
	enum { FEW = 4 };

	if (count <= FEW && (sk_op_varies(stride) || sk_x86_is_i32(stride.number))) {
		for (uint64_t i = 0; i < count; i++) {
			if (i > 0 && sk_op_varies(stride))
				PUT(e, ADD64_MEMORY, .reg = SK_RDI, .rm = BINDINGS, .disp = sk_x86_slot(e, stride));
			else if (i > 0)
				sk_x86_add(e, SK_RDI, stride.number);
			PUT(e, STORE64, .reg = SK_RDI, .rm = at.base, .disp = at.disp + 8 * (int32_t)i);
		}
		return;
	}
	/* mov eax, stride; lea rdx, [at]; mov ecx, count;
	 * next: mov [rdx], rdi; add rdi, rax; add rdx, 8; dec ecx; jne next */
	uint32_t next = sk_x86_new_label(e);

	sk_x86_set_number(e, SK_RAX, stride);
	PUT(e, ADDRESS, .reg = SK_RDX, .rm = at.base, .disp = at.disp);
	sk_x86_set_register(e, SK_RCX, count);
	sk_x86_set_label(e, next);
	PUT(e, STORE64, .reg = SK_RDI, .rm = SK_RDX);
	PUT(e, ADD64, .rm = SK_RDI, .reg = SK_RAX);
	PUT(e, ADD64_BYTE, .rm = SK_RDX, .immediate = 8);
	PUT(e, DECREMENT32, .rm = SK_RCX);
	sk_x86_jump(e, SK_X86_JUMP_NOT_EQUAL, next);
}

/* Compute a scalar that is known only at run time; return its register, rdi or another. */
static uint8_t compute_field(struct sk_x86_emitter *e, const struct sk_op_call *call,
			     const struct sk_plan_argument *argument)
{
	if (argument->kind != SK_ARGUMENT_EXPRESSION)
		return compute_scalar(e, call, argument, 0, SK_RDI, SK_RAX);
	sk_x86_compute_expression(e, call, argument, SK_RDI, SK_RAX);
	return SK_RDI;
}

static void store_scalar_field(struct sk_x86_emitter *e, const struct sk_op_call *call,
			       const struct sk_plan_argument *argument, struct sk_x86_memory at)
{
	uint32_t size = sk_dtype_size(argument->dtype);
	uint64_t bits;
	uint8_t reg = SK_RDI;

	if (!sk_x86_is_constant(e, call, argument, &bits)) {
		reg = compute_field(e, call, argument);
	} else if (size == 4 || (size == 8 && sk_x86_is_i32(bits))) {
		/* mov dword ptr or qword ptr [at], bits */
		sk_x86_put(e, size == 4 ? SK_X86_STORE32_IMMEDIATE : SK_X86_STORE64_IMMEDIATE,
			   (struct sk_x86_operands){.rm = at.base, .disp = at.disp, .immediate = bits});
		return;
	} else {
		sk_x86_set_register(e, SK_RDI, bits);
	}
	sk_x86_put(e, store_forms[size], (struct sk_x86_operands){.reg = reg, .rm = at.base, .disp = at.disp});
}

static void store_field(struct sk_x86_emitter *e, const struct sk_op_call *call,
			const struct sk_plan_argument *argument, struct sk_x86_memory at)
{
	const struct sk_plan_pattern *pattern = sk_plan_pattern(e->program->plan, argument);
	bool table = pattern && pattern->table_count;
	struct sk_op_number stride = {.slot = SK_NO_INDEX};

	at.disp += argument->field;
	if (sk_argument_is_scalar(argument)) {
		store_scalar_field(e, call, argument, at);
		return;
	}
	sk_x86_set_address(e, call, argument, SK_RDI, SK_RAX);
	if (table)
		stride = SK_OP_NUMBER(e->program, SK_DIMS_PATTERNS, patterns, pattern, table_stride);
	store_table(e, at, table ? pattern->table_count : 1, stride);
}

/* Return the start of the scratch, with room for fields after it; uses rsi. */
static struct sk_x86_memory locate_scratch(struct sk_x86_emitter *e)
{
	static const struct sk_plan_argument scratch = {.kind = SK_ARGUMENT_SCRATCH};
	struct sk_x86_memory at = sk_x86_locate(e, NULL, &scratch, SK_RSI, SK_RDI);

	if (at.disp < INT32_MAX / 2)
		return at;
	PUT(e, ADDRESS, .reg = SK_RSI, .rm = at.base, .disp = at.disp);
	return (struct sk_x86_memory){SK_RSI, 0};
}

/* r8 += the field, at its position in the part of 8 bytes */
static void add_field(struct sk_x86_emitter *e, const struct sk_op_call *call, const struct sk_plan_argument *field)
{
	uint64_t above = 64 - 8 * sk_dtype_size(field->dtype), place = 8 * (field->field % 8);
	uint8_t reg = compute_field(e, call, field);

	if (reg != SK_RDI)
		PUT(e, MOVE64, .rm = SK_RDI, .reg = reg);
	PUT(e, SHIFT_LEFT64, .rm = SK_RDI, .immediate = above);
	if (above != place)
		PUT(e, SHIFT_RIGHT64, .rm = SK_RDI, .immediate = above - place);
	PUT(e, ADD64, .rm = SK_R8, .reg = SK_RDI);
}

/* A part of a struct by value is stored as a whole, since loading the results of several stores is slow. A constant
 * part is never loaded (pass_part). */
static void store_part(struct sk_x86_emitter *e, const struct sk_op_call *call, const struct sk_plan_argument *argument,
		       uint32_t part, struct sk_x86_memory at)
{
	struct fields fields = find_fields(e, call, argument, part);
	uint64_t bits;

	if (fields.count == fields.constants)
		return;
	if (fields.count == 1) {
		store_field(e, call, fields.last, at);
		return;
	}
	sk_x86_set_register(e, SK_R8, fields.bits);
	for (uint32_t i = 0; i < call->argument_count; i++)
		if (is_in_part(&call->arguments[i], argument, part) &&
		    !sk_x86_is_constant(e, call, &call->arguments[i], &bits))
			add_field(e, call, &call->arguments[i]);
	PUT(e, STORE64, .reg = SK_R8, .rm = at.base,
	    .disp = at.disp + (int32_t)(argument->offset + 8 * (uint64_t)part));
}

static bool is_in_struct_by_value(const struct sk_op_call *call, const struct sk_plan_argument *field)
{
	for (uint32_t i = 0; i < call->argument_count; i++)
		if (call->arguments[i].flags & SK_ARGUMENT_BY_VALUE && field->field >= call->arguments[i].offset &&
		    field->field - call->arguments[i].offset < call->arguments[i].size)
			return true;
	return false;
}

static void store_fields(struct sk_x86_emitter *e, const struct sk_op_call *call)
{
	struct sk_x86_memory start = {0};
	bool found = false;

	for (uint32_t i = 0; i < call->argument_count && !found; i++)
		found = call->arguments[i].flags & SK_ARGUMENT_FIELD;
	if (!found)
		return;
	start = locate_scratch(e);
	for (uint32_t i = 0; i < call->argument_count; i++) {
		const struct sk_plan_argument *argument = &call->arguments[i];
		bool by_value = argument->flags & SK_ARGUMENT_BY_VALUE;

		if (argument->flags & SK_ARGUMENT_FIELD && !is_in_struct_by_value(call, argument))
			store_field(e, call, argument, start);
		for (uint32_t part = 0; by_value && part < sk_argument_parts(argument); part++)
			store_part(e, call, argument, part, start);
	}
}

/* ---- the call ---- */

/* The order of arguments, so that none overwrites a register that another one still needs. */
enum turn { EARLY, IN_MEMORY, IN_REGISTERS };

static void take_turn_of(struct sk_x86_emitter *e, const struct sk_op_call *call, enum turn turn,
			 const struct sk_plan_argument *argument, struct taken *taken)
{
	for (uint32_t part = 0; part < sk_argument_parts(argument); part++) {
		uint32_t copy = e->frame.copies + taken->copies;
		struct place place = next_place(e, call, taken, argument, part);
		bool its_turn = turn == (place.kind == SK_IN_INTEGER_REGISTER ? IN_REGISTERS : IN_MEMORY);

		taken->in_memory |= place.kind != SK_IN_INTEGER_REGISTER;
		if (turn == EARLY && sk_x86_is_early(e, call, argument)) {
			sk_x86_compute_expression(e, call, argument, SK_RDI, SK_RAX);
			PUT(e, STORE64, .reg = SK_RDI, .rm = SK_RSP, .disp = (int32_t)copy);
		}
		if (its_turn && argument->flags & SK_ARGUMENT_BY_VALUE)
			pass_part(e, call, argument, part, place);
		else if (its_turn)
			pass_argument(e, call, argument, place, copy);
		if (argument->flags & SK_ARGUMENT_STATUS)
			e->status = copy;
	}
}

static struct taken take_turn(struct sk_x86_emitter *e, const struct sk_op_call *call, enum turn turn)
{
	struct taken taken = {0};

	for (uint32_t i = 0; i < call->argument_count; i++)
		if (sk_argument_is_passed(&call->arguments[i]))
			take_turn_of(e, call, turn, &call->arguments[i], &taken);
	return taken;
}

void sk_x86_emit_call(struct sk_x86_emitter *e, const struct sk_op_call *call)
{
	if (call->loop_count) {
		/* mov r10, [begin]; mov r11, [size] */
		PUT(e, LOAD64, .reg = LOW, .rm = SK_RSP, .disp = sk_x86_tile_variable(e, SK_VARIABLE_BEGIN));
		if (!sk_x86_tiles_are_full(e, &call->loops[0]))
			PUT(e, LOAD64, .reg = LENGTH, .rm = SK_RSP, .disp = sk_x86_tile_variable(e, SK_VARIABLE_SIZE));
	}
	store_fields(e, call);
	if (take_turn(e, call, EARLY).in_memory)
		take_turn(e, call, IN_MEMORY);
	take_turn(e, call, IN_REGISTERS);
	if (e->program->thunk) {
		/* call [words + kernel] */
		PUT(e, CALL_MEMORY, .rm = BINDINGS, .disp = sk_x86_word(call->kernel));
		return;
	}
	/* call kernel */
	PUT(e, CALL, 0);
	sk_x86_relocate(e, true, call->vector_side ? SK_CODE_VECTOR_KERNEL : SK_CODE_KERNEL, call->kernel, 0);
}

static uint32_t argument_registers(const struct sk_x86_emitter *e, const struct sk_plan_argument *argument)
{
	uint32_t registers = 0;

	if (sk_x86_is_in_scratch(argument) || argument->flags & SK_ARGUMENT_FIELD)
		registers |= 1u << (e->program->serial ? WORKSPACE : CORE);
	if (argument->space == SK_SPACE_BINDING || argument->space == SK_SPACE_SIZES)
		registers |= 1u << BINDINGS;
	return registers | (argument->space == SK_SPACE_WORKSPACE ? 1u << WORKSPACE : 0);
}

struct sk_x86_call_needs sk_x86_call_needs(const struct sk_x86_emitter *e, const struct sk_op_call *call)
{
	struct sk_x86_call_needs needs = {.registers = e->program->thunk ? 1u << BINDINGS : 0};
	struct taken taken = {0};

	for (uint32_t i = 0; i < call->argument_count; i++) {
		needs.registers |= argument_registers(e, &call->arguments[i]);
		if (!sk_argument_is_passed(&call->arguments[i]))
			continue;
		for (uint32_t part = 0; part < sk_argument_parts(&call->arguments[i]); part++)
			next_place(e, call, &taken, &call->arguments[i], part);
	}
	needs.arguments = taken.places.stack;
	needs.copies = taken.copies;
	return needs;
}

/* The returned value is in rax or xmm0. */
void sk_x86_emit_result(struct sk_x86_emitter *e, const struct sk_plan_call *call,
			const struct sk_plan_argument *result)
{
	if (sk_dtype_is_float(result->dtype))
		sk_x86_put(e, is_wide(result->dtype) ? SK_X86_FROM_FLOAT64 : SK_X86_FROM_FLOAT32,
			   (struct sk_x86_operands){.rm = SK_RAX});

	struct sk_x86_memory at = sk_x86_locate(e, call, result, SK_R11, SK_R10);

	sk_x86_put(e, store_forms[sk_dtype_size(result->dtype)],
		   (struct sk_x86_operands){.reg = SK_RAX, .rm = at.base, .disp = at.disp});
}
