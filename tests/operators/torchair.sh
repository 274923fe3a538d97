# Graphs as TorchAir dumps them, in both forms: each operator gives numpy's results (tests/operators/torchair.py). Marks
# are scopes, streams and limits of cores, and damaged texts and unsupported attributes are errors with their place.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/models.sh"
needs_python
"$python" "$top_srcdir/tests/operators/torchair.py" "$sklink" "$skrun" "$top_srcdir/graph/onnx/kinds.def" "${TORCHAIR_SIZE:-24}" \
	-L"$top_builddir/kernels" -lskernels

# graph NAME: lines of Python become NAME.op.txt and NAME.node.txt.
graph() {
	{
		echo 'import numpy'
		echo 'from graph_def import GraphDef'
		echo 'g = GraphDef("net")'
		echo 'x = g.data(0, numpy.zeros((4, 64), "f4"))'
		cat
		echo "open('$1.op.txt', 'w').write(g.text())"
		echo "open('$1.node.txt', 'w').write(g.tensorflow())"
	} | "$python" -
}
link() { # MODEL ARGUMENT…: the model becomes out.sk; err.txt has the messages
	"$sklink" "$@" -L "$top_builddir/kernels" -lskernels -o out.sk 2>err.txt || { cat err.txt >&2; fail "$*"; }
}

# ---- marks: scopes, single launches, streams by priority, and limits of cores ----
graph marks <<'PY'
f32 = [(numpy.dtype("f4"), None)]
scope = {"_super_kernel_scope": "sp1", "_super_kernel_options": "stream-fusion=1", "_op_aicore_num": "4", "_op_vectorcore_num": "3"}
a = g.add("Exp", [x], f32, "first", **scope, _user_stream_label="late", _user_stream_priority="2", _deterministic="1")
b = g.add("Relu", [x], f32, "second", **scope, _user_stream_label="soon", _user_stream_priority="1", _deterministic="1")
c = g.add("Identity", [b[0], "^first"], f32, "wait", **scope)
d = g.add("Add", [a[0], c[0]], f32, "sum", **scope)
e = g.add("Neg", d, f32, "alone", _super_kernel_scope="")
g.end(e)
PY
for form in op node; do
	link marks.$form.txt --dump-dir dumps
	grep -q "marks.$form.txt:[0-9]*:[0-9]*: node 'first' (ge:Exp): the mark '_deterministic' has no effect" err.txt &&
		[ "$(grep -c _deterministic err.txt)" = 1 ] || { cat err.txt >&2; fail "a mark without effect"; }
	grep -q '"first" = "Exp".* stream=2 cube_cores=4 vector_cores=3 scope="sp1"' dumps/6_validate.ir &&
		grep -q '"second" = "Relu".* stream=1 ' dumps/6_validate.ir &&
		grep -q '"alone" = "Neg".* scope=""' dumps/6_validate.ir || { cat dumps/6_validate.ir >&2; fail "the marks"; }
	"$skdump" out.sk >told.txt
	grep -q 'sk_sp1' told.txt && grep -q 'sk_task_alone' told.txt || { cat told.txt >&2; fail "the launches"; }
	"$skdump" --steps out.sk | grep -q '^launch 0: .*, 3 cores$' || { "$skdump" --steps out.sk >&2; fail "the limit of cores"; }
	cp out.sk $form.sk
	# A dump of the graph, and the model as text, are the same package.
	link dumps/6_validate.pbtxt
	"$skdump" --steps out.sk >one.txt
	"$skdump" --steps $form.sk | diff - one.txt || fail "the dump is another package"
done
"$skrun" op.sk --random 1 --output alone:0=a.npy && "$skrun" node.sk --random 1 --output alone:0=b.npy && cmp a.npy b.npy ||
	fail "the forms differ"
graph limits <<'PY'
f32 = [(numpy.dtype("f4"), None)]
a = g.add("Exp", [x], f32, "first", _op_vectorcore_num="3")
g.end(g.add("Sin", a, f32, "second", _op_vectorcore_num="5"))
PY
link limits.op.txt
grep -q "limits.op.txt:[0-9]*:[0-9]*: nodes of scope 'net' have different limits of cores, and a superkernel has one: it is the greatest" err.txt &&
	"$skdump" --steps out.sk | grep -q ', 5 cores$' || { cat err.txt >&2; fail "different limits"; }

