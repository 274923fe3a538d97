/* The functions that a model brings along: their calls are replaced by what they consist of. */
#ifndef SK_ONNX_FUNCTIONS_H
#define SK_ONNX_FUNCTIONS_H

#include "base/diag.h"
#include "graph/onnx/onnx-messages.h"

/* Afterwards no node of the model's graph, or of a body in it, calls a function of the model. What this may make is
 * limited by the size of the file. False after an error. */
bool sk_onnx_expand_functions(struct sk_diag *diag, const char *path, struct sk_onnx_model *model, size_t file_size);

#endif
