/* Manifests and scope options to the first part of the model. */
#ifndef SK_SRC_MANIFEST_MANIFEST_H
#define SK_SRC_MANIFEST_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"

struct sk_document;
struct sk_model;
struct sk_node;
struct sk_number;
struct sk_scope;
struct sk_tensor;

/* ==== manifest.c ====
 *
 * The manifest: YAML text to the first part of the model. The reference of the format is doc/reference/manifest.md. */

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

/* ==== the parts of a manifest ====
 *
 * The manifest's reader in parts: manifest.c calls them in this order. */

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

/* ==== options.c ====
 *
 * Scope options: the reference system's "name=value:name=value". They stand in the manifest; the environment overrides
 * that, and the command line overrides both, option by option. */

/* Parses the text into the scope; what it does not name stays as it is. Unknown and repeated names, missing and bad
 * values are errors; false if there was one. in_line: the text's characters stand in the file from `place` on, so that
 * errors can name the column. */
bool sk_scope_options_parse(struct sk_diag *diag, struct sk_place place, bool in_line, const char *text,
			    struct sk_scope *scope);

/* Whether scopes have an option of this name. */
bool sk_scope_option_is_known(const char *name);

/* Overrides options: `text` is "SCOPE=OPTIONS", or several of these with semicolons between them; SCOPE may be `*`, for
 * all scopes. A scope that nothing has is an error; a scope of a model without tasks is a warning. `place` is the
 * text's, which stands in one line. False after an error. */
bool sk_scope_options_override(struct sk_model *model, struct sk_place place, const char *text);

/* What scopes ask for and the command line rules out: compile-options=-g holds the package to its debug information,
 * which the option `strips` removes (NULL: none is given), and copies of code are made where text gets its place, which
 * is not yet so in an object. False after an error. */
bool sk_scope_options_check(const struct sk_model *model, const char *strips, bool relocatable);

#endif
