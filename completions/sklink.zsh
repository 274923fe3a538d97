#compdef sklink skrun skdump sklink-bisect
# zsh completion for sklink, skrun, skdump and sklink-bisect; made of what their --help says.
local -a known
case $service in
@options@
esac
_arguments $known '*:file:_files'
