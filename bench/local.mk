# `make bench`: measures, prints a table, and asserts nothing about time. Built on demand only.
EXTRA_LTLIBRARIES =
EXTRA_PROGRAMS = bench/dispatch bench/runtime bench/load bench/link bench/microkernels bench/tile-groups \
	bench/dynamic
BENCH_FILES = bench/measure.c bench/measure.h bench/rig.c bench/rig.h
bench_dispatch_SOURCES = bench/dispatch.c $(BENCH_FILES)
bench_dispatch_LDADD = bench/direct.o bench/kernels.o libskrt.la
bench_dispatch_LDFLAGS = $(AM_LDFLAGS) -static

bench_runtime_SOURCES = bench/runtime.c bench/peers.c bench/peers.h $(BENCH_FILES)
bench_runtime_CPPFLAGS = $(AM_CPPFLAGS)
bench_runtime_CFLAGS = $(AM_CFLAGS) -pthread
bench_runtime_LDADD = libskrt.la
bench_runtime_LDFLAGS = $(AM_LDFLAGS) -static-libtool-libs
if HAVE_OPENMP
EXTRA_LTLIBRARIES += bench/libopenmp.la
bench_libopenmp_la_SOURCES = bench/openmp.c
bench_libopenmp_la_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
bench_runtime_CPPFLAGS += -DBENCH_OPENMP
bench_runtime_CFLAGS += $(OPENMP_CFLAGS)
bench_runtime_LDADD += bench/libopenmp.la
endif
if HAVE_TBB
EXTRA_LTLIBRARIES += bench/libtbb.la
bench_libtbb_la_SOURCES = bench/tbb.cc
bench_libtbb_la_CXXFLAGS = $(AM_CXXFLAGS) -std=c++17 $(TBB_CFLAGS)
bench_runtime_CPPFLAGS += -DBENCH_TBB
bench_runtime_LDADD += bench/libtbb.la $(TBB_LIBS) -lstdc++
endif
bench_load_SOURCES = bench/load.c bench/measure.c bench/measure.h
bench_load_LDADD = libskrt.la
bench_load_LDFLAGS = $(AM_LDFLAGS) -static-libtool-libs

bench_microkernels_SOURCES = bench/microkernels.c bench/measure.c bench/measure.h
bench_microkernels_LDADD = samples/microkernels/kernels.o samples/microkernels/kernels-avx2.o \
	$(reference_parts) libskrt.la -lm
bench_microkernels_LDFLAGS = $(AM_LDFLAGS) -static-libtool-libs

bench_tile_groups_SOURCES = bench/tile-groups.c bench/measure.c bench/measure.h
bench_tile_groups_LDADD = libskrt.la
bench_tile_groups_LDFLAGS = $(AM_LDFLAGS) -static-libtool-libs

bench_dynamic_SOURCES = bench/dynamic.c bench/measure.c bench/measure.h
bench_dynamic_LDADD = libskrt.la
bench_dynamic_LDFLAGS = $(AM_LDFLAGS) -static-libtool-libs

bench_link_SOURCES = bench/link.c bench/objects.c bench/objects.h bench/rounds.c bench/rounds.h
bench_link_CFLAGS = $(AM_CFLAGS) $(YAML_CFLAGS)
bench_link_LDADD = $(YAML_LIBS)

