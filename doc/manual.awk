# Makes a manual page of a document, so that there is one source: awk -f manual.awk -v name=sk-manifest -v section=5
# -v what="one line" -v also="sklink 1 skrun 1" manifest.md >sk-manifest.5
#
# It knows the Markdown that doc/ is written in: headings, paragraphs, lists with stars, tables, fenced blocks, `code`,
# *emphasis*, **strong** and links. A line that begins with anything else is an error, so that nothing is lost in silence.

# Text that stands as it is.
function escape(text) {
	gsub(/\\/, "\\e", text)
	gsub(/…/, "...", text)
	return text
}

# Code: its hyphens are minus signs, which can be searched for and copied.
function code(text) {
	text = escape(text)
	gsub(/-/, "\\-", text)
	return "\\fB" text "\\fR"
}

# [text](target): documents are named by their file, wherever in them the link leads.
function link(text, target) {
	sub(/#.*/, "", target)
	return inline(text) (text == target ? "" : " (" code(target) ")")
}

# The first piece of markup in the text, and then the rest.
function inline(text,    done, end, strong, emphasis, rest) {
	done = ""
	while (match(text, /[`*[]/)) {
		done = done escape(substr(text, 1, RSTART - 1))
		text = substr(text, RSTART)
		if (text ~ /^`[^`]+`/) {
			end = index(substr(text, 2), "`") + 1
			done = done code(substr(text, 2, end - 2))
			text = substr(text, end + 1)
		} else if (match(text, /^\[[^]]+\]\([^)]+\)/)) {
			end = index(text, "](")
			rest = substr(text, RLENGTH + 1)
			done = done link(substr(text, 2, end - 2), substr(text, end + 2, RLENGTH - end - 2))
			text = rest
		} else if (text ~ /^\*\*/) {
			strong = !strong
			done = done (strong ? "\\fB" : "\\fR")
			text = substr(text, 3)
		} else if (text ~ /^\*/) {
			emphasis = !emphasis
			done = done (emphasis ? "\\fI" : "\\fR")
			text = substr(text, 2)
		} else {
			done = done substr(text, 1, 1)
			text = substr(text, 2)
		}
	}
	if (strong || emphasis)
		fail("markup that does not end")
	return done escape(text)
}

function fail(reason) {
	printf "%s:%d: %s\n", FILENAME, FNR, reason >"/dev/stderr"
	failed = 1
	exit 1
}

# A line of text: requests begin with a point or a quote.
function put(text) {
	print (text ~ /^[.']/ ? "\\&" : "") text
}

function flush() {
	if (paragraph != "")
		put(inline(paragraph))
	paragraph = ""
}

# A row of a table: its first cell is a term, the others explain it. Columns about tests are for those who have the sources.
function row(line,    cells, count, i, first) {
	sub(/^\| */, "", line)
	sub(/ *\| *$/, "", line)
	count = split(line, cells, / +\| */)
	if (!in_table) {
		for (i = 1; i <= count; i++)
			left_out[i] = cells[i] == "test"
		in_table = 1
		return
	}
	if (line ~ /^-+(\|-+)*$/ || line ~ /^---/)
		return
	print ".TP"
	put(inline(cells[1]))
	first = 1
	for (i = 2; i <= count; i++) {
		if (left_out[i] || cells[i] == "")
			continue
		if (!first)
			print ".br"
		put(inline(cells[i]))
		first = 0
	}
	if (first)
		print "\\&"
}

BEGIN {
	printf ".\\\" Made of a document by manual.awk: changes will be lost.\n"
	gsub(/-/, "\\-", name)
	printf ".TH %s %s \"\" sklink\n.nh\n.SH NAME\n%s \\- %s\n", toupper(name), section, name, what
}

/^```/ {
	flush()
	fenced = !fenced
	print fenced ? ".PP\n.RS 2\n.nf" : ".fi\n.RE"
	next
}

fenced {
	text = $0
	gsub(/\\/, "\\e", text)
	gsub(/…/, "...", text)
	gsub(/-/, "\\-", text)
	put(text)
	next
}

/^\|/ {
	flush()
	row($0)
	next
}

{ in_table = 0 }

/^# / {
	print ".SH DESCRIPTION"
	next
}

/^## / {
	flush()
	print ".SH " toupper(escape(substr($0, 4)))
	next
}

/^### / {
	flush()
	print ".SS " escape(substr($0, 5))
	next
}

/^$/ {
	flush()
	blank = 1
	next
}

/^\* / {
	flush()
	print ".IP \\(bu 2"
	paragraph = substr($0, 3)
	in_list = 1
	blank = 0
	next
}

/^  [^ ]/ && in_list {
	paragraph = paragraph " " substr($0, 3)
	next
}

/^[A-Za-z`*[(]/ || (!blank && /^[0-9]/) {
	if (blank) {
		print ".PP"
		in_list = 0
	}
	blank = 0
	paragraph = paragraph (paragraph == "" ? "" : " ") $0
	next
}

{ fail("a line that manual.awk does not know: " $0) }

END {
	if (failed)
		exit 1
	flush()
	if (fenced)
		fail("a block that does not end")
	print ".SH SEE ALSO"
	count = split(also, pages, " ")
	for (i = 1; i < count; i += 2)
		printf ".BR %s (%s)%s\n", pages[i], pages[i + 1], i + 2 < count ? " ," : ""
}
