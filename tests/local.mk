# Tests: Check suites, scripts, and the programs that scripts run. `make check` runs all, `make check-quick` those that
# are quick. A test is registered by its name in one of the lists; tests/house/house.sh finds tests that are in none.
TEST_EXTENSIONS = .sh
SH_LOG_COMPILER = $(SHELL)
AM_TESTS_ENVIRONMENT = \
	top_srcdir='$(abs_top_srcdir)'; export top_srcdir; \
	top_builddir='$(abs_top_builddir)'; export top_builddir; \
	CC='$(CC)'; export CC; \
	KERNEL_CC='$(KERNEL_CC)'; export KERNEL_CC; \
	KERNEL_CFLAGS='$(KERNEL_CFLAGS)'; export KERNEL_CFLAGS; \
	CK_DEFAULT_TIMEOUT=60; export CK_DEFAULT_TIMEOUT;

# They run in this order, several at a time: the long ones first.
TESTS = $(SLOW_TESTS) $(QUICK_TESTS)
QUICK_TESTS = $(SUITES) $(SHELL_TESTS)

# Tests of documents, and of files that are installed, are the same with sanitizers: they give the programs no input of
# their own.
if ASAN
DOCUMENT_TESTS = tests/house/% tests/packaging/% tests/tools/completions.%
endif
check-quick:
	$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(filter-out $(DOCUMENT_TESTS),$(QUICK_TESTS))'
check-suites: suites
	$(MAKE) $(AM_MAKEFLAGS) check-TESTS TESTS='$(SUITES)' check_PROGRAMS='$(SUITES)'
suites: $(SUITES)
# --enable-tsan is for these, which use the runtime's threads. (It holds back signals that come from other threads, so a
# kernel without an end cannot be expelled there: tests/runtime/faults.sh leaves that to other builds.)
check-runtime:
	$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(RUNTIME_SUITES) $(RUNTIME_SHELL_TESTS)'
# The pages of doc/howto/compilers/, with compilers that are in a virtual environment of Python: COMPILERS=FOLDER.
check-compilers: all
	@$(AM_TESTS_ENVIRONMENT) COMPILERS='$(COMPILERS)' PAGES='$(PAGES)' $(SHELL) $(srcdir)/tests/compilers/compilers.sh
.PHONY: check-quick check-suites suites check-runtime check-compilers

# Check suites: tests/unit/check_NAME.c tests the file or the topic NAME.
if HAVE_CHECK
RUNTIME_SUITES = \
	tests/unit/check_api tests/unit/check_caller tests/unit/check_checks tests/unit/check_faults \
	tests/unit/check_fibre tests/unit/check_image tests/unit/check_queue tests/unit/check_runtime \
	tests/unit/check_wakes
SUITES = $(RUNTIME_SUITES) \
	tests/unit/check_account tests/unit/check_archive tests/unit/check_arena tests/unit/check_bind \
	tests/unit/check_boxes tests/unit/check_calls tests/unit/check_choose tests/unit/check_composites \
	tests/unit/check_diag tests/unit/check_dims tests/unit/check_dispatcher tests/unit/check_document tests/unit/check_dumps \
	tests/unit/check_flags tests/unit/check_fusion tests/unit/check_gaps tests/unit/check_growth \
	tests/unit/check_identifier tests/unit/check_idle tests/unit/check_isa tests/unit/check_json tests/unit/check_lift \
	tests/unit/check_lists \
	tests/unit/check_machines tests/unit/check_manifest tests/unit/check_memory tests/unit/check_no_task \
	tests/unit/check_npy tests/unit/check_onnx tests/unit/check_pbtxt tests/unit/check_placement \
	tests/unit/check_plan tests/unit/check_planned tests/unit/check_predict tests/unit/check_ranges \
	tests/unit/check_relocate tests/unit/check_resize tests/unit/check_rewrites tests/unit/check_rules \
	tests/unit/check_scenarios tests/unit/check_schedule tests/unit/check_segments tests/unit/check_show \
	tests/unit/check_signature tests/unit/check_sized tests/unit/check_sized_calls tests/unit/check_sizes \
	tests/unit/check_slots tests/unit/check_switches tests/unit/check_tar tests/unit/check_tiles \
	tests/unit/check_verify tests/unit/check_writer
