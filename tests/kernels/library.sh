# libskernels.a: an object for each kernel that the sources list, with one exported function of its name and that
# function's signature. Kernels need nothing: no C library, no writable data. Each source has a test that compares its
# kernels. The tables of doc/reference/operators.md list the archive's kernels, and each kernel in them computes its
# operator, within the bounds of the tables (library.c).
set -eu
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/kernels/compare.sh"
# The sources with operators in tables of doc/reference/operators.md and of the program; the others have tests of their
# own.
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

# The loop of products begins at a cache line, wherever the linker puts it: those that lie otherwise take 5 % longer
# with AVX2.
nm -A --format=posix "$library" 2>nm.txt |
	sed -nE 's/^.*\[(.*\.o)\]: multiply_columns t ([0-9a-f]*).*/\1 \2/p' >loops.txt
[ "$(wc -l <loops.txt)" -gt 100 ] || fail "products have no loops"
while read -r object start; do
	[ $((0x$start % 64)) = 0 ] || fail "$object: the loop begins within a cache line"
done <loops.txt
cut -d' ' -f1 loops.txt | sort >with-loops.txt
readelf -SW "$library" | awk \
	'/^File:/ { sub(/.*\(/, ""); sub(/\).*/, ""); file = $0 } / AX / && $NF < 64 { print file }' |
	sort -u | comm -12 - with-loops.txt >flat.txt
[ ! -s flat.txt ] || { cat flat.txt; fail "objects with products may begin within a cache line"; }

# Every source is named by a test that compares its kernels.
for source in "$top_srcdir"/kernels/*.c; do
	grep -qE "^(compare_kernels|name_kernels|families=).*[ ']$(basename "$source")\b" \
		"$top_srcdir"/tests/kernels/*.sh ||
		fail "no test in tests/kernels compares the kernels of $source"
done

# Each note names its own kernel.
readelf -p .sk.kernels "$library" >notes
sed -nE 's/^File: .*\((.*)\.o\)$/\1/p; s/^ *\[ *0\] *(.*)$/\1/p' notes |
	awk 'NR % 2 { file = $0; next } file != $0' >notes.txt
[ ! -s notes.txt ] || { cat notes.txt; fail "notes name other kernels"; }

# Every operator that a kernel computes is in doc/reference/operators.md.
grep -o 'op=[A-Za-z0-9]*' notes | sed 's/op=//' | sort -u >operators.txt
while read -r operator; do
	grep -qE "\`$operator[\`(]" "$top_srcdir/doc/reference/operators.md" ||
		fail "doc/reference/operators.md does not say what $operator is"
done <operators.txt

compare_kernels $families

# The tables of doc/reference/operators.md have these kernels, and no others.
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
diff told there >diff.txt || { cat diff.txt; fail "doc/reference/operators.md (<) is not what is in the archive (>)"; }

