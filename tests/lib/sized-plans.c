/* See sized-plans.h. */
#include "tests/lib/sized-plans.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/plan/dims.h"
#include "format/plan/plan.h"
#include "format/skdims.h"
#include "format/skplan.h"
#include "tests/lib/plan-builder.h"

enum { READ = SK_ACCESS_READ, WRITE = SK_ACCESS_WRITE, ONCE_OFFSET = 192 };

/* ---- numbers that depend on two sizes ---- */

static struct sized_number times(struct sized_number a, uint64_t factor)
{
	return (struct sized_number){a.one * factor,  a.s * factor,    a.t * factor,	 a.st * factor,
				     a.half * factor, a.less * factor, a.least * factor, a.most * factor};
}

static struct sized_number sum(struct sized_number a, struct sized_number b)
{
	return (struct sized_number){a.one + b.one,   a.s + b.s,       a.t + b.t,	  a.st + b.st,
				     a.half + b.half, a.less + b.less, a.least + b.least, a.most + b.most};
}

uint64_t sized_number_at(struct sized_number a, uint64_t s, uint64_t t)
{
	return a.one + a.s * s + a.t * t + a.st * s * t + a.half * (s / 2) + a.less * (s - 1) +
	       a.least * (s < 2 * t ? s : 2 * t) + a.most * (s > 2 * t ? s : 2 * t);
}

/* The number at the largest sizes. */
static uint64_t largest(struct sized_number a)
{
	return sized_number_at(a, SIZED_S, SIZED_T);
}

static bool varies(struct sized_number a)
{
	return a.s || a.t || a.st || a.half || a.less || a.least || a.most;
}

/* ---- the section ---- */

/* The values and fields that are being put into a section. */
struct sized_section {
	struct sk_arena *arena;
	struct sized_program *program; /* NULL: none */
	uint64_t most[2];
	SK_ARRAY(struct sk_dims_value) values;
	SK_ARRAY(struct sk_dims_field) fields;
	SK_ARRAY(struct sk_dims_slot) slots;
	bool foreign; /* the sizes are those of a network "T" */
};

static uint32_t put(struct sized_section *section, enum sk_dims_op op, uint32_t a, uint32_t b, uint64_t number)
{
	const struct sk_dims_value value = {.op = (uint8_t)op, .a = a, .b = b, .number = number};

	for (uint32_t i = 0; i < section->values.count; i++)
		if (memcmp(&section->values.items[i], &value, sizeof(value)) == 0)
			return i;
	sk_array_push(section->arena, &section->values, value);
	return (uint32_t)section->values.count - 1;
}

static uint32_t put_term(struct sized_section *section, uint32_t sum, uint64_t factor, uint32_t value)
{
	uint32_t number = put(section, SK_DIMS_NUMBER, 0, 0, factor);

	return factor ? put(section, SK_DIMS_ADD, sum, put(section, SK_DIMS_MULTIPLY, number, value, 0), 0) : sum;
}

static uint32_t put_number(struct sized_section *section, struct sized_number a)
{
	uint32_t s = put(section, SK_DIMS_DIMENSION, 0, 0, 0), t = put(section, SK_DIMS_DIMENSION, 1, 0, 0);
	uint32_t both = put(section, SK_DIMS_ADD, t, t, 0), value = put(section, SK_DIMS_NUMBER, 0, 0, a.one);

	value = put_term(section, value, a.s, s);
	value = put_term(section, value, a.t, t);
	value = put_term(section, value, a.st, put(section, SK_DIMS_MULTIPLY, s, t, 0));
	value = put_term(section, value, a.half, put(section, SK_DIMS_FLOOR, s, 0, 2));
	value = put_term(section, value, a.less, put(section, SK_DIMS_SUBTRACT, s, 0, 1));
	value = put_term(section, value, a.least, put(section, SK_DIMS_MIN, s, both, 0));
	return put_term(section, value, a.most, put(section, SK_DIMS_MAX, s, both, 0));
}

static uint32_t below(struct sized_program *program, uint32_t limit)
{
	program->state = program->state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(program->state >> 33) % limit;
}

static void put_value(struct sized_section *section, enum sk_dims_table table, size_t record, size_t offset,
		      uint32_t value)
{
	const struct sk_dims_field field = {
		.table = (uint16_t)table, .offset = (uint16_t)offset, .record = (uint32_t)record, .value = value};

	if (!section->program || !section->program->dropped || below(section->program, section->program->dropped))
		sk_array_push(section->arena, &section->fields, field);
}

