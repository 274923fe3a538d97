/* Which names other programs see, and with which versions. */
#ifndef SK_LINKER_EXPORTS_H
#define SK_LINKER_EXPORTS_H

#include <elf.h>

#include "linker/linker.h"

/* A line of the version script. */
struct sk_name_pattern {
	const char *text;
	struct sk_place place;
	uint16_t version; /* VER_NDX_GLOBAL, or that of one of linker->defined_versions, from SK_FIRST_VERSION */
	bool global;
	bool exact; /* a name, not a pattern */
};

/* A version that the version script defines. */
struct sk_defined_version {
	const char *name;
	SK_ARRAY(uint32_t) parents; /* in linker->defined_versions */
	uint32_t name_offset; /* in .dynstr */
};

enum { SK_FIRST_VERSION = 2 }; /* 0 and 1 are reserved: local and global */

/* After the layout: all but the name. */
Elf64_Sym sk_exported_symbol(struct sk_linker *linker, sk_symbol symbol);

#endif
