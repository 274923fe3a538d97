# Tests: Check suites (check_*.c), one for a file or a topic, and end-to-end scripts (*.sh). `make check` runs all, `make check-quick`
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

# They run in this order, several at a time: the long ones first.
TESTS = $(SLOW_TESTS) $(QUICK_TESTS)
EXTRA_DIST += $(SHELL_TESTS) tests/documented.txt tests/lib/same-packages.sh tests/lib/same-tables.py tests/lib/scratch.h tests/lib/statuses.h tests/lib/suite.h tests/lib/whole-link.h

check-quick:
	$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(QUICK_TESTS)'
check-suites:
	$(MAKE) $(AM_MAKEFLAGS) check TESTS="`printf '%s\n' $(QUICK_TESTS) | grep '^tests/unit/check_' | tr '\n' ' '`"
.PHONY: check-quick check-suites

# The front end: signatures, manifest, binding.
if HAVE_CHECK
check_PROGRAMS += tests/unit/check_document tests/unit/check_signature tests/unit/check_manifest tests/unit/check_bind
tests_unit_check_document_SOURCES = tests/unit/check_document.c tests/lib/messages.h
tests_unit_check_document_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_check_document_LDADD = src/libcore.la $(CHECK_LIBS)
tests_unit_check_signature_SOURCES = tests/unit/check_signature.c tests/lib/sink.h tests/lib/messages.h
tests_unit_check_signature_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_check_signature_LDADD = src/libcore.la $(CHECK_LIBS)
tests_unit_check_manifest_SOURCES = tests/unit/check_manifest.c tests/lib/sink.h tests/lib/messages.h
tests_unit_check_manifest_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_check_manifest_LDADD = src/libcore.la $(CHECK_LIBS)
tests_unit_check_bind_SOURCES = tests/unit/check_bind.c tests/lib/fake-linker.c tests/lib/fake-linker.h tests/lib/sink.h tests/lib/messages.h \
	tests/lib/model-builder.c tests/lib/model-builder.h tests/lib/random.c tests/lib/random.h
tests_unit_check_bind_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_check_bind_LDADD = src/libcore.la $(CHECK_LIBS)
check_PROGRAMS += tests/unit/check_gaps
tests_unit_check_gaps_SOURCES = tests/unit/check_gaps.c tests/lib/model-builder.c tests/lib/model-builder.h tests/lib/random.c tests/lib/random.h
tests_unit_check_gaps_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_check_gaps_LDADD = src/libcore.la $(CHECK_LIBS)
check_PROGRAMS += tests/unit/check_idle
tests_unit_check_idle_SOURCES = tests/unit/check_idle.c tests/lib/model-builder.c tests/lib/model-builder.h tests/lib/random.c tests/lib/random.h
tests_unit_check_idle_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_check_idle_LDADD = src/libcore.la $(CHECK_LIBS)
QUICK_TESTS += tests/unit/check_idle
QUICK_TESTS += tests/unit/check_document tests/unit/check_signature tests/unit/check_manifest tests/unit/check_bind tests/unit/check_gaps
endif

# Readers of models.
if HAVE_CHECK
check_PROGRAMS += tests/unit/check_onnx
tests_unit_check_onnx_SOURCES = tests/unit/check_onnx.c tests/lib/protobuf-writer.c tests/lib/protobuf-writer.h tests/lib/sink.h tests/lib/messages.h
tests_unit_check_onnx_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_check_onnx_LDADD = graph/libgraph.la $(CHECK_LIBS)
check_PROGRAMS += tests/unit/check_pbtxt
tests_unit_check_pbtxt_SOURCES = tests/unit/check_pbtxt.c tests/lib/sink.h tests/lib/messages.h
tests_unit_check_pbtxt_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) -DTOP_SRCDIR='"$(abs_top_srcdir)"'
tests_unit_check_pbtxt_LDADD = graph/libgraph.la $(CHECK_LIBS)
QUICK_TESTS += tests/unit/check_onnx tests/unit/check_pbtxt
check_PROGRAMS += tests/unit/check_rewrites
tests_unit_check_rewrites_SOURCES = tests/unit/check_rewrites.c tests/lib/sink.h tests/lib/messages.h
tests_unit_check_rewrites_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_check_rewrites_LDADD = graph/libgraph.la $(CHECK_LIBS)
QUICK_TESTS += tests/unit/check_rewrites
check_PROGRAMS += tests/unit/check_resize
tests_unit_check_resize_SOURCES = tests/unit/check_resize.c tests/lib/sink.h tests/lib/messages.h
tests_unit_check_resize_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_check_resize_LDADD = graph/libgraph.la $(CHECK_LIBS)
QUICK_TESTS += tests/unit/check_resize
check_PROGRAMS += tests/unit/check_no_task
tests_unit_check_no_task_SOURCES = tests/unit/check_no_task.c tests/lib/sink.h tests/lib/messages.h
tests_unit_check_no_task_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_check_no_task_LDADD = graph/libgraph.la $(CHECK_LIBS)
QUICK_TESTS += tests/unit/check_no_task
check_PROGRAMS += tests/unit/check_dumps
tests_unit_check_dumps_SOURCES = tests/unit/check_dumps.c tests/lib/scratch.h tests/lib/sink.h tests/lib/messages.h
tests_unit_check_dumps_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_check_dumps_LDADD = src/libcore.la $(CHECK_LIBS)
QUICK_TESTS += tests/unit/check_dumps
endif

