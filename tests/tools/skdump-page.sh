#!/bin/bash
# skdump --html in a browser: no error on the console, nothing from the network, numbers as in --json, clicks explained
# as by --explain, traces as rows, boxes that fold, names that say </script>, and 20,000 tasks. Pictures of the page
# stay beside the log.
. "$top_srcdir/tests/lib/lib.sh"
browser=$(command -v chromium || command -v chromium-browser || true)
[ -n "$browser" ] && [ -x /usr/bin/python3 ] || { echo "needs chromium and python3"; exit 77; }
kernels=$top_builddir/samples/decode_layers/kernels.o

# browse KIND PAGE FILE: the document (dom) or a picture of the page at $place in it, in the $scheme; fails with the
# messages on the page's console.
coproc BROWSER { exec /usr/bin/python3 "$top_srcdir/tests/tools/browser.py" "$browser" 2>"$dir/browser.txt"; }
scheme=light
browse() {
	echo "$1 $scheme file://$dir/$2${place-} $dir/$3" >&"${BROWSER[1]}"
	read -r -t 300 said <&"${BROWSER[0]}" || said="no answer: $(tail -3 browser.txt)"
	[ "$said" = done ] || { echo "$said"; return 1; }
}

# probed NAME: the results of page-probe.js on NAME.html, in NAME.result.
probed() {
	{ cat $1.html; echo '<script>'; cat "$top_srcdir/tests/tools/page-probe.js"; echo '</script>'; } >probed.html
	browse dom probed.html dom.html || fail "$1: the browser complains"
	/usr/bin/python3 - <<'P' >$1.result || fail "$1: the page is not whole"
import html, re
print(html.unescape(re.search('<pre id="result">(.*?)</pre>', open("dom.html").read(), re.S).group(1)))
P
}

# kept NAME VIEW SUFFIX: a picture of a view of NAME.html.
kept() {
	{ cat $1.html; echo "<script>show('$2'); setTimeout(() => select(Math.min(5, tasks.length - 1)), 50)</script>"; } >pictured.html
	browse picture pictured.html picture.png || fail "the browser complains"
	mv picture.png "$top_builddir/tests/tools/skdump-page-$2$3.png"
}

