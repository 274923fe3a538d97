/* One call of a kernel on x86-64: where its arguments lie and how they get there. In: a call and its arguments from the
 * plan. Out: the instructions that place them, the call, the store of a returned value.
 *
 * Where arguments go is what stubs/x86_64/registers.h says. Scratch registers: rax, and before an argument's turn its
 * own register. What stands on the stack or in float registers goes first, while rdi is still free as a second one. In
 * front of that all registers of arguments are free: there are stored what fields hold, and in a copy each expression
 * that takes more than two. */
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

static bool is_i32(uint64_t value)
{
	return value == (uint64_t)(int32_t)value;
}

static bool is_power(uint64_t value)
{
	return value && (value & (value - 1)) == 0;
}

static int32_t tile_variable(const struct sk_x86_emitter *e, enum sk_variable variable)
{
	return (int32_t)(e->frame.tile + 8 * variable);
}

/* into = from * factor. What is no i32 needs another register than from. */
static void multiply(struct sk_x86_emitter *e, uint8_t into, uint8_t from, uint64_t factor)
{
	if (is_power(factor)) {
		if (into != from)
			PUT(e, MOVE64, .rm = into, .reg = from);
		if (factor != 1)
			PUT(e, SHIFT_LEFT64, .rm = into, .immediate = (uint64_t)__builtin_ctzll(factor));
	} else if (factor == (uint64_t)(int8_t)factor) {
		PUT(e, MULTIPLY64_BYTE, .reg = into, .rm = from, .immediate = factor);
	} else if (is_i32(factor)) {
		PUT(e, MULTIPLY64_IMMEDIATE, .reg = into, .rm = from, .immediate = factor);
	} else {
		sk_x86_set_register(e, into, factor);
		PUT(e, MULTIPLY64, .reg = into, .rm = from);
	}
}

