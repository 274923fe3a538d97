/* The manifest's reader in parts: manifest.c calls them in this order. */
#ifndef SK_MANIFEST_PARTS_H
#define SK_MANIFEST_PARTS_H

#include "base/fields.h"
#include "src/model/model.h"

/* `tensors:` with views resolved to their roots. */
void sk_manifest_read_tensors(const struct sk_document *document, const struct sk_node *map);

/* The contents of a constant whose dtype and shape are known, from the one of `data`, `fill` and `text` that is not
 * NULL. */
void sk_manifest_read_contents(const struct sk_document *document, struct sk_tensor *tensor, const struct sk_node *data,
			       const struct sk_node *fill, const struct sk_node *text);

/* True if the text is a number; *valid is false if it is none that can be passed. */
bool sk_manifest_parse_number(const char *text, struct sk_number *number, bool *valid);

/* What `after:`, `record:` and `wait:` of a task say. */
struct sk_task_names {
	SK_SMALL_ARRAY(struct sk_name) after, record, wait;
};

/* `tasks:`; adds scopes that nobody declared. */
void sk_manifest_read_tasks(const struct sk_document *document, const struct sk_node *list);

/* `attr:` of a task, which is the target. */
void sk_manifest_read_attributes(const struct sk_document *document, void *target, const struct sk_node *value);

/* `cost:` of a task, which is the target. */
void sk_manifest_read_cost(const struct sk_document *document, void *target, const struct sk_node *value);

/* `graph:`. */
void sk_manifest_read_graph_path(const struct sk_document *document, const struct sk_node *value);

/* `shapes:`, `dims:`, `freeze:` and `states:`, each NULL if there is none, of the model that the manifest names. */
void sk_manifest_read_graph(const struct sk_document *document, const struct sk_node *shapes,
			    const struct sk_node *dimensions, const struct sk_node *frozen,
			    const struct sk_node *states);

/* `fusion:`. */
void sk_manifest_read_fusion(const struct sk_document *document, const struct sk_node *value);

/* `switches:`. */
void sk_manifest_read_switches(const struct sk_document *document, const struct sk_node *value);

/* `rules:`. */
void sk_manifest_read_rules(const struct sk_document *document, const struct sk_node *value);

/* `pattern_fusion_pass:`. */
void sk_manifest_read_pattern_fusion(const struct sk_document *document, const struct sk_node *value);

/* `nodes:` of a scope. */
void sk_manifest_read_patterns(const struct sk_document *document, const char *scope, const struct sk_node *value);

/* Resolves after, record and wait of all tasks. */
void sk_manifest_resolve_names(struct sk_model *model);

/* The scope of that name, which is an identifier, added if there is none yet. */
uint32_t sk_manifest_scope(const struct sk_document *document, const struct sk_node *name);

#endif
