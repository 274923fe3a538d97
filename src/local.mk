# Suggestions for misspelt names, patterns of them, and names as people may see them: also for libskrt.
noinst_LTLIBRARIES += src/libnearest.la
src_libnearest_la_SOURCES = \
	src/base/escape.c src/base/escape.h \
	src/base/nearest.c src/base/nearest.h \
	src/base/pattern.c src/base/pattern.h
src_libnearest_la_CFLAGS = $(STRICT_CFLAGS)

# Temporary files: also for libskrt.
noinst_LTLIBRARIES += src/libtemporary.la
src_libtemporary_la_SOURCES = src/base/temporary.c src/base/temporary.h
src_libtemporary_la_CFLAGS = $(STRICT_CFLAGS)

# Files that are written, and files that are mapped: also for skrun.
noinst_LTLIBRARIES += src/libfiles.la
src_libfiles_la_SOURCES = src/base/mapped.c src/base/mapped.h src/base/unfinished.c src/base/unfinished.h
src_libfiles_la_CFLAGS = $(STRICT_CFLAGS)
src_libfiles_la_LIBADD = src/libtemporary.la

# Memory, diagnostics, maps, checked arithmetic: for everybody.
noinst_LTLIBRARIES += src/libbase.la
src_libbase_la_SOURCES = \
	src/base/arena.c src/base/arena.h src/base/chunks.c src/base/chunks.h \
	src/base/beside.c src/base/beside.h \
	src/base/boxes.c src/base/boxes.h \
	src/base/checked.h \
	src/base/diag.c src/base/diag.h \
	src/base/dot.c src/base/dot.h \
	src/base/file.c src/base/file.h \
	src/base/identifier.c src/base/identifier.h \
	src/base/json.c src/base/json.h \
	src/base/map.c src/base/map.h \
	src/base/parallel.c src/base/parallel.h \
	src/base/ranges.c src/base/ranges.h \
	src/base/tar.c src/base/tar.h \
	src/base/text.c src/base/text.h \
	src/base/timing.c src/base/timing.h
src_libbase_la_CFLAGS = $(STRICT_CFLAGS) $(XXHASH_CFLAGS) -pthread
src_libbase_la_LIBADD = src/libfiles.la src/libnearest.la $(XXHASH_LIBS) -lpthread

# Planning: launches, schedule, memory, and the plan that holds the result.
noinst_LTLIBRARIES += src/libplanning.la
src_libplanning_la_SOURCES = \
	src/planning/ancestry.c src/planning/ancestry.h \
	src/planning/dependency.c src/planning/dependency.h \
	src/bind/gaps.c src/bind/gaps.h \
	src/planning/launch-options.c src/planning/launch-options.h \
	src/planning/memory.c src/planning/memory.h \
	src/planning/order.c src/planning/order.h \
	src/planning/fusion.c src/planning/fusion.h \
	src/planning/peak.c src/planning/peak.h \
	src/planning/plan-lists.c \
	src/planning/plan-tables.c src/planning/plan-tables.h \
	src/planning/plan-writer.c src/planning/plan-writer.h \
	src/planning/reasons.c src/planning/reasons.h \
	src/planning/schedule.c src/planning/schedule.h \
	src/planning/launch-steps.c src/planning/launch-steps.h \
	src/planning/block-parts.c src/planning/block-parts.h \
	src/planning/block-reasons.c src/planning/block-reasons.h \
	src/planning/runs.h \
	src/planning/placement.c src/planning/placement.h \
	src/planning/tile-groups.c src/planning/tile-groups.h \
	src/planning/tile-order.c src/planning/tile-order.h \
	src/planning/tile-reasons.c src/planning/tile-reasons.h \
	src/planning/without-groups.c src/planning/without-groups.h \
	src/planning/segments.c src/planning/segments.h \
	src/model/sides.c src/model/sides.h \
	src/planning/strict.c src/planning/strict.h \
	src/planning/sync-split.c src/planning/sync-split.h \
	src/model/units.c src/model/units.h \
	src/planning/verdicts.c src/planning/verdicts.h
src_libplanning_la_CFLAGS = $(STRICT_CFLAGS)
src_libplanning_la_LIBADD = src/libbase.la

