# Dispatcher synthesis, and the headers that linker, runtime and kernels share.
noinst_LTLIBRARIES += stubs/libstubs.la
stubs_libstubs_la_SOURCES = \
	stubs/dispatcher/debug-line.c stubs/dispatcher/dispatcher.h \
	stubs/dispatcher/dispatcher.c stubs/dispatcher/emitters.c \
	stubs/dispatcher/lower-call.c stubs/dispatcher/dispatcher-parts.h stubs/dispatcher/ops.h stubs/dispatcher/limits.c \
	stubs/dispatcher/eh_frame.c \
	stubs/x86_64/emit.c stubs/x86_64/emitter.h \
	stubs/x86_64/waits.c stubs/x86_64/loops.c stubs/x86_64/call.c stubs/x86_64/values.c stubs/x86_64/assemble.c \
	stubs/x86_64/encode.c \
	stubs/dispatcher/thunk.c
stubs_libstubs_la_CFLAGS = $(PROGRAM_CFLAGS)
stubs_libstubs_la_LIBADD = format/librelocations.la format/libplan.la base/libbase.la

# The encoder against the system's assembler.
check_PROGRAMS += tests/unit/check_emit
tests_unit_check_emit_SOURCES = tests/unit/check_emit.c
tests_unit_check_emit_LDADD = stubs/libstubs.la
SHELL_TESTS += tests/unit/emit.sh
QUICK_TESTS += tests/unit/emit.sh

# A second machine, which only these tests have.
SHELL_TESTS += tests/unit/machines.sh
QUICK_TESTS += tests/unit/machines.sh
EXTRA_DIST += tests/unit/aarch64/format/machines.def tests/unit/aarch64/loader/arch/host.h

if HAVE_CHECK
check_PROGRAMS += tests/unit/check_machines
QUICK_TESTS += tests/unit/check_machines
tests_unit_check_machines_SOURCES = tests/unit/check_machines.c \
	tests/unit/aarch64/architecture.c tests/unit/aarch64/emitter.c tests/unit/aarch64/relocations.c \
	linker/architecture.c stubs/dispatcher/emitters.c
tests_unit_check_machines_CPPFLAGS = -iquote $(top_srcdir)/tests/unit/aarch64 $(AM_CPPFLAGS)
tests_unit_check_machines_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_check_machines_LDADD = linker/liblinker.la stubs/libstubs.la $(CHECK_LIBS)

check_PROGRAMS += tests/unit/check_dispatcher
QUICK_TESTS += tests/unit/check_dispatcher
tests_unit_check_dispatcher_SOURCES = \
	tests/unit/check_dispatcher.c \
	tests/lib/dispatcher-rig.c tests/lib/dispatcher-rig.h
tests_unit_check_dispatcher_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_check_dispatcher_LDADD = stubs/libstubs.la $(CHECK_LIBS) -lpthread
endif