# compared NAME OPTIONS: the page agrees with --json OPTIONS. Numbers on it have commas.
compared() {
	"$skdump" --json "${@:2}" $1.sk >$1.json
	/usr/bin/python3 - $1 "$skdump" <<'P' || fail "$1: the page says something else"
import json, subprocess, sys
name = sys.argv[1]
data, page = json.load(open(name + ".json")), json.load(open(name + ".result"))
totals, sizes = data["totals"], data["sizes"]
temporaries = sum(tensor["bytes"] for tensor in data["tensors"] if tensor["space"] == "workspace")
expected = {"launches": [totals["tasks"], totals["launches"]], "awaits inside of launches": [0, totals["awaits"]],
            "bytes that move between caches and memory (estimate)": [totals["traffic"]["before"], totals["traffic"]["after"]],
            "bytes of temporaries, and of the workspace": [temporaries, sizes["workspace"]]}
expected.update({key.replace("_", " "): [value] for key, value in sizes.items()})
expected["bytes of dispatchers' code, beside the kernels'"] = [totals["code"]["before"] if totals["task_entries"] else "left out",
                                                               totals["code"]["after"]]
expected["bytes of kernels' code"] = [sizes["kernels"]] * 2
def text(value):
    return format(value, ",") if isinstance(value, int) else value or ""
def said(bytes): # as people read it: to four digits
    unit = 0
    while bytes >= 1024 and unit < 4:
        bytes, unit = bytes / 1024, unit + 1
    return "%d B" % bytes if not unit else ("%.*f" % (3 - len(str(int(bytes))) + 1, bytes)) + " " + ["", "KiB", "MiB", "GiB", "TiB"][unit]
for key, values in expected.items():
    assert page["totals"][key] == [text(value) for value in values], (key, page["totals"][key], values)
for number, launch in enumerate(data["launches"]):
    row = page["totals"].get(launch["name"])
    assert number >= 500 or row[3:5] == [format(launch["steps"], ","), format(launch["awaits"], ",")], row
def shown_as(rows, table): # the first 500
    rows = [[text(value) for value in row] for row in rows[:500]]
    assert table == rows, next((one, other) for one, other in zip(table + [None], rows + [None]) if one != other)
all_tasks, kernels, launches = data["tasks"], data["kernels"], data["launches"]
def operator(kernel):
    attributes = [word[3:] for word in (kernel["signature"] or "").split(";")[0].split() if word.startswith("op=")]
    return attributes[0] if attributes else ""
shown_as([[one["name"], one["kind"], one["scope"], one["stream"], one["steps"], one["awaits"], all_tasks[one["first"]]["name"],
           all_tasks[one["last"]]["name"]] for one in launches], page["tables"]["overview"][2])
shown_as([[one["name"], operator(one), sum(task["kernel"] == number for task in all_tasks), one["code"], one["object"]]
          for number, one in enumerate(kernels)], page["tables"]["overview"][3])

rules = [task["rule"] for task in all_tasks if "rule" in task]
shown_as(sorted(([rule, rules.count(rule)] for rule in dict.fromkeys(rules)), key=lambda row: -row[1]), (page["tables"]["overview"] + [[]])[4])

# Unfused tasks by their cost: sums by reason, then tasks.
def moved(task):
    return task.get("cost", {}).get("bytes") or sum(data["tensors"][tensor]["bytes"] for tensor in task["reads"] + task["writes"])
tables = list(page["tables"]["reasons"])
for fused, code, because in (False, "reason", "because"), (True, "tile_reason", "tile_because"):
    chosen = [task for task in all_tasks if (launches[task["launch"]]["kind"] == "superkernel") == fused and task[code] != "TILE_JOINED"]
    if not chosen:
        continue
    sums, listed = tables.pop(0), tables.pop(0)
    wanted = {reason: [sum(task[code] == reason for task in chosen), sum(moved(task) for task in chosen if task[code] == reason)]
              for reason in {task[code] for task in chosen}}
    assert {row[0]: row[1:] for row in sums} == {reason: [text(value) for value in values] for reason, values in wanted.items()}, sums
    assert [row[2] for row in sums] == [text(value) for value in sorted((values[1] for values in wanted.values()), reverse=True)], sums
    chosen.sort(key=moved, reverse=True)
    shown_as([[task["name"], moved(task), kernels[task["kernel"]]["name"], task[code], task[because]] for task in chosen], listed)
assert not tables

tasks = len(data["tasks"])
assert page["title"] == name + ".sk" and page["nodes"] == tasks, (page["title"], page["nodes"])
assert page["counts"]["graph"].startswith("%d tasks, %d tensors, " % (tasks, len(data["tensors"]))), page["counts"]
assert page["counts"]["memory"].startswith("%d temporaries " % sum(t["space"] == "workspace" for t in data["tensors"])), page["counts"]
assert all(pixels > 300 for pixels in page["drawn"].values()), page["drawn"]
assert page["zoomed"]["sight"] < 1 and page["zoomed"]["moved"] < 0.01, page["zoomed"]
assert page["requests"] == [], page["requests"]
assert page["scripts"] == 4, page["scripts"]
task = data["tasks"][page["clicked"]["task"]]
shown = subprocess.run([sys.argv[2], "--explain", task["name"], name + ".sk"], check=True, stdout=subprocess.PIPE, encoding="utf-8")
assert page["clicked"]["explanation"] == shown.stdout, page["clicked"]

# The table beside the explanation, and the fact that makes an await unnecessary.
facts, kernel, steps, tensors = page["clicked"]["facts"], kernels[task["kernel"]], data["steps"], data["tensors"]
number = page["clicked"]["task"]
def named(tensor):
    return "%s %s [%s]" % (tensors[tensor]["name"], tensors[tensor]["dtype"], ", ".join(map(str, tensors[tensor]["shape"])))
def last(step):
    return all_tasks[steps[step]["tasks"][-1]]["name"]
def lines(key):
    return [] if facts[key] == "none" else facts[key].strip().split("\n")
def cover(fact, side):
    if "await" not in fact:
        return "(%s)" % fact["covered_by"]
    own = side == "later" and fact["await"]["of"] == task["step"]
    return "(since %s awaits %s)" % ("it" if own else last(fact["await"]["of"]), last(fact["await"]["on"]))
assert facts["manifest"] == ("line %d" % task["line"] if task["line"] else "a node of a model"), facts
assert facts["kernel"] == "%s (function %s, %s bytes)" % (kernel["name"], kernel["symbol"], text(kernel["code"])), facts
assert facts.get("operator", "") == operator(kernel), facts
assert facts.get("rule", "") == ("%s has made the node" % task["rule"] if "rule" in task else ""), facts
assert facts["object"] == kernel["object"] and facts["signature"] == kernel["signature"], facts
assert facts["bytes"].startswith(text(moved(task)) + ", "), facts
assert lines("reads") == [named(tensor) for tensor in task["reads"]] and lines("writes") == [named(tensor) for tensor in task["writes"]], facts
assert lines("awaits") == [last(step) for step in steps[task["step"]]["awaits"]], facts
for key, side, other in ("before it", "later", "earlier"), ("after it", "earlier", "later"):
    wanted = dict.fromkeys("%s %s" % (all_tasks[fact[other]]["name"], cover(fact, side)) for fact in data["dependencies"] if fact[side] == number)
    assert lines(key) == list(wanted), (key, facts, list(wanted))
if "life" in page:
    tensor = page["life"]["tensor"]
    lives = [task["step"] for task in all_tasks if tensor in task["reads"] + task["writes"]]
    assert page["life"]["said"] == "%s at %d of the workspace, from step %d to step %d" % (
        said(tensors[tensor]["bytes"]), tensors[tensor]["offset"], min(lives), max(lives)), page["life"]
assert page["counts"]["memory"].split(":")[0].endswith(" of %s in a workspace of %s" % (said(temporaries), said(sizes["workspace"]))), page["counts"]
assert "reuse saves %s;" % said(max(temporaries - sizes["workspace"], 0)) in page["counts"]["memory"], page["counts"]

# Boxes are launches and tile groups; colours stand for the most frequent ones.
groups = ["tile group (%d tasks)" % len(step["tasks"]) for step in steps if len(step["tasks"]) > 1]
assert sorted(page["boxes"]) == sorted(groups + ["%s (%d tasks)" % (launch["name"], sum(task["launch"] == one for task in all_tasks))
                                                 for one, launch in enumerate(launches) if launch["kind"] == "superkernel"]), page["boxes"]
for key, values in {"kernel": [kernels[task["kernel"]]["name"] for task in all_tasks],
                    "operator": [operator(kernels[task["kernel"]]) or "none" for task in all_tasks],
                    "launch": [launches[task["launch"]]["name"] for task in all_tasks],
                    "scope": [task["scope"] or "none" for task in all_tasks], "stream": [str(task["stream"]) for task in all_tasks],
                    "lane": [steps[task["step"]]["lane"] for task in all_tasks]}.items():
    counts = {value: values.count(value) for value in set(values)}
    legend = page["legends"][key]
    assert len(legend) == min(10, len(counts)), (key, legend)
    assert [counts[value] for value in legend] == sorted(counts.values(), reverse=True)[:10], (key, legend)
for heading, seen in page["dragged"]:
    assert seen == [heading] * 3, page["dragged"]
for wanted, said in page["found"]:
    matches = sum(any(wanted.lower() in name.lower() for name in
                      [task["name"], kernels[task["kernel"]]["name"], operator(kernels[task["kernel"]]), task.get("rule", "")] +
                      [tensors[tensor]["name"] for tensor in task["reads"] + task["writes"]]) for task in all_tasks)
    assert said == ("1 task" if matches == 1 else format(matches, ",") + " tasks"), (wanted, said, matches)

# A folded tile group, or superkernel, is one box.
assert page["groupsFolded"] == len({step if len(steps[step]["tasks"]) > 1 else (number,) for number, step in
                                    enumerate(task["step"] for task in all_tasks)}), page["groupsFolded"]
assert page["scopesFolded"] == sum(any(task["launch"] == one for task in all_tasks) for one in range(len(launches))), page["scopesFolded"]
assert page["allUnfolded"] == tasks, page["allUnfolded"]

# Bytes of the workspace that are in use, step by step.
spans = {}
for task_of_step in all_tasks:
    for tensor in task_of_step["reads"] + task_of_step["writes"]:
        if tensors[tensor]["space"] == "workspace":
            span = spans.setdefault(tensor, [task_of_step["step"]] * 2)
            spans[tensor] = [min(span[0], task_of_step["step"]), max(span[1], task_of_step["step"])]
live = [0] * (len(steps) + 1)
for tensor, (first_step, last_step) in spans.items():
    for step in range(first_step, last_step + 1):
        live[step] += tensors[tensor]["bytes"]
assert page["live"] == live and max(live) <= sizes["workspace"], "bytes in use"
single = sum(data["launches"][task["launch"]]["kind"] != "superkernel" for task in data["tasks"])
texts = {0: "none", 1: "1 task"}
assert page["reasons"][0] == "Launched by themselves: " + texts.get(single, format(single, ",") + " tasks"), page["reasons"]
if "folded" in page:
    fused = [task for task in data["tasks"] if data["launches"][task["launch"]]["kind"] == "superkernel"]
    first = sum(task["launch"] == fused[0]["launch"] for task in fused)
    assert page["folded"] == tasks - first + 1 and page["unfolded"] == tasks, (page["folded"], page["unfolded"])
print("%s: %d tasks, loaded after %.0f ms" % (name, tasks, page["loaded"]))
P
}