# Rules: their reader, the matcher, and what they make of graphs.
if HAVE_CHECK
check_PROGRAMS += tests/unit/check_rules
tests_unit_check_rules_SOURCES = tests/unit/check_rules.c tests/lib/sink.h tests/lib/messages.h
tests_unit_check_rules_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_check_rules_LDADD = src/libcore.la $(CHECK_LIBS)
QUICK_TESTS += tests/unit/check_rules
endif

# Graph-kernel fusion: flags and lists of operators.
if HAVE_CHECK
check_PROGRAMS += tests/unit/check_lists
tests_unit_check_lists_SOURCES = tests/unit/check_lists.c tests/unit/default-lists.def tests/lib/sink.h tests/lib/messages.h
tests_unit_check_lists_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_check_lists_LDADD = graph/libgraph.la $(CHECK_LIBS)
check_PROGRAMS += tests/unit/check_composites
tests_unit_check_composites_SOURCES = tests/unit/check_composites.c tests/lib/sink.h tests/lib/messages.h
tests_unit_check_composites_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_check_composites_LDADD = graph/libgraph.la $(CHECK_LIBS)
check_PROGRAMS += tests/unit/check_flags
tests_unit_check_flags_SOURCES = tests/unit/check_flags.c tests/lib/sink.h tests/lib/messages.h
tests_unit_check_flags_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_check_flags_LDADD = graph/libgraph.la $(CHECK_LIBS)
check_PROGRAMS += tests/unit/check_choose
tests_unit_check_choose_SOURCES = tests/unit/check_choose.c tests/lib/sink.h tests/lib/messages.h
tests_unit_check_choose_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_check_choose_LDADD = graph/libgraph.la $(CHECK_LIBS)
check_PROGRAMS += tests/unit/check_switches
tests_unit_check_switches_SOURCES = tests/unit/check_switches.c tests/lib/sink.h tests/lib/messages.h
tests_unit_check_switches_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_check_switches_LDADD = src/libcore.la $(CHECK_LIBS)
QUICK_TESTS += tests/unit/check_lists tests/unit/check_flags tests/unit/check_choose tests/unit/check_composites tests/unit/check_switches
endif
check_PROGRAMS += tests/lib/read-manifests
tests_lib_read_manifests_SOURCES = tests/lib/read-manifests.c
tests_lib_read_manifests_LDADD = src/libcore.la
check_PROGRAMS += tests/lib/read-models
tests_lib_read_models_SOURCES = tests/lib/read-models.c
tests_lib_read_models_CFLAGS = $(AM_CFLAGS) $(ZLIB_CFLAGS)
tests_lib_read_models_LDADD = graph/libgraph.la $(ZLIB_LIBS)
EXTRA_DIST += tests/lib/read-models.py tests/lib/models.py tests/lib/models.sh
EXTRA_DIST += tests/lib/layers.py tests/lib/read-dumps.py tests/lib/read-fx.py tests/lib/read-places.py tests/lib/terminal.py
SHELL_TESTS += tests/graph/dumps.sh tests/graph/fx-dumps.sh tests/graph/ge-dumps.sh tests/operators/ge-graphs.sh tests/graph/keep.sh tests/tools/skdump-dot.sh tests/graph/bisect.sh
QUICK_TESTS += tests/graph/dumps.sh tests/graph/fx-dumps.sh tests/graph/ge-dumps.sh tests/operators/ge-graphs.sh tests/graph/keep.sh tests/tools/skdump-dot.sh tests/graph/bisect.sh
EXTRA_DIST += tests/operators/backend.py tests/operators/ge_graphs.py tests/operators/frozen tests/operators/operators.py tests/operators/resize.py tests/operators/mindspore.py tests/operators/versions.py
EXTRA_DIST += tests/operators/patterns.py tests/operators/pattern_samples.py tests/operators/peer.py tests/operators/peer_cases.py tests/operators/peer.js tests/lib/npy.js
SHELL_TESTS += tests/operators/onnx-operators.sh tests/operators/onnx-peer.sh tests/operators/onnx-versions.sh tests/operators/mindspore.sh
QUICK_TESTS += tests/operators/onnx-operators.sh tests/operators/onnx-peer.sh tests/operators/onnx-versions.sh tests/operators/mindspore.sh
SHELL_TESTS += tests/graph/composites.sh tests/graph/composites-layers.sh
QUICK_TESTS += tests/graph/composites.sh tests/graph/composites-layers.sh
check_PROGRAMS += tests/lib/make-model
tests_lib_make_model_SOURCES = tests/lib/make-model.c tests/lib/protobuf-writer.c tests/lib/protobuf-writer.h
tests_lib_make_model_LDADD = format/libnpy.la
EXTRA_DIST += tests/lib/skdump-json.py tests/tools/page-probe.js
SHELL_TESTS += tests/tools/skdump-page.sh
SLOW_TESTS += tests/tools/skdump-page.sh
CLEANFILES += tests/tools/skdump-page-*.png
SHELL_TESTS += tests/tools/skdump-json.sh tests/manifest/manifest-schema.sh tests/tools/task-filters.sh tests/runtime/times.sh
QUICK_TESTS += tests/tools/skdump-json.sh tests/manifest/manifest-schema.sh tests/tools/task-filters.sh tests/runtime/times.sh
EXTRA_DIST += tests/manifest/manifest-schema.py
SHELL_TESTS += tests/outputs/weights.sh
QUICK_TESTS += tests/outputs/weights.sh
SHELL_TESTS += tests/outputs/huge-constants.sh
SLOW_TESTS += tests/outputs/huge-constants.sh
SHELL_TESTS += tests/plan/adverse-orders.sh
SLOW_TESTS += tests/plan/adverse-orders.sh
EXTRA_DIST += tests/lib/adverse-orders.awk
SHELL_TESTS += tests/operators/onnx-backend.sh
SLOW_TESTS += tests/operators/onnx-backend.sh
SHELL_TESTS += tests/graph/model-names.sh tests/operators/indexing.sh tests/graph/onnx-models.sh tests/graph/model-texts.sh tests/graph/model-scopes.sh tests/graph/graph-manifest.sh tests/graph/networks.sh tests/graph/onnx.sh tests/graph/states.sh tests/operators/attention.sh tests/operators/fused-operators.sh tests/operators/microsoft.sh
QUICK_TESTS += tests/graph/model-names.sh tests/operators/indexing.sh tests/graph/onnx-models.sh tests/graph/model-texts.sh tests/graph/model-scopes.sh tests/graph/graph-manifest.sh tests/graph/networks.sh tests/graph/onnx.sh tests/graph/states.sh tests/operators/attention.sh tests/operators/fused-operators.sh tests/operators/microsoft.sh

