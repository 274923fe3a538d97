# Tests: Check suites (check_*.c), one per module, and end-to-end scripts (*.sh). `make check` runs all, `make check-quick`
# those that are quick.
TEST_EXTENSIONS = .sh
SH_LOG_COMPILER = $(SHELL)
AM_TESTS_ENVIRONMENT = \
	top_srcdir='$(abs_top_srcdir)'; export top_srcdir; \
	top_builddir='$(abs_top_builddir)'; export top_builddir; \
	CC='$(CC)'; export CC; \
	KERNEL_CC='$(KERNEL_CC)'; export KERNEL_CC; \
	KERNEL_CFLAGS='$(KERNEL_CFLAGS)'; export KERNEL_CFLAGS; \
	CK_DEFAULT_TIMEOUT=60; export CK_DEFAULT_TIMEOUT;

TESTS = $(QUICK_TESTS) $(SLOW_TESTS)
EXTRA_DIST += $(SHELL_TESTS) tests/scratch.h tests/status.h tests/suite.h

check-quick:
	$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(QUICK_TESTS)'
.PHONY: check-quick

# The front end: signatures, manifest, binding.
if HAVE_CHECK
check_PROGRAMS += tests/check_signature tests/check_manifest tests/check_bind
tests_check_signature_SOURCES = tests/check_signature.c tests/messages.h
tests_check_signature_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_check_signature_LDADD = src/libcore.la $(CHECK_LIBS)
tests_check_manifest_SOURCES = tests/check_manifest.c tests/messages.h
tests_check_manifest_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_check_manifest_LDADD = src/libcore.la $(CHECK_LIBS)
tests_check_bind_SOURCES = tests/check_bind.c tests/fake-linker.c tests/fake-linker.h tests/messages.h
tests_check_bind_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_check_bind_LDADD = src/libcore.la $(CHECK_LIBS)
check_PROGRAMS += tests/check_gaps
tests_check_gaps_SOURCES = tests/check_gaps.c tests/model.c tests/model.h tests/random.c tests/random.h
tests_check_gaps_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_check_gaps_LDADD = src/libcore.la $(CHECK_LIBS)
QUICK_TESTS += tests/check_signature tests/check_manifest tests/check_bind tests/check_gaps
endif

# Planning: partition, schedule, memory, the plan's writer.
if HAVE_CHECK
check_PROGRAMS += tests/check_partition tests/check_schedule tests/check_memory tests/check_writer
tests_check_partition_SOURCES = tests/check_partition.c tests/model.c tests/model.h tests/random.c tests/random.h
tests_check_partition_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) -DTOP_SRCDIR='"$(abs_top_srcdir)"'
tests_check_partition_LDADD = src/libplanning.la loader/libplan.la $(CHECK_LIBS)
tests_check_schedule_SOURCES = tests/check_schedule.c tests/model.c tests/model.h \
	tests/happens-before.c tests/happens-before.h \
	tests/random.c tests/random.h
tests_check_schedule_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_check_schedule_LDADD = src/libplanning.la loader/libplan.la $(CHECK_LIBS)
tests_check_memory_SOURCES = tests/check_memory.c tests/model.c tests/model.h \
	tests/happens-before.c tests/happens-before.h \
	tests/random.c tests/random.h
tests_check_memory_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_check_memory_LDADD = src/libplanning.la loader/libplan.la $(CHECK_LIBS)
tests_check_writer_SOURCES = tests/check_writer.c tests/model.c tests/model.h tests/random.c tests/random.h
tests_check_writer_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_check_writer_LDADD = src/libplanning.la loader/libplan.la $(CHECK_LIBS)
check_PROGRAMS += tests/check_scenarios
tests_check_scenarios_SOURCES = tests/check_scenarios.c tests/model.c tests/model.h
tests_check_scenarios_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_check_scenarios_LDADD = src/libplanning.la loader/libplan.la $(CHECK_LIBS)
check_PROGRAMS += tests/check_segments
tests_check_segments_SOURCES = tests/check_segments.c tests/model.c tests/model.h tests/random.c tests/random.h
tests_check_segments_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_check_segments_LDADD = src/libplanning.la loader/libplan.la $(CHECK_LIBS)
check_PROGRAMS += tests/check_growth
tests_check_growth_SOURCES = tests/check_growth.c tests/model.c tests/model.h tests/random.c tests/random.h
tests_check_growth_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_check_growth_LDADD = src/libplanning.la loader/libplan.la $(CHECK_LIBS)
QUICK_TESTS += tests/check_growth tests/check_partition tests/check_schedule tests/check_memory tests/check_writer tests/check_scenarios \
	tests/check_segments
