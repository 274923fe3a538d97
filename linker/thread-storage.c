/* Thread-local storage (Drepper, "ELF Handling For Thread-Local Storage", 2013; psABI, "Thread-Local Storage"). The
 * package's thread-local variables lie in one block, of which each thread has a copy. Input: accesses to them. Output:
 * slots of the GOT, and the address and size of the block's image.
 *
 * A package is loaded like a shared object, so only its loader knows where a thread's block lies. Code either asks
 * __tls_get_addr with two words of the GOT, the block and an offset (local- and general-dynamic), or reads its distance
 * from the thread pointer from one word (initial-exec). Variables are the package's own, so their offsets are known,
 * and a general-dynamic access leaves no more to the loader than a local-dynamic one. Neither becomes initial-exec,
 * since the loader would then have to find room for the block at one distance in existing threads: glibc reserves some
 * hundred bytes for that, and libskrt as few. Descriptors (-mtls-dialect=gnu2) do become initial-exec: compilers do not
 * make them by default, and libskrt would need code to resolve them. */
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "format/relocation-types.h"
#include "linker/linker-parts.h"
#include "linker/linker.h"
#include "linker/object.h"
#include "linker/output.h"

bool sk_is_thread_expression(enum sk_expression expression)
{
	return expression >= SK_EXPRESSION_THREAD && expression <= SK_EXPRESSION_THREAD_OFFSET;
}

void sk_thread_destructors_find(struct sk_linker *linker)
{
	static const char *const names[] = {"__cxa_thread_atexit", "__cxa_thread_atexit_impl"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		linker->thread.destructors[i] = sk_map_find(&linker->symbol_numbers, names[i], strlen(names[i]));
}

bool sk_is_thread_destructor(const struct sk_linker *linker, sk_symbol symbol)
{
	return symbol == linker->thread.destructors[0] || symbol == linker->thread.destructors[1];
}

/* The key of slots. It has no gaps, since all its bytes are compared. */
struct key {
	uint64_t kind;
	const struct sk_input_section *section; /* NULL: that of the block's beginning, or of an import */
	uint64_t value; /* in the section; for an import its symbol */
};

/* SK_SLOT_ADDRESS: the expression needs no slot. */
static enum sk_slot_kind kind_of(enum sk_expression expression)
{
	switch (expression) {
	case SK_EXPRESSION_THREAD_SLOT:
	case SK_EXPRESSION_DESCRIPTOR:
		return SK_SLOT_DISTANCE;
	case SK_EXPRESSION_THREAD_PAIR:
	case SK_EXPRESSION_BLOCK_PAIR:
		return SK_SLOT_BLOCK;
	default:
		return SK_SLOT_ADDRESS;
	}
}

static struct key slot_key(enum sk_expression expression, const struct sk_target *target)
{
	if (expression == SK_EXPRESSION_BLOCK_PAIR)
		return (struct key){.kind = SK_SLOT_BLOCK};
	return (struct key){.kind = kind_of(expression),
			    .section = target->section,
			    .value = sk_is_import(target->kind) ? target->symbol : target->value};
}

static void add_slot(struct sk_linker *linker, enum sk_slot_kind kind, sk_symbol symbol, const struct key *key)
{
	sk_array_push(
		linker->arena, &linker->slots,
		(struct sk_got_slot){.kind = kind, .symbol = symbol, .section = key->section, .value = key->value});
}

void sk_thread_slots_need(struct sk_linker *linker, enum sk_expression expression, const struct sk_target *target)
{
	struct key key = slot_key(expression, target);
	uint32_t fresh = (uint32_t)linker->slots.count;

	if (key.kind == SK_SLOT_ADDRESS || sk_map_find(&linker->thread_slots, (char *)&key, sizeof(key)) != SK_NONE)
		return;

	struct key *kept = SK_NEW(linker->arena, struct key);

	*kept = key;
	sk_map_insert(&linker->thread_slots, (char *)kept, sizeof(*kept), fresh);
	if (target->section == &linker->guards) {
		/* Variables without a block: libskrt's __tls_get_addr, and glibc's, return about the offset alone. */
		add_slot(linker, SK_SLOT_ADDRESS, SK_NONE, &(struct key){0});
		add_slot(linker, SK_SLOT_ADDRESS, SK_NONE, &key);
		linker->address_count++;
		return;
	}
	linker->thread.is_static |= key.kind == SK_SLOT_DISTANCE && target->kind == SK_TARGET_THREAD_LOCAL;
	add_slot(linker, (enum sk_slot_kind)key.kind, sk_is_import(target->kind) ? target->symbol : SK_NONE, &key);
	if (key.kind == SK_SLOT_BLOCK)
		add_slot(linker, SK_SLOT_OFFSET, SK_NONE, &key);
	linker->import_address_count++;
}

uint32_t sk_thread_slot_of(const struct sk_linker *linker, enum sk_expression expression,
			   const struct sk_target *target)
{
	struct key key = slot_key(expression, target);

	return sk_map_find(&linker->thread_slots, (char *)&key, sizeof(key));
}

uint64_t sk_thread_offset(const struct sk_linker *linker, const struct sk_input_section *section, uint64_t value)
{
	return section ? section->address + value - linker->thread.start : 0;
}

void sk_thread_align(struct sk_linker *linker)
{
	struct sk_output *first = NULL;

	for (size_t i = 0; i < linker->outputs.count; i++) {
		struct sk_output *output = linker->outputs.items[i];

		if (!sk_is_thread_rank(output->rank))
			continue;
		first = first ? first : output;
		for (size_t j = 0; j < output->sections.count; j++)
			if (output->sections.items[j]->alignment > first->alignment)
				first->alignment = output->sections.items[j]->alignment;
	}
	linker->thread.exists = first != NULL;
}

void sk_thread_place(struct sk_linker *linker)
{
	struct sk_thread_image *image = &linker->thread;
	bool found = false;

	for (size_t i = 0; i < linker->outputs.count; i++) {
		const struct sk_output *output = linker->outputs.items[i];

		if (!sk_is_thread_rank(output->rank))
			continue;
		if (!found) {
			image->start = image->file_end = output->address;
			image->alignment = output->alignment;
		}
		found = true;
		image->end = output->address + output->size;
		if (output->type != SHT_NOBITS)
			image->file_end = image->end;
	}
	image->base.address = image->start;
}