# AllReduce over MPI, with each one that configure has found.
BENCH_RANKS =
if HAVE_MPICH
EXTRA_PROGRAMS += bench/allreduce-mpich
bench_allreduce_mpich_SOURCES = bench/allreduce.c
bench_allreduce_mpich_CPPFLAGS = $(AM_CPPFLAGS) $(MPICH_CFLAGS)
bench_allreduce_mpich_LDADD = libskrt.la $(MPICH_LIBS)
bench_allreduce_mpich_LDFLAGS = $(AM_LDFLAGS) -static-libtool-libs
BENCH_RANKS += mpich
endif
if HAVE_OPENMPI
EXTRA_PROGRAMS += bench/allreduce-openmpi
bench_allreduce_openmpi_SOURCES = bench/allreduce.c
bench_allreduce_openmpi_CPPFLAGS = $(AM_CPPFLAGS) $(OPENMPI_CFLAGS)
bench_allreduce_openmpi_LDADD = libskrt.la $(OPENMPI_LIBS)
bench_allreduce_openmpi_LDFLAGS = $(AM_LDFLAGS) -static-libtool-libs
BENCH_RANKS += openmpi
endif
# RANKS=N: on so many ranks, each on a processor of its own. Open MPI runs as root only if its two variables say so.
RANKS = 2
bench-ranks: $(BENCH_RANKS:%=bench/allreduce-%$(EXEEXT)) $(BENCH_RANKS:%=loader/libskrt-%.la) sklink$(EXEEXT) \
		kernels/libskernels.a
	@$(MKDIR_P) bench/ranks.d
	@for elements in 1024 16384 262144 1048576; do \
		$(SHELL) $(srcdir)/bench/generate all-reduce $$elements >bench/ranks.d/all-reduce.pbtxt; \
		./sklink bench/ranks.d/all-reduce.pbtxt --ranks $(RANKS) -Lkernels -lskernels \
			-o bench/ranks.d/all-reduce.sk || exit; \
		for mpi in $(BENCH_RANKS); do \
			printf '%-8s ' $$mpi; \
			SKRT_TRANSPORT=$(abs_builddir)/loader/.libs/libskrt-$$mpi.so mpirun.$$mpi -np $(RANKS) \
				-bind-to core bench/allreduce-$$mpi bench/ranks.d/all-reduce.sk || exit; \
		done; \
	done

BENCH_CC = $(AM_V_CC)$(MKDIR_P) bench && $(KERNEL_CC) $(KERNEL_CFLAGS) -I$(top_srcdir)/format -c -o $@

bench/kernels.o: $(srcdir)/bench/kernels.c format/skkernel.h
	$(BENCH_CC) $(srcdir)/bench/kernels.c
bench/hand-written.o: $(srcdir)/bench/hand-written.c format/skkernel.h
	$(BENCH_CC) $(srcdir)/bench/hand-written.c
bench/direct.c: $(srcdir)/bench/generate
	$(AM_V_GEN)$(MKDIR_P) bench && $(SHELL) $(srcdir)/bench/generate direct > $@
bench/direct.o: bench/direct.c
	$(BENCH_CC) bench/direct.c
bench/dispatch.yaml: $(srcdir)/bench/generate
	$(AM_V_GEN)$(MKDIR_P) bench && $(SHELL) $(srcdir)/bench/generate manifest > $@
bench/dispatch.sk: bench/dispatch.yaml bench/kernels.o bench/hand-written.o sklink$(EXEEXT)
	$(AM_V_GEN)./sklink bench/dispatch.yaml bench/kernels.o bench/hand-written.o -o $@

# Packages of so many kernels.
BENCH_LOADS = bench/load-100.sk bench/load-1000.sk bench/load-10000.sk
$(BENCH_LOADS): bench/load-%.sk: $(srcdir)/bench/generate format/skkernel.h sklink$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) bench && $(SHELL) $(srcdir)/bench/generate kernels $* > bench/load-$*.c
	$(AM_V_at)$(SHELL) $(srcdir)/bench/generate load $* > bench/load-$*.json
	$(AM_V_at)$(KERNEL_CC) $(KERNEL_CFLAGS) -O1 -I$(top_srcdir)/format -c -o bench/load-$*.o bench/load-$*.c
	$(AM_V_at)./sklink --no-task-entries bench/load-$*.json bench/load-$*.o -o $@

# 10,000 kernels, and a launch of each by itself.
bench/load-tasks.sk: bench/load-10000.sk
	$(AM_V_GEN)./sklink bench/load-10000.json bench/load-10000.o -o $@

# One kernel, and addresses that loading relocates.
bench/load-relocated.sk: $(srcdir)/bench/generate format/skkernel.h sklink$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) bench && $(SHELL) $(srcdir)/bench/generate addresses 10000 > bench/load-relocated.c
	$(AM_V_at)$(SHELL) $(srcdir)/bench/generate load 1 > bench/load-relocated.json
	$(AM_V_at)$(KERNEL_CC) $(KERNEL_CFLAGS) -I$(top_srcdir)/format -c -o bench/load-relocated.o \
		bench/load-relocated.c
	$(AM_V_at)./sklink bench/load-relocated.json bench/load-relocated.o -o $@