endif

# What everybody uses.
if HAVE_CHECK
check_PROGRAMS += tests/check_arena
tests_check_arena_SOURCES = tests/check_arena.c
tests_check_arena_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_check_arena_LDADD = src/libbase.la $(CHECK_LIBS)
QUICK_TESTS += tests/check_arena

check_PROGRAMS += tests/check_tar
tests_check_tar_SOURCES = tests/check_tar.c
tests_check_tar_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_check_tar_LDADD = src/libbase.la $(CHECK_LIBS)
QUICK_TESTS += tests/check_tar

check_PROGRAMS += tests/check_ranges
tests_check_ranges_SOURCES = tests/check_ranges.c tests/model.c tests/model.h tests/random.c tests/random.h
tests_check_ranges_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_check_ranges_LDADD = src/libplanning.la $(CHECK_LIBS)
QUICK_TESTS += tests/check_ranges
endif

# The plan's reader, the verifier, the report.
if HAVE_CHECK
check_PROGRAMS += tests/check_plan tests/check_verify tests/check_report
tests_check_plan_SOURCES = tests/check_plan.c tests/plan.c tests/plan.h
tests_check_plan_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_check_plan_LDADD = loader/libplan.la src/libbase.la $(CHECK_LIBS)
tests_check_verify_SOURCES = tests/check_verify.c tests/plan.c tests/plan.h tests/races.c tests/races.h
tests_check_verify_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_check_verify_LDADD = src/libproof.la $(CHECK_LIBS)
tests_check_report_SOURCES = tests/check_report.c
tests_check_report_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(ZLIB_CFLAGS)
tests_check_report_LDADD = src/libproof.la $(CHECK_LIBS) $(ZLIB_LIBS)
check_PROGRAMS += tests/check_calls
tests_check_calls_SOURCES = tests/check_calls.c tests/plan.c tests/plan.h
tests_check_calls_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_check_calls_LDADD = src/libproof.la $(CHECK_LIBS)
check_PROGRAMS += tests/check_planned
tests_check_planned_SOURCES = \
	tests/check_planned.c tests/model.c tests/model.h tests/plan.c tests/plan.h \
	tests/races.c tests/races.h tests/random.c tests/random.h tests/messages.h
tests_check_planned_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_check_planned_LDADD = src/libcore.la $(CHECK_LIBS)
check_PROGRAMS += tests/check_show
tests_check_show_SOURCES = tests/check_show.c tests/plan.c tests/plan.h src/skdump/show.c src/skdump/show.h src/base/table.c src/base/table.h
tests_check_show_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_check_show_LDADD = src/libproof.la $(CHECK_LIBS)
QUICK_TESTS += tests/check_show
QUICK_TESTS += tests/check_plan tests/check_calls tests/check_verify tests/check_report tests/check_planned
endif

# End to end: from kernels in C to a package that runs.
END_TO_END_TESTS = \
	tests/awaits.sh \
	tests/cores.sh \
	tests/debugger.sh \
	tests/errors.sh \
	tests/faults.sh \
	tests/features.sh \
	tests/header.sh \
	tests/fibres.sh \
	tests/interrupted.sh \
	tests/install.sh \
	tests/isa.sh \
	tests/lanes.sh \
	tests/launch-options.sh \
	tests/mix.sh tests/early.sh tests/imported-state.sh \
	tests/line-table.sh \
	tests/link-tls.sh \
	tests/manuals.sh \
	tests/map.sh \
	tests/messages.sh \
	tests/names.sh \
	tests/options.sh \
	tests/package.sh \
	tests/perf.sh \
	tests/readme.sh \
	tests/relocatable.sh \
	tests/repro.sh \
	tests/report.sh \
	tests/scenarios.sh \
	tests/scope-options.sh \
	tests/segments.sh \
	tests/skdump.sh \
	tests/status.sh \
	tests/streams.sh \
	tests/threads.sh \
	tests/trace.sh