check_PROGRAMS += $(SUITES)
endif

# Scripts that take seconds.
RUNTIME_SHELL_TESTS = tests/runtime/fibres.sh tests/plan/lanes.sh tests/plan/cores.sh tests/samples/composite.sh
SHELL_TESTS = $(RUNTIME_SHELL_TESTS) \
	tests/abi/abi.sh \
	tests/command/errors.sh tests/command/interrupted.sh tests/command/messages.sh tests/command/options.sh \
	tests/command/repro.sh tests/command/threads.sh \
	tests/fuzz/fuzz.sh \
	tests/graph/bisect.sh tests/graph/caches.sh tests/graph/check-rules.sh tests/graph/composites-layers.sh tests/graph/composites.sh \
	tests/graph/door.sh tests/graph/dumps.sh tests/graph/expand.sh tests/graph/fuse.sh tests/graph/fusion-flags.sh \
	tests/graph/fusion-lists.sh tests/graph/fusion-result.sh tests/graph/fusion-switches.sh \
	tests/graph/folding.sh tests/graph/fx-dumps.sh tests/graph/ge-dumps.sh tests/graph/graph-manifest.sh tests/graph/keep.sh tests/graph/mindir.sh tests/graph/mindspore-clusters.sh \
	tests/graph/model-names.sh tests/graph/model-scopes.sh tests/graph/model-texts.sh tests/graph/networks.sh \
	tests/graph/no-task.sh tests/graph/onnx-models.sh tests/graph/onnx.sh tests/graph/packets.sh \
	tests/graph/pattern-fusion.sh \
	tests/graph/rewrites.sh tests/graph/sizes.sh tests/graph/sizes-backend.sh tests/graph/sizes-exported.sh \
	tests/graph/sizes-networks.sh tests/graph/sizes-onnx.sh tests/graph/sizes-random.sh tests/graph/sizes-run.sh \
	tests/graph/states.sh tests/graph/vendor-names.sh \
	tests/house/house.sh tests/house/layers.sh tests/house/manuals.sh tests/house/pages.sh tests/house/readme.sh \
	tests/house/words.sh \
	tests/kernels/blas.sh tests/kernels/blis.sh tests/kernels/bytes.sh tests/kernels/cxx.sh tests/kernels/fftw.sh \
	tests/kernels/fortran.sh tests/kernels/ggml.sh tests/kernels/gsl.sh tests/kernels/halide.sh \
	tests/kernels/inductor.sh tests/kernels/libm.sh tests/kernels/mlir.sh tests/kernels/openblas.sh \
	tests/kernels/page.sh tests/kernels/rust.sh tests/kernels/triton.sh tests/kernels/tvm.sh tests/kernels/x264.sh \
	tests/kernels/xla.sh tests/kernels/xnnpack.sh tests/kernels/zig.sh \
	tests/linker/blas.sh tests/linker/constructors.sh tests/linker/cplusplus.sh tests/linker/damage.sh \
	tests/linker/debug.sh tests/linker/demangle.sh tests/linker/equal-names.sh \
	tests/linker/hidden-state.sh tests/linker/icf.sh tests/linker/ifunc.sh \
	tests/linker/imported-kernels.sh tests/linker/imported-state.sh tests/linker/imports.sh \
	tests/linker/isolate.sh tests/linker/landmarks.sh tests/linker/local-kernels.sh tests/linker/merge.sh \
	tests/linker/nopic.sh \
	tests/linker/notes.sh tests/linker/options.sh tests/linker/output.sh tests/linker/own-names.sh \
	tests/linker/reasons.sh tests/linker/relocatable.sh tests/linker/relocate.sh tests/linker/resolve.sh \
	tests/linker/sections.sh tests/linker/static-objects.sh tests/linker/tls.sh tests/linker/traps.sh \
	tests/linker/versions.sh \
	tests/manifest/constants.sh tests/manifest/few-elements.sh tests/manifest/launch-options.sh \
	tests/manifest/manifest-schema.sh tests/manifest/original-names.sh tests/manifest/scope-options.sh tests/manifest/sizes.sh \
	tests/manifest/strides.sh \
	tests/operators/attention.sh tests/operators/fused-operators.sh tests/operators/ge-graphs.sh tests/operators/ge-seed.sh \
	tests/operators/classical.sh tests/operators/indexing.sh tests/operators/microsoft.sh \
	tests/operators/microsoft-fused.sh tests/operators/mindspore.sh \
	tests/operators/narrow-types.sh tests/operators/onnx-newest.sh tests/operators/onnx-operators.sh \
	tests/operators/onnx-peer.sh tests/operators/onnx-versions.sh \
	tests/operators/quantised-gates.sh \
	tests/operators/torchair.sh \
	tests/outputs/header.sh tests/outputs/header-sizes.sh tests/outputs/line-table.sh tests/outputs/map.sh \
	tests/outputs/package.sh \
	tests/outputs/report.sh tests/outputs/weights.sh \
	tests/packaging/install.sh \
	tests/plan/awaits.sh tests/plan/block-rows.sh tests/plan/placement.sh tests/plan/run-order.sh tests/plan/scenarios.sh \
	tests/plan/segments.sh tests/plan/sized-groups.sh tests/plan/sizes.sh tests/plan/step-calls.sh tests/plan/streams.sh \
	tests/plan/tile-groups.sh \
	tests/plan/tile-options.sh tests/plan/tile-order.sh tests/plan/tile-reasons.sh tests/plan/tile-tools.sh \
	tests/plan/tile-traffic.sh \
	tests/property/bounds.sh tests/property/property.sh \
	tests/python/python.sh tests/python/shard.sh \
	tests/runtime/check-blocks.sh tests/runtime/check-races.sh tests/runtime/check-split.sh \
	tests/runtime/directions.sh tests/runtime/faults.sh tests/runtime/guard.sh tests/runtime/integrity.sh \
	tests/runtime/isa.sh tests/runtime/locale.sh tests/runtime/mutexes.sh tests/runtime/once.sh tests/runtime/sizes.sh \
	tests/runtime/sized-runs.sh \
	tests/runtime/mpi.sh tests/runtime/package-damage.sh tests/runtime/ranks.sh tests/runtime/rank-steps.sh \
	tests/runtime/predict.sh tests/runtime/progress.sh tests/runtime/skrt-hh.sh \
	tests/runtime/skrun.sh tests/runtime/thread-storage.sh tests/runtime/thunks.sh tests/runtime/times.sh \
	tests/runtime/trace.sh \
	tests/samples/bert-train.sh tests/samples/bert.sh tests/samples/convnet.sh tests/samples/decode-layers.sh \
	tests/samples/decoder.sh tests/samples/foreign.sh tests/samples/microkernels.sh tests/samples/quant-matmul.sh \
	tests/samples/tensor-parallel.sh \
	tests/signatures/addresses.sh tests/signatures/aliases.sh tests/signatures/allowances.sh tests/signatures/compat.sh \
	tests/signatures/compat-arrays.sh tests/signatures/compat-cplusplus.sh tests/signatures/compiler-drafts.sh \
	tests/signatures/drafts.sh tests/signatures/early.sh tests/signatures/features.sh tests/signatures/frames.sh \
	tests/signatures/displaced.sh tests/signatures/layouts.sh tests/signatures/loops.sh \
	tests/signatures/mix.sh tests/signatures/operands.sh tests/signatures/operators.sh tests/signatures/status.sh \
	tests/signatures/structs.sh tests/signatures/units.sh \
	tests/tools/completions.sh tests/tools/debugger.sh tests/tools/names.sh tests/tools/perf.sh \
	tests/tools/skdump-dot.sh tests/tools/skdump-json.sh tests/tools/skdump.sh tests/tools/task-filters.sh \
	tests/unit/emit.sh tests/unit/machines.sh

