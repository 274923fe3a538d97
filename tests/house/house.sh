# The rules of the house (layers.sh has those of layers and rooms): no circles of calls between the files of a room, one
# meaning for a tag, machine words only in the machine's rooms, functions that fit on a screen and are static if they
# can be, paths and names in comments that exist, and nothing in libskrt that depends on the locale. Lists of exceptions
# may only shrink: an exception that is not needed any more is also a failure.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
cd "$top_srcdir"
out=$dir
rooms="base format linker stubs graph src loader kernels"
code=$(find $rooms -name '*.[chS]' -o -name '*.def' | sort)
status=0

# complain TITLE FILE: the lines of FILE are errors.
complain() {
	[ -s "$2" ] || return 0
	printf '%s:\n' "$1" >&2
	sed 's/^/    /' "$2" >&2
	status=1
}

# compare TITLE FOUND ALLOWED: both are sorted lists; lines that are found but not allowed are errors, and so are
# allowed lines that are not found. The first word of a line is its subject, the rest its place.
compare() {
	awk 'FILENAME == ARGV[1] { allowed[$1] = 1; next } !($1 in allowed)' "$3" "$2" >"$out/new"
	awk 'FILENAME == ARGV[1] { found[$1] = 1; next } !($1 in found)' "$2" "$3" >"$out/gone"
	complain "$1" "$out/new"
	complain "$1: no longer so; take it off the list in tests/house/house.sh" "$out/gone"
}

# circles: reads lines "FROM TO", and prints a line for each set of names that lead to one another.
circles() {
	awk '
	{ if (!(($1, $2) in known) && $1 != $2) { known[$1, $2] = 1; to[$1] = to[$1] " " $2; names[$1] = names[$2] = 1 } }
	function visit(v, i, n, next_ones, w, members) {
		number[v] = low[v] = ++count; stack[++top] = v; open[v] = 1
		n = split(to[v], next_ones, " ")
		for (i = 1; i <= n; i++) {
			w = next_ones[i]
			if (!(w in number)) { visit(w); if (low[w] < low[v]) low[v] = low[w] }
			else if (open[w] && number[w] < low[v]) low[v] = number[w]
		}
		if (low[v] != number[v]) return
		members = ""
		do { w = stack[top--]; open[w] = 0; members = members " " w } while (w != v)
		if (split(members, next_ones, " ") > 1) print substr(members, 2)
	}
	END { for (v in names) if (!(v in number)) visit(v) }' | tr ' ' '\n' | sort -u
}

# ---- names ----

# Each header's name is its own, and each tag means one thing.
echo "$code" | tr ' ' '\n' | grep '\.h$' | sed 's,\(.*\)/\(.*\),\2 \1/\2,' | sort |
	awk '$1 == last { print where; print $2 } { last = $1; where = $2 }' | sort -u >"$out/found"