# Numbers in the bits of element types.
noinst_LTLIBRARIES += src/libnumber.la
src_libnumber_la_SOURCES = src/model/number.c src/model/number.h
src_libnumber_la_CFLAGS = $(STRICT_CFLAGS)
src_libnumber_la_LIBADD = -lm

# What sklink and skdump share beside the plan's reader: the proof of a plan, and the report.
noinst_LTLIBRARIES += src/libproof.la
src_libproof_la_SOURCES = \
	src/proof/access.c src/proof/access.h \
	src/proof/call-arguments.c \
	src/proof/call-check.c src/proof/call-check.h \
	src/proof/call-extents.c src/proof/call-memory.c src/proof/call-spread.c \
	src/proof/call-values.c src/proof/call-values.h \
	src/proof/calls.c src/proof/calls.h \
	src/proof/consistency.c src/proof/consistency.h \
	src/proof/consistency-launches.c src/proof/consistency-tensors.c \
	src/proof/contradiction.c src/proof/contradiction.h \
	src/proof/demands.c src/proof/demands.h \
	src/proof/device-cores.c src/proof/device-cores.h \
	src/proof/history.c src/proof/history.h \
	src/proof/knowledge.c src/proof/knowledge.h \
	src/proof/launch-order.c src/proof/launch-order.h \
	src/proof/once-check.c src/proof/once-check.h \
	src/proof/explain.c src/proof/explain.h \
	src/proof/fact-words.c src/proof/fact-words.h \
	src/proof/traffic.c src/proof/traffic.h \
	src/proof/account.c src/proof/account.h \
	src/proof/plan-check.c src/proof/plan-check.h \
	src/signature/signature-attributes.c src/signature/signature-expressions.c src/signature/signature-expressions.h \
	src/signature/signature-tensors.c src/signature/signature-tensors.h \
	src/signature/signature-tokens.c src/signature/signature-tokens.h src/signature/signature-parts.c src/signature/signature-parts.h \
	src/signature/signature-frames.c src/signature/signature-frames.h \
	src/signature/signature-rules.c \
	src/signature/signature-parser.c src/signature/signature-parser.h \
	src/proof/unit-check.c src/proof/unit-check.h \
	src/proof/scratch-check.c src/proof/scratch-check.h src/proof/verify.c src/proof/verify.h
src_libproof_la_CFLAGS = $(STRICT_CFLAGS) $(ZLIB_CFLAGS)
src_libproof_la_LIBADD = loader/libplan.la src/libbase.la src/libnumber.la $(ZLIB_LIBS)

