# Debian's packages for tests: `. "$top_srcdir/tests/lib/packages.sh"`. They are downloaded once into the build
# directory and unpacked there, not installed; `make clean` removes them.
packages=$top_builddir/tests/packages

# get_package NAME: $packages/NAME holds its files. False where it cannot be had. Tests that run at the same time take
# turns.
get_package() {
	mkdir -p "$packages"
	(flock 9 && fetch_package "$1") 9>"$packages/lock"
}

fetch_package() {
	[ ! -d "$packages/$1" ] || return 0
	command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || return 1
	[ "$(dpkg --print-architecture)" = amd64 ] || return 1
	mkdir -p "$packages/download-$1"
	(cd "$packages/download-$1" && apt-get -qq download "$1:amd64" && dpkg-deb -x ./*.deb files) >&2 || {
		rm -rf "$packages/download-$1"
		return 1
	}
	mv "$packages/download-$1/files" "$packages/$1"
	rm -rf "$packages/download-$1"
}
