# The linker: objects and archives in, one ET_DYN image out.
noinst_LTLIBRARIES += linker/liblinker.la
linker_liblinker_la_SOURCES = \
	linker/architecture.h \
	linker/archive.c \
	linker/collect.c \
	linker/dynamic.c \
	linker/frames.c \
	linker/image.c \
	linker/imports.c \
	linker/input.c \
	linker/internal.h \
	linker/kernels.c \
	linker/layout.c \
	linker/linker.c linker/linker.h \
	linker/object.c \
	linker/relocate.c \
	linker/scan.c \
	linker/symbols.c \
	linker/write.c \
	linker/x86_64.c \
	stubs/imports.def
linker_liblinker_la_CFLAGS = $(AM_CFLAGS) $(XXHASH_CFLAGS)
linker_liblinker_la_LIBADD = src/libbase.la $(XXHASH_LIBS)

# A small linker around linker.h, for the shell tests.
check_PROGRAMS += tests/link-driver
tests_link_driver_SOURCES = tests/link-driver.c
tests_link_driver_LDADD = linker/liblinker.la
