/* Reads manifests as sklink does, before any object is known, so that scripts can compare the result with a schema's:
 *
 *   read-manifests FILE…
 *
 * Prints a line with each file's name and, after it, the errors and warnings, if there are any. */
#include <stdio.h>

#include "base/arena.h"
#include "base/diag.h"
#include "src/manifest/manifest.h"
#include "src/model/model.h"

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		struct sk_arena *arena = sk_arena_create();
		struct sk_diag diag;

		sk_diag_init(&diag, arena);
		printf("file %s\n", argv[i]);
		sk_manifest_read(sk_model_create(arena, &diag), argv[i]);
		sk_diag_flush(&diag, "read-manifests", 0, stdout);
		sk_arena_destroy(arena);
	}
	return 0;
}
