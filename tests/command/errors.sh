#!/bin/bash
# Bad input: a located error, exit status 1, no output file.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
cp "$top_srcdir/tests/lib/kernels.c" . && compile kernels
printf 'int missing(void);\nvoid needs(float *y, long n) { y[0] = missing() + n; }\n' >needs.c
compile needs

model() {
	cat >model.yaml <<M
sklink: 1
tensors:
  x: {dtype: ${dtype:-f32}, shape: ${shape:-[64, 16]}}
  y: {dtype: f32, shape: [64, 16]}
${kernels:-}
tasks:
  - {name: only, kernel: ${kernel:-scale}, args: ${args:-[x, y]}, ${set:-set: {factor: 2\}}}
M
}

model
"$sklink" model.yaml kernels.o -o good.sk
refused '^sklink: error: nowhere\.o: ' nowhere.o
kernel=scael model
refused '^sklink: error: model\.yaml:7:[0-9]+: .*scael.*did you mean .scale.' kernels.o
dtype=f64 model
refused '^sklink: error: model\.yaml:[0-9]+:[0-9]+: .*f64' kernels.o
shape='[64, 17]' model
refused '^sklink: error: model\.yaml:[0-9]+:[0-9]+: .*1088.*1024|1024.*1088' kernels.o
args='[x, z]' model
refused '^sklink: error: model\.yaml:7:[0-9]+: .*z' kernels.o
set='set: {facter: 2}' model
refused "did you mean 'factor'" kernels.o
kernel=needs args='[y]' set='stream: 0' kernels='kernels:
  needs: {signature: "out y f32[n], n i64"}' model
sed -i '/^  x:/d' model.yaml
refused 'undefined symbol: missing' needs.o
grep -q 'needs' err.txt || fail "the user of the symbol is not named"
printf 'long __isoc23_strtol(const char *, char **, int); double __exp_finite(double);\nvoid needs(float *y, long n) { y[0] = __exp_finite(__isoc23_strtol("7", 0, 10)) + n; }\n' >needs.c
compile needs
refused "undefined symbol: __isoc23_strtol; .*: --defsym=__isoc23_strtol=strtol$" needs.o
refused "undefined symbol: __exp_finite; .*: --defsym=__exp_finite=exp$" needs.o
"$sklink" model.yaml needs.o --defsym=__isoc23_strtol=strtol --defsym=__exp_finite=exp -o renamed.sk
kernels='  v: {of: x, shape: [32, 16]}
  w: {of: y, shape: [32, 16]}' args='[v, w]' model
refused "^sklink: error: model\.yaml:4:3: no task writes bytes \[2048, 4096\) of 'y' \(elements \[512, 1024\)\), an output" kernels.o
kernels='  t: {dtype: f32, shape: [64, 16]}
  v: {of: t, shape: [32, 16]}
  w: {of: t, offset: [32, 0], shape: [32, 16]}' args='[t, y]' model
sed -i '/^tasks:/a\  - {name: half, kernel: scale, args: [w, v], set: {factor: 1}}' model.yaml
refused "^sklink: error: model\.yaml:9:40: task 'half' reads bytes \[2048, 4096\) of 't'" kernels.o
model
ar rc kernels.a kernels.o
"$sklink" model.yaml kernels.a -o archive.sk
size=$(stat -c %s kernels.a)
for cut in 8 40 68 100 $((size / 2)) $((size - 1)); do
	head -c "$cut" kernels.a >cut.a
	refused '^sklink: error: (cut\.a|model\.yaml)' cut.a
done
for cut in 0 16 63 200 $(($(stat -c %s kernels.o) - 1)); do
	head -c "$cut" kernels.o >cut.o
	refused '^sklink: error: cut\.o' cut.o
done
# An input is never overwritten, under any name and wherever it was named.
model
mkdir -p sub
cp kernels.o input.o
ar rc libinput.a kernels.o
ln -f model.yaml linked.yaml
echo '-L . -l input' >words
printf '\223NUMPY\1\0\166\0%-117s\n%4s' "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}" '' >c.npy
printf 'sklink: 1\ntensors: {x: {dtype: f32, shape: [1], data: c.npy}, y: {dtype: f32, shape: [1]}}\n%s\n%s\n' \
	'kernels: {scale: {object: libinput.a}}' \
	'tasks: [{name: only, kernel: scale, args: [x, y], set: {factor: 2}}]' >data.yaml
