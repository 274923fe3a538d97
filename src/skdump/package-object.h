/* An object of sklink -r, for skdump: linked so far that its plan and its dispatchers can be read like a package's. In:
 * the object in libelf's hands. Out: its bytes as if each section were loaded where it stands in the file. */
#ifndef SK_PACKAGE_OBJECT_H
#define SK_PACKAGE_OBJECT_H

#include <gelf.h>

#include "src/skdump/package-file.h"

enum { SK_UNDEFINED_ROOM = 16 /* bytes of an undefined symbol */ };

/* Fills file->segments and file->undefined, and points file->bytes to a relocated copy in the arena. NULL, or what is
 * wrong. */
const char *sk_package_object_link(struct sk_arena *arena, Elf *elf, struct sk_package_file *file);

#endif
