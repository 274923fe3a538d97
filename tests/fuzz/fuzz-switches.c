/* Fuzz target: a file of switches. In an accepted file each pass that it names has the state that the file gives it,
 * and all other passes have one common state. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "graph/manager/manager.h"

static void check_switch(const struct sk_switches *switches, const struct sk_switch *item)
{
	bool stays = false;

	for (size_t i = 0; i < switches->staying.count; i++)
		stays |= !strcmp(switches->staying.items[i].text, item->name);
	for (enum sk_switch_kind kind = 0; kind < SK_SWITCH_KINDS; kind++)
		if (item->kind == kind || item->kind == SK_SWITCH_KINDS)
			fuzz_promise(sk_switch_is_on(switches, kind, item->name, !item->on) == (item->on || stays),
				     "a pass that has a switch is what it says");
	fuzz_promise(*item->name && item->place.line, "passes have names and places");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct sk_arena *arena = sk_arena_create();
	struct sk_switches switches;
	struct sk_diag diag;

	sk_diag_init(&diag, arena);
	sk_switches_init(&switches, arena);
	if (sk_switches_parse(arena, &diag, "fuzz.json", bytes, size, &switches)) {
		const sk_texts none[SK_SWITCH_KINDS] = {{0}};

		for (size_t i = 0; i < switches.switches.count; i++)
			check_switch(&switches, &switches.switches.items[i]);
		sk_switches_check_names(&diag, &switches, none);
		fuzz_promise(!diag.errors, "a name that is no pass is no error");
		fuzz_accept();
	} else {
		fuzz_promise(diag.errors, "switches that are refused give an error");
	}
	sk_arena_destroy(arena);
	return 0;
}
