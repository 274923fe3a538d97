# Functions of one name in several objects: kernels that name their object have their own, without an option. Every
# combination of strong, weak and grouped functions, in objects and in members of archives.
. "$top_srcdir/tests/lib/lib.sh"

# make NAME FACTOR [WORDS]: an object with a kernel `scale` and a function that calls it.
make_object() {
	cat >$1.c <<-END
		${3-} void scale(const float *x, float *y, long n) { for (long i = 0; i < n; i++) y[i] = x[i] * $2; }
		void by_$1(const float *x, float *y, long n) { scale(x, y, n); }
	END
	$KERNEL_CC $KERNEL_CFLAGS -fno-inline -fno-ipa-icf -c $1.c
}
make_object strong2 2
make_object strong3 3
make_object strong5 5
make_object weak7 7 '__attribute__((weak))'
make_object weak11 11 '__attribute__((weak))'
make_object group13 13 '__attribute__((weak, section(".text.scale,\"axG\",@progbits,scale,comdat#")))'
for member in strong5 weak11; do ar qc lib$member.a $member.o; done
readelf -g group13.o | grep -q 'COMDAT.*scale' || fail "no group"

# manifest SYMBOL:OBJECT…: a task for each, one after the other, that multiplies a vector of ones.
manifest() {
	last=v0 i=0 kernels= tasks= tensors=
	for pair; do
		i=$((i + 1)) object="object: ${pair#*:}, "
		[ "${pair#*:}" ] || object=
		tensors="$tensors, v$i: {dtype: f32, shape: [4]}"
		kernels="$kernels
  k$i: {${object}symbol: ${pair%:*}, signature: 'in x f32[n], out y f32[n], n i64'}"
		tasks="$tasks
  - {name: t$i, kernel: k$i, args: [v$((i - 1)), v$i], scope: all}"
	done
	cat >model.yaml <<-END
		sklink: 1
		tensors: {v0: {dtype: f32, shape: [4], data: [1, 1, 1, 1]}$tensors}
		kernels:$kernels
		tasks:$tasks
	END
}
# gives PRODUCT ARGUMENT…: the result with the arguments.
gives() {
	product=$1
	shift
	rm -f model.sk
	"$sklink" model.yaml "$@" -o model.sk || { cat model.yaml; fail "cannot link: $*"; }
	"$skrun" model.sk >out.txt || fail "cannot run: $*"
	grep -q "^output.*\[4\]: $product $product $product $product " out.txt ||
		{ cat model.yaml out.txt; fail "$* gives not $product"; }
}

refused() {
	fails_with "duplicate symbol: $1\$" "$sklink" model.yaml "${@:2}" -o never.sk
	[ ! -e never.sk ] || fail "a package: $*"
}

# All ordered pairs and triples of kernels, and pairs with another object. Where references of an object without a
# strong definition could mean two others, the name stays an error.
objects='strong2 strong3 libstrong5 weak7 libweak11 group13'
file() { case $1 in lib*) echo $1.a ;; *) echo $1.o ;; esac; }
factor() { echo "$1" | tr -dc 0-9; }
# unclear A B C: two have strong functions, and the third one, which no kernel names, a weak one.
unclear() { [ $(printf '%s\n' $1 $2 $3 | grep -c strong) = 2 ] && [[ $3 = weak7 || $3 = group13 ]]; }
for a in $objects; do
	for b in $objects; do
		[ $a != $b ] || continue
		manifest scale:$(file $a) scale:$(file $b)
		both=$(($(factor $a) * $(factor $b)))
		gives $both
		for c in $objects; do
			[ $c != $a ] && [ $c != $b ] || continue
			manifest scale:$(file $a) scale:$(file $b)
			if unclear $a $b $c; then refused scale $(file $c); else gives $both $(file $c); fi
			manifest scale:$(file $a) scale:$(file $b) scale:$(file $c)
			gives $((both * $(factor $c)))
		done
	done
done

# The map tells; other names of a link that would be ambiguous are errors.
manifest scale:strong2.o scale:strong3.o
"$sklink" model.yaml -o model.sk -M >map.txt
grep -A2 '^Equal names' map.txt | grep -qx 'scale in strong3.o, and another one in strong2.o' || fail "the map"
"$skdump" --verify model.sk >/dev/null || fail "the dispatchers"
"$sklink" model.yaml -r -o model.o && [ "$(nm model.o | grep -c ' [tT] scale$')" = 2 ] || fail "-r"
cat >user.c <<-'END'
	void scale(const float *, float *, long);
	void user(const float *x, float *y, long n) { scale(x, y, n); }
END
$KERNEL_CC $KERNEL_CFLAGS -c user.c
echo '{global: scale;};' >export
echo '{global: sc*;};' >exports
refused scale user.o
grep -q '^>>> user.o refers to it, and defines none' err.txt || { cat err.txt; fail "no reason"; }
refused scale -u scale
refused scale --defsym other=scale -u other
refused scale --version-script=export
refused scale --version-script=exports
gives 6 --isolate-objects user.o
manifest scale: scale:strong3.o
refused scale strong2.o

# Functions of equal names that nothing uses, such as the library queries of IREE's objects, are no errors; data are.
for n in 1 2; do
	cat >f$n.c <<-END
		void f$n(const float *x, float *y, long n) { for (long i = 0; i < n; i++) y[i] = x[i] + $n; }
		int query(void) { return $n; }
	END
	$KERNEL_CC $KERNEL_CFLAGS -c f$n.c
	sed 's/^int query.*/int query = 1;/' f$n.c >data$n.c
	$KERNEL_CC $KERNEL_CFLAGS -c data$n.c
done
manifest f1:f1.o f2:f2.o
gives 4
manifest f1:data1.o f2:data2.o
refused query
echo 'int (*address)(void) = query;' >>f2.c
$KERNEL_CC $KERNEL_CFLAGS -c f2.c
manifest f1:f1.o f2:f2.o
refused query
