# skdump --dot draws the manifest: each task, its tensors, launches, tile groups and awaits; Graphviz takes it with any
# names.
. "$top_srcdir/tests/lib/lib.sh"
type dot gc >/dev/null 2>&1 || { echo "nothing draws packages: graphviz is not installed"; exit 77; }

cat >kernels.c <<'C'
#include "skkernel.h"
void add(const float *x, const float *y, float *z, long n)
{
	for (long i = 0; i < n; i++)
		z[i] = x[i] + y[i];
}
SK_KERNEL(add, "split=n; in x f32[n], in y f32[n], out z f32[n], n i64");
void total(const float *x, float *y, long n)
{
	*y = 0;
	for (long i = 0; i < n; i++)
		*y += x[i];
}
SK_KERNEL(total, "in x f32[n], out y f32[1], n i64");
C
compile kernels
cat >model.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: f32, shape: [100000]}
  "a \"quoted\" <b> & &amp;": {dtype: f32, shape: [100000]}
  'b\N\': {dtype: f32, shape: [100000]}
  c: {dtype: f32, shape: [100000]}
  's{t': {dtype: f32, shape: [1]}
  r: {dtype: f32, shape: [1]}
tasks:
  - {name: first, kernel: add, args: [x, x, "a \"quoted\" <b> & &amp;"], scope: one}
  - {name: 'second\n"{}', kernel: add, args: ["a \"quoted\" <b> & &amp;", x, 'b\N\'], scope: one}
  - {name: third, kernel: add, args: ['b\N\', x, c], scope: one}
  - {name: fourth, kernel: total, args: [c, 's{t'], scope: one}
  - {name: 'fifth\', kernel: total, args: [c, r]}
M
"$sklink" model.yaml kernels.o -o model.sk
"$skdump" --dot model.sk >model.dot
dot -Tsvg model.dot >model.svg 2>err.txt && [ ! -s err.txt ] || fail "Graphviz does not draw it: $(cat err.txt)"
grep -qF 'a &quot;quoted&quot; &lt;b&gt; &amp; &amp;amp;' model.svg && grep -qF '>b\N\<' model.svg &&
	grep -qF '>second\n&quot;{}<' model.svg || fail "names are drawn otherwise"

# The lines between boxes and ellipses, by the first lines of their labels.
sed -nE 's/^([ct][0-9]+) \[.*label="(([^"\\]|\\[^n])*).*/\1 \2/p' model.dot >labels.txt
sed -nE 's/^([ct][0-9]+) -> ([ct][0-9]+)( .*tooltip="([a-z]*)".*)?$/\1 \2 \4/p' model.dot |
	awk 'NR == FNR { id = $1; sub(/^[^ ]* /, ""); label[id] = $0; next } { print label[$1] " -> " label[$2] ($3 ? " " $3 : "") }' labels.txt - |
	sort >lines.txt
sort >expected.txt <<'L'
x -> first
first -> a \"quoted\" <b> &amp; &amp;amp;
a \"quoted\" <b> &amp; &amp;amp; -> second\\n\"{}
x -> second\\n\"{}
second\\n\"{} -> b\\N\\
b\\N\\ -> third
x -> third
third -> c
c -> fourth
fourth -> s{t
c -> fifth\\
fifth\\ -> r
third -> fourth awaits
fourth -> fifth\\ follows
L
diff expected.txt lines.txt >&2 || fail "other lines are drawn"
[ "$(grep -c '<title>cluster_launch' model.svg)" = 2 ] || fail "there are two launches"
[ "$(grep -c '<title>cluster_step' model.svg)" = 1 ] || fail "there is one tile group"
awk '/cluster_step/ { inside = 1 } inside && /^}/ { exit } inside' model.dot | grep -c '^c' | grep -qx 3 ||
	fail "the tile group has three tasks"

# All of 20,000 tasks are drawn, and nothing more.
{
	printf 'sklink: 1\ntensors:\n'
	seq -f '  t%.0f: {dtype: f32, shape: [64]}' 0 20000
	echo tasks:
	seq 1 20000 | awk '{ print "  - {name: n" $1 ", kernel: add, args: [t" $1 - 1 ", t0, t" $1 "], scope: s" int($1 / 100) "}" }'
} >large.yaml
"$sklink" large.yaml kernels.o --no-task-entries -o large.sk
"$skdump" --dot large.sk >large.dot
gc -n -e large.dot | awk '{ print $1, $2 }' >counts.txt
"$skdump" large.sk | sed -nE 's/^ *network .* ([0-9]+) launches.* ([0-9]+) awaits?$/\1 \2/p' >said.txt
awk 'NR == FNR { launches = $1; awaits = $2; next } $1 != 40001 || $2 != 59999 + awaits + launches - 1 { exit 1 }' \
	said.txt counts.txt ||
	fail "of 20,000 tasks something else is drawn: $(cat said.txt counts.txt)"
fails_with '--dot goes with no other option' "$skdump" --dot --steps model.sk
fails_with '--dot goes with no other option' "$skdump" --dot --diff model.sk model.sk
fails_with 'nothing.sk' "$skdump" --dot nothing.sk
