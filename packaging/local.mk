# Files for other build systems to link packages, and the rules for sklink's Debian packages.
#
# CMake finds the programs and libskrt relative to its own file, so that an installed tree can be moved.
cmakedir = $(libdir)/cmake/sklink
cmake_DATA = packaging/cmake/sklink-config.cmake packaging/cmake/sklink-config-version.cmake
from_cmake = realpath -ms --relative-to=$(cmakedir)

packaging/cmake/%.cmake: packaging/cmake/%.cmake.in Makefile
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)sed -e 's,@version@,$(VERSION),' -e "s,@relative_bindir@,`$(from_cmake) $(bindir)`," \
		-e "s,@relative_libdir@,`$(from_cmake) $(libdir)`," \
		-e "s,@relative_includedir@,`$(from_cmake) $(includedir)`," \
		$< >$@.tmp && mv $@.tmp $@
CLEANFILES += $(cmake_DATA)
EXTRA_DIST += packaging/cmake/sklink-config.cmake.in packaging/cmake/sklink-config-version.cmake.in

dist_pkgdata_DATA += packaging/sklink.mk
pkgmesondir = $(pkgdatadir)/meson
dist_pkgmeson_DATA = packaging/meson/meson.build
pkgconfig_DATA += packaging/sklink.pc

# Folders in files for pkg-config begin with their prefix, so that an installed tree can be moved. `make install
# prefix=FOLDER` installs them for that prefix; those in the build directory stay as they are.
below_prefix = $(1:$(prefix)/%=$${prefix}/%)
from_prefix = sed -e 's,[@]prefix@,$(prefix),' -e 's,@version@,$(VERSION),' -e 's,[@]SODIUM_LIBS@,$(SODIUM_LIBS),' \
	-e 's,[@]libdir@,$(call below_prefix,$(libdir)),' -e 's,[@]includedir@,$(call below_prefix,$(includedir)),' \
	-e 's,[@]bindir@,$(call below_prefix,$(bindir)),' -e 's,[@]pkgdatadir@,$(call below_prefix,$(pkgdatadir)),'
%.pc: %.pc.in Makefile
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(from_prefix) $< >$@.tmp && mv $@.tmp $@
CLEANFILES += $(pkgconfig_DATA)
EXTRA_DIST += $(pkgconfig_DATA:=.in)
install-pkgconfig: install-pkgconfigDATA
	@for file in $(pkgconfig_DATA); do \
		$(from_prefix) "$(srcdir)/$$file.in" >"$(DESTDIR)$(pkgconfigdir)/$${file##*/}" || exit; done
install-data-hook: install-pkgconfig
.PHONY: install-pkgconfig

# make deb: packages for Debian in deb/, from the files of a release, in a separate build, but with this build's
# kernels, which are the same. Options for Debian's tools are in the environment, as always (DEB_BUILD_OPTIONS).
EXTRA_DIST += packaging/debian
deb_folder = $(abs_builddir)/deb
deb_kernels = $(abs_builddir)/kernels/libskernels.a
deb_source = $(deb_folder)/sklink-$(VERSION)
$(abs_builddir)/kernels/libskernels.a: kernels/libskernels.a

deb_profiles =
if HAVE_MPICH
deb_profiles += pkg.sklink.mpich
endif
if HAVE_OPENMPI
deb_profiles += pkg.sklink.openmpi
endif

# Packages of transports are those of the MPIs that configure has found.
deb: $(deb_kernels)
	@command -v dh_python3 >/dev/null || { echo 'make deb needs debhelper and dh-python' >&2; exit 1; }
	rm -rf $(deb_source) $(deb_folder)/*.deb $(deb_folder)/*.changes $(deb_folder)/*.buildinfo
	$(MKDIR_P) $(deb_folder)
	$(MAKE) $(AM_MAKEFLAGS) distdir distdir=$(deb_source)
	mv $(deb_source)/packaging/debian $(deb_source)/debian
	@test "`cd $(deb_source) && dpkg-parsechangelog -S Version`" = $(VERSION)-1 || \
		{ echo 'packaging/debian/changelog is not of version $(VERSION)' >&2; exit 1; }
	cd $(deb_source) && env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL SKERNELS=$(deb_kernels) \
		DEB_BUILD_PROFILES='$(strip $(deb_profiles) $(DEB_BUILD_PROFILES))' dpkg-buildpackage -b -us -uc
	rm -rf $(deb_source)
.PHONY: deb
CLEAN_FOLDERS += deb
