# The functions of an archive that need only imports: those of members with undefined symbols that lead to imports and
# to members like them. Input: the names that may be imported; `nm -A --format=posix ARCHIVE`.
FNR == NR { import[$1] = 1; next }
{ member = $1; sub(/^.*\[/, "", member); sub(/\]:$/, "", member) }
$3 == "U" && $2 != "_GLOBAL_OFFSET_TABLE_" { undefined[member] = undefined[member] " " $2 }
$3 ~ /^[ABCDRTVW]$/ && !($2 in home) { home[$2] = member }
$3 == "T" { functions[member] = functions[member] " " $2 }
END {
	do {
		changed = 0
		for (member in undefined) {
			count = member in open ? 0 : split(undefined[member], names, " ")
			for (i = 1; i <= count; i++)
				if (!(names[i] in import) && (!(names[i] in home) || home[names[i]] in open))
					changed = open[member] = 1
		}
	} while (changed)
	for (member in functions) {
		count = member in open ? 0 : split(functions[member], names, " ")
		for (i = 1; i <= count; i++)
			print names[i]
	}
}
