/* The texts of sklink's files of rules: expand.yaml, onnx.yaml, passes.yaml, torchair.yaml. */
#ifndef SK_OWN_RULES_H
#define SK_OWN_RULES_H

extern const char sk_expand_rules[], sk_onnx_rules[], sk_passes_rules[], sk_torchair_rules[];

#endif