void sized_section_put(struct sized_section *section, enum sk_dims_table table, size_t record, size_t offset,
		       struct sized_number a)
{
	if (varies(a))
		put_value(section, table, record, offset, put_number(section, a));
}

static int compare_fields(const void *a, const void *b)
{
	const struct sk_dims_field *one = a, *other = b;
	uint64_t left = (uint64_t)one->table << 48 | (uint64_t)one->record << 16 | one->offset;
	uint64_t right = (uint64_t)other->table << 48 | (uint64_t)other->record << 16 | other->offset;

	return (left > right) - (left < right);
}

void sized_section_add_slot(struct sized_section *section, struct sized_number a)
{
	sk_array_push(section->arena, &section->slots, (struct sk_dims_slot){put_number(section, a)});
}

void sized_section_make_foreign(struct sized_section *section)
{
	section->foreign = true;
}

struct sized_section *sized_section_begin(struct sk_arena *arena, uint64_t s, uint64_t t)
{
	struct sized_section *section = SK_NEW(arena, struct sized_section);

	section->arena = arena;
	section->most[0] = s;
	section->most[1] = t;
	return section;
}

static void set_table(struct sk_plan_table *table, char **end, const void *records, size_t count, size_t size)
{
	*table = (struct sk_plan_table){(int32_t)(*end - (const char *)table), (uint32_t)count};
	if (count)
		memcpy(*end, records, count * size);
	*end += (count * size + 7) / 8 * 8;
}

#define SET_TABLE(name, records, count) set_table(&dims->name, &end, (records), (count), sizeof(*(records)))

void sized_section_finish(struct sized_section *section, struct sized_plan *plan)
{
	static const char names[] = "S\0T";
	struct sk_dims_dimension dimensions[] = {{.least = 1, .most = section->most[0], .multiple = 1, .usual = 1},
						 {.least = 1, .most = section->most[1], .multiple = 1, .usual = 1}};
	size_t room = sizeof(struct sk_dims) + sizeof(dimensions) + sizeof(names) + 32 +
		      section->values.count * sizeof(*section->values.items) +
		      section->fields.count * sizeof(*section->fields.items) +
		      section->slots.count * sizeof(*section->slots.items);
	struct sk_dims *dims = (struct sk_dims *)SK_NEW_ARRAY(section->arena, uint64_t, room / 8 + 1);
	char *end = (char *)(dims + 1);

	if (section->fields.count)
		qsort(section->fields.items, section->fields.count, sizeof(*section->fields.items), compare_fields);
	*dims = (struct sk_dims){.magic = SK_DIMS_MAGIC, .version = SK_DIMS_VERSION};
	SET_TABLE(dimensions, dimensions, 2);
	SET_TABLE(values, section->values.items, section->values.count);
	SET_TABLE(fields, section->fields.items, section->fields.count);
	SET_TABLE(slots, section->slots.items, section->slots.count);
	SET_TABLE(strings, names, sizeof(names));
	for (int i = 0; i < 2; i++) {
		struct sk_dims_dimension *dimension = (struct sk_dims_dimension *)(dims + 1) + i;
		const char *strings = (const char *)&dims->strings + dims->strings.offset;

		dimension->name = (int32_t)(strings + 2 * i - (const char *)&dimension->name);
		if (section->foreign)
			dimension->network = (int32_t)(strings + 2 - (const char *)&dimension->network);
	}
	plan->section = dims;
	plan->size = dims->size = (uint64_t)(end - (char *)dims);
}

/* ---- random programs ---- */

static struct sized_number pick(struct sized_program *program, const struct sized_number *numbers, uint32_t count)
{
	return numbers[below(program, count)];
}

#define PICK(program, ...)                                                                                             \
	pick((program), (const struct sized_number[]){__VA_ARGS__},                                                    \
	     sizeof((const struct sized_number[]){__VA_ARGS__}) / sizeof(struct sized_number))
#define N(...)                                                                                                         \
	{                                                                                                              \
		__VA_ARGS__                                                                                            \
	}

