#!/bin/sh
# skrun --predict and --measure from the command line, costs in manifests, profiles in files.
. "$top_srcdir/tests/lib/lib.sh"
cp "$top_srcdir/tests/lib/kernels.c" . && compile kernels

# manifest DEVICE COST: two elementwise tasks in a scope.
manifest() {
	cat <<-M
	sklink: 1
	device: $1
	tensors:
	  x: {dtype: f32, shape: [64, 16]}
	  t: {dtype: f32, shape: [64, 16]}
	  y: {dtype: f32, shape: [64, 16]}
	tasks:
	  - {name: first, kernel: scale, args: [x, t], set: {factor: 2}, scope: s, cost: $2}
	  - {name: second, kernel: scale, args: [t, y], set: {factor: 3}, scope: s}
	M
}

# A device without a fraction: cores of 1 GHz that move a byte a ns.
plain_profile mine '7 ns' >mine.profile

# The times by hand: 16 units of 64 on 4 cores. The first task takes 4000 / 4, the second moves 8192 / 4 bytes a core.
manifest ./mine.profile '{cycles: 4000}' >model.yaml
# In a tile group it moves half of them, as t is not in memory; a task's own bytes never become negative.
"$sklink" model.yaml kernels.o -o model.sk
"$skrun" --predict --device mine.profile model.sk >out.txt
grep -q '^unfused  *5048.00 *0.0% |' out.txt || fail "unfused, with a group: $(cat out.txt)"
grep -q '^fused  *3024.00 ' out.txt || fail "a group: $(cat out.txt)"
grep -q '^fused, debug-sync-all  *4148.00 ' out.txt || fail "sync-all, with a group: $(cat out.txt)"
sed 's/{cycles: 4000}/{cycles: 4000, bytes: 4000}/' model.yaml >bytes.yaml
"$sklink" bytes.yaml kernels.o -o bytes.sk
"$skrun" --predict --device mine.profile bytes.sk | grep -q '^fused  *3024.00 ' || fail "bytes of a task in a group"
"$sklink" --scope-options '*=tile-fusion=0' model.yaml kernels.o -o model.sk
"$skrun" --predict --device mine.profile model.sk >out.txt
grep -q '^predicted for mine: 4 cores; 2 tasks in 1 launch$' out.txt || fail "$(cat out.txt)"
grep -q '^costs: 1 from manifest and kernels; 1 of no known cost, taken as moving the bytes' out.txt ||
	fail "$(cat out.txt)"
grep -q '^unfused  *5048.00 *0.0% |' out.txt || fail "unfused: $(cat out.txt)"
grep -q '^fused  *4048.00  *19.8% |  *1000.00  *0.00  *0.00  *0.00  *3048.00 |  *75.3%$' out.txt ||
	fail "fused: $(cat out.txt)"
grep -q '^fused, lane barriers  *4148.00 ' out.txt || fail "barriers: $(cat out.txt)"
grep -q '^fused, at no cost  *3048.00 ' out.txt || fail "free: $(cat out.txt)"
grep -q '^  second  *core  *[0-3]  *4048.00 ' out.txt || fail "path: $(cat out.txt)"
"$skrun" --predict --device mine.profile model.sk >again.txt
cmp out.txt again.txt || fail "a prediction differs from the one before"
"$skrun" --predict --device mine.profile --cores 1 model.sk >out.txt
grep -q '^fused  *13.19 ' out.txt || fail "one core: $(cat out.txt)"
"$skdump" --steps model.sk | grep -q 'first .*cycles 4000' || fail "skdump shows no costs"
"$skdump" --verify model.sk >/dev/null
# The profile is an input like any other.
fails_with '^sklink: error: mine.profile: is also an input' "$sklink" model.yaml kernels.o -o mine.profile

# An `operations` attribute of the kernel's signature acts like a task's cost, which takes precedence.
manifest ./mine.profile '{operations: 409600, bytes: 8192}' |
	sed '/name: second/s/scope: s}/scope: s, cost: {operations: 409600, bytes: 8192}}/' >said.yaml
