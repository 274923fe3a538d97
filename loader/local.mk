# libskrt, skrun, and the plan's reader, which sklink, skdump and the verifier share.
noinst_LTLIBRARIES += loader/libplan.la
loader_libplan_la_SOURCES = \
	loader/isa.c loader/isa.h \
	loader/plan-checker.h loader/plan-launch.c loader/plan.c loader/plan.h \
	stubs/isa.def

# The seal of packages: sklink makes it, libskrt compares.
noinst_LTLIBRARIES += loader/libseal.la
loader_libseal_la_SOURCES = loader/seal.c loader/seal.h
loader_libseal_la_CFLAGS = $(AM_CFLAGS) $(XXHASH_CFLAGS) $(SODIUM_CFLAGS)
loader_libseal_la_LIBADD = $(SODIUM_LIBS)

# .npy files: sklink reads constants, skrun reads inputs and writes outputs.
noinst_LTLIBRARIES += loader/libnpy.la
loader_libnpy_la_SOURCES = loader/npy.c loader/npy.h
loader_libnpy_la_LIBADD = src/libfiles.la

# Device profiles, for sklink, predictions and the simulated device. Those that are built in are the files as texts in C.
noinst_LTLIBRARIES += loader/libprofile.la
loader_libprofile_la_SOURCES = loader/lines.c loader/lines.h loader/profile.c loader/profile.h
profilesdir = $(pkgdatadir)/profiles
dist_profiles_DATA = loader/profiles/a3.profile loader/profiles/host.profile
loader/profile.lo: loader/builtin-profiles.h
loader/builtin-profiles.h: $(dist_profiles_DATA)
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)for name in a3 host; do \
		echo "static const char $${name}_profile[] ="; \
		sed 's/[\\"]/\\&/g; s/.*/"&\\n"/; $$s/$$/;/' $(top_srcdir)/loader/profiles/$$name.profile || exit 1; \
	done >$@.tmp && mv $@.tmp $@
CLEANFILES += loader/builtin-profiles.h

# Predicted time: what skrun --predict prints.
noinst_LTLIBRARIES += loader/libpredict.la
loader_libpredict_la_SOURCES = \
	loader/costs.c loader/costs.h \
	loader/event-heap.h \
	loader/predict.c loader/predict.h \
	loader/program.c loader/program.h \
	loader/simulate.c loader/simulate.h \
	loader/visits.c loader/visits.h
loader_libpredict_la_LIBADD = loader/libprofile.la loader/libplan.la

# All of the runtime, for libskrt and for tests that look inside.
noinst_LTLIBRARIES += loader/libloader.la
loader_libloader_la_SOURCES = \
	loader/call.c loader/call.h \
	loader/checks.c loader/checks.h loader/checked-call.c loader/checked-call.h loader/checked-order.c \
	loader/clocks.c loader/guard.c loader/guard.h loader/guard-call.c \
	loader/invoke-x86_64.S loader/frame-x86_64.c \
	loader/debugger.c loader/debugger.h \
	loader/device.c loader/device.h \
	loader/dynamic.c \
	loader/failure.c \
	loader/fibre.c loader/fibre.h loader/fibre-x86_64.S \
	loader/image.c loader/image.h \
	loader/imports.c loader/imports.h \
	loader/instance.c loader/instance.h \
	loader/integrity.c loader/integrity.h \
	loader/block.c \
	loader/construct.c \
	loader/lane.c \
	loader/launch.c \
	loader/locate.c \
	loader/linked.c \
	loader/module.c loader/module.h \
	loader/player.c \
	loader/processor.c loader/processor.h \
	loader/queue.c \
	loader/relocate.c \
	loader/report.c loader/report.h \
	loader/signal.c \
	loader/skrt.h \
	loader/stream.c \
	loader/symbols.c \
	loader/trace.c loader/trace.h \
	loader/trace-file.c \
	loader/watch.c \
	stubs/imports.def stubs/skabi.h stubs/skplan.h
loader_libloader_la_LIBADD = loader/libplan.la loader/libprofile.la loader/libseal.la src/libnearest.la
loader_libloader_la_CFLAGS = $(AM_CFLAGS) -pthread

lib_LTLIBRARIES += libskrt.la
libskrt_la_SOURCES =
libskrt_la_LIBADD = loader/libloader.la -lpthread -lm
libskrt_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 -export-symbols-regex '^(skrt_|__jit_debug_)' -no-undefined \
	-Wl,-z,nodelete