# The sample's package, for this processor's instruction sets.
bench/microkernels.sk: samples/microkernels/reference$(EXEEXT) samples/microkernels/kernels.o \
		samples/microkernels/kernels-avx2.o sklink$(EXEEXT) \
		$(srcdir)/samples/microkernels/microkernels.yaml
	$(AM_V_GEN)$(MKDIR_P) bench/microkernels-data && \
		cp $(srcdir)/samples/microkernels/microkernels.yaml bench/microkernels-data
	$(AM_V_at)samples/microkernels/reference make bench/microkernels-data
	$(AM_V_at)objects=.o; \
		if grep -qw avx2 /proc/cpuinfo && grep -qw fma /proc/cpuinfo; then objects=-avx2.o; fi; \
	./sklink bench/microkernels-data/microkernels.yaml samples/microkernels/kernels$$objects -o $@

# Networks, each without tile groups (and nothing concurrent) and with them, for this processor's instruction sets.
bench/tile-kernels.o: $(srcdir)/bench/tile-kernels.c format/skkernel.h
	$(BENCH_CC) `grep -qw avx2 /proc/cpuinfo && echo -mavx2` $(srcdir)/bench/tile-kernels.c
bench/tiles/stamp: $(srcdir)/bench/generate bench/tile-kernels.o sklink$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) bench/tiles
	$(AM_V_at)set -e; while read -r name network size; do \
		$(SHELL) $(srcdir)/bench/generate tiles-$$network $$size >bench/tiles/$$name.yaml; \
		./sklink bench/tiles/$$name.yaml bench/tile-kernels.o -o bench/tiles/$$name.sk; \
		./sklink bench/tiles/$$name.yaml bench/tile-kernels.o -o bench/tiles/$$name-plain.sk \
			--scope-options '*=tile-fusion=0:parallel-fusion=0'; \
	done <$(srcdir)/bench/tile-networks
	$(AM_V_at)touch $@

bench: bench-runtime bench-tile-groups
	$(MAKE) $(AM_MAKEFLAGS) bench-link
	$(MAKE) $(AM_MAKEFLAGS) bench-networks
	$(MAKE) $(AM_MAKEFLAGS) bench-patterns
	$(MAKE) $(AM_MAKEFLAGS) bench-dynamic

# Only the tables of dispatching, running and loading.
bench-runtime: bench/dispatch$(EXEEXT) bench/runtime$(EXEEXT) bench/load$(EXEEXT) bench/dispatch.sk $(BENCH_LOADS) \
		bench/load-tasks.sk bench/load-relocated.sk bench/microkernels$(EXEEXT) bench/microkernels.sk
	bench/dispatch bench/dispatch.sk
	bench/runtime bench/dispatch.sk
	bench/load $(BENCH_LOADS) bench/load-tasks.sk bench/load-relocated.sk
	bench/microkernels bench/microkernels.sk bench/microkernels-data

# Only the tables of tile groups and of concurrent tasks. They take 1.5 GiB of memory.
bench-tile-groups: bench/tile-groups$(EXEEXT) bench/tiles/stamp
	bench/tile-groups bench/tiles 21

# Only the link table.
bench-link: bench/link$(EXEEXT) bench/link-kernel.o sklink$(EXEEXT)
	$(MKDIR_P) bench/links
	bench/link ./sklink bench/link-kernel.o bench/links/1000 1000 15
	bench/link ./sklink bench/link-kernel.o bench/links/10000 10000 9
	top_srcdir=$(top_srcdir) $(SHELL) $(srcdir)/bench/openblas bench/links/openblas bench/link ./sklink 9

# Only the kernel library's products and convolutions (with OpenBLAS, if libopenblas0-pthread is installed).
bench-kernels: kernels/libskernels.a
	top_srcdir=$(top_srcdir) $(SHELL) $(srcdir)/bench/products bench/products.d kernels/libskernels.a $(KERNEL_CC)

