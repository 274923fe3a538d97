# Suggestions for misspelt names, and names as people may see them: also for libskrt.
noinst_LTLIBRARIES += src/libnearest.la
src_libnearest_la_SOURCES = src/base/escape.c src/base/escape.h src/base/nearest.c src/base/nearest.h

# Files that are written, and files that are mapped: also for skrun.
noinst_LTLIBRARIES += src/libfiles.la
src_libfiles_la_SOURCES = src/base/mapped.c src/base/mapped.h src/base/unfinished.c src/base/unfinished.h

# Memory, diagnostics, maps, checked arithmetic: for everybody.
noinst_LTLIBRARIES += src/libbase.la
src_libbase_la_SOURCES = \
	src/base/arena.c src/base/arena.h \
	src/base/checked.h \
	src/base/diag.c src/base/diag.h \
	src/base/file.c src/base/file.h \
	src/base/json.c src/base/json.h \
	src/base/map.c src/base/map.h \
	src/base/ranges.c src/base/ranges.h \
	src/base/tar.c src/base/tar.h \
	src/base/text.c src/base/text.h \
	src/base/timing.c src/base/timing.h
src_libbase_la_CFLAGS = $(AM_CFLAGS) $(XXHASH_CFLAGS)
src_libbase_la_LIBADD = src/libfiles.la src/libnearest.la $(XXHASH_LIBS)

# Planning: launches, schedule, memory, and the plan that holds the result.
noinst_LTLIBRARIES += src/libplanning.la
src_libplanning_la_SOURCES = \
	src/ancestry.c src/ancestry.h \
	src/dependency.c src/dependency.h \
	src/gaps.c src/gaps.h \
	src/launch-options.c src/launch-options.h \
	src/memory.c src/memory.h \
	src/order.c src/order.h \
	src/partition.c src/partition.h \
	src/plan-tables.c src/plan-parts.h \
	src/plan.c src/plan.h \
	src/reasons.c src/reasons.h \
	src/schedule.c src/schedule.h \
	src/segments.c src/segments.h \
	src/sides.c src/sides.h \
	src/strict.c src/strict.h \
	src/sync-split.c src/sync-split.h \
	src/units.c src/units.h \
	src/verdicts.c src/verdicts.h
src_libplanning_la_LIBADD = src/libbase.la

# What sklink and skdump share beside the plan's reader: the proof of a plan, and the report.
noinst_LTLIBRARIES += src/libproof.la
src_libproof_la_SOURCES = \
	src/access.c src/access.h \
	src/calls.c src/calls.h \
	src/consistency.c src/consistency.h \
	src/demands.c src/demands.h \
	src/history.c src/history.h \
	src/knowledge.c src/knowledge.h \
	src/launch-order.c src/launch-order.h \
	src/explain.c src/explain.h \
	src/report.c src/report.h \
	src/signature-attributes.c src/signature-parts.h \
	src/signature-rules.c \
	src/signature.c src/signature.h \
	src/unit-check.c src/unit-check.h \
	src/verify.c src/verify.h
src_libproof_la_CFLAGS = $(AM_CFLAGS) $(ZLIB_CFLAGS)
src_libproof_la_LIBADD = loader/libplan.la src/libbase.la $(ZLIB_LIBS)

# All of sklink but main: the front end and the package, with the rooms between them.
noinst_LTLIBRARIES += src/libcore.la
src_libcore_la_SOURCES = \
	src/account.c src/account.h \
	src/bind-cost.c \
	src/bind-extents.c \
	src/bind-scalars.c \
	src/bind.c src/bind.h \
	src/binder.h \
	src/command.c src/command.h \
	src/document.c src/document.h \
	src/entries.c src/entries.h \
	src/fields.c src/fields.h \
	src/header.c src/header.h \
	src/kernels.c src/kernels.h \
	src/keywords.c src/keywords.h \
	src/manifest-costs.c \
	src/manifest-names.c \
	src/manifest-parts.h \
	src/manifest-tasks.c \
	src/manifest-tensors.c \
	src/manifest.c src/manifest.h \
	src/model.h \
	src/options.c src/options.h \
	src/package.c src/package.h \
	src/report-file.c src/report-file.h \
	src/reproduction.c src/reproduction.h \
	src/roles.c \
	src/seal.c src/seal.h \
	src/shares.c src/shares.h \
	src/statistics.c src/statistics.h
src_libcore_la_CFLAGS = $(AM_CFLAGS) $(YAML_CFLAGS) -pthread
src_libcore_la_LIBADD = \
	linker/liblinker.la \
	loader/libnpy.la \
	loader/libseal.la \
	loader/libprofile.la \
	src/libplanning.la \
	src/libproof.la \
	stubs/libstubs.la \
	$(YAML_LIBS)

bin_PROGRAMS += sklink
sklink_SOURCES = src/sklink.c
sklink_LDADD = src/libcore.la

bin_PROGRAMS += skdump
skdump_SOURCES = \
	src/diff.c src/diff.h \
	src/kernel-symbols.c src/kernel-symbols.h \
	src/loadable.c src/loadable.h \
	src/package-file.c src/package-file.h \
	src/package-object.c src/package-object.h \
	src/reemit.c src/reemit.h \
	src/show.c src/show.h \
	src/skdump.c \
	src/table.c src/table.h
skdump_CFLAGS = $(AM_CFLAGS) $(LIBELF_CFLAGS)
skdump_LDADD = src/libproof.la stubs/libstubs.la loader/libloader.la $(LIBELF_LIBS) -lpthread -lm
