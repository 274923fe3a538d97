# The page of skdump --html: plain HTML, CSS and JavaScript, which are part of skdump. Scripts in the order in which
# they need each other.
page_styles = $(top_srcdir)/page/page.css
page_scripts = \
	$(top_srcdir)/page/model.js \
	$(top_srcdir)/page/elements.js \
	$(top_srcdir)/page/sizes.js \
	$(top_srcdir)/page/canvas.js \
	$(top_srcdir)/page/colours.js \
	$(top_srcdir)/page/graph.js \
	$(top_srcdir)/page/schedule.js \
	$(top_srcdir)/page/memory.js \
	$(top_srcdir)/page/overview.js \
	$(top_srcdir)/page/main.js

page/parts.c: $(top_srcdir)/page/page.html $(top_srcdir)/page/embed.awk $(page_styles) $(page_scripts)
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)LC_ALL=C $(AWK) -f $(top_srcdir)/page/embed.awk -v styles='$(page_styles)' \
		-v scripts='$(page_scripts)' $(top_srcdir)/page/page.html >$@.tmp && mv $@.tmp $@
CLEANFILES += page/parts.c
EXTRA_DIST += page/picture.sh page/page.html page/page.css page/embed.awk page/model.js page/elements.js \
	page/canvas.js page/colours.js page/graph.js page/schedule.js page/memory.js page/overview.js page/sizes.js \
	page/main.js
