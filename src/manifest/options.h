/* Scope options: the reference system's "name=value:name=value". They stand in the manifest; the environment overrides
 * that, and the command line overrides both, option by option. */
#ifndef SK_OPTIONS_H
#define SK_OPTIONS_H

#include "src/model/model.h"
#include "src/model/scope.h"

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