# The sample, with the traces of two runs and a prediction one above the other.
sh "$top_srcdir/samples/decode_layers/generate" 61 1 host >decode.yaml
"$sklink" --scope-options '*=profiling=1' decode.yaml "$kernels" -o decode.sk
"$skrun" decode.sk --random 1 --cores 2 --trace fused.trace >/dev/null
"$skrun" decode.sk --random 1 --cores 2 --unfused --trace unfused.trace >/dev/null
"$skrun" --predict --cores 3 --trace predicted.trace decode.sk >/dev/null
"$skdump" --html decode.html --trace unfused.trace --trace fused.trace --trace predicted.trace decode.sk
probed decode
compared decode
/usr/bin/python3 - <<'P'
import json
page = json.load(open("decode.result"))
def find(name, run, wanted):
    events = json.load(open(name))["traceEvents"]
    own = {event["pid"] for event in events if event["name"] == "process_name" and event["args"]["name"].startswith(run)}
    return sum(event["pid"] in own and wanted(event) for event in events)

# Two cores, and the launches; three cores unfused, and three fused.
expected = [("unfused.trace", "", 3), ("fused.trace", "", 3), ("predicted.trace", "unfused", 3), ("predicted.trace", "fused", 3)]
assert len(page["bands"]) == len(expected), page["bands"]
for (name, run, rows), band in zip(expected, page["bands"]):
    assert band["rows"] == rows, (name, band)
    assert band["slices"] == band["named"] == find(name, run, lambda event: event.get("cat") == "task") > 0, (name, band)
    assert band["arrows"] == find(name, run, lambda event: event["ph"] == "s"), (name, band)
    assert 1 < band["critical"] <= band["slices"], band
