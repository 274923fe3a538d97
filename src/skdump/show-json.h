/* A package as data: all that the tables and the explanations say, in JSON. doc/skdump-json.md says what it holds. */
#ifndef SK_SHOW_JSON_H
#define SK_SHOW_JSON_H

#include "src/proof/verify.h"
#include "src/skdump/show.h"

/* Onto the show's stream. The facts are those of the package's proof. */
void sk_show_json(const struct sk_show *show, const struct sk_facts *facts);

#endif
