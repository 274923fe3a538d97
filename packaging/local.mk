# What other build systems include to link packages, and what makes Debian's packages of sklink.
#
# CMake finds the programs and libskrt from where its file lies, so that an installed tree can be moved.
cmakedir = $(libdir)/cmake/sklink
cmake_DATA = packaging/cmake/sklink-config.cmake packaging/cmake/sklink-config-version.cmake
from_cmake = realpath -ms --relative-to=$(cmakedir)

packaging/cmake/%.cmake: packaging/cmake/%.cmake.in Makefile
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)sed -e 's,@version@,$(VERSION),' -e "s,@relative_bindir@,`$(from_cmake) $(bindir)`," \
		-e "s,@relative_libdir@,`$(from_cmake) $(libdir)`," -e "s,@relative_includedir@,`$(from_cmake) $(includedir)`," \
		$< >$@.tmp && mv $@.tmp $@
CLEANFILES += $(cmake_DATA)
EXTRA_DIST += packaging/cmake/sklink-config.cmake.in packaging/cmake/sklink-config-version.cmake.in

dist_pkgdata_DATA += packaging/sklink.mk
pkgmesondir = $(pkgdatadir)/meson
dist_pkgmeson_DATA = packaging/meson/meson.build
pkgconfig_DATA += packaging/sklink.pc