# ---- errors ----
refuse() { # PATTERN NAME: both forms are refused; standard input is the graph
	graph "$2"
	for form in op node; do
		fails_with "$2.$form.txt:[0-9]+:[0-9]+: $1" "$sklink" "$2.$form.txt" -L "$top_builddir/kernels" -lskernels -o out.sk
	done
}
rm -f out.sk
refuse "node 'Conv2D' \(ge:Conv2D\): attribute 'data_format' must be 'NCHW'" layout <<'PY'
g.end(g.add("Conv2D", [x, x], strides=[1, 1, 1, 1], pads=[0, 0, 0, 0], data_format="NHWC"))
PY
refuse "node 'ConcatV2' \(ge:ConcatV2\): its input 2 \('concat_dim'\) has to be one integer that are known" axis <<'PY'
g.end(g.add("ConcatV2", [x, x, g.data(1, numpy.zeros((), "i4"))], N=2))
PY
refuse "node 'RotaryPositionEmbedding' \(ge:RotaryPositionEmbedding\): attribute 'mode' has a value" mode <<'PY'
g.end(g.add("RotaryPositionEmbedding", [x, x, x], mode=3))
PY
refuse "node 'Muls' \(ge:Muls\): attribute 'value' is missing" missing <<'PY'
g.end(g.add("Muls", [x]))
PY
refuse "node 'DropOutDoMask' \(ge:DropOutDoMask\): there is no operator 'DropOutDoMask' in the domain 'ge'" unknown <<'PY'
g.end(g.add("DropOutDoMask", [x, x]))
PY
refuse "node 'AddRmsNormDynamicQuant' \(ge:AddRmsNormDynamicQuant\): attribute 'dst_type' must be 2" type <<'PY'
g.end(g.add("AddRmsNormDynamicQuant", [x, x, x], dst_type=29)[:1])
PY
sed 's/DT_FLOAT/DT_FLOTA/' marks.op.txt >bad.txt
fails_with "bad.txt:[0-9]+:[0-9]+: a word of the enum, or its number, is expected here, not 'DT_FLOTA'" "$sklink" bad.txt -o out.sk
sed 's/DT_FLOAT/DT_FLOTA/' marks.node.txt >bad.txt
fails_with "bad.txt:[0-9]+:[0-9]+: in the text of attribute '\[o\]y0' of node 'arg0_1', line 2, column 8: a word of the enum" "$sklink" bad.txt -o out.sk
printf 'node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }\n' >bad.txt
fails_with "bad.txt:1:[0-9]+: node 'x': attribute 'dtype' is no text" "$sklink" bad.txt -o out.sk

# Mutants of both forms, and of GE's dumps, are linked, or refused with a place and without half a package. MUTANTS
# chooses how many of each.
cp "$top_srcdir/tests/fuzz/pbtxt/dump.pbtxt" dump.pbtxt
for text in marks.op.txt marks.node.txt dump.pbtxt; do
	mkdir mutants
	(cd mutants && "$top_builddir/tests/fuzz/fuzz-pbtxt" --write --text --mutants "${MUTANTS:-50}" "../$text")
	linked=0
	for mutant in mutants/*; do
		status=0
		timeout 60 "$sklink" "$mutant" -L "$top_builddir/kernels" -lskernels -o mutant.sk >out.txt 2>err.txt ||
			status=$?
		case $status in
		0) linked=$((linked + 1)) && rm mutant.sk ;;
		1)
			grep -q "error: $mutant:\([0-9]*:[0-9]*\| the model has no outputs$\)" err.txt || { cat err.txt >&2; fail "$text, $mutant: no place"; }
			[ ! -e mutant.sk ] || fail "$text, $mutant: half a package"
			;;
		*)
			cat err.txt >&2
			fail "$text, $mutant: status $status"
			;;
		esac
	done
	echo "$text: $linked of $(ls mutants | wc -l) mutants are linked"
	[ $linked -gt 0 ] && [ $linked -lt "$(ls mutants | wc -l)" ] || fail "$text: all mutants are alike"
	rm -r mutants
done

# ---- the document has each operator ----
sed -n 's/^KIND("\([A-Za-z0-9]*\)".*/\1/p' "$top_srcdir/graph/onnx/kinds.def" | while read -r kind; do
	grep -q "\`$kind\`" "$top_srcdir/doc/reference/torchair.md" || fail "doc/reference/torchair.md lacks $kind"
done

# ---- options of captured graphs: those without effect are told, unless they are off ----
link marks.op.txt --scope-options '*=kernel_map=a:debug_per_op_max_core_num=1:auto_op_parallel=0:preload_code=0:early_start=0'
grep -q "scope option 'kernel_map' has no effect: sklink finds kernels by their signatures" err.txt &&
	grep -q "scope option 'debug_per_op_max_core_num' has no effect" err.txt && ! grep -q auto_op_parallel err.txt ||
	{ cat err.txt >&2; fail "options of captured graphs"; }
"$skdump" --steps out.sk | grep -q 'preload-code=max' || { "$skdump" --steps out.sk >&2; fail "preload_code=0 is not max"; }
fails_with "scope option 'auto_op_parallel' has no value|unknown scope option" "$sklink" marks.op.txt --scope-options '*=auto_op_paralel=1' -o out.sk
for order in 0 1; do
	link marks.op.txt --scope-options "*=stream-order=$order" && cp out.sk order.sk
	link marks.op.txt --scope-options "*=auto_op_parallel=$((1 - order))"
	cmp out.sk order.sk || fail "auto_op_parallel is not the reverse of stream-order=$order"
done
fails_with "unknown scope option 'auto_op_parallel'" "$sklink" marks.op.txt --scope-options '*=auto_op_parallel=2' -o out.sk
