# Sourced by tests of the kernel library. Each names the sources of kernels/ of which it compares all kernels, in a line
# that begins with one of these functions: tests/kernels/library.sh finds sources that no test names.
#
# name_kernels SOURCE.c… prints a line KERNEL_NAME(name) for each kernel, for programs of their own, which fail if they
# do not know one
# compare_kernels SOURCE.c… compares each kernel with its definition in tests/kernels/library, which fails if it has
# none
library=$top_builddir/kernels/libskernels.a

# "name source key=value…" of the kernels of these sources.
list_variants() {
	for source; do set -- "$@" "$top_srcdir/kernels/$source"; shift; done
	awk -f "$top_srcdir/kernels/variants.awk" "$@"
}

name_kernels() {
	list_variants "$@" | sed 's/\([^ ]*\).*/KERNEL_NAME(\1)/'
}

# "name operator form isa input output" of their kernels, from signatures: the operator with its conditions, the form
# apart, and the types of the first input that is not a condition and of the last output.
read_signatures() {
	list_variants "$@" >variants
	readelf -p .sk.kernels "$library" | sed -nE 's/^ *\[ *[0-9a-f]+\]  ?(.*)$/\1/p' | awk '
		FILENAME == "variants" {
			held[$1] = 1
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
				if (words[1] ~ /^in\??$/ && words[2] != "condition" && input == "") input = words[3]
				if (words[1] ~ /^out\??$/) output = words[3]
			}
			print name, operator, form, isa, input == "" ? output : input, output
		}' variants -
}

# Write the kernels' data from signatures to the file kernels, and the bounds in the tables of
# doc/reference/operators.md to the file bounds.
compare_kernels() {
	read_signatures "$@" >kernels
	[ -s kernels ] || fail "there is no kernel in $*"
	grep -E '^\| `[A-Z]' "$top_srcdir/doc/reference/operators.md" | tr -d '`' >rows
	awk -F' *\\| *' '{ split($5, f32, " "); split($6, f64, " "); print $2, f32[1] "" ? f32[1] : 0, f64[1] "" ? f64[1] : 0, f32[3] ? f32[3] : "-" }' rows >bounds
	$KERNEL_CC -shared -o library.so -Wl,--whole-archive "$library" -Wl,--no-whole-archive
	"$top_builddir/tests/kernels/library" ./library.so kernels bounds || fail "kernels are wrong"
}
