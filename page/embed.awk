# The page as a file in C: page.html with the styles and the scripts in it, in three parts; skdump puts the package and
# the traces between them. -v styles='FILES' -v scripts='FILES'
function put(line) {
	gsub(/[\\"?]/, "\\\\&", line)
	printf "\t\"%s\\n\"\n", line
}

function put_files(names, files, count, i, line) {
	count = split(names, files, " ")
	for (i = 1; i <= count; i++)
		while ((getline line <files[i]) > 0)
			put(line)
}

BEGIN {
	print "/* Made of page/page.html by page/embed.awk. */"
	print "#include \"src/skdump/skdump.h\"\n"
	print "const char *const sk_page_parts[SK_PAGE_PARTS] = {"
}
$0 == "@style@" { put_files(styles); next }
$0 == "@script@" { put_files(scripts); next }
$0 == "@package@" || $0 == "@traces@" { print "\t,"; next }
{ put($0) }
END { print "};" }
