/* Rules of arithmetic_simplify. */
#ifndef SK_SIMPLIFY_H
#define SK_SIMPLIFY_H

#include "graph/rewrites/rewrite.h"

/* What may take the place of a node. It looks at the node and at what makes its inputs, changes the node, and says
 * whether it has. `exact`: only where all bits of the result stay the same. */
typedef bool sk_simplify(struct sk_rewrite *rewrite, uint32_t node, bool exact);

struct sk_simplify_rule {
	const char *id; /* "1.24": set 1 has MindSpore's numbers */
	const char *op; /* of the node, as sk_node_is has it */
	sk_simplify *apply;
};

/* Up to one without an id: about arithmetic, and about order, shape and reductions. */
extern const struct sk_simplify_rule sk_simplify_arithmetic[], sk_simplify_shapes[];

#endif
