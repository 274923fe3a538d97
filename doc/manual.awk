# Makes a manual page from a document, so that there is one source: awk -f manual.awk manifest.md >sk-manifest.5
# The document begins with a comment that has the page's name, section, date, purpose and references:
# <!-- man: sk-manifest 5 2026-11-29 "networks of kernels, as sklink reads them" sklink(1) skrun(1) -->
# The references may continue on further lines.
#
# It knows the Markdown that doc/ is written in: headings, paragraphs, lists with stars, tables, fenced blocks, `code`,
# *emphasis*, **strong** and links. A line that begins with anything else is an error, so that nothing is lost
# in silence.

# Plain text.
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

# The parts of a document's first line, into part: 1 is before the purpose, 2 the purpose, 3 after it. 0 for another
# line.
function first_line(line, part) {
	return line ~ /^<!-- man: [^ ]+ [0-9] [-0-9]+ "[^"]+"/ && split(line, part, "\"")
}

# The pages that a line of the first comment refers to.
function refer(line,    words, i) {
	split(line, words, " ")
	for (i = 1; i in words; i++) {
		if (words[i] == "-->")
			in_comment = 0
		else
			also[++references] = words[i]
	}
}

# [text](target): a document is named by its manual page if it has one, or else by its file; a place in this page by its
# text.
function link(text, target,    path, line, part, word) {
	sub(/#.*/, "", target)
	if (target == "")
		return inline(text)
	if (target !~ /:/) {
		path = FILENAME
		sub(/[^\/]*$/, "", path)
		path = path target
		if ((getline line <path) <= 0)
			fail("a link to " target ", which cannot be read")
		close(path)
		sub(/.*\//, "", target)
		if (first_line(line, part)) {
			split(part[1], word, " ")
			target = word[3] "(" word[4] ")"
		} else
			documents = 1
	}
	return text ~ /\.md$/ ? code(target) : inline(text) " (" code(target) ")"
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

# A paragraph begins, but for the first one under a heading, which begins by itself.
function put_break() {
	if (!headed)
		print ".PP"
	headed = 0
}

function flush() {
	if (paragraph != "")
		put(inline(paragraph))
	paragraph = ""
}

# A row of a table: its first cell is a term, the others explain it, under their headings if there are several. A column
# of tests is for readers of the sources.
function row(line,    cells, columns, i, first) {
	sub(/^\| */, "", line)
	sub(/ *\| *$/, "", line)
	columns = split(line, cells, / +\| */)
	if (!in_table) {
		for (i = 1; i <= columns; i++)
			heading[i] = cells[i]
		in_table = 1
		return
	}
	if (line ~ /^-+(\|-+)*$/ || line ~ /^---/)
		return
	headed = 0
	print ".TP"
	put(inline(cells[1]))
	first = 1
	for (i = 2; i <= columns; i++) {
		if (cells[i] == "" || heading[i] == "test")
			continue
		if (!first)
			print ".br"
		put((columns > 2 && heading[i] != "" ? "\\fI" escape(heading[i]) ":\\fR " : "") inline(cells[i]))
		first = 0
	}
	if (first)
		print "\\&"
}

FNR == 1 {
	if (!first_line($0, part))
		fail("no line that says what the page is")
	split(part[1], word, " ")
	in_comment = 1
	refer(part[3])
	print ".\\\" Made of a document by manual.awk: changes will be lost."
	page = word[3]
	gsub(/-/, "\\-", page)
	printf ".TH %s %s %s sklink\n.nh\n.SH NAME\n%s \\- %s\n", toupper(page), word[4], word[5], page, part[2]
	next
}

in_comment {
	refer($0)
	next
}

/^```/ {
	flush()
	fenced = !fenced
	if (fenced)
		put_break()
	print fenced ? ".RS 2\n.nf" : ".fi\n.RE"
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
	headed = 1
	next
}

/^## / {
	flush()
	print ".SH " toupper(escape(substr($0, 4)))
	headed = 1
	next
}

/^### / {
	flush()
	print ".SS " escape(substr($0, 5))
	headed = 1
	next
}

/^$/ {
	flush()
	blank = 1
	next
}

/^\* / {
	flush()
	headed = 0
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
		put_break()
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
	for (i = 1; i <= references; i++) {
		split(also[i], word, /[()]/)
		printf ".BR %s (%s)%s\n", word[1], word[2], i < references ? " ," : ""
	}
	if (documents)
		print ".PP\nDocuments that this page names are in\n.B share/doc/sklink/doc\nbelow the prefix."
}
