/* The files that a model is in: its own, and those of external data beside it. Small ones are read, larger ones mapped
 * until the process ends. */
#ifndef SK_ONNX_FILES_H
#define SK_ONNX_FILES_H

#include "base/diag.h"
#include "base/map.h"
#include "graph/onnx/onnx-messages.h"

struct sk_onnx_files {
	struct sk_diag *diag;
	const char *path; /* the model's */
	bool links; /* those of external data may lead out of its folder */
	SK_ARRAY(struct sk_onnx_bytes) external;
	SK_ARRAY(const char *) paths; /* of these */
	struct sk_map locations; /* to external */
};

void sk_onnx_files_init(struct sk_onnx_files *files, struct sk_diag *diag, const char *path);

/* The bytes of the model's file. False after an error. */
bool sk_onnx_files_model(struct sk_onnx_files *files, struct sk_onnx_bytes *bytes);

/* The bytes of a file in the model's folder, or below it. NULL, or why it cannot be used. */
const char *sk_onnx_files_external(struct sk_onnx_files *files, const char *location, struct sk_onnx_bytes *bytes);

/* How many bytes of the file there are, up to the size; 0 if it cannot be read, or is no regular file. */
size_t sk_onnx_files_start(const char *path, uint8_t *bytes, size_t size);

#endif