assert page["bands"][1]["arrows"] > 0
assert len(page["dragged"]) == 2, page["dragged"]
P
for view in overview graph schedule memory reasons; do
	kept decode $view ""
done
scheme=dark
for view in graph schedule memory; do
	kept decode $view -dark
done
scheme=light

# README.md's picture is small, and can be made again.
[ "$(wc -c <"$top_srcdir/doc/page.png")" -lt 150000 ] || fail "doc/page.png is large"
if command -v chromium >/dev/null; then
	"$top_srcdir/page/picture.sh" "$top_builddir" picture.png
	size() { od -An -j16 -N8 -tx1 "$1"; }
	[ "$(size picture.png)" = "$(size "$top_srcdir/doc/page.png")" ] || fail "the picture has another size"
fi

# skrun has the same page made, of a run or of a prediction.
"$skrun" decode.sk --random 1 --cores 2 --trace again.trace --html again.html >/dev/null
"$skdump" --html by-hand.html --trace again.trace decode.sk
cmp again.html by-hand.html || fail "the page of skrun --html is another one"
"$skrun" --predict decode.sk --trace again.trace --html again.html >/dev/null
grep -q '"predicted":true' again.html || fail "the page of a prediction has none"
fails_with '^skrun: error: --html shows a trace; it goes with --trace$' "$skrun" decode.sk --random 1 --html x.html
fails_with '^skdump: error: none/x.html: cannot create the file' "$skrun" decode.sk --random 1 --trace again.trace \
	--html none/x.html
