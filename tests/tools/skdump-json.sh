#!/bin/bash
# skdump --json: its numbers are the report's, its explanations are --explain's, its tensors are those of --memory and
# --bindings, and its keys are documented.
. "$top_srcdir/tests/lib/lib.sh"
decode=$top_srcdir/samples/decode_layers/generate
compare="/usr/bin/python3 $top_srcdir/tests/lib/skdump-json.py"
[ -x /usr/bin/python3 ] || { echo "needs python3"; exit 77; }

# compared NAME ARGUMENTS: a link with a report that agrees with the package.
compared() {
	local name=$1
	shift
	"$sklink" "$@" -o $name.sk --report=$name.report
	"$skdump" --json $name.sk >$name.json
	$compare $name.report $name.json "$top_srcdir/doc/reference/skdump-json.md"
}

sh "$decode" 2 1 a3 >decode.yaml
compared decode decode.yaml "$top_builddir/samples/decode_layers/kernels.o"
compared composite "$top_srcdir/samples/composite/composite.yaml" "$top_builddir/samples/composite/kernels.o"
compared bare --no-task-entries decode.yaml "$top_builddir/samples/decode_layers/kernels.o"

# Objects, without folders, and members of archives. Code of task entries, as the symbols say.
ar rc libmine.a "$top_builddir/samples/composite/kernels.o"
compared archive --task-entries "$top_srcdir/samples/composite/composite.yaml" "$dir/libmine.a"
for name in composite archive; do
	nm -S $name.sk | awk '$4 ~ /^sk_(unfused_|thunk\.)/ && $4 !~ /_serial$/ { print $2 }' >sizes.txt
	/usr/bin/python3 - $name.json sizes.txt <<'P' || fail "objects and code of $name"
import json, sys
data = json.load(open(sys.argv[1]))
wanted = "libmine.a(kernels.o)" if "archive" in sys.argv[1] else "kernels.o"
assert [kernel["object"] for kernel in data["kernels"]] == [wanted] * len(data["kernels"]), data["kernels"]
assert data["totals"]["code"]["before"] == sum(int(size, 16) for size in open(sys.argv[2])) > 0, data["totals"]
P
done

# The C library's functions are from there.
cat >copy.yaml <<'M'
sklink: 1
tensors: {x: {dtype: u8, shape: [500]}, y: {dtype: u8, shape: [500]}}
kernels: {copy: {symbol: memcpy, signature: "split=n; out y u8[n], in x u8[n], n u64"}}
tasks: [{name: copy, kernel: copy, args: [y, x]}]
M
compared copy copy.yaml "$top_builddir/samples/composite/kernels.o"
grep -q '"name": "copy", .*"object": "libc.so.6"' copy.json || fail "the object of memcpy: $(grep '"object"' copy.json)"

# The rule that has made a node, sklink's own or the user's.
"$top_builddir/tests/lib/make-model" model.onnx <<'M'
opset 24
input x f32 4x8
output z f32 4x8
node Sigmoid sigmoid x -> s
node Mul swish x s -> y
node Relu relu y -> z
M
echo 'fuse: [{name: doubled, pattern: z = Relu(y), replace: "z = Max(y, 0)"}]' >mine.yaml
compared model model.onnx -L "$top_builddir/kernels" -lskernels --rules=mine.yaml
/usr/bin/python3 -c 'import json, sys; rules = [task.get("rule") for task in json.load(sys.stdin)["tasks"]]; assert rules[0].startswith("\x27Swish\x27 of set ") and rules[1] == "\x27doubled\x27 of set \x27user\x27", rules' \
	<model.json || fail "rules of tasks"

# The comparison sees a number that is another one.
sed 's/"awaits": \[\([0-9]*\)\]/"awaits": []/' decode.json >wrong.json
fails_with 'awaits: the report says' $compare decode.report wrong.json "$top_srcdir/doc/reference/skdump-json.md"
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
for number, task in enumerate(data["tasks"]): # each reader of a temporary reads bytes that an earlier task has written
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
"$skdump" --json names.sk | /usr/bin/python3 -c \
	'import json, sys; data = json.load(sys.stdin); task = data["tasks"][0]; assert task["name"] == "a\"\\</script>" and "reason" not in task and "object" not in data["kernels"][0], data'

# A trace gets onto a page if it is JSON, as Python sees it too, and only then: pieces of JSON, right and wrong, and a
# trace in which bytes are others.
"$skrun" --predict --trace names.trace names.sk >/dev/null
cat >mutate.py <<'P'
import json, random, subprocess, sys
def refuse(word):
    raise ValueError(word)