manifest ./mine.profile '{cycles: 9}' | sed -e 's/, cost: {cycles: 9}//' -e 's/kernel: scale/kernel: counted/' \
	-e 's/^tensors:/kernels:\n  counted: {symbol: scale, signature: "split=n operations=400*n; in x f32[n], out y f32[n], n i64, factor f32"}\n&/' >counted.yaml
for way in said counted; do
	"$sklink" $way.yaml kernels.o -o $way.sk
	"$skrun" --predict --device mine.profile $way.sk >$way.txt
	"$skdump" --verify $way.sk >/dev/null
done
grep -q '^costs: 2 from manifest and kernels; 0 of no known cost' counted.txt || fail "$(cat counted.txt)"
sed 's/counted/scale  /' counted.txt | cmp said.txt - || fail "the operations of a signature"
# The same holds for one that uses an attribute, which is the task's.
sed -e 's/kernel: counted/&, attr: {each: 400}/' -e \
	's/operations=400\*n/op=Counted(each=400) operations=attr(each)*n/' counted.yaml >attributed.yaml
"$sklink" attributed.yaml kernels.o -o attributed.sk
"$skdump" --verify attributed.sk >/dev/null
"$skrun" --predict --device mine.profile attributed.sk | cmp - counted.txt ||
	fail "the operations that an attribute says"
sed -i 's/op=Counted(each=400) //' attributed.yaml
fails_with "attribute 'each' is 400, but the kernel does not know it" "$sklink" attributed.yaml kernels.o -o no.sk
sed 's/cost: {operations: 409600, bytes: 8192}/cost: {operations: 1, bytes: 8192}/; s/kernel: scale/kernel: counted/' \
	said.yaml >less.yaml
sed -n '/^kernels:/,/counted:/p' counted.yaml >>less.yaml
"$sklink" less.yaml kernels.o -o less.sk
"$skrun" --predict --device mine.profile less.sk | cmp -s - counted.txt && fail "a task's cost does not come first"

# A cost without a time leaves it to the signature.
sed 's/set: {factor: 2}, scope: s/&, cost: {code: 64}/' counted.yaml >code.yaml
"$sklink" code.yaml kernels.o -o code.sk
"$skrun" --predict --device mine.profile code.sk |
	grep -q '^costs: 2 from manifest and kernels; 0 of no known cost' || fail "a cost of code alone"

# Costs change nothing outside of the plan: the same run, the same dispatchers.
"$skrun" model.sk --random 1 >with.txt
manifest host '{bytes: 1}' >other.yaml
"$sklink" other.yaml kernels.o -o other.sk
"$skrun" other.sk --random 1 | cmp - with.txt || fail "costs change results"
"$skrun" --predict other.sk | grep -q '^predicted for host: 2 cores' || fail "no prediction for the linked device"

# Measured costs: a line a task, and predictions take them.
"$skrun" model.sk --random 1 --repeat 5 --measure costs.txt
[ "$(grep -c '^[a-z]*: [0-9]* ns$' costs.txt)" = 2 ] || fail "$(cat costs.txt)"
printf 'first: 2 us\nsecond: 400 cycles # guessed\n' >costs.txt
"$skrun" --predict --device mine.profile --costs costs.txt model.sk >out.txt
grep -q '^costs: 2 from the cost file; 0 of no known cost$' out.txt || fail "$(cat out.txt)"
grep -q '^fused  *1600.00 ' out.txt || fail "measured: $(cat out.txt)"

# Errors.
echo 'third: 1 ns' >bad.txt
fails_with "^skrun: error: model.sk: bad.txt:1: the package has no task 'third'" \
	"$skrun" --predict --device mine.profile --costs bad.txt model.sk
fails_with "model.sk: the package is linked for device 'mine', which has a profile file: give it with --device" \
	"$skrun" --predict model.sk
fails_with "profile a3 has no lane 'core'" "$skrun" --predict --device a3 model.sk
fails_with "model.sk: none.profile: No such file" "$skrun" --predict --device none.profile model.sk
sed 's/^launch: .*/launch: soon/' mine.profile >bad.profile
fails_with "bad.profile:7: 'launch' must be a number with one of the units ns, us, ms, not 'soon'" \
	"$skrun" --predict --device bad.profile model.sk