static struct sized_number random_extent(struct sized_program *program)
{
	return PICK(program, N(0, 1), N(0, 1), N(0, 2), N(1, 1), N(2), N(4), N(0, 0, 0, 1), N(0, 0, 2), N(0, 0, 1),
		    N(1, 0, 0, 0, 1), N(0, 2, 0, 0, 2), N(0, 0, 0, 0, 1), N(0, 0, 0, 0, 0, 1), N(0, 0, 0, 0, 0, 0, 1),
		    N(0, 0, 0, 0, 0, 0, 0, 1));
}

static struct sized_number random_offset(struct sized_program *program)
{
	return PICK(program, N(0), N(0), N(0), N(0), N(0, 1), N(2), N(4), N(1, 1), N(0, 0, 0, 1), N(0, 0, 1), N(0, 2),
		    N(0, 0, 0, 0, 1), N(0, 0, 0, 0, 0, 1), N(0, 0, 0, 0, 0, 0, 1), N(0, 0, 0, 0, 0, 0, 0, 1));
}

static void random_rows(struct sized_program *program, struct sized_step *step, struct sized_access *access,
			bool divided)
{
	access->width = PICK(program, N(1), N(2), N(0, 1), N(0, 0, 1), N(0, 0, 0, 0, 1));
	access->count = divided ? step->extent : PICK(program, N(2), N(0, 0, 1), N(0, 1), N(1, 1), N(3));
	access->stride = PICK(program, N(4), N(8), N(0, 1), N(0, 2), N(0, 1, 1), N(2, 1), N(5));
	access->offset = PICK(program, N(0), N(0), N(0, 1), N(2), N(0, 0, 1));
	access->element_bytes = divided ? access->stride : (struct sized_number){0};
}

static void random_access(struct sized_program *program, struct sized_step *step, struct sized_access *access)
{
	bool divides = step->kind != SK_STEP_PLAIN;
	unsigned kind = below(program, 8);
	bool divided = divides && (kind > 3 || below(program, 4));
	uint64_t bytes = below(program, 3) ? 1 : 2;

	*access = (struct sized_access){.tensor = below(program, SIZED_TENSORS), .access = kind > 3 ? WRITE : READ};
	access->offset = random_offset(program);
	if (below(program, 8) == 0) {
		random_rows(program, step, access, divided);
		return;
	}
	access->element_bytes = divided ? (struct sized_number){bytes} : (struct sized_number){0};
	access->size = divided ? times(step->extent, bytes)
			       : PICK(program, N(0, 1), N(1), N(2), N(4), N(0, 2), N(0, 0, 1), N(0, 0, 0, 1),
				      N(0, 0, 0, 0, 0, 1), N(0, 0, 0, 0, 0, 0, 1));
	access->shaped = below(program, 8) == 0;
	if (divided && access->access == READ && below(program, 6) == 0) {
		access->halo = PICK(program, N(1), N(2), N(0, 1), N(0, 0, 1), N(0, 0, 0, 0, 1));
		access->size = sum(access->size, below(program, 4) ? access->halo : (struct sized_number)N(2));
	}
}

static void random_step(struct sized_program *program, uint32_t number)
{
	struct sized_step *step = &program->steps[number];
	const struct sized_step *before = number ? step - 1 : NULL;
	uint32_t kind = below(program, 8);

	step->kind = kind < 2 ? SK_STEP_PLAIN : kind == 2 ? SK_STEP_BLOCKS_RANGE : SK_STEP_SPLIT;
	step->extent = random_extent(program);
	step->unit = PICK(program, N(1), N(1), N(1), N(1), N(2), N(2), N(0, 0, 1), N(0, 1));
	step->group = step->kind == SK_STEP_SPLIT && below(program, 12) == 0 ? 4 : 0;
	step->first_core = below(program, 4) == 0;
	step->blocks = 1 + below(program, 3);
	step->tile = step->kind == SK_STEP_SPLIT && below(program, 8) == 0 ? 1 + below(program, 2) : 0;
	step->inner = (struct sized_number){0};
	step->loop = below(program, 4) ? step->extent : random_extent(program);
	step->stream = below(program, 2);
	step->same_step = before && before->kind == SK_STEP_SPLIT && below(program, 5) == 0;
	if (step->same_step) {
		step->kind = before->kind;
		step->extent = before->extent;
		step->tile = 0; /* a step of several calls has no loops */
	}
	for (uint32_t i = 0; i < number; i++)
		step->awaits[i] = below(program, 3) == 0;
	step->access_count = 1 + below(program, 2);
	for (uint32_t i = 0; i < step->access_count; i++)
		random_access(program, step, &step->accesses[i]);
}