sums=$(cat input.o libinput.a model.yaml words c.npy data.yaml | cksum)
for command in 'model.yaml input.o -o input.o' 'model.yaml input.o -o sub/../input.o' \
	'model.yaml input.o -o linked.yaml' \
	'model.yaml @words -o words' 'model.yaml @words -o libinput.a' 'data.yaml -o c.npy' 'data.yaml -o libinput.a' \
	'data.yaml -o data.yaml'; do
	fails_with "^sklink: error: ${command##*-o }: is also an input" "$sklink" $command
	[ "$(cat input.o libinput.a model.yaml words c.npy data.yaml | cksum)" = "$sums" ] ||
		fail "an input has changed: $command"
done
"$sklink" data.yaml -o good2.sk # it is the output that was wrong

# No two outputs are one file, under any name; and if a requested output beside it fails, there is no package.
for option in -Map --dependency-file --header --report --repro --time-trace --why-extract; do
	refused "^sklink: error: \./out\.sk: would be written by both -o and $option" kernels.o $option=./out.sk
done
for option in -Map --dependency-file --header --report --why-extract; do
	refused "^sklink: error: none/text: cannot create the file" kernels.o --header=text.h -Map=text.map \
		$option=none/text
	[ -z "$(ls | grep '^text')" ] || fail "$option: something was left behind: $(ls)"
done
refused '^sklink: error: sub/../both: would be written by both -Map and --report' kernels.o -Map=both \
	--report=sub/../both

fails_with "'-o' wants a value" "$sklink" model.yaml kernels.o -o ''
fails_with 'an argument is empty' "$sklink" model.yaml '' -o x.sk
fails_with "kernels\.o: is an object or an archive; the first argument is the manifest" "$sklink" kernels.o model.yaml \
	-o x.sk
fails_with '^sklink: error: sub: cannot open the file: Is a directory' "$sklink" model.yaml kernels.o -o sub
fails_with '^sklink: error: sub/none/x\.sk: .*No such file' "$sklink" model.yaml kernels.o -o sub/none/x.sk
echo '@loop' >loop
fails_with '^sklink: error: loop:1:1: response files are nested' "$sklink" @loop
printf 'model.yaml "kernels.o -o x.sk' >words
fails_with '^sklink: error: words:1:12: a quote is not closed' "$sklink" @words
printf 'model.yaml\n@inner' >outer
printf 'kernels.o -o\n  x.sk "--scope-options=none=profiling=1" \n"--scope\n-options" a=b' >inner
fails_with "^sklink: error: inner:3:1: unknown option '--scope" "$sklink" @outer
[ "$(sed -n 2p err.txt)" = '>>> expanded from outer:2:1' ] || { cat err.txt; fail "where a response file is named"; }
sed -i 2q inner
fails_with "^sklink: error: --scope-options:1:1: unknown scope" "$sklink" @outer
[ "$(grep expanded err.txt)" = "$(printf '>>> expanded from inner:2:8\n>>> expanded from outer:2:1')" ] ||
	{ cat err.txt; fail "where an option of a response file stands"; }
printf '"model.yaml" kern\\els.o\n  -o '"'"'with blank.sk'"'"'\n' >words
"$sklink" @words && [ -e 'with blank.sk' ] || fail "quotes in a response file"
[ ! -e x.sk ] || fail "something was left behind"

fails_with 'no manifest' "$sklink"
fails_with "no output" "$sklink" model.yaml
fails_with "did you mean '--whole-archive'" "$sklink" --whole-archiv model.yaml -o x.sk
fails_with 'nomodel\.yaml' "$sklink" nomodel.yaml -o x.sk

# Names in messages cannot command a terminal: neither with ESC nor with the CSI of 8 bits, as UTF-8 has it.
name=$(printf 'no\033[1m\302\233wh\303\251re.o')
fails_with 'no\\x1b\[1m\\xc2' "$sklink" model.yaml "$name" -o x.sk
! grep -q "$(printf '\033\|\302\233')" err.txt || fail "a control character reaches the terminal"
grep -q "$(printf 'wh\303\251re')" err.txt || fail "a letter is taken for a control character"

