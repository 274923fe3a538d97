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
src_libplanning_la_LIBADD = base/libbase.la

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
	src/proof/unit-check.c src/proof/unit-check.h \
	src/proof/scratch-check.c src/proof/scratch-check.h src/proof/verify.c src/proof/verify.h
src_libproof_la_CFLAGS = $(AM_CFLAGS) $(ZLIB_CFLAGS)
src_libproof_la_LIBADD = format/libsignature.la format/libplan.la base/libbase.la $(ZLIB_LIBS)

# All of sklink but main: the front end and the package, with the rooms between them.
noinst_LTLIBRARIES += src/libcore.la
src_libcore_la_SOURCES = \
	src/lower.c src/lower.h \
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
	src/package/entries.c src/package/entries.h \
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
	src/model/scope.h src/model/task.h src/model/tensor.h \
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

# What editors complete manifests with.
dist_pkgdata_DATA += src/manifest/manifest.schema.json

src_libcore_la_CFLAGS = $(AM_CFLAGS) $(YAML_CFLAGS) -pthread
src_libcore_la_CPPFLAGS = $(AM_CPPFLAGS) -DSK_BINDIR='"$(bindir)"' -DSK_LIBDIR='"$(libdir)"'
src_libcore_la_LIBADD = \
	linker/liblinker.la \
	base/libdocument.la \
	format/libnpy.la \
	format/libseal.la \
	format/libprofile.la \
	graph/libgraph.la \
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
	src/skdump/skdump.c
nodist_skdump_SOURCES = page/parts.c
skdump_CFLAGS = $(AM_CFLAGS) $(LIBELF_CFLAGS)
skdump_LDADD = src/libproof.la stubs/libstubs.la loader/libloader.la $(LIBELF_LIBS) -lpthread -lm
