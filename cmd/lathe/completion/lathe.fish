# Completion of lathe for fish: lathe completion fish | source
function __lathe_complete
    set -l words (commandline -opc)
    set -l last (commandline -ct)
    for line in ($words[1] __complete $words[2..-1] "$last" 2>/dev/null)
        if test "$line" = ":files"
            __fish_complete_path "$last"
        else
            echo $line
        end
    end
end
complete -c lathe -f -a "(__lathe_complete)"
