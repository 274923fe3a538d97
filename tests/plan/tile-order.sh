#!/bin/bash
# Tasks of one tile group need not be neighbours in the manifest: interleaved chains, a task in between that does not
# depend on them, one that a later task waits for. At an event tasks stay where they are. The results are the same.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
cat >kernels.c <<'C'
#include "skkernel.h"
void scale(const float *x, float *y, long n)
{
	for (long i = 0; i < n; i++)
		y[i] = 3 * x[i];
}
SK_KERNEL(scale, "split=n; in x f32[n], out y f32[n], n i64");
void add(const float *a, const float *b, float *y, long n)
{
	for (long i = 0; i < n; i++)
		y[i] = a[i] + b[i];
}
SK_KERNEL(add, "split=n; in a f32[n], in b f32[n], out y f32[n], n i64");
void turn(const float *x, float *y, long n)
{
	for (long i = 0; i < n; i++)
		y[i] = x[n - 1 - i];
}
SK_KERNEL(turn, "in x f32[n], out y f32[n], n i64");
C
compile kernels

# steps GROUPS TASKS: the steps of the superkernel, tasks of one step with commas, and the same results as without
# groups.
steps() {
	cat >m.yaml <<M
sklink: 1
tensors:
$(tensors '[20001]' x w a b c d e f g y z)
tasks:
$2
scopes:
  sp: {options: "stream-fusion=1:tile-bytes=4096"}
M
	"$sklink" m.yaml kernels.o -o m.sk --report=m.json 2>err.txt || { cat err.txt; fail "no link"; }
	worth m.json
	"$skdump" --verify m.sk >/dev/null
	"$skdump" --steps m.sk >steps.txt
	made=$(awk '/^ *[0-9]+  / && NR > 2 { printf " %s", $2; next } NR > 2 && NF { printf ",%s", $1 }' steps.txt)
	[ "$made" = " $1" ] || { cat steps.txt; fail "the steps are$made, not $1"; }
	"$sklink" m.yaml kernels.o -o plain.sk --scope-options '*=tile-fusion=0' 2>/dev/null
	"$skrun" plain.sk --random 1 --cores 1 --unfused | grep ^output >expected.txt
	for how in '--cores 1' '--cores 2' '--cores 7' --guard --check-races --serial; do
		"$skrun" m.sk --random 1 $how | grep ^output >ran.txt
		cmp expected.txt ran.txt || fail "$how: other results than without groups"
	done
}
task() { # NAME KERNEL ARGS MORE
	echo "  - {name: $1, kernel: $2, args: [$3], scope: sp${4:+, $4}}"
}

steps 'a,c,y b,d,z' "$(
	task a scale 'x, a'
	task b scale 'w, b'
	task c scale 'a, c'
	task d scale 'b, d'
	task y scale 'c, y'
	task z scale 'd, z')"
steps 'a,b,y other' "$(
	task a scale 'x, a'
	task other turn 'w, z'
	task b scale 'a, b'
	task y add 'a, b, y')"
steps 'gate up silu,mul down' "$(
	task gate turn 'x, a'
	task silu scale 'a, b'
	task up turn 'w, c'
	task mul add 'b, c, d'
	task down turn 'd, y')"

# Chains that have nothing in common but the task in which they meet are one group, and so are three.
steps 'a,c,b,d,y' "$(
	task a scale 'x, a'
	task c scale 'a, c'
	task b scale 'w, b'
	task d scale 'b, d'
	task y add 'c, d, y')"
"$skdump" --explain b m.sk | grep -q "^  TILE_JOINED: in one group with 'c' before it: two groups meet in 'y'\.$" ||
	fail "not said why 'b' joins 'c'"
steps 'other a,b,c,d,y' "$(
	task a scale 'x, a'
	task b scale 'w, b'
	task other turn 'x, e'
	task c add 'a, b, c'
	task d scale 'e, d'
	task y add 'c, d, y')"
