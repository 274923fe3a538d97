/* The table of supported machines: those of format/machines.def. */
#include <stddef.h>

#include "linker/linker-parts.h"

static const struct sk_architecture *const architectures[] = {
#define SK_MACHINE(name) &sk_architecture_##name,
#include "format/machines.def"
#undef SK_MACHINE
};

const struct sk_architecture *sk_architecture_find(uint16_t machine)
{
	for (size_t i = 0; i < sizeof(architectures) / sizeof(architectures[0]); i++)
		if (architectures[i]->machine == machine)
			return architectures[i];
	return NULL;
}
