#!/bin/bash
# Tasks that run once: their results are there in later runs, of the network, of single launches, of the tasks' own
# entries and of serial runs, on several streams and in several instances; a failing one is run again. Forbidden
# accesses of such tasks are refused.
. "$top_srcdir/tests/lib/lib.sh"
KERNEL_CFLAGS="$KERNEL_CFLAGS -ffunction-sections -fdata-sections"
cp "$top_srcdir/tests/runtime/once-kernels.c" . && compile once-kernels

cat >weights.c <<'C'
#include <stdio.h>
#include <string.h>
int main(void)
{
	char head[128];
	memset(head, ' ', sizeof(head));
	memcpy(head, "\x93NUMPY\x01\x00\x76\x00", 10);
	head[10 + sprintf(head + 10, "{'descr': '<f4', 'fortran_order': False, 'shape': (200,), }")] = ' ';
	head[127] = '\n';
	fwrite(head, 1, sizeof(head), stdout);
	for (int i = 0; i < 200; i++) {
		float weight = (float)(i * 37 % 101);
		fwrite(&weight, 4, 1, stdout);
	}
	return 0;
}
C
$CC -O0 -o weights weights.c && ./weights >w.npy

# manifest TASK…: with these tasks, each the inside of a flow map
manifest() {
	cat <<-'M'
		sklink: 1
		tensors:
		  w: {dtype: f32, shape: [200], data: w.npy}
		  x: {dtype: f32, shape: [200]}
		  p: {dtype: f32, shape: [200]}
		  count: {dtype: i64, shape: [1]}
		  q: {dtype: f32, shape: [200]}
		  c: {dtype: f32, shape: [1]}
		  t: {dtype: f32, shape: [200]}
		  u: {dtype: f32, shape: [200]}
		  y: {dtype: f32, shape: [200], role: output}
		  result: {dtype: i64, shape: [1]}
		tasks:
	M
	printf '  - {%s}\n' "$@"
}
once=('name: packing, kernel: pack, args: [w, p, count], once: true' \
	'name: doubling, kernel: twice, args: [p, q], once: true'
	'name: choice, kernel: first, args: [q, c], once: true')
rest=('name: multiply, kernel: product, args: [x, q, t], scope: s' \
	'name: shift, kernel: add, args: [t, u], set: {c: {tensor: c}}, scope: s'
	'name: again, kernel: product, args: [u, p, y], scope: s' \
		'name: number, kernel: tell, args: [count, result], stream: 1')
manifest "${once[@]}" "${rest[@]}" >m.yaml
sed 's/kernel: pack,/kernel: falter,/' m.yaml >f.yaml
"$sklink" m.yaml once-kernels.o -o m.sk --report m.json --header m.h
"$sklink" f.yaml once-kernels.o -o f.sk
proved m.sk
offset=$("$skdump" --memory m.sk | awk '$3 == "count" { print $1 }')
for device in host a3; do
	for cores in 1 2 3 7; do
		for checks in "" checks; do
			"$top_builddir/tests/runtime/once" ./m.sk f.sk $device $cores $offset $checks ||
				fail "on $device, $cores cores, $checks"
		done
	done
done

# Results that do not tell the number of runs are the same in all kinds of runs.
manifest "${once[@]}" "${rest[@]:0:3}" | sed '/result:/d; /count:/s/}/, role: temporary}/' >v.yaml
"$sklink" v.yaml once-kernels.o -o v.sk
for device in host a3; do
	for cores in 1 2 3 7; do
		for checks in "" "--guard --check-races"; do
			"$skrun" v.sk --random 1 --verify --repeat 2 --device $device --cores $cores $checks >out.txt ||
				fail "$device, $cores cores $checks"
			grep 'bit-identical' out.txt >/dev/null || fail "$device, $cores cores $checks: not compared"
		done
	done
done
for how in "" --unfused --serial; do
	"$skrun" m.sk --random 1 --repeat 5 $how | grep -E 'result +i64 \[1\]: 1 ' >/dev/null || fail "not once: $how"
