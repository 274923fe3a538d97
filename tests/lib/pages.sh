# Shared by the scripts that follow pages: `. "$top_srcdir/tests/lib/pages.sh"` after tests/lib/lib.sh. An installed
# sklink runs the commands of a page, as they stand there, in a folder of the page's own. Their output is compared with
# the lines that the page shows.
#
# In a fenced block, "$ " begins a command, which goes on in the next line after a backslash. The lines after it are its
# output, in which "..." stands for any lines. In a block "measured", numbers with a point or a unit, units of time,
# addresses and blanks may differ. A command may fail only if the page shows its error. A block with the name of a file
# in its fence ("```yaml first.yaml") is the text of that file.
unset MAKEFLAGS MFLAGS MAKELEVEL DESTDIR CC CFLAGS

prefix=$dir/inst
make -s -C "$top_builddir" install DESTDIR= prefix="$prefix" >install.txt 2>&1 ||
	{ tail -n 30 install.txt >&2; fail "make install"; }

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

# follow PAGE: runs and compares. Afterwards the array `commands` has the page's commands.
follow() {
	local inside=no line indent kind= file= command= status=0 count=0 compared=0 begun=no
	page=$1 commands=()
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
	commands+=("$command")
	installed "$command" </dev/null >out.txt 2>&1 || status=$?
	: >expected.txt
	begun=no count=$((count + 1))
}
