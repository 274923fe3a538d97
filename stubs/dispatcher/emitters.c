/* The machines that dispatchers can be made for: those of format/machines.def. */
#include "stubs/dispatcher/dispatcher.h"

static const struct sk_emitter *const emitters[] = {
#define SK_MACHINE(name) &sk_emitter_##name,
#include "format/machines.def"
#undef SK_MACHINE
};

const struct sk_emitter *sk_emitter_find(uint32_t machine)
{
	for (size_t i = 0; i < sizeof(emitters) / sizeof(emitters[0]); i++)
		if (emitters[i]->machine == machine)
			return emitters[i];
	return NULL;
}