cp "$skrun" alone && fails_with '^skrun: error: .*/skdump, which makes the page: No such file' \
	./alone decode.sk --random 1 --trace again.trace --html x.html

# Without a trace the steps are in their order.
"$sklink" "$top_srcdir/samples/composite/composite.yaml" "$top_builddir/samples/composite/kernels.o" -o composite.sk
"$skdump" --html composite.html composite.sk
probed composite
compared composite
cp composite.html dark.html
scheme=dark
probed dark
scheme=light
/usr/bin/python3 - <<'P'
import json, re
page, data, dark = json.load(open("composite.result")), json.load(open("composite.json")), json.load(open("dark.result"))
light, shade = ([int(number) for number in re.findall(r"\d+", one["background"])] for one in (page, dark))
assert min(light) > 200 and max(shade) < 60, (light, shade)
assert page["bands"][0]["slices"] == data["totals"]["steps"] and page["bands"][0]["arrows"] == data["totals"]["awaits"], page["bands"]
P

# A model has operators, and rules that have made nodes.
"$top_builddir/tests/lib/make-model" model.onnx <<'M'
opset 24
input x f32 4x8
output z f32 4x8
node Relu relu x -> y
node Sigmoid sigmoid y -> z
M
echo 'fuse: [{name: doubled, pattern: z = Sigmoid(y), replace: "z = Tanh(y)"}]' >mine.yaml
"$sklink" model.onnx --rules=mine.yaml -L "$top_builddir/kernels" -lskernels -o model.sk
"$skdump" --html model.html model.sk
probed model
compared model
grep -q '"operator":\["Relu' model.result || fail "no operators of a model: $(grep -o '"operator":[^]]*]' model.result)"
grep -q '"rule":"'"'doubled' of set 'user'"' has made the node"' model.result || fail "no rule: $(cat model.result)"

# Of a package with bounds it has the usual sizes, those of its address, or those of the fields: all numbers follow. A
# trace has sizes, too.
. "$top_srcdir/tests/lib/sizes.sh"
# sized NAME PLACE SIZE…: the page of NAME.sk, opened at that place, is that of these sizes.
sized() {
	local name=$1 place=$2 text found
	shift 2
	probed $name
	compared $name $(printf -- '--dim %s ' "$@")
	text=$(echo "$*" | tr ' ' '&')
	case $place in [?]*) found="#$text" ;; *) found=$place ;; esac
	grep -qF "\"address\":\"$found\"" $name.result || fail "$place: the address is $(grep -o '"address[^,]*' $name.result)"
	grep -qF "\"fields\":\"$text\"" $name.result || fail "$place: other fields: $(grep -o '"fields[^,]*' $name.result)"
}
for groups in 0 1; do
	for name in rows views; do
		"$sklink" $name.yaml kernels.o --scope-options "s=profiling=1" --scope-options "s=tile-fusion=$groups" -o $name.sk
		"$skdump" --html $name.html $name.sk
	done
	sized rows '?batch=2&seq=37' batch=2 seq=37
