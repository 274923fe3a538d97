# Planning: launches, schedule, memory, and the plan that holds the result.
noinst_LIBRARIES += src/libplanning.a
src_libplanning_a_SOURCES = \
	src/planning/ancestry.c src/planning/planning-parts.h \
	src/planning/dependency.c \
	src/bind/gaps.c src/bind/bind-parts.h \
	src/planning/launch-options.c \
	src/planning/memory.c src/planning/planning.h \
	src/planning/order.c \
	src/planning/fusion.c \
	src/planning/peak.c \
	src/planning/plan-lists.c \
	src/planning/plan-ranks.c \
	src/planning/plan-sizes.c \
	src/planning/plan-tables.c \
	src/planning/plan-writer.c \
	src/planning/reasons.c \
	src/planning/schedule.c \
	src/planning/launch-steps.c \
	src/planning/block-parts.c \
	src/planning/block-reasons.c \
	src/planning/placement.c \
	src/planning/run-order.c \
	src/planning/run-times.c \
	src/planning/tile-accesses.c \
	src/planning/tile-groups.c \
	src/planning/tile-order.c \
	src/planning/tile-reasons.c \
	src/planning/without-groups.c \
	src/planning/segments.c \
	src/model/sides.c src/model/model.h \
	src/planning/strict.c \
	src/planning/sync-split.c \
	src/model/units.c \
	src/model/usual.c \
	src/planning/verdicts.c

# What sklink and skdump share beside the plan's reader: the proof of a plan, and the report.
noinst_LIBRARIES += src/libproof.a
src_libproof_a_SOURCES = \
	src/proof/access.c src/proof/proof-parts.h \
	src/proof/call-arguments.c \
	src/proof/call-check.c \
	src/proof/call-extents.c src/proof/call-memory.c src/proof/call-spread.c \
	src/proof/call-values.c \
	src/proof/calls.c \
	src/proof/consistency.c src/proof/proof.h \
	src/proof/consistency-launches.c src/proof/consistency-tensors.c \
	src/proof/contradiction.c \
	src/proof/demands.c \
	src/proof/device-cores.c \
	src/proof/exchange.c \
	format/plan/dims-forms.c format/plan/dims-forms.h \
	src/proof/forms.c src/proof/forms.h src/proof/sized.c src/proof/sized-contents.c src/proof/sized-verify.c \
	src/proof/sized-calls.c src/proof/sized-entries.c src/proof/sized-grid.c \
	src/proof/history.c \
	src/proof/knowledge.c \
	src/proof/launch-order.c \
	src/proof/once-check.c \
	src/proof/explain.c \
	src/proof/fact-words.c \
	src/proof/traffic.c \
	src/proof/account.c \
	src/proof/plan-check.c \
	src/proof/unit-check.c \
	src/proof/scratch-check.c src/proof/verify.c
src_libproof_a_CFLAGS = $(AM_CFLAGS) $(ZLIB_CFLAGS)

# All of sklink but main: the front end and the package, with the rooms between them.
noinst_LIBRARIES += src/libcore.a
src_libcore_a_SOURCES = \
	src/link/lower.c src/link/link.h \
	src/package/account-builder.c src/package/package.h \
	src/bind/bind-attributes.c \
	src/bind/bind-cost.c \
	src/bind/bind-expressions.c \
	src/bind/bind-extents.c \
	src/bind/bind-idle.c \
	src/bind/bind-memory.c \
	src/bind/bind-scalars.c \
	src/bind/bind-tensors.c \
	src/bind/bind.c src/bind/bind.h \
	src/bind/idle.c \
	src/bind/unaligned.c src/bind/bind-parts.h \
	src/bind/bind-lift.c src/bind/samples.c \
	src/bind/empty.c \
	src/bind/binder.c \
	src/bind/fit.c \
	src/command/command.c src/command/command.h \
	src/command/configure.c \
	src/command/option.c src/command/command-parts.h \
	src/command/response.c \
	src/package/entries.c \
	src/outputs/header.c src/outputs/header-sizes.c src/outputs/outputs-parts.h \
	src/bind/kernels.c src/bind/kernel-reach.c \
	src/bind/request.c \
	src/bind/op-index.c \
	src/bind/operators.c \
	src/bind/operators-said.c \
	src/command/keywords.c \
	src/manifest/manifest-attributes.c \
	src/manifest/manifest-constants.c \
	src/manifest/manifest-costs.c \
	src/manifest/manifest-graph.c \
	src/manifest/manifest-names.c \
	src/manifest/manifest-numbers.c \
	src/manifest/manifest-sizes.c \
	src/manifest/manifest.h \
	src/manifest/manifest-ranks.c \
	src/manifest/manifest-tasks.c \
	src/manifest/manifest-tensors.c \
	src/manifest/manifest.c \
	src/model/model.h src/model/model.c src/model/ranks.c \
	src/manifest/options.c \
	src/package/names.c \
	src/outputs/outputs.c src/outputs/outputs.h \
	src/package/package.c \
	src/outputs/decisions.c \
	src/command/reproduction.c \
	src/bind/roles.c \
	src/package/sign.c \
	src/package/weights-file.c \
	src/outputs/shares.c \
	src/outputs/statistics.c \
	src/outputs/virtual-nodes.c