# The graph of operators, from a model file to tasks.
noinst_LTLIBRARIES += src/libfusion.la
src_libfusion_la_SOURCES = \
	src/fusion/canonical.c src/fusion/canonical.h \
	src/fusion/graph.c src/fusion/graph.h \
	src/fusion/infer.c src/fusion/infer.h \
	src/fusion/uses.c src/fusion/uses.h \
	src/fusion/composites/areas.c src/fusion/composites/areas.h \
	src/fusion/composites/cluster.c \
	src/fusion/composites/composites.c src/fusion/composites/composites.h \
	src/fusion/composites/kinds.c src/fusion/composites/kinds.h \
	src/fusion/composites/operators.def \
	src/fusion/composites/patterns.c src/fusion/composites/patterns.h \
	src/fusion/composites/split.c \
	src/fusion/manager/choose.c src/fusion/manager/choose.h \
	src/fusion/manager/cluster.def src/fusion/manager/expand.def \
	src/fusion/manager/flags.c src/fusion/manager/flags.def src/fusion/manager/flags.h \
	src/fusion/manager/lists.c src/fusion/manager/lists.h \
	src/fusion/manager/no-effect.def src/fusion/manager/pass.h \
	src/fusion/manager/results.c src/fusion/manager/results.h \
	src/fusion/manager/switches.c src/fusion/manager/switches.h \
	src/fusion/dumps/clusters.c src/fusion/dumps/clusters.h \
	src/fusion/dumps/dot.c src/fusion/dumps/dumps.c src/fusion/dumps/dumps.h \
	src/fusion/dumps/forms.h src/fusion/dumps/text.c \
	src/fusion/dumps/fx.c src/fusion/dumps/fx.h src/fusion/dumps/fx-items.c src/fusion/dumps/fx-items.h \
	src/fusion/dumps/readable.c src/fusion/dumps/readable.h \
	src/fusion/dumps/ge-dumps.c src/fusion/dumps/ge-dumps.h \
	src/fusion/onnx/aliases.c src/fusion/onnx/aliases.def src/fusion/onnx/aliases.h \
	src/fusion/onnx/dump-notes.c src/fusion/onnx/dump-notes.h \
	src/fusion/onnx/files.c src/fusion/onnx/files.h \
	src/fusion/onnx/functions.c src/fusion/onnx/functions.h \
	src/fusion/onnx/ge.c src/fusion/onnx/ge.h \
	src/fusion/onnx/marks.c src/fusion/onnx/marks.h \
	src/fusion/onnx/onnx-messages.c src/fusion/onnx/onnx-messages.h \
	src/fusion/onnx/onnx.c src/fusion/onnx/onnx.h \
	src/fusion/onnx/onnx-scope.c src/fusion/onnx/onnx-scope.h \
	src/fusion/onnx/print.c \
	src/fusion/onnx/tensors.c src/fusion/onnx/tensors.h \
	src/fusion/onnx/text-format.c src/fusion/onnx/text-format.h \
	src/fusion/onnx/wire.c src/fusion/onnx/wire.h \
	src/fusion/onnx/write.c \
	src/fusion/passes/canonical-graph.c src/fusion/passes/canonical-graph.h \
	src/fusion/passes/infer-graph.c src/fusion/passes/infer-graph.h \
	src/fusion/passes/keep-states.c src/fusion/passes/keep-states.h \
	src/fusion/passes/lower.c src/fusion/passes/lower.h \
	src/fusion/passes/network-names.c src/fusion/passes/network-names.h \
	src/fusion/passes/normalised-graph.c src/fusion/passes/normalised-graph.h \
	src/fusion/passes/quantised-graph.c src/fusion/passes/quantised-graph.h \
	src/fusion/passes/slices.c src/fusion/passes/slices.h \
	src/fusion/passes/unify-constants.c src/fusion/passes/unify-constants.h \
	src/fusion/rewrites/cse.c \
	src/fusion/rewrites/ge-view.c src/fusion/rewrites/ge-view.h \
	src/fusion/rewrites/no-task.c \
	src/fusion/rewrites/recompute.c \
	src/fusion/rewrites/rewrite.c src/fusion/rewrites/rewrite.h \
	src/fusion/rewrites/rewrites.h \
	src/fusion/rewrites/simplify.c src/fusion/rewrites/simplify.h \
	src/fusion/rewrites/simplify-shapes.c \
	src/fusion/rewrites/tidy.c \
	src/fusion/rewrites/turns.c \
	src/fusion/operators/absent.c src/fusion/operators/absent.h \
	src/fusion/operators/attention.c \
	src/fusion/operators/axes.c \
	src/fusion/operators/bodies.c \
	src/fusion/operators/collectives.c \
	src/fusion/operators/columns.c \
	src/fusion/operators/composites.c \
	src/fusion/operators/einsum.c \
	src/fusion/operators/elementwise.c \
	src/fusion/operators/expansion.c src/fusion/operators/expansion.h \
	src/fusion/operators/families.h \
	src/fusion/operators/fourier.c \
	src/fusion/operators/fused-normal.c \
	src/fusion/operators/fused-products.c \
	src/fusion/operators/gradients.c \
	src/fusion/operators/indexing.c \
	src/fusion/operators/inlining.c src/fusion/operators/inlining.h \
	src/fusion/operators/kernels.c \
	src/fusion/operators/losses.c \
	src/fusion/operators/microsoft.c \
	src/fusion/operators/moves.c \
	src/fusion/operators/normal.c \
	src/fusion/operators/optimisers.c \
	src/fusion/operators/pads.c \
	src/fusion/operators/primitives.c \
	src/fusion/operators/products.c \
	src/fusion/operators/quantised-products.c \
	src/fusion/operators/quantised.c \
	src/fusion/operators/random.c \
	src/fusion/operators/recurrent.c \
	src/fusion/operators/resize.c \
	src/fusion/operators/sampling.c \
	src/fusion/operators/schema.c src/fusion/operators/schema.h \
	src/fusion/operators/sequences.c \
	src/fusion/operators/shapes.c \
	src/fusion/operators/signals.c \
	src/fusion/operators/training.c \
	src/fusion/operators/transposed.c \
	src/fusion/operators/window.c src/fusion/operators/window.h \
	src/fusion/operators/windows.c
