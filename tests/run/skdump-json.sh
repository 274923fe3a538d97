#!/bin/bash
# skdump --json: its numbers are the report's, its explanations are --explain's, its tensors are those of --memory and --bindings, and
# its keys are documented.
. "$top_srcdir/tests/lib/lib.sh"
decode=$top_srcdir/samples/decode_layers/generate
compare="/usr/bin/python3 $top_srcdir/tests/run/skdump-json.py"
[ -x /usr/bin/python3 ] || { echo "needs python3"; exit 77; }

# compared NAME ARGUMENTS: a link whose report and package say the same.
compared() {
	local name=$1
	shift
	"$sklink" "$@" -o $name.sk --report=$name.report
	"$skdump" --json $name.sk >$name.json
	$compare $name.report $name.json "$top_srcdir/doc/skdump-json.md"
}

sh "$decode" 2 1 a3 >decode.yaml
compared decode decode.yaml "$top_builddir/samples/decode_layers/kernels.o"
compared composite "$top_srcdir/samples/composite/composite.yaml" "$top_builddir/samples/composite/kernels.o"
compared bare --no-task-entries decode.yaml "$top_builddir/samples/decode_layers/kernels.o"

# The comparison sees a number that is another one.
sed 's/"awaits": \[\([0-9]*\)\]/"awaits": []/' decode.json >wrong.json
fails_with 'awaits: the report says' $compare decode.report wrong.json "$top_srcdir/doc/skdump-json.md"
fails_with 'is not documented' $compare decode.report decode.json /dev/null

for name in decode composite; do
	/usr/bin/python3 - $name.json "$skdump" $name.sk <<'P'
import json, re, subprocess, sys
data = json.load(open(sys.argv[1]))
names = [task["name"] for task in data["tasks"]]
shown = subprocess.run([sys.argv[2], sys.argv[3]] + [word for name in names for word in ("--explain", name)],
                       check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout
assert shown == "".join(task["explanation"] for task in data["tasks"]), "explanations"
# The tables have offset, bytes and name of temporaries; number, name, role, type of bindings.
memory = subprocess.run([sys.argv[2], "--memory", sys.argv[3]], check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout
rows = re.findall(r"^ +(\d+) +(\d+)  (\S+)", memory, re.M)
assert rows and sorted(rows) == sorted((str(t["offset"]), str(t["bytes"]), t["name"]) for t in data["tensors"]
                                       if t["space"] in ("workspace", "scratch")), "memory"
bindings = subprocess.run([sys.argv[2], "--bindings", sys.argv[3]], check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout
rows = re.findall(r"^ +(\d+)  (\S+) +(\S+) +(\S+) +(\[[^]]*\]) +(\d+)$", bindings, re.M)
assert rows and rows == [(str(t["binding"]), t["name"], t["role"], t["dtype"], str(t["shape"]), str(t["bytes"])) for t in
                         sorted((t for t in data["tensors"] if "binding" in t), key=lambda t: t["binding"])], "bindings"
for number, task in enumerate(data["tasks"]): # each reader of a temporary reads what an earlier task has written
    for tensor in task["reads"]:
        if data["tensors"][tensor]["role"] == "temporary":
            assert any(tensor in earlier["writes"] for earlier in data["tasks"][:number]), task["name"]
P
done

# Names of any bytes, and a package without its account.
cat >names.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: f32, shape: [8]}
  y: {dtype: f32, shape: [8]}
tasks:
  - {name: 'a"\</script>', kernel: k, args: [x, y]}
M
cat >k.c <<'C'
#include "skkernel.h"
void k(const float *x, float *y, long n)
{
	for (long i = 0; i < n; i++)
		y[i] = x[i];
}
SK_KERNEL(k, "in x f32[n], out y f32[n], n i64");
C
compile k
compared names names.yaml k.o
objcopy -R .sk.report names.sk
"$skdump" --json names.sk | /usr/bin/python3 -c 'import json, sys; task = json.load(sys.stdin)["tasks"][0]; assert task["name"] == "a\"\\</script>" and "reason" not in task, task'
fails_with '^skdump: error: --json goes with no other option' "$skdump" --json --steps names.sk
