#!/bin/bash
# Completions of bash and zsh: each option that --help and the manuals have, and no other, words that are values, and
# files.
. "$top_srcdir/tests/lib/lib.sh"
completions=$top_builddir/completions
bash -n "$completions/sklink" || fail "bash cannot read it"

# completed WORD…: bash's completions of the last word of the line. "=" is a word of its own, as bash divides lines.
completed() {
	bash -c 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); compopt() { echo "($*)"; }; _sklink; printf "%s\n" "${COMPREPLY[@]}"' \
		"$completions/sklink" "$@"
}
expect() { # TEXT WORD…
	local expected=$1
	shift
	[ "$(completed "$@" | paste -sd' ')" = "$expected" ] ||
		fail "$*: $(completed "$@" | paste -sd' '), not $expected"
}

for program in sklink skrun skdump sklink-bisect; do
	grep '^\.It.* Fl' "$top_srcdir/doc/reference/$program.1" | sed 's/ Ns//g' |
		grep -oE 'Fl -?[A-Za-z][-A-Za-z]*' | sed 's/Fl /-/' | sort -u >options.txt
	[ "$(wc -l <options.txt)" -gt 5 ] || fail "$program: the manual is not understood"
	completed $program - | sed 's/=$//' | sort -u | diff options.txt - >&2 ||
		fail "$program: the manual (<) and bash (>) have other options"
done
expect '(-o nospace) --icf=' sklink --ic
expect 'none safe all' sklink --icf = ''
expect 'none safe all' sklink --icf =
expect safe sklink a.yaml --icf = s
expect 'host ascend cpu gpu' sklink --fusion-target ''
expect 'norelro nodelete noexecstack now nopack-relative-relocs' sklink -z n
expect '--timeout' /usr/bin/skrun x.sk --timeo
expect '' skrun pack # files, which are bash's own
expect '--trust --trace' skrun --verify --tr
expect '--keep-files' sklink-bisect --k
expect '(-o nospace) --keep=' sklink-bisect --cores 1 -- model.onnx --kee

if ! command -v zsh >/dev/null; then
	echo "left out: zsh (zsh)"
	exit 0
fi
zsh -n "$completions/_sklink" || fail "zsh cannot read it"
for program in sklink skrun skdump sklink-bisect; do
	completed $program - | sed 's/=$//' | sort -u >options.txt
	zsh -f -c '_arguments() { print -rl -- "$@"; }; service=$1; source $2' zsh $program "$completions/_sklink" |
		sed -nE 's/^\*(--?[A-Za-z][-A-Za-z]*).*/\1/p' | sort -u | diff options.txt - >&2 ||
			fail "$program: bash (<) and zsh (>) have other options"
done

# On a terminal: the command that a line with tabs becomes when it is run.
[ -x /usr/bin/python3 ] || { echo "left out: zsh on a terminal (python3)"; exit 0; }
touch first.sk second.npy
cat >type.py <<'P'
import os, pty, re
from terminal import all_said
process, terminal = pty.fork()
if not process:
    os.execvp("zsh", ["zsh", "-f", "-i"])
lines = ["fpath=($COMPLETIONS $fpath); autoload -Uz compinit; compinit -u -D; sklink() { print -r RUN sklink $@ }; skrun() { print -r RUN skrun $@ }",
         "skrun --unf\t fi\t", "skrun --output y=sec\t", "sklink --fusion-target=as\t --ic\tsafe", "exit"]
for line in lines: # text typed ahead is read when the line before has been run
    os.write(terminal, line.encode() + b"\n")
text = all_said(terminal)
os.waitpid(process, 0)
print("\n".join(re.findall(r"^RUN .*", text.replace("\r", "\n"), re.M)))
P
COMPLETIONS=$completions TERM=dumb PYTHONPATH=$top_srcdir/tests/lib PYTHONDONTWRITEBYTECODE=1 timeout 60 \
	/usr/bin/python3 type.py >out.txt || fail "zsh on a terminal"
diff - out.txt <<'T' >&2 || fail "zsh completes something else"
RUN skrun --unfused first.sk
RUN skrun --output y=second.npy
RUN sklink --fusion-target=ascend --icf=safe
T
