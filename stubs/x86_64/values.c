/* The values of a call's arguments on x86-64, in a register: addresses, and results of expressions. In: an argument
 * from the plan. Out: the instructions that compute it, or its bits if they are the same at every call.
 *
 * Each uses its own register and a scratch register. An expression that needs more is an early one: it is computed
 * before all other arguments, in rdi and rax with rcx and rdx. */
#include "stubs/x86_64/emitter.h"

#include "format/convention.h"
#include "format/plan/plan.h"
#include "format/skdims.h"
#include "format/skplan.h"
#include "format/x86_64/registers.h"
#include "stubs/dispatcher/dispatcher.h"
#include "stubs/dispatcher/ops.h"

/* Constants up to here are addressed directly; the rest of 2 GiB is for the image before them. */
#define DIRECT_REACH ((uint64_t)1 << 30)

struct sk_op_number sk_x86_extent(const struct sk_x86_emitter *e, const struct sk_plan_loop *loop)
{
	return SK_OP_NUMBER(e->program, SK_DIMS_LOOPS, loops, loop, extent);
}

bool sk_x86_tiles_are_full(const struct sk_x86_emitter *e, const struct sk_plan_loop *loop)
{
	return loop->extent % loop->tile == 0 && !sk_op_varies(sk_x86_extent(e, loop));
}

int32_t sk_x86_slot(const struct sk_x86_emitter *e, struct sk_op_number number)
{
	return 8 * (int32_t)(e->program->plan->binding_count + number.slot);
}

void sk_x86_set_number(struct sk_x86_emitter *e, uint8_t into, struct sk_op_number number)
{
	if (sk_op_varies(number))
		PUT(e, LOAD64, .reg = into, .rm = BINDINGS, .disp = sk_x86_slot(e, number));
	else
		sk_x86_set_register(e, into, number.number);
}

/* ---- places ---- */

