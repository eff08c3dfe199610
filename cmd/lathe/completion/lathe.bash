# Completion of lathe for bash: source <(lathe completion bash)
_lathe() {
	local line
	COMPREPLY=()
	while IFS= read -r line; do
		case $line in
		:files) ;; # where there is no reply, bash completes names of files
		*) COMPREPLY+=("${line%%$'\t'*}") ;;
		esac
	done < <("${COMP_WORDS[0]/#\~/$HOME}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
	if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]]; then
		compopt -o nospace 2>/dev/null
	fi
}
complete -o bashdefault -o default -F _lathe lathe
