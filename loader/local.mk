# Predicted time, for skrun --predict.
noinst_LIBRARIES += loader/libpredict.a
loader_libpredict_a_SOURCES = \
	loader/predict/costs.c loader/predict/predict.h \
	loader/predict/predict-parts.h \
	loader/predict/predict.c \
	loader/predict/listed.c \
	loader/predict/network.c \
	loader/predict/simulate.c \
	loader/predict/simulated-core.c \
	loader/predict/predicted-trace.c \
	loader/predict/visits.c

# All of the runtime, for libskrt and for tests of its parts.
noinst_LTLIBRARIES += loader/libloader.la
loader_libloader_la_SOURCES = \
	loader/arch/machine.h loader/arch/x86_64.h \
	loader/arch/x86_64/context.c loader/arch/x86_64/fibre.S loader/arch/x86_64/invoke.S \
	loader/arch/x86_64/refusal.c \
	loader/arch/x86_64/refusal.h loader/arch/x86_64/registers.c loader/arch/x86_64/relocation.c \
	loader/base/status.h loader/base/process.c loader/base/status.c loader/base/structs.c \
	loader/checks/checked-call.c loader/checks/checks-parts.h loader/checks/checked-order.c loader/checks/checks.c \
	loader/checks/split.c loader/checks/windows.c \
	loader/checks/checks.h loader/checks/clocks.c loader/checks/guard-call.c loader/checks/guard.c \
	loader/checks/owed.c \
	loader/core/call.c loader/core/core.h loader/core/loaded.c loader/core/exit-functions.c loader/core/fibre.c \
	loader/core/signal.c loader/core/thread-storage.c \
	loader/device/construct.c loader/device/device.h loader/device/device.c loader/device/drive.c \
	loader/device/failure.c \
	loader/device/flights.c loader/device/instance.c \
	loader/device/lane.c loader/device/linked.c loader/device/locate.c \
	loader/device/loading.c loader/device/queue.c \
	loader/device/once.c loader/device/dimensions.c loader/device/guarded.c loader/device/told.c \
	loader/device/ranks.c loader/device/readiness.c loader/device/serial.c \
	loader/device/stream.c loader/device/thread.c loader/device/tracing.c \
	loader/device/turns.c \
	loader/device/watch.c loader/device/worker.c \
	loader/flight/block.c loader/flight/exchange.c loader/flight/flight.h loader/flight/contents.c \
	loader/flight/kernel.c loader/flight/sizes.c \
	loader/flight/thunk-words.c \
	loader/image/debugger.c loader/image/image.h loader/image/dynamic.c loader/image/image.c \
	loader/image/imports.c loader/image/integrity.c loader/image/lookup.c \
	loader/image/processor.c loader/image/read.c loader/image/relocate.c loader/image/symbols.c \
	loader/image/weights.c \
	loader/ranks/compare.c loader/ranks/gather.c loader/ranks/plugin.c loader/ranks/simulated.c \
	loader/ranks/transport.h \
	loader/skrt.h loader/skrt-transport.h \
	loader/trace/trace-file.c loader/trace/trace.c loader/trace/trace.h
loader_libloader_la_LIBADD = format/libplan.la format/libprofile.la format/libseal.la format/libimports.la \
	base/libshared.la -ldl
loader_libloader_la_CFLAGS = $(PART_CFLAGS) -pthread
loader_libloader_la_CPPFLAGS = $(AM_CPPFLAGS) -DSK_TRANSPORTS='"$(pkglibdir)"' \
	-DSK_TRANSPORTS_FROM_PROGRAMS='"$(shell realpath -ms --relative-to=$(bindir) $(pkglibdir))"'
loader_libloader_la_CCASFLAGS = $(AM_CCASFLAGS) $(COMPILE_ONCE)

lib_LTLIBRARIES += libskrt.la
libskrt_la_SOURCES = loader/skrt-0.c
libskrt_la_LIBADD = loader/libloader.la -lpthread -lm
libskrt_la_LDFLAGS = $(AM_LDFLAGS) -version-info 1:0:1 -no-undefined -Wl,-z,nodelete \
	-Wl,--version-script=$(top_srcdir)/loader/libskrt.map
EXTRA_libskrt_la_DEPENDENCIES = loader/libskrt.map
EXTRA_DIST += loader/libskrt.map
include_HEADERS += loader/skrt.h loader/skrt.hh loader/skrt-transport.h
pkgconfigdir = $(libdir)/pkgconfig
pkgconfig_DATA = loader/libskrt.pc # its rule is in packaging/local.mk

# Transports over MPI, one for each implementation that configure has found; libskrt opens them with dlopen.
pkglib_LTLIBRARIES =
transport_flags = $(AM_LDFLAGS) -module -avoid-version -shared -no-undefined
if HAVE_MPICH
pkglib_LTLIBRARIES += loader/libskrt-mpich.la
loader_libskrt_mpich_la_SOURCES = loader/mpi/mpi-transport.c
loader_libskrt_mpich_la_CPPFLAGS = $(AM_CPPFLAGS) -DTRANSPORT_NAME='"mpich"'
loader_libskrt_mpich_la_CFLAGS = $(AM_CFLAGS) $(MPICH_CFLAGS) -fvisibility=hidden
loader_libskrt_mpich_la_LIBADD = $(MPICH_LIBS)
loader_libskrt_mpich_la_LDFLAGS = $(transport_flags)
endif
if HAVE_OPENMPI
pkglib_LTLIBRARIES += loader/libskrt-openmpi.la
loader_libskrt_openmpi_la_SOURCES = loader/mpi/mpi-transport.c
loader_libskrt_openmpi_la_CPPFLAGS = $(AM_CPPFLAGS) -DTRANSPORT_NAME='"openmpi"'
loader_libskrt_openmpi_la_CFLAGS = $(AM_CFLAGS) $(OPENMPI_CFLAGS) -fvisibility=hidden
loader_libskrt_openmpi_la_LIBADD = $(OPENMPI_LIBS)
loader_libskrt_openmpi_la_LDFLAGS = $(transport_flags)
endif
EXTRA_DIST += loader/mpi/mpi-transport.c

bin_PROGRAMS += skrun
skrun_SOURCES = \
	loader/skrun/elements.c loader/skrun/skrun.h \
	loader/skrun/keep-inputs.c loader/skrun/launched.c \
	loader/skrun/measure.c \
	loader/skrun/messages.c \
	loader/skrun/progress.c \
	loader/skrun/rank.c loader/skrun/rank-trace.c loader/skrun/ranks.c \
	loader/skrun/trace-page.c \
	loader/skrun/run-options.c \
	loader/skrun/run-results.c \
	loader/skrun/session-sizes.c loader/skrun/session.c loader/skrun/split-check.c \
	loader/skrun/skrun.c \
	loader/skrun/summary.c \
	loader/skrun/task-table.c \
	loader/skrun/verification.c loader/skrun/watched-run.c
# Linked with the runtime itself: an installed skrun needs only the C library, and reads the plan.
skrun_LDADD = loader/libpredict.a format/libnpy.a base/libbase.a loader/libloader.la -lpthread -lm
dist_man_MANS += doc/reference/skrun.1