complain "headers of the same name" "$out/found"
awk '
	FNR == 1 { tag = "" }
	/^[[:space:]]*\{/ && tag != "" { print tag, place } # the brace on a line of its own
	{ tag = "" }
	match($0, /(^|[^a-z_])(struct|union|enum)[[:space:]]+(sk|skrt)_[a-z0-9_]+[[:space:]]*(\{|$)/) {
		text = substr($0, RSTART, RLENGTH)
		sub(/.*(struct|union|enum)[[:space:]]+/, "", text)
		place = FILENAME ":" FNR
		if (sub(/[[:space:]]*\{/, "", text)) print text, place
		else tag = text
	}' $code | sort | awk '$1 == last { print last " " where; print } { last = $1; where = $2 }' |
		sort -u >"$out/found"
complain "tags that are defined twice" "$out/found"

# ---- machines ----

grep -nwE '[A-Z_]*(R_X86_64|EM_X86_64|SH[TN]_X86|PROPERTY_X86)[A-Za-z0-9_]*|REG_R[A-Z0-9]*|rdtscp?|[a-z_]*mxcsr[a-z_]*|[A-Z_]*MXCSR[A-Z_]*|_*cpuid[a-z_]*|__builtin_ia32[a-z0-9_]*|__x86_64(__)?|__(amd64|i386|SSE|AVX)[A-Z0-9_]*|_mm[0-9]*_[a-z0-9_]*|[a-z0-9]*intrin\.h' $code |
	grep -vE '^[^:]*x86_64|^loader/arch/' >"$out/found" || true
complain "words of a machine outside of its rooms" "$out/found"
# Instructions in neutral files. Directives, names of symbols and the compiler's barrier are not instructions.
grep -nE '\b(__asm__|__asm|asm)\b' $code |
	grep -vE '^[^:]*x86_64|^loader/arch/|__asm__\((#name\)|"\.)|__asm__ volatile\("" ::: "memory"\)' >"$out/found" \
	|| true
complain "instructions outside of a machine's rooms" "$out/found"

# ---- functions ----

awk 'FNR == 1 { begin = 0 }
	/^\{/ { begin = FNR }
	/^\}/ { if (begin && FNR - begin > 60) print FILENAME ":" name " " begin "-" FNR; begin = 0 }
	/^[a-z].*\(/ && !/;$/ { name = $0; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name) }' $code | sort >"$out/found"
complain "functions of more than 60 lines" "$out/found"

# Names in headers that only their own file uses.
awk '
	FNR == 1 { header = FILENAME ~ /^(base|format|linker|stubs|graph|src|loader|kernels).*\.h$/ }
	header && /^[a-z].*[ *]sk_[a-z0-9_]+\(/ && !/^(static|typedef)/ {
		name = $0; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name)
		if (name ~ /^sk_/) declared[name] = FILENAME ":" FNR
	}
	/sk_/ {
		gsub(/[^a-z0-9_]+/, " ")
		for (i = 1; i <= NF; i++) if ($i ~ /^sk_/ && last[$i] != FILENAME) { last[$i] = FILENAME; files[$i]++ }
	}
	END { for (name in declared) if (files[name] < 3) print declared[name] ": " name }' \
	$code $(find tests bench -name '*.[ch]') | sort >"$out/found"
complain "functions that should be static" "$out/found"

# ---- paths ----

# Names in comments and documents: of files, of modules without their ".c", and of folders.
grep -rnoE --include='*.[chS]' --include='*.md' --include='*.sh' --include='*.def' --include='*.1' \
	'(^|[^A-Za-z0-9_./$%*-])(base|format|linker|stubs|graph|src|loader|kernels|tests|bench|doc|samples)/([a-z0-9_-]+/)*([A-Za-z0-9_-]*[A-Za-z0-9](\.(a|c|h|S|sh|md|map|def|mk|yaml|pbtxt|png|svg|py|awk|txt|1))?)?' \
	$rooms tests bench samples doc completions packaging page python README.md CONTRIBUTING.md |
	sed -E 's/:[^a-z:]?((base|format|linker|stubs|graph|src|loader|kernels|tests|bench|doc|samples)\/)/: \1/' |
		sort -u |
	while read -r place path; do
		case ${path##*/} in *NAME*) continue ;; esac # a placeholder for any name
		[ -e "$path" ] || [ -e "$top_builddir/$path" ] || [ -e "$path.c" ] || [ -e "$path.h" ] ||
			printf '%s %s\n' "$place" "$path"
	done >"$out/found"
complain "paths that are not there" "$out/found"

# Names in comments, of functions, structs and the like; NAME stands for any.
awk '
	FNR == 1 { inside = 0 }
	{
		line = $0; code = comment = ""
		while (line != "") {
			at = index(line, inside ? "*/" : "/*")
			part = at ? substr(line, 1, at - 1) : line
			if (inside) comment = comment part; else code = code part
			line = at ? substr(line, at + 2) : ""
			if (at) inside = !inside
		}
		gsub(/[^A-Za-z0-9_]+/, " ", code)
		count = split(code, words, " ")
		for (i = 1; i <= count; i++) known[words[i]] = 1
		gsub(/[^A-Za-z0-9_]+/, " ", comment)
		count = split(comment, words, " ")
		for (i = 1; i <= count; i++)
			if (words[i] ~ /^(sk|skrt|SK|SKRT)_/ && words[i] !~ /(_|NAME)$/) named[words[i]] = FILENAME ":" FNR
	}
	END { for (name in named) if (!(name in known)) print named[name] " " name }' $code loader/libskrt.map |
		sort >"$out/found"
complain "names in comments that nothing has" "$out/found"

# ---- tests ----

# Each script and each Check suite is once in a list of tests/local.mk; scripts that only others run or read, or that
# other targets run, are in none.
find tests -name '*.sh' | grep -vE '^tests/(lib/|compilers/compilers\.sh|kernels/(compare|kernels)\.sh|fuzz/fuzz-(run|seeds)\.sh)' >"$out/tests"
find tests/unit -name 'check_*.c' | sed 's/\.c$//' >>"$out/tests"
awk '/^([A-Z_]+ =|check_PROGRAMS \+=) / { list = 1 } list { print } !/\\$/ { list = 0 }' tests/local.mk |
	grep -oE 'tests/[A-Za-z0-9_/-]+(\.sh)?' | sort >"$out/registered"
sort "$out/tests" | comm -23 - "$out/registered" >"$out/found"
complain "tests that no list in tests/local.mk has" "$out/found"
uniq -d "$out/registered" >"$out/found"
complain "tests that lists in tests/local.mk have more than once" "$out/found"

# ---- calls ----

# Each source with its object; objects that an earlier build has left do not count. Kernels call no other function, as
# tests/kernels/library.sh checks.
for file in $(echo "$code" | grep '\.[cS]$' | grep -v '^kernels/'); do
	name=${file##*/} name=${name%.*}
	for object in "$top_builddir/${file%/*}/$name.o" "$top_builddir/${file%/*}"/{,.libs/}*_{a,la}-"$name.o" \
		"$top_builddir/${file%/*}"/*[a-z]-"$name.o"; do
		[ ! -e "$object" ] || break
	done
	[ -e "$object" ] && echo "$file $object" || echo "$file" >&3
done >"$out/objects" 3>"$out/found"
complain "files that are not built, so nobody knows whom they call" "$out/found"

# "from to symbol", by the undefined symbols of objects, and by the calls of inline functions of headers.
headers=$(echo "$code" | grep '\.h$')
sources=$(echo "$code" | grep '\.c$')
nm -A --format=posix $(cut -d' ' -f2 "$out/objects") | awk '
	FILENAME ~ /objects$/ { source[$2] = $1; next }
	FILENAME == "-" {
		file = $1; sub(/:$/, "", file); file = source[file]
		if ($3 == "U") uses[file, $2] = 1; else if ($3 ~ /[TDRBVWC]/) definer[$2] = file
		next
	}
	FNR == 1 { file = FILENAME; header = file ~ /\.h$/; inside = 0 }
	header && /^[a-z].*\(/ { name = $0; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name) }
	/^\{/ { inside = 1; if (header) inlined[name] = file }
	/^\}/ { inside = 0 }
	inside {
		line = $0
		while (match(line, /skr?t?_[a-z0-9_]+\(/)) {
			name = substr(line, RSTART, RLENGTH - 1)
			if (header) mentions[file, name] = 1; else if (name in inlined) uses[file, name] = 1
			line = substr(line, RSTART + RLENGTH)
		}
	}
	END {
		for (mention in mentions) uses[mention] = 1
		for (use in uses) {
			split(use, part, SUBSEP)
			to = part[2] in inlined ? inlined[part[2]] : definer[part[2]]
			if (to != "" && to != part[1]) print part[1], to, part[2]
		}
	}' "$out/objects" - $headers $sources >"$out/calls"
[ "$(wc -l <"$out/calls")" -gt 1000 ] || fail "who calls whom is not understood"

# In circles between the files of a room.
awk '{ from = $1; to = $2; sub(/\/[^\/]*$/, "", from); sub(/\/[^\/]*$/, "", to) } from == to { print $1, $2 }' \
	"$out/calls" | circles >"$out/found"
awk '
	FILENAME == ARGV[1] { in_circle[$1] = 1; next }
	{ from = $1; to = $2; sub(/\/[^\/]*$/, "", from); sub(/\/[^\/]*$/, "", to) }
	from == to && ($1 in in_circle) && ($2 in in_circle) { print $1 ": calls " $3 " of " $2 }' "$out/found" \
		"$out/calls" | sort >"$out/new"
complain "files that call each other in circles" "$out/new"

# ---- locales ----

# libskrt is in programs of any locale, on which nothing that it reads or writes depends (base/text.h). sklink's own
# programs stay in the C locale. loader/image/imports.c has the addresses that packages import.
{
	echo "$sources" | grep '^loader/' | grep -vE '^loader/((skrun|predict|npy)/|image/imports\.c)'
	printf 'base/%s.c\n' escape nearest pattern temporary
} >"$out/libskrt"
nm -A --format=posix -u \
	$(awk 'FILENAME == ARGV[1] { ours[$1] = 1; next } $1 in ours { print $2 }' "$out/libskrt" "$out/objects") |
	grep -E ': (strto(d|f|ld)|atof|__ctype_[a-z_]+|is[a-z]+|to(upper|lower)|strn?case[a-z]+|str(coll|xfrm|ftime)|(mb|wc|isw|tow)[a-z]+) ' >"$out/found" || true
complain "functions in libskrt that depend on the locale; the C locale's are those of base/text.h" "$out/found"
xargs grep -nE "\"([^\"]*[^\"%])?%[-+ #0-9.*']*(L?l?[aefgAEFG]|[0-9]*')" <"$out/libskrt" |
	sed 's/:/ /' >"$out/found" || true
echo loader/device/failure.c >"$out/allowed" # which is in the C locale meanwhile
compare "real numbers that libskrt reads or writes as the program's locale does" "$out/found" "$out/allowed"
nm -A --format=posix -u $(cut -d' ' -f2 "$out/objects") | grep ' setlocale ' >"$out/found" || true
complain "calls that leave the C locale" "$out/found"

exit $status