/* Return the number, or another one that is equal at the largest sizes. */
static struct sized_number perhaps(struct sized_program *program, struct sized_number a)
{
	uint64_t most = sized_number_at(a, SIZED_S, SIZED_T);
	uint32_t kind = below(program, 24);

	if (kind > 3 || most % (SIZED_S * SIZED_T))
		return a;
	return kind == 0   ? (struct sized_number){most}
	       : kind == 1 ? (struct sized_number){.s = most / SIZED_S}
	       : kind == 2 ? (struct sized_number){.t = most / SIZED_T}
			   : (struct sized_number){most / 2, .s = most / 2 / SIZED_S};
}

static struct sized_access tile_access(struct sized_program *program, const struct sized_step *step, uint64_t bytes,
				       unsigned access)
{
	return (struct sized_access){.tensor = SIZED_TILED,
				     .access = access,
				     .size = perhaps(program, times(step->extent, bytes)),
				     .element_bytes = perhaps(program, (struct sized_number){bytes / step->scale})};
}

/* The last two steps become one in tiles: the first call writes a temporary in the scratch, and the second one, of
 * perhaps twice as many elements, reads it. No other step has the temporary. */
static void use_scratch(struct sized_program *program)
{
	struct sized_step *second = &program->steps[program->step_count - 1], *first = second - 1;
	uint64_t bytes = 16U << below(program, 3);

	for (uint32_t i = 0; i < program->step_count; i++)
		for (uint32_t a = 0; a < program->steps[i].access_count; a++)
			program->steps[i].accesses[a].tensor -= program->steps[i].accesses[a].tensor == SIZED_TILED;
	*first = (struct sized_step){.kind = SK_STEP_SPLIT,
				     .extent = random_extent(program),
				     .unit = perhaps(program, (struct sized_number){below(program, 4) ? 4 : 8}),
				     .group = 8,
				     .scale = 1,
				     .access_count = 2};
	*second = *first;
	second->same_step = true;
	second->scale += below(program, 2);
	random_access(program, first, &first->accesses[0]);
	random_access(program, second, &second->accesses[0]);
	for (int i = 0; i < 2; i++)
		first[i].accesses[0].tensor -= first[i].accesses[0].tensor == SIZED_TILED;
	if (second->scale > 1)
		second->accesses[0].size = times(second->accesses[0].size, second->scale);
	first->accesses[1] = tile_access(program, first, bytes, WRITE);
	second->accesses[1] = tile_access(program, second, bytes, READ);
	program->scratch = 64 + 8 * bytes;
	program->offsets[SIZED_TILED] = 64;
	program->moved = perhaps(program, (struct sized_number){64});
	program->bytes[SIZED_TILED] = perhaps(program, times(first->extent, bytes));
	program->filled[SIZED_TILED] = (struct sized_number){0};
}

/* Plain steps become steps in blocks, which may leave awaits to the cores with a block. */
static void use_blocks(struct sized_program *program)
{
	for (uint32_t i = 0; i < program->step_count; i++) {
		struct sized_step *step = &program->steps[i];

		if (step->kind == SK_STEP_PLAIN) {
			step->kind = SK_STEP_BLOCKS;
			step->blocks = 2 + below(program, 2);
			step->first_core = below(program, 4);
		}
		step->owns = step->kind != SK_STEP_SPLIT && below(program, 4);
		for (uint32_t j = 0; j < i; j++)
			step->awaits[j] |= below(program, 2);
	}
}

void sized_program_make(struct sized_program *program, uint64_t seed)
{
	*program = (struct sized_program){.state = seed * 0x9e3779b97f4a7c15u + 1};
	program->lists = below(program, 2);
	program->dropped = below(program, 4) ? 0 : 10;
	for (uint32_t i = 0; i < SIZED_TENSORS; i++) {
		program->offsets[i] = 16 * below(program, 4);
		program->bytes[i] =
			PICK(program, N(48), N(48), N(48), N(48), N(0, 0, 0, 6), N(0, 12), N(0, 0, 24), N(16, 8));
		program->filled[i] = below(program, 8)	 ? program->bytes[i]
				     : below(program, 2) ? PICK(program, N(8), N(0, 4), N(0, 0, 0, 2), N(4, 1))
							 : (struct sized_number){0};
	}
	program->step_count = 2 + below(program, SIZED_STEPS - 1);
	for (uint32_t i = 0; i < program->step_count; i++)
		random_step(program, i);
	if (below(program, 8) == 0)
		use_scratch(program);
	if (below(program, 4) == 0)
		use_blocks(program);
}

