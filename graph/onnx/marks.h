/* What nodes of a model say to sklink, and not to whoever computes: marks, which are attributes with names of their own
 * (GE writes them so, and TorchAir asks it to). */
#ifndef SK_ONNX_MARKS_H
#define SK_ONNX_MARKS_H

#include "graph/graph.h"

#define SK_ONNX_SCOPE	       "_super_kernel_scope"
#define SK_ONNX_SCOPE_OPTIONS  "_super_kernel_options"
#define SK_ONNX_STREAM	       "stream_id"
#define SK_ONNX_ORIGIN	       "_origin"
#define SK_ONNX_RULE	       "_rule"
#define SK_ONNX_COMPOSITE      "_composite" /* its number in the file; */
#define SK_ONNX_COMPOSITE_NAME "_composite_name"
#define SK_ONNX_VERSION	       "_version" /* of its domain, where it is not the one that the model imports */

/* The key of the model's metadata that has the passes of fusion that have run on the graph: their full names, with
 * spaces between them. */
#define SK_ONNX_PASSES "sklink.passes"

/* Adds the attribute to the node: as one of its marks or notes, if it is one, or to compute by. The node's origin is
 * known already: attributes of GE's own are notes of GE's nodes only. */
void sk_onnx_add_attribute(struct sk_arena *arena, struct sk_graph_node *node, const struct sk_attribute *attribute);

#endif
