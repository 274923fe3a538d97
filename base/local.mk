# Utilities for all layers. They use no other layer.

# Names: their printable form, suggestions for misspelt ones, and patterns; also the writer of JSON. libskrt uses this
# library also.
noinst_LTLIBRARIES += base/libnames.la
base_libnames_la_SOURCES = \
	base/escape.c base/text.h \
	base/json-writer.c base/json.h \
	base/nearest.c \
	base/pattern.c \
	base/shape.c

# Temporary files. libskrt also uses this library.
noinst_LTLIBRARIES += base/libtemporary.la
base_libtemporary_la_SOURCES = base/temporary.c base/file.h

# Written files and mapped files. skrun also uses this library.
noinst_LTLIBRARIES += base/libfiles.la
base_libfiles_la_SOURCES = base/mapped.c base/file.h base/unfinished.c
base_libfiles_la_LIBADD = base/libtemporary.la

# Memory, diagnostics, maps, checked arithmetic, texts.
noinst_LTLIBRARIES += base/libbase.la
base_libbase_la_SOURCES = \
	base/arena.c base/arena.h base/chunks.c \
	base/beside.c base/map.h \
	base/boxes.c base/ranges.h \
	base/diag.c base/diag.h \
	base/dot.c base/text.h \
	base/file.c base/file.h \
	base/identifier.c \
	base/json.c base/json-check.c \
	base/map.c \
	base/parallel.c base/timing.h \
	base/ranges.c \
	base/sizes.c base/sizes.h base/sizes-divide.c base/sizes-terms.h base/sizes-text.c \
	base/table.c \
	base/tar.c \
	base/text.c \
	base/timing.c
base_libbase_la_CFLAGS = $(PROGRAM_CFLAGS) $(XXHASH_CFLAGS) -pthread
base_libbase_la_LIBADD = base/libfiles.la base/libnames.la $(XXHASH_LIBS) -lpthread

# YAML as a tree of nodes, and the readers of their values.
noinst_LTLIBRARIES += base/libdocument.la
base_libdocument_la_SOURCES = base/document.c base/document.h base/fields.c
base_libdocument_la_CFLAGS = $(PROGRAM_CFLAGS) $(YAML_CFLAGS)
base_libdocument_la_LIBADD = base/libbase.la $(YAML_LIBS)
