#compdef sklink skrun skdump sklink-bisect
# zsh completion for sklink, skrun, skdump and sklink-bisect, made of their --help.
local -a known
case $service in
@options@
esac
_arguments $known '*:file:_files'
