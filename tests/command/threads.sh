# A thousand objects, loose, in an archive and in a thin one, with debug information: the output is the same with any
# number of threads, in another folder and under another name, and so are the map, the printed lines, and the errors.
. "$top_srcdir/tests/lib/lib.sh"

# Each with a kernel of its own name, and with a helper, tables and an inline function of names that all have.
cat >kernel.cc <<'END'
#include "skkernel.h"

extern "C" float sqrtf(float), floorf(float);
static const float weights[4] = {0.5F, 1.5F, 2.5F, 3.5F};
static float (*const choices[])(float) = {sqrtf, floorf};
template <class T> __attribute__((noinline)) T shared(T x) { return x + 1; }
__attribute__((noinline)) static float helper(float x) { return shared(x) * 0.75F; }

extern "C" void kernel_0000(const float *x, float *y, long n)
{
	for (long i = 0; i < n; i++)
		y[i] = helper(x[i]) + weights[i & 3] + choices[i & 1](x[i]);
}
SK_KERNEL(kernel_0000, "split=n; in x f32[n], out y f32[n], n i64");
END
$KERNEL_CC -x c++ -O1 -g -fPIC -fno-exceptions -ffunction-sections -fdata-sections -ffile-prefix-map="$dir=." \
	-I"$top_srcdir/format" -c kernel.cc -o kernel.o
mkdir one one/members
i=0
while [ $i -lt 1000 ]; do
	name=kernel_$(printf %04d $i)
	folder=one/members
	[ $i -ge 600 ] || folder=one
	LC_ALL=C sed "s/kernel_0000/$name/g" kernel.o >$folder/$name.o
	i=$((i + 1))
done
(
	cd one/members
	ar qcS ../libpart.a kernel_0[67]*.o
	ar s ../libpart.a
	rm kernel_0[67]*.o
	ar qcT ../libthin.a kernel_0[89]*.o
)
{
	cat <<-END
		sklink: 1
		tensors:
		  a: {dtype: f32, shape: [64], role: inout}
		  b: {dtype: f32, shape: [64], role: inout}
		scopes:
		  all: {}
		tasks:
	END
	awk 'BEGIN { for (i = 0; i < 1000; i++)
		printf "  - {name: t%d, kernel: kernel_%04d, args: [%s], scope: all}\n", i, i, i % 2 ? "b, a" : "a, b" }'
} >one/model.yaml
(cd one && ls kernel_*.o) >one/loose
mkdir two
cp -R one two/again

# link FOLDER OUTPUT OPTION…: in the folder
link() {
	folder=$1
	output=$2
	shift 2
	(cd $folder && "$sklink" model.yaml @loose -L . libpart.a -l thin -o $output "$@")
}

for options in '' '--icf=all --print-icf-sections' \
	'--isolate-objects --icf=safe --compress-debug-sections=zlib --print-icf-sections' \
	'-r --icf=all' '--no-gc-sections --cref -S' '-r -s --no-task-entries'; do
	# shellcheck disable=SC2086
	{
		link one out.sk $options -Map=out.map -j1 >one.txt
		link one two.sk $options -Map=two.map -j2 >two.txt
		link one three.sk $options -Map=three.map -j3 >three.txt
		link two/again other-name.sk $options -Map=out.map -j8 >eight.txt
	}
	for other in one/two.sk one/three.sk two/again/other-name.sk; do
		cmp one/out.sk $other || fail "$other differs with '$options'"
	done
	cmp one.txt two.txt && cmp one.txt three.txt && cmp one.txt eight.txt ||
		fail "what is printed differs with '$options'"
	cmp one/out.map one/two.map && cmp one/out.map two/again/out.map || fail "the map differs with '$options'"
	case $options in
	*icf*) [ "$(nm one/out.sk | awk '$3 == "_ZL6helperf" { print $1 }' | sort -u | wc -l)" = 1 ] ||
		fail "'$options' folds not all" ;;
	*-s*) ;;
	*) [ "$(nm one/out.sk | awk '$3 == "_ZL6helperf" { print $1 }' | sort -u | wc -l)" = 1000 ] ||
		fail "there are not 1000 helpers" ;;
	esac
	(proved one/out.sk) || fail "'$options': the package cannot be proved"
	case $options in
	-r*) ;;
	*) "$skrun" one/out.sk --random 1 --verify >/dev/null || fail "'$options': the package does not run" ;;
	esac
	if command -v eu-elflint >/dev/null; then
		eu-elflint --gnu-ld one/out.sk >lint.txt 2>&1 || { cat lint.txt >&2;
			fail "'$options': elflint complains"; }
	fi
done

