# `make bench`: measures, prints a table, and asserts nothing about time. Built on demand only.
EXTRA_PROGRAMS = bench/dispatch bench/link
bench_dispatch_SOURCES = bench/dispatch.c
bench_dispatch_LDADD = bench/direct.o bench/kernels.o libskrt.la
bench_dispatch_LDFLAGS = $(AM_LDFLAGS) -static

bench_link_SOURCES = bench/link.c
bench_link_CFLAGS = $(AM_CFLAGS) $(YAML_CFLAGS)
bench_link_LDADD = $(YAML_LIBS)

BENCH_CC = $(AM_V_CC)$(MKDIR_P) bench && $(KERNEL_CC) $(KERNEL_CFLAGS) -I$(top_srcdir)/stubs -c -o $@

bench/kernels.o: $(srcdir)/bench/kernels.c stubs/skkernel.h
	$(BENCH_CC) $(srcdir)/bench/kernels.c
bench/hand-written.o: $(srcdir)/bench/hand-written.c stubs/skkernel.h
	$(BENCH_CC) $(srcdir)/bench/hand-written.c
bench/direct.c: $(srcdir)/bench/generate
	$(AM_V_GEN)$(MKDIR_P) bench && $(SHELL) $(srcdir)/bench/generate direct > $@
bench/direct.o: bench/direct.c
	$(BENCH_CC) bench/direct.c
bench/dispatch.yaml: $(srcdir)/bench/generate
	$(AM_V_GEN)$(MKDIR_P) bench && $(SHELL) $(srcdir)/bench/generate manifest > $@
bench/dispatch.sk: bench/dispatch.yaml bench/kernels.o bench/hand-written.o sklink$(EXEEXT)
	$(AM_V_GEN)./sklink bench/dispatch.yaml bench/kernels.o bench/hand-written.o -o $@

bench: bench/dispatch$(EXEEXT) bench/dispatch.sk
	bench/dispatch bench/dispatch.sk
	$(MAKE) $(AM_MAKEFLAGS) bench-link

# The link table alone.
bench-link: bench/link$(EXEEXT) bench/link-kernel.o sklink$(EXEEXT)
	bench/link ./sklink bench/link-kernel.o bench/links 1000 15
	bench/link ./sklink bench/link-kernel.o bench/links 10000 9
.PHONY: bench bench-link

bench/link-kernel.o: $(srcdir)/bench/link-kernel.c stubs/skkernel.h
	$(BENCH_CC) $(srcdir)/bench/link-kernel.c
CLEAN_FOLDERS += bench/links

CLEANFILES += $(EXTRA_PROGRAMS) bench/link-kernel.o bench/direct.c bench/direct.o bench/kernels.o bench/hand-written.o \
	bench/dispatch.yaml bench/dispatch.sk
EXTRA_DIST += bench/link-kernel.c bench/generate bench/kernels.c bench/hand-written.c