done
sized rows '' batch=8 seq=128
sized rows '#batch=1&seq=1' batch=1 seq=1
sized views '?batch=2&seq=17&width=32' batch=2 seq=17 width=32
place='#batch=100&seq=0'
probed rows
grep -qF '"fields":"batch=8&seq=1"' rows.result || fail "sizes out of bounds: $(grep -o '"fields[^,]*' rows.result)"
place='?width=30&batch=2.6' # multiples of 16, and integers
probed views
grep -qF '"fields":"batch=3&seq=33&width=32"' views.result || fail "other sizes: $(grep -o '"fields[^,]*' views.result)"
place='#%E0%A4&seq=x&other=3' # it is none of the page's
probed rows
grep -qF '"fields":"batch=8&seq=128"' rows.result || fail "a bad address: $(grep -o '"fields[^,]*' rows.result)"
place=
"$skrun" rows.sk --random 1 --dim batch=2 --dim seq=37 --trace sized.trace --html rows.html >/dev/null
probed rows
compared rows --dim batch=2 --dim seq=37
grep -qF 'sized.trace (batch=2, seq=37)' rows.result || fail "a schedule without sizes: $(grep -o '"titles[^]]*' rows.result)"
"$skrun" --predict rows.sk --dim batch=2 --dim seq=37 --trace sized.trace --html rows.html >/dev/null
probed rows
grep -qF 'sized.trace, fused (batch=2, seq=37)' rows.result || fail "a prediction without sizes: $(grep -o '"titles[^]]*' rows.result)"
place='#batch=2&seq=37'
kept rows memory -sizes
place=
"$skdump" --html fixed.html --dim seq=3 rows.sk
grep -q '"at": \[' fixed.html || fail "no sizes on the page of one size"
cp rows.sk fixed.sk
probed fixed
grep -qF '"fields":""' fixed.result && grep -qF '"said":"at batch=8, seq=3"' fixed.result || fail "one size: $(cat fixed.result)"

# Names do nothing, and the test would see if they did.
cat >k.c <<'C'
#include "skkernel.h"
void k(const float *x, float *y, long n)
{
	for (long i = 0; i < n; i++)
		y[i] = x[i];
}
SK_KERNEL(k, "split=n; in x f32[n], out y f32[n], n i64");
C
compile k
cat >names.yaml <<'M'
sklink: 1
tensors:
  '<!--<script>': {dtype: f32, shape: [64]}
  y: {dtype: f32, shape: [64]}
  z: {dtype: f32, shape: [64]}
tasks:
  - {name: process_name, kernel: k, args: ['<!--<script>', z]}
  - {name: '</script><script>document.title="broken"</script><img src=x onerror=alert(1)>', kernel: k, args: ['<!--<script>', y]}
M
"$sklink" names.yaml k.o -o names.sk
"$skrun" --predict --cores 2 --trace names.trace names.sk >/dev/null
"$skdump" --html names.html --trace names.trace names.sk
probed names
grep -q broken names.html || fail "the name is not on the page"
"$skdump" --json names.sk >names.json
/usr/bin/python3 - <<'P'
import json
page = json.load(open("names.result"))
assert page["title"] == "names.sk" and page["scripts"] == 4 and page["requests"] == [], page
assert "onerror" in page["clicked"]["explanation"], page["clicked"]
assert [band["named"] for band in page["bands"]] == [4, 4], page["bands"]
P
{ cat names.html; echo '<script>undefined_function()</script>'; } >broken.html
! browse dom broken.html dom.html >broken.txt || fail "an error on the console is not seen"
grep -q 'undefined_function is not defined' broken.txt || { cat broken.txt; fail "another error on the console"; }

# 20,000 tasks: chains of 20 in scopes of 1,000.
awk 'BEGIN {
	print "sklink: 1\ntensors:"
	for (i = 0; i < 1000; i++) printf "  x%d: {dtype: f32, shape: [64]}\n", i
	for (i = 0; i < 20000; i++) printf "  t%d: {dtype: f32, shape: [64]}\n", i
	print "tasks:"
	for (i = 0; i < 20000; i++) printf "  - {name: task%d, kernel: k, args: [%s, t%d], scope: s%d}\n", i,
		i % 20 ? "t" i - 1 : "x" i / 20, i, i / 1000
}' >many.yaml
"$sklink" --no-task-entries many.yaml k.o -o many.sk
"$skdump" --html many.html many.sk
probed many
compared many

fails_with '^skdump: error: k.c: it is not a whole trace of skrun --trace$' "$skdump" --html x.html --trace k.c names.sk
fails_with '^skdump: error: none.trace: cannot read the trace: No such file' "$skdump" --html x.html --trace \
	none.trace names.sk
head -c 2000 fused.trace >cut.trace
fails_with '^skdump: error: cut.trace: it is not a whole trace' "$skdump" --html x.html --trace cut.trace names.sk
fails_with '^skdump: error: --trace is for the page of --html$' "$skdump" --trace fused.trace names.sk
fails_with '^skdump: error: --html goes with no other option but --trace$' "$skdump" --html x.html --steps names.sk
[ ! -e x.html ] || fail "a page after an error"
