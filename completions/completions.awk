# Completions for a shell, from the programs' --help: the template with the line "@options@" replaced.
# -v shell=bash|zsh; the input is the template and, for each program, "program=NAME" and a file with its help.

# Returns the values that are words: "none|safe|all", "max-page-size=N", "[no]separate-code", "trap[:NAME,NAME]".
function find_words(text, parts, number, i, found) {
	number = split(text, parts, "|")
	for (i = 1; i <= number; i++) {
		sub(/\[[:,].*/, "", parts[i])
		sub(/=N$/, "=", parts[i])
		if (sub(/^\[no\]/, "", parts[i]))
			found = found " no" parts[i]
		if (parts[i] ~ /^[a-z][a-z0-9_-]*=?$/)
			found = found " " parts[i]
	}
	return found
}

# Notes an option: "--name", "--name=ARGUMENT", "--name[=ARGUMENT]", "-n ARGUMENT". It can have several lines, with a
# value in each.
function spelling(text, name, sign, rest) {
	if (!match(text, /^--?[A-Za-z][-A-Za-z]*/))
		return # -( and -)
	name = program " " substr(text, 1, RLENGTH)
	rest = substr(text, RLENGTH + 1)
	sign = rest == "" ? "" : rest ~ /^\[=/ ? "[=" : substr(rest, 1, 1)
	gsub(/^[[ =]+|\]$/, "", rest)
	if (!(name in signs)) {
		order[++count] = name
		signs[name] = sign
		names[name] = rest
		fresh[name] = 1
	}
	words[name] = words[name] find_words(rest)
}

function describe(text, i) {
	for (i = 1; i <= count; i++)
		if (order[i] in fresh) {
			texts[order[i]] = text
			delete fresh[order[i]]
		}
}

FNR == NR { template[++lines] = $0; next }
/^ +-/ {
	line = $0
	sub(/^ +/, "", line)
	gap = match(line, /  +/)
	said = gap ? substr(line, RSTART + RLENGTH) : ""
	pieces = split(gap ? substr(line, 1, RSTART - 1) : line, piece, /, +|,$/)
	for (i = 1; i <= pieces; i++)
		spelling(piece[i])
	if (said != "")
		describe(said)
	next
}
/^ +[^ ]/ { sub(/^ +/, ""); describe($0) }

function put_bash(i, parts, options, name) {
	for (i = 1; i <= count; i++) {
		split(order[i], parts, " ")
		options[parts[1]] = options[parts[1]] " " parts[2] (signs[order[i]] == "=" ? "=" : "")
		if (words[order[i]] != "")
			printf "\t'%s') words='%s' ;;\n", order[i], substr(words[order[i]], 2)
	}
	for (name in options)
		printf "\t'%s '*) [[ $current != -* ]] || words='%s' ;;\n", name,
			substr(options[name], 2) | "LC_ALL=C sort"
	close("LC_ALL=C sort")
}

# A specification for _arguments.
function put_zsh(i, parts, text, sign, action, last) {
	for (i = 1; i <= count; i++) {
		split(order[i], parts, " ")
		text = texts[order[i]]
		gsub(/[][\\:]/, "\\\\&", text)
		gsub(/'/, "'\\''", text)
		sign = signs[order[i]]
		action = names[order[i]] ~ /FILE/ ? "_files" : ""
		if (names[order[i]] ~ /DIR/)
			action = "_files -/"
		if (names[order[i]] ~ /=FILE/)
			action = "{ compset -P \"*=\"; _files }"
		if (words[order[i]] != "")
			action = "(" substr(words[order[i]], 2) ")"
		if (parts[1] != last)
			printf "%s%s)\n\tknown=(\n", last == "" ? "" : "\t)\n\t;;\n", parts[1]
		last = parts[1]
		printf "\t\t'*%s%s[%s]%s'\n", parts[2],
			sign == "" ? "" : sign == "[=" ? "=-" : parts[2] ~ /^-.$/ ? "+" : "=", text,
			sign == "" ? "" : (sign == "[=" ? "::" : ":") "value:" action
	}
	print "\t)\n\t;;"
}

END {
	for (at = 1; at <= lines; at++)
		if (template[at] != "@options@")
			print template[at]
		else if (shell == "bash")
			put_bash()
		else
			put_zsh()
}
