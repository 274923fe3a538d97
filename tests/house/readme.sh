#!/bin/bash
# The commands of the samples' READMEs, as they stand there, in a build directory beside the sources.
set -eu
. "$top_srcdir/tests/lib/lib.sh"

# A build directory with the files that the commands name, so that their outputs do not go to the real one.
mkdir -p tree/build && ln -s "$top_srcdir/samples" "$top_srcdir/format" tree
for name in sklink skrun skdump samples kernels .libs; do
	[ ! -e "$top_builddir/$name" ] || ln -s "$top_builddir/$name" tree/build
done
cd tree/build
export src=..

# Return whether the command can run here: Python, C++ and Debian's archives may be missing, and a sanitizer's runtime
# would have to be in the interpreter.
can_run() {
	case $1 in
	python3*) command -v python3 >/dev/null && [ -e .libs/libskrt.so ] && ! nm -D .libs/libskrt.so |
		grep -q '__[at]san_' ;;
	*run-cc*) [ -x samples/composite/run-cc ] ;;
	*) true ;;
	esac
}

run() {
	can_run "$1" || { echo "left out: $1"; return 0; }
	bash -c "set -e; $1" >out.txt 2>&1 || { cat out.txt >&2; fail "samples/$document/README.md: $1"; }
	count=$((count + 1))
}

# Blocks of commands: indented lines, with lines continued by a backslash.
for document in bert composite decode_layers foreign; do
	count=0
	if [ $document = foreign ] && ! [ -e /usr/lib/x86_64-linux-gnu/blas/libblas.a -a -e \
		/usr/lib/x86_64-linux-gnu/openblas-pthread/libblas.a ]; then
		echo "left out: foreign (libblas-dev and libopenblas-pthread-dev)"
		continue
	fi
	if [ $document = bert ] && ! /usr/bin/python3 -c 'import onnx' 2>/dev/null; then
		echo "left out: bert (python3-onnx)"
		continue
	fi
	while read -r line; do
		case $line in
		make) ;; # has been done
		'$src/'* | ./* | samples/* | python3* | cc* | lib=*) run "$line" ;;
		esac
		case $line in lib=*) export "$line" ;; esac
	done < <(grep '^    ' "$top_srcdir/samples/$document/README.md" | sed -e ':a' -e '/\\$/{N;s/\\\n */ /;ba}')
	[ "$count" -ge 4 ] || fail "only $count commands of samples/$document/README.md have been found"
done

# Programs without arguments print their usage.
for program in samples/composite/run samples/composite/run-cc samples/composite/serial samples/*/reference \
	"../samples/decode_layers/generate" "python3 ../samples/composite/run.py"; do
	can_run "$program" || continue
	status=0
	$program >out.txt 2>&1 || status=$?
	[ $status = 1 ] && grep -q '^usage: ' out.txt || { cat out.txt >&2;
		fail "$program does not say how it is used"; }
done

# An invalid number of layers does not give an endless manifest.
for numbers in x 0 -1 '3 x' '1 0'; do
	fails_with '^usage: generate LAYERS' timeout 60 "$top_srcdir/samples/decode_layers/generate" $numbers
done
