#!/bin/bash
# --task, --kernel, --launch and --by-kernel of skdump and skrun: rows and sums are those that follow from skdump
# --json.
. "$top_srcdir/tests/lib/lib.sh"
set -o pipefail
[ -x /usr/bin/python3 ] || { echo "needs python3"; exit 77; }
# Two layers, with costs and tile groups; as one superkernel, and as one each.
sh "$top_srcdir/samples/decode_layers/generate" 2 1 a3 >decode.yaml
"$sklink" decode.yaml "$top_builddir/samples/decode_layers/kernels.o" -o decode.sk
sed '/_2,/s/scope: decode/scope: second/; s/^  decode:.*/&\n  second: {}/' decode.yaml >scopes.yaml
"$sklink" scopes.yaml "$top_builddir/samples/decode_layers/kernels.o" -o scopes.sk

cat >compare.py <<'P'
"""compare.py SKDUMP SKRUN PACKAGE FILTER…: what the two show of the chosen tasks, as --json has it."""
import collections, fnmatch, json, re, subprocess, sys
skdump, skrun, package, *options = sys.argv[1:]

def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout

data = json.loads(run(skdump, "--json", package))
wanted = dict(zip(options[::2], options[1::2]))
kernels = [kernel["name"] for kernel in data["kernels"]]
chosen = [task for task in data["tasks"]
          if fnmatch.fnmatchcase(task["name"], wanted.get("--task", "*")) and
          fnmatch.fnmatchcase(kernels[task["kernel"]], wanted.get("--kernel", "*")) and
          ("--launch" not in wanted or task["launch"] == int(wanted["--launch"]))]
assert chosen and (not wanted or len(chosen) < len(data["tasks"])), (wanted, len(chosen))
names = sorted(task["name"] for task in chosen)
known = {task["name"] for task in data["tasks"]}

def rows(text, heading):
    """First words of rows that are tasks, below a heading that begins so."""
    body = text[text.index(heading):] if heading else text
    found = []
    for line in body.splitlines():
        words = line.split()
        words = words[1:] if words and words[0].isdigit() else words
        if words and words[0] in known and line.startswith("  "):
            found.append((words[0], words[1] if len(words) > 1 else ""))
    return found

steps = rows(run(skdump, "--steps", *options, package), "launch ")
assert sorted(name for name, _ in steps) == names, ("--steps", steps, names)
# Each row says of which step it is, unless another one of it is in front: so none is without where the step begins.
for launch in re.split(r"^launch ", run(skdump, "--steps", *options, package), flags=re.M)[1:]:
    lines = [line for line in launch.splitlines()[2:] if line.strip()]
    assert re.match(r" +\d+ ", lines[0]), lines[0]
numbered = re.findall(r"^ +[0-9]+  ", run(skdump, "--steps", *options, package), re.M)
assert len(numbered) == len({task["step"] for task in chosen}), "a step is numbered once"
reasons = rows(run(skdump, "--reasons", *options, package), "reasons")
assert sorted(name for name, _ in reasons) == names, ("--reasons", reasons, names)

def sums(tasks):
    counts = collections.defaultdict(collections.Counter)
    for task in tasks:
        for name in kernels[task["kernel"]], "all":
            counts[name].update({"tasks": 1, "calls": 1})
            counts[name].update({key: value for key, value in task.get("cost", {}).items() if key != "code"})
    for kernel in data["kernels"]:
        if kernel["name"] in counts:
            counts[kernel["name"]]["code"] = kernel["code"]
            counts["all"]["code"] += kernel["code"]
    return counts

table = [line.split() for line in run(skdump, "--steps", "--by-kernel", *options, package).splitlines()[1:] if line.strip()]
shown = {words[0]: {key: int(word) for key, word in zip(table[0][1:], words[1:])} for words in table[1:]}
assert shown == {name: dict(counter) for name, counter in sums(chosen).items()}, (shown, sums(chosen))

# A prediction has all tasks of this network on its critical path, so that all that are chosen are there.
predicted = run(skrun, "--predict", "--device", "a3", *options, package)
whole = run(skrun, "--predict", "--device", "a3", package)
path = {name for name, _ in rows(whole, "critical path of the fused run, ")}
found = {name for name, _ in rows(predicted, "critical path of the fused run, ")}
assert found and found == path & set(names), (found, names)
by_kernel = run(skrun, "--predict", "--device", "a3", "--by-kernel", *options, package)
assert by_kernel == predicted[:predicted.rindex("\ncritical path")], by_kernel
table = by_kernel[by_kernel.index("by kernel\n"):].splitlines()[2:]
counts = collections.Counter(kernels[task["kernel"]] for task in chosen if task["name"] in path)
assert {line.split()[0]: int(line.split()[1]) for line in table} == dict(counts), (table, counts)
# The times of the kernels are those of the rows of their tasks, to the last digit but rounding.
parts = collections.Counter()
for line in predicted[predicted.rindex("critical path"):].splitlines():
    words = line.split()
    if words and words[0] in known and line.startswith("  "):
        parts[kernels[next(task["kernel"] for task in data["tasks"] if task["name"] == words[0])]] += sum(map(float, words[4:9]))
for line in table:
    name, _, time, _ = line.split()
    assert abs(parts[name] - float(time)) < 0.03 * counts[name] + 0.01, (line, parts[name])
