/* Tensors among the parameters of a signature. */
#ifndef SK_SIGNATURE_TENSORS_H
#define SK_SIGNATURE_TENSORS_H

#include "format/signature/signature-tokens.h"

/* Parses a tensor from its direction on; `index` is the parameter's number. */
bool sk_signature_parse_tensor(struct sk_signature_parser *parser, struct sk_parameter *parameter, uint32_t index);

#endif
