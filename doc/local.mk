# Man pages and documents.
dist_man_MANS += doc/sklink.1
dist_man_MANS += doc/skdump.1
man_MANS = doc/sk-manifest.5
CLEANFILES += doc/sk-manifest.5
EXTRA_DIST += doc/manual.awk

doc/sk-manifest.5: doc/manifest.md doc/manual.awk
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)LC_ALL=C $(AWK) -f $(top_srcdir)/doc/manual.awk -v name=sk-manifest -v section=5 \
		-v what='manifests and signatures of kernels, which sklink reads' -v also='sklink 1 skrun 1 skdump 1' \
		$(top_srcdir)/doc/manifest.md >$@.tmp && mv $@.tmp $@

# Documents and samples refer to each other, so they are installed as they lie here.
nobase_dist_doc_DATA += README.md CONTRIBUTING.md LICENSE \
	doc/abi.md doc/design.md doc/kernels.md doc/manifest.md doc/simulation.md
