# Kernels of libskernels.a that promise units of one element (split=n:1) compute the same bits wherever a call begins
# and ends: each of them, as its signature says itself, of each instruction set that this processor has.
. "$top_srcdir/tests/lib/lib.sh"

LC_ALL=C grep -aoE 'split=n:1 op=[^;]*; [[:print:]]*' "$top_builddir/kernels/libskernels.a" | sed 's/ isa=[^;]*//' |
	sort -u >signatures.txt
[ -s signatures.txt ] || fail "no kernel promises anything"

# Attributes without a default are 0.5; conditions have their own values.
awk '{
	task = "t" NR
	split($0, halves, "; ")
	op = halves[1]
	sub(/^split=n:1 op=/, "", op)
	conditions = ""
	if (match(op, /\(.*\)/)) {
		conditions = substr(op, RSTART + 1, RLENGTH - 2)
		op = substr(op, 1, RSTART - 1)
		gsub(/=/, ": ", conditions)
	}
	rest = halves[2]
	while (match(rest, /attr\([a-z_0-9]+\)/)) {
		conditions = conditions (conditions ? ", " : "") substr(rest, RSTART + 5, RLENGTH - 6) ": 0.5"
		rest = substr(rest, RSTART + RLENGTH)
	}
	count = split(halves[2], parameters, ", ")
	args = ""
	for (p = 1; p <= count; p++)
		if (match(parameters[p], /^(in|out)\?? [^ ]+ [a-z0-9]+\[[^]]*\]/)) {
			split(substr(parameters[p], RSTART, RLENGTH), words, " ")
			type = shape = words[3]
			sub(/\[.*/, "", type)
			gsub(/^[^[]*\[|\]/, "", shape)
			tensors = tensors "  " task "_" p ": {dtype: " type ", shape: [" (shape == "1" ? 1 : 1003) "]}\n"
			args = args (args ? ", " : "") task "_" p
		}
	tasks = tasks "  - {name: " task ", op: " op (conditions ? ", attr: {" conditions "}" : "") ", args: [" args "]}\n"
}
END { printf "sklink: 1\ntensors:\n%stasks:\n%s", tensors, tasks }' signatures.txt >cuts.yaml

for isa in x86-64 x86-64-v3 x86-64-v4; do
	"$sklink" cuts.yaml -L "$top_builddir/kernels" -lskernels --isa $isa -o $isa.sk
	"$skrun" $isa.sk --random 1 --check-split >out.txt 2>&1 || {
		grep -q 'needs .*; this processor has .* and lacks' out.txt && { echo "not tried on this processor: $isa"; continue; }
		cat out.txt
		fail "$isa: other bits in parts"
	}
	tasks=$(wc -l <signatures.txt)
	grep -q "$tasks of $tasks tasks" out.txt || { cat out.txt; fail "not all are divided"; }
done
