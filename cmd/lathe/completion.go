package main

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// The scripts ask the command itself what may follow, so that they never change.
//
//go:embed completion
var completionScripts embed.FS

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"The shell: bash, zsh or fish."`
}

// Help is the long help.
func (completionCmd) Help() string {
	return `The script needs the command lathe in the search path. It is for one shell; to have it in every shell, put the line into the file that the shell reads when it starts, or save the script where the shell looks for completions:

  source <(lathe completion bash)                                     # in ~/.bashrc
  source <(lathe completion zsh)                                      # in ~/.zshrc, below compinit
  lathe completion fish > ~/.config/fish/completions/lathe.fish`
}

// Run does it.
func (c *completionCmd) Run(a *app) error {
	text, err := completionScripts.ReadFile("completion/lathe." + c.Shell)
	a.out.Write(text)
	return err
}

// completer is the command that the scripts call. Its arguments are those of the command line
// up to the cursor, of which the last one is unfinished and may be empty.
const completer = "__complete"

// fileNames is the line that stands for the names of files, which the shell knows itself.
const fileNames = ":files"

// complete prints a line for each argument that may follow: the argument, a tab and what it
// means.
func (a *app) complete(words []string) {
	for _, c := range completions(a.model, words) {
		fmt.Fprintln(a.out, strings.TrimSuffix(c.text+"\t"+strings.ReplaceAll(c.about, "\n", " "), "\t"))
	}
}

// completion is what may follow in a command line.
type completion struct{ text, about string }

// completions lists what the last of the words may become.
func completions(app *kong.Application, words []string) []completion {
	if len(words) == 0 {
		words = []string{""}
	}
	words, joined := joinEquals(words)
	last := words[len(words)-1]
	node, pending, args, flags := app.Node, (*kong.Value)(nil), 0, true // flags is whether they may follow
	for _, w := range words[:len(words)-1] {
		switch child := childOf(node, w); {
		case pending != nil:
			pending = nil
		case flags && w == "--":
			flags = false
		case flags && strings.HasPrefix(w, "-") && w != standard:
			pending = wants(flagsOf(app, node), w)
		case child != nil:
			node = child
		default:
			args++
		}
	}
	name, value, hasValue := strings.Cut(last, "=")
	switch {
	case pending != nil:
		return valuesOf(app, pending, "", last)
	case flags && strings.HasPrefix(last, "--") && hasValue:
		f := wants(flagsOf(app, node), name)
		if f == nil {
			return nil
		}
		if joined { // bash replaces what is behind the sign only
			name = ""
		} else {
			name += "="
		}
		return valuesOf(app, f, name, value)
	case flags && strings.HasPrefix(last, "-") && last != standard:
		var list []completion
		for _, f := range flagsOf(app, node) {
			list = append(list, completion{"--" + f.Name, firstSentence(f.Help)})
			if f.Tag.Negatable != "" {
				list = append(list, completion{"--no-" + f.Name, "The opposite of --" + f.Name + "."})
			}
		}
		return beginning(list, last)
	case len(node.Children) > 0:
		return beginning(commands(node), last)
	case len(node.Positional) > 0:
		p := node.Positional[min(args, len(node.Positional)-1)]
		if args >= len(node.Positional) && !p.IsCumulative() {
			return nil
		}
		return valuesOf(app, p, "", last)
	}
	return nil
}

// joinEquals joins what bash takes apart: --flag, = and value are three words there. joined
// is whether the last word is such a one.
func joinEquals(words []string) (list []string, joined bool) {
	for i, w := range words {
		joined = false
		before := len(list) - 1
		switch {
		case w == "=" && i > 0 && strings.HasPrefix(words[i-1], "--"),
			i > 1 && words[i-1] == "=" && strings.HasPrefix(words[i-2], "--"):
			list[before] += w
			joined = true
		default:
			list = append(list, w)
		}
	}
	return list, joined
}

func childOf(n *kong.Node, name string) *kong.Node {
	for _, c := range n.Children {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// flagsOf are the flags that the command obeys.
func flagsOf(app *kong.Application, n *kong.Node) []*kong.Flag {
	flags := slices.Clone(n.Flags)
	if n != app.Node {
		for _, f := range app.Flags {
			if uses(n, f) {
				flags = append(flags, f)
			}
		}
	}
	return slices.DeleteFunc(flags, func(f *kong.Flag) bool { return f.Hidden })
}

// wants is the flag of the argument whose value is the next one, or nil.
func wants(flags []*kong.Flag, arg string) *kong.Value {
	long, isLong := strings.CutPrefix(arg, "--")
	short := strings.TrimPrefix(arg, "-")
	for _, f := range flags {
		switch {
		case f.IsBool():
		case isLong && f.Name == long, !isLong && f.Short != 0 && strings.HasSuffix(short, string(f.Short)) && boolsOnly(flags, short):
			return f.Value
		}
	}
	return nil
}

// boolsOnly reports whether all short flags but the last one take no value.
func boolsOnly(flags []*kong.Flag, short string) bool {
	for _, r := range short[:len(short)-1] {
		if !slices.ContainsFunc(flags, func(f *kong.Flag) bool { return f.Short == r && f.IsBool() }) {
			return false
		}
	}
	return true
}

// valuesOf are the values of a flag or an argument that begin with text. prefix stands
// before each of them.
func valuesOf(app *kong.Application, v *kong.Value, prefix, text string) []completion {
	var list []completion
	switch kind := v.Tag.Get("complete"); kind {
	case "@files":
		return []completion{{fileNames, ""}}
	case "@calls":
		return completeCall(prefix, text)
	case "@ops":
		for _, op := range spec.All() {
			if op.Offered() {
				list = append(list, completion{op.Name, summary(op.Doc)})
			}
		}
	case "@groups":
		groups, _ := offered()
		for _, g := range groups {
			list = append(list, completion{g, ""})
		}
	case "@dtypes":
		for _, d := range tensor.DTypes() {
			list = append(list, completion{d.String(), ""})
		}
	case "@passes":
		for _, p := range graph.Passes() {
			list = append(list, completion{p.Name, firstSentence(p.Doc)})
		}
	case "@commands":
		list = commands(app.Node)
	default:
		if kind == "" {
			kind = v.Enum
		}
		for name := range strings.SplitSeq(kind, ",") {
			list = append(list, completion{name, ""})
		}
	}
	list = beginning(list, unquoted(text))
	for i := range list {
		list[i].text = prefix + list[i].text
	}
	return list
}

// completeCall completes the name of an operation on images, or the name of an attribute
// behind it.
func completeCall(prefix, text string) []completion {
	text = unquoted(text)
	done := text[:strings.LastIndexAny(text, " |")+1]
	part := strings.Fields(done[strings.LastIndex(done, "|")+1:])
	var list []completion
	if len(part) == 0 {
		for _, op := range spec.All() {
			if op.Offered() && op.Group == "image" {
				for _, name := range append([]string{op.Name}, op.Aliases...) {
					list = append(list, completion{done + name, summary(op.Doc)})
				}
			}
		}
	} else if op := spec.Lookup(strings.ToLower(part[0])); op != nil {
		for _, t := range op.Attrs() {
			list = append(list, completion{done + t.Name + "=", t.Doc})
		}
	}
	list = beginning(list, text)
	for i := range list {
		list[i].text = prefix + list[i].text
	}
	return list
}

// unquoted is the word without the quote that it begins with, which bash leaves there.
func unquoted(word string) string { return strings.TrimLeft(word, `"'`) }

// beginning are those that begin with text.
func beginning(list []completion, text string) []completion {
	return slices.DeleteFunc(list, func(c completion) bool { return c.text == "" || !strings.HasPrefix(c.text, text) })
}

// commands are those of a command, or of Lathe as a whole, that the help shows.
func commands(of *kong.Node) []completion {
	var list []completion
	for _, n := range of.Children {
		if !n.Hidden {
			list = append(list, completion{n.Name, firstSentence(n.Help)})
		}
	}
	return list
}

func firstSentence(help string) string { return strings.TrimSuffix(summary(help), ".") }
