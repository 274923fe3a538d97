/* Which functions need a label: those with one come in; whether several of them have one name and one size goes out.
 * Static functions of several objects can have that, and what isolated objects define. */
#include <string.h>

#include "linker/link.h"
#include "linker/output.h"
#include "linker/relocation.h"
#include "linker/section.h"
#include "linker/symbol.h"

/* The functions of one name and one size. */
struct twins {
	struct sk_target target; /* one of them */
	bool apart; /* another one lies elsewhere */
};

void sk_labels_choose(struct sk_linker *linker)
{
	uint32_t *numbers = SK_NEW_ARRAY(linker->arena, uint32_t, linker->labels.count);
	SK_ARRAY(struct twins) twins = {0};
	struct sk_map by_key;

	sk_map_init(&by_key, linker->arena);
	for (size_t i = 0; i < linker->labels.count; i++) {
		sk_symbol code = linker->labels.items[i].code;
		const struct sk_target target = sk_symbol_target(linker, code);
		uint32_t fresh = (uint32_t)twins.count;

		numbers[i] = SK_NONE;
		if (!target.section || !target.section->output) /* an import, or what is not there */
			continue;

		const char *key = sk_arena_print(linker->arena, "%s %llx", linker->symbols.items[code].name,
						 (unsigned long long)linker->symbols.items[target.symbol].size);

		numbers[i] = sk_map_insert(&by_key, key, strlen(key), fresh);
		if (numbers[i] == fresh)
			sk_array_push(linker->arena, &twins, (struct twins){.target = target});

		struct twins *same = &twins.items[numbers[i]];

		same->apart |= same->target.section != target.section || same->target.value != target.value;
	}
	for (size_t i = 0; i < linker->labels.count; i++)
		linker->labels.items[i].needed = numbers[i] != SK_NONE && twins.items[numbers[i]].apart;
}