# Planning: partition, schedule, memory, the plan's writer.
if HAVE_CHECK
check_PROGRAMS += tests/unit/check_fusion tests/unit/check_schedule tests/unit/check_memory tests/unit/check_writer
tests_unit_check_fusion_SOURCES = tests/unit/check_fusion.c tests/lib/model-builder.c tests/lib/model-builder.h tests/lib/random.c tests/lib/random.h
tests_unit_check_fusion_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) -DTOP_SRCDIR='"$(abs_top_srcdir)"'
tests_unit_check_fusion_LDADD = src/libplanning.la format/libplan.la $(CHECK_LIBS)
tests_unit_check_schedule_SOURCES = tests/unit/check_schedule.c tests/lib/model-builder.c tests/lib/model-builder.h \
	tests/lib/happens-before.c tests/lib/happens-before.h \
	tests/lib/random.c tests/lib/random.h
tests_unit_check_schedule_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_check_schedule_LDADD = src/libplanning.la format/libplan.la $(CHECK_LIBS)
check_PROGRAMS += tests/unit/check_placement
tests_unit_check_placement_SOURCES = tests/unit/check_placement.c tests/lib/model-builder.c tests/lib/model-builder.h
tests_unit_check_placement_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_check_placement_LDADD = src/libplanning.la format/libplan.la $(CHECK_LIBS)
tests_unit_check_memory_SOURCES = tests/unit/check_memory.c tests/lib/model-builder.c tests/lib/model-builder.h \
	tests/lib/happens-before.c tests/lib/happens-before.h \
	tests/lib/random.c tests/lib/random.h
tests_unit_check_memory_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_check_memory_LDADD = src/libplanning.la format/libplan.la $(CHECK_LIBS)
tests_unit_check_writer_SOURCES = tests/unit/check_writer.c tests/lib/model-builder.c tests/lib/model-builder.h tests/lib/random.c tests/lib/random.h
tests_unit_check_writer_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_check_writer_LDADD = src/libplanning.la format/libplan.la $(CHECK_LIBS)
check_PROGRAMS += tests/unit/check_scenarios
tests_unit_check_scenarios_SOURCES = tests/unit/check_scenarios.c tests/lib/model-builder.c tests/lib/model-builder.h
tests_unit_check_scenarios_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_check_scenarios_LDADD = src/libplanning.la format/libplan.la $(CHECK_LIBS)
check_PROGRAMS += tests/unit/check_segments
tests_unit_check_segments_SOURCES = tests/unit/check_segments.c tests/lib/model-builder.c tests/lib/model-builder.h tests/lib/random.c tests/lib/random.h
tests_unit_check_segments_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_check_segments_LDADD = src/libplanning.la format/libplan.la $(CHECK_LIBS)
check_PROGRAMS += tests/unit/check_growth
tests_unit_check_growth_SOURCES = tests/unit/check_growth.c tests/lib/fake-linker.c tests/lib/fake-linker.h tests/lib/model-builder.c tests/lib/model-builder.h tests/lib/random.c tests/lib/random.h
tests_unit_check_growth_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_check_growth_LDADD = src/libcore.la src/libplanning.la format/libplan.la $(CHECK_LIBS)
QUICK_TESTS += tests/unit/check_growth tests/unit/check_fusion tests/unit/check_schedule tests/unit/check_memory tests/unit/check_writer tests/unit/check_scenarios \
	tests/unit/check_segments tests/unit/check_placement
endif

# What everybody uses.
if HAVE_CHECK
check_PROGRAMS += tests/unit/check_arena
tests_unit_check_arena_SOURCES = tests/unit/check_arena.c
tests_unit_check_arena_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_check_arena_LDADD = base/libbase.la $(CHECK_LIBS)
QUICK_TESTS += tests/unit/check_arena

check_PROGRAMS += tests/unit/check_diag
tests_unit_check_diag_SOURCES = tests/unit/check_diag.c tests/lib/sink.h tests/lib/messages.h
tests_unit_check_diag_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_check_diag_LDADD = base/libbase.la $(CHECK_LIBS)
QUICK_TESTS += tests/unit/check_diag

check_PROGRAMS += tests/unit/check_tar
tests_unit_check_tar_SOURCES = tests/unit/check_tar.c
tests_unit_check_tar_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_check_tar_LDADD = base/libbase.la $(CHECK_LIBS)
QUICK_TESTS += tests/unit/check_tar

