/* Protobuf's wire format. Comes in: bytes. Goes out: messages, as onnx-messages.h describes them. Texts are copied, all
 * other bytes stay where they are. */
#ifndef SK_ONNX_WIRE_H
#define SK_ONNX_WIRE_H

#include "base/diag.h"
#include "graph/onnx/onnx-messages.h"

/* NULL after an error. Takes time and memory by the size, whatever the bytes are. */
struct sk_onnx_model *sk_onnx_decode(struct sk_diag *diag, const char *path, struct sk_onnx_bytes bytes);

/* The bytes begin like a model in this format: fields that a model has, with what they must be. */
bool sk_onnx_looks_encoded(struct sk_onnx_bytes bytes);

#endif
