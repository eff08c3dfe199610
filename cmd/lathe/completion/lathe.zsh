#compdef lathe
# Completion of lathe for zsh: source <(lathe completion zsh), below compinit
_lathe() {
	local line files
	local -a list
	for line in "${(@f)$("${(Q)words[1]}" __complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
		case $line in
		'') ;;
		:files) files=1 ;;
		*$'\t'*) list+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
		*) list+=("${line//:/\\:}") ;;
		esac
	done
	(( $#list )) && _describe lathe list
	[[ -n $files ]] && _files
}
if [[ $funcstack[1] == _lathe ]]; then
	_lathe "$@"
else
	compdef _lathe lathe
fi