static bool is_scale(uint64_t bytes)
{
	return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

/* The same place in the tile of the inner loop; sk_dispatcher_emit has seen to it that the bytes are an i32. */
static struct place_in_memory advance(struct sk_x86_emitter *e, struct place_in_memory at, uint64_t bytes, uint8_t into,
				      uint8_t scratch)
{
	uint64_t scale = is_scale(bytes) ? bytes : 1;

	/* mov scratch, [inner begin]; imul scratch, bytes; lea into, [at + scratch] */
	PUT(e, LOAD64, .reg = scratch, .rm = SK_RSP, .disp = tile_variable(e, SK_VARIABLE_INNER_BEGIN));
	multiply(e, scratch, scratch, bytes / scale);
	PUT(e, ADDRESS, .reg = into, .rm = at.base, .index = scratch, .scale = (uint8_t)scale, .disp = at.disp);
	return (struct place_in_memory){into, 0};
}

/* into = the pointer that the kernel gets */
static void set_pointer(struct sk_x86_emitter *e, const struct sk_op_call *call,
			const struct sk_plan_argument *argument, uint8_t into, uint8_t scratch)
{
	struct place_in_memory at = locate(e, argument, into, scratch);
	const struct sk_plan_pattern *pattern = sk_plan_pattern(e->program->plan, argument);
	bool advances = call->divided && !(argument->flags & SK_ARGUMENT_WHOLE);
	uint64_t bytes = advances ? argument->element_bytes : 0;

	if (advances && pattern && pattern->inner_bytes)
		at = advance(e, at, pattern->inner_bytes, into, scratch);
	if (is_scale(bytes)) {
		PUT(e, ADDRESS, .reg = into, .rm = at.base, .index = LOW, .scale = (uint8_t)bytes, .disp = at.disp);
	} else if (bytes != 0) {
		multiply(e, scratch, LOW, bytes);
		PUT(e, ADDRESS, .reg = into, .rm = at.base, .index = scratch, .scale = 1, .disp = at.disp);
	} else if (at.disp != 0) {
		PUT(e, ADDRESS, .reg = into, .rm = at.base, .disp = at.disp);
	} else if (at.base != into) {
		PUT(e, MOVE64, .rm = into, .reg = at.base);
	}
}

/* ---- expressions ---- */

/* The value of a variable that is the same at every call. */
static bool is_known(const struct sk_op_call *call, uint8_t variable, uint64_t *value)
{
	const struct sk_plan_loop *loop = NULL;

	if (!call->divided && (variable == SK_VARIABLE_BEGIN || variable == SK_VARIABLE_SIZE)) {
		*value = variable == SK_VARIABLE_BEGIN ? 0 : call->extent;
		return true;
	}
	if (variable == SK_VARIABLE_SIZE && call->loop_count)
		loop = &call->loops[0];
	if (variable == SK_VARIABLE_INNER_SIZE)
		loop = &call->loops[1];
	if (!loop || !sk_x86_tiles_are_full(loop))
		return false;
	*value = loop->tile;
	return true;
}

/* Just a factor, whose addend is part of the constant. */
static bool is_product(const struct sk_plan_term *term)
{
	return term->divisor == 1 && term->modulus == 0;
}

/* The part of an expression that is the same at every call, and how many terms there are besides. */
static uint64_t constant_part(const struct sk_x86_emitter *e, const struct sk_op_call *call,
			      const struct sk_plan_argument *argument, uint32_t *variable_terms)
{
	const struct sk_plan_term *terms = &e->program->plan->terms[argument->index];
	uint64_t constant = argument->value, value;

	*variable_terms = 0;
	for (uint64_t i = 0; i < argument->size; i++) {
		if (is_known(call, terms[i].variable, &value)) {
			constant += sk_plan_term_value(&terms[i], value);
			continue;
		}
		++*variable_terms;
		if (is_product(&terms[i]))
			constant += (uint64_t)terms[i].factor * terms[i].addend;
	}
	return constant;
}

/* Whether the term takes no register but its own. */
static bool is_small(const struct sk_plan_term *term)
{
	bool shifts = is_power(term->divisor) && (term->modulus == 0 || is_power(term->modulus));

	return (is_i32((uint64_t)term->factor) || is_power((uint64_t)term->factor)) &&
	       (is_product(term) || (is_i32(term->addend) && shifts));
}

/* The argument is computed in front of all others: it takes more registers than its own and a scratch register. */
static bool is_early(const struct sk_x86_emitter *e, const struct sk_op_call *call,
		     const struct sk_plan_argument *argument)
{
	uint64_t value;
	uint32_t count;

	if (argument->kind != SK_ARGUMENT_EXPRESSION)
		return false;
	bool small = is_i32(constant_part(e, call, argument, &count));

	for (uint64_t i = 0; i < argument->size; i++) {
		const struct sk_plan_term *term = &e->program->plan->terms[argument->index + i];

		small &= is_known(call, term->variable, &value) || is_small(term);
	}
	return count && !small;
}

static void load_variable(struct sk_x86_emitter *e, uint8_t variable, uint8_t into)
{
	if (variable == SK_VARIABLE_BEGIN || variable == SK_VARIABLE_SIZE)
		PUT(e, MOVE64, .rm = into, .reg = variable == SK_VARIABLE_BEGIN ? LOW : LENGTH);
	else if (variable == SK_VARIABLE_BLOCK)
		PUT(e, LOAD32, .reg = into, .rm = SK_RSP, .disp = (int32_t)e->frame.block + BLOCK_INDEX);
	else
		PUT(e, LOAD64, .reg = into, .rm = SK_RSP, .disp = tile_variable(e, variable));
}

/* No value of the variable is greater. */
static uint64_t variable_limit(const struct sk_op_call *call, uint8_t variable)
{
	if (variable == SK_VARIABLE_BLOCK)
		return UINT32_MAX - 1;
	return variable >= SK_VARIABLE_INNER_BEGIN ? call->loops[1].extent : call->extent;
}

/* at = at / divisor, or the rest. rdi and rax are the only registers that `at` can be. narrow: it is less than 2^32. */
static void divide(struct sk_x86_emitter *e, uint8_t at, uint64_t divisor, bool rest, bool narrow)
{
	/* mov rax, at; xor edx, edx; mov ecx, divisor; div rcx; mov at, rax or rdx */
	if (at != SK_RAX)
		PUT(e, MOVE64, .rm = SK_RAX, .reg = at);
	PUT(e, ZERO32, .reg = SK_RDX, .rm = SK_RDX);
	sk_x86_set_register(e, SK_RCX, divisor);
	sk_x86_put(e, narrow && divisor <= UINT32_MAX ? SK_X86_DIVIDE32 : SK_X86_DIVIDE64,
		   (struct sk_x86_operands){.rm = SK_RCX});
	if (at != (rest ? SK_RDX : SK_RAX))
		PUT(e, MOVE64, .rm = at, .reg = rest ? SK_RDX : SK_RAX);
}

/* at = at modulo a power of two */
static void mask(struct sk_x86_emitter *e, uint8_t at, uint64_t modulus)
{
	uint64_t above = 64 - (uint64_t)__builtin_ctzll(modulus);

	if (is_i32(modulus - 1)) {
		PUT(e, AND64_IMMEDIATE, .rm = at, .immediate = modulus - 1);
		return;
	}
	PUT(e, SHIFT_LEFT64, .rm = at, .immediate = above);
	PUT(e, SHIFT_RIGHT64, .rm = at, .immediate = above);
}

/* into = a term; the addend of a mere product is part of the constant. */
static void compute_term(struct sk_x86_emitter *e, const struct sk_op_call *call, const struct sk_plan_term *term,
			 uint8_t into)
{
	uint64_t limit = variable_limit(call, term->variable), factor = (uint64_t)term->factor;
	bool narrow = !__builtin_add_overflow(limit, term->addend, &limit) && limit <= UINT32_MAX;

	load_variable(e, term->variable, into);
	if (!is_product(term))
		sk_x86_add(e, into, term->addend);
	if (!is_power(term->divisor))
		divide(e, into, term->divisor, false, narrow);
	else if (term->divisor != 1)
		PUT(e, SHIFT_RIGHT64, .rm = into, .immediate = (uint64_t)__builtin_ctzll(term->divisor));
	if (is_power(term->modulus))
		mask(e, into, term->modulus);
	else if (term->modulus)
		divide(e, into, term->modulus, true, narrow);
	if (is_power(factor) || is_i32(factor)) {
		multiply(e, into, into, factor);
	} else {
		sk_x86_set_register(e, SK_RCX, factor);
		PUT(e, MULTIPLY64, .reg = into, .rm = SK_RCX);
	}
}

/* Integers of less than 32 bits are extended to all that a register has. */
static void extend(struct sk_x86_emitter *e, uint8_t reg, uint8_t dtype)
{
	uint64_t above = 64 - 8 * sk_dtype_size(dtype);

	if (above < 48)
		return;
	if (dtype == SK_U8 || dtype == SK_U16) {
		PUT(e, AND64_IMMEDIATE, .rm = reg, .immediate = UINT64_MAX >> above);
		return;
	}
	PUT(e, SHIFT_LEFT64, .rm = reg, .immediate = above);
	PUT(e, SHIFT_RIGHT64_SIGNED, .rm = reg, .immediate = above);
}

/* into = the expression, which is no constant. An early one is computed in rdi and rax, and takes rcx and rdx. */
static void compute_expression(struct sk_x86_emitter *e, const struct sk_op_call *call,
			       const struct sk_plan_argument *argument, uint8_t into, uint8_t scratch)
{
	const struct sk_plan_term *terms = &e->program->plan->terms[argument->index];
	uint32_t count;
	uint64_t constant = constant_part(e, call, argument, &count), value;
	uint8_t at = into;

	for (uint64_t i = 0; i < argument->size; i++) {
		if (is_known(call, terms[i].variable, &value))
			continue;
		compute_term(e, call, &terms[i], at);
		if (at != into)
			PUT(e, ADD64, .rm = into, .reg = at);
		at = scratch;
	}
	sk_x86_add(e, into, constant);
	extend(e, into, argument->dtype);
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
	uint32_t copies; /* bytes of copies of arguments by reference, and of early ones */
};

struct place {
	enum sk_place_kind kind;
	uint8_t reg;
	uint32_t stack; /* bytes from rsp */
};

/* The register, or the place on the stack, and room for a copy if the argument is the address of one, or early. */
static struct place next_place(const struct sk_x86_emitter *e, const struct sk_op_call *call, struct taken *taken,
			       const struct sk_plan_argument *argument)
{
	struct sk_argument_place place = sk_convention_next(&sk_x86_convention, &taken->places, argument);

	if (by_reference(argument) || is_early(e, call, argument))
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

/* A scalar that is known only at run time, in a register of its own: into, or LENGTH. The copy of an early one has it
 * already. */
static uint8_t compute_scalar(struct sk_x86_emitter *e, const struct sk_op_call *call,
			      const struct sk_plan_argument *argument, uint32_t copy, uint8_t into, uint8_t scratch)
{
	if (argument->kind == SK_ARGUMENT_LENGTH)
		return LENGTH;
	if (argument->kind == SK_ARGUMENT_EXPRESSION) {
		if (is_early(e, call, argument))
			PUT(e, LOAD64, .reg = into, .rm = SK_RSP, .disp = (int32_t)copy);
		else
			compute_expression(e, call, argument, into, scratch);
		return into;
	}

	struct place_in_memory at = locate(e, argument, into, scratch);

	sk_x86_put(e, load_form(argument->dtype),
		   (struct sk_x86_operands){.reg = into, .rm = at.base, .disp = at.disp});
	return into;
}

static bool is_constant(const struct sk_x86_emitter *e, const struct sk_op_call *call,
			const struct sk_plan_argument *argument, uint64_t *bits)
{
	uint32_t variable_terms = 0;

	if (argument->kind == SK_ARGUMENT_VALUE)
		*bits = argument->value;
	else if (argument->kind == SK_ARGUMENT_EXPRESSION)
		*bits = constant_part(e, call, argument, &variable_terms);
	else if (argument->kind != SK_ARGUMENT_LENGTH || !is_known(call, SK_VARIABLE_SIZE, bits))
		return false;
	*bits = sk_scalar_bits(*bits, argument->dtype);
	return variable_terms == 0;
}

/* A scalar into its place on the stack: an argument, or a copy whose address is the argument. */
static void store_scalar(struct sk_x86_emitter *e, const struct sk_op_call *call,
			 const struct sk_plan_argument *argument, uint32_t disp, uint32_t copy, uint8_t scratch)
{
	bool wide = is_wide(argument->dtype);
	uint64_t bits;

	if (is_constant(e, call, argument, &bits)) {
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
	bool constant = is_constant(e, call, argument, &bits);

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

	if (is_constant(e, call, argument, &bits)) {
		sk_x86_set_register(e, reg, bits);
		return;
	}
	uint8_t from = compute_scalar(e, call, argument, copy, reg, SK_RAX);

	if (from != reg)
		PUT(e, MOVE64, .rm = reg, .reg = from);
}

/* An address: of a tensor, of scratch, of the block, of a symbol. */
static void set_address(struct sk_x86_emitter *e, const struct sk_op_call *call,
			const struct sk_plan_argument *argument, uint8_t into, uint8_t scratch)
{
	if (argument->kind == SK_ARGUMENT_BLOCK) {
		PUT(e, ADDRESS, .reg = into, .rm = SK_RSP, .disp = (int32_t)e->frame.block);
	} else if (argument->kind == SK_ARGUMENT_SYMBOL) {
		/* lea into, [rip + symbol] */
		PUT(e, ADDRESS_RELATIVE, .reg = into);
		sk_x86_relocate(e, false, SK_CODE_SYMBOL, argument->index, 0);
	} else {
		set_pointer(e, call, argument, into, scratch);
	}
}

/* An address, or that of the copy of a scalar. */
static void pass_address(struct sk_x86_emitter *e, const struct sk_op_call *call,
			 const struct sk_plan_argument *argument, struct place place, uint32_t copy)
{
	uint8_t into = place.kind == SK_IN_INTEGER_REGISTER ? place.reg : SK_RAX;
	uint8_t scratch = place.kind == SK_IN_INTEGER_REGISTER ? SK_RAX : SK_RDI;

	if (sk_argument_is_scalar(argument)) {
		if (!is_early(e, call, argument))
			store_scalar(e, call, argument, copy, copy,
				     place.kind == SK_IN_INTEGER_REGISTER ? place.reg : SK_RDI);
		PUT(e, ADDRESS, .reg = into, .rm = SK_RSP, .disp = (int32_t)copy);
	} else {
		set_address(e, call, argument, into, scratch);
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
		store_scalar(e, call, argument, place.stack, copy, SK_RDI);
	else if (place.kind == SK_IN_VECTOR_REGISTER)
		pass_float(e, call, argument, place.reg);
	else
		pass_integer(e, call, argument, place.reg, copy);
}

/* ---- fields ---- */

static const enum sk_x86_form store_forms[] = {
	[1] = SK_X86_STORE8, [2] = SK_X86_STORE16, [4] = SK_X86_STORE32, [8] = SK_X86_STORE64};

/* [at] = rdi, and behind it the same so many bytes further, again and again */
static void store_table(struct sk_x86_emitter *e, struct place_in_memory at, uint64_t count, uint64_t stride)
{
	enum { FEW = 4 };

	if (count <= FEW && is_i32(stride)) {
		for (uint64_t i = 0; i < count; i++) {
			if (i > 0)
				sk_x86_add(e, SK_RDI, stride);
			PUT(e, STORE64, .reg = SK_RDI, .rm = at.base, .disp = at.disp + 8 * (int32_t)i);
		}
		return;
	}
	/* mov eax, stride; lea rdx, [at]; mov ecx, count;
	 * next: mov [rdx], rdi; add rdi, rax; add rdx, 8; dec ecx; jne next */
	uint32_t next = sk_x86_new_label(e);

	sk_x86_set_register(e, SK_RAX, stride);
	PUT(e, ADDRESS, .reg = SK_RDX, .rm = at.base, .disp = at.disp);
	sk_x86_set_register(e, SK_RCX, count);
	sk_x86_set_label(e, next);
	PUT(e, STORE64, .reg = SK_RDI, .rm = SK_RDX);
	PUT(e, ADD64, .rm = SK_RDI, .reg = SK_RAX);
	PUT(e, ADD64_BYTE, .rm = SK_RDX, .immediate = 8);
	PUT(e, DECREMENT32, .rm = SK_RCX);
	sk_x86_jump(e, SK_X86_JUMP_NOT_EQUAL, next);
}

static void store_scalar_field(struct sk_x86_emitter *e, const struct sk_op_call *call,
			       const struct sk_plan_argument *argument, struct place_in_memory at)
{
	uint32_t size = sk_dtype_size(argument->dtype);
	uint64_t bits;
	uint8_t reg = SK_RDI;

	if (!is_constant(e, call, argument, &bits)) {
		if (argument->kind == SK_ARGUMENT_EXPRESSION)
			compute_expression(e, call, argument, SK_RDI, SK_RAX);
		else
			reg = compute_scalar(e, call, argument, 0, SK_RDI, SK_RAX);
	} else if (size == 4 || (size == 8 && is_i32(bits))) {
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
			const struct sk_plan_argument *argument, struct place_in_memory at)
{
	const struct sk_plan_pattern *pattern = sk_plan_pattern(e->program->plan, argument);
	bool table = pattern && pattern->table_count;

	at.disp += argument->field;
	if (sk_argument_is_scalar(argument)) {
		store_scalar_field(e, call, argument, at);
		return;
	}
	set_address(e, call, argument, SK_RDI, SK_RAX);
	store_table(e, at, table ? pattern->table_count : 1, table ? pattern->table_stride : 0);
}

/* Where the scratch begins, with room for fields behind it; takes rsi. */
static struct place_in_memory locate_scratch(struct sk_x86_emitter *e)
{
	static const struct sk_plan_argument scratch = {.kind = SK_ARGUMENT_SCRATCH};
	struct place_in_memory at = locate(e, &scratch, SK_RSI, SK_RDI);

	if (at.disp < INT32_MAX / 2)
		return at;
	PUT(e, ADDRESS, .reg = SK_RSI, .rm = at.base, .disp = at.disp);
	return (struct place_in_memory){SK_RSI, 0};
}

static void store_fields(struct sk_x86_emitter *e, const struct sk_op_call *call)
{
	struct place_in_memory start = {0};
	bool found = false;

	for (uint32_t i = 0; i < call->argument_count; i++) {
		if (!(call->arguments[i].flags & SK_ARGUMENT_FIELD))
			continue;
		if (!found)
			start = locate_scratch(e);
		found = true;
		store_field(e, call, &call->arguments[i], start);
	}
}

/* ---- the call ---- */

/* In which order the arguments come, so that none is in the way of another. */
enum turn { EARLY, IN_MEMORY, IN_REGISTERS, TURNS };

static void take_turn(struct sk_x86_emitter *e, const struct sk_op_call *call, enum turn turn)
{
	struct taken taken = {0};

	for (uint32_t i = 0; i < call->argument_count; i++) {
		const struct sk_plan_argument *argument = &call->arguments[i];

		if (!sk_argument_is_passed(argument))
			continue;
		uint32_t copy = e->frame.copies + taken.copies;
		struct place place = next_place(e, call, &taken, argument);

		if (turn == EARLY && is_early(e, call, argument)) {
			compute_expression(e, call, argument, SK_RDI, SK_RAX);
			PUT(e, STORE64, .reg = SK_RDI, .rm = SK_RSP, .disp = (int32_t)copy);
		}
		if (turn == (place.kind == SK_IN_INTEGER_REGISTER ? IN_REGISTERS : IN_MEMORY))
			pass(e, call, argument, place, copy);
		if (argument->flags & SK_ARGUMENT_STATUS)
			e->status = copy;
	}
}

void sk_x86_emit_call(struct sk_x86_emitter *e, const struct sk_op_call *call)
{
	if (call->loop_count) {
		/* mov r10, [begin]; mov r11, [size] */
		PUT(e, LOAD64, .reg = LOW, .rm = SK_RSP, .disp = tile_variable(e, SK_VARIABLE_BEGIN));
		if (!sk_x86_tiles_are_full(&call->loops[0]))
			PUT(e, LOAD64, .reg = LENGTH, .rm = SK_RSP, .disp = tile_variable(e, SK_VARIABLE_SIZE));
	}
	store_fields(e, call);
	for (enum turn turn = EARLY; turn < TURNS; turn++)
		take_turn(e, call, turn);
	/* call kernel */
	PUT(e, CALL, 0);
	sk_x86_relocate(e, true, call->vector_side ? SK_CODE_VECTOR_KERNEL : SK_CODE_KERNEL, call->kernel, 0);
}

static uint32_t argument_registers(const struct sk_x86_emitter *e, const struct sk_plan_argument *argument)
{
	uint32_t registers = 0;

	if (argument->kind == SK_ARGUMENT_SCRATCH || argument->flags & SK_ARGUMENT_FIELD)
		registers |= 1u << (e->program->serial ? WORKSPACE : CORE);
	if (argument->space == SK_SPACE_BINDING)
		registers |= 1u << BINDINGS;
	return registers | (argument->space == SK_SPACE_WORKSPACE ? 1u << WORKSPACE : 0);
}

struct sk_x86_call_needs sk_x86_call_needs(const struct sk_x86_emitter *e, const struct sk_op_call *call)
{
	struct sk_x86_call_needs needs = {0};
	struct taken taken = {0};

	for (uint32_t i = 0; i < call->argument_count; i++) {
		needs.registers |= argument_registers(e, &call->arguments[i]);
		if (sk_argument_is_passed(&call->arguments[i]))
			next_place(e, call, &taken, &call->arguments[i]);
	}
	needs.arguments = taken.places.stack;
	needs.copies = taken.copies;
	return needs;
}

/* The returned value stands in rax or xmm0. */
void sk_x86_emit_result(struct sk_x86_emitter *e, const struct sk_plan_argument *result)
{
	if (sk_dtype_is_float(result->dtype))
		sk_x86_put(e, is_wide(result->dtype) ? SK_X86_FROM_FLOAT64 : SK_X86_FROM_FLOAT32,
			   (struct sk_x86_operands){.rm = SK_RAX});

	struct place_in_memory at = locate(e, result, SK_R11, SK_R10);

	sk_x86_put(e, store_forms[sk_dtype_size(result->dtype)],
		   (struct sk_x86_operands){.reg = SK_RAX, .rm = at.base, .disp = at.disp});
}
