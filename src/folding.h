/* Constant folding: what depends on constants only is linked like any network, into a package that never gets into a
 * file, and run by libskrt in a child process, which is ended if it takes too long. */
#ifndef SK_FOLDING_H
#define SK_FOLDING_H

#include "graph/canonical.h"
#include "src/outputs/outputs.h"

/* Gives the wanted values, which depend on constants only, their contents; as sk_fold, of a const struct sk_link. */
bool sk_fold_values(const void *link, struct sk_op_graph *graph, const uint32_t *wanted, size_t count);

/* Computes all that the calls compute from constants alone, and takes those calls out. False after an error. If it is
 * much, it is in the draft, one constant behind the other. */
bool sk_fold_calls(const struct sk_link *link, struct sk_op_graph *graph, sk_graph_calls *calls,
		   struct sk_file_draft *draft);

/* Closes a draft that is to become no file, and frees it if no tensor of the model has its contents there: another
 * network had them all. */
void sk_fold_close(const struct sk_file_draft *draft, const struct sk_model *model);

#endif
