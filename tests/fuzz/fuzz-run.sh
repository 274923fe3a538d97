# Each fuzz target for some seconds, one after the other: fuzz-run.sh SECONDS [TARGET…]. Works in fuzz-corpus in the
# build directory; new inputs are kept there from run to run. Stops at the first finding.
set -eu
seconds=$1
shift
[ $# -gt 0 ] || set -- object archive manifest signature npy onnx pbtxt rules switches package
mkdir -p "$top_builddir/fuzz-corpus/work"
cd "$top_builddir/fuzz-corpus"
sh "$top_srcdir/tests/fuzz/fuzz-seeds.sh" "$PWD/seeds"
for target; do
	mkdir -p $target
	options=-max_len=65536
	[ $target != manifest ] || options="-max_len=16384 -dict=$top_srcdir/tests/fuzz/manifest.dict"
	echo "== $target"
	[ $target != signature ] || options="-max_len=1024 -dict=$top_srcdir/tests/fuzz/manifest.dict"
	(cd work && "$top_builddir/tests/fuzz/libfuzzer-$target" $options -max_total_time="$seconds" -timeout=10 \
		-rss_limit_mb=2048 -print_final_stats=1 -verbosity=1 -artifact_prefix=../$target- ../$target \
			../seeds/$target)
done
