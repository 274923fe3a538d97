/* Tensors and types of tensors: what messages say of them becomes type, shape and contents of values. */
#ifndef SK_ONNX_TENSORS_H
#define SK_ONNX_TENSORS_H

#include "graph/graph.h"
#include "graph/onnx/files.h"
#include "graph/onnx/onnx-messages.h"

/* Type and shape, as far as they are said. NULL, or why no tensor of sklink can be such. */
const char *sk_onnx_take_type(struct sk_arena *arena, const struct sk_onnx_value_type *type, struct sk_value *value);

/* Type, shape and contents of a constant. Contents stay where they are in the file, at any alignment, if they are raw;
 * otherwise they are converted. NULL, or why it cannot be. */
const char *sk_onnx_take_tensor(struct sk_onnx_files *files, const struct sk_onnx_tensor *tensor,
				struct sk_value *value);

/* The number of the type in onnx.proto; 0: none. */
int64_t sk_onnx_element_of(enum sk_dtype dtype);

#endif
