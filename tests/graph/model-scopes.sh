# Scopes of models: those of the file, with options and streams, those of --scope, and errors in either.
. "$top_srcdir/tests/lib/lib.sh"
set -- -L "$top_builddir/kernels" -lskernels

# node NAME INPUT OUTPUT ATTRIBUTE…: NAME is "" for none; an attribute is NAME=VALUE.
node() {
	local attribute
	printf '  node { input: "%s" output: "%s" op_type: "Relu" name: "%s"' "$2" "$3" "$1"
	for attribute in "${@:4}"; do
		case ${attribute#*=} in
		[0-9]*) printf ' attribute { name: "%s" i: %s type: INT }' "${attribute%%=*}" "${attribute#*=}" ;;
		*) printf ' attribute { name: "%s" s: "%s" type: STRING }' "${attribute%%=*}" "${attribute#*=}" ;;
		esac
	done
	echo ' }'
}

# model FILE NAME: the nodes come from standard input, and lead from x to y.
model() {
	local type='type { tensor_type { elem_type: 1 shape { dim { dim_value: 3 } dim { dim_value: 4 } } } }'
	printf 'ir_version: 8\nopset_import { version: 17 }\ngraph {\n  name: "%s"\n' "$2" >"$1.pbtxt"
	cat >>"$1.pbtxt"
	printf '  input { name: "x" %s }\n  output { name: "y" %s }\n}\n' "$type" "$type" >>"$1.pbtxt"
}

# launches MODEL WANT ARGUMENT…: the launches of the package, with blanks between them.
launches() {
	local model=$1 want=$2 got
	shift 2
	"$sklink" "$model.pbtxt" -L "$top_builddir/kernels" -lskernels -o out.sk "$@" 2>err.txt ||
		fail "$model: $(cat err.txt)"
	got=$(nm -D --defined-only out.sk |
		awk '$3 ~ /^sk_/ && $3 !~ /_serial$|^sk_plan$|^sk_constants$/ { print $3 }' | sort | tr '\n' ' ')
	[ "$got" = "$want " ] || fail "$model $*: launches $got"
	"$skrun" out.sk --random 1 --verify >out.txt || { cat out.txt;
		fail "$model $*: results depend on how it is run"; }
}

refuses() { # PATTERN MODEL ARGUMENT…
	fails_with "$1" "$sklink" "$2.pbtxt" -L "$top_builddir/kernels" -lskernels -o no.sk "${@:3}"
	[ ! -e no.sk ] || fail "something was left behind"
}

# ---- without scopes the model is one, under any name; patterns make them ----
{ node /l.0/a x a; node /l.0/b a b; node /l.1/a b c; node "" c y; } | model plain 'main-graph (1)'
launches plain sk_main_x2Dgraph_x20_x281_x29
launches plain 'sk_first sk_rest' --scope 'first=/l.0/*' --scope 'rest=/l.1/?' --scope 'rest=y'
launches plain 'sk_a_start__x2Fl_x2E0_x2Fa_end__x2Fl_x2E0_x2Fa sk_a_start__x2Fl_x2E1_x2Fa_end__x2Fl_x2E1_x2Fa sk_b_start__x2Fl_x2E0_x2Fb_end__x2Fl_x2E0_x2Fb sk_b_start_y_end_y' \
	--scope 'b=*' --scope 'a=/l.[01]/a'
launches plain 'sk_first sk_task__x2Fl_x2E1_x2Fa sk_task_y' --scope 'first=/l.0/*'
"$sklink" plain.pbtxt "$@" -o out.sk --header out.h
printf '#include "out.h"\nint main(void) { return !sk_main_x2Dgraph_x20_x281_x29_serial; }\n' |
	gcc -Werror -xc -fsyntax-only -I. - ||
	fail "a scope of any name makes a header that is none"
refuses "plain.pbtxt: no node is called '/l.3/\*', as those of scope 'first' are to be" plain --scope 'first=/l.3/*'
refuses "did you mean '/l.1/a'" plain --scope 'first=/l.1/aa'
refuses "--scope '=x' is not NAME=PATTERN" plain --scope =x
refuses "--scope 'x' is not NAME=PATTERN" plain --scope x

# ---- the file's own scopes, with options; streams ----
{
	node a x a _super_kernel_scope=s _super_kernel_options=profiling=1:early-start=0
	node b a b _super_kernel_scope=s stream_id=7
	node c b y _super_kernel_scope=s _super_kernel_options=profiling=1:early-start=0 stream_id=8
} | model own network
launches own 'sk_s sk_task_c' # in a third stream
launches own sk_s --scope-options s=stream-fusion=1
"$skrun" out.sk --random 1 --profile >profile.txt || fail "the file's options are lost"
launches own 'sk_mine sk_s' --scope 'mine=c'
"$sklink" own.pbtxt "$@" -o out.sk --scope 'mine=*' --scope-options mine=stream-fusion=1
! "$skrun" out.sk --random 1 --profile 2>err.txt || fail "options of a scope are those of another one"

