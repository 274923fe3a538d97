#!/bin/bash
# Locales with a decimal comma, letters above ASCII, and an I with a small letter other than i. In a program that has
# set one, libskrt opens devices, kernels see the C locale, and messages and traces are the same; sklink, skdump and
# skrun with one in their environment make the same bytes.
. "$top_srcdir/tests/lib/lib.sh"
command -v localedef >/dev/null && [ -e /usr/share/i18n/locales/de_DE ] || {
	echo "this needs localedef, and the sources of locales (Debian: locales)"
	exit 77
}
mkdir locales
while read -r name map; do
	localedef -i "$name" -f "$map" "locales/$name.$map" >localedef.txt 2>&1 ||
		[ -e "locales/$name.$map/LC_NUMERIC" ] || {
		cat localedef.txt
		fail "no locale $name.$map"
	}
done <<'LOCALES'
de_DE UTF-8
de_DE ISO-8859-1
tr_TR UTF-8
tr_TR ISO-8859-9
LOCALES
export LOCPATH=$dir/locales

# Elements are 1 where the kernel has seen the C locale.
cat >numbers.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "skkernel.h"

void see(float *y, int64_t n)
{
	const char *volatile text = "1.5";
	char printed[16];

	for (int64_t i = 0; i < n; i++) {
		snprintf(printed, sizeof(printed), "%.2f", strtod(text, NULL) / 2);
		y[i] = strtod(text, NULL) == 1.5 && !strcmp(printed, "0.75");
	}
}
SK_KERNEL(see, "split=n; out y f32[n], n i64");
C
cat >characters.c <<'C'
#include <ctype.h>
#include <strings.h>
#include "skkernel.h"

void see(float *y, int64_t n)
{
	const char *volatile text = "TITLE";
	volatile int umlaut = 0xe4, letter = 'I';

	for (int64_t i = 0; i < n; i++)
		y[i] = !strcasecmp(text, "title") && !isalpha(umlaut) && !isprint(umlaut) && tolower(letter) == 'i';
}
SK_KERNEL(see, "split=n; out y f32[n], n i64");
C
cat >hang.c <<'C'
#include <ctype.h>
#include "skkernel.h"

void hang(float *y, int64_t n)
{
	for (volatile int letter = 'i';; letter = tolower(letter))
		y[0] = (float)n;
}
SK_KERNEL(hang, "out y f32[n], n i64");
C
for package in numbers characters hang; do
	kernel=see
	[ $package != hang ] || kernel=hang
	cat >$package.yaml <<-M
		sklink: 1
		tensors:
		  y: {dtype: f32, shape: [64], role: output}
		tasks:
		  - {name: $kernel, kernel: $kernel, scope: all, args: {y: y}}
		scopes:
		  all: {options: "profiling=1"}
	M
	compile $package
	"$sklink" $package.yaml $package.o -o $package.sk
done

# ---- libskrt ----

sed -E 's/^name: .*/name: mine/; s/^(clock|call): [0-9.]+/\1: 1.25/' "$top_srcdir/format/profile/host.profile" \
	>my.profile
# newlocale(3) of glibc 2.36 leaves memory that it makes from LOCPATH, which LeakSanitizer reports.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
while read -r locale half; do
	for owner in process thread; do
		"$top_builddir/tests/runtime/locale" "$locale" "$half" $owner trace.json ./my.profile ||
			fail "$locale, of the $owner"
		/usr/bin/python3 -c 'import json, sys; json.load(open("trace.json"))' ||
			fail "$locale: the trace is not JSON"
	done
done <<'LOCALES'
C 0.5
de_DE.UTF-8 0,5
de_DE.ISO-8859-1 0,5
tr_TR.UTF-8 0,5
tr_TR.ISO-8859-9 0,5
LOCALES

# ---- programs ----

cat >net.pbtxt <<'P'
ir_version: 8
opset_import { domain: "" version: 17 }
graph {
  name: "net"
  node { name: "ITEM" op_type: "Mul" input: "x" input: "half" output: "m" }
  node { name: "item" op_type: "Elu" input: "m" output: "y" attribute { name: "alpha" type: FLOAT f: 1.25 } }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 4 } dim { dim_value: 4 } } } } }
  initializer { name: "half" data_type: 1 float_data: 0.5 }
  output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 4 } dim { dim_value: 4 } } } } }
}
P
cat >rules.yaml <<'R'
expand:
- name: my-elu
  pattern: y = Elu(x, alpha=a)
  where: a > 0.5
  replace:
  - e = Mul(Sub(Exp(Min(x, 0)), 1.0), a)
  - y = Add(Max(x, 0), e)
R
# programs FOLDER: their outputs.
programs() (
	mkdir "$1" && cd "$1"
	"$sklink" ../net.pbtxt --rules=../rules.yaml --fusion-flags=--enable_expand_ops=Elu --model-text=model.txt \
		--dump-dir=dump \
		--report=report.json -L "$top_builddir/kernels" -lskernels -o net.sk
	"$skdump" --json net.sk >dump.json
	"$skdump" net.sk >dump.txt
	"$skrun" net.sk --random 1 --output y=y.npy --verify >run.txt
	"$skrun" net.sk --predict --device ../my.profile --trace trace.json >predict.txt
	! "$skrun" net.sk --predict --device ../net.pbtxt >error.txt 2>&1
)
LC_ALL=C programs C
for locale in de_DE.UTF-8 de_DE.ISO-8859-1 tr_TR.UTF-8 tr_TR.ISO-8859-9; do
	LC_ALL=$locale programs $locale
	diff -r C $locale >&2 || fail "programs in $locale"
done
