/* Growing x86-64 code: instructions, labels, jumps, relocations. In: calls from the other files of the emitter. Out:
 * bytes in sk_code. Short programs are made in one pass with short jumps, if these reach. Otherwise the first pass
 * makes them long and determines the distances, which can only shrink in the second one. */
#include "stubs/x86_64/emitter.h"

#include "base/arena.h"
#include "format/x86_64/registers.h"
#include "stubs/dispatcher/dispatcher.h"

void sk_x86_put(struct sk_x86_emitter *e, enum sk_x86_form form, struct sk_x86_operands operands)
{
	__typeof__(e->code->bytes) *bytes = &e->code->bytes;

	while (bytes->capacity < bytes->count + SK_X86_LONGEST)
		bytes->items = sk_array_reserve(e->code->arena, bytes->items, bytes->capacity, &bytes->capacity, 1);
	bytes->count += sk_x86_encode(bytes->items + bytes->count, form, operands);
}

uint32_t sk_x86_new_label(struct sk_x86_emitter *e)
{
	return e->label_count++;
}

void sk_x86_set_label(struct sk_x86_emitter *e, uint32_t label)
{
	while (e->labels.count <= label)
		sk_array_push(e->arena, &e->labels, 0);
	e->labels.items[label] = sk_x86_here(e);
}

/* The far form follows the near one in the enum. */
void sk_x86_jump(struct sk_x86_emitter *e, enum sk_x86_form form, uint32_t label)
{
	size_t number = e->jump_count++;

	if (e->jumps.count == number)
		sk_array_push(e->arena, &e->jumps, (struct sk_x86_jump){.label = label, .near = e->try_near});

	struct sk_x86_jump *it = &e->jumps.items[number];

	sk_x86_put(e, it->near ? form : form + 1, (struct sk_x86_operands){0});
	it->end = sk_x86_here(e);
}

static int64_t distance(const struct sk_x86_emitter *e, const struct sk_x86_jump *it)
{
	return (int64_t)(e->labels.items[it->label] - it->end);
}

bool sk_x86_choose_near_jumps(struct sk_x86_emitter *e)
{
	bool changed = false;

	for (size_t i = 0; i < e->jumps.count; i++) {
		struct sk_x86_jump *it = &e->jumps.items[i];
		bool near = distance(e, it) == (int8_t)distance(e, it);

		changed |= near != it->near;
		it->near = near;
	}
	return changed;
}

void sk_x86_patch_jumps(struct sk_x86_emitter *e)
{
	for (size_t i = 0; i < e->jumps.count; i++) {
		const struct sk_x86_jump *it = &e->jumps.items[i];
		unsigned size = it->near ? 1 : 4;

		for (unsigned byte = 0; byte < size; byte++)
			e->code->bytes.items[it->end - size + byte] = (uint8_t)(distance(e, it) >> 8 * byte);
	}
}

void sk_x86_relocate(struct sk_x86_emitter *e, bool call, enum sk_code_target target, uint32_t index, uint64_t offset)
{
	sk_array_push(e->code->arena, &e->code->relocations,
		      (struct sk_code_relocation){
			      .offset = sk_x86_here(e) - 4,
			      .call = call,
			      .target = target,
			      .index = index,
			      .addend = (int64_t)offset - 4,
		      });
}

void sk_x86_set_register(struct sk_x86_emitter *e, uint8_t reg, uint64_t value)
{
	if (value == 0)
		PUT(e, ZERO32, .reg = reg, .rm = reg);
	else if (value <= UINT32_MAX)
		PUT(e, SET32, .rm = reg, .immediate = value);
	else if (value == (uint64_t)(int32_t)value)
		PUT(e, SET64_SIGNED, .rm = reg, .immediate = value);
	else
		PUT(e, SET64, .rm = reg, .immediate = value);
}

void sk_x86_add(struct sk_x86_emitter *e, uint8_t reg, uint64_t value)
{
	if (value == 0)
		return;
	if (value == (uint64_t)(int8_t)value) {
		PUT(e, ADD64_BYTE, .rm = reg, .immediate = value);
	} else if (value == (uint64_t)(int32_t)value) {
		PUT(e, ADD64_IMMEDIATE, .rm = reg, .immediate = value);
	} else {
		sk_x86_set_register(e, SK_RCX, value);
		PUT(e, ADD64, .rm = reg, .reg = SK_RCX);
	}
}

void sk_x86_begin_part(struct sk_x86_emitter *e, uint32_t task, bool frame)
{
	e->part = (struct sk_code_part){.offset = sk_x86_here(e), .task = task, .frame = frame};
	sk_array_push(e->code->arena, &e->code->parts, e->part);
}