{ node a x a _super_kernel_scope=s _super_kernel_options=profiling=2; node b a y; } | model bad network
refuses "bad.pbtxt:5:.*scope option 'profiling' must be 0 or 1, not '2'" bad
grep -q "^>>> node 'a' asks for it, of its scope 's'" err.txt || fail "whose options they are is not said"
{ node a x a _super_kernel_options=profiling=1; node b a y; } | model none network
refuses "none.pbtxt:5:.*node 'a' .Relu.: it has options of a scope, 'profiling=1', but is in no scope" none
{
	node a x a _super_kernel_scope=s _super_kernel_options=profiling=1
	node b a y _super_kernel_scope=s _super_kernel_options=profiling=0
} | model two network
refuses "two.pbtxt:6:.*node 'b' .Relu.: its scope 's' has the options 'profiling=1', and cannot also have 'profiling=0'" two

# Different names stay different, with any characters.
{ node a x a; node b a y; } | model names network
launches names 'sk_a_b sk_a_x2Cb' --scope 'a,b=a' --scope 'a_b=b'
launches names 'sk_a_x20b sk_a_x5Fx20b' --scope 'a b=a' --scope 'a_x20b=b'

# ---- scopes in which nothing is left to run: constants in three streams, a node without a task, one that no output
# needs ----
{
	echo '  initializer { name: "w" dims: [3, 4] data_type: 1 float_data: [-1, 2, -3, 4, -5, 6, -7, 8, -9, 10, -11, 12] }'
	echo '  initializer { name: "sizes" dims: 2 data_type: 7 int64_data: [3, 4] }'
	node a w a _super_kernel_scope=folded stream_id=0 _super_kernel_options=strict-scope-check=abort
	node b a b _super_kernel_scope=folded stream_id=1
	node c b c _super_kernel_scope=folded stream_id=2
	echo '  node { input: ["x", "sizes"] output: "r" op_type: "Reshape" name: "r" attribute { name: "_super_kernel_scope" s: "shapes" type: STRING } }'
	node d x d _super_kernel_scope=unneeded
	echo '  node { input: ["r", "c"] output: "y" op_type: "Add" name: "sum" attribute { name: "_super_kernel_scope" s: "s" type: STRING } }'
} | model gone network
launches gone sk_s
[ ! -s err.txt ] || fail "warnings about tasks that nobody has: $(cat err.txt)"
for scope in folded shapes unneeded; do
	launches gone sk_s --scope-options "s=profiling=1;$scope=early-start=0:dcci-before-kernel-start=Relu"
	echo "sklink: warning: --scope-options:1:15: no task is in scope '$scope': its nodes are constants, or nothing is launched for them" | diff - err.txt >&2 || fail "$scope: other messages"
done
refuses "scope option 'profiling' must be 0 or 1, not '2'" gone --scope-options folded=profiling=2
refuses "unknown scope 'folds'" gone --scope-options folds=profiling=1
printf 'sklink: 1\ngraph: gone.pbtxt\nscopes:\n  folded: {options: "dcci-before-kernel-start=Relu"}\n' >gone.yaml
"$sklink" gone.yaml "$@" -o out.sk 2>err.txt || fail "$(cat err.txt)"
echo "sklink: warning: gone.yaml:4:3: no task is in scope 'folded'" | diff - err.txt >&2 ||
	fail "other messages about a manifest's scope"
sed 's/dim_value: 3/dim_param: "n"/; s/s: "folded"/s: "other"/' gone.pbtxt >networks.pbtxt
sed -i 's/int64_data: \[3, 4\]/int64_data: [-1, 4]/' networks.pbtxt
"$sklink" networks.pbtxt "$@" --dim first:n=3 --dim second:n=1 --scope-options \
	'other=profiling=1;first:other=profiling=1;second:s=profiling=1' -o out.sk 2>err.txt || fail "$(cat err.txt)"
grep -c "no task is in scope '\(first:\)*other'" err.txt | grep -qx 2 || fail "scopes of networks: $(cat err.txt)"

# Options of blanks alone are none.
{ node a x a _super_kernel_scope=s '_super_kernel_options=profiling=1';
	node b a y _super_kernel_scope=s '_super_kernel_options=  '; } | model blank network
launches blank sk_s --scope-options 's="  "'
"$skrun" out.sk --random 1 --profile >profile.txt || fail "blanks are options"
printf 'sklink: 1\ngraph: blank.pbtxt\nscopes:\n  s: {options: "  "}\n' >blank.yaml
"$sklink" blank.yaml "$@" -o out.sk
"$skrun" out.sk --random 1 --profile >profile.txt || fail "blanks in a manifest are options"
{ node a x y '_super_kernel_options=  '; } | model unscoped network
launches unscoped sk_network