# The kernels of the library that are hardly faster at x86-64-v3 than for any processor.
bench-variants: sklink$(EXEEXT) skrun$(EXEEXT) kernels/libskernels.a
	$(SHELL) $(srcdir)/bench/variants ./sklink ./skrun kernels/libskernels.a bench/variants.d

# Only networks, compared with ONNX Runtime if ONNXRUNTIME is the folder in which npm has installed it.
bench-networks: sklink$(EXEEXT) skrun$(EXEEXT) kernels/libskernels.a
	@if /usr/bin/python3 -c 'import onnx' 2>/dev/null; then \
		/usr/bin/python3 $(srcdir)/bench/networks $(srcdir) . bench/networks.d "$(ONNXRUNTIME)" $(NETWORKS); \
	else echo "No networks: python3-onnx, which makes them, is not installed."; fi

# Only packages with bounds: their costs, and random lengths, compared with ONNX Runtime if ONNXRUNTIME_PYTHON is a
# Python that has it. LENGTHS selects by name.
bench/fixed.sk: $(srcdir)/bench/generate bench/kernels.o sklink$(EXEEXT)
	$(AM_V_GEN)$(SHELL) $(srcdir)/bench/generate sizes 512 >bench/fixed.yaml
	$(AM_V_at)./sklink bench/fixed.yaml bench/kernels.o -o $@
bench/bounded.sk: $(srcdir)/bench/generate bench/kernels.o sklink$(EXEEXT)
	$(AM_V_GEN)$(SHELL) $(srcdir)/bench/generate sizes n >bench/bounded.yaml
	$(AM_V_at)./sklink bench/bounded.yaml bench/kernels.o -o $@
bench-dynamic: bench/dynamic$(EXEEXT) bench/fixed.sk bench/bounded.sk sklink$(EXEEXT) kernels/libskernels.a
	bench/dynamic costs bench/fixed.sk bench/bounded.sk
	@if /usr/bin/python3 -c 'import onnx' 2>/dev/null; then \
		/usr/bin/python3 $(srcdir)/bench/lengths . bench/lengths.d $(srcdir) "$(ONNXRUNTIME_PYTHON)" \
			"$(LENGTHS)"; \
	else echo "No lengths: python3-onnx, which makes the model, is not installed."; fi

# Only the savings by fused patterns.
bench-patterns: sklink$(EXEEXT) skrun$(EXEEXT) skdump$(EXEEXT) kernels/libskernels.a
	@if /usr/bin/python3 -c 'import onnx' 2>/dev/null; then \
		/usr/bin/python3 $(srcdir)/bench/patterns $(srcdir) . bench/patterns.d $(NETWORKS); \
	else echo "No patterns: python3-onnx, which makes networks, is not installed."; fi

# The cost of linking 24 layers, compared with copying their weights.
bench-weights: sklink$(EXEEXT) kernels/libskernels.a
	/usr/bin/python3 $(srcdir)/bench/weights $(srcdir) . bench/weights.d
.PHONY: bench bench-dynamic bench-kernels bench-link bench-networks bench-patterns bench-ranks bench-runtime \
	bench-tile-groups bench-variants bench-weights

bench/link-kernel.o: $(srcdir)/bench/link-kernel.c format/skkernel.h
	$(BENCH_CC) $(srcdir)/bench/link-kernel.c
CLEAN_FOLDERS += bench/lengths.d bench/links bench/networks.d bench/patterns.d bench/products.d bench/ranks.d \
	bench/variants.d \
	bench/weights.d bench/microkernels-data bench/tiles

CLEANFILES += $(EXTRA_PROGRAMS) bench/link-kernel.o bench/direct.c bench/direct.o bench/kernels.o \
	bench/hand-written.o bench/dispatch.yaml bench/dispatch.sk bench/load-* bench/microkernels.sk \
	bench/tile-kernels.o bench/fixed.* bench/bounded.*
EXTRA_DIST += bench/lengths bench/networks bench/patterns bench/variants bench/weights bench/onnxruntime.js \
	bench/allreduce.c bench/openmp.c bench/tbb.cc bench/link-kernel.c bench/generate bench/openblas \
	bench/kernels.c bench/hand-written.c bench/products bench/products.c bench/tile-kernels.c bench/tile-networks