check_PROGRAMS += tests/unit/check_identifier
tests_unit_check_identifier_SOURCES = tests/unit/check_identifier.c
tests_unit_check_identifier_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_check_identifier_LDADD = base/libbase.la $(CHECK_LIBS)
QUICK_TESTS += tests/unit/check_identifier

check_PROGRAMS += tests/unit/check_boxes
tests_unit_check_boxes_SOURCES = tests/unit/check_boxes.c tests/lib/model-builder.c tests/lib/model-builder.h tests/lib/random.c tests/lib/random.h
tests_unit_check_boxes_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_check_boxes_LDADD = src/libplanning.la $(CHECK_LIBS)
QUICK_TESTS += tests/unit/check_boxes

check_PROGRAMS += tests/unit/check_ranges
tests_unit_check_ranges_SOURCES = tests/unit/check_ranges.c tests/lib/model-builder.c tests/lib/model-builder.h tests/lib/random.c tests/lib/random.h
tests_unit_check_ranges_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_check_ranges_LDADD = src/libplanning.la $(CHECK_LIBS)
QUICK_TESTS += tests/unit/check_ranges
endif

# The plan's reader, the verifier, the report.
if HAVE_CHECK
check_PROGRAMS += tests/unit/check_plan tests/unit/check_verify tests/unit/check_account
tests_unit_check_plan_SOURCES = tests/unit/check_plan.c tests/lib/plan-builder.c tests/lib/plan-builder.h tests/lib/own-records.h
tests_unit_check_plan_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_check_plan_LDADD = format/libplan.la base/libbase.la $(CHECK_LIBS)
tests_unit_check_verify_SOURCES = tests/unit/check_verify.c tests/lib/plan-builder.c tests/lib/plan-builder.h tests/lib/own-records.h tests/lib/races.c tests/lib/races.h
tests_unit_check_verify_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_check_verify_LDADD = src/libproof.la $(CHECK_LIBS)
tests_unit_check_account_SOURCES = tests/unit/check_account.c
tests_unit_check_account_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(ZLIB_CFLAGS)
tests_unit_check_account_LDADD = src/libproof.la $(CHECK_LIBS) $(ZLIB_LIBS)
check_PROGRAMS += tests/unit/check_tiles
tests_unit_check_tiles_SOURCES = \
	tests/unit/check_tiles.c tests/lib/model-builder.c tests/lib/model-builder.h tests/lib/plan-builder.c tests/lib/plan-builder.h tests/lib/own-records.h \
	tests/lib/races.c tests/lib/races.h tests/lib/random.c tests/lib/random.h tests/lib/messages.h
tests_unit_check_tiles_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_check_tiles_LDADD = src/libcore.la $(CHECK_LIBS)
QUICK_TESTS += tests/unit/check_tiles
check_PROGRAMS += tests/unit/check_calls
tests_unit_check_calls_SOURCES = tests/unit/check_calls.c tests/lib/plan-builder.c tests/lib/plan-builder.h tests/lib/own-records.h
tests_unit_check_calls_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_check_calls_LDADD = src/libproof.la $(CHECK_LIBS)
check_PROGRAMS += tests/unit/check_planned
tests_unit_check_planned_SOURCES = \
	tests/unit/check_planned.c tests/lib/model-builder.c tests/lib/model-builder.h tests/lib/plan-builder.c tests/lib/plan-builder.h tests/lib/own-records.h \
	tests/lib/races.c tests/lib/races.h tests/lib/random.c tests/lib/random.h tests/lib/messages.h
tests_unit_check_planned_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_check_planned_LDADD = src/libcore.la $(CHECK_LIBS)
check_PROGRAMS += tests/unit/check_show
tests_unit_check_show_SOURCES = tests/unit/check_show.c tests/lib/plan-builder.c tests/lib/plan-builder.h tests/lib/own-records.h src/skdump/show.c src/skdump/skdump.h \
	src/skdump/show-kernels.c src/skdump/show-steps.c src/skdump/show-text.c base/table.c base/text.h
tests_unit_check_show_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(SANITIZED_CPPFLAGS)
tests_unit_check_show_LDADD = stubs/libstubs.la src/libproof.la $(CHECK_LIBS)
QUICK_TESTS += tests/unit/check_show
QUICK_TESTS += tests/unit/check_plan tests/unit/check_calls tests/unit/check_verify tests/unit/check_account tests/unit/check_planned
endif

