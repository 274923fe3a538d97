# Man pages and documents.
dist_man_MANS += doc/sklink.1
dist_man_MANS += doc/skdump.1 doc/sklink-bisect.1
man_MANS = doc/sk-manifest.5 doc/sk-signatures.5 doc/sk-fusion.5 doc/libskrt.3
CLEANFILES += $(man_MANS)
EXTRA_DIST += doc/manual.awk

make_manual = LC_ALL=C $(AWK) -f $(top_srcdir)/doc/manual.awk -v section=$(subst .,,$(suffix $@))

doc/sk-manifest.5: doc/manifest.md doc/manual.awk
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(make_manual) -v name=sk-manifest -v what='networks of kernels, as sklink reads them' \
		-v also='sk-signatures 5 sk-fusion 5 sklink 1 skrun 1 skdump 1' $(top_srcdir)/doc/manifest.md >$@.tmp && mv $@.tmp $@

doc/sk-signatures.5: doc/signatures.md doc/manual.awk
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(make_manual) -v name=sk-signatures -v what='how sklink calls compiled functions' \
		-v also='sk-manifest 5 sklink 1' $(top_srcdir)/doc/signatures.md >$@.tmp && mv $@.tmp $@

doc/sk-fusion.5: doc/fusion.md doc/manual.awk
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(make_manual) -v name=sk-fusion -v what='how sklink fuses the operators of models' \
		-v also='sk-manifest 5 sklink 1' $(top_srcdir)/doc/fusion.md >$@.tmp && mv $@.tmp $@

doc/libskrt.3: doc/libskrt.md doc/manual.awk
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(make_manual) -v name=libskrt -v what='load and run packages made by sklink' \
		-v also='sklink 1 skrun 1' $(top_srcdir)/doc/libskrt.md >$@.tmp && mv $@.tmp $@

# Documents and samples refer to each other, so they are installed as they lie here.
nobase_dist_doc_DATA += README.md CONTRIBUTING.md LICENSE doc/design.md doc/page.png
nobase_dist_doc_DATA += doc/abi.md doc/fusion.md doc/kernels.md doc/libskrt.md doc/manifest.md doc/models.md \
	doc/operators.md doc/signatures.md doc/python.md doc/building.md doc/skdump-json.md
nobase_dist_doc_DATA += doc/reference/glossary.md
nobase_dist_doc_DATA += doc/explain/simulation.md
nobase_dist_doc_DATA += doc/internals/dispatcher.md doc/internals/graph.md doc/internals/linker.md \
	doc/internals/package.md doc/internals/planner.md doc/internals/runtime.md
