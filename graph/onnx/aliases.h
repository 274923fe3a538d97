/* Operators of others that are ONNX's, or sklink's own, under another name (aliases.def). */
#ifndef SK_ONNX_ALIASES_H
#define SK_ONNX_ALIASES_H

#include "graph/onnx/onnx-messages.h"

/* Makes the node, whose operator the source ("ge", "mindspore") calls so, one of ONNX's or of the domain "sklink";
 * false, and nothing changes, if there is none that computes this. The caller says where it comes from. */
bool sk_onnx_translate_alias(struct sk_arena *arena, const char *source, const char *name, struct sk_onnx_node *node);

/* Whether what the source calls so takes each element by itself, in whatever order a tensor's elements lie. */
bool sk_onnx_alias_is_elementwise(const char *source, const char *name);

/* What a source calls an operator. */
struct sk_onnx_alias {
	const char *name; /* NULL: nothing */
	uint32_t outputs;
	const char *rules; /* as aliases.def has them */
};

/* The first name of the operator, in the source, that begins so. */
struct sk_onnx_alias sk_onnx_find_alias(struct sk_arena *arena, const char *source, const char *prefix,
					const char *domain, const char *op);

/* Does this with all nodes of a model that are in a domain of such a name, or in that of TorchAir, whose names are
 * GE's; their origin is the domain and the name. Calls of the model's own functions have been replaced before. */
void sk_onnx_translate_domains(struct sk_arena *arena, struct sk_onnx_model *model);

#endif