# End to end: from kernels in C to a package that runs.
END_TO_END_TESTS = \
	tests/signatures/addresses.sh \
	tests/signatures/allowances.sh \
	tests/plan/awaits.sh \
	tests/manifest/strides.sh \
	tests/plan/tile-groups.sh \
	tests/plan/tile-options.sh \
	tests/plan/tile-order.sh \
	tests/plan/placement.sh \
	tests/plan/block-rows.sh \
	tests/plan/tile-tools.sh \
	tests/plan/tile-reasons.sh \
	tests/plan/tile-traffic.sh \
	tests/manifest/constants.sh \
	tests/plan/cores.sh \
	tests/linker/cplusplus.sh \
	tests/tools/debugger.sh \
	tests/command/errors.sh \
	tests/signatures/frames.sh \
	tests/runtime/faults.sh \
	tests/signatures/features.sh \
	tests/outputs/header.sh tests/manifest/original-names.sh tests/manifest/few-elements.sh \
	tests/house/house.sh \
	tests/house/layers.sh \
	tests/runtime/fibres.sh \
	tests/command/interrupted.sh \
	tests/linker/ifunc.sh \
	tests/linker/imported-kernels.sh \
	tests/packaging/install.sh \
	tests/runtime/isa.sh \
	tests/plan/lanes.sh \
	tests/manifest/launch-options.sh \
	tests/signatures/mix.sh tests/signatures/early.sh tests/linker/hidden-state.sh tests/linker/imported-state.sh \
	tests/outputs/line-table.sh \
	tests/linker/local-kernels.sh \
	tests/runtime/locale.sh \
	tests/signatures/loops.sh \
	tests/linker/tls.sh \
	tests/house/manuals.sh \
	tests/outputs/map.sh \
	tests/command/messages.sh \
	tests/runtime/mutexes.sh \
	tests/tools/names.sh \
	tests/linker/nopic.sh \
	tests/runtime/once.sh \
	tests/linker/own-names.sh \
	tests/signatures/operands.sh \
	tests/signatures/operators.sh \
	tests/command/options.sh \
	tests/outputs/package.sh \
	tests/tools/perf.sh \
	tests/python/python.sh \
	tests/house/readme.sh \
	tests/linker/relocatable.sh \
	tests/command/repro.sh tests/graph/rewrites.sh \
	tests/outputs/report.sh \
	tests/plan/scenarios.sh \
	tests/graph/expand.sh tests/graph/fuse.sh tests/graph/check-rules.sh tests/graph/pattern-fusion.sh tests/graph/fusion-flags.sh tests/graph/fusion-lists.sh tests/graph/fusion-result.sh tests/graph/fusion-switches.sh tests/graph/no-task.sh tests/manifest/scope-options.sh \
	tests/plan/segments.sh \
	tests/tools/skdump.sh \
	tests/runtime/skrt-hh.sh \
	tests/linker/static-objects.sh \
	tests/signatures/status.sh \
	tests/plan/streams.sh \
	tests/abi/abi.sh \
	tests/signatures/structs.sh \
	tests/runtime/thread-storage.sh \
	tests/command/threads.sh \
	tests/runtime/thunks.sh \
	tests/runtime/trace.sh \
	tests/linker/traps.sh \
	tests/graph/vendor-names.sh
SHELL_TESTS += $(END_TO_END_TESTS)
QUICK_TESTS += $(END_TO_END_TESTS)
SHELL_TESTS += tests/packaging/build-systems.sh tests/packaging/deb.sh tests/linker/combinations.sh tests/command/no-memory.sh
SLOW_TESTS += tests/packaging/build-systems.sh tests/packaging/deb.sh tests/linker/combinations.sh tests/command/no-memory.sh
EXTRA_DIST += tests/abi tests/python/python-kernels.c tests/python/python-tests.py
EXTRA_DIST += tests/lib/check-trace.py tests/command/fail-malloc.c tests/signatures/feature-kernels.c tests/signatures/feature-oracle.c tests/lib/kernels.c tests/lib/lib.sh tests/lib/run-image.c tests/lib/oracle.c tests/signatures/struct-cases.c

# What kernels can do wrong.
check_PROGRAMS += tests/runtime/faults
tests_runtime_faults_SOURCES = tests/runtime/faults.c
tests_runtime_faults_CFLAGS = $(AM_CFLAGS) $(SANITIZED_CPPFLAGS)
tests_runtime_faults_LDADD = libskrt.la
tests_runtime_faults_LDFLAGS = $(AM_LDFLAGS) -static
EXTRA_DIST += tests/runtime/fault-kernels.c

# Launches that run once.
check_PROGRAMS += tests/runtime/once
tests_runtime_once_SOURCES = tests/runtime/once.c
tests_runtime_once_CFLAGS = $(AM_CFLAGS) $(SANITIZED_CPPFLAGS)
tests_runtime_once_LDADD = libskrt.la
tests_runtime_once_LDFLAGS = $(AM_LDFLAGS) -static -pthread
EXTRA_DIST += tests/runtime/once-kernels.c

# Programs in locales of their own.
check_PROGRAMS += tests/runtime/locale
tests_runtime_locale_SOURCES = tests/runtime/locale.c
tests_runtime_locale_CFLAGS = $(AM_CFLAGS) $(SANITIZED_CPPFLAGS)
tests_runtime_locale_LDADD = libskrt.la
tests_runtime_locale_LDFLAGS = $(AM_LDFLAGS) -static -pthread

# Kernels with thread-local variables.
check_PROGRAMS += tests/runtime/thread-storage
tests_runtime_thread_storage_SOURCES = tests/runtime/thread-storage.c
tests_runtime_thread_storage_CFLAGS = $(AM_CFLAGS) $(SANITIZED_CPPFLAGS)
tests_runtime_thread_storage_LDADD = libskrt.la
tests_runtime_thread_storage_LDFLAGS = $(AM_LDFLAGS) -static -pthread
EXTRA_DIST += tests/runtime/thread-kernels.c

# Kernels that return without having waited.
check_PROGRAMS += tests/signatures/forgets
tests_signatures_forgets_SOURCES = tests/signatures/forgets.c
tests_signatures_forgets_LDADD = libskrt.la
tests_signatures_forgets_LDFLAGS = $(AM_LDFLAGS) -static

# What checked launches find: bounds, unwritten memory, races.
check_PROGRAMS += tests/lib/drop-await
tests_lib_drop_await_SOURCES = tests/lib/drop-await.c tests/lib/own-records.h
tests_lib_drop_await_LDADD = format/libplan.la
SHELL_TESTS += tests/runtime/directions.sh tests/runtime/guard.sh tests/runtime/check-races.sh tests/runtime/check-split.sh tests/runtime/check-blocks.sh tests/runtime/integrity.sh
QUICK_TESTS += tests/runtime/directions.sh tests/runtime/guard.sh tests/runtime/check-races.sh tests/runtime/check-split.sh tests/runtime/check-blocks.sh tests/runtime/integrity.sh
EXTRA_DIST += tests/runtime/check-kernels.c tests/runtime/split-kernels.c

