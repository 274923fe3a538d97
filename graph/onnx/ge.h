/* Graphs that GE has dumped (ge_onnx_*.pbtxt): messages of ONNX's description, but with nodes for inputs, constants and
 * outputs, "peer:index" for values and operators of its own. */
#ifndef SK_ONNX_GE_H
#define SK_ONNX_GE_H

#include "base/diag.h"
#include "graph/onnx/onnx-messages.h"

/* Turns such a model into what ONNX would say; any other one stays as it is. Operators that are ONNX's under another
 * name get that one, the others are in the domain "ge"; all keep "ge:" and their name as origin. False after an error.
 */
bool sk_onnx_translate_ge(struct sk_diag *diag, const char *path, struct sk_onnx_model *model);

/* An attribute that GE gives its nodes whatever they compute. */
bool sk_onnx_is_ge_note(const char *name);

/* GE's name of the type that has this number in onnx.proto, such as "DT_FLOAT". */
const char *sk_onnx_ge_type_name(int64_t element);

#endif
