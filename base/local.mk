# Utilities for all layers. They use no other layer.

# What libskrt uses also: names (their printable form, suggestions for misspelt ones, and patterns), the writer of JSON,
# temporary files.
noinst_LTLIBRARIES += base/libshared.la
base_libshared_la_SOURCES = \
	base/escape.c base/text.h \
	base/json-writer.c base/json.h \
	base/nearest.c \
	base/pattern.c \
	base/shape.c \
	base/temporary.c base/file.h
base_libshared_la_CFLAGS = $(PART_CFLAGS)

# Memory, diagnostics, maps, checked arithmetic, texts, files; YAML as a tree of nodes, and the readers of their values.
noinst_LIBRARIES += base/libbase.a
base_libbase_a_SOURCES = \
	base/arena.c base/arena.h base/chunks.c \
	base/beside.c base/map.h \
	base/boxes.c base/ranges.h \
	base/diag.c base/diag.h \
	base/document.c base/document.h base/fields.c \
	base/dot.c base/text.h \
	base/file.c base/file.h \
	base/identifier.c \
	base/json.c base/json-check.c \
	base/map.c \
	base/mapped.c \
	base/parallel.c base/timing.h \
	base/ranges.c \
	base/sizes.c base/sizes.h base/sizes-divide.c base/sizes-terms.h base/sizes-text.c \
	base/table.c \
	base/tar.c \
	base/text.c \
	base/timing.c \
	base/unfinished.c
base_libbase_a_CFLAGS = $(AM_CFLAGS) $(XXHASH_CFLAGS) $(YAML_CFLAGS) -pthread
