# The fuzz targets' smoke run: each over its seeds, over some thousand mutants of them, and over files that are bombs.
# fuzz.h describes the targets, mutate.c defines failures.
. "$top_srcdir/tests/lib/lib.sh"
sh "$top_srcdir/tests/fuzz/fuzz-seeds.sh" "$dir/seeds"
mkdir bombs
(cd bombs && "$top_builddir/tests/fuzz/bombs")

# run TARGET BOMBS OPTION…
run() {
	target=$1
	bombs=$2
	shift 2
	"$top_builddir/tests/fuzz/fuzz-$target" "$@" --mutants "${FUZZ_MUTANTS:-3000}" seeds/$target/* ||
		fail "fuzz-$target"
	[ -z "$bombs" ] || "$top_builddir/tests/fuzz/fuzz-$target" "$@" $bombs || fail "fuzz-$target: bombs"
}
run object "$(ls bombs/*.o)"
run archive "$(ls bombs/*.a)"
run manifest "$(ls bombs/*.yaml)" --text
run signature "" --text
run npy "" --text
run onnx "" --messages
run pbtxt "" --text
run rules "" --text
run switches "" --text
run package ""