# Scripts that take longer. Those of the kernel library are here because the library is the same for any compiler of
# sklink.
SLOW_TESTS = \
	tests/command/no-memory.sh \
	tests/fuzz/mutate.sh \
	tests/kernels/attention.sh tests/kernels/axes.sh tests/kernels/cuts.sh tests/kernels/det.sh \
	tests/kernels/exact-products.sh tests/kernels/images.sh tests/kernels/library.sh tests/kernels/moves.sh \
	tests/kernels/normal.sh tests/kernels/picked.sh tests/kernels/products.sh tests/kernels/quantise.sh \
	tests/kernels/quantized.sh tests/kernels/random.sh tests/kernels/ranks.sh tests/kernels/recurrent.sh \
	tests/kernels/sums.sh \
	tests/kernels/training.sh tests/kernels/trees.sh tests/kernels/windows.sh \
	tests/linker/archives-openblas.sh tests/linker/archives.sh tests/linker/combinations.sh \
	tests/linker/openblas-kernels.sh \
	tests/operators/onnx-backend.sh \
	tests/outputs/huge-constants.sh \
	tests/packaging/build-systems.sh tests/packaging/deb.sh \
	tests/plan/adverse-orders.sh \
	tests/property/bounds-long.sh tests/property/graphs.sh tests/property/property-long.sh \
	tests/samples/quant-matmul-full.sh \
	tests/tools/skdump-page.sh tests/tools/skdump-sizes.sh

