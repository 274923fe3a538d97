# The graph of operators, from a model file to tasks.
noinst_LIBRARIES += graph/libgraph.a
graph_libgraph_a_SOURCES = \
	graph/caches.c graph/graph.h \
	graph/canonical.c \
	graph/formats.c \
	graph/graph.c \
	graph/infer.c \
	graph/named-sizes.c \
	graph/narrow.c \
	graph/needed.c \
	graph/uses.c \
	graph/composites/areas.c graph/composites/composites-parts.h \
	graph/composites/cluster.c \
	graph/composites/composites.c graph/composites/composites.h \
	graph/composites/kinds.c \
	graph/composites/operators.def \
	graph/composites/patterns.c \
	graph/composites/split.c \
	graph/manager/absent.def \
	graph/manager/choose.c graph/manager/manager.h \
	graph/manager/cluster.def graph/manager/expand.def \
	graph/manager/flags.c graph/manager/flags.def \
	graph/manager/lists.c \
	graph/manager/no-effect.def \
	graph/manager/results.c \
	graph/manager/switches.c \
	graph/dumps/clusters.c graph/dumps/dumps-parts.h \
	graph/dumps/dot.c graph/dumps/dumps.c graph/dumps/dumps.h \
	graph/dumps/text.c \
	graph/dumps/fx.c graph/dumps/fx-items.c \
	graph/dumps/readable.c \
	graph/dumps/ge-dumps.c \
	graph/onnx/aliases.c graph/onnx/aliases.def graph/onnx/onnx.h \
	graph/onnx/dump-notes.c graph/onnx/onnx-parts.h \
	graph/onnx/files.c \
	graph/onnx/functions.c \
	graph/onnx/ge.c \
	graph/onnx/ge-formats.c \
	graph/onnx/ge-nodes.c \
	graph/onnx/graph-def.c \
	graph/onnx/kinds.c graph/onnx/kinds.def \
	graph/onnx/marks.c \
	graph/onnx/mindir.c graph/onnx/mindir.def \
	graph/onnx/mindir-messages.c \
	graph/onnx/mindir-operands.c \
	graph/onnx/narrow.c \
	graph/onnx/onnx-messages.c \
	graph/onnx/onnx.c \
	graph/onnx/onnx-scope.c \
	graph/onnx/print.c \
	graph/onnx/sends.c \
	graph/onnx/sparse.c \
	graph/onnx/tensors.c \
	graph/onnx/text-format.c \
	graph/onnx/wire.c \
	graph/onnx/write.c \
	graph/passes/caches.c graph/passes/passes.h \
	graph/passes/canonical-graph.c \
	graph/passes/infer-graph.c \
	graph/passes/keep-states.c \
	graph/passes/narrow-weights.c \
	graph/passes/network-names.c \
	graph/passes/normalised-graph.c \
	graph/passes/quantised-graph.c \
	graph/passes/slices.c \
	graph/passes/unify-constants.c \
	graph/rewrites/cse.c \
	graph/rewrites/ge-view.c graph/rewrites/rewrites-parts.h \
	graph/rewrites/no-task.c \
	graph/rewrites/packets.c \
	graph/rewrites/recompute.c \
	graph/rewrites/rewrite.c \
	graph/rewrites/rewrites.h \
	graph/rewrites/simplify.c \
	graph/rewrites/simplify-shapes.c \
	graph/rewrites/tidy.c \
	graph/rewrites/turns.c \
	graph/operators/absent.c graph/operators/operators.h \
	graph/operators/attention.c \
	graph/operators/attention-forms.c \
	graph/operators/axes.c \
	graph/operators/bodies.c \
	graph/operators/classical-forest.c \
	graph/operators/classical-parts.c \
	graph/operators/classical-svm.c \
	graph/operators/classical-tables.c \
	graph/operators/classical-trees.c \
	graph/operators/classical.c \
	graph/operators/collectives.c \
	graph/operators/columns.c \
	graph/operators/composites.c \
	graph/operators/einsum.c \
	graph/operators/elementwise.c \
	graph/operators/expansion.c graph/operators/operators-parts.h \
	graph/operators/formats.c \
	graph/operators/fourier.c \
	graph/operators/fused-normal.c \
	graph/operators/fused-products.c \
	graph/operators/gradients.c \
	graph/operators/indexing.c \
	graph/operators/inlining.c \
	graph/operators/kernels.c \
	graph/operators/linear-attention.c \
	graph/operators/losses.c \
	graph/operators/microsoft.c \
	graph/operators/microsoft-attention.c \
	graph/operators/microsoft-layers.c \
	graph/operators/microsoft-products.c \
	graph/operators/microsoft-quantised.c \
	graph/operators/moves.c \
	graph/operators/normal.c \
	graph/operators/optimisers.c \
	graph/operators/pads.c \
	graph/operators/primitives.c \
	graph/operators/products.c \
	graph/operators/quantised-gates.c \
	graph/operators/quantised-products.c \
	graph/operators/quantised-rows.c \
	graph/operators/quantised.c \
	graph/operators/random.c \
	graph/operators/recurrent.c \
	graph/operators/resize.c \
	graph/operators/sampling.c \
	graph/operators/schema.c \
	graph/operators/sequences.c \
	graph/operators/shapes.c \
	graph/operators/size-lists.c \
	graph/operators/signals.c \
	graph/operators/small-numbers.c \
	graph/operators/symbolic-calls.c \
	graph/operators/symbolic-elements.c \
	graph/operators/symbolic-messages.c \
	graph/operators/symbolic-shapes.c \
	graph/operators/symbolic-sizes.c \
	graph/operators/symbolic-trials.c \
	graph/operators/symbolic-values.c \
	graph/operators/training.c \
	graph/operators/transposed.c \
	graph/operators/window.c \
	graph/operators/windows.c \
	graph/manager/read-switches.c \
	graph/rules/carry-notes.c \
	graph/rules/evaluate.c \
	graph/rules/expand.c graph/rules/rules.h \
	graph/rules/fuse.c \
	graph/rules/rules-parts.h \
	graph/rules/expression.c \
	graph/rules/match.c \
	graph/rules/read-rules.c \
	graph/rules/repeats.c \
	graph/rules/replace.c \
	graph/rules/replacing.c \
	graph/rules/apply-rules.c \
	graph/rules/rule-lines.c \
	graph/rules/steps.c \
	graph/rules/rule-sides.c \
	graph/rules/rule-texts.c \
	graph/rules/users.c
nodist_graph_libgraph_a_SOURCES = graph/rules/own-rules.c

# The rules of the expander and of patterns are part of the program, and also installed as examples for rules of users.
RULE_FILES = \
	graph/rules/expand.yaml \
	graph/rules/onnx.yaml \
	graph/rules/passes.yaml \
	graph/rules/torchair.yaml
dist_pkgdata_DATA = $(RULE_FILES)

CLEANFILES += graph/rules/own-rules.c
graph/rules/own-rules.c: $(RULE_FILES)
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)( echo '#include "graph/rules/rules-parts.h"' && for name in expand onnx passes torchair; do \
		echo "const char sk_$${name}_rules[] =" && \
		sed 's/\\/\\\\/g; s/"/\\"/g; s/^/"/; s/$$/\\n"/' $(srcdir)/graph/rules/$$name.yaml && \
		echo ';' || exit 1; \
		done ) >$@.tmp && mv $@.tmp $@
