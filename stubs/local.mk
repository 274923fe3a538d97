# Dispatcher synthesis, and the headers that linker, runtime and kernels share.
noinst_LTLIBRARIES += stubs/libstubs.la
stubs_libstubs_la_SOURCES = \
	stubs/debug-line.c stubs/debug-line.h \
	stubs/dispatcher.c stubs/dispatcher.h \
	stubs/eh_frame.c stubs/eh_frame.h \
	stubs/emit-x86_64.c stubs/emit-x86_64.h stubs/emit.h \
	stubs/call-x86_64.c stubs/assemble-x86_64.c \
	stubs/encode-x86_64.c stubs/encode-x86_64.h \
	stubs/ops.h \
	stubs/skabi.h stubs/skplan.h
stubs_libstubs_la_LIBADD = loader/libplan.la src/libbase.la

include_HEADERS += stubs/skkernel.h

EXTRA_DIST += stubs/imports.def

# The encoder against the system's assembler.
check_PROGRAMS += tests/check_emit
tests_check_emit_SOURCES = tests/check_emit.c
tests_check_emit_LDADD = stubs/libstubs.la
SHELL_TESTS += tests/emit.sh
QUICK_TESTS += tests/emit.sh

if HAVE_CHECK
check_PROGRAMS += tests/check_dispatcher
QUICK_TESTS += tests/check_dispatcher
tests_check_dispatcher_SOURCES = \
	tests/check_dispatcher.c \
	tests/dispatcher-rig.c tests/dispatcher-rig.h
tests_check_dispatcher_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_check_dispatcher_LDADD = stubs/libstubs.la $(CHECK_LIBS) -lpthread
endif
