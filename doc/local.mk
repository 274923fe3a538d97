# Man pages and documents.
dist_man_MANS += doc/sklink.1
EXTRA_DIST += doc/design.md
EXTRA_DIST += doc/manifest.md
EXTRA_DIST += doc/simulation.md
dist_man_MANS += doc/skdump.1