fails_with '^skrun: error: --costs goes with --predict' "$skrun" --costs costs.txt model.sk
fails_with '^skrun: error: --predict runs no kernel' "$skrun" --predict --measure x.txt model.sk
fails_with '^skrun: error: --predict runs no kernel' "$skrun" --predict --random 1 model.sk
fails_with '^skrun: error: --measure runs each task alone' "$skrun" --measure x.txt --random 1 --verify model.sk
fails_with 'none/x.txt: the costs: No such file' "$skrun" model.sk --random 1 --measure none/x.txt
fails_with 'standard output' sh -c "'$skrun' --predict --device mine.profile model.sk >/dev/full"

# refused PATTERN DEVICE COST: such a manifest is refused, at the place, and nothing is written.
refused() {
	manifest "$2" "$3" >bad.yaml
	fails_with "^sklink: error: bad\.yaml:$1" "$sklink" bad.yaml kernels.o -o bad.sk
	[ ! -e bad.sk ] || fail "bad.sk was written"
}
refused "8:91: 'cycles' must be an integer from 0 to 9007199254740992, not '1.5'" host '{cycles: 1.5}'
refused "8:82: 'cost' has 'cycles' or 'operations', not both" host '{cycles: 1, operations: 1}'
refused "8:83: .*cycels.*did you mean 'cycles'" host '{cycels: 1}'
refused "8:82: 'cost' must be a map" host 12
refused "2:9: cannot use the device profile: ./none.profile: No such file" ./none.profile '{bytes: 1}'
refused "2:9: cannot use the device profile: bad.profile:7: 'launch' must" bad.profile '{bytes: 1}'
refused "2:9: 'device' .*must be host or a3, not 'a4'; did you mean 'a3'" a4 '{bytes: 1}'
sed 's/^name: .*/name: a3/' mine.profile >bad.profile
refused "2:9: the device profile bad.profile has the name of the built-in one, 'a3'" bad.profile '{bytes: 1}'

# Kernels that start early, and the sides of a mix kernel: the times by hand, on the same cores.
cat >work.c <<'C'
#include "skkernel.h"

void eager(const struct sk_block *block, const float *x, float *y, int64_t n)
{
	sk_wait_pre_task_end(block);
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] + 1;
	sk_set_next_task_start(block);
}
SK_KERNEL(eager, "early-start=both; block, in x f32[n], out y f32[n], n i64");

void pair_mix_aic(const struct sk_block *block, const float *x, float *y, int64_t n)
{
	(void)x;
	(void)y;
	(void)n;
	sk_set_flag(block, 0);
}

void pair_mix_aiv(const struct sk_block *block, const float *x, float *y, int64_t n)
{
	sk_wait_flag(block, 0);
	for (int64_t i = block->index; i < n; i += block->count)
		y[i] = x[i];
}
SK_KERNEL(pair, "mix; block, in x f32[n], out y f32[n], n i64");
C
compile work
# work COSTS …: two plain tasks on cores of their own, then a mix task with a block on each side.
work() {
	cat <<-M
	sklink: 1
	device: ./mine.profile
	tensors:
	  x: {dtype: f32, shape: [64]}
	  a: {dtype: f32, shape: [64]}
	  b: {dtype: f32, shape: [64]}
	  y: {dtype: f32, shape: [64]}
	tasks:
	  - {name: one, kernel: eager, args: [x, a], scope: s, cost: $1}
	  - {name: two, kernel: eager, args: [a, b], stream: 1, after: one, scope: s, cost: $2}
	  - {name: three, kernel: pair, args: [b, y], blocks: 1, scope: s, cost: $3}
	scopes: {s: {options: "$4"}}
	M
}
says() {
	for line; do
		grep -q "^$line" out.txt || fail "no line '$line': $(cat out.txt)"
	done
}
# At 1000 one begins and sets at 1900; two waits up to 2000, and sets at 2500; three goes on at 2600. It waits once,
# 100.
sed -i 's/^name: mine/name: mine-too/' mine.profile
work '{cycles: 1000, after-set: 100}' '{cycles: 1000, before-wait: 400, after-set: 100}' \
	'{cube: {cycles: 300, waits: 1}, vector: {cycles: 200, waits: 1}}' "" >work.yaml
