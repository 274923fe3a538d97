#!/bin/bash
# --repro: its output makes the same package elsewhere, when nothing of the original is left.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
long=$(printf 'long-folder-name-%.0s' 1 2 3 4 5 6 7)
mkdir -p job/models "job/a folder/$long/$long" job/data job/empty job/lib
cp "$top_srcdir/tests/lib/kernels.c" . &&
	$KERNEL_CC $KERNEL_CFLAGS -g -I"$top_srcdir/format" -c kernels.c -o "job/a folder/$long/$long/kern'els.o"
cp "$top_srcdir/tests/lib/oracle.c" . && cc -o oracle oracle.c && (cd job/data && ../../oracle 64 1 write)
cp job/data/w.npy job/data/absolute.npy
for name in f g h; do
	echo "int ${name}_function(void) { return 1; }" >$name.c && compile $name
done
mv f.o job/data/f.o
(cd job/lib && ar qcT libf.a ../data/f.o)
ar qcT job/lib/libg.a "$dir/g.o" # an absolute path
cp h.o 'job/a folder/h #1\.o'
cat >job/models/model.yaml <<M
sklink: 1
tensors:
  x: {dtype: f32, shape: [64]}
  w: {dtype: f32, shape: [64, 1], data: ../empty/../data/w.npy}
  v: {dtype: f32, shape: [64, 1], data: $dir/job/data/absolute.npy}
  t: {dtype: f32, shape: [64]}
  y: {dtype: f32, shape: [64]}
tasks:
  - {name: first, kernel: add, args: [x, w, t]}
  - {name: second, kernel: add, args: [t, v, y]}
M
printf '%s\n' '-L ../lib -l f' "-u h_function '../a folder/h #1\\\\.o'" >job/data/response
echo 'SK_1 { f_function; };' >job/versions
link() { # in job/models
	"$sklink" -S model.yaml "$dir/job/a folder/$long/$long/kern'els.o" @../data/response ../lib/libg.a -u \
		f_function --undefined g_function \
		-z max-page-size=65536 --version-script ../versions -Map=../empty/out.map --soname='a "name"' -o \
			../out.sk "$@"
}
(cd job/models && link && mv ../out.sk ../expected.sk && link --repro="$dir/again.tar" &&
	link --repro "$dir/again.tar" &&
	cp "$dir/again.tar" "$dir/first.tar" && touch ./* ../data/* && link --repro="$dir/again.tar")
cmp job/out.sk job/expected.sk || fail "the package depends on --repro"
cmp again.tar first.tar || fail "two archives differ"
mv job/expected.sk expected.sk
"$skrun" expected.sk --random 1 --verify >/dev/null

tar tf again.tar >list.txt
[ "$(head -n 2 list.txt)" = "$(printf 'again/response.txt\nagain/version.txt')" ] || { cat list.txt;
	fail "the first files"; }
for file in job/models/model.yaml job/data/w.npy job/data/absolute.npy job/data/response job/data/f.o job/lib/libf.a \
	g.o \
	job/lib/libg.a 'job/a folder/h #1\\.o' "job/a folder/$long/$long/kern'els.o"; do
	grep -qxF "again$dir/$file" list.txt || { cat list.txt; fail "no $file"; }
done
[ "$(tar tvf again.tar | grep -c ' 0/0 .* 1970-01-01 ')" = "$(wc -l <list.txt)" ] || fail "owners or times"

# Elsewhere, without the original.
mv job gone && rm g.o
mkdir elsewhere && tar xf again.tar -C elsewhere
(cd elsewhere/again && "$sklink" @response.txt)
cmp elsewhere/again/out.sk expected.sk || fail "the package differs"
[ -s elsewhere/again/out.map ] || fail "the map is not there"
[ "$("$sklink" --version)" = "$(cat elsewhere/again/version.txt)" ] || fail "the version"
"$skrun" elsewhere/again/out.sk --random 1 --verify >/dev/null
(cd elsewhere/again && "$sklink" @response.txt --repro=second.tar) # which a third folder is made from
tar xf elsewhere/again/second.tar && rm -r elsewhere
(cd second && "$sklink" @response.txt)
cmp second/out.sk expected.sk || fail "the package of the second archive differs"
mv gone job && cp h.o g.o && rm -r second

# A failing link is also reproduced; missing inputs are missing again.
cp job/models/model.yaml wrong.yaml && sed -i 's/kernel: add/kernel: ad/; s/: \.\./: job/' wrong.yaml
fails_with "wrong.yaml:9:27: unknown kernel 'ad'; did you mean 'add'" \
	"$sklink" wrong.yaml "job/a folder/$long/$long/kern'els.o" -o out.sk --repro=wrong.tar
mv err.txt expected.txt
mkdir elsewhere && tar xf wrong.tar -C elsewhere
(cd elsewhere/wrong && fails_with "unknown kernel 'ad'" "$sklink" @response.txt)
sed "s,\./${dir#/}/,,g" elsewhere/wrong/err.txt | diff expected.txt - || fail "the errors differ"
fails_with 'missing.o: No such file' "$sklink" wrong.yaml missing.o -o out.sk --repro=missing.tar
tar xf missing.tar -C elsewhere
(cd elsewhere/missing && fails_with 'missing.o: No such file' "$sklink" @response.txt)

# Links that cannot be reproduced.
mkdir -p one/two && echo 'int other(void) { return 2; }' >other.c && compile other
cp other.o one/same.o && cp h.o same.o && ln -s one/two link
sed 's,\.\./,job/,g' job/models/model.yaml >model.yaml
kernels="job/a folder/$long/$long/kern'els.o"
fails_with 'link/../same.o: cannot be reproduced: another file has the same path' \
	"$sklink" model.yaml "$kernels" same.o link/../same.o -o out.sk --repro=out.tar
[ ! -e out.tar ] || fail "an archive in spite of the error"
cp model.yaml kept.yaml
fails_with 'model.yaml: is also an input' "$sklink" model.yaml "$kernels" -o out2.sk --repro=model.yaml
cmp model.yaml kept.yaml && [ ! -e out2.sk ] || fail "an input is replaced"
fails_with 'nowhere/out.tar: cannot create the file' "$sklink" model.yaml "$kernels" -o out2.sk --repro=nowhere/out.tar
