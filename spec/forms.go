package spec

import (
	"slices"
	"strings"
)

// A form is how text gives attributes in a word without their names. Definition.Forms explains it.

// slots divides a form into the texts around names in braces, and the names. There is one text more.
func slots(form string) (texts, names []string) {
	for {
		text, rest, ok := strings.Cut(form, "{")
		texts = append(texts, text)
		if !ok {
			return texts, names
		}
		name, after, _ := strings.Cut(rest, "}")
		names, form = append(names, name), after
	}
}

// Short lists the calls of the operation that text may write without names of attributes, with
// names in capitals for values: "blur SIGMA", or "resize WIDTHxHEIGHT" and others. A call that
// consists of other calls has none.
func (op *Op) Short() (list []string) {
	if !op.Written() {
		return nil
	}
	t := structOf(op.Defaults).Type()
	if at := attrFields(t); len(op.Forms) == 0 {
		if i := unnamed(t, at); i >= 0 {
			return []string{op.Name + " " + strings.ToUpper(tagOf(t.Field(at[i])).name)}
		}
		return nil
	}
	for _, form := range op.Forms {
		word, _, _ := strings.Cut(form, " ")
		texts, names := slots(word)
		word = texts[0]
		for i, name := range names {
			if strings.Contains(name, ",") {
				name = "N"
			}
			word += strings.ToUpper(name) + texts[i+1]
		}
		list = append(list, op.Name+" "+word)
	}
	return list
}

// readForm returns the attributes, as name=value, that a word without a name gives by one of the
// forms of the operation. It returns false if the word has none of them.
func (op *Op) readForm(word string) ([]string, bool) {
	kinds := map[string]string{}
	for _, a := range op.Attrs() {
		kinds[a.Name] = a.Type
	}
	for _, form := range op.Forms {
		shape, further, _ := strings.Cut(form, " ")
		texts, names := slots(shape)
		rest, ok := strings.CutPrefix(word, texts[0])
		var given []string
		for i := 0; ok && i < len(names); i++ {
			first, _, _ := strings.Cut(names[i], ",")
			n := numberLength(rest, kinds[first] != "integer")
			for name := range strings.SplitSeq(names[i], ",") {
				given = append(given, name+"="+rest[:n])
			}
			rest, ok = strings.CutPrefix(rest[n:], texts[i+1])
			ok = ok && n > 0
		}
		if !ok || rest != "" {
			continue
		}
		return slices.Concat(given, strings.Fields(further)), true
	}
	return nil, false
}

// numberLength returns the length of the number that text begins with: digits after an optional
// minus, and in a fraction a point with digits. It is 0 if there is none.
func numberLength(text string, fraction bool) int {
	digits := func(from int) int {
		for from < len(text) && text[from] >= '0' && text[from] <= '9' {
			from++
		}
		return from
	}
	begin := 0
	if strings.HasPrefix(text, "-") {
		begin = 1
	}
	end := digits(begin)
	if fraction && strings.HasPrefix(text[end:], ".") {
		if after := digits(end + 1); after > end+1 {
			return after
		}
	}
	if end == begin {
		return 0
	}
	return end
}

// expandForms replaces words that have a form by the attributes that they give.
func (op *Op) expandForms(words []string) (list []string) {
	for _, w := range words {
		given, ok := op.readForm(w)
		if !ok {
			given = []string{w}
		}
		list = append(list, given...)
	}
	return list
}

// listForms says in an error which forms an operation has.
func (op *Op) listForms() string {
	if len(op.Forms) == 0 {
		return ""
	}
	var whole []string
	for _, form := range op.Forms {
		word, _, _ := strings.Cut(form, " ")
		_, names := slots(word)
		for _, name := range names {
			first, _, several := strings.Cut(name, ",")
			at := slices.IndexFunc(op.Attrs(), func(a Attr) bool { return a.Name == first })
			if several {
				name = "N"
			}
			if name = strings.ToUpper(name); at >= 0 && op.Attrs()[at].Type == "integer" && !slices.Contains(whole, name) {
				whole = append(whole, name)
			}
		}
	}
	list := " or " + strings.ReplaceAll(strings.Join(op.Short(), ", "), op.Name+" ", "")
	switch len(whole) {
	case 0:
		return list
	case 1:
		return list + "; " + whole[0] + " is a whole number"
	}
	last := len(whole) - 1
	return list + "; " + strings.Join(whole[:last], ", ") + " and " + whole[last] + " are whole numbers"
}