# One task in 20,000 scopes: names are joined without a copy for each.
{
	echo 'sklink: 1'
	echo 'tensors:'
	tensors '[16]' x y
	echo 'tasks:'
	echo "  - {name: t, kernel: prefix, args: [x, y], scope: [$(seq -s ', ' -f 's%.0f' 20000)]}"
} >many.yaml
"$sklink" many.yaml kernels.o -o many.sk --stats >stats.txt
awk '/^peak memory in KiB/ && $NF < 400000 { found = 1 } END { exit !found }' stats.txt ||
	fail "much memory: $(tail -1 stats.txt)"

# 3,000 tasks with an op that none of 3,000 kernels fits, and no kernel can be excluded at once: each misfit is examined
# twice (does it fit, how near is it), and after a million examinations no further task is checked.
{
	echo 'sklink: 1'
	echo 'tensors:'
	tensors '[16]' x y
	echo 'kernels:'
	for i in $(seq 3000); do echo \
		"  k$i: {symbol: prefix, signature: \"op=sum; in x f32[n*$((i + 16))], out y f32[n], n i64\"}"; done
	echo 'tasks:'
	for i in $(seq 3000); do echo "  - {name: t$i, op: sum, args: [x, y]}"; done
} >misfits.yaml
fails_with "^sklink: error: misfits.yaml:.*no kernel for op 'sum' fits task 't175'" "$sklink" misfits.yaml kernels.o \
	-o x.sk --error-limit=0
[ "$(grep -c 'no kernel for op' err.txt)" = 175 ] ||
	fail "$(grep -c 'no kernel for op' err.txt) tasks have been looked at"

# 2,000 tasks that only the last of 2,000 kernels of their op fits: no text is made for kernels that do not fit.
{
	echo 'sklink: 1'
	echo 'tensors:'
	tensors '[16]' x y
	echo 'kernels:'
	for i in $(seq 100 2099); do echo \
		"  k$i: {symbol: prefix, signature: \"op=sum; in x f32[$i], out y f32[n], n i64\"}"; done
	echo '  last: {symbol: prefix, signature: "op=sum; in x f32[n], out y f32[n], n i64"}'
	echo 'tasks:'
	for i in $(seq 2000); do echo "  - {name: t$i, op: sum, args: [x, y]}"; done
} >last.yaml
"$sklink" last.yaml kernels.o -o last.sk --stats >stats.txt
awk '/^peak memory in KiB/ && $NF < 200000 { found = 1 } END { exit !found }' stats.txt ||
	fail "much memory: $(tail -1 stats.txt)"

# To explain why the others were not picked, it examines them more than a million times, and leaves nothing out.
"$sklink" last.yaml kernels.o -o explained.sk $(seq -f '--explain=t%.0f' 600) >said.txt
[ "$(grep -c '    and 1980 more' said.txt)" = 600 ] ||
	fail "$(grep -c '    and 1980 more' said.txt) tasks are explained"
cmp -s last.sk explained.sk || fail "--explain makes another package"

# Output that cannot be written is also an error.
for command in "$sklink --stats model.yaml kernels.o -o out.sk" "$sklink --help" "$skdump good.sk"; do
	fails_with 'cannot write to standard output' sh -c "$command >/dev/full"
done

# The package cut anywhere before the end of its last segment.
end=0
while read -r offset size; do
	((offset + size > end)) && end=$((offset + size))
done < <(readelf -lW good.sk | awk '$1 == "LOAD" { print $2, $5 }')
[ "$end" -gt 4096 ] || fail "cannot find the end of the last segment"
for ((cut = 0; cut < end; cut += 97)); do
	head -c "$cut" good.sk >cut.sk
	fails_with '^skrun: error: ' "$skrun" cut.sk --random 1
	fails_with '^skdump: error: ' "$skdump" --verify cut.sk
done
head -c $((end - 1)) good.sk >cut.sk
fails_with '^skrun: error: .*cut\.sk' "$skrun" cut.sk --random 1
