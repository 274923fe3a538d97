#!/bin/bash
# Packages with sizes with bounds: at each size their plan has the numbers of a package that is linked for that size.
# The plan is proved for all of them. Manifests that hold at some sizes only are refused, with the place and the sizes.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/sizes.sh"

manifest() { # DIMS, then tensors and tasks from standard input
	sized_manifest model "$1"
}
# holds NAME=SIZE…: at these sizes the package has the numbers of a static one.
parts_of() {
	objcopy -O binary --only-section=.sk.plan "$1" "$2.plan"
}
linked() {
	"$sklink" model.yaml kernels.o --scope-options "*=tile-fusion=0" -o dynamic.sk || fail "the manifest does not link"
	parts_of dynamic.sk dynamic
	objcopy -O binary --only-section=.sk.dims dynamic.sk dynamic.dims
}
holds() {
	local options=()
	for size in "$@"; do options+=(--dim "$size"); done
	"$sklink" model.yaml kernels.o "${options[@]}" --scope-options s=tile-fusion=0 -o static.sk
	parts_of static.sk static
	"$top_builddir/tests/lib/compare-sizes" dynamic.plan dynamic.dims static.plan "$@" ||
		fail "another plan at $*: $(cat model.yaml)"
}
awaits() { # NUMBER
	"$skdump" dynamic.sk | grep -q " steps\?, $1 awaits\?$" || fail "not $1 awaits: $("$skdump" dynamic.sk)"
}

