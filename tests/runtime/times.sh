#!/bin/bash
# skrun --time, --warm-up and --json: the number of runs, that the times are those of the runs, and the results of the
# two together.
. "$top_srcdir/tests/lib/lib.sh"
set -o pipefail
cat >count.c <<'C'
#include "skkernel.h"

void count(double *state, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		state[i] += 1;
}
SK_KERNEL(count, "split=n; inout state f64[n], n i64");

void twice(const double *state, double *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = 2 * state[i];
}
SK_KERNEL(twice, "split=n; in state f64[n], out y f64[n], n i64");
C
compile count
cat >count.yaml <<'Y'
sklink: 1
tensors:
  state: {dtype: f64, shape: [8], role: inout, range: [0, 0]}
  y: {dtype: f64, shape: [8]}
  z: {dtype: f64, shape: [8]}
tasks:
  - {name: count, kernel: count, args: [state], scope: s}
  - {name: y is "twice", kernel: twice, args: [state, y], scope: s}
  - {name: z, kernel: twice, args: [state, z], scope: s}
scopes: {s: {options: "profiling=1:tile-fusion=0"}}
Y
"$sklink" count.yaml count.o -o count.sk

# Runs that warm up are runs, and none that is told about.
"$skrun" count.sk --random 1 --warm-up 4 --repeat 3 --output state=state.npy --profile >out.txt
[ "$(od -An -v -tfD -j128 -N8 state.npy | tr -d ' ')" = 7 ] ||
	fail "4 and 3 runs have counted to $(od -An -v -tfD -j128 -N8 state.npy)"
grep -qE '^3 launches took ' out.txt || { cat out.txt >&2; fail "runs that warm up are profiled"; }

# The line: percentiles if there are enough runs, each no less than the one before it.
says() { # RUNS PATTERN
	"$skrun" count.sk --random 1 --repeat "$1" --time | grep '^Time: ' >time.txt
	grep -qE "^Time: median [0-9.e-]+ ms, fastest [0-9.e-]+ ms of $1 fused runs \(cores [0-9]+\)$2\$" time.txt ||
		{ cat time.txt >&2; fail "the times of $1 runs"; }
}
says 9 ''
says 10 '; 90 % within [0-9.e-]+ ms'
says 99 '; 90 % within [0-9.e-]+ ms'
says 100 '; 90 % within [0-9.e-]+ ms, 99 % within [0-9.e-]+ ms'
sed -E 's/.*median ([0-9.e-]+) .*fastest ([0-9.e-]+) .*90 % within ([0-9.e-]+) .*99 % within ([0-9.e-]+) .*/\1 \2 \3 \4/' time.txt |
	awk 'NF != 4 || !($2 <= $1 && $1 <= $3 && $3 <= $4) { exit 1 }' || fail "the order of $(cat time.txt)"

# Options that do, and do not, go together.
fails_with "^skrun: error: --json prints measured values; it goes with --time or --profile$" "$skrun" count.sk \
	--random 1 --json
fails_with "^skrun: error: --json prints only times; --verify does not go with it$" "$skrun" count.sk --random 1 \
	--json --time --verify
for option in --list --verify --check-split "--measure costs"; do
	# shellcheck disable=SC2086
	fails_with "^skrun: error: --warm-up is for measured runs" "$skrun" count.sk --random 1 --warm-up 1 \
		$option
done
fails_with "^skrun: error: --predict runs no kernel" "$skrun" count.sk --warm-up 1 --predict
fails_with "^skrun: error: --warm-up x: not a number from 0 to 1000000000$" "$skrun" count.sk --warm-up x

# A serial run is on one thread, for any number of cores of the device.
"$skrun" count.sk --random 1 --serial --time --cores 3 | grep -q '^Time: .* of 1 serial runs (one core)' ||
	fail "cores of a serial run"
"$skrun" count.sk --random 1 --serial --time --json --cores 3 | grep -qx '  "cores": \[1\],' ||
	fail "cores of a serial run, as data"
"$skrun" count.sk --random 1 --time --json --cores 3 | grep -qx '  "cores": \[3\],' || fail "cores, as data"

# As data: numbers that follow from the runs' own, and nothing else on standard output; each key is in the manual.
[ -x /usr/bin/python3 ] || { echo "--json is not looked at without python3"; exit 77; }
for runs in 1 7 10 19 20 99 100 101; do
	"$skrun" count.sk --random 1 --repeat $runs --warm-up 2 --time --json >times.json
	"$skrun" count.sk --random 1 --repeat $runs --time --unfused --cores 1 --json --profile >unfused.json
	/usr/bin/python3 - $runs "$top_srcdir/doc/reference/skrun.1" <<'P'
import json, re, sys
runs = int(sys.argv[1])
manual = open(sys.argv[2], encoding="utf-8").read()

def look(path, mode, warm_up):
    data = json.load(open(path))
    assert data["version"] == 1 and data["package"] == "count.sk" and data["network"] is None and data["device"] == "host", data
    assert data["mode"] == mode and data["warm_up"] == warm_up and len(data["cores"]) == 1, data
    time = data["time"]
    seconds = sorted(time["seconds"])
    assert time["runs"] == len(seconds) == runs and seconds[0] > 0, time
    assert time["fastest"] == seconds[0] and time["slowest"] == seconds[-1] and time["median"] == seconds[runs // 2], time
    assert abs(time["mean"] - sum(seconds) / runs) <= 1e-7 * seconds[-1], time
    for percent in 90, 99:
        # The least time that so many of the runs do not exceed.
        found = next(x for x in seconds if 100 * sum(y <= x for y in seconds) >= percent * runs)
        assert time["percentile_%d" % percent] == (found if runs >= 100 // (100 - percent) else None), (percent, time)
    return data

def keys(data):
    for item in data.values() if isinstance(data, dict) else data if isinstance(data, list) else []:
        yield from keys(item)
    if isinstance(data, dict):
        yield from data

data = look("times.json", "fused", 2)
assert "profile" not in data
data = look("unfused.json", "unfused", 0)
profile = data["profile"]
assert [(task["name"], task["kernel"], task["calls"]) for task in sorted(profile["tasks"], key=lambda task: task["name"])] == [
    ("count", "count", runs), ('y is "twice"', "twice", runs), ("z", "twice", runs)], profile
assert profile["launches"] == 3 * runs and profile["core_seconds"] >= profile["run_seconds"] > 0, profile
assert abs(sum(task["run_seconds"] for task in profile["tasks"]) - profile["run_seconds"]) <= 1e-6 * profile["run_seconds"], profile
for key in set(keys(data)):
    assert re.search(r"\bLi (\w+ , )*%s\b" % key, manual), "%s is not in the manual" % key
P
done
"$skrun" count.sk --random 1 --repeat 5 --profile --by-kernel --json --cores 1 >kernels.json
/usr/bin/python3 - "$top_srcdir/doc/reference/skrun.1" <<'P'
import json, re, sys
manual = open(sys.argv[1], encoding="utf-8").read()
data = json.load(open("kernels.json"))
assert "time" not in data
rows = sorted((row["name"], row["tasks"], row["calls"]) for row in data["profile"]["kernels"])
assert rows == [("count", 1, 5), ("twice", 2, 10)], rows
assert all(re.search(r"\bLi %s\b" % key, manual) for key in list(data["profile"]) + list(data["profile"]["kernels"][0]))
P