# Steps with several calls.
check_PROGRAMS += tests/plan/group-steps
tests_plan_group_steps_SOURCES = tests/plan/group-steps.c tests/lib/match-code.c tests/lib/match-code.h \
	src/skdump/package-file.c src/skdump/skdump.h src/skdump/package-object.c
tests_plan_group_steps_CFLAGS = $(AM_CFLAGS) $(LIBELF_CFLAGS)
tests_plan_group_steps_LDADD = loader/libloader.la src/libproof.la stubs/libstubs.la $(LIBELF_LIBS) -lpthread -lm
SHELL_TESTS += tests/plan/step-calls.sh tests/signatures/units.sh tests/signatures/aliases.sh
QUICK_TESTS += tests/plan/step-calls.sh tests/signatures/units.sh tests/signatures/aliases.sh

# Kernels out of real archives, with the signatures of doc/reference/kernel-library.md.
KERNEL_TESTS = \
	tests/kernels/blas.sh \
	tests/kernels/blis.sh \
	tests/kernels/bytes.sh \
	tests/kernels/cxx.sh \
	tests/kernels/fftw.sh \
	tests/kernels/fortran.sh \
	tests/kernels/ggml.sh \
	tests/kernels/gsl.sh \
	tests/kernels/halide.sh \
	tests/kernels/inductor.sh \
	tests/kernels/libm.sh \
	tests/kernels/mlir.sh \
	tests/kernels/openblas.sh \
	tests/kernels/page.sh \
	tests/kernels/rust.sh \
	tests/kernels/triton.sh \
	tests/kernels/tvm.sh \
	tests/kernels/x264.sh \
	tests/kernels/xla.sh \
	tests/kernels/xnnpack.sh
SHELL_TESTS += $(KERNEL_TESTS)
QUICK_TESTS += $(KERNEL_TESTS)
# Of the kernel library, which is the same whatever sklink is compiled with: once is enough.
LIBRARY_TESTS = \
	tests/kernels/axes.sh \
	tests/kernels/images.sh \
	tests/kernels/library.sh \
	tests/kernels/attention.sh \
	tests/kernels/moves.sh \
	tests/kernels/normal.sh \
	tests/kernels/cuts.sh \
	tests/kernels/picked.sh \
	tests/kernels/products.sh \
	tests/kernels/det.sh \
	tests/kernels/exact-products.sh \
	tests/kernels/quantise.sh \
	tests/kernels/quantized.sh \
	tests/kernels/random.sh \
	tests/kernels/recurrent.sh \
	tests/kernels/sums.sh \
	tests/kernels/training.sh \
	tests/kernels/windows.sh
SHELL_TESTS += $(LIBRARY_TESTS)
SLOW_TESTS += $(LIBRARY_TESTS)
EXTRA_DIST += tests/kernels/compare.sh tests/kernels/entries.h tests/kernels/kernels.sh tests/kernels/objects tests/kernels/operands.h \
	tests/kernels/attention.c tests/kernels/det.c tests/kernels/exact-products.c tests/kernels/images.c tests/kernels/oracle.h tests/kernels/products.c \
	tests/kernels/quantise.c tests/kernels/quantized.c tests/kernels/sums.c tests/kernels/random.c tests/kernels/training.c \
	tests/kernels/windows.c

# The kernel library: each kernel against its definition.
check_PROGRAMS += tests/kernels/library
tests_kernels_library_SOURCES = tests/kernels/library.c tests/kernels/library-axes.c tests/kernels/library-composites.c \
	tests/kernels/library-elementwise.c tests/kernels/library-fused.c tests/kernels/library-moves.c tests/kernels/library-normal.c \
	tests/kernels/library-products.c tests/kernels/library-recurrent.c tests/kernels/library.h
tests_kernels_library_LDADD = -ldl -lm

# Fuzz targets: programs that run over files and mutants of them; with --enable-fuzzing also with libFuzzer.
FUZZ_FILES = tests/fuzz/fuzz.c tests/fuzz/fuzz.h
MUTATE_FILES = tests/fuzz/mutate.c tests/fuzz/mutants.c tests/fuzz/mutants.h
FUZZ_OBJECT_FILES = $(FUZZ_FILES) tests/fuzz/fuzz-object.c tests/fuzz/fuzz-link.c
FUZZ_ARCHIVE_FILES = $(FUZZ_FILES) tests/fuzz/fuzz-archive.c tests/fuzz/fuzz-link.c
FUZZ_PLAN_FILES = $(FUZZ_FILES) tests/fuzz/fuzz-plan.c tests/fuzz/fuzz-plan.h
FUZZ_SIGNATURE_FILES = $(FUZZ_PLAN_FILES) tests/fuzz/fuzz-signature.c tests/lib/fake-linker.c tests/lib/fake-linker.h
FUZZ_MANIFEST_FILES = $(FUZZ_PLAN_FILES) tests/fuzz/fuzz-manifest.c tests/lib/fake-linker.c tests/lib/fake-linker.h
PACKAGE_READER_FILES = $(FUZZ_FILES) tests/fuzz/package-readers.c tests/fuzz/package-readers.h \
	src/skdump/diff.c src/skdump/skdump.h src/skdump/kernel-symbols.c base/table.c base/text.h \
	src/skdump/loadable.c src/skdump/package-file.c src/skdump/package-object.c \
	src/skdump/reemit.c
