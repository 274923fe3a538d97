/* Read manifests and scope options into the first part of the model. */
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
struct sk_task;
struct sk_tensor;

/* ==== manifest.c ====
 *
 * The manifest: YAML text to the first part of the model. doc/reference/manifest.md describes the format. */

/* Read the manifest into an empty model. Afterwards the model has the device, tensors with views resolved, declared
 * kernels with their signatures, libraries, scopes, events and tasks. The tasks' args are tensors, and their after,
 * record and wait are filled. All errors are collected; return false if there was one. */
bool sk_manifest_read(struct sk_model *model, const char *path);

/* Warn about scopes that are probably misspelt. To be called once the tasks are known: if the manifest names a model,
 * after reading the model. */
void sk_manifest_check_scopes(struct sk_model *model);

/* Like sk_manifest_read, for text in memory. The path is for messages, and for the directory that other paths are
 * relative to. */
bool sk_manifest_parse(struct sk_model *model, const char *path, const void *text, size_t size);

/* ==== the parts of a manifest ====
 *
 * The parts of the manifest's reader; manifest.c calls them in this order. */

/* Read `ranks:` and `groups:`; NULL: not given. */
void sk_manifest_read_ranks(const struct sk_document *document, const struct sk_node *ranks,
			    const struct sk_node *groups);

/* `exchange:` of a task, and its other keys. */
struct sk_exchange_nodes {
	const struct sk_node *kind, *group, *root, *peer; /* NULL: not given */
};

/* Make the task an exchange, if it has the keys. Its name and tensors have been read. */
void sk_manifest_read_exchange(const struct sk_document *document, const struct sk_exchange_nodes *nodes,
			       struct sk_task *task);

/* Read `tensors:`, with views resolved to their roots. */
void sk_manifest_read_tensors(const struct sk_document *document, const struct sk_node *map);

/* Read the contents of a constant from whichever of `data`, `fill` and `text` is not NULL. Its dtype and shape are
 * known. */
void sk_manifest_read_contents(const struct sk_document *document, struct sk_tensor *tensor, const struct sk_node *data,
			       const struct sk_node *fill, const struct sk_node *text);

/* Return true if the text is a number; *valid is false if it cannot be passed to a kernel. */
bool sk_manifest_parse_number(const char *text, struct sk_number *number, bool *valid);

/* Make the dimensions of a manifest that names no model, from `dims:` and the command line's texts. */
void sk_manifest_read_sizes(struct sk_model *model);

/* Read an integer, at most `most`, or an expression of the manifest's dimensions. label and name (or NULL): for errors.
 * Return false after one. */
bool sk_manifest_read_size(const struct sk_document *document, const struct sk_node *node, const char *label,
			   const char *name, uint64_t most, uint64_t *size);

/* Compute a number from an expression of the model's dimensions, at the sizes that it is read for. Return NULL, or the
 * reason why the text gives no number. */
const char *sk_manifest_parse_size(struct sk_model *model, const char *text, uint64_t *number);

/* The names in `after:`, `record:` and `wait:` of a task. */
struct sk_task_names {
	SK_SMALL_ARRAY(struct sk_name) after, record, wait;
};

/* Read `tasks:`; add scopes that are not declared. */
void sk_manifest_read_tasks(const struct sk_document *document, const struct sk_node *list);

/* Read `attr:` of a task, which is the target. */
void sk_manifest_read_attributes(const struct sk_document *document, void *target, const struct sk_node *value);

/* Read `cost:` of a task, which is the target. */
void sk_manifest_read_cost(const struct sk_document *document, void *target, const struct sk_node *value);

/* Read `graph:`. */
void sk_manifest_read_graph_path(const struct sk_document *document, const struct sk_node *value);

/* Read `shapes:`, `dims:`, `freeze:` and `states:` of the model that the manifest names; each may be NULL. */
void sk_manifest_read_graph(const struct sk_document *document, const struct sk_node *shapes,
			    const struct sk_node *dimensions, const struct sk_node *frozen,
			    const struct sk_node *states);

/* Read `fusion:`. */
void sk_manifest_read_fusion(const struct sk_document *document, const struct sk_node *value);

/* Read `switches:`. */
void sk_manifest_read_switches(const struct sk_document *document, const struct sk_node *value);

/* Read `rules:`. */
void sk_manifest_read_rules(const struct sk_document *document, const struct sk_node *value);

/* Read `pattern_fusion_pass:`. */
void sk_manifest_read_pattern_fusion(const struct sk_document *document, const struct sk_node *value);

/* Read `nodes:` of a scope. */
void sk_manifest_read_patterns(const struct sk_document *document, const char *scope, const struct sk_node *value);

/* Resolve after, record and wait of all tasks. */
void sk_manifest_resolve_names(struct sk_model *model);

/* Return the scope of that name, which must be an identifier; add it if there is none yet. */
uint32_t sk_manifest_scope(const struct sk_document *document, const struct sk_node *name);

/* ==== options.c ====
 *
 * Scope options: the reference system's "name=value:name=value". The manifest contains them. The environment overrides
 * the manifest, and the command line overrides both, option by option. */

/* Parse the text into the scope; options that it does not name stay unchanged. Unknown and repeated names, missing and
 * bad values are errors; return false if there was one. in_line: the text's characters are in the file from `place` on,
 * so that errors can name the column. */
bool sk_scope_options_parse(struct sk_diag *diag, struct sk_place place, bool in_line, const char *text,
			    struct sk_scope *scope);

/* Return true if scopes have an option of this name. */
bool sk_scope_option_is_known(const char *name);

/* Override options: `text` is "SCOPE=OPTIONS", or several of these separated by semicolons; SCOPE may be `*`, for all
 * scopes. A scope that does not exist is an error; a scope of a model without tasks is a warning. `place` is the
 * text's, which is on one line. Return false after an error. */
bool sk_scope_options_override(struct sk_model *model, struct sk_place place, const char *text);

/* Check the scopes' options against the command line. compile-options=-g requires the package's debug information,
 * which the option `strips` removes (NULL: none is given). Copies of code are made when text is placed, which does not
 * happen for an object. Return false after an error. */
bool sk_scope_options_check(const struct sk_model *model, const char *strips, bool relocatable);

#endif