src_libfusion_la_LIBADD = src/libbase.la src/libnumber.la

# All of sklink but main: the front end and the package, with the rooms between them.
noinst_LTLIBRARIES += src/libcore.la
src_libcore_la_SOURCES = \
	src/package/account-builder.c src/package/account-builder.h \
	src/bind/bind-attributes.c \
	src/bind/bind-cost.c \
	src/bind/bind-expressions.c \
	src/bind/bind-extents.c \
	src/bind/bind-idle.c \
	src/bind/bind-memory.c \
	src/bind/bind-scalars.c \
	src/bind/bind-tensors.c \
	src/bind/bind.c src/bind/bind.h \
	src/bind/idle.c src/bind/idle.h \
	src/bind/unaligned.c src/bind/unaligned.h \
	src/bind/binder.c \
	src/bind/binder.h \
	src/command/command.c src/command/command.h \
	src/command/configure.c src/command/configure.h \
	src/command/help.c \
	src/command/option.c src/command/option.h \
	src/command/response.c src/command/response.h \
	src/document/document.c src/document/document.h \
	src/package/entries.c src/package/entries.h \
	src/document/fields.c src/document/fields.h \
	src/outputs/header.c src/outputs/header.h \
	src/bind/kernels.c src/bind/kernel-reach.c src/bind/kernels.h \
	src/bind/request.c src/bind/request.h \
	src/bind/op-index.c src/bind/op-index.h \
	src/bind/operators.c src/bind/operators.h \
	src/bind/operators-said.c \
	src/command/keywords.c src/command/keywords.h \
	src/manifest/manifest-attributes.c \
	src/manifest/manifest-constants.c \
	src/manifest/manifest-costs.c \
	src/manifest/manifest-graph.c \
	src/manifest/manifest-names.c \
	src/manifest/manifest-numbers.c \
	src/manifest/manifest-parts.h \
	src/manifest/manifest-tasks.c \
	src/manifest/manifest-tensors.c \
	src/manifest/manifest.c src/manifest/manifest.h \
	src/model/graph-file.h src/model/model.c src/model/model.h \
	src/model/attribute.c src/model/attribute.h \
	src/model/scope.h src/model/signature.h src/model/task.h src/model/tensor.h \
	src/manifest/options.c src/manifest/options.h \
	src/package/names.c src/package/names.h \
	src/outputs/outputs.c src/outputs/outputs.h \
	src/package/package.c src/package/package.h \
	src/outputs/decisions.c src/outputs/decisions.h \
	src/command/reproduction.c src/command/reproduction.h \
	src/bind/roles.c \
	src/package/sign.c src/package/sign.h \
	src/package/weights-file.c src/package/weights-file.h \
	src/outputs/shares.c src/outputs/shares.h \
	src/outputs/statistics.c src/outputs/statistics.h \
	src/outputs/virtual-nodes.c src/outputs/virtual-nodes.h
src_libcore_la_SOURCES += \
	src/fusion/manager/read-switches.c src/fusion/manager/read-switches.h \
	src/fusion/rules/evaluate.c \
	src/fusion/rules/expand.c src/fusion/rules/expand.h \
	src/fusion/rules/fuse.c src/fusion/rules/fuse.h \
	src/fusion/rules/own-rules.h \
	src/fusion/rules/expression.c src/fusion/rules/expression.h \
	src/fusion/rules/match.c src/fusion/rules/match.h \
	src/fusion/rules/read-rules.c src/fusion/rules/read-rules.h \
	src/fusion/rules/repeats.c \
	src/fusion/rules/replace.c src/fusion/rules/replace.h \
	src/fusion/rules/replacing.c src/fusion/rules/replacing.h \
	src/fusion/rules/apply-rules.c src/fusion/rules/apply-rules.h \
	src/fusion/rules/rule-lines.c src/fusion/rules/rule-lines.h \
	src/fusion/rules/rule.h src/fusion/rules/steps.c \
	src/fusion/rules/rule-sides.c src/fusion/rules/rule-sides.h \
	src/fusion/rules/rule-texts.c src/fusion/rules/rule-texts.h \
	src/fusion/rules/users.c src/fusion/rules/users.h
