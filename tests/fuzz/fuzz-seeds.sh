# The fuzzers' seeds, made from sources: fuzz-seeds.sh FOLDER puts small, valid files into FOLDER/object,
# FOLDER/archive, FOLDER/manifest, FOLDER/signature, FOLDER/npy, FOLDER/onnx, FOLDER/pbtxt, FOLDER/rules,
# FOLDER/switches and FOLDER/package, beside the files of tests/fuzz. The same files in every folder.
set -eu
[ $# = 1 ] || { echo "usage: fuzz-seeds.sh FOLDER" >&2; exit 2; }
mkdir -p "$1/object" "$1/archive" "$1/manifest" "$1/signature" "$1/npy" "$1/onnx" "$1/pbtxt" "$1/rules" "$1/switches" \
	"$1/package"
cd "$1"
for target in object archive manifest signature pbtxt rules switches package; do
	for file in "$top_srcdir/tests/fuzz/$target"/*; do
		[ ! -f "$file" ] || cp "$file" "$target/"
	done
done

# compile NAME SOURCE FLAG…
compile() {
	name=$1
	source=$2
	shift 2
	$KERNEL_CC -I"$top_srcdir/format" -ffile-prefix-map="$PWD=." -ffile-prefix-map="$top_srcdir=." "$@" \
		-c "$top_srcdir/$source" -o "object/$name"
}
compile all.o tests/fuzz/object.c -O1 -fPIC -fcommon
compile all-sections.o tests/fuzz/object.c -Os -fPIC -ffunction-sections -fdata-sections
compile all-debug.o tests/fuzz/object.c -O1 -g -fPIC -fcf-protection
compile all-compressed.o tests/fuzz/object.c -O1 -g -gz -fPIC
compile absolute.o tests/fuzz/object.c -O1 -fno-pic
compile kernels.o tests/lib/kernels.c $KERNEL_CFLAGS
compile small.o tests/lib/kernels.c -Os -fPIC -fno-asynchronous-unwind-tables
compile composite.o samples/composite/kernels.c $KERNEL_CFLAGS
echo 'const int numbers[] = {1, 2, 3};' | $KERNEL_CC -fPIC -x c -c - -o object/data.o # with -r, nothing of it stays
$KERNEL_CC -r -nostdlib object/all.o object/small.o -o object/joined.o

(cd object && ar qcD ../archive/two.a all.o composite.o)
cp object/small.o object/a-member-with-a-long-name.o
(cd object && ar qcD ../archive/long-names.a a-member-with-a-long-name.o all-sections.o absolute.o)
(cd object && ar qcSD ../archive/no-index.a small.o)
rm object/a-member-with-a-long-name.o
(cd object && ar qcTD ../archive/thin.a small.o all.o) # a program that gets only its bytes cannot find its members

cp "$top_srcdir/samples/composite/composite.yaml" "$top_srcdir/samples/foreign/foreign.yaml" \
	"$top_srcdir/samples/quant_matmul/small.yaml" manifest/
# The signatures of their document.
awk '/^```signature/ { inside = 1; next } /^```/ { inside = 0 } inside { print > "signature/" ++count ".txt" }' \
	"$top_srcdir/doc/reference/signatures.md"
# npy NAME VERSION TYPE ORDER SHAPE BYTES: version 1 has a length of two bytes, version 2 one of four.
npy() {
	dictionary="{'descr': '$3', 'fortran_order': $4, 'shape': $5, }"
	{
		printf '\223NUMPY\00'$2'\0'
		printf "\\$(printf %o ${#dictionary})\\0"
		[ $2 = 1 ] || printf '\0\0'
		printf %s "$dictionary"
		head -c $6 /dev/zero
	} >npy/$1.npy
}
npy matrix 1 '<f4' False '(2, 3)' 24
npy vector 1 '|u1' True '(7,)' 7
npy scalar 2 '<i8' False '()' 8
npy empty 1 '<V2' False '(3, 0)' 0
(cd onnx && "$top_builddir/tests/fuzz/model-seeds")
for name in composite plain tiles; do
	case $name in
	composite) manifest=manifest/composite.yaml objects=object/composite.o ;;
	tiles) manifest=manifest/tiles.yaml objects=object/small.o ;;
	plain) manifest=manifest/kinds.yaml objects=object/small.o ;;
	esac
	"$top_builddir/sklink" $manifest $objects -o package/$name.sk
	"$top_builddir/sklink" --no-task-entries $manifest $objects -o package/$name-bare.sk
done
strip package/plain-bare.sk
"$top_builddir/sklink" "$top_srcdir/tests/fuzz/manifest/kinds.yaml" object/small.o -r -o package/plain.o
