#!/bin/bash
# skdump on packages with bounds: with --dim it agrees with a static link of these sizes, on shapes, extents, bytes,
# costs and traffic, in all of its views. Without it, views have expressions, which have these numbers at these sizes.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/sizes.sh"
. "$top_srcdir/tests/lib/models.sh"
"$python" -c '' 2>err.txt || { echo "no python3 to compare"; exit 77; }
cat >compare.py <<'P'
import json, math, re, sys
sized, dynamic, static = (json.load(open(name)) for name in sys.argv[1:4])
sizes = {name: int(size) for name, size in (word.split("=") for word in sys.argv[4:])}

def computed(package):
    return {tensor["name"] for tensor in package["tensors"] if tensor["role"] not in ("constant", "none")}
shared = computed(sized) & computed(static)

def facts(package):
    steps, tasks = package["steps"], package["tasks"]
    # A list of sizes is a constant in a static package, and is no tensor in one with bounds.
    lists = [tensor["name"].startswith("i64[") for tensor in package["tensors"]]
    traffic = package["totals"]["traffic"]["before"] - sum(
        package["tensors"][tensor]["bytes"] for task in tasks for tensor in task["reads"] if lists[tensor])
    made = {"totals": (package["totals"]["tasks"], traffic)}
    for tensor in package["tensors"]:
        if tensor["name"] in computed(package):
            made["tensor", tensor["name"]] = [tensor[key] for key in ("role", "dtype", "shape", "bytes")]
    for task in tasks:
        step = steps[task["step"]]
        named = lambda key: sorted(shared & {package["tensors"][tensor]["name"] for tensor in task[key]})
        written = ", ".join(named("writes"))
        if not written: # of a task that the other package does not need
            continue
        made["task", written] = [step["work"], step.get("blocks"), task.get("cost"), named("reads")]
        if len(step["tasks"]) == 1: # a tile group counts in units of its own, and each size has its own groups
            made["extent", written] = step.get("extent")
    return made
one, other = facts(sized), facts(static)
# A static link knows the contents of more tensors, and has fewer tasks then.
whole = len(sized["tasks"]) == len(static["tasks"])
for key in one.keys() | other.keys():
    if key[0] != "extent" and (key in one and key in other or whole) and (whole or key != "totals"):
        assert one.get(key) == other.get(key), (key, one.get(key), other.get(key))
# A static link may also have a simpler form of a call: of one row, or of one element.
extents = [(key, one[key], other[key]) for key in one if key[0] == "extent" and key in other and one[key] != other[key]]
assert not extents or "model" in sys.argv[0] and len(extents) < 0.3 * len(sized["tasks"]), extents
common = sum(key in other for key in one)
assert common > 0.7 * len(one), (common, one.keys() - other.keys())
assert all(("tensor", tensor["name"]) in other for tensor in sized["tensors"] if tensor["space"] == "binding")
def slices(package):
    return {part["name"]: (part["offset"], part["bytes"]) for node in package["no_task"] for part in node["slices"]}
assert slices(sized) == slices(static), (slices(sized), slices(static))
assert "dimensions" not in sized and {row["name"]: row["size"] for row in sized["at"]} == sizes, sized.get("at")
assert "at" not in static and "at" not in dynamic

# The expressions beside the numbers, with a reader of its own.
def value(text):
    return eval(text, {"floor": math.floor, "min": min, "max": max}, dict(sizes))
count = 0
def same(text, number, what):
    global count
    count += 1
    assert value(text) == number, (what, text, value(text), number)
for form, tensor in zip(dynamic["tensors"], sized["tensors"]):
    for text, number in zip(form["sizes"], tensor["shape"]):
        same(text, number, tensor["name"])
    same(form["bytes_size"], tensor["bytes"], tensor["name"])
for form, step in zip(dynamic["steps"], sized["steps"]):
    if "extent_size" in form:
        same(form["extent_size"], step.get("extent", 0), "extent")
    if "unit_size" in form:
        same(form["unit_size"], step["unit"], "unit")
    for way in "before", "after":
        same(form["traffic_size"][way], step["traffic"][way], "traffic " + way)
