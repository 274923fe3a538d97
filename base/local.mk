# What everybody may use, and what uses nothing of ours.

# Suggestions for misspelt names, patterns of them, and names as people may see them: also for libskrt.
noinst_LTLIBRARIES += base/libnearest.la
base_libnearest_la_SOURCES = \
	base/escape.c base/escape.h \
	base/nearest.c base/nearest.h \
	base/pattern.c base/pattern.h

# Temporary files: also for libskrt.
noinst_LTLIBRARIES += base/libtemporary.la
base_libtemporary_la_SOURCES = base/temporary.c base/temporary.h

# Files that are written, and files that are mapped: also for skrun.
noinst_LTLIBRARIES += base/libfiles.la
base_libfiles_la_SOURCES = base/mapped.c base/mapped.h base/unfinished.c base/unfinished.h
base_libfiles_la_LIBADD = base/libtemporary.la

# Memory, diagnostics, maps, checked arithmetic: for everybody.
noinst_LTLIBRARIES += base/libbase.la
base_libbase_la_SOURCES = \
	base/arena.c base/arena.h base/chunks.c base/chunks.h \
	base/beside.c base/beside.h \
	base/boxes.c base/boxes.h \
	base/checked.h \
	base/diag.c base/diag.h \
	base/dot.c base/dot.h \
	base/file.c base/file.h \
	base/identifier.c base/identifier.h \
	base/json.c base/json.h base/json-check.c base/json-check.h \
	base/map.c base/map.h \
	base/parallel.c base/parallel.h \
	base/ranges.c base/ranges.h \
	base/table.c base/table.h \
	base/tar.c base/tar.h \
	base/text.c base/text.h \
	base/timing.c base/timing.h
base_libbase_la_CFLAGS = $(AM_CFLAGS) $(XXHASH_CFLAGS) -pthread
base_libbase_la_LIBADD = base/libfiles.la base/libnearest.la $(XXHASH_LIBS) -lpthread

# YAML to a tree of nodes, and the readers of their values.
noinst_LTLIBRARIES += base/libdocument.la
base_libdocument_la_SOURCES = base/document.c base/document.h base/fields.c base/fields.h
base_libdocument_la_CFLAGS = $(AM_CFLAGS) $(YAML_CFLAGS)
base_libdocument_la_LIBADD = base/libbase.la $(YAML_LIBS)