cp rows.yaml model.yaml
linked
awaits 0
for size in '1 1' '1 2' '8 512' '3 77' '2 1' '1 512'; do holds batch=${size% *} seq=${size#* }; done

cp widths.yaml model.yaml
linked
awaits 2
for size in '1 8' '2 16' '40 64' '17 24'; do holds rows=${size% *} width=${size#* }; done

cp views.yaml model.yaml
linked
for size in '1 2 16' '5 33 64' '2 17 32' '4 4 48'; do set -- $size; holds batch=$1 seq=$2 width=$3; done

cp parts.yaml model.yaml
linked
for size in 64 128 4096 960; do holds n=$size; done

# Least and greatest sizes, as lengths that are divided and as rows.
for shape in '["min(a,b)"]' '["max(a,b)+a"]' '["min(a,b)+1", a]' '["max(a,b)//2", 2*b]'; do
	manifest 'a: 2..9, b: 3..12' <<-M
	tensors:
	  x: {dtype: f32, shape: $shape}
	  u: {dtype: f32, shape: $shape}
	  "y": {dtype: f32, shape: $shape}
	tasks:
	  - {name: add, kernel: add, args: [x, x, u], scope: s}
	  - {name: whole, kernel: whole, args: [u, "y"], scope: s}
	M
	linked
	for size in '2 3' '5 4' '9 12' '9 3'; do holds a=${size% *} b=${size#* }; done
done

# Scalars of tasks with rows, of which there is a single one where the least of both is not a.
manifest 'a: 1..7, b: 1..12' <<'M'
tensors:
  x: {dtype: f32, shape: ["ceil(b/5)", "2*b"]}
  part: {of: x, shape: ["ceil(b/5)", b]}
  u: {dtype: f32, shape: ["ceil(b/5)", b]}
  z: {dtype: f32, shape: ["ceil(b/5)", b]}
tasks:
  - {name: first, kernel: rows, args: [part, u], set: {factor: a}, scope: s}
  - {name: second, kernel: rows, args: [part, z], set: {factor: "min(a,b)"}, scope: s}
M
linked
for size in '7 1' '7 5' '7 6' '3 12' '1 1' '7 12'; do
	dims=(--dim "a=${size% *}" --dim "b=${size#* }")
	"$sklink" model.yaml kernels.o "${dims[@]}" -o static.sk
	"$skrun" dynamic.sk "${dims[@]}" --random 1 --output u=u.npy --output z=z.npy >out.txt
	"$skrun" static.sk --random 1 --output u=static.u.npy --output z=static.z.npy >out.txt
	cmp u.npy static.u.npy && cmp z.npy static.z.npy || fail "other results at a=${size% *}, b=${size#* }"
done

# A read of bytes that the write after it leaves alone: a write of these conflicts with the read at some sizes.
for views in '[0] [n] [n] [n] [1]' '[n] [n] [1] [2*n-1] [n-1]'; do
	read -r place length read_place read_length last <<<"$views"
	manifest 'n: 1..8' <<-M
	tensors:
	  a: {dtype: f32, shape: [n]}
	  c: {dtype: f32, shape: [1]}
	  r: {dtype: f32, shape: $read_length}
	  t: {dtype: f32, shape: [2*n], role: inout}
	  written: {of: t, offset: $place, shape: $length}
	  read: {of: t, offset: $read_place, shape: $read_length}
	  last: {of: t, offset: $last, shape: [1]}
	tasks:
	  - {name: first, stream: 0, kernel: add, args: [a, a, written]}
	  - {name: read, stream: 1, kernel: whole, args: [read, r]}
	  - {name: again, stream: 0, kernel: add, args: [a, a, written]}
	  - {name: last, stream: 2, kernel: add, args: [c, c, last]}
	M
	linked
done

# A product of sizes of which one is the least of two, and forms of few sizes.
for shape in '["min(n,5)*(n+k)"]' '["max(n,k)*(n+3)", "n-n//2"]' '["(n//2+1)", "k*k*n*n"]'; do
	manifest 'n: 2..9, k: 3..4' <<-M
	tensors:
	  x: {dtype: f32, shape: $shape}
	  u: {dtype: f32, shape: $shape}
	  "y": {dtype: f32, shape: $shape}
	tasks:
	  - {name: add, kernel: add, args: [x, x, u], scope: s}
	  - {name: whole, kernel: whole, args: [u, "y"], scope: s}
	M
	linked
	for size in '2 3' '9 4' '5 4' '4 3'; do holds n=${size% *} k=${size#* }; done
done

# Refusals.
wrong() { # PATTERN DIMS SHAPE OF X, OF Y, KERNEL
	manifest "$2" <<-M
	tensors:
	  x: {dtype: f32, shape: $3}
	  z: {dtype: f32, shape: $4}
	tasks:
	  - {name: t, kernel: whole, args: [x, z], scope: s}
	M
	refused "$1" kernels.o
}
wrong "model.yaml:7:[0-9]*: kernel 'whole': extent 'n' is 512 in argument 'y'" 'n: 1..512' '[n]' '[512]'
grep -q '^>>> at n=[0-9]*$' err.txt || fail "no sizes: $(cat err.txt)"
wrong "model.yaml:4:3: tensor 'x': an extent is .* at n=8, k=8 and .*, which is .*; a number must not shrink" \
	'n: 1..8, k: 1..8' '[9-n+k]' '[9-n+k]'
# Ranges of blocks, of extents that blocks divide, and of others.
for m in 3..30:3 4..30; do
	manifest "m: $m, k: 1..5" <<-'M'
	tensors:
	  x: {dtype: f32, shape: [m, k]}
	  z: {dtype: f32, shape: [m, k]}
	tasks:
	  - {name: t, kernel: ranges, args: [x, z], blocks: 3, scope: s}
	M
	[ $m = 3..30:3 ] || refused "model.yaml:7:.* argument 'first': .* a value with other parts .* is a multiple of the blocks at all sizes" kernels.o
	[ $m = 4..30 ] && continue
	linked
	for size in '3 1' '30 5' '12 2'; do holds m=${size% *} k=${size#* }; done
done
# A view that leaves its tensor at a single size.
for n in 1..9 2..9; do
	manifest "n: $n" <<-'M'
	tensors:
	  x: {dtype: f32, shape: [n]}
	  part: {of: x, shape: [2]}
	  z: {dtype: f32, shape: [2]}
	tasks:
	  - {name: t, kernel: whole, args: [part, z], scope: s}
	M
	[ $n = 2..9 ] || refused "model.yaml:5:.* view 'part' ends after 'x' in dimension 0: 0 \+ 2 > 1" kernels.o
done
grep -q '^>>> at n=1$' err.txt || fail "no size: $(cat err.txt)"
linked
manifest 'n: 1..9' <<'M'
tensors:
  x: {dtype: f32, shape: [n, 8]}
  part: {of: x, offset: [1, 4], shape: [n-1, 4]}
  z: {dtype: f32, shape: [n-1, 4]}
tasks:
  - {name: t, kernel: rows, args: [part, z], set: {factor: 1}, scope: s}
M
refused "model.yaml:8:5: task 't': at n=1 it has no rows; give bounds without these sizes" kernels.o
# Quotients of single dimensions take few sizes; those of sums take nearly all.
for shape in a//127+b//131+1 '(a+b)//127+(a+3*b)//131+1'; do
	manifest 'a: 1..1009, b: 1..1013' <<M
tensors:
  x: {dtype: f32, shape: ["$shape"]}
  z: {dtype: f32, shape: ["$shape"]}
$(printf '  t%s: {dtype: f32, shape: [8]}\n' {0..300})
tasks:
  - {name: t, kernel: whole, args: [x, z], scope: s}
$(for i in {1..300}; do echo "  - {name: t$i, kernel: whole, args: [t$((i - 1)), t$i], scope: s}"; done)
M
	[ "$shape" = a//127+b//131+1 ] || continue
	linked
done
refused "calls would have to be compared with signatures [0-9]* times, .* narrow the bounds of sizes" kernels.o
manifest 'n: 1..8' </dev/null
sed -i '/^tasks/,$d' model.yaml
cat >>model.yaml <<'M'
tensors:
  x: {dtype: f32, shape: [n], fill: 1}
  z: {dtype: f32, shape: [n]}
tasks:
  - {name: t, kernel: whole, args: [x, z]}
M
refused "model.yaml:4:3: tensor 'x': its size is 32 at n=8 and .*, which a constant must not depend on" kernels.o
sed -i 's/, fill: 1//' model.yaml
