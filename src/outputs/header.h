/* A C and C++ header about the package, for programs that call serial entries or bind tensors by
 * number. In: the finished plan, and perhaps the package's bytes. Out: the file. It depends on nothing else, so that
 * equal packages have equal headers wherever they are made. */
#ifndef SK_HEADER_H
#define SK_HEADER_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/diag.h"
#include "format/plan/plan.h"
#include "src/planning/plan-writer.h"

struct sk_header_contents {
	const char *name; /* of the package in C */
	const struct sk_plan_image *image; /* and a view of it */
	const struct sk_plan_view *plan;
	const char *plan_symbol; /* of a package that is to be linked into a program; NULL: it is not */
	const uint8_t *bytes; /* the package, to be embedded; NULL: it is not */
	uint64_t size;
};

/* Writes the file. False after an error in the sink. */
bool sk_header_write(struct sk_arena *arena, struct sk_diag *diag, const char *path,
		     const struct sk_header_contents *contents);

#endif
