# libskernels.a: an object for each kernel that the sources list, with one exported function of its name and that function's
# signature. Kernels need nothing: no C library, no writable data. The tables of doc/operators.md are what the archive has, and each
# kernel in them computes what its operator means, within the bounds that stand there (library.c).
set -eu
. "$top_srcdir/tests/lib/lib.sh"
library=$top_builddir/kernels/libskernels.a
# The sources whose operators have rows in tables of doc/operators.md and of the program; the others have tests of their own.
families='activations.c binary.c cast.c clip.c comparisons.c composites.c extremes.c predicates.c unary.c where.c'

awk -f "$top_srcdir/kernels/variants.awk" "$top_srcdir"/kernels/*.c >variants
cut -d' ' -f1 variants | sort >listed
[ -s listed ] || fail "no kernel is listed"
ar t "$library" | sed 's/\.o$//' | sort >members
diff listed members >diff.txt || { cat diff.txt; fail "what is listed is not what is in the archive"; }

# "member symbol type" of everything that others see, or that is open.
nm -A --format=posix "$library" | sed -E 's/^.*\[(.*)\.o\]: /\1 /' >symbols
awk '$3 == "U"' symbols >open.txt
[ ! -s open.txt ] || { cat open.txt; fail "kernels import something"; }
awk '$3 ~ /[A-Z]/ && ($1 != $2 || $3 != "T")' symbols >others.txt
[ ! -s others.txt ] || { cat others.txt; fail "something but the kernel is exported"; }
awk '$3 ~ /[bBdDC]/' symbols >data.txt
[ ! -s data.txt ] || { cat data.txt; fail "kernels have writable data"; }

# Each note names its own kernel.
readelf -p .sk.kernels "$library" >notes
sed -nE 's/^File: .*\((.*)\.o\)$/\1/p; s/^ *\[ *0\] *(.*)$/\1/p' notes | awk 'NR % 2 { file = $0; next } file != $0' >notes.txt
[ ! -s notes.txt ] || { cat notes.txt; fail "notes name other kernels"; }

# Every operator that a kernel computes is in doc/operators.md.
grep -o 'op=[A-Za-z0-9]*' notes | sed 's/op=//' | sort -u >operators.txt
while read -r operator; do
	grep -qE "\`$operator[\`(]" "$top_srcdir/doc/operators.md" || fail "doc/operators.md does not say what $operator is"
done <operators.txt

# "name operator form isa input output", as signatures say it: the operator with its conditions, the form apart, and the types of
# the first input that is no condition and of the output.
sed -nE 's/^ *\[ *[0-9a-f]+\]  ?(.*)$/\1/p' notes | awk -v families=" $families " '
	FILENAME == "variants" {
		if (index(families, " " $2 " ")) held[$1] = 1
		next
	}
	++line % 2 { name = $0; next }
	name in held {
		match($0, /op=[A-Za-z0-9]+(\([^)]*\))?/)
		operator = substr($0, RSTART + 3, RLENGTH - 3)
		form = "same"
		if (match(operator, /(, )?form=[a-z]+/)) {
			form = substr(operator, RSTART, RLENGTH)
			operator = substr(operator, 1, RSTART - 1) substr(operator, RSTART + RLENGTH)
			sub(/.*=/, "", form)
		}
		sub(/\(\)/, "", operator)
		gsub(/ /, "", operator)
		isa = match($0, /isa=[^ ;]+/) ? substr($0, RSTART + 4, RLENGTH - 4) : "base"
		sub(/^[^;]*; /, "")
		count = split($0, parameters, ", ")
		input = output = ""
		for (i = 1; i <= count; i++) {
			split(parameters[i], words, " ")
			sub(/\[.*/, "", words[3])
			if (words[1] == "in" && words[2] != "condition" && input == "") input = words[3]
			if (words[1] == "out") output = words[3]
		}
		print name, operator, form, isa, input, output
	}' variants - >kernels

# The same out of the tables of doc/operators.md, with the bounds.
grep -E '^\| `[A-Z]' "$top_srcdir/doc/operators.md" | tr -d '`' >rows
awk -F' *\\| *' '{ split($5, f32, " "); split($6, f64, " "); print $2, f32[1] "" ? f32[1] : 0, f64[1] "" ? f64[1] : 0, f32[3] ? f32[3] : "-" }' rows >bounds
awk -F' *\\| *' '
	BEGIN {
		sets["floats"] = "f32 f64 f16 bf16"
		sets["signed"] = "i8 i16 i32 i64"
		sets["unsigned"] = "u8 u16 u32 u64"
		sets["integers"] = sets["signed"] " " sets["unsigned"]
		sets["numbers"] = sets["floats"] " " sets["integers"]
		sets["all"] = sets["numbers"] " bool"
		sets["symmetric"] = "same scalar row column strided"
		sets["forms"] = sets["symmetric"] " lscalar lrow lcolumn"
	}
	function expanded(text, words, count, i, all) {
		count = split(text, words, " ")
		for (i = 1; i <= count; i++)
			all = all " " (words[i] in sets ? sets[words[i]] : words[i])
		return all
	}
	{
		sub(/ to all/, "", $3)
		types = split(expanded($3), type, " ")
		forms = split($4 == "" ? "same" : expanded($4), form, " ")
		for (i = 1; i <= types; i++)
			for (j = 1; j <= forms; j++)
				if ($2 != "Cast")
					print $2, form[j], type[i]
				else
					for (k = 1; k <= types; k++)
						if (k != i)
							print $2, form[j], type[i], type[k]
	}' rows | sort >told
awk '$4 == "base" { print $2, $3, $5 ($2 == "Cast" ? " " $6 : "") }' kernels | sort >there
diff told there >diff.txt || { cat diff.txt; fail "doc/operators.md (<) is not what is in the archive (>)"; }

$KERNEL_CC -shared -o library.so -Wl,--whole-archive "$library" -Wl,--no-whole-archive
"$top_builddir/tests/kernels/library" ./library.so kernels bounds || fail "kernels are wrong"
