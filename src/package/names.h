/* What a package is called: in C, and by who looks for its plan. */
#ifndef SK_NAMES_H
#define SK_NAMES_H

#include "base/arena.h"
#include "format/plan/plan.h"

/* The beginning of a soname, or of the name of the file at a path, up to its first dot, as a part of a C identifier in
 * the arena. NULL if there is nothing before the dot, or no text. */
const char *sk_package_stem(struct sk_arena *arena, const char *text);

/* The name of the package in C: the given one, or if that is NULL the first launch's without "sk_". Identifiers that
 * belong to the package begin or end with it. In the arena. */
const char *sk_package_name(struct sk_arena *arena, const char *given, const struct sk_plan_view *plan);

/* What libskrt finds the plan by. One program may hold several packages, so in an object the name is the package's. */
const char *sk_plan_symbol_name(struct sk_arena *arena, const char *package_name, bool relocatable);

#endif