nodist_src_libcore_la_SOURCES = src/fusion/rules/own-rules.c

# The rules of the expander and of fusion are part of the program; those who write rules of their own find them as data, too.
RULE_FILES = \
	src/fusion/rules/expand.yaml \
	src/fusion/rules/onnx.yaml \
	src/fusion/rules/passes.yaml \
	src/fusion/rules/torchair.yaml
dist_pkgdata_DATA = $(RULE_FILES)

# What editors complete manifests with.
dist_pkgdata_DATA += src/manifest/manifest.schema.json
CLEANFILES += src/fusion/rules/own-rules.c
src/fusion/rules/own-rules.c: $(RULE_FILES)
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)( echo '#include "src/fusion/rules/own-rules.h"' && for name in expand onnx passes torchair; do \
		echo "const char sk_$${name}_rules[] =" && \
		sed 's/\\/\\\\/g; s/"/\\"/g; s/^/"/; s/$$/\\n"/' $(srcdir)/src/fusion/rules/$$name.yaml && echo ';' || exit 1; \
		done ) >$@.tmp && mv $@.tmp $@

src_libcore_la_CFLAGS = $(AM_CFLAGS) $(YAML_CFLAGS) -pthread
src_libcore_la_CPPFLAGS = $(AM_CPPFLAGS) -DSK_BINDIR='"$(bindir)"' -DSK_LIBDIR='"$(libdir)"'
src_libcore_la_LIBADD = \
	linker/liblinker.la \
	loader/libnpy.la \
	loader/libseal.la \
	loader/libprofile.la \
	src/libfusion.la \
	src/libplanning.la \
	src/libproof.la \
	stubs/libstubs.la \
	$(YAML_LIBS) -lm

bin_PROGRAMS += sklink
sklink_SOURCES = \
	src/folding.c src/folding.h src/folding-child.c src/folding-child.h \
	src/check-rules.c src/check-rules.h \
	src/have-kernels.c src/have-kernels.h \
	src/given.c src/given.h \
	src/networks.c src/networks.h \
	src/fuse-graph.c src/fuse-graph.h src/fusion-flags.c src/fusion-flags.h src/read-graph.c src/read-graph.h \
	src/link-passes.c src/link-passes.h \
	src/scopes.c src/scopes.h \
	src/sklink.c
sklink_LDADD = src/libcore.la loader/libloader.la

dist_bin_SCRIPTS = src/bisect/sklink-bisect

bin_PROGRAMS += skdump
skdump_SOURCES = \
	src/skdump/diff.c src/skdump/diff.h \
	src/skdump/kernel-symbols.c src/skdump/kernel-symbols.h \
	src/skdump/loadable.c src/skdump/loadable.h \
	src/skdump/package-file.c src/skdump/package-file.h \
	src/skdump/package-object.c src/skdump/package-object.h \
	src/skdump/page.c src/skdump/page.h \
	src/skdump/reemit.c src/skdump/reemit.h \
	src/skdump/show.c src/skdump/show.h \
	src/skdump/show-dot.c src/skdump/show-kernels.c src/skdump/show-json.c src/skdump/show-json.h src/skdump/show-steps.c \
	src/skdump/show-text.c src/skdump/show-text.h \
	src/skdump/skdump.c \
	src/base/json-check.c src/base/json-check.h src/base/table.c src/base/table.h
nodist_skdump_SOURCES = page/parts.c
skdump_CFLAGS = $(AM_CFLAGS) $(LIBELF_CFLAGS)
skdump_LDADD = src/libproof.la stubs/libstubs.la loader/libloader.la $(LIBELF_LIBS) -lpthread -lm
