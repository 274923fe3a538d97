#!/bin/bash
# --state: an output that is the next run's input is one inout tensor. Rows that are written into it are written in
# place, and nothing else is; where that would be wrong it is copied. Values are those of the model by itself.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/models.sh"
set -- -L "$top_builddir/kernels" -lskernels

# steps PACKAGE NUMBER INPUTS: the package runs that often, however it is run; then the state and y are as wanted.
steps() {
	local words=() name way
	for name in $3; do
		words+=(--input "$name=$name.npy")
	done
	for way in '' --unfused --serial '--cores 7' '--device a3'; do
		cp past.npy state.npy
		for ((step = 0; step < $2; step++)); do
			# shellcheck disable=SC2086 # words
			"$skrun" "$1" --input past=state.npy "${words[@]}" --output past=new.npy --output y=y.npy $way \
				|| fail "$1 $way"
			mv new.npy state.npy
		done
		cmp state.npy state.want.npy || fail "$1 $way: the state is wrong"
		cmp y.npy y.want.npy || fail "$1 $way: y is wrong"
	done
	"$skrun" "$1" --random 1 --verify >out.txt || { cat out.txt; fail "$1: results depend on how it is run"; }
	proved "$1"
}

array past f32 4x2 1 2 3 4 5 6 7 8
array at i64 1x1 2
array row f32 1x2 30 40
array y.want f32 4x2 -1 -2 -3 -4 -30 -40 -7 -8
array state.want f32 4x2 1 2 3 4 30 40 7 8

# A row is written, through a reshape; later readers see it.
model row <<'END'
input past f32 4x2
input at i64 1x1
input row f32 1x2
output present f32 4x2
output y f32 4x2
constant wide i64 3 2 2 2
constant narrow i64 2 4 2
node Reshape _ past wide -> apart
node Reshape _ apart narrow -> joined
node ScatterND _ joined at row -> written
node Reshape _ written narrow -> present
node Neg _ present -> y
END
"$sklink" row.onnx "$@" --state past=present -o row.sk
steps row.sk 2 'at row'
"$skrun" row.sk --list >out.txt
grep -q '^inout *past *f32' out.txt && ! grep -q present out.txt || { cat out.txt; fail "not one tensor"; }
[ "$("$skdump" --steps row.sk | grep -c ' split ')" = 3 ] || { "$skdump" --steps row.sk;
	fail "more than places, Scatter and Neg"; }

# In place the kernel leaves unwritten elements alone: another place is not possible here.
cat >alone.c <<'END'
#include <stdint.h>
#include <sys/mman.h>

void sk_scatter_u32(const uint32_t *x, const int64_t *places, const uint32_t *updates, uint32_t *y, int64_t n, int64_t i, int64_t m,
		    int64_t first);

int main(void)
{
	uint32_t *rows = mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const int64_t elsewhere = 64;
	const uint32_t row[16] = {1};

	sk_scatter_u32(rows, &elsewhere, row, rows, 64, 16, 1, 0);
	return 0;
}
END
$KERNEL_CC alone.c "$top_builddir/kernels/libskernels.a" -o alone
./alone || fail "rows that are not written are copied onto themselves"

# Two updates, one after the other.
model two <<'END'
input past f32 4x2
input at i64 1x1
input row f32 1x2
output present f32 4x2
output y f32 4x2
constant first i64 1x1 0
node ScatterND _ past at row -> one
node ScatterND _ one first row -> present reduction='add'
node Neg _ one -> y
END
array y.want f32 4x2 -1 -2 -3 -4 -30 -40 -7 -8
array state.want f32 4x2 31 42 3 4 30 40 7 8
"$sklink" two.onnx "$@" --state past=present -o two.sk 2>err.txt || { cat err.txt; fail "two"; }
steps two.sk 1 'at row'

# A node after the writing one reads the old contents: the writer writes elsewhere.
model later <<'END'
input past f32 4x2
input at i64 1x1
input row f32 1x2
output present f32 4x2
output y f32 4x2
node ScatterND _ past at row -> present
node Neg _ past -> y
END
array y.want f32 4x2 -1 -2 -3 -4 -5 -6 -7 -8
array state.want f32 4x2 1 2 3 4 30 40 7 8
"$sklink" later.onnx "$@" --state past=present -o later.sk
steps later.sk 1 'at row'

# The rows that are written are the state's own.
model own <<'END'
input past f32 4x2
input at i64 1x1
output present f32 4x2
output y f32 4x2
constant begin i64 1 1
constant end i64 1 2
node Slice _ past begin end begin_axis -> row
constant begin_axis i64 1 0
node ScatterND _ past at row -> present
node Neg _ present -> y
END
array y.want f32 4x2 -1 -2 -3 -4 -3 -4 -7 -8
array state.want f32 4x2 1 2 3 4 3 4 7 8
"$sklink" own.onnx "$@" --state past=present -o own.sk
steps own.sk 2 at