/* ---- plans of programs ---- */

static const char *const names[SIZED_TENSORS] = {"x", "t", "u", "v", "y"};

struct making {
	struct plan *plan;
	struct sized_section section;
	const struct sized_program *program;
	enum sk_dims_table table; /* of arguments */
	size_t arguments, patterns, loops;
};

#define PUT_FIELD(making, table, record, type, field, number)                                                          \
	sized_section_put(&(making)->section, (table), (record), offsetof(struct type, field), (number))

static void make_tensor(struct making *making, uint32_t number)
{
	struct sized_number bytes = making->program->bytes[number];
	uint64_t most = largest(bytes);
	uint32_t tensor =
		number == 0		      ? plan_tensor(making->plan, names[0], SK_U8, most, SK_ROLE_INOUT)
		: number == SIZED_TENSORS - 1 ? plan_tensor(making->plan, names[number], SK_U8, most, SK_ROLE_OUTPUT)
		: number == SIZED_TILED && making->program->scratch
			? plan_tile_tensor(making->plan, names[number], SK_U8, most, making->program->offsets[number])
			: plan_temporary(making->plan, names[number], SK_U8, most, making->program->offsets[number]);

	PUT_FIELD(making, SK_DIMS_TYPES, tensor, sk_plan_type, bytes, bytes);
	PUT_FIELD(making, SK_DIMS_TYPES, tensor, sk_plan_type, shape, bytes);
}

/* The rows' bytes, from the first one's start to the last one's end. */
static void put_rows(struct making *making, const struct sized_access *access)
{
	struct sized_section *section = &making->section;
	uint32_t count = put(section, SK_DIMS_SUBTRACT, put_number(section, access->count), 0, 1), size;

	size = put(section, SK_DIMS_MULTIPLY, count, put_number(section, access->stride), 0);
	size = put(section, SK_DIMS_ADD, size, put_number(section, access->width), 0);
	put_value(section, making->table, making->arguments, offsetof(struct sk_plan_argument, size), size);
	PUT_FIELD(making, SK_DIMS_PATTERNS, making->patterns, sk_plan_pattern, width, access->width);
	PUT_FIELD(making, SK_DIMS_PATTERNS, making->patterns, sk_plan_pattern, stride, access->stride);
	PUT_FIELD(making, SK_DIMS_PATTERNS, making->patterns, sk_plan_pattern, count, access->count);
}

static void put_shape(struct making *making, const struct sized_access *access, bool in_rows)
{
	size_t shape = offsetof(struct sk_plan_pattern, shape);

	if (!access->shaped)
		return;
	PUT_FIELD(making, SK_DIMS_PATTERNS, making->patterns, sk_plan_pattern, shape,
		  in_rows ? access->count : access->size);
	if (in_rows)
		sized_section_put(&making->section, SK_DIMS_PATTERNS, making->patterns, shape + sizeof(uint64_t),
				  access->width);
}

static void make_pattern(struct making *making, const struct sized_access *access)
{
	bool in_rows = largest(access->count) != 0;
	struct sk_plan_pattern pattern = {.width = largest(access->width),
					  .stride = largest(access->stride),
					  .count = largest(access->count),
					  .halo = largest(access->halo)};

	if (access->shaped) {
		pattern.rank = 1 + in_rows;
		pattern.shape[0] = largest(in_rows ? access->count : access->size);
		pattern.shape[1] = largest(access->width);
	}
	if (in_rows || access->shaped || pattern.halo) {
		plan_pattern(making->plan, pattern);
		put_shape(making, access, in_rows);
		PUT_FIELD(making, SK_DIMS_PATTERNS, making->patterns, sk_plan_pattern, halo, access->halo);
	}
	if (in_rows)
		put_rows(making, access);
	else
		PUT_FIELD(making, making->table, making->arguments, sk_plan_argument, size, access->size);
	making->patterns += in_rows || access->shaped || pattern.halo;
}

