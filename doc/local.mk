# Man pages and documents.
dist_man_MANS += doc/reference/sklink.1 doc/reference/skdump.1 doc/reference/sklink-bisect.1
man_MANS = doc/sk-manifest.5 doc/sk-scope-options.5 doc/sk-signatures.5 doc/skdump-json.5 doc/libskrt.3 doc/sk-reasons.7
man_MANS += doc/sk-fusion-flags.5 doc/sk-passes.5 doc/sk-rules.5 doc/sk-dumps.5 doc/sk-models.5 doc/sk-operators.5
CLEANFILES += $(man_MANS)
EXTRA_DIST += doc/manual.awk doc/timeline.py

# The first line of such a document gives the page's name, section, date and purpose.
doc/sk-manifest.5: doc/reference/manifest.md
doc/sk-scope-options.5: doc/reference/scope-options.md
doc/sk-reasons.7: doc/reference/reason-codes.md
doc/sk-signatures.5: doc/reference/signatures.md
doc/skdump-json.5: doc/reference/skdump-json.md
doc/sk-fusion-flags.5: doc/reference/fusion-flags.md
doc/sk-passes.5: doc/reference/passes.md
doc/sk-rules.5: doc/reference/rules.md
doc/sk-dumps.5: doc/reference/dumps.md
doc/sk-models.5: doc/reference/models.md
doc/sk-operators.5: doc/reference/operators.md
doc/libskrt.3: doc/reference/libskrt.md
$(man_MANS): doc/manual.awk
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)LC_ALL=C $(AWK) -f $(top_srcdir)/doc/manual.awk $(filter %.md,$^) >$@.tmp && mv $@.tmp $@

# Documents and samples refer to each other, so they are installed as they lie here.
nobase_dist_doc_DATA += README.md CONTRIBUTING.md LICENSE doc/design.md doc/page.png doc/before-after.svg
nobase_dist_doc_DATA += doc/reference/fusion-flags.md doc/reference/passes.md doc/reference/rules.md \
	doc/reference/dumps.md doc/reference/models.md doc/reference/operators.md
nobase_dist_doc_DATA += doc/reference/compat.md doc/reference/kernel-library.md doc/reference/libskrt.md \
	doc/reference/manifest.md \
	doc/reference/superkernel-features.md \
	doc/reference/python.md doc/reference/reason-codes.md doc/reference/scope-options.md \
	doc/reference/signatures.md \
	doc/reference/skdump-json.md doc/reference/mindspore.md doc/reference/torchair.md
nobase_dist_doc_DATA += doc/reference/glossary.md
nobase_dist_doc_DATA += doc/tutorial/first-package.md doc/tutorial/from-a-model.md doc/tutorial/in-your-program.md \
	doc/tutorial/own-kernel.md
nobase_dist_doc_DATA += doc/howto/build-systems.md doc/howto/debug-a-wrong-result.md doc/howto/decoder-state.md \
	doc/howto/ge-dumps.md doc/howto/kernels-of-libraries.md doc/howto/mindspore-flags.md \
	doc/howto/any-size.md doc/howto/profile-and-predict.md doc/howto/several-machines.md \
	doc/howto/several-sizes.md doc/howto/torchair-rules.md \
	doc/howto/weights-and-signing.md
nobase_dist_doc_DATA += doc/howto/compilers/cython.md doc/howto/compilers/fortran.md doc/howto/compilers/halide.md \
	doc/howto/compilers/inductor.md doc/howto/compilers/iree.md doc/howto/compilers/numba.md \
	doc/howto/compilers/rust.md \
	doc/howto/compilers/several.md doc/howto/compilers/tinygrad.md doc/howto/compilers/tvm.md \
	doc/howto/compilers/xla.md doc/howto/compilers/zig.md doc/howto/compilers/zstd.md
nobase_dist_doc_DATA += doc/explain/performance.md
nobase_dist_doc_DATA += doc/explain/fusion-and-tiles.md doc/explain/proof.md doc/explain/simulation.md \
	doc/explain/why-superkernels.md
nobase_dist_doc_DATA += doc/internals/decisions.md doc/internals/dispatcher.md doc/internals/folding.md \
	doc/internals/graph.md doc/internals/linker.md doc/internals/package.md doc/internals/package-format.md \
	doc/internals/planner.md doc/internals/runtime.md doc/internals/testing.md