FUZZ_PACKAGE_FILES = $(PACKAGE_READER_FILES) tests/fuzz/fuzz-package.c
FUZZ_ONNX_FILES = $(FUZZ_FILES) tests/fuzz/fuzz-onnx.c tests/fuzz/fuzz-graph.c tests/fuzz/fuzz-graph.h
FUZZ_PBTXT_FILES = $(FUZZ_FILES) tests/fuzz/fuzz-pbtxt.c tests/fuzz/fuzz-graph.c tests/fuzz/fuzz-graph.h
FUZZ_RULES_FILES = $(FUZZ_FILES) tests/fuzz/fuzz-rules.c
FUZZ_SWITCHES_FILES = $(FUZZ_FILES) tests/fuzz/fuzz-switches.c
FUZZ_NPY_FILES = $(FUZZ_FILES) tests/fuzz/fuzz-npy.c
PACKAGE_READERS = loader/libloader.la src/libproof.la stubs/libstubs.la $(LIBELF_LIBS) -lpthread -lm

check_PROGRAMS += tests/fuzz/fuzz-object tests/fuzz/fuzz-archive tests/fuzz/fuzz-manifest tests/fuzz/fuzz-npy tests/fuzz/fuzz-package \
	tests/fuzz/fuzz-signature tests/fuzz/fuzz-onnx tests/fuzz/fuzz-pbtxt tests/fuzz/fuzz-rules tests/fuzz/fuzz-switches
tests_fuzz_fuzz_object_SOURCES = $(FUZZ_OBJECT_FILES) $(MUTATE_FILES)
tests_fuzz_fuzz_object_LDADD = linker/liblinker.la
tests_fuzz_fuzz_archive_SOURCES = $(FUZZ_ARCHIVE_FILES) $(MUTATE_FILES)
tests_fuzz_fuzz_archive_LDADD = linker/liblinker.la
tests_fuzz_fuzz_manifest_SOURCES = $(FUZZ_MANIFEST_FILES) $(MUTATE_FILES)
tests_fuzz_fuzz_manifest_LDADD = src/libcore.la
tests_fuzz_fuzz_signature_SOURCES = $(FUZZ_SIGNATURE_FILES) $(MUTATE_FILES)
tests_fuzz_fuzz_signature_LDADD = src/libcore.la
tests_fuzz_fuzz_rules_SOURCES = $(FUZZ_RULES_FILES) $(MUTATE_FILES)
tests_fuzz_fuzz_rules_LDADD = src/libcore.la
tests_fuzz_fuzz_switches_SOURCES = $(FUZZ_SWITCHES_FILES) $(MUTATE_FILES)
tests_fuzz_fuzz_switches_LDADD = src/libcore.la
tests_fuzz_fuzz_pbtxt_SOURCES = $(FUZZ_PBTXT_FILES) $(MUTATE_FILES)
tests_fuzz_fuzz_pbtxt_LDADD = graph/libgraph.la
tests_fuzz_fuzz_onnx_SOURCES = $(FUZZ_ONNX_FILES) $(MUTATE_FILES)
tests_fuzz_fuzz_onnx_LDADD = graph/libgraph.la
check_PROGRAMS += tests/fuzz/model-seeds
tests_fuzz_model_seeds_SOURCES = tests/fuzz/model-seeds.c tests/lib/protobuf-writer.c tests/lib/protobuf-writer.h
tests_fuzz_fuzz_npy_SOURCES = $(FUZZ_NPY_FILES) $(MUTATE_FILES)
tests_fuzz_fuzz_npy_LDADD = format/libnpy.la
tests_fuzz_fuzz_package_SOURCES = $(FUZZ_PACKAGE_FILES) $(MUTATE_FILES)
tests_fuzz_fuzz_package_CFLAGS = $(AM_CFLAGS) $(LIBELF_CFLAGS)
tests_fuzz_fuzz_package_LDADD = $(PACKAGE_READERS)
check_PROGRAMS += tests/fuzz/corrupt
tests_fuzz_corrupt_SOURCES = $(PACKAGE_READER_FILES) tests/fuzz/corrupt.c
tests_fuzz_corrupt_CFLAGS = $(AM_CFLAGS) $(LIBELF_CFLAGS)
tests_fuzz_corrupt_LDADD = $(PACKAGE_READERS)
check_PROGRAMS += tests/runtime/forge
tests_runtime_forge_SOURCES = tests/runtime/forge.c
check_PROGRAMS += tests/fuzz/bombs
tests_fuzz_bombs_SOURCES = tests/fuzz/bombs.c
tests_fuzz_bombs_CFLAGS = $(AM_CFLAGS) $(ZLIB_CFLAGS)
tests_fuzz_bombs_LDADD = $(ZLIB_LIBS)
SHELL_TESTS += tests/fuzz/fuzz.sh tests/fuzz/mutate.sh
QUICK_TESTS += tests/fuzz/fuzz.sh
SLOW_TESTS += tests/fuzz/mutate.sh
EXTRA_DIST += tests/fuzz/fuzz-seeds.sh tests/fuzz

if FUZZING
noinst_PROGRAMS += tests/fuzz/libfuzzer-object tests/fuzz/libfuzzer-archive tests/fuzz/libfuzzer-manifest tests/fuzz/libfuzzer-npy \
	tests/fuzz/libfuzzer-package tests/fuzz/libfuzzer-signature tests/fuzz/libfuzzer-onnx tests/fuzz/libfuzzer-pbtxt tests/fuzz/libfuzzer-rules \
	tests/fuzz/libfuzzer-switches
