#!/bin/bash
# samples/building with CMake, Meson and make, against an installed sklink: the first build, one with nothing to do, and
# one after a change of each thing that a package is made of. Each build makes only the outputs that have to be made
# again, and the program prints the sources' result.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
unset MAKEFLAGS MFLAGS MAKELEVEL CC CFLAGS LDFLAGS DESTDIR
if nm -D "$top_builddir/.libs/libskrt.so" | grep -q '__[at]san_'; then
	echo "skipped: programs would have to be sanitized, too"
	exit 77
fi
prefix=$dir/inst
make -s -C "$top_builddir" install DESTDIR= prefix="$prefix" >install.txt 2>&1 || { tail -n 30 install.txt >&2;
	fail "make install"; }
sed -i "s,^prefix=.*,prefix=$prefix," "$prefix"/lib/pkgconfig/*.pc # as if configured so
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig LD_LIBRARY_PATH=$prefix/lib
documents=$prefix/share/doc/sklink

# The how-to shows lines of the sample.
sed 's/^ *//; /^$/d' "$documents"/samples/building/{CMakeLists.txt,meson.build,Makefile} >sample.txt
sed -n '/^## CMake/,/^## Debian/p' "$documents/doc/howto/build-systems.md" | sed -n 's/^    *\([^ ].*\)/\1/p' >shown.txt
[ "$(wc -l <shown.txt)" -gt 13 ] || fail "the how-to shows nothing of build systems"
! grep -vxFf sample.txt shown.txt | grep -vE '^cp -r|^\$<TARGET' >&2 ||
	fail "the how-to shows this, and samples/building has it not"