# Programs that scripts run.
FUZZ_TARGETS = \
	tests/fuzz/fuzz-archive tests/fuzz/fuzz-manifest tests/fuzz/fuzz-npy tests/fuzz/fuzz-object tests/fuzz/fuzz-onnx \
	tests/fuzz/fuzz-package tests/fuzz/fuzz-pbtxt tests/fuzz/fuzz-rules tests/fuzz/fuzz-signature tests/fuzz/fuzz-switches
check_PROGRAMS += $(FUZZ_TARGETS) \
	tests/fuzz/bombs tests/fuzz/corrupt tests/fuzz/model-seeds \
	tests/kernels/library \
	tests/lib/compare-sizes tests/lib/drop-await tests/lib/infer-sizes tests/lib/make-model tests/lib/read-manifests \
	tests/lib/read-models \
	tests/linker/compare-links tests/linker/link-damage tests/linker/link-driver tests/linker/link-members \
	tests/plan/group-steps \
	tests/property/bounds tests/property/graphs tests/property/property \
	tests/runtime/faults tests/runtime/forge tests/runtime/locale tests/runtime/once tests/runtime/rank-streams \
	tests/runtime/thread-storage \
	tests/signatures/forgets \
	tests/unit/check_emit

# Each suite and program has one source, and is linked with these libraries.
LDADD = tests/lib/libtests.a loader/libpredict.a src/libskdump.a $(core_parts) $(LIBELF_LIBS) $(core_libs) $(CHECK_LIBS)
tests/%.o: AM_CPPFLAGS += -DTOP_SRCDIR='"$(abs_top_srcdir)"' $(SANITIZED_CPPFLAGS)
tests/%.o: AM_CFLAGS += $(LIBELF_CFLAGS) $(ZLIB_CFLAGS)
tests/unit/%.o: AM_CFLAGS += $(CHECK_CFLAGS)

# The code that several of them share.
check_LIBRARIES = tests/lib/libtests.a
tests_lib_libtests_a_SOURCES = \
	tests/fuzz/fuzz-graph.c tests/fuzz/fuzz-link.c tests/fuzz/fuzz-plan.c tests/fuzz/fuzz.c tests/fuzz/mutants.c tests/fuzz/mutate.c \
	tests/fuzz/package-readers.c \
	tests/lib/happens-before.c tests/lib/match-code.c tests/lib/model-builder.c tests/lib/protobuf-writer.c tests/lib/random.c
