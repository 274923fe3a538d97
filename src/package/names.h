/* What a package is called: in C, and by who looks for its plan. */
#ifndef SK_NAMES_H
#define SK_NAMES_H

#include "loader/plan/plan.h"
#include "src/base/arena.h"

/* What the package is called in C: the beginning of the soname, up to its first dot, or else of the first launch's name
 * without "sk_". Identifiers that belong to the package begin or end with it. In the arena. */
const char *sk_package_name(struct sk_arena *arena, const char *soname, const struct sk_plan_view *plan);

/* What libskrt finds the plan by. One program may hold several packages, so in an object the name is the package's. */
const char *sk_plan_symbol_name(struct sk_arena *arena, const char *package_name, bool relocatable);

#endif