"$sklink" work.yaml work.o -o work.sk
"$skdump" --verify work.sk >/dev/null
"$skdump" --steps work.sk >steps.txt
grep -q 'two .*cycles 1000, before-wait 400, after-set 100' steps.txt || fail "$(cat steps.txt)"
grep -q 'three .*cube side.*cycles 300, waits 1' steps.txt || fail "$(cat steps.txt)"
grep -q 'three .*vector side.*cycles 200, waits 1' steps.txt || fail "$(cat steps.txt)"
"$skrun" --predict --device mine.profile work.sk >out.txt
says 'predicted for mine-too: 4 cores; 3 tasks in 1 launch$' 'costs: 3 from manifest and kernels; 0 of no known cost$' \
	'critical path of the fused run, 3 of 4 steps$' \
	'unfused  *5400.00 ' 'fused  *3000.00 ' \
	'fused, early-start=0/2  *3600.00 ' 'fused, early-start=1  *3000.00 '
work '{cycles: 1000, after-set: 100}' '{cycles: 1000, before-wait: 400, after-set: 100}' \
	'{cube: {cycles: 300, waits: 1}, vector: {cycles: 200, waits: 1}}' early-start=2 >late.yaml
"$sklink" late.yaml work.o -o late.sk
"$skrun" --predict --device mine.profile late.sk >out.txt
says 'fused  *3600.00 ' 'fused, early-start=0/2  *3600.00 ' 'fused, early-start=1  *3000.00 '

# Values that are about another kind of kernel.
work '{cycles: 1, waits: 1}' '{cube: {cycles: 1}, vector: {bytes: 1}}' '{cycles: 2, before-wait: 1}' "" >bad.yaml
fails_with "^sklink: error: bad\.yaml:9:62: kernel 'eager': 'waits' in the cost is only for kernels with sync-all or mix" \
	"$sklink" bad.yaml work.o -o bad.sk
fails_with "bad\.yaml:10:85: kernel 'eager': 'cube' and 'vector' in the cost are only for kernels with mix" \
	"$sklink" bad.yaml work.o -o bad.sk
fails_with "bad\.yaml:11:74: kernel 'pair': 'before-wait' in the cost is only for kernels with early-start=wait or both" \
	"$sklink" bad.yaml work.o -o bad.sk

# The cores' work in a prediction, as a trace: it ends at the time of the tables, and has a slice for each core at each
# step.
"$skrun" --predict --device mine.profile --trace predicted.json model.sk >traced.txt
"$skrun" --predict --device mine.profile model.sk >out.txt
cmp traced.txt out.txt || fail "a prediction with a trace is another one"
fails_with 'none/x.json: No such file' "$skrun" --predict --device mine.profile --trace none/x.json model.sk
fails_with "profile a3 has no lane 'core'" "$skrun" --predict --device a3 --trace x.json model.sk
[ ! -e x.json ] || fail "x.json after an error"
[ -x /usr/bin/python3 ] || { echo "the trace of a prediction is not looked at without python3"; exit 77; }
/usr/bin/python3 - <<'P'
import json, re
events = json.load(open("predicted.json"))["traceEvents"]
text = open("traced.txt").read()
processes = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
assert sorted(processes.values()) == ["fused, core", "unfused, core"], processes
for run in ("unfused", "fused"):
    slices = [event for event in events if event["ph"] == "X" and processes[event["pid"]] == run + ", core"]
    end = max(event["ts"] + event["dur"] for event in slices) * 1000
    assert abs(end - float(re.search("^%s  *([0-9.]+)" % run, text, re.M).group(1))) < 0.01, (run, end)
    assert sorted((event["name"], event["tid"]) for event in slices) == [(name, core) for name in ("first", "second") for core in range(4)]
    for core in range(4): # one at a time
        mine = sorted((event["ts"], event["dur"]) for event in slices if event["tid"] == core)
        assert all(a[0] + a[1] <= b[0] + 1e-6 for a, b in zip(mine, mine[1:])), mine
starts = {event["id"]: event["ts"] for event in events if event["ph"] == "s"}
ends = {event["id"]: event["ts"] for event in events if event["ph"] == "f"}
assert starts.keys() == ends.keys() and all(starts[number] <= ends[number] for number in starts)
P
