/* The manifest: YAML text to the first part of the model. The reference of the format is doc/manifest.md. */
#ifndef SK_MANIFEST_H
#define SK_MANIFEST_H

#include "src/model/model.h"

/* Looking for a similar name among very many, very often, would let a hostile manifest hang: there are no suggestions
 * for errors behind the first ones, nor among names behind the first ones. */
enum { SK_MAX_SUGGESTIONS = 20, SK_MAX_CANDIDATES = 20000 };

/* An empty model in the arena. */
struct sk_model *sk_model_create(struct sk_arena *arena, struct sk_diag *diag);

/* Reads the manifest into an empty model. Afterwards the model has the device, tensors with views resolved, declared
 * kernels with their signatures, libraries, scopes, events and tasks; tasks' args name tensors that exist, and after,
 * record and wait are filled. All errors are collected; false if there was one. */
bool sk_manifest_read(struct sk_model *model, const char *path);

/* The same for text in memory; the path is for messages and for the folder that other paths are relative to. */
bool sk_manifest_parse(struct sk_model *model, const char *path, const void *text, size_t size);

/* A path from the manifest, resolved against its folder. In the arena. */
const char *sk_manifest_path(const struct sk_model *model, const char *path);

/* "[64, 1024]" in the arena, for messages. */
const char *sk_shape_text(struct sk_arena *arena, uint32_t rank, const uint64_t *shape);

/* "; did you mean 'x'?" or "", for the name of one of `count` items: `first` is the name of the first one, and the
 * others follow at that distance in bytes. */
const char *sk_suggest_name(const struct sk_model *model, const char *name, const char *const *first, size_t count,
			    size_t stride);

/* The same for an array of structs that have a `name`. */
#define SK_SUGGEST_NAME(model, misspelt, items, count)                                                                 \
	sk_suggest_name((model), (misspelt), (count) ? &(items)->name : NULL, (count), sizeof(*(items)))

#endif