done

# Temporaries of other tasks lie elsewhere, however little they are used.
"$skdump" --memory m.sk >memory.txt
grep -E ' (p|count|q|c) .*shares' memory.txt && fail "a result shares bytes"
"$skdump" --launches m.sk >launches.txt
[ "$(grep -c 'single, once' launches.txt)" = 3 ] || fail "three launches run once: $(cat launches.txt)"
"$skdump" --reasons m.sk | grep -E 'packing .*RUNS_ONCE' >/dev/null || fail "no reason"
[ "$(grep -c '"once": true' m.json)" = 3 ] || fail "the report does not say what runs once"
[ "$(grep -c '^/\* Runs once' m.h)" = 3 ] || fail "the header does not say what runs once"
"$sklink" m.yaml once-kernels.o -o t.sk --scope-options 's=profiling=1'
"$skrun" t.sk --random 1 --repeat 3 --trace t.json >/dev/null
[ "$(grep -o '"name":"sk_task_packing","cat":"launch"' t.json | wc -l)" = 1 ] || fail "the trace does not have it once"
"$skrun" m.sk --predict | grep -F '7 tasks in 5 launches, as if 3 of them, which run once, had run before' >/dev/null ||
	fail "the prediction does not say what it leaves out"
"$skrun" m.sk --random 1 --measure costs.txt >/dev/null && grep packing costs.txt >/dev/null || fail "not measured"

# refused PATTERN TASK…: a manifest of these is
refused() {
	pattern=$1
	shift
	manifest "$@" >bad.yaml
	fails_with "$pattern" "$sklink" bad.yaml once-kernels.o -o bad.sk
	[ ! -e bad.sk ] || fail "an output in spite of: $pattern"
}
tell='name: last, kernel: product, args: [x, p, y]'
refused "bad.yaml:14:37: task 'a' runs once, but reads 'x', an input, which may differ in the next run" \
	'name: a, kernel: twice, args: [x, p], once: true' "$tell"
refused "bad.yaml:15:.*task 'a' runs once, but reads 't', a temporary" \
	'name: b, kernel: twice, args: [x, t]' 'name: a, kernel: twice, args: [t, p], once: true, stream: 1' "$tell"
refused "bad.yaml:14:40: task 'a' runs once, but writes 'y', an output: its results are temporaries" \
	'name: a, kernel: twice, args: [w, y], once: true'
refused "bad.yaml:15:.*task 'a' runs once, but reads 'p' and writes it: if it fails" \
	'name: b, kernel: twice, args: [w, p], once: true' 'name: a, kernel: change, args: [p], once: true' "$tell"
refused "bad.yaml:14:5: task 'a' runs once, but its kernel 'draw' has hidden state" \
	'name: a, kernel: draw, args: [p], once: true' "$tell"
refused "bad.yaml:15:.*task 'b', which runs every time, writes 'p', a result of task 'a', which runs once" \
	'name: a, kernel: twice, args: [w, p], once: true' 'name: b, kernel: change, args: [p]' "$tell"
for order in "" ", stream: 1, after: b"; do
	refused "bad.yaml:15:5: task 'a' runs once, but comes after task 'b', which runs every time" \
		'name: b, kernel: twice, args: [x, t]' "name: a, kernel: twice, args: [w, p], once: true$order" \
		'name: c, kernel: product, args: [t, p, y]'
done
refused "bad.yaml:15:5: task 'a' runs once, but comes after task 'b', which runs every time" \
	'name: b, kernel: twice, args: [x, t], record: e' \
		'name: a, kernel: twice, args: [w, p], once: true, wait: e, stream: 1' \
	'name: c, kernel: product, args: [t, p, y]'
refused "bad.yaml:14:.*'once' must be false or true, not 'yes'" 'name: a, kernel: twice, args: [w, p], once: yes' \
	"$tell"