steps 'up a,b,c,d,y,z down' "$(
	task a scale 'x, a'
	task up turn 'w, f'
	task b scale 'f, b'
	task c add 'a, b, c'
	task d scale 'x, d'
	task y add 'c, d, y'
	task down turn 'y, e'
	task z add 'd, a, z')"

# They are not if a task comes after one of them and before the other.
steps 'a between b,y' "$(
	task a scale 'x, a'
	task between turn 'a, c'
	task b scale 'c, b'
	task y add 'a, b, y')"
steps 'b between a,y' "$(
	task a scale 'x, a'
	task b scale 'w, b'
	task between turn 'b, c'
	task y add 'a, b, y' 'after: between')"

# One that is in between in any order: its input is written in the group, and its output is read there.
steps 'a,b between c,y' "$(
	task a scale 'x, a'
	task between turn 'a, c'
	task b scale 'a, b'
	task c add 'b, c, d'
	task y scale 'd, y')"

# Plain tasks of a stream stay in order, though the tasks after the second one could be in a group otherwise.
steps 'a first second y' "$(
	task a scale 'x, a'
	task first turn 'a, z'
	task second turn 'w, b'
	task y add 'a, b, y')"
steps 'second a,y first' "$(
	task a scale 'x, a'
	task first turn 'a, z'
	task second turn 'w, b' 'stream: 1'
	task y add 'a, b, y')"

# All of the stream up to a record comes before the task that waits for it, and all later tasks after it; the same holds
# for `after`.
steps 'a e b,y f' "$(
	task a scale 'x, a'
	task e turn 'w, e' 'record: done'
	task b scale 'a, b'
	task y scale 'b, y'
	task f turn 'e, z' 'stream: 1, wait: done')"
steps 'f a e b,y' "$(
	task f turn 'w, z' 'stream: 1, record: done'
	task a scale 'x, a'
	task e turn 'w, e' 'wait: done'
	task b scale 'a, b'
	task y scale 'b, y')"
steps 'a other b' "$(
	task a scale 'x, a'
	task other turn 'w, z' 'after: a'
	task b scale 'a, y' 'after: other')"

# Tasks of a group that is taken apart again are in the network's order.
sed -i 's/^void turn/void sums(const float *x, float *s, long m, long k)\n{\n\tfor (long i = 0; i < m; i++)\n\t\ts[i] = x[i * k];\n}\nSK_KERNEL(sums, "split=m; in x f32[m,k], out s f32[m], m i64, k i64");\n&/' kernels.c
compile kernels
cat >m.yaml <<M
sklink: 1
tensors:
$(tensors '[4, 4096]' x a)
$(tensors '[4]' s)
$(tensors '[20001]' w z)
tasks:
$(task a scale 'x, a'; task other turn 'w, z'; task sums sums 'a, s')
M
"$sklink" m.yaml kernels.o -o m.sk --report=m.json
grep -q '"name": "sums", .*"tile_reason": "TILE_FEW_UNITS"' m.json || fail "the sums are not TILE_FEW_UNITS"
"$skdump" --steps m.sk | awk '/^ *[0-9]+  / { printf "%s ", $2 }' | grep -qx 'a other sums ' || {
	"$skdump" --steps m.sk; fail "not in the order of the network"; }

# If the whole is taken apart again, since a row of three tensors is too long for a tile, neighbours are a group all the
# same.
cat >m.yaml <<M
sklink: 1
tensors:
$(tensors '[16, 16384]' x a b y)
$(tensors '[20001]' w z)
kernels:
  scale_rows: {symbol: scale, signature: "split=m; in x f32[m,k], out y f32[m,k], n i64 = 16384*size(m)"}
  add_rows: {symbol: add, signature: "split=m; in a f32[m,k], in b f32[m,k], out y f32[m,k], n i64 = 16384*size(m)"}
tasks:
$(task a scale_rows 'x, a'; task b scale_rows 'a, b'; task other turn 'w, z'; task y add_rows 'a, b, y')
M
"$sklink" m.yaml kernels.o -o m.sk --report=m.json
grep -q '"name": "y", .*"tile_reason": "TILE_NO_TILE"' m.json || fail "'y' is not TILE_NO_TILE"
grep -q '"name": "b", .*"tile_reason": "TILE_JOINED"' m.json || fail "'b' is in no group with 'a'"
"$skdump" --verify m.sk >/dev/null

