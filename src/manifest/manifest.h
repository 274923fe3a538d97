/* The manifest: YAML text to the first part of the model. The reference of the format is doc/manifest.md. */
#ifndef SK_MANIFEST_H
#define SK_MANIFEST_H

#include "src/model/model.h"

/* Reads the manifest into an empty model. Afterwards the model has the device, tensors with views resolved, declared
 * kernels with their signatures, libraries, scopes, events and tasks; tasks' args are tensors, and after,
 * record and wait are filled. All errors are collected; false if there was one. */
bool sk_manifest_read(struct sk_model *model, const char *path);

/* Warns of scopes that are misspelt, once the tasks are known: of a manifest that names a model that is when this has
 * been read. */
void sk_manifest_check_scopes(struct sk_model *model);

/* The same as sk_manifest_read for text in memory; the path is for messages and for the folder that other paths are
 * relative to. */
bool sk_manifest_parse(struct sk_model *model, const char *path, const void *text, size_t size);

#endif