if HAVE_CHECK
tests_lib_libtests_a_SOURCES += tests/lib/dispatcher-rig.c tests/lib/handmade.c tests/lib/plan-builder.c tests/lib/races.c tests/lib/sized-plans.c
endif

# Some have more sources: a linker that finds the kernels it is told of, and another machine.
tests_fuzz_fuzz_manifest_SOURCES = tests/fuzz/fuzz-manifest.c tests/lib/fake-linker.c
tests_fuzz_fuzz_signature_SOURCES = tests/fuzz/fuzz-signature.c tests/lib/fake-linker.c
tests_unit_check_bind_SOURCES = tests/unit/check_bind.c tests/lib/fake-linker.c
tests_unit_check_growth_SOURCES = tests/unit/check_growth.c tests/lib/fake-linker.c
tests_unit_check_machines_SOURCES = tests/unit/check_machines.c \
	tests/unit/aarch64/architecture.c tests/unit/aarch64/emitter.c tests/unit/aarch64/relocations.c \
	linker/architecture.c stubs/dispatcher/emitters.c
tests_unit_check_machines_CPPFLAGS = -iquote $(top_srcdir)/tests/unit/aarch64 $(AM_CPPFLAGS)
tests_kernels_library_SOURCES = tests/kernels/library.c tests/kernels/library-axes.c tests/kernels/library-composites.c \
	tests/kernels/library-elementwise.c tests/kernels/library-fused.c tests/kernels/library-moves.c tests/kernels/library-normal.c \
	tests/kernels/library-products.c tests/kernels/library-recurrent.c tests/kernels/library-trees.c
tests_kernels_library_LDADD = -ldl -lm
tests_property_bounds_SOURCES = tests/property/bounds-damage.c tests/property/bounds-link.c tests/property/bounds.c \
	tests/property/random-bounds.c
tests_property_property_SOURCES = tests/property/network-kernels.c tests/property/network-manifest.c tests/property/network.c \
	tests/property/plan-mutants.c tests/property/property.c
tests_property_graphs_SOURCES = tests/property/graph-errors.c tests/property/graph-expansions.c tests/property/graph-reference.c \
	tests/property/graphs.c tests/property/random-flags.c tests/property/random-graph.c tests/property/random-nodes.c \
	tests/property/random-pieces.c tests/property/random-shapes.c

# make fuzz [FUZZ_SECONDS=N]: each target in turn with libFuzzer, from its seeds and the inputs that earlier
# runs have found (fuzz-corpus).
if FUZZING
FUZZ_SECONDS = 240
fuzz: all $(FUZZ_TARGETS:tests/fuzz/fuzz-%=tests/fuzz/libfuzzer-%)
	top_srcdir='$(abs_top_srcdir)' top_builddir='$(abs_top_builddir)' KERNEL_CC='$(KERNEL_CC)' \
		KERNEL_CFLAGS='$(KERNEL_CFLAGS)' $(SHELL) $(top_srcdir)/tests/fuzz/fuzz-run.sh $(FUZZ_SECONDS)
tests/fuzz/libfuzzer-%: tests/fuzz/fuzz-%.o $(filter %.a %.la,$(LDADD))
	$(AM_V_CCLD)$(LINK) -fsanitize=fuzzer $(filter %.o,$^) $(LDADD) $(LIBS)
tests/fuzz/libfuzzer-manifest tests/fuzz/libfuzzer-signature: tests/lib/fake-linker.o
endif

EXTRA_DIST += $(wildcard $(foreach kind,awk c def dict h js py sh,$(srcdir)/tests/*/*.$(kind))) \
	tests/documented.txt tests/operators/frozen tests/operators/newest tests/kernels/objects \
	tests/fuzz/manifest tests/fuzz/pbtxt tests/fuzz/rules tests/fuzz/signature tests/fuzz/switches \
	tests/unit/aarch64/format/machines.def tests/unit/aarch64/loader/arch/host.h
CLEAN_FOLDERS += tests/packages tests/property-failures
CLEANFILES += tests/property/property-kernels.o tests/tools/skdump-page-*.png