include_HEADERS += loader/skrt.h
pkgconfigdir = $(libdir)/pkgconfig
pkgconfig_DATA = loader/libskrt.pc

bin_PROGRAMS += skrun
skrun_SOURCES = \
	loader/elements.c loader/elements.h \
	loader/measure.c loader/measure.h \
	loader/session.c loader/session.h \
	loader/skrun.c \
	loader/task-table.c loader/task-table.h
# Linked with the runtime itself: an installed skrun depends on nothing but the C library, and sees the plan.
skrun_LDADD = loader/libloader.la loader/libpredict.la loader/libnpy.la -lpthread -lm
dist_man_MANS += doc/skrun.1

SHELL_TESTS += tests/package-damage.sh tests/predict.sh tests/skrun.sh
QUICK_TESTS += tests/package-damage.sh tests/predict.sh tests/skrun.sh

if HAVE_CHECK
check_PROGRAMS += tests/check_isa
tests_check_isa_SOURCES = tests/check_isa.c
tests_check_isa_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_check_isa_LDADD = loader/libplan.la $(CHECK_LIBS)
QUICK_TESTS += tests/check_isa

check_PROGRAMS += tests/check_npy
tests_check_npy_SOURCES = tests/check_npy.c
tests_check_npy_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_check_npy_LDADD = loader/libnpy.la $(CHECK_LIBS)
QUICK_TESTS += tests/check_npy

check_PROGRAMS += tests/check_predict
tests_check_predict_SOURCES = tests/check_predict.c tests/plan.c tests/plan.h
tests_check_predict_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) -DTOP_SRCDIR='"$(abs_top_srcdir)"'
tests_check_predict_LDADD = loader/libpredict.la src/libbase.la -lm $(CHECK_LIBS)
QUICK_TESTS += tests/check_predict

check_PROGRAMS += tests/check_image tests/check_runtime
tests_check_image_SOURCES = tests/check_image.c tests/handmade.c tests/handmade.h
tests_check_image_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) -DTOP_SRCDIR='"$(abs_top_srcdir)"'
tests_check_image_LDADD = loader/libloader.la -lm $(CHECK_LIBS)
tests_check_runtime_SOURCES = tests/check_runtime.c tests/handmade.c tests/handmade.h
tests_check_runtime_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) -DTOP_SRCDIR='"$(abs_top_srcdir)"' -pthread
tests_check_runtime_LDADD = loader/libloader.la -lpthread -lm $(CHECK_LIBS)
QUICK_TESTS += tests/check_image tests/check_runtime

check_PROGRAMS += tests/check_fibre tests/check_faults tests/check_api tests/check_queue
tests_check_queue_SOURCES = tests/check_queue.c tests/handmade.c tests/handmade.h
tests_check_queue_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) -DTOP_SRCDIR='"$(abs_top_srcdir)"' -pthread $(SANITIZED_CPPFLAGS)
tests_check_queue_LDADD = loader/libloader.la -lpthread -lm $(CHECK_LIBS)
tests_check_api_SOURCES = tests/check_api.c tests/handmade.c tests/handmade.h
tests_check_api_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) -DTOP_SRCDIR='"$(abs_top_srcdir)"' -pthread $(SANITIZED_CPPFLAGS)
tests_check_api_LDADD = loader/libloader.la -lpthread -lm $(CHECK_LIBS)
tests_check_fibre_SOURCES = tests/check_fibre.c
tests_check_fibre_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread $(SANITIZED_CPPFLAGS)
tests_check_fibre_LDADD = loader/libloader.la -lpthread -lm $(CHECK_LIBS)
tests_check_faults_SOURCES = tests/check_faults.c tests/handmade.c tests/handmade.h
tests_check_faults_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) -DTOP_SRCDIR='"$(abs_top_srcdir)"' -pthread $(SANITIZED_CPPFLAGS)
tests_check_faults_LDADD = loader/libloader.la -lpthread -lm $(CHECK_LIBS)
QUICK_TESTS += tests/check_fibre tests/check_faults tests/check_api tests/check_queue
endif

# What --enable-tsan is for: the suites that use the runtime's threads. (It holds back signals that come from other threads, so a
# kernel without an end cannot be expelled there: tests/faults.sh leaves that to other builds.)
RUNTIME_TESTS = tests/check_api tests/check_faults tests/check_fibre tests/check_image tests/check_queue tests/check_runtime \
	tests/fibres.sh tests/lanes.sh tests/cores.sh tests/sample-composite.sh
check-runtime:
	$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(RUNTIME_TESTS)'
.PHONY: check-runtime