/* In a list the offset is relative to the tensor. */
static void make_access(struct making *making, const struct sized_access *access)
{
	struct sized_number offset = access->offset;
	bool in_rows = largest(access->count) != 0;
	uint64_t size = in_rows ? (largest(access->count) - 1) * largest(access->stride) + largest(access->width)
				: largest(access->size);

	plan_part(making->plan, access->tensor, access->access, largest(offset), size, largest(access->element_bytes));
	if (!making->program->lists && access->tensor == SIZED_TENSORS)
		offset.one += ONCE_OFFSET;
	else if (!making->program->lists && access->tensor != 0 && access->tensor != SIZED_TENSORS - 1)
		offset.one += making->program->offsets[access->tensor];
	if (making->program->scratch && access->tensor == SIZED_TILED && access->access == READ &&
	    !making->program->lists && varies(making->program->moved))
		offset = making->program->moved;
	PUT_FIELD(making, making->table, making->arguments, sk_plan_argument, offset, offset);
	PUT_FIELD(making, making->table, making->arguments, sk_plan_argument, element_bytes, access->element_bytes);
	make_pattern(making, access);
	making->arguments++;
}

static uint32_t add_step(struct making *making, const struct sized_step *step)
{
	uint64_t extent = largest(step->extent);

	switch (step->kind) {
	case SK_STEP_SPLIT:
		return plan_split_by_blocks(making->plan, "split",
					    (struct sk_plan_partition){.extent = extent,
								       .unit = largest(step->unit),
								       .first_core = step->first_core});
	case SK_STEP_BLOCKS_RANGE:
		return plan_blocks_range(making->plan, "range", extent, step->blocks);
	case SK_STEP_BLOCKS:
		return plan_blocks(making->plan, "blocks", step->blocks);
	default:
		return plan_plain(making->plan, "plain", step->stream);
	}
}

static uint32_t make_step(struct making *making, const struct sized_step *step)
{
	uint32_t index = add_step(making, step);

	if (step->owns)
		plan_own_awaits(making->plan, (uint32_t)step->first_core);
	if (step->kind == SK_STEP_SPLIT || step->kind == SK_STEP_BLOCKS_RANGE)
		PUT_FIELD(making, SK_DIMS_STEPS, index, sk_plan_step, extent, step->extent);
	if (step->tile) {
		plan_loop(making->plan, largest(step->loop), step->tile);
		PUT_FIELD(making, SK_DIMS_LOOPS, making->loops++, sk_plan_loop, extent, step->loop);
	}
	if (largest(step->inner)) {
		plan_loop(making->plan, largest(step->inner), step->tile);
		PUT_FIELD(making, SK_DIMS_LOOPS, making->loops++, sk_plan_loop, extent, step->inner);
	}
	if (step->group) {
		plan_tile(making->plan, step->group);
	}
	return index;
}

static void make_filling(struct making *making)
{
	plan_launch(making->plan, "fill", SK_LAUNCH_SUPERKERNEL);
	plan_plain(making->plan, "fill", 0);
	for (uint32_t i = 0; i < SIZED_TENSORS; i++) {
		const struct sized_access access = {
			.tensor = i, .access = SK_ACCESS_WRITE, .size = making->program->filled[i]};

		if (largest(access.size))
			make_access(making, &access);
	}
}

/* A launch that runs once, with a tensor of its own behind the others. */
static void make_once(struct making *making)
{
	const struct sized_access access = {
		.tensor = SIZED_TENSORS, .access = SK_ACCESS_WRITE, .size = making->program->once};

	if (!largest(access.size))
		return;
	plan_temporary(making->plan, "once", SK_U8, largest(access.size), ONCE_OFFSET);
	plan_launch(making->plan, "once", SK_LAUNCH_SINGLE);
	plan_once(making->plan);
	plan_plain(making->plan, "once", 0);
	make_access(making, &access);
}

/* Steps with equal extents at the largest sizes share a partition, which gets the value of the first of them: the proof
 * must find out that it is not that of another one. */