SHELL_TESTS += $(END_TO_END_TESTS)
QUICK_TESTS += $(END_TO_END_TESTS)
SHELL_TESTS += tests/combinations.sh tests/no-memory.sh
SLOW_TESTS += tests/combinations.sh tests/no-memory.sh
EXTRA_DIST += tests/check-trace.py tests/fail-malloc.c tests/feature-kernels.c tests/feature-oracle.c tests/kernels.c tests/lib.sh tests/oracle.c

# What kernels can do wrong.
check_PROGRAMS += tests/faults
tests_faults_SOURCES = tests/faults.c
tests_faults_LDADD = libskrt.la
tests_faults_LDFLAGS = $(AM_LDFLAGS) -static
EXTRA_DIST += tests/fault-kernels.c

# Kernels that return without having waited.
check_PROGRAMS += tests/forgets
tests_forgets_SOURCES = tests/forgets.c
tests_forgets_LDADD = libskrt.la
tests_forgets_LDFLAGS = $(AM_LDFLAGS) -static

# What checked launches find: bounds, unwritten memory, races.
check_PROGRAMS += tests/drop-await
tests_drop_await_SOURCES = tests/drop-await.c
tests_drop_await_LDADD = loader/libplan.la
SHELL_TESTS += tests/guard.sh tests/check-races.sh tests/check-blocks.sh tests/integrity.sh
QUICK_TESTS += tests/guard.sh tests/check-races.sh tests/check-blocks.sh tests/integrity.sh
EXTRA_DIST += tests/check-kernels.c

# Fuzz targets: programs that run over files and mutants of them; with --enable-fuzzing also with libFuzzer.
FUZZ_FILES = tests/fuzz.c tests/fuzz.h
MUTATE_FILES = tests/mutate.c tests/mutants.c tests/mutants.h
FUZZ_OBJECT_FILES = $(FUZZ_FILES) tests/fuzz-object.c tests/fuzz-link.c
FUZZ_ARCHIVE_FILES = $(FUZZ_FILES) tests/fuzz-archive.c tests/fuzz-link.c
FUZZ_MANIFEST_FILES = $(FUZZ_FILES) tests/fuzz-manifest.c tests/fake-linker.c tests/fake-linker.h
PACKAGE_READER_FILES = $(FUZZ_FILES) tests/package-readers.c tests/package-readers.h \
	src/skdump/diff.c src/skdump/diff.h src/skdump/kernel-symbols.c src/skdump/kernel-symbols.h src/base/table.c src/base/table.h \
	src/skdump/loadable.c src/skdump/loadable.h src/skdump/package-file.c src/skdump/package-file.h src/skdump/package-object.c src/skdump/package-object.h \
	src/skdump/reemit.c src/skdump/reemit.h
FUZZ_PACKAGE_FILES = $(PACKAGE_READER_FILES) tests/fuzz-package.c
FUZZ_NPY_FILES = $(FUZZ_FILES) tests/fuzz-npy.c
PACKAGE_READERS = loader/libloader.la src/libproof.la stubs/libstubs.la $(LIBELF_LIBS) -lpthread -lm

check_PROGRAMS += tests/fuzz-object tests/fuzz-archive tests/fuzz-manifest tests/fuzz-npy tests/fuzz-package
tests_fuzz_object_SOURCES = $(FUZZ_OBJECT_FILES) $(MUTATE_FILES)
tests_fuzz_object_LDADD = linker/liblinker.la
tests_fuzz_archive_SOURCES = $(FUZZ_ARCHIVE_FILES) $(MUTATE_FILES)
tests_fuzz_archive_LDADD = linker/liblinker.la
tests_fuzz_manifest_SOURCES = $(FUZZ_MANIFEST_FILES) $(MUTATE_FILES)
tests_fuzz_manifest_LDADD = src/libcore.la
tests_fuzz_npy_SOURCES = $(FUZZ_NPY_FILES) $(MUTATE_FILES)
tests_fuzz_npy_LDADD = loader/libnpy.la
tests_fuzz_package_SOURCES = $(FUZZ_PACKAGE_FILES) $(MUTATE_FILES)
tests_fuzz_package_CFLAGS = $(AM_CFLAGS) $(LIBELF_CFLAGS)
tests_fuzz_package_LDADD = $(PACKAGE_READERS)
check_PROGRAMS += tests/corrupt
tests_corrupt_SOURCES = $(PACKAGE_READER_FILES) tests/corrupt.c
tests_corrupt_CFLAGS = $(AM_CFLAGS) $(LIBELF_CFLAGS)
tests_corrupt_LDADD = $(PACKAGE_READERS)
check_PROGRAMS += tests/forge
tests_forge_SOURCES = tests/forge.c
check_PROGRAMS += tests/bombs
tests_bombs_SOURCES = tests/bombs.c
tests_bombs_CFLAGS = $(AM_CFLAGS) $(ZLIB_CFLAGS)
tests_bombs_LDADD = $(ZLIB_LIBS)
SHELL_TESTS += tests/fuzz.sh tests/mutate.sh
QUICK_TESTS += tests/fuzz.sh
SLOW_TESTS += tests/mutate.sh
EXTRA_DIST += tests/fuzz-seeds.sh tests/fuzz

