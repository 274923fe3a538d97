/* Scope options: the reference system's "name=value:name=value". */
#ifndef SK_OPTIONS_H
#define SK_OPTIONS_H

#include "model.h"

/* Parses the text into the scope. Unknown and repeated names, missing and bad values are errors; false if there was
 * one. in_line: the text's characters stand in the file from `place` on, so that errors can name the column. */
bool sk_scope_options_parse(struct sk_diag *diag, struct sk_place place, bool in_line, const char *text,
			    struct sk_scope *scope);

#endif