# A window that slides, and an intermediate value that is also an output.
model slides <<'END'
input past f32 4x2
input row f32 1x2
output present f32 4x2
output y f32 4x2
constant begin i64 1 1
constant end i64 1 4
constant axis i64 1 0
node Slice _ past begin end axis -> rest
node Concat _ rest row -> y axis=0
node Identity _ y -> present
END
array y.want f32 4x2 5 6 7 8 30 40 30 40
array state.want f32 4x2 5 6 7 8 30 40 30 40
"$sklink" slides.onnx "$@" --state past=present -o slides.sk
steps slides.sk 2 row

# States that change places.
model swaps <<'END'
input past f32 4x2
input b f32 4x2
output present f32 4x2
output c f32 4x2
output y f32 4x2
node Identity _ b -> present
node Identity _ past -> c
node Add _ past b -> y
END
array b f32 4x2 10
array y.want f32 4x2 11 12 13 14 15 16 17 18
array state.want f32 4x2 10
"$sklink" swaps.onnx "$@" --state past=present --state b=c -o swaps.sk
steps swaps.sk 1 b

# The cache of a decoder: rows of all heads, after the existing ones, around the end.
for mode in linear circular; do
	model cache <<END
opset 24
input past f32 1x2x4x1
input row f32 1x2x2x1
input at i64 1
output present f32 1x2x4x1
output y f32 1x2x4x1
node TensorScatter _ past row at -> present mode='$mode'
node Neg _ present -> y
END
	array past f32 1x2x4x1 1 2 3 4 5 6 7 8
	array row f32 1x2x2x1 10 20 30 40
	if [ $mode = linear ]; then
		array at i64 1 1
		array y.want f32 1x2x4x1 -1 -10 -20 -4 -5 -30 -40 -8
		array state.want f32 1x2x4x1 1 10 20 4 5 30 40 8
	else
		array at i64 1 3
		array y.want f32 1x2x4x1 -20 -2 -3 -10 -40 -6 -7 -30
		array state.want f32 1x2x4x1 20 2 3 10 40 6 7 30
	fi
	"$sklink" cache.onnx "$@" --state past=present -o $mode.sk
	steps $mode.sk 2 'at row'
done
fails_with "^skrun: error: .*task 'present(#[0-9]+)?'" "$skrun" linear.sk --input past=past.npy --input row=row.npy \
	--input at=at.npy

# A step of training: weights and the moments of gradients are written in place, by one task.
array var f32 3 8 8 8
array a f32 3 0 0 0
array g f32 3 1 2 4
array var.want f32 3 6.75 5.5 3
array a.want f32 3 1.5 3 6
model momentum <<'END'
opset 1 mindspore
input var f32 3
input a f32 3
input g f32 3
output next f32 3
output moved f32 3
constant half f32 scalar 0.5
node mindspore:ApplyMomentum _ var a half g half -> next moved
END
"$sklink" momentum.onnx "$@" --state var=next --state a=moved -o momentum.sk
[ "$("$skdump" --steps momentum.sk | grep -c ' split ')" = 1 ] || { "$skdump" --steps momentum.sk;
	fail "more than one task"; }
for ((step = 0; step < 2; step++)); do
	"$skrun" momentum.sk --input var=var.npy --input a=a.npy --input g=g.npy --output var=var2.npy --output a=a2.npy
	mv var2.npy var.npy
	mv a2.npy a.npy
done
cmp var.npy var.want.npy || fail "the weights are wrong"
cmp a.npy a.want.npy || fail "what is remembered is wrong"

# Errors.
refuses "^sklink: error: row.onnx: --state 'past' is not INPUT=OUTPUT\[:ROWS\]$" row --state past
refuses "^sklink: error: row.onnx: --state 'pas=present': the model has no input 'pas'; did you mean 'past'\?$" row \
	--state pas=present
refuses "^sklink: error: row.onnx: --state 'past=presen': the model has no output 'presen'; did you mean 'present'\?$" \
	row --state past=presen
refuses "^sklink: error: row.onnx: --state 'past=y': 'past' is in --state 'past=present' already$" row --state \
	past=present --state past=y
refuses "^sklink: error: swaps.onnx: --state 'b=present': 'present' is in --state 'past=present' already$" swaps \
	--state past=present --state b=present
refuses "--state 'row=present': input 'row' is f32 \[1, 2\], and output 'present' is f32 \[4, 2\]; a cache needs bounds of its rows, or a capacity \(--state row=present:ROWS\)$" row --state row=present
refuses "--state 'past=present': input 'past' is frozen already" row --state past=present --freeze past=b.npy
model same <<'END'
input x f32 2
output x f32 2
output y f32 2
node Neg _ x -> y
END
refuses "^sklink: error: same.onnx: --state 'x=x': output 'x' is also an input$" same --state x=x
