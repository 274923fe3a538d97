# What doc/design.md says of the rooms holds: who may include whom, no circles of calls, one meaning a tag, machine words only in the
# machine's rooms, functions that fit on a screen, and paths in comments and documents that exist. Lists of exceptions may only
# shrink: one that is no longer needed is a failure, too.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
cd "$top_srcdir"
out=$dir
rooms="src linker loader stubs"
code=$(find $rooms -name '*.[chS]' | sort)
status=0

# complain TITLE FILE: what FILE lists is wrong.
complain() {
	[ -s "$2" ] || return 0
	printf '%s:\n' "$1" >&2
	sed 's/^/    /' "$2" >&2
	status=1
}

# compare TITLE FOUND ALLOWED: both are sorted lists; what is found but not allowed is wrong, and what is allowed but not found.
compare() {
	comm -23 "$2" "$3" >"$out/new"
	comm -13 "$2" "$3" >"$out/gone"
	complain "$1" "$out/new"
	complain "$1: no longer so; take it off the list in tests/run/house.sh" "$out/gone"
}

# The table of doc/design.md, section 2: "| `room/` | what it holds | `may/` `include/` |".
sed -nE 's/^\| `([a-z0-9_/]+)\/` \|[^|]*\|([^|]*)\|.*/\1 \2/p' doc/design.md | tr -d '`,' >"$out/table"
[ "$(wc -l <"$out/table")" -gt 15 ] || fail "the table of rooms in doc/design.md is not understood"
for file in $code; do
	sed -nE "s,^#[ \t]*include \"([^\"]+/)?([^\"/]+)\".*,$(dirname "$file") \1 $file: \2,p" "$file"
done | awk '
	FNR == NR { room = $1; known[room] = 1; for (i = 2; i <= NF; i++) { sub(/\/$/, "", $i); may[room, $i] = 1 } next }
	{ if (NF == 3) next                     # config.h and the like: no room
	  to = $2; sub(/\/$/, "", to)
	  if (!($1 in known)) print $1 ": a folder that doc/design.md does not have"
	  else if (to != $1 && !(($1, to) in may)) print $3 " " to "/" $4 }' "$out/table" - | sort -u >"$out/found"
complain "includes that the table of doc/design.md does not allow" "$out/found"
awk '{ for (i = 2; i <= NF; i++) { sub(/\/$/, "", $i); print $1, $i } }' "$out/table" | tsort 2>&1 >/dev/null |
	sed -n 's/^tsort: \([a-z].*\)/\1/p' | sort -u >"$out/found" || true
complain "rooms that include each other in circles" "$out/found"

# Each header's name is its own, and each tag means one thing.
echo "$code" | tr ' ' '\n' | grep '\.h$' | sed 's,.*/,,' | sort | uniq -d >"$out/found"
complain "headers of the same name" "$out/found"
grep -hoE '^(struct|union|enum) skr?t?_[a-z0-9_]+ \{' $code | tr -d '{' | sed 's/ *$//' | sort | uniq -d >"$out/found"
sort >"$out/allowed" <<'LIST'
LIST
compare "tags that are defined twice" "$out/found" "$out/allowed"

# Machine words.
grep -lE 'R_X86_64|EM_X86_64|SH[TN]_X86|PROPERTY_X86|REG_R|rdtsc|mxcsr|MXCSR|cpuid|__builtin_ia32|__x86_64__|_mm_' $code | grep -vE 'x86_64|^loader/arch/' | sort >"$out/found" || true
complain "words of a machine outside of its rooms" "$out/found"

# Functions of more than 60 lines.
awk 'FNR == 1 { begin = 0 }
	/^\{/ { begin = FNR }
	/^\}/ { if (begin && FNR - begin > 60) print FILENAME ": " name; begin = 0 }
	/^[a-z].*\(/ && !/;$/ { name = $0; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name) }' \
	$(echo "$code" | grep '\.c$') | sort >"$out/found"
sort >"$out/allowed" <<'LIST'
LIST
compare "functions of more than 60 lines" "$out/found" "$out/allowed"

# Paths that comments and documents name.
grep -rnoE --include='*.[chS]' --include='*.md' --include='*.sh' --include='*.def' --include='*.1' \
	'(^|[^A-Za-z0-9_./$-])(src|linker|loader|stubs|tests|bench|doc|samples)/[a-z0-9_/-]*[a-z0-9_]\.(c|h|S|sh|md|def|mk|yaml|py)\b' \
	$rooms tests bench samples doc README.md CONTRIBUTING.md | sed -E 's/:[^a-z]?((src|linker|loader|stubs|tests|bench|doc|samples)\/)/: \1/' |
	while read -r place path; do
		[ -e "$path" ] || [ -e "$top_builddir/$path" ] || printf '%s %s\n' "$place" "$path"
	done >"$out/found"
complain "paths that are not there" "$out/found"

# Circles of calls between the files of a room, as the objects' symbol tables tell. One line for each circle.
for room in $(cut -d' ' -f1 "$out/table"); do
	objects=
	for object in "$top_builddir/$room"/*.o; do # those that an earlier build has left do not count
		name=${object##*/}
		name=${name%.o}
		[ ! -e "$room/${name#lib*_la-}.c" ] || objects="$objects $object"
	done
	[ -n "$objects" ] || continue
	nm -A --format=posix $objects | awk -v room="$room" '
	{ file = $1; sub(/:$/, "", file); sub(/\.o$/, "", file); sub(/.*\//, "", file); sub(/^[a-z_]*-/, "", file)
	  files[file] = 1
	  if ($3 == "U") uses[file, $2] = 1; else if ($3 ~ /[TDRBV]/) definer[$2] = file }
	function visit(v, i, n, next_ones, w, circle, members) {
		number[v] = low[v] = ++count; stack[++top] = v; open[v] = 1
		n = split(calls[v], next_ones, " ")
		for (i = 1; i <= n; i++) {
			w = next_ones[i]
			if (!(w in number)) { visit(w); if (low[w] < low[v]) low[v] = low[w] }
			else if (open[w] && number[w] < low[v]) low[v] = number[w]
		}
		if (low[v] != number[v]) return
		members = 0
		do { w = stack[top--]; open[w] = 0; member[++members] = w } while (w != v)
		if (members > 1) for (i = 1; i <= members; i++) print room "/" member[i] ".c"
	}
	END {
		for (use in uses) {
			split(use, part, SUBSEP)
			if (part[2] in definer && definer[part[2]] != part[1]) calls[part[1]] = calls[part[1]] " " definer[part[2]]
		}
		for (file in files) if (!(file in number)) visit(file)
	}'
done | sort -u >"$out/found"
complain "files that call each other in circles" "$out/found"

exit $status
