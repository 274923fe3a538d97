#!/bin/bash
# Constants in the manifest equal the same constants in files, for every element type, and travel with --repro.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
cat >kernels.c <<'C'
#include <skkernel.h>
void gather(const float *x, const int *index, const float *bias, const unsigned char *text, float *y, long n)
{
	for (long i = 0; i < n; i++)
		y[i] = x[index[i]] * bias[i] + text[i];
}
SK_KERNEL(gather, "in x f32[m], in index i32[n], in bias f32[n], in text u8[n], out y f32[n], n i64");
C
compile kernels
npy() { # NAME DESCR SHAPE < bytes
	{
		printf '\223NUMPY\001\000v\000%-117s\n' "{'descr': '$2', 'fortran_order': False, 'shape': ($3,), }"
		cat
	} >"$1.npy"
}
printf '\3\0\0\0\0\0\0\0\2\0\0\0\1\0\0\0' | npy index '<i4' 4
printf '\0\0\0\77\0\0\0\77\0\0\0\77\0\0\0\77' | npy bias '<f4' 4 # 0.5
printf 'ab\0\0' | npy text '|u1' 4
model() { # INDEX BIAS TEXT
	cat <<M
sklink: 1
tensors:
  x: {dtype: f32, shape: [4]}
  index: {dtype: i32, shape: [4], $1}
  bias: {dtype: f32, shape: [4], $2}
  text: {dtype: u8, shape: [4], $3}
  y: {dtype: f32, shape: [4]}
tasks:
  - {name: one, kernel: gather, args: [x, index, bias, text, y]}
M
}
model 'data: index.npy' 'data: bias.npy' 'data: text.npy' >model.yaml
"$sklink" -S model.yaml kernels.o -o files.sk
model 'data: [3, 0, 2, 1]' 'fill: 0.5' 'text: ab' >model.yaml
"$sklink" -S model.yaml kernels.o -o inline.sk --repro=again.tar --report=report.json
cmp files.sk inline.sk || fail "constants in the manifest are other ones than those in files"
grep -q '"constants"' report.json || fail "the report does not count them"
printf '\0\0\200\77\0\0\0\100\0\0\100\100\0\0\200\100' | npy x '<f4' 4 # 1 2 3 4
"$skrun" inline.sk --input x=x.npy --output y=y.npy --verify >/dev/null
printf '\0\0\306\102\0\0\305\102\0\0\300\77\0\0\200\77' | npy wanted '<f4' 4 # 4/2 + 97, 1/2 + 98, 3/2, 2/2
cmp y.npy wanted.npy || fail "the results"
tar xf again.tar && (cd again && "$sklink" @response.txt -o again.sk && cmp again.sk "$dir/inline.sk")
