# The linker: objects and archives in, one ET_DYN image out.
noinst_LTLIBRARIES += linker/liblinker.la
linker_liblinker_la_SOURCES = \
	linker/addresses.c \
	linker/ahead.c \
	linker/aliases.c \
	linker/architecture.c linker/linker-parts.h \
	linker/archive.c \
	linker/collect.c \
	linker/copies.c \
	linker/cref.c \
	linker/debug.c \
	linker/demangle.c \
	linker/debug-write.c \
	linker/dynamic.c \
	linker/exports.c linker/output.h \
	linker/finalizer.c \
	linker/frames.c \
	linker/frames-write.c \
	linker/icf.c \
	linker/build-id.c \
	linker/image.c \
	linker/ifuncs.c \
	linker/imports.c \
	linker/input.c \
	linker/kernels.c \
	linker/functions.c \
	linker/labels.c \
	linker/layout.c linker/outputs.c linker/segments.c \
	linker/linker.c linker/linker.h \
	linker/load.c \
	linker/merge.c \
	linker/notes.c \
	linker/object.c linker/object.h \
	linker/ordering.c \
	linker/parts.c \
	linker/ranges.c \
	linker/read.c \
	linker/reach.c \
	linker/refine.c \
	linker/relocatable.c \
	linker/relocatable-emit.c \
	linker/relocate.c \
	linker/resolve.c \
	linker/texts.c \
	linker/scan.c \
	linker/section.c \
	linker/thread-storage.c \
	linker/significance.c \
	linker/state.c \
	linker/statistics.c \
	linker/synthetic.c \
	linker/symbols.c \
	linker/target.c \
	linker/traps.c \
	linker/undefined.c \
	linker/version-script.c linker/versioned.c \
	linker/why-live.c \
	linker/write.c \
	linker/x86_64.c \
	format/import-row.h format/machines.def
linker_liblinker_la_CFLAGS = $(PROGRAM_CFLAGS) $(XXHASH_CFLAGS) $(ZLIB_CFLAGS) -pthread
linker_liblinker_la_LIBADD = base/libbase.la format/librelocations.la format/libimports.la $(XXHASH_LIBS) $(ZLIB_LIBS) $(LIBIBERTY_LIBS) -lpthread

# A small linker around linker.h, for the shell tests.
check_PROGRAMS += tests/linker/link-driver
tests_linker_link_driver_SOURCES = tests/linker/link-driver.c
tests_linker_link_driver_LDADD = linker/liblinker.la

check_PROGRAMS += tests/linker/link-damage
tests_linker_link_damage_SOURCES = tests/linker/link-damage.c
tests_linker_link_damage_LDADD = linker/liblinker.la

# What Debian's archives are linked and compared with.
check_PROGRAMS += tests/linker/link-members tests/linker/compare-links
tests_linker_link_members_SOURCES = tests/linker/link-members.c
tests_linker_link_members_CFLAGS = $(AM_CFLAGS) $(LIBELF_CFLAGS)
tests_linker_link_members_LDADD = linker/liblinker.la $(LIBELF_LIBS)
tests_linker_compare_links_SOURCES = tests/linker/compare-links.c
tests_linker_compare_links_CFLAGS = $(AM_CFLAGS) $(LIBELF_CFLAGS)
tests_linker_compare_links_LDADD = $(LIBELF_LIBS)

if HAVE_CHECK
check_PROGRAMS += tests/unit/check_archive tests/unit/check_relocate
QUICK_TESTS += tests/unit/check_archive tests/unit/check_relocate
tests_unit_check_archive_SOURCES = tests/unit/check_archive.c
tests_unit_check_archive_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_check_archive_LDADD = linker/liblinker.la $(CHECK_LIBS)
tests_unit_check_relocate_SOURCES = tests/unit/check_relocate.c
tests_unit_check_relocate_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_check_relocate_LDADD = linker/liblinker.la $(CHECK_LIBS)
endif

LINKER_TESTS = \
	tests/linker/blas.sh \
	tests/linker/damage.sh \
	tests/linker/debug.sh \
	tests/linker/demangle.sh \
	tests/linker/icf.sh \
	tests/linker/imports.sh \
	tests/linker/isolate.sh \
	tests/linker/merge.sh \
	tests/linker/notes.sh \
	tests/linker/options.sh \
	tests/linker/output.sh \
	tests/linker/reasons.sh \
	tests/linker/relocate.sh \
	tests/linker/resolve.sh \
	tests/linker/constructors.sh \
	tests/linker/sections.sh \
	tests/linker/versions.sh
SHELL_TESTS += $(LINKER_TESTS)
QUICK_TESTS += $(LINKER_TESTS)

# Slow: archives that Debian's packages hold.
ARCHIVE_TESTS = tests/linker/archives.sh tests/linker/archives-openblas.sh tests/linker/openblas-kernels.sh
SHELL_TESTS += $(ARCHIVE_TESTS)
SLOW_TESTS += $(ARCHIVE_TESTS)
EXTRA_DIST += tests/lib/packages.sh tests/linker/self-contained.awk
CLEAN_FOLDERS += tests/packages
