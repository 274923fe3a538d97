# The fuzz targets' smoke run: each over its seeds, over the files that once did harm, and over some thousand mutants.
# fuzz.h says what the targets are, mutate.c what counts as a failure.
. "$top_srcdir/tests/lib.sh"
sh "$top_srcdir/tests/fuzz-seeds.sh" "$dir/seeds"

mutants=${FUZZ_MUTANTS:-3000}
for target in object archive package; do
	"$top_builddir/tests/fuzz-$target" --mutants "$mutants" seeds/$target/* || fail "fuzz-$target"
done
"$top_builddir/tests/fuzz-manifest" --text --mutants "$mutants" seeds/manifest/* || fail "fuzz-manifest"