# npy FILE NUMBER…: an array of floats; each number is four bytes, in octal.
npy() {
	file=$1
	shift
	{
		printf '\223NUMPY\001\000v\000%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': ($#,), }"
		printf "$(printf '\\000\\000\\%s\\%s' ${*//,/ })"
	} >"$file"
}
one=200,077 two=000,100 three=100,100 # the upper bytes of 1.0, 2.0 and 3.0
npy x.npy 000,000 $one $two $three

# expect FACTOR ADDED BIAS POWER: the network of the sources as they are now, for x = 0 to 3.
expect() {
	for x in 0 1 2 3; do
		echo $((($1 * x + $2 + $3) ** $4))
	done | paste -sd' '
}

packages="network.sk.o file.sk model.sk"

# stamps: when each package was made.
stamps() {
	for package in $packages; do
		stat -c "$package %y" "$made_in/$package"
	done
}

# run COMMAND…: must succeed.
run() {
	"$@" >said.txt 2>&1 || { cat said.txt >&2; fail "$system: $*"; }
}

# nothing_to_do: the build system says so.
nothing_to_do() {
	run build
	grep -qE "^ninja: no work to do|^make: Nothing to be done for 'all'" said.txt ||
		[ "$system" = 'Unix Makefiles' ] ||
		{ cat said.txt >&2; fail "$system: $1: a second build makes something"; }
	if [ "$system" = 'Unix Makefiles' ] && grep -E '(Building|Linking) ' said.txt >&2; then
		fail "$system: $1: a second build makes something"
	fi
}

# changed WHAT PACKAGES RESULT: a build after the change makes these packages alone, and the program prints the result.
changed() {
	stamps >before.txt
	run build
	stamps >after.txt
	made=$(diff before.txt after.txt | sed -n 's/^> \([^ ]*\) .*/\1/p' | paste -sd' ')
	[ "$made" = "$2" ] || { cat said.txt >&2;
		fail "$system: after a change of $1 what was made is '$made', not '$2'"; }
	nothing_to_do "$1"
	[ "$("$where/main")" = "$3" ] || fail "$system: after a change of $1 main prints $("$where/main"), not $3"
}

# value PACKAGE: y for x = 0 to 3.
value() {
	"$prefix/bin/skrun" "$made_in/$1" --input x=x.npy --output y=y.npy >said.txt || { cat said.txt >&2;
		fail "$system: $1"; }
	tail -c 16 y.npy | od -An -tfF | xargs
}

# tried SYSTEM FOLDER [FOLDER]: build makes the program in the first one, and packages there, or in the other one.
tried() {
	system=$1 where=$project/$2 made_in=$project/${3-$2} both="network.sk.o file.sk"
	run build
	[ "$("$where/main")" = "$(expect 2 0 1 2)" ] || fail "$system: main prints $("$where/main")"
	[ "$(value file.sk)" = "$(expect 2 0 1 2)" ] || fail "$system: file.sk computes $(value file.sk)"
	[ "$("$prefix/bin/skdump" --launches "$made_in/model.sk" | grep -c sk_)" = 1 ] || fail "$system: model.sk"
	nothing_to_do "a first build"

	sed -i 's/x\[i\] \* factor/& + 2/' "$project/scale.c"
	changed "a kernel" "$both" "$(expect 2 2 1 2)"
	sed -i 's/factor: 2/factor: 3/' "$project/network.yaml"
	changed "the manifest" "$both" "$(expect 3 2 1 2)"
	sed -i 's/x\[i\] \* x\[i\]/& * x[i]/' "$project/square.c"
	changed "a member of an archive" "$both" "$(expect 3 2 1 3)"
	npy "$project/bias.npy" $two $two $two $two
	changed "a constant" "$both" "$(expect 3 2 2 3)"
	echo '/* The end. */' >>"$project/main.c"
	changed "the program" "" "$(expect 3 2 2 3)"
	sed -i 's/float_data: 2/float_data: 4/' "$project/../composite/composite.pbtxt"
	changed "the model" model.sk "$(expect 3 2 2 3)"
	touch "$prefix/lib/libskernels.a"
	changed "the library of kernels" model.sk "$(expect 3 2 2 3)"
	touch "$prefix/bin/sklink"
	changed sklink "$packages" "$(expect 3 2 2 3)"
	[ "$(value file.sk)" = "$(expect 3 2 2 3)" ] || fail "$system: file.sk computes $(value file.sk)"

	# A package that cannot be linked stops the build with sklink's message, and the old one does not count as up to
	# date any more.
	sed -i 's/kernel: add_f32/kernel: ad_f32/' "$project/network.yaml"
	if build >said.txt 2>&1; then
		fail "$system: a manifest with an error"
	fi
	grep -q "network.yaml:11:.*did you mean 'add_f32'" said.txt || { cat said.txt >&2;
		fail "$system: another error"; }
	sed -i 's/kernel: ad_f32/kernel: add_f32/' "$project/network.yaml"
	changed "an error" "$both" "$(expect 3 2 2 3)"
	tried="${tried-}$system, "
}

# project FOLDER: a fresh copy of the sample, as it is installed.
project() {
	mkdir "$dir/$1"
	cp -r "$documents/samples/building" "$documents/samples/composite" "$dir/$1"
	project=$dir/$1/building
}

# from_elsewhere: CMake without C, a generated manifest, and a program of another folder; and errors in calls of
# sklink_add_package.
from_elsewhere() {
	system=CMake
	mkdir -p elsewhere/package elsewhere/program
	cp "$project/main.c" elsewhere/program/main.cc
	sed -i 's/_Alignas/alignas/; 1i #include "loaded.h"' elsewhere/program/main.cc
	cp "$project/bias.npy" elsewhere
	cp "$project/network.yaml" elsewhere/package/network.yaml.in
	$KERNEL_CC -O2 -fPIC -I"$prefix/include" -c "$project/scale.c" -o elsewhere/package/scale.o
	for name in add square; do
		$KERNEL_CC -O2 -fPIC -I"$prefix/include" -c "$project/$name.c" -o $name.o
	done
	ar rcs elsewhere/libmore.a add.o square.o
	cat >elsewhere/CMakeLists.txt <<-'C'
	cmake_minimum_required(VERSION 3.20)
	project(elsewhere CXX)
	find_package(sklink 0.1 REQUIRED)
	add_subdirectory(program)
	add_subdirectory(package)
	C
	cat >elsewhere/package/CMakeLists.txt <<-'C'
	add_custom_command(OUTPUT network.yaml DEPENDS network.yaml.in
	  COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_CURRENT_SOURCE_DIR}/network.yaml.in network.yaml)
	add_custom_target(constants COMMAND ${CMAKE_COMMAND} -E copy_if_different ${CMAKE_SOURCE_DIR}/bias.npy bias.npy)
	sklink_add_package(network MANIFEST network.yaml OBJECTS scale.o LIBRARIES more DEPENDS constants EMBED HEADER
	  OPTIONS $<$<CONFIG:Debug>:--unknown> -L ${CMAKE_SOURCE_DIR} --report=$<TARGET_PROPERTY:network,NAME>.json)
	sklink_add_package(loaded MANIFEST network.yaml OBJECTS scale.o LIBRARIES ${CMAKE_SOURCE_DIR}/libmore.a DEPENDS constants HEADER)
	C
	cat >elsewhere/program/CMakeLists.txt <<-'C'
	add_executable(main main.cc)
	target_link_libraries(main PRIVATE network loaded sklink::skrt)
	install(FILES $<TARGET_PROPERTY:network,SKLINK_PACKAGE> $<TARGET_PROPERTY:loaded,SKLINK_PACKAGE> DESTINATION lib)
	C
	run cmake -S elsewhere -B elsewhere/build -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release
	run cmake --build elsewhere/build
	[ "$(elsewhere/build/program/main)" = "$(expect 3 2 2 3)" ] ||
		fail "CMake: a program elsewhere prints $(elsewhere/build/program/main)"
	run cmake --install elsewhere/build --prefix "$dir/elsewhere/root"
	[ -s elsewhere/root/lib/network.sk.o ] && [ -s elsewhere/root/lib/loaded.sk ] &&
		[ -s elsewhere/build/package/network.json ] || fail "CMake: files of a package elsewhere"
	ar d elsewhere/libmore.a add.o # the archive is found by -l
	! cmake --build elsewhere/build >said.txt 2>&1 && grep -q "unknown kernel 'add_f32'" said.txt || {
		cat said.txt >&2; fail "CMake: a change of a library"; }

	while IFS='|' read -r words error; do
		mkdir -p wrong
		printf '%s\n' 'cmake_minimum_required(VERSION 3.20)' 'project(wrong NONE)' \
			'find_package(sklink 0.1 REQUIRED)' "$words" >wrong/CMakeLists.txt
		! cmake -S wrong -B wrong/build -DCMAKE_PREFIX_PATH="$prefix" >said.txt 2>&1 &&
			tr -s '\n ' ' ' <said.txt | grep -q "$error" ||
			{ cat said.txt >&2; fail "CMake: $words"; }
	done <<-'E'
	sklink_add_package(net)|(net): say either MANIFEST or MODEL
	sklink_add_package(net MANIFEST a.yaml MODEL b.onnx)|(net): say either MANIFEST or MODEL
	sklink_add_package(net MANIFEST a.yaml OBJEKTS a.o)|(net): unknown: OBJEKTS;a.o
	sklink_add_package(net MANIFEST a.yaml OBJECTS sklink::skrt)|sklink::skrt is not an object library
	find_package(sklink 0.2 REQUIRED)|version: 0.1.0
	find_package(sklink 0.0.9 REQUIRED)|version: 0.1.0
	E
}

if command -v cmake >/dev/null; then
	for generator in Ninja 'Unix Makefiles'; do
		[ "$generator" != Ninja ] || command -v ninja >/dev/null || { echo "left out: Ninja"; continue; }
		project "cmake-${generator%% *}"
		system=$generator
		run cmake -S "$project" -B "$project/build" -G "$generator" -DCMAKE_PREFIX_PATH="$prefix"
		build() { cmake --build "$project/build"; }
		tried "$generator" build
	done
	from_elsewhere
else
	echo "left out: CMake"
fi

if command -v meson >/dev/null && command -v ninja >/dev/null; then
	project meson
	system=Meson
	cp -r "$(pkg-config --variable=meson sklink)" "$project/sklink"
	run meson setup "$project/build" "$project"
	build() { ninja -C "$project/build"; }
	tried Meson build build/sklink
else
	echo "left out: Meson"
fi

project make
build() { make -C "$project" --no-print-directory; }
tried make .
echo "tried: ${tried%, }"