struct sk_x86_memory sk_x86_locate(struct sk_x86_emitter *e, const struct sk_plan_call *call,
				   const struct sk_plan_argument *argument, uint8_t into, uint8_t scratch)
{
	struct sk_op_number number = SK_OP_ARGUMENT_NUMBER(e->program, call, argument, offset);
	uint64_t offset = number.number;
	uint8_t base = into;

	if (argument->space == SK_SPACE_SIZES) {
		base = BINDINGS;
		offset += 8 * (uint64_t)e->program->plan->binding_count;
	} else if (sk_x86_is_in_scratch(argument) && e->program->serial) {
		base = WORKSPACE;
		offset += e->program->serial_scratch;
	} else if (sk_x86_is_in_scratch(argument)) {
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
	if (sk_op_varies(number)) {
		if (base != into)
			PUT(e, MOVE64, .rm = into, .reg = base);
		/* add into, [slot] */
		PUT(e, ADD64_MEMORY, .reg = into, .rm = BINDINGS, .disp = sk_x86_slot(e, number));
		base = into;
	}
	if (offset <= INT32_MAX)
		return (struct sk_x86_memory){base, (int32_t)offset};

	if (base != into)
		PUT(e, MOVE64, .rm = into, .reg = base);
	sk_x86_set_register(e, scratch, offset);
	PUT(e, ADD64, .rm = into, .reg = scratch);
	return (struct sk_x86_memory){into, 0};
}

static bool is_power(uint64_t value)
{
	return value && (value & (value - 1)) == 0;
}

/* into = from * factor. A factor that is not an i32 needs another register than `from`. */
static void multiply(struct sk_x86_emitter *e, uint8_t into, uint8_t from, uint64_t factor)
{
	if (is_power(factor)) {
		if (into != from)
			PUT(e, MOVE64, .rm = into, .reg = from);
		if (factor != 1)
			PUT(e, SHIFT_LEFT64, .rm = into, .immediate = (uint64_t)__builtin_ctzll(factor));
	} else if (factor == (uint64_t)(int8_t)factor) {
		PUT(e, MULTIPLY64_BYTE, .reg = into, .rm = from, .immediate = factor);
	} else if (sk_x86_is_i32(factor)) {
		PUT(e, MULTIPLY64_IMMEDIATE, .reg = into, .rm = from, .immediate = factor);
	} else {
		sk_x86_set_register(e, into, factor);
		PUT(e, MULTIPLY64, .reg = into, .rm = from);
	}
}

/* into = from * number, as above */
static void multiply_number(struct sk_x86_emitter *e, uint8_t into, uint8_t from, struct sk_op_number number)
{
	if (!sk_op_varies(number)) {
		multiply(e, into, from, number.number);
		return;
	}
	/* mov into, from; imul into, [slot] */
	if (into != from)
		PUT(e, MOVE64, .rm = into, .reg = from);
	PUT(e, MULTIPLY64_MEMORY, .reg = into, .rm = BINDINGS, .disp = sk_x86_slot(e, number));
}

static bool is_scale(struct sk_op_number bytes)
{
	return !sk_op_varies(bytes) &&
	       (bytes.number == 1 || bytes.number == 2 || bytes.number == 4 || bytes.number == 8);
}

/* Return the same place in the tile of the inner loop; sk_dispatcher_emit has checked that the bytes are an i32. */
static struct sk_x86_memory advance(struct sk_x86_emitter *e, struct sk_x86_memory at, struct sk_op_number bytes,
				    uint8_t into, uint8_t scratch)
{
	uint64_t scale = is_scale(bytes) ? bytes.number : 1;

	bytes.number /= scale;

	/* mov scratch, [inner begin]; imul scratch, bytes; lea into, [at + scratch] */
	PUT(e, LOAD64, .reg = scratch, .rm = SK_RSP, .disp = sk_x86_tile_variable(e, SK_VARIABLE_INNER_BEGIN));
	multiply_number(e, scratch, scratch, bytes);
	PUT(e, ADDRESS, .reg = into, .rm = at.base, .index = scratch, .scale = (uint8_t)scale, .disp = at.disp);
	return (struct sk_x86_memory){into, 0};
}

/* Return the same place relative to the start of a step's tile, where the scratch begins. For a call on the whole tile
 * that is the start. */
static struct sk_x86_memory advance_in_tile(struct sk_x86_emitter *e, const struct sk_op_call *call,
					    struct sk_x86_memory at, struct sk_op_number bytes, uint8_t into,
					    uint8_t scratch)
{
	if (call->loop_count == 0)
		return at;
	/* mov scratch, r10; sub scratch, [low]; imul scratch, bytes; lea into, [at + scratch] */
	PUT(e, MOVE64, .rm = scratch, .reg = LOW);
	PUT(e, SUBTRACT64_MEMORY, .reg = scratch, .rm = SK_RSP, .disp = sk_x86_part(e, call->part) + RANGE_LOW);
	multiply_number(e, scratch, scratch, bytes);
	PUT(e, ADDRESS, .reg = into, .rm = at.base, .index = scratch, .scale = 1, .disp = at.disp);
	return (struct sk_x86_memory){into, 0};
}

/* Return the place with the argument's displacement; uses `into` if the sum is no i32. */
static struct sk_x86_memory displace(struct sk_x86_emitter *e, struct sk_x86_memory at,
				     const struct sk_plan_argument *argument, uint8_t into)
{
	int32_t displacement = sk_plan_displacement(argument), sum;

	if (!__builtin_add_overflow(at.disp, displacement, &sum))
		return (struct sk_x86_memory){at.base, sum};
	/* lea into, [at] */
	PUT(e, ADDRESS, .reg = into, .rm = at.base, .disp = at.disp);
	return (struct sk_x86_memory){into, displacement};
}

/* into = the pointer for the kernel */
static void set_pointer(struct sk_x86_emitter *e, const struct sk_op_call *call,
			const struct sk_plan_argument *argument, uint8_t into, uint8_t scratch)
{
	struct sk_x86_memory at = sk_x86_locate(e, call->record, argument, into, scratch);
	const struct sk_plan_pattern *pattern = sk_plan_pattern(e->program->plan, argument);
	bool advances = call->divided && !(argument->flags & SK_ARGUMENT_WHOLE);
	struct sk_op_number bytes = {.slot = SK_NO_INDEX};

	at = displace(e, at, argument, into);
	if (advances)
		bytes = SK_OP_ARGUMENT_NUMBER(e->program, call->record, argument, element_bytes);
	if (advances && pattern && pattern->inner_bytes)
		at = advance(e, at, SK_OP_NUMBER(e->program, SK_DIMS_PATTERNS, patterns, pattern, inner_bytes), into,
			     scratch);
	if (advances && argument->space == SK_SPACE_SCRATCH) {
		at = advance_in_tile(e, call, at, bytes, into, scratch);
		bytes = (struct sk_op_number){.slot = SK_NO_INDEX};
	}
	if (is_scale(bytes)) {
		PUT(e, ADDRESS, .reg = into, .rm = at.base, .index = LOW, .scale = (uint8_t)bytes.number,
		    .disp = at.disp);
	} else if (bytes.number != 0 || sk_op_varies(bytes)) {
		multiply_number(e, scratch, LOW, bytes);
		PUT(e, ADDRESS, .reg = into, .rm = at.base, .index = scratch, .scale = 1, .disp = at.disp);
	} else if (at.disp != 0) {
		PUT(e, ADDRESS, .reg = into, .rm = at.base, .disp = at.disp);
	} else if (at.base != into) {
		PUT(e, MOVE64, .rm = into, .reg = at.base);
	}
}

void sk_x86_set_address(struct sk_x86_emitter *e, const struct sk_op_call *call,
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

/* ---- expressions ---- */

/* The numbers of a term. */
struct term {
	uint8_t variable;
	struct sk_op_number factor, addend, divisor, modulus;
};

static struct term term_of(const struct sk_x86_emitter *e, const struct sk_plan_argument *argument, uint64_t number)
{
	const struct sk_plan_term *term = &e->program->plan->terms[argument->index + number];

	return (struct term){
		.variable = term->variable,
		.factor = SK_OP_NUMBER(e->program, SK_DIMS_TERMS, terms, term, factor),
		.addend = SK_OP_NUMBER(e->program, SK_DIMS_TERMS, terms, term, addend),
		.divisor = SK_OP_NUMBER(e->program, SK_DIMS_TERMS, terms, term, divisor),
		.modulus = SK_OP_NUMBER(e->program, SK_DIMS_TERMS, terms, term, modulus),
	};
}

static bool varies(const struct term *term)
{
	return sk_op_varies(term->factor) || sk_op_varies(term->addend) || sk_op_varies(term->divisor) ||
	       sk_op_varies(term->modulus);
}

/* True for the number of elements of a call that is not divided, if it varies. */
static bool is_whole(const struct sk_op_call *call, uint8_t variable)
{
	return variable == SK_VARIABLE_SIZE && !call->divided && sk_op_varies(call->step_extent);
}

/* Get the value of a variable that is the same at every call. */
static bool is_known(const struct sk_x86_emitter *e, const struct sk_op_call *call, uint8_t variable, uint64_t *value)
{
	const struct sk_plan_loop *loop = NULL;

	if (is_whole(call, variable))
		return false;
	if (!call->divided && (variable == SK_VARIABLE_BEGIN || variable == SK_VARIABLE_SIZE)) {
		*value = variable == SK_VARIABLE_BEGIN ? 0 : call->extent;
		return true;
	}
	if (variable == SK_VARIABLE_SIZE && call->loop_count)
		loop = &call->loops[0];
	if (variable == SK_VARIABLE_INNER_SIZE)
		loop = &call->loops[1];
	if (!loop || !sk_x86_tiles_are_full(e, loop))
		return false;
	*value = loop->tile;
	return true;
}

/* True for a mere factor, with an addend that is part of the constant. */
static bool is_product(const struct term *term)
{
	return !varies(term) && term->divisor.number == 1 && term->modulus.number == 0;
}

/* Return the part of an expression that is the same at every call, and the number of other terms. */
static uint64_t constant_part(const struct sk_x86_emitter *e, const struct sk_op_call *call,
			      const struct sk_plan_argument *argument, uint32_t *variable_terms)
{
	const struct sk_plan_term *terms = &e->program->plan->terms[argument->index];
	uint64_t constant = SK_OP_ARGUMENT_NUMBER(e->program, call->record, argument, value).number, value;

	*variable_terms = 0;
	for (uint64_t i = 0; i < argument->size; i++) {
		struct term term = term_of(e, argument, i);

		if (!varies(&term) && is_known(e, call, term.variable, &value)) {
			constant += sk_plan_term_value(&terms[i], value);
			continue;
		}
		++*variable_terms;
		if (is_product(&term))
			constant += term.factor.number * term.addend.number;
	}
	return constant;
}

/* True if the term needs no register but its own. */
static bool is_small(const struct term *term)
{
	uint64_t modulus = term->modulus.number, factor = term->factor.number;
	bool shifts = is_power(term->divisor.number) && (modulus == 0 || is_power(modulus));

	return !varies(term) && (sk_x86_is_i32(factor) || is_power(factor)) &&
	       (is_product(term) || (sk_x86_is_i32(term->addend.number) && shifts));
}

bool sk_x86_is_early(const struct sk_x86_emitter *e, const struct sk_op_call *call,
		     const struct sk_plan_argument *argument)
{
	uint64_t value;
	uint32_t count;

	if (argument->kind != SK_ARGUMENT_EXPRESSION)
		return false;
	if (sk_op_varies(SK_OP_ARGUMENT_NUMBER(e->program, call->record, argument, value)))
		return true;
	bool small = sk_x86_is_i32(constant_part(e, call, argument, &count));

	for (uint64_t i = 0; i < argument->size; i++) {
		struct term term = term_of(e, argument, i);

		small &= (!varies(&term) && is_known(e, call, term.variable, &value)) ||
			 (is_small(&term) && !is_whole(call, term.variable));
	}
	return count && !small;
}

void sk_x86_load_extent(struct sk_x86_emitter *e, const struct sk_op_call *call, uint8_t into)
{
	sk_x86_set_number(e, into, call->step_extent);
	multiply(e, into, into, call->record->scale);
}

static void load_variable(struct sk_x86_emitter *e, const struct sk_op_call *call, uint8_t variable, uint8_t into)
{
	uint64_t value;

	if (is_whole(call, variable))
		sk_x86_load_extent(e, call, into);
	else if (is_known(e, call, variable, &value))
		sk_x86_set_register(e, into, value);
	else if (variable == SK_VARIABLE_BEGIN || variable == SK_VARIABLE_SIZE)
		PUT(e, MOVE64, .rm = into, .reg = variable == SK_VARIABLE_BEGIN ? LOW : LENGTH);
	else if (variable == SK_VARIABLE_BLOCK)
		PUT(e, LOAD32, .reg = into, .rm = SK_RSP, .disp = (int32_t)e->frame.block + BLOCK_INDEX);
	else
		PUT(e, LOAD64, .reg = into, .rm = SK_RSP, .disp = sk_x86_tile_variable(e, variable));
}

/* Return the largest value of the variable. */
static uint64_t variable_limit(const struct sk_op_call *call, uint8_t variable)
{
	if (variable == SK_VARIABLE_BLOCK)
		return UINT32_MAX - 1;
	return variable >= SK_VARIABLE_INNER_BEGIN ? call->loops[1].extent : call->extent;
}

/* at = at / divisor, or the remainder. `at` is rdi or rax. narrow: it is less than 2^32. */
static void divide(struct sk_x86_emitter *e, uint8_t at, struct sk_op_number divisor, bool rest, bool narrow)
{
	/* mov rax, at; xor edx, edx; mov ecx, divisor; div rcx; mov at, rax or rdx */
	if (at != SK_RAX)
		PUT(e, MOVE64, .rm = SK_RAX, .reg = at);
	PUT(e, ZERO32, .reg = SK_RDX, .rm = SK_RDX);
	sk_x86_set_number(e, SK_RCX, divisor);
	sk_x86_put(e,
		   narrow && !sk_op_varies(divisor) && divisor.number <= UINT32_MAX ? SK_X86_DIVIDE32 : SK_X86_DIVIDE64,
		   (struct sk_x86_operands){.rm = SK_RCX});
	if (at != (rest ? SK_RDX : SK_RAX))
		PUT(e, MOVE64, .rm = at, .reg = rest ? SK_RDX : SK_RAX);
}

/* at = at modulo a power of two */
static void mask(struct sk_x86_emitter *e, uint8_t at, uint64_t modulus)
{
	uint64_t above = 64 - (uint64_t)__builtin_ctzll(modulus);

	if (sk_x86_is_i32(modulus - 1)) {
		PUT(e, AND64_IMMEDIATE, .rm = at, .immediate = modulus - 1);
		return;
	}
	PUT(e, SHIFT_LEFT64, .rm = at, .immediate = above);
	PUT(e, SHIFT_RIGHT64, .rm = at, .immediate = above);
}

/* into = a term; the addend of a mere product is part of the constant. */
static void compute_term(struct sk_x86_emitter *e, const struct sk_op_call *call, const struct term *term, uint8_t into)
{
	uint64_t limit = variable_limit(call, term->variable), factor = term->factor.number;
	uint64_t divisor = term->divisor.number, modulus = term->modulus.number;
	bool narrow = !sk_op_varies(term->addend) && !__builtin_add_overflow(limit, term->addend.number, &limit) &&
		      limit <= UINT32_MAX;

	load_variable(e, call, term->variable, into);
	if (sk_op_varies(term->addend))
		PUT(e, ADD64_MEMORY, .reg = into, .rm = BINDINGS, .disp = sk_x86_slot(e, term->addend));
	else if (!is_product(term))
		sk_x86_add(e, into, term->addend.number);
	if (!is_power(divisor))
		divide(e, into, term->divisor, false, narrow);
	else if (divisor != 1)
		PUT(e, SHIFT_RIGHT64, .rm = into, .immediate = (uint64_t)__builtin_ctzll(divisor));
	if (is_power(modulus))
		mask(e, into, modulus);
	else if (modulus || sk_op_varies(term->modulus))
		divide(e, into, term->modulus, true, narrow);
	if (sk_op_varies(term->factor) || is_power(factor) || sk_x86_is_i32(factor)) {
		multiply_number(e, into, into, term->factor);
	} else {
		sk_x86_set_register(e, SK_RCX, factor);
		PUT(e, MULTIPLY64, .reg = into, .rm = SK_RCX);
	}
}

/* Integers of less than 32 bits are extended to the whole register. */
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

void sk_x86_compute_expression(struct sk_x86_emitter *e, const struct sk_op_call *call,
			       const struct sk_plan_argument *argument, uint8_t into, uint8_t scratch)
{
	struct sk_op_number own = SK_OP_ARGUMENT_NUMBER(e->program, call->record, argument, value);
	uint32_t count;
	uint64_t constant = constant_part(e, call, argument, &count), value;
	uint8_t at = into;

	for (uint64_t i = 0; i < argument->size; i++) {
		struct term term = term_of(e, argument, i);

		if (!varies(&term) && is_known(e, call, term.variable, &value))
			continue;
		compute_term(e, call, &term, at);
		if (at != into)
			PUT(e, ADD64, .rm = into, .reg = at);
		at = scratch;
	}
	if (count == 0)
		sk_x86_set_register(e, into, 0);
	sk_x86_add(e, into, constant);
	if (sk_op_varies(own))
		PUT(e, ADD64_MEMORY, .reg = into, .rm = BINDINGS, .disp = sk_x86_slot(e, own));
	extend(e, into, argument->dtype);
}

bool sk_x86_is_constant(const struct sk_x86_emitter *e, const struct sk_op_call *call,
			const struct sk_plan_argument *argument, uint64_t *bits)
{
	uint32_t variable_terms = 0;
	bool scalar = argument->kind == SK_ARGUMENT_VALUE || argument->kind == SK_ARGUMENT_EXPRESSION;

	if (scalar && sk_op_varies(SK_OP_ARGUMENT_NUMBER(e->program, call->record, argument, value)))
		return false;
	if (argument->kind == SK_ARGUMENT_VALUE)
		*bits = argument->value;
	else if (argument->kind == SK_ARGUMENT_EXPRESSION)
		*bits = constant_part(e, call, argument, &variable_terms);
	else if (argument->kind != SK_ARGUMENT_LENGTH || !is_known(e, call, SK_VARIABLE_SIZE, bits))
		return false;
	*bits = sk_scalar_bits(*bits, argument->dtype);
	return variable_terms == 0;
}
