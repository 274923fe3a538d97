# Constants of models that are computed when linking: small integers in place, everything else in few processes, and
# never so that the package is larger than the model unless that is asked for.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/models.sh"
needs_python

# make KIND ARGUMENT…: the models of that kind.
make() {
	"$python" "$top_srcdir/tests/lib/folded-models.py" "$@"
}

# counts NAME MOST: linking NAME.onnx starts at most so many processes.
counts() {
	"$sklink" "$1.onnx" -L "$top_builddir/kernels" -lskernels --stats -o "$1.sk" >stats.txt
	local children

	children=$(sed -n 's/^processes for constants  *//p' stats.txt)
	[ -n "$children" ] && [ "$children" -le "$2" ] || fail "$1: $children processes for constants"
}

# ---- shapes that are computed from shapes need no process, however deep they are ----
make windows 60
counts windows 0
agrees "--cores=1 --cores=3 --unfused" windows

# ---- small numbers are those that kernels compute ----
for seed in 1 2 3 7 12 17; do
	make numbers $seed
	counts numbers 3
	agrees "--cores=1" numbers
done

# ---- no result makes a package larger than its model ----
make sizes

# size FILE
size() {
	stat -c %s "$1"
}

all=(halves quantised slopes mask positions dilated shared)
agrees "--cores=1 --cores=2 --serial --unfused" "${all[@]}"
for name in "${all[@]}"; do
	model=$(size $name.onnx) package=$(size $name.sk)
	# 64 KiB of constants and 192 KiB of kernels are free
	[ $package -le $((model + model / 20 + 262144)) ] || fail "$name: a package of $package bytes for $model"
	"$sklink" $name.onnx -L "$top_builddir/kernels" -lskernels --fold=all -o all.sk
	[ $(size all.sk) -ge $package ] || fail "$name: --fold=all makes a smaller package"
	"$skrun" all.sk --input=x=$name.x.npy --output=y=all.npy
	cmp all.npy "$name--unfused.y.npy" || fail "$name: folded and computed once, the results differ"
	"$skrun" $name.sk --input=x=$name.x.npy --verify >/dev/null || fail "$name: --verify"
done
for name in halves quantised mask positions shared; do # these are at least a quarter larger
	"$sklink" $name.onnx -L "$top_builddir/kernels" -lskernels --fold=all -o all.sk
	[ $((4 * $(size all.sk))) -ge $((5 * $(size $name.sk))) ] || fail "$name: --fold=all folds nothing"
	"$skdump" --launches $name.sk | grep -qE "^ *0  sk_task_.*once  *single, once" || fail "$name: nothing runs once"
done

# What is left out, and what is folded at a cost, is explained.
"$sklink" halves.onnx -L "$top_builddir/kernels" -lskernels --check --explain n3 >explained.txt
grep -qE "^constant '.*' has 1\.5 MiB, and is computed from 768\.0 KiB: it is computed once for each instance\.$" \
	explained.txt || { cat explained.txt >&2; fail "what is left out is not explained"; }
"$sklink" halves.onnx -L "$top_builddir/kernels" -lskernels --check --explain n3 --fold=all >explained.txt
grep -qE "^constant '.*' has 1\.5 MiB, and is computed from 768\.0 KiB: it is in the package\.$" explained.txt ||
	{ cat explained.txt >&2; fail "the cost of folding is not explained"; }
fails_with "^sklink: error: --fold wants all, not 'some'" "$sklink" halves.onnx -L "$top_builddir/kernels" -lskernels \
	--fold=some -o out.sk

# Sizes within bounds, several networks, and objects for programs fold everything.
"$sklink" rows.onnx -L "$top_builddir/kernels" -lskernels --dim n=1..8 -o rows.sk
! "$skdump" --launches rows.sk | grep -q once || fail "tasks would run again for each size"
"$skrun" rows.sk --input=x=rows.x.npy --output=y=rows.y.npy
cmp rows.y.npy halves--unfused.y.npy || fail "rows: other results"
"$sklink" rows.onnx -L "$top_builddir/kernels" -lskernels --dim small:n=1 --dim large:n=4 -o nets.sk
! "$skdump" --launches nets.sk | grep -q once || fail "a network of several runs tasks once"
"$sklink" halves.onnx -L "$top_builddir/kernels" -lskernels -r -o halves.o
! "$skdump" --launches halves.o | grep -q once || fail "an object runs tasks once"
