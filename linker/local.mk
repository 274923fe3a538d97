# The linker: objects and archives in, one ET_DYN image out.
noinst_LIBRARIES += linker/liblinker.a
linker_liblinker_a_SOURCES = \
	linker/addresses.c \
	linker/ahead.c \
	linker/aliases.c \
	linker/architecture.c linker/linker-parts.h \
	linker/archive.c \
	linker/collect.c \
	linker/constructors.c linker/copies.c \
	linker/cref.c \
	linker/debug.c \
	linker/demangle.c \
	linker/debug-write.c \
	linker/duplicates.c \
	linker/dynamic.c \
	linker/exports.c linker/output.h \
	linker/finalizer.c \
	linker/frames.c \
	linker/frames-write.c \
	linker/icf.c \
	linker/build-id.c \
	linker/image.c \
	linker/ifuncs.c \
	linker/imports.c \
	linker/input.c \
	linker/kernels.c \
	linker/functions.c \
	linker/labels.c \
	linker/landmarks.c \
	linker/layout.c linker/outputs.c linker/segments.c \
	linker/linker.c linker/linker.h \
	linker/load.c \
	linker/merge.c \
	linker/notes.c \
	linker/object.c linker/object.h \
	linker/ordering.c \
	linker/parts.c \
	linker/ranges.c \
	linker/read.c \
	linker/reach.c \
	linker/refine.c \
	linker/relocatable.c \
	linker/relocatable-emit.c \
	linker/relocate.c \
	linker/resolve.c \
	linker/texts.c \
	linker/scan.c \
	linker/section.c \
	linker/thread-storage.c \
	linker/significance.c \
	linker/state.c \
	linker/statistics.c \
	linker/synthetic.c \
	linker/symbols.c \
	linker/target.c \
	linker/panics.c linker/traps.c \
	linker/undefined.c \
	linker/version-script.c linker/versioned.c \
	linker/why-live.c \
	linker/write.c \
	linker/x86_64.c \
	format/import-row.h format/machines.def
linker_liblinker_a_CFLAGS = $(AM_CFLAGS) $(XXHASH_CFLAGS) $(ZLIB_CFLAGS) -pthread