if FUZZING
noinst_PROGRAMS += tests/libfuzzer-object tests/libfuzzer-archive tests/libfuzzer-manifest tests/libfuzzer-npy \
	tests/libfuzzer-package
tests_libfuzzer_object_SOURCES = $(FUZZ_OBJECT_FILES)
tests_libfuzzer_object_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_libfuzzer_object_LDADD = linker/liblinker.la
tests_libfuzzer_archive_SOURCES = $(FUZZ_ARCHIVE_FILES)
tests_libfuzzer_archive_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_libfuzzer_archive_LDADD = linker/liblinker.la
tests_libfuzzer_manifest_SOURCES = $(FUZZ_MANIFEST_FILES)
tests_libfuzzer_manifest_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_libfuzzer_manifest_LDADD = src/libcore.la
tests_libfuzzer_npy_SOURCES = $(FUZZ_NPY_FILES)
tests_libfuzzer_npy_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_libfuzzer_npy_LDADD = loader/libnpy.la
tests_libfuzzer_package_SOURCES = $(FUZZ_PACKAGE_FILES)
tests_libfuzzer_package_CFLAGS = $(AM_CFLAGS) $(LIBELF_CFLAGS)
tests_libfuzzer_package_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_libfuzzer_package_LDADD = $(PACKAGE_READERS)

# make fuzz [FUZZ_SECONDS=N]: each target in turn, from its seeds and what earlier runs have found (fuzz-corpus).
FUZZ_SECONDS = 240
fuzz: all
	top_srcdir='$(abs_top_srcdir)' top_builddir='$(abs_top_builddir)' KERNEL_CC='$(KERNEL_CC)' \
		KERNEL_CFLAGS='$(KERNEL_CFLAGS)' $(SHELL) $(top_srcdir)/tests/fuzz-run.sh $(FUZZ_SECONDS)
endif
EXTRA_DIST += tests/fuzz-run.sh

# Random networks that compute their expected results themselves, in one program with all of sklink and libskrt.
check_PROGRAMS += tests/property
tests_property_SOURCES = \
	tests/network-kernels.c tests/network-manifest.c tests/network.c tests/network.h \
	tests/fuzz.c tests/fuzz.h tests/plan-mutants.c tests/plan-mutants.h \
	tests/property.c \
	src/skdump/kernel-symbols.c src/skdump/kernel-symbols.h src/skdump/loadable.c src/skdump/loadable.h \
	src/skdump/package-file.c src/skdump/package-file.h src/skdump/package-object.c src/skdump/package-object.h src/skdump/reemit.c src/skdump/reemit.h
tests_property_CFLAGS = $(AM_CFLAGS) $(LIBELF_CFLAGS) -DTOP_SRCDIR='"$(abs_top_srcdir)"' -pthread
tests_property_LDADD = src/libcore.la loader/libloader.la $(LIBELF_LIBS) -lpthread -lm
SHELL_TESTS += tests/property.sh tests/property-long.sh
QUICK_TESTS += tests/property.sh
SLOW_TESTS += tests/property-long.sh
EXTRA_DIST += tests/property-kernels.c tests/property-templates.h
CLEAN_FOLDERS += tests/property-failures
CLEANFILES += tests/property-kernels.o