# What editors complete manifests with.
dist_pkgdata_DATA += src/manifest/manifest.schema.json

src_libcore_a_CFLAGS = $(AM_CFLAGS) $(YAML_CFLAGS) -pthread
src_libcore_a_CPPFLAGS = $(AM_CPPFLAGS) -DSK_BINDIR='"$(bindir)"' -DSK_LIBDIR='"$(libdir)"'

bin_PROGRAMS += sklink
sklink_SOURCES = \
	src/link/folding.c src/link/link.h src/link/folding-child.c src/link/folding-cost.c \
	src/link/check-rules.c \
	src/link/have-kernels.c \
	src/link/cut.c src/link/undeclared.c \
	src/link/find-caches.c \
	src/link/freeze.c \
	src/link/given.c \
	src/link/given-names.c \
	src/link/networks.c src/link/known-contents.c \
	src/link/graph-passes.c src/link/fusion-flags.c src/link/read-graph.c \
	src/link/link-passes.c \
	src/link/scopes.c \
	src/draft/draft.c src/draft/draft.h \
	src/sklink.c
if HAVE_LIBDW
sklink_SOURCES += src/draft/draft-compilers.c src/draft/draft-function.c src/draft/draft-object.c \
	src/draft/draft-parts.h src/draft/draft-types.c
endif
# Each library comes before those that it uses; libloader.la has what they share with libskrt.
core_parts = src/libcore.a src/libplanning.a src/libproof.a graph/libgraph.a linker/liblinker.a stubs/libstubs.a \
	format/libsignature.a format/libnpy.a format/librelocations.a base/libbase.a loader/libloader.la
core_libs = $(YAML_LIBS) $(XXHASH_LIBS) $(ZLIB_LIBS) $(LIBIBERTY_LIBS) -lpthread -lm
sklink_LDADD = $(core_parts) $(core_libs) $(LIBDW_LIBS)

dist_bin_SCRIPTS = src/bisect/sklink-bisect

# All of skdump but main, also for tests.
noinst_LIBRARIES += src/libskdump.a
src_libskdump_a_SOURCES = \
	src/skdump/diff.c src/skdump/skdump.h \
	src/skdump/kernel-symbols.c \
	src/skdump/loadable.c src/skdump/chosen-sizes.c \
	src/skdump/package-file.c \
	src/skdump/package-moved.c src/skdump/package-object.c \
	src/skdump/page.c \
	src/skdump/reemit.c \
	src/skdump/show.c \
	src/skdump/show-dot.c src/skdump/show-kernels.c src/skdump/show-json.c src/skdump/show-ranks.c \
	src/skdump/show-steps.c \
	src/skdump/show-sizes.c \
	src/skdump/show-text.c
nodist_src_libskdump_a_SOURCES = page/parts.c
src_libskdump_a_CFLAGS = $(AM_CFLAGS) $(LIBELF_CFLAGS)

bin_PROGRAMS += skdump
skdump_SOURCES = src/skdump/skdump.c
skdump_CFLAGS = $(AM_CFLAGS) $(LIBELF_CFLAGS)
skdump_LDADD = src/libskdump.a src/libproof.a stubs/libstubs.a format/libsignature.a format/librelocations.a \
	base/libbase.a loader/libloader.la $(LIBELF_LIBS) $(ZLIB_LIBS) $(XXHASH_LIBS) -lpthread -lm
