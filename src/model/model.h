/* The model: what the manifest and the kernel objects say, joined and checked. tensor.h, signature.h, task.h and
 * scope.h say what it is made of. Every planning room reads it; each adds the part that is named after it and changes
 * nothing else. All of it lives in the link's arena. References between the parts are indices (SK_NONE: none), since
 * arrays grow while the model is built. */
#ifndef SK_MODEL_H
#define SK_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/file.h"
#include "base/map.h"
#include "format/profile/profile.h"
#include "src/model/graph-file.h"
#include "src/model/scope.h"
#include "src/model/task.h"
#include "src/model/tensor.h"

struct sk_model {
	struct sk_arena *arena;
	struct sk_diag *diag;
	const char *manifest; /* path, as given */
	const char *directory; /* the manifest's folder: paths in it are relative to this */
	const char *root; /* paths in it that start with a slash are relative to this; "" if nobody says otherwise */
	const struct sk_profile *device;
	const char *package; /* the package's name, as a part of a C identifier; NULL: it is called after its first
				launch */
	bool names_launches; /* launches of a model that nobody has named are called after the package */
	const char *device_file; /* its path, resolved; NULL: it is built in */

	struct sk_graph_file graph; /* where its tensors and tasks come from, if the manifest names a model */
	SK_ARRAY(struct sk_tensor) tensors;
	SK_ARRAY(struct sk_declared_kernel) declared;
	SK_ARRAY(struct sk_kernel) kernels; /* those that tasks use, in order of first use */
	SK_ARRAY(struct sk_handed_symbol) symbols; /* in order of first use */
	SK_ARRAY(struct sk_task) tasks; /* in network order */
	SK_ARRAY(struct sk_idle_task) idle; /* tasks that were among them until they were left out */
	SK_ARRAY(struct sk_virtual_node) virtual_nodes; /* of models, in their order */
	SK_ARRAY(struct sk_node_part) slices;
	sk_texts composites; /* names of what graph-kernel fusion has put together; NULL: a node that is in none */
	SK_ARRAY(struct sk_scope) scopes;
	SK_ARRAY(struct sk_event) events;
	SK_ARRAY(struct sk_name) libraries; /* `library:`: archives that `op:` searches */
	struct sk_map tensor_names, declared_names, kernel_names, task_names, scope_names, event_names;
	struct sk_map idle_scopes; /* that nodes of the model file are in, and no task */
	uint32_t binding_count;
	struct sk_file_draft draft; /* constants that have been computed, where they will be if no more than `start` is
				       in front of them */
	struct sk_kernel_finder
		*finder; /* what has been found out of kernels before there are tasks (src/bind/kernels.h) */
	uint64_t isa; /* instruction sets that the kernels and the constructors of their objects need */
	uint64_t allowed_isa; /* that kernels may need which `op:` picks */
};

/* An empty model in the arena. */
struct sk_model *sk_model_create(struct sk_arena *arena, struct sk_diag *diag);

/* Remembers which file it is made from, for messages, and for the folder that paths in it are relative to. */
void sk_model_set_file(struct sk_model *model, const char *path);

/* A path from the manifest, resolved against its folder. In the arena. */
const char *sk_model_path(const struct sk_model *model, const char *path);

/* The functions of a kernel, and what it is handed the address of, by number; SK_NONE behind the last one. */
sk_symbol sk_kernel_root(const struct sk_model *model, const struct sk_kernel *kernel, uint32_t number);

/* "[64, 1024]" in the arena, for messages. */
const char *sk_shape_text(struct sk_arena *arena, uint32_t rank, const uint64_t *shape);

/* Looking for a similar name among very many, very often, would let a hostile manifest hang: there are no suggestions
 * for errors behind the first ones, nor among names behind the first ones. */
enum { SK_MAX_SUGGESTIONS = 20, SK_MAX_CANDIDATES = 20000 };

/* "; did you mean 'x'?" or "", for the name of one of `count` items: `first` is the name of the first one, and the
 * others follow at that distance in bytes. */
const char *sk_suggest_name(const struct sk_model *model, const char *name, const char *const *first, size_t count,
			    size_t stride);

/* The same for an array of structs that have a `name`. */
#define SK_SUGGEST_NAME(model, misspelt, items, count)                                                                 \
	sk_suggest_name((model), (misspelt), (count) ? &(items)->name : NULL, (count), sizeof(*(items)))

#endif