static void put_partitions(struct making *making, const struct sk_plan_view *view, const uint32_t *steps)
{
	bool seen[SIZED_STEPS] = {false};

	for (uint32_t i = 0; i < making->program->step_count; i++) {
		uint32_t partition = view->steps[steps[i]].partition;

		if (making->program->steps[i].kind == SK_STEP_SPLIT && !seen[partition]) {
			PUT_FIELD(making, SK_DIMS_PARTITIONS, partition, sk_plan_partition, extent,
				  making->program->steps[i].extent);
			PUT_FIELD(making, SK_DIMS_PARTITIONS, partition, sk_plan_partition, unit,
				  making->program->steps[i].unit);
		}
		if (partition != SK_NO_INDEX)
			seen[partition] = true;
	}
}

static void make_steps(struct making *making, uint32_t *steps)
{
	const struct sized_program *program = making->program;

	plan_launch(making->plan, "run", SK_LAUNCH_SUPERKERNEL);
	plan_follow(making->plan, 0);
	if (program->scratch)
		plan_scratch(making->plan, program->scratch);
	for (uint32_t i = 0; i < program->step_count; i++) {
		const struct sized_step *step = &program->steps[i];

		if (step->same_step)
			plan_call(making->plan, "more");
		steps[i] = step->same_step ? steps[i - 1] : make_step(making, step);
		if (step->scale > 1)
			plan_scale(making->plan, step->scale);
		for (uint32_t a = 0; a < step->access_count; a++)
			make_access(making, &step->accesses[a]);
		for (uint32_t j = 0; j < i && !step->same_step; j++)
			if (step->awaits[j] && steps[j] != steps[i])
				plan_await(making->plan, steps[j]);
	}
}

bool sized_plan_make(struct sk_arena *arena, const struct sized_program *program, struct sized_plan *plan)
{
	struct sized_program copy = *program; /* its random numbers are used up */
	struct making making = {.plan = plan_create(arena, 1),
				.section = {.arena = arena, .program = &copy, .most = {SIZED_S, SIZED_T}},
				.program = program,
				.table = program->lists ? SK_DIMS_LISTS : SK_DIMS_ARGUMENTS};
	uint32_t steps[SIZED_STEPS];
	char error[256];

	if (program->lists)
		plan_lists(making.plan);
	for (uint32_t i = 0; i < SIZED_TENSORS; i++)
		make_tensor(&making, i);
	make_filling(&making);
	make_once(&making);
	make_steps(&making, steps);
	*plan = (struct sized_plan){.view = plan_view(making.plan)};
	put_partitions(&making, &plan->view, steps);
	sized_section_finish(&making.section, plan);
	return sk_plan_check_all(&plan->view, error, sizeof(error)) &&
	       sk_dims_open(plan->section, plan->size, &plan->view, &plan->dims, error, sizeof(error));
}

void sized_plan_close(struct sized_plan *plan)
{
	sk_dims_close(&plan->dims);
	sk_plan_close(&plan->view);
}

/* ---- texts ---- */

static void print_number(const char *name, struct sized_number a)
{
	const struct {
		uint64_t factor;
		const char *text;
	} terms[] = {{a.s, "S"},	   {a.t, "T"},
		     {a.st, "ST"},	   {a.half, "floor(S/2)"},
		     {a.less, "(S-1)"},	   {a.least, "min(S,2T)"},
		     {a.most, "max(S,2T)"}};

	printf(" %s=%d", name, (int)a.one);
	for (size_t i = 0; i < sizeof(terms) / sizeof(*terms); i++)
		if (terms[i].factor)
			printf("+%d%s", (int)terms[i].factor, terms[i].text);
}

void sized_program_print(const struct sized_program *program)
{
	for (uint32_t i = 0; i < SIZED_TENSORS; i++) {
		printf("  %s at %d", names[i], (int)program->offsets[i]);
		print_number("bytes", program->bytes[i]);
		print_number("filled", program->filled[i]);
		printf("\n");
	}
	for (uint32_t i = 0; i < program->step_count; i++) {
		const struct sized_step *step = &program->steps[i];

		printf("  step %d%s", (int)step->kind, step->same_step ? " (same)" : "");
		print_number("extent", step->extent);
		printf("\n");
		for (uint32_t a = 0; a < step->access_count; a++) {
			const struct sized_access *access = &step->accesses[a];

			printf("    %s %s", access->access == WRITE ? "write" : "read", names[access->tensor]);
			print_number("offset", access->offset);
			print_number("size", access->size);
			print_number("width", access->width);
			print_number("stride", access->stride);
			print_number("count", access->count);
			print_number("halo", access->halo);
			printf("\n");
		}
	}
}