for form, task in zip(dynamic["tasks"], sized["tasks"]):
    for key, text in form.get("cost_size", {}).items():
        same(text, task["cost"][key], "cost of " + task["name"])
assert count > 10
P
cp compare.py compare-manifest.py
mv compare.py compare-model.py

# drawn: the tensors of a drawing, wherever they are, without constants.
drawn() {
	grep -v 'style=dotted' | grep -o 'label="[^"]*\[[^"]*"' | sed 's/\\na tile at a time//' | sort
}

# agree NAME SIZE…: NAME.sk at these sizes. link is the command that links it, and bounds are its options
# for a package with bounds.
agree() {
	local name=$1 sizes=() option
	shift
	for size in "$@"; do sizes+=(--dim "$size"); done
	[ -e $name.json ] || {
		"${link[@]}" "${bounds[@]}" -o $name.sk
		"$skdump" --json $name.sk >$name.json
		task=$("$skdump" --reasons $name.sk | awk 'NR == 3 { print $1 }')
	}
	"${link[@]}" "${sizes[@]}" -o static.sk
	"$skdump" --json static.sk >static.json
	"$skdump" --json "${sizes[@]}" $name.sk >sized.json
	"$python" compare-$kind.py sized.json $name.json static.json "$@" || fail "$name at $*: skdump --dim is not the static link"
	# Texts: the tables of bindings are the same, and so are those of the drawing and of the page.
	"$skdump" --bindings static.sk >static.txt
	"$skdump" --bindings "${sizes[@]}" $name.sk >sized.txt
	[ "$(head -n 1 sized.txt)" = "sizes $(echo "$*" | sed 's/ /, /g')" ] || fail "no sizes: $(cat sized.txt)"
	sed 1,2d sized.txt | cmp - static.txt || fail "$name at $*: $(diff sized.txt static.txt)"
	"$skdump" --dot static.sk | drawn >static.txt
	"$skdump" --dot "${sizes[@]}" $name.sk | drawn >sized.txt
	[ -z "$(comm -13 sized.txt static.txt)" ] || fail "$name at $*: another drawing: $(diff sized.txt static.txt)"
	"$skdump" --html page.html "${sizes[@]}" $name.sk
	sed -n '/^{$/,/^}$/p' page.html | sed 's/\\u003c/</g' >page.json
	cmp page.json sized.json || fail "$name at $*: the page has other data"
	for option in --launches --steps --memory --reasons --all "--steps --by-kernel" "--explain $task"; do
		"$skdump" $option "${sizes[@]}" $name.sk >sized.txt
		grep -q "sizes  *$(echo "$*" | sed 's/ /, /g')\$" sized.txt || fail "$name $option: no sizes: $(cat sized.txt)"
		# Names of dimensions are in no expression any more.
		! grep -E '(^|[^a-z=])(batch|seq|rows|width|[A-Z])(\*|\+|, )' sized.txt | grep -v '^sizes \|^  sizes ' ||
			fail "$name $option at $*: an expression is left"
	done
}
bounds=() kind=manifest
manifests() {
	link=("$sklink" $1.yaml kernels.o --scope-options "$groups")
}
groups='*=tile-fusion=1'
manifests rows
agree rows batch=3 seq=77
rm rows.json
groups='*=tile-fusion=0'
manifests rows
for sizes in '1 1' '8 512' '3 77'; do agree rows batch=${sizes% *} seq=${sizes#* }; done
manifests widths
for sizes in '1 8' '40 64' '17 24'; do agree widths rows=${sizes% *} width=${sizes#* }; done
manifests views
for sizes in '1 2 16' '5 33 64' '2 17 32'; do
	set -- $sizes
	agree views batch=$1 seq=$2 width=$3
done

model_with_attention bert </dev/null
kind=model
models() {
	link=("$sklink" $1.onnx -L "$top_builddir/kernels" -lskernels --scope-options "$groups")
	bounds=()
	for dimension in $2; do bounds+=(--dim "$dimension"); done
}
models bert 'B=1..8 S=2..64@16'
for sizes in '1 2' '8 64' '3 17'; do agree bert B=${sizes% *} S=${sizes#* }; done
# Parts without a task.
model_with_split halves Bx8
models halves 'B=2..64:2@8'
for size in 2 6 64; do agree halves B=$size; done
"$skdump" --dim B=6 --explain split halves.sk | grep -qx "  'v' is 96 bytes of 'a', from byte 96 on\." || fail "other parts"
model convolution <<'END'
input x f32 Bx3xHxW
constant w f32 4x3x3x3 0.1
output y f32 none
node Conv conv x w -> a kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1]
node Relu relu a -> b
node MaxPool pool b -> y kernel_shape=[2,2] strides=[2,2]
END
models convolution 'B=1..2 H=32..96:32 W=32..96:32'
for sizes in '1 32 32' '2 96 96' '2 32 64'; do
	set -- $sizes
	agree convolution B=$1 H=$2 W=$3
done

# ---- without --dim ----

"$skdump" rows.sk >all.txt
grep -q '^  dimension seq  *1\.\.512, usually 128$' all.txt || fail "no bounds: $(head -20 all.txt)"
"$skdump" --dim batch=8 rows.sk >usual.txt # seq is usual
"$skdump" --dim batch=8 --dim seq=512 rows.sk >largest.txt
costs() {
	sed -n "s/^  $1  *\(.* bytes bound, .* moved\)\$/\1/p" "$2"
}
for way in usual largest; do
	[ -n "$(costs 'at these' $way.txt)" ] && [ "$(costs 'at these' $way.txt)" = "$(costs "at $way sizes" all.txt)" ] ||
		fail "costs at $way sizes: $(cat all.txt $way.txt)"
done
"$skdump" --explain bias rows.sk >explained.txt
grep -q '^  All cores share its .*batch\*seq elements (.* at the usual sizes), in whole units of ' explained.txt ||
	fail "no expression: $(cat explained.txt)"
grep -q '^  Units and tiles are chosen for the usual sizes, batch=8, seq=128, and right for all\.$' explained.txt ||
	fail "no usual sizes: $(cat explained.txt)"
"$sklink" rows.yaml kernels.o --explain add -o groups.sk >groups.txt
grep -q '^  TILE_JOINED: .* the [0-9]* bytes that a core needs for its part at the usual sizes stay' groups.txt &&
	grep -q '^  The group moves [0-9]* bytes of memory a run at the usual sizes;' groups.txt ||
	fail "no usual sizes: $(cat groups.txt)"
"$sklink" rows.yaml kernels.o --scope-options '*=tile-fusion=0' --explain bias --report report.json -o rows.sk >linked.txt
cmp explained.txt linked.txt || fail "sklink --explain: $(diff explained.txt linked.txt)"
"$python" - <<'P' || fail "the report has no expressions"
import json
report, package = json.load(open("report.json")), json.load(open("rows.json"))
assert report["dimensions"] == package["dimensions"], report["dimensions"]
for task in report["tasks"]:
    step = package["steps"][[one["name"] for one in package["tasks"]].index(task["name"])]
    assert not step["tasks"][1:] or "extent_size" in task
    assert task["extent_size"] == step["extent_size"], (task, step)
P
"$skdump" --dot rows.sk | grep -q 'label="x\\nf32\[batch, seq, 64\]"' || fail "no expression in a drawing"

fails_with "seq is 513; package 'rows.sk' takes 1..512" "$skdump" --json --dim seq=513 rows.sk
fails_with '^skdump: error: --dim chooses the sizes that are shown; --verify is about all sizes$' "$skdump" --verify \
	--dim seq=3 rows.sk
fails_with '^skdump: error: static.sk: --dim: the sizes of this package do not vary$' "$skdump" --dim seq=3 static.sk
