# bash completion for sklink, skrun, skdump and sklink-bisect, made of their --help. Everything else completes files.
_sklink()
{
	local program=${COMP_WORDS[0]##*/} current=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]} words=
	# "=" is a word by itself. Words after sklink-bisect's "--" are sklink's.
	[ "$option" != = ] || option=${COMP_WORDS[COMP_CWORD - 2]}
	[ "$current" != = ] || current=
	[[ " ${COMP_WORDS[*]:0:COMP_CWORD} " != *' -- '* ]] || program=sklink
	case "$program $option" in
@options@
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
	[[ ${#COMPREPLY[@]} != 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace
}
complete -o default -F _sklink sklink skrun skdump sklink-bisect