def is_json(text):
    try:
        json.loads(text.decode(), parse_constant=refuse)
    except (ValueError, RecursionError):
        return False
    return True
def shown(text):
    open("tried.trace", "wb").write(text)
    run = subprocess.run([sys.argv[1], "--html", "tried.html", "--trace", "tried.trace", "names.sk"], capture_output=True)
    return run.returncode == 0 or b": it is a trace of another package: this one has no task " in run.stderr
start, end = b'{"traceEvents":[', b'],"otherData":{}}\n'
pieces = [b'', b'1', b'-1', b'- 1', b'+1', b'01', b'0', b'-0', b'1.', b'.5', b'1.5', b'1e5', b'1E+5', b'1e-5', b'1e', b'1e+', b'0x1', b'1,', b',1', b'1,2',
    b'1 2', b'[]', b'[', b']', b'[1,[2]]', b'[1,]', b'{}', b'{"a":1}', b'{"a":1,}', b'{"a" : 1 , "b":{}}', b'{"a"}', b'{a:1}', b'{1:1}', b'{"a":}', b'{"a":1 "b":2}',
    b'true', b'false', b'null', b'True', b'tru', b'nul', b'NaN', b'Infinity', b'-Infinity', b'undefined', b'""', b'"', b'"a', b"'a'", b'"\\"', b'"\\\\"', b'"\\"a',
    b'"\\/\\b\\f\\n\\r\\t\\""', b'"\\a"', b'"\\<"', b'"<"', b'<', b'"\\u00e4\\uD83D"', b'"\\u00g0"', b'"\\u12"', b'"\\U0001f600"', b'"\t"', b'"\n"', b'"\x7f"', b'\x0c', b'/**/',
    b'"\xc3\xa4"', b'"\xc3"', b'"\xed\xa0\x80"', b'"\xf0\x9f\x98\x80"', b'"\xc0\xaf"', b'\t 1 \r\n', b'[' * 40 + b']' * 40, b'\x00', b'"\x00"', b'}', b']}']
tried = [start + piece + end for piece in pieces]
whole = open("names.trace", "rb").read()
assert is_json(whole) and shown(whole)
chance = random.Random(7)
for i in range(300):
    mutant = bytearray(whole)
    for _ in range(chance.choice([1, 1, 2])):
        at = chance.randrange(len(start), len(mutant) - 3)
        kind = chance.randrange(3)
        mutant[at:at + (kind > 0)] = [chance.choice(b'"\\{}[]:,0123456789-+.eEtrufalsn \n<\x80\x01')] * (kind < 2)
    tried.append(bytes(mutant))
verdicts = [is_json(text) for text in tried]
for text, verdict in zip(tried, verdicts):
    assert shown(text) == verdict, (text, verdict)
print("%d traces, %d of them no JSON" % (len(tried), verdicts.count(False)))
assert 100 < verdicts.count(False) < len(tried) - 100
P
/usr/bin/python3 mutate.py "$skdump" || fail "what is JSON is a matter of opinion"
sed '3s/^/ x/' names.trace >wrong.trace
fails_with '^skdump: error: wrong.trace:3:2: from here on it is not JSON: the trace has been damaged' "$skdump" --html \
	tried.html --trace wrong.trace names.sk

# The trace of another package is refused for this one: one of its tasks is unknown here. Linked with other options it
# is not another one.
sed "s/name: 'a/name: 'b/" names.yaml >others.yaml
if cmp -s names.yaml others.yaml; then fail "no task has another name"; fi
"$sklink" others.yaml k.o -o others.sk
"$skrun" --predict --trace others.trace others.sk >/dev/null
"$skdump" --html others.html --trace others.trace others.sk
for trace in others names; do
	package=$([ $trace = names ] && echo others || echo names)
	fails_with "^skdump: error: $trace.trace:[0-9]*:[0-9]*: it is a trace of another package: this one has no task \".*\"; write it anew with skrun --trace$" \
		"$skdump" --html tried.html --trace names.trace --trace others.trace $package.sk
done
[ ! -e tried.html ] || rm tried.html
"$sklink" --scope-options '*=profiling=1' names.yaml k.o -o profiled.sk
"$skdump" --html tried.html --trace names.trace profiled.sk
fails_with '^skdump: error: --json goes with no other option' "$skdump" --json --steps names.sk
