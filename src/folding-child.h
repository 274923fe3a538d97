/* What computes constants, in a process of its own: the calls are linked by the very passes that link the network, into
 * a package that never gets into a file, which libskrt runs. */
#ifndef SK_FOLDING_CHILD_H
#define SK_FOLDING_CHILD_H

#include "graph/canonical.h"
#include "src/outputs/outputs.h"

/* What is computed in one go. */
struct sk_folding {
	const struct sk_link *link; /* that wants it */
	struct sk_op_graph *graph;
	sk_graph_calls calls;
	const uint32_t *outputs; /* values that the calls write, and none of them reads */
	size_t count;
	int file; /* for the results; the process has nothing else to tell, but errors */
	const uint64_t *places; /* of each output in the file; one with many bytes has its pages for itself */
	uint64_t size; /* of all of them */
	uint64_t most; /* bytes that the process may have for temporaries */
};

enum {
	SK_FOLDING_SECONDS = 600, /* at most, of processor time, and of time */
	SK_FOLDING_MUCH = 64 << 10, /* bytes */
	SK_FOLDING_PAGE = 4096,
	SK_FOLDING_REPORTED = 3, /* exit status: it has been said what is wrong */
	SK_FOLDING_UNWRITTEN =
		64, /* exit status, with the errno added: results cannot be written, which nobody has said */
};

/* Ends the process, with status 0 if the file has the results. The graph changes. */
_Noreturn void sk_folding_child(const struct sk_folding *folding);

#endif