P
compare() {
	/usr/bin/python3 compare.py "$skdump" "$skrun" "$@" || fail "$*"
}
compare decode.sk
compare decode.sk --task '*_1'
compare decode.sk --kernel matmul
compare decode.sk --task 'shared_*_[2]' --kernel 'm*'
compare scopes.sk --launch 1
compare scopes.sk --launch 0 --kernel 'rms*'
compare scopes.sk --task 'norm_2'

# skrun --profile: those tasks, and the others as one row, so that shares are those of all cores.
cp "$top_srcdir/tests/lib/kernels.c" . && compile kernels
cat >profiled.yaml <<'Y'
sklink: 1
tensors:
  x: {dtype: f32, shape: [1048576]}
  a: {dtype: f32, shape: [1048576]}
  b: {dtype: f32, shape: [1048576]}
  y: {dtype: f32, shape: [1048576]}
tasks:
  - {name: first, kernel: scale, args: [x, a], set: {factor: 2}, scope: s}
  - {name: second, kernel: add, args: [x, a, b], scope: s}
  - {name: third, kernel: scale, args: [b, y], set: {factor: 3}, scope: s}
scopes: {s: {options: "profiling=1:tile-fusion=0"}}
Y
"$sklink" profiled.yaml kernels.o -o profiled.sk
adds_up() { # ROWS: the rows of out.txt's table, which is a share of 100
	sed -n '/ share %/,/^all cores/p' out.txt |
		sed '1d; s/^\((other tasks)\|(waits)\|(outside of tasks)\|all cores\)/"&"/' >rows.txt
	/usr/bin/python3 - "$@" <<'P' || { cat out.txt >&2; fail "the rows are not those of $*"; }
import shlex, sys
rows = [shlex.split(line) for line in open("rows.txt")]
assert [row[0] for row in rows[-3:]] == ["(waits)", "(outside of tasks)", "all cores"], rows
assert sorted(row[0] for row in rows[:-3]) == sorted(sys.argv[1:]), rows
# Rows of tasks end in share and wait, of kernels too; all others in the share.
shares = [float(row[-1 if row[0][0] in "(a" and row[0] != "add" else -2]) for row in rows]
assert abs(sum(shares[:-1]) - 100) < 0.06 * len(rows) and shares[-1] == 100, shares
P
}
"$skrun" profiled.sk --random 1 --repeat 9 --cores 1 --profile >out.txt
adds_up first second third
"$skrun" profiled.sk --random 1 --repeat 9 --cores 1 --profile --task '*ir*' >out.txt
adds_up first third "(other tasks)"
"$skrun" profiled.sk --random 1 --repeat 9 --cores 1 --profile --by-kernel >out.txt
adds_up add scale
grep -qE '^scale +2 +18 ' out.txt && grep -qE '^add +1 +9 ' out.txt || { cat out.txt >&2; fail "the calls of kernels"; }
"$skrun" profiled.sk --random 1 --repeat 9 --cores 1 --profile --by-kernel --kernel 'a*' >out.txt
adds_up add "(other tasks)"

# A damaged package's tasks are not followed to kernels that are not there.
printf '#include <stddef.h>\n#include <stdio.h>\n#include "format/skplan.h"\nint main(void)\n{\n\tprintf("%%zu %%zu", %s, %s);\n}\n' \
	'offsetof(struct sk_plan, tasks)' 'offsetof(struct sk_plan_task, kernel)' >places.c
$KERNEL_CC -I"$top_srcdir" places.c -o places
read -r table kernel < <(./places; echo)
table=$((0x$(readelf -SW decode.sk | sed -n 's/.* \.sk\.plan *[A-Z]* *[0-9a-f]* \([0-9a-f]*\) .*/\1/p') + table))
cp decode.sk damaged.sk
printf '\377\377\377\177' | dd of=damaged.sk bs=1 conv=notrunc status=none \
	seek=$((table + $(od -An -td4 -j $table -N 4 decode.sk) + kernel))
for what in "--predict --kernel m*" "--random 1 --profile --task norm_2"; do
	# shellcheck disable=SC2086
	fails_with '^skrun: error: damaged.sk: .*task 0: kernel 2147483647 is out of range' "$skrun" $what damaged.sk
done

# A pattern that matches nothing is most likely misspelt; and the options that filters go with.
none='no task .*matches --task, --kernel and --launch$'
fails_with "^skdump: error: decode.sk: $none" "$skdump" --steps --task 'nrom*' decode.sk
fails_with "^skrun: error: decode.sk: $none" "$skrun" --predict --kernel matmull decode.sk
fails_with "^skrun: error: profiled.sk: $none" "$skrun" profiled.sk --random 1 --profile --launch 1
fails_with "^skdump: error: --launch 1x: not the number of a launch" "$skdump" --steps --launch 1x decode.sk
fails_with "^skdump: error: --launch 4294967295: not the number" "$skdump" --steps --launch 4294967295 decode.sk
fails_with "^skrun: error: --launch -1: not a number from 0" "$skrun" --predict --launch -1 decode.sk
fails_with "^skdump: error: --task, --kernel and --launch choose of --steps and --reasons, and go with these$" \
	"$skdump" --memory --task x decode.sk
fails_with "^skdump: error: --by-kernel sums up --steps, and goes with it$" "$skdump" --reasons --by-kernel \
	decode.sk
fails_with "^skrun: error: --task, --kernel, --launch and --by-kernel go with --profile or --predict$" "$skrun" \
	decode.sk --random 1 --by-kernel