tests_fuzz_libfuzzer_rules_SOURCES = $(FUZZ_RULES_FILES)
tests_fuzz_libfuzzer_rules_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_libfuzzer_rules_LDADD = src/libcore.la
tests_fuzz_libfuzzer_switches_SOURCES = $(FUZZ_SWITCHES_FILES)
tests_fuzz_libfuzzer_switches_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_libfuzzer_switches_LDADD = src/libcore.la
tests_fuzz_libfuzzer_pbtxt_SOURCES = $(FUZZ_PBTXT_FILES)
tests_fuzz_libfuzzer_pbtxt_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_libfuzzer_pbtxt_LDADD = graph/libgraph.la
tests_fuzz_libfuzzer_onnx_SOURCES = $(FUZZ_ONNX_FILES)
tests_fuzz_libfuzzer_onnx_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_libfuzzer_onnx_LDADD = graph/libgraph.la
tests_fuzz_libfuzzer_object_SOURCES = $(FUZZ_OBJECT_FILES)
tests_fuzz_libfuzzer_object_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_libfuzzer_object_LDADD = linker/liblinker.la
tests_fuzz_libfuzzer_archive_SOURCES = $(FUZZ_ARCHIVE_FILES)
tests_fuzz_libfuzzer_archive_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_libfuzzer_archive_LDADD = linker/liblinker.la
tests_fuzz_libfuzzer_manifest_SOURCES = $(FUZZ_MANIFEST_FILES)
tests_fuzz_libfuzzer_manifest_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_libfuzzer_manifest_LDADD = src/libcore.la
tests_fuzz_libfuzzer_signature_SOURCES = $(FUZZ_SIGNATURE_FILES)
tests_fuzz_libfuzzer_signature_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_libfuzzer_signature_LDADD = src/libcore.la
tests_fuzz_libfuzzer_npy_SOURCES = $(FUZZ_NPY_FILES)
tests_fuzz_libfuzzer_npy_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_libfuzzer_npy_LDADD = format/libnpy.la
tests_fuzz_libfuzzer_package_SOURCES = $(FUZZ_PACKAGE_FILES)
tests_fuzz_libfuzzer_package_CFLAGS = $(AM_CFLAGS) $(LIBELF_CFLAGS)
tests_fuzz_libfuzzer_package_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_libfuzzer_package_LDADD = $(PACKAGE_READERS)

# make fuzz [FUZZ_SECONDS=N]: each target in turn, from its seeds and what earlier runs have found (fuzz-corpus).
FUZZ_SECONDS = 240
fuzz: all
	top_srcdir='$(abs_top_srcdir)' top_builddir='$(abs_top_builddir)' KERNEL_CC='$(KERNEL_CC)' \
		KERNEL_CFLAGS='$(KERNEL_CFLAGS)' $(SHELL) $(top_srcdir)/tests/fuzz/fuzz-run.sh $(FUZZ_SECONDS)
endif
EXTRA_DIST += tests/fuzz/fuzz-run.sh

# Random networks that compute their expected results themselves, in one program with all of sklink and libskrt.
check_PROGRAMS += tests/property/property
tests_property_property_SOURCES = \
	tests/property/network-kernels.c tests/property/network-manifest.c tests/property/network.c tests/property/network.h \
	tests/fuzz/fuzz.c tests/fuzz/fuzz.h tests/lib/match-code.c tests/lib/match-code.h tests/property/plan-mutants.c tests/property/plan-mutants.h \
	tests/property/property.c \
	src/skdump/kernel-symbols.c src/skdump/skdump.h src/skdump/loadable.c \
	src/skdump/package-file.c src/skdump/package-object.c src/skdump/reemit.c
tests_property_property_CFLAGS = $(AM_CFLAGS) $(LIBELF_CFLAGS) -DTOP_SRCDIR='"$(abs_top_srcdir)"' -pthread
tests_property_property_LDADD = src/libcore.la loader/libloader.la $(LIBELF_LIBS) -lpthread -lm
SHELL_TESTS += tests/property/property.sh tests/property/property-long.sh
QUICK_TESTS += tests/property/property.sh
SLOW_TESTS += tests/property/property-long.sh
EXTRA_DIST += tests/property/property-kernels.c tests/property/property-templates.h
CLEAN_FOLDERS += tests/property-failures
CLEANFILES += tests/property/property-kernels.o

# Random graphs of operators; what they compute is compared with definitions.
check_PROGRAMS += tests/property/graphs
tests_property_graphs_SOURCES = \
	tests/property/graph-errors.c tests/property/graph-expansions.c tests/property/graph-reference.c tests/property/graphs.c tests/property/random-flags.c tests/property/random-flags.h tests/property/random-graph.c tests/property/random-graph.h \
	tests/property/random-maker.h tests/property/random-nodes.c tests/property/random-nodes.h tests/property/random-pieces.c tests/property/random-shapes.c \
	tests/lib/model-builder.c tests/lib/model-builder.h tests/lib/random.c tests/lib/random.h
tests_property_graphs_CFLAGS = $(AM_CFLAGS) -pthread
tests_property_graphs_LDADD = src/libcore.la loader/libloader.la format/libnpy.la -lpthread -lm
SHELL_TESTS += tests/property/graphs.sh
SLOW_TESTS += tests/property/graphs.sh