# errors PATTERN COUNT OPTION…: a link fails in the same words, with a line of this kind so many times
errors() {
	pattern=$1
	count=$2
	shift 2
	for threads in 1 2 8; do
		cd one
		fails_with "$pattern" "$sklink" model.yaml @loose libpart.a libthin.a -o never.sk --error-limit=0 \
			-j$threads "$@"
		mv err.txt ../errors-$threads.txt
		[ ! -e never.sk ] || fail "an output in spite of an error"
		cd ..
	done
	cmp errors-1.txt errors-2.txt && cmp errors-1.txt errors-8.txt ||
		fail "the order of errors depends on threads: $pattern"
	[ "$(grep -cE -- "$pattern" errors-1.txt)" = "$count" ] || { cat errors-1.txt >&2;
		fail "not $count times: $pattern"; }
}

# Two hundred objects that cannot be read, for two reasons.
i=0
while [ $i -lt 400 ]; do
	name=kernel_$(printf %04d $i).o
	cp one/$name $name.kept
	if [ $((i % 4)) = 0 ]; then head -c 500 $name.kept >one/$name; else echo "no object" |
		head -c $((i % 4 * 3)) >one/$name; fi
	i=$((i + 2))
done
errors '^sklink: error: kernel_[0-9]*.o: ' 200
for kept in *.kept; do mv "$kept" "one/${kept%.kept}"; done
# A refused input is also named once, however often it is given.
errors '^sklink: error: .*, not -m aarch64linux$' 1000 -m aarch64linux kernel_0000.o ./kernel_0001.o

# A file is one input under any of its names, and not an output; a copy of it is another input, and a name that is not a
# file is none.
(
	cd one
	ln -s kernel_0000.o symbolic.o
	ln kernel_0001.o hard.o
	ln -s . folder
	echo 'int plain(void) { return 1; }' | $KERNEL_CC -fPIC -x c -c - -o plain.o
	ln kernel_0004.o other.o
	ln plain.o other-plain.o
	cp kernel_0005.o copy.o
	mkfifo pipe
	"$sklink" model.yaml @loose libpart.a libthin.a -o once.sk
	for threads in 1 2 8; do
		"$sklink" model.yaml @loose symbolic.o libpart.a hard.o folder/kernel_0002.o kernel_0003.o libthin.a \
			./libpart.a \
			-o again.sk -j$threads
		cmp once.sk again.sk || fail "a file of several names is several inputs with $threads threads"
		for other in other.o other-plain.o; do
			fails_with "^sklink: error: $other: is also an input" \
				"$sklink" model.yaml @loose libpart.a libthin.a plain.o -o $other -j$threads
		done
		cmp other.o kernel_0004.o && cmp other-plain.o plain.o || fail "an input has been written"
	done
)
errors '^sklink: error: .*duplicate symbol: kernel_0005$' 1 copy.o
errors '^sklink: error: (pipe|folder|/dev/zero): is not a regular file$' 3 pipe folder /dev/zero

# A hundred objects that use undefined symbols, define symbols of others, and are out of range.
cat >bad.c <<'END'
int missing_0000(int), nowhere(int);
int datum = 1;
int common_name(int x) { return nowhere(x); }
int user_0000(int x) { return missing_0000(x) + nowhere(x); }
char *range_0000(void) { char *far; __asm__("lea datum+0x7fffffff(%%rip), %0" : "=r"(far)); return far; }
END
$KERNEL_CC -O1 -fPIC -ffunction-sections -c bad.c -o bad.o
for i in $(seq -w 0 99); do
	LC_ALL=C sed "s/_0000/_11$i/g" bad.o >one/bad_$i.o
	echo "-u user_11$i bad_$i.o" >>one/bad
	echo "-u range_11$i bad_$i.o" >>one/far
done
errors '^sklink: error: undefined symbol: missing_11[0-9]*$' 100 @bad --allow-multiple-definition
[ "$(grep -c '^sklink: error: undefined symbol: nowhere$' errors-1.txt)" = 1 ] ||
	fail "nowhere is missing more than once"
errors '^sklink: error: .*duplicate symbol: common_name$' 99 @bad -u common_name
errors '^sklink: error: .*duplicate symbol: common_name$' 99 @bad -u common_name -r
errors "relocation R_X86_64_PC32 out of range: .* references 'datum'$" 100 @far --allow-multiple-definition

# Networks with every kind of step: the package, the report and the printed lines.
sh "$top_srcdir/samples/decode_layers/generate" 3 1 host >decode.yaml
sample() {
	name=$1
	shift
	for threads in 1 2 3 8; do
		"$sklink" "$@" -o sample.sk --report=report-$threads.json --print-gc-sections -j$threads \
			>$name-$threads.txt
		mv sample.sk $name-$threads.sk
		cmp $name-1.sk $name-$threads.sk && cmp report-1.json report-$threads.json &&
			cmp $name-1.txt $name-$threads.txt ||
			fail "$name differs with $threads threads"
	done
}
sample decode decode.yaml "$top_builddir/samples/decode_layers/kernels.o"
sample composite "$top_srcdir/samples/composite/composite.yaml" "$top_builddir/samples/composite/kernels.o"
sample quant "$top_srcdir/samples/quant_matmul/small.yaml" "$top_builddir/samples/quant_matmul/quant_matmul.o" \
	"$top_builddir/samples/quant_matmul/dequant_swiglu_quant.o"
