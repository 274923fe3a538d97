#!/bin/bash
# The pages for newcomers: README.md, doc/tutorial/ and doc/howto/. An installed sklink runs the commands of each page,
# as they stand there, in a folder of the page's own. Their output is compared with the lines that the page shows.
#
# In a fenced block, "$ " begins a command, which goes on in the next line after a backslash. The lines after it are its
# output, in which "..." stands for any lines. In a block "measured", numbers with a point or a unit, units of time,
# addresses and blanks may differ. A command may fail only if the page shows its error. A block with the name of a file
# in its fence ("```yaml first.yaml") is the text of that file.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
unset MAKEFLAGS MFLAGS MAKELEVEL DESTDIR CC CFLAGS

prefix=$dir/inst
make -s -C "$top_builddir" install DESTDIR= prefix="$prefix" >install.txt 2>&1 ||
	{ tail -n 30 install.txt >&2; fail "make install"; }
[ ! -x /usr/bin/python3 ] || ln -s /usr/bin/python3 "$prefix/bin/python3"

# installed COMMAND: with the installed sklink.
installed() {
	env PATH="$prefix/bin:$PATH" PKG_CONFIG_PATH="$prefix/lib/pkgconfig" LD_LIBRARY_PATH="$prefix/lib" \
		CPATH="$prefix/include" LIBRARY_PATH="$prefix/lib" \
			PYTHONPATH="$(echo "$prefix"/lib/python3*/*-packages)" \
		SKLINK_LIBRARY="$prefix/lib/libskrt.so.0" SKLINK_PROGRAM="$prefix/bin/sklink" bash -c "set -e; $1"
}

# normal KIND: the text without parts that differ from run to run.
normal() {
	if [ "$1" = measured ]; then
		sed -E -e 's/[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)? ?((ns|us|µs|ms|s|MiB)\b|%)/N/g' \
			-e 's/[0-9]+\.[0-9]+(e[-+]?[0-9]+)?|0x[0-9a-f]+/N/g; s/\b(ns|us|µs|ms)\b/U/g' \
			-e 's/[ \t]+/ /g; s/ $//'
	else
		sed -E 's/[ \t]+$//'
	fi
}

# compare: the page's output of the last command, in expected.txt, with the real one.
compare() {
	[ -n "$command" ] || return 0
	[ "$status" = 0 ] || grep -q 'error:' expected.txt || { cat out.txt >&2; fail "$page: $command"; }
	[ -s expected.txt ] || return 0
	local line rest segment= anywhere=no

	rest=$(normal "$kind" <out.txt)$'\n'
	while IFS= read -r line; do
		if [ "$line" != ... ]; then
			segment+=$line$'\n'
			continue
		fi
		take
		anywhere=yes segment=
	done < <(sed -e :a -e '/^\n*$/{$d;N;ba}' expected.txt | normal "$kind")
	if [ "$anywhere" = yes ] && [ -n "$segment" ]; then
		[[ $rest == *"$segment" ]] || differs
	elif [ "$anywhere" = no ]; then
		[ "$rest" = "$segment" ] || differs
	fi
	compared=$((compared + 1))
}

# take: the next lines of the output up to the end of the segment.
take() {
	if [ "$anywhere" = yes ]; then
		[[ $rest == *"$segment"* ]] || differs
		rest=${rest#*"$segment"}
	else
		[[ $rest == "$segment"* ]] || differs
		rest=${rest#"$segment"}
	fi
}

differs() {
	diff <(normal "$kind" <expected.txt) <(normal "$kind" <out.txt) >&2 || :
	fail "$page shows (<) something else than '$command' prints (>)"
}

# follow PAGE: runs and compares.
follow() {
	local inside=no line indent kind= file= command= status=0 count=0 compared=0 begun=no
	page=$1
	mkdir -p "$dir/pages/$page" && cd "$dir/pages/$page"
	ln -s "$prefix/share/doc/sklink/samples" .
	: >expected.txt
	while IFS= read -r line; do
		[ "$inside" = yes ] || indent=${line%%[! ]*} # of a block in a list
		line=${line#"$indent"}
		case $inside$line in
		no'```'*)
			inside=yes command= begun=no
			read -r _ kind <<<"${line#'```'} "
			file=
			case $kind in *.* | Makefile) file=$kind && : >"$file" ;; esac
			;;
		yes'```')
			compare
			inside=no command=
			;;
		yes*)
			if [ -n "$file" ]; then
				printf '%s\n' "$line" >>"$file"
			elif [[ $begun = yes ]]; then
				command+=$'\n'$line
				[[ $line == *\\ ]] || execute
			elif [[ $line == '$ '* ]]; then
				compare
				command=${line#'$ '} begun=yes
				[[ $line == *\\ ]] || execute
			else
				printf '%s\n' "$line" >>expected.txt
			fi
			;;
		esac
	done <"$top_srcdir/$page"
	[ "$count" -ge 3 ] && [ "$compared" -ge 2 ] ||
		fail "only $count commands and $compared outputs in $page have been found"
	cd "$dir"
}

execute() {
	status=0
	installed "$command" </dev/null >out.txt 2>&1 || status=$?
	: >expected.txt
	begun=no count=$((count + 1))
}

# lacks PAGE: something that the page needs and that is not here.
lacks() {
	local text

	text=$(<"$top_srcdir/$1")
	case $text in *"from onnx"* | *samples/bert/bert.py* | *samples/decoder/decoder.py*)
		/usr/bin/python3 -c 'import onnx' 2>/dev/null || echo python3-onnx ;;
	esac
	case $text in *"import numpy, sklink"* | *"--libs libskrt"*)
		! nm -D "$top_builddir/.libs/libskrt.so" | grep -q '__[at]san_' ||
			echo "a libskrt without a sanitizer" ;;
	esac
	case $text in *openssl*)
		command -v openssl >openssl.txt && grep -q '^#define HAVE_SODIUM 1' "$top_builddir/config.h" ||
			echo "openssl and libsodium" ;;
	esac
	case $text in *libz.a*)
		[ -e /usr/lib/x86_64-linux-gnu/libz.a ] || echo zlib1g-dev ;;
	esac
}

cd "$top_srcdir"
pages=$(ls README.md doc/tutorial/*.md doc/howto/*.md)
cd "$dir"
for page in $pages; do
	[ "$page" != doc/howto/build-systems.md ] || continue # tests/packaging/build-systems.sh
	missing=$(lacks "$page")
	if [ -n "$missing" ]; then
		echo "left out: $page, which needs" $missing
	else
		follow "$page"
	fi
done

# README.md's picture can be drawn again.
if [ -x /usr/bin/python3 ]; then
	/usr/bin/python3 "$top_srcdir/doc/timeline.py" "$top_builddir" picture.svg
	[ "$(grep -c '<rect' picture.svg)" = "$(grep -c '<rect' "$top_srcdir/doc/before-after.svg")" ] ||
		fail "the picture has other parts"
fi
