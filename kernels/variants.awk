# variants.awk: the list of kernels in libskernels.a. Reads the sources of kernels/ and prints a line for each kernel,
# with its name, its source and its keys:
#
#	sk_add_f32_row_v3 binary.c OP=Add TYPE=f32 FORM=row ISA=v3
#
# or, with -v make=1, the makefile that kernels/local.mk builds the library with. kernels/local.mk sets its variables.
BEGIN {
	sets["floats"] = "f32,f64,f16,bf16"
	sets["halves"] = "f16,bf16"
	sets["signed"] = "i8,i16,i32,i64"
	sets["unsigned"] = "u8,u16,u32,u64"
	sets["integers"] = sets["signed"] "," sets["unsigned"]
	sets["numbers"] = sets["floats"] "," sets["integers"]
	sets["all"] = sets["numbers"] ",bool"
	sets["symmetric"] = "same,scalar,row,column,strided"
	sets["forms"] = sets["symmetric"] ",lscalar,lrow,lcolumn"
	levels["base"] = ""
	levels["v3"] = " -march=x86-64-v3"
	levels["v4"] = " -march=x86-64-v4"
	levels["vnni"] = " -march=x86-64-v4 -mavx512vnni"
	if (make)
		print "all: $O/libskernels.a; @:"
}

function complain(text) {
	print FILENAME ":" FNR ": error: " text > "/dev/stderr"
	failed = 1
	exit 1
}

function kernel(name, keys, isa, flags) {
	if (name in sources)
		complain(name " is also in " sources[name])
	sources[name] = source
	names[++count_of_kernels] = name
	if (!make) {
		print name, source keys
		return
	}
	flags = keys
	gsub(/ /, " -D", flags)
	printf "$O/%s.o: $S/%s%s; $V$(COMPILE)%s -DKERNEL=%s%s -o $@ $S/%s\n", name, source, headers, levels[isa], name,
		flags, source
}

# The product of the keys from number i on; name, keys and isa come from those before.
function product(i, name, keys, isa, key, list, count, members, j, k, n) {
	if (i > NF) {
		kernel(name, keys, isa)
		return
	}
	if (split($i, key, "=") != 2)
		complain("\"" $i "\" is not KEY=VALUE,VALUE")
	count = split(key[2], list, ",")
	for (j = 1; j <= count; j++) {
		n = split(list[j] in sets ? sets[list[j]] : list[j], members, ",")
		for (k = 1; k <= n; k++) {
			if (key[1] == "ISA" && !(members[k] in levels))
				complain("there is no level " members[k])
			product(i + 1, members[k] == "base" ? name : name "_" tolower(members[k]),
				keys " " key[1] "=" members[k], key[1] == "ISA" ? members[k] : isa)
		}
	}
}

# The headers that a file of this folder includes, directly or indirectly.
function headers_of(file, line, name, list) {
	while ((getline line < (folder file)) > 0)
		if (line ~ /^#include "(kernels|format)\//) {
			name = line
			gsub(/^#include "(kernels\/)?|"$/, "", name)
			if (name in known)
				continue
			known[name] = 1
			list = list (name ~ /^format/ ? " $S/../" : " $S/") name \
				(name ~ /^format/ ? "" : headers_of(name))
		}
	close(folder file)
	return list
}

FNR == 1 {
	source = folder = FILENAME
	sub(/.*\//, "", source)
	sub(/[^\/]*$/, "", folder)
	split("", known)
	headers = headers_of(source)
}

sub(/^ \* variants: /, "") {
	$0 = $0 (/(^| )ISA=/ ? "" : " ISA=base")
	product(1, "sk", "", "base")
}

END {
	if (failed || !make)
		exit failed
	printf "OBJECTS ="
	for (i = 1; i <= count_of_kernels; i++)
		printf " \\\n$O/%s.o", names[i]
	print ""
	print "$O/libskernels.a: $O/variants.mk $(OBJECTS)"
	print "\t@echo '  AR       $@'"
	print "\t$Vrm -f $@"
	print "\t$V$(AR) rcD $@ $(OBJECTS)"
}
