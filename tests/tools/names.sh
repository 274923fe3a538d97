#!/bin/bash
# Names from a package never reach a terminal as they are: skdump and skrun escape names with escape sequences, line
# ends, C1 controls, other directions of writing and invalid UTF-8, on standard output and in errors. The same holds for
# sklink and names from a manifest, an object or a model.
. "$top_srcdir/tests/lib/lib.sh"
cp "$top_srcdir/tests/lib/kernels.c" . && compile kernels

# Each name is replaced in the package by as many bytes: ESC [2J; CR LF; U+009B and 0xff; U+202E.
cat >model.yaml <<'M'
sklink: 1
tensors:
  nameAAAA: {dtype: f32, shape: [10]}
  nameBBBB: {dtype: f32, shape: [10]}
  nameCCCC: {dtype: f32, shape: [10]}
  y: {dtype: f32, shape: [10]}
kernels:
  nameDDDD: {symbol: scale, signature: "split=n; in x f32[n], out y f32[n], n i64, factor f32"}
tasks:
  - {name: taskAAAA, kernel: nameDDDD, args: [nameAAAA, nameBBBB], set: {factor: 2}, scope: sp1}
  - {name: taskBBBB, kernel: scale, args: [nameBBBB, nameCCCC], set: {factor: 3}, scope: sp1, stream: 1}
  - {name: taskCCCC, kernel: add, args: [nameCCCC, nameBBBB, y], scope: sp1}
M
"$sklink" --scope-options sp1=profiling=1 model.yaml kernels.o -o model.sk
objcopy -R .sk.report model.sk # which is compressed
LC_ALL=C sed 's/\(name\|task\)AAAA/\1\x1b[2J/g; s/\(name\|task\)BBBB/\1\r\n\x07\x08/g; s/\(name\|task\)CCCC/\1\xc2\x9b\xff\x7f/g
	s/\(name\|task\)DDDD/\1\xe2\x80\xaeD/g' model.sk >named.sk
cmp -s model.sk named.sk && fail "no name was replaced"

# clean STATUS COMMAND…: ends with the status, and prints nothing that is not shown as it is.
clean() {
	wanted=$1
	shift
	status=0
	"$@" >out.txt 2>&1 || status=$?
	[ $status = $wanted ] || { cat -v out.txt >&2; fail "exit status $status, not $wanted: $*"; }
	if LC_ALL=C grep -aq $'[\x01-\x08\x0b-\x1f\x7f]\|\xc2[\x80-\x9f]\|\xe2\x80\xae\|\xff' out.txt; then
		cat -v out.txt >&2
		fail "a control character: $*"
	fi
	cat out.txt >>all.txt
}
escape=$(printf 'task\033[2J')
for option in '' --launches --steps --memory --bindings --reasons --json; do
	clean 0 "$skdump" $option named.sk
done
clean 1 "$skdump" --verify named.sk # entries of tasks have their identifiers as names
clean 0 "$skdump" --explain "$escape" named.sk
clean 1 "$skdump" --explain "$escape." named.sk
clean 1 "$skdump" --diff model.sk named.sk
clean 0 "$skrun" --list named.sk
clean 0 "$skrun" named.sk --random 1 --verify
clean 0 "$skrun" named.sk --random 1 --guard
clean 0 "$skrun" named.sk --random 1 --profile
clean 0 "$skrun" named.sk --predict
clean 1 "$skrun" named.sk
clean 1 "$skrun" named.sk --random 1 --device a3 --cores 100000
clean 1 "$skrun" named.sk "name=x.npy"
for name in 'name\\x1b\[2J' 'task\\x1b\[2J' 'task\\x0d\\x0a\\x07\\x08' 'task\\xc2\\x9b\\xff\\x7f' \
	'name\\xe2\\x80\\xaeD'; do
	grep -q "$name" all.txt || fail "nothing shows $name"
done

# Names that have lost their ends are long, and each is part of the one before: they make their own rows long, not all
# others.
{
	printf 'sklink: 1\ntensors:\n'
	tensors '[10]' t{100..120}
	printf 'tasks:\n'
	for i in {100..119}; do
		printf '  - {name: task%d%0240d, kernel: scale, args: [t%d, t%d], set: {factor: 2}, scope: sp1}\n' $i \
			0 $i $((i + 1))
	done
} >long.yaml
"$sklink" --scope-options sp1=profiling=1 long.yaml kernels.o -o long.sk
LC_ALL=C sed 's/\(task1[01].0*\)\x00/\1x/g' long.sk >endless.sk
"$skrun" endless.sk --random 1 --profile >out.txt
awk '{ if (length > most) most = length } END { exit most < 4000 }' out.txt || fail "no name has lost its end"
awk '/^(task |\(waits\)|\(outside|all cores)/ && length > 400 { bad = 1 } END { exit bad }' out.txt ||
	fail "a long name pads other rows"

# sklink's output for a member of an archive, and for a model: manifests cannot have such names.
mv kernels.o $'ker\x1b[2J\xc2\x9bnels.o'
ar qc named.a ker*.o
: >all.txt
for option in -M --trace --cref --print-gc-sections --stats --why-extract=extracted --trace-symbol=scale \
	--why-live=scale; do
	clean 0 "$sklink" model.yaml named.a $option -o out.sk
done
clean 0 cat extracted
printf 'input x f32 4\nnode Relu no\033[2J\302\233de x -> t\nnode Tanh tanh t -> y\noutput y f32 none\n' |
	"$top_builddir/tests/lib/make-model" named.onnx
for option in -M --report=report.json; do
	clean 0 "$sklink" named.onnx -L "$top_builddir/kernels" -lskernels $option -o out.sk
done
clean 0 cat report.json
for name in 'ker\\x1b\[2J\\xc2\\x9bnels' 'no\\x1b\[2J\\xc2\\x9bde' 'no\\u001b\[2J\\u009bde'; do
	grep -q "$name" all.txt || fail "nothing of sklink shows $name"
done
