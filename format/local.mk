# The contracts of linker, runtime, kernels and tools.

# The relocations of each machine, for the linker and for dispatchers.
noinst_LIBRARIES += format/librelocations.a
format_librelocations_a_SOURCES = format/relocation-types.h format/x86_64/relocations.c format/machines.def

# The imports of packages, for the linker, libskrt and skdump.
noinst_LTLIBRARIES += format/libimports.la
format_libimports_la_SOURCES = \
	format/import-row.h format/imports.c format/imports.def \
	format/x86_64/imports.c format/x86_64/imports.def format/machines.def
format_libimports_la_CFLAGS = $(PART_CFLAGS)

# The plan's reader, for libskrt, skrun, sklink, skdump and the verifier; the contracts that are headers.
noinst_LTLIBRARIES += format/libplan.la
format_libplan_la_SOURCES = \
	format/x86_64/isa.c format/x86_64/cpuid.h format/plan/isa.h format/plan/dims.c format/plan/dims-text.c \
	format/plan/dims.h format/plan/ranks.c format/plan/ranks.h \
	format/plan/plan-arguments.c format/plan/plan-call.c format/plan/plan-checker.h format/plan/plan-launch.c \
	format/plan/plan-networks.c format/plan/plan.c format/plan/plan.h \
	format/plan/task-filter.c format/plan/words.c \
	format/x86_64/isa.def \
	format/convention.h format/exchange.h format/skabi.h format/skdims.h format/skguards.h format/skplan.h \
	format/skranks.h format/skrows.h \
	format/skweights.h format/x86_64/registers.h
format_libplan_la_CFLAGS = $(PART_CFLAGS)

# The seal of packages: sklink makes it, libskrt verifies it.
noinst_LTLIBRARIES += format/libseal.la
format_libseal_la_SOURCES = format/seal.c format/seal.h
format_libseal_la_CFLAGS = $(PART_CFLAGS) $(XXHASH_CFLAGS) $(SODIUM_CFLAGS)
format_libseal_la_LIBADD = $(SODIUM_LIBS)

# .npy files: sklink reads constants, skrun reads inputs and writes outputs.
noinst_LIBRARIES += format/libnpy.a
format_libnpy_a_SOURCES = format/npy/literals.c format/npy/npy.c format/npy/npy.h

# Device profiles, for sklink, predictions and the simulated device. The built-in ones are these files as texts in C.
noinst_LTLIBRARIES += format/libprofile.la
format_libprofile_la_SOURCES = format/profile/lines.c format/profile/profile.h format/profile/profile.c base/text.h
format_libprofile_la_CFLAGS = $(PART_CFLAGS)
profilesdir = $(pkgdatadir)/profiles
dist_profiles_DATA = format/profile/a3.profile format/profile/host.profile
$(format_libprofile_la_OBJECTS): format/profile/builtin-profiles.h
format/profile/builtin-profiles.h: $(dist_profiles_DATA)
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)for name in a3 host; do \
		echo "static const char $${name}_profile[] ="; \
		sed 's/[\\"]/\\&/g; s/.*/"&\\n"/; $$s/$$/;/' $(top_srcdir)/format/profile/$$name.profile || exit 1; \
	done >$@.tmp && mv $@.tmp $@
CLEANFILES += format/profile/builtin-profiles.h

include_HEADERS += format/skkernel.h

# Signatures of compiled functions, and conversion of numbers to the bits of a type.
noinst_LIBRARIES += format/libsignature.a
format_libsignature_a_SOURCES = \
	format/signature/attribute.c format/signature/signature.h format/signature/number.c \
	format/signature/signature-attributes.c format/signature/signature-expressions.c \
	format/signature/signature-parts.h format/signature/signature-frames.c \
	format/signature/signature-parser.c \
	format/signature/signature-parts.c format/signature/signature-rules.c \
	format/signature/signature-tensors.c format/signature/signature-tokens.c
