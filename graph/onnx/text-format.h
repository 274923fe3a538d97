/* Protobuf's text format. Comes in: a text. Goes out: messages, as onnx-messages.h describes them; and the other way
 * round. */
#ifndef SK_ONNX_TEXT_H
#define SK_ONNX_TEXT_H

#include <stdio.h>

#include "base/diag.h"
#include "graph/onnx/onnx-messages.h"

/* NULL after an error, which has line and column. Takes time and memory by the size, whatever the bytes are. */
struct sk_onnx_model *sk_onnx_parse(struct sk_diag *diag, const char *path, struct sk_onnx_bytes text);

/* The bytes begin like a model in this format. */
bool sk_onnx_looks_textual(struct sk_onnx_bytes bytes);

/* All fields that are present. What has been written is read as the same message. */
void sk_onnx_print(const struct sk_onnx_model *model, FILE *stream);

#endif