# inside NAME: tensors that live within one step of several calls have no workspace, and no pair of its calls is in
# order by an await. The report gives the tasks of a step, the manifest their accesses, and skdump the places. $inside
# is the number of bytes that live there.
cat >inside.awk <<'A'
function word(pattern,  found) { return match($0, pattern) ? substr($0, RSTART, RLENGTH) : "" }
function value(key,  found) {
	found = word("\"" key "\": \"?[^\",}]*")
	sub(/.*: "?/, "", found)
	return found
}
FILENAME ~ /json$/ && /"tile_reason"/ {
	step[value("name")] = value("launch") " " value("lane") " " value("step")
	calls[value("launch") " " value("lane") " " value("step")]++
}
FILENAME ~ /json$/ && /"covered_by"/ && step[value("earlier")] == step[value("later")] {
	pairs++
	if (value("covered_by") != "same core") awaited++
}
FILENAME ~ /yaml$/ && /kernel: .*args: / {
	name = word("name: [a-z_0-9]+")
	names = word("args: \\[[^]]*")
	count = split(substr(names, 8), tensors, ", ")
	for (i = 1; i <= count; i++) {
		at = step[substr(name, 7)]
		if (!(tensors[i] in only)) only[tensors[i]] = at
		else if (only[tensors[i]] != at) only[tensors[i]] = "several"
	}
}
FILENAME ~ /txt$/ && /^scratch: / { scratch = 1 }
FILENAME ~ /txt$/ && $1 ~ /^[0-9]+$/ {
	lives = only[$3] != "several" && calls[only[$3]] > 1
	inside += lives
	if (lives != scratch) { print "elsewhere: " $3 >"/dev/stderr"; wrong++ }
}
END { print inside + 0, pairs + 0, wrong + awaited + 0 }
A
inside() {
	"$skdump" --memory $1.sk >memory.txt
	read -r inside pairs wrong <<<"$(awk -f inside.awk $1.json $1.yaml memory.txt)"
	echo "$1: $inside temporaries live within a step, $pairs pairs of calls of a step are in order"
	[ "$wrong" = 0 ] && [ "$pairs" -gt 0 ] || { cat memory.txt;
		fail "$1: $wrong of them take workspace, or an await"; }
}

# Large networks, with more in one group than it takes.
for seed in 1 2 3; do
	awk -v seed=$seed 'function draw(n) { seed = (seed * 16807) % 2147483647; return seed % n }
		function input(i,  at) { at = i - draw(60); return "t" (at > 0 ? at : 0) }
		BEGIN {
			print "sklink: 1\ntensors:"
			for (i = 0; i <= 800; i++) printf "  t%d: {dtype: f32, shape: [3000]}\n", i
			print "tasks:"
			for (i = 0; i < 800; i++)
				printf "  - {name: n%d, kernel: %s, args: [%s, %st%d], scope: sp}\n", i, i % 19 == seed ? "turn" : "add", input(i),
					i % 19 == seed ? "" : input(i) ", ", i + 1
		}' >large.yaml
	"$sklink" large.yaml kernels.o -o large.sk --report=large.json
	worth large.json
	"$skdump" --verify large.sk
	"$skrun" large.sk --random 1 --verify
	inside large
	[ "$inside" -gt 100 ] || fail "only $inside temporaries live within a step"
done

# A layer of samples/decode_layers ends with a sum of rows, and the next one begins with their norm: all of these are
# groups. No other two tasks that divide rows alike are: every way from the one to the other leads through a product, or
# through a task that reads a scalar. Here that follows from the manifest alone: for two vector tasks that share rows,
# either the data leads from task to task to the second one through another kind of task, or the two may be one group.
sample=$top_srcdir/samples/decode_layers
sh "$sample/generate" 61 >decode.yaml
"$sklink" decode.yaml "$top_builddir/samples/decode_layers/kernels.o" -o decode.sk --report=decode.json
worth decode.json
cat >allowed.awk <<'A'
function come_behind(other) { if (other && other != tasks) before[tasks, ++ahead[tasks]] = other }
# Whether a way from the task to the other one leads through a task that is in no group.
function leads(from, to, solid,  i, found) {
	if (from == to) return solid
	if (from < to || (from, to, solid) in known) return 0
	known[from, to, solid]
	for (i = 1; i <= ahead[from] && !found; i++)
		found = leads(before[from, i], to, solid || (before[from, i] != to && !grouped[before[from, i]]))
	return found
}
/kernel: .*args: / {
	match($0, /name: [a-z_0-9]+/)
	name[++tasks] = substr($0, RSTART + 6, RLENGTH - 6)
	match($0, /kernel: [a-z_0-9]+/)
	kernel = substr($0, RSTART + 8, RLENGTH - 8)
	grouped[tasks] = kernel ~ /^(rms_norm|add_norm|choose_experts|swiglu|add3)$/
	match($0, /args: \[[^]]*/)
	count = split(substr($0, RSTART + 7, RLENGTH - 7), tensors, ", ")
	for (i = 1; i <= count; i++) {
		tensor = tensors[i]
		written = i > count - (kernel == "add_norm" ? 2 : 1)
		if (tensor !~ /^w_/ && grouped[tasks])
			for (k = 1; k <= users[tensor]; k++)
				if (grouped[user[tensor, k]]) { sharing++; one[sharing] = user[tensor, k]; other[sharing] = tasks }
		come_behind(writer[tensor])
		for (k = 1; written && k <= users[tensor]; k++) come_behind(user[tensor, k])
		user[tensor, ++users[tensor]] = tasks
		if (written) writer[tensor] = tasks
	}
}
END { for (i = 1; i <= sharing; i++) if (!leads(other[i], one[i], 0)) print name[one[i]], name[other[i]] }
A
awk -f allowed.awk decode.yaml | sort >allowed.txt
sed -nE "s/.*\"name\": \"(norm_[0-9]+)\".*\"tile_reason\": \"TILE_JOINED\", \"tile_because\": \"in one group with '([a-z_0-9]+)'.*/\2 \1/p" decode.json |
	sort >formed.txt
refused=$(grep -cE '"name": "(post_norm|combine)_.*"tile_reason": "TILE_BETWEEN", "tile_because": ".*'\''(out|expert_down|shared_down)_[0-9]+'\'' comes between them"' decode.json)
others=$(grep '"tile_reason"' decode.json | grep -cvE 'TILE_(JOINED|BETWEEN|FIRST|NOT_DIVIDED|SCALAR)"' || true)
echo "decode_layers: $(wc -l <formed.txt) unions formed of $(wc -l <allowed.txt) that the data allows; $refused tasks have a product between"
cmp allowed.txt formed.txt || fail "decode_layers: others are formed than the data allows"
[ "$(wc -l <formed.txt) $refused $others" = '60 121 0' ] ||
	fail "decode_layers: $refused with a product between, $others otherwise"
# The output of such a group also leaves it: the rows are added again after attention, and nothing lives there.
inside decode
[ "$inside" = 0 ] || fail "decode_layers: $inside temporaries live in groups"
# If rows go from vector task to vector task, no await comes in between, in one group or not.
rows=$(grep '"covered_by"' decode.json | grep -E '"why": "read after write", "tensor": "(x|residual)_[0-9]+"' |
	grep -E '"later": "(norm|post_norm|combine)_')
echo "decode_layers: $(wc -l <<<"$rows") times rows go on without an await"
[ "$(grep -c '"covered_by": "same core"' <<<"$rows") $(wc -l <<<"$rows")" = '181 181' ] || { echo "$rows";
	fail "decode_layers: rows are awaited"; }
echo "$groups_seen groups, and each saves traffic"
[ "$groups_seen" -gt 80 ] || fail "there are only $groups_seen groups"
