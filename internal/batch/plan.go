package batch

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/lathe-gpu/lathe/imageio"
	"github.com/lathe-gpu/lathe/internal/errs"
)

// Plan decides the name of every output. It is the name of the input, with the extension of
// the output's format. If another output has that name too, an output whose extension changes
// keeps the old one in its name: photo.bmp beside photo.png becomes photo.bmp.png. The names
// do not depend on the order of the inputs, or on whether the file system distinguishes upper
// and lower case. If two inputs still have the same output, such as a/p.jpg and b/p.jpg, the
// first one is done and the others fail.
// Errors: ErrInvalidArgument (a suffix or name that cannot be in a file name).
func Plan(found []Found, n Naming) ([]Job, error) {
	if strings.ContainsAny(n.Suffix, `/\`) || strings.ContainsRune(n.Suffix, 0) {
		return nil, fmt.Errorf("batch: plan: %w: suffix %q (want characters of a file name)", errs.ErrInvalidArgument, n.Suffix)
	}
	if n.Name != "" && (len(found) != 1 || n.Name != filepath.Base(n.Name) || !filepath.IsLocal(n.Name)) {
		return nil, fmt.Errorf("batch: plan: %w: output name %q for %d inputs (want one input and a file name)", errs.ErrInvalidArgument, n.Name, len(found))
	}
	jobs := make([]Job, len(found))
	long := make([]string, len(found)) // with the old extension too, if there is one
	other := make([]bool, len(found))  // whether the extension is not the input's
	for i, x := range found {
		j := &jobs[i]
		j.Input, j.Err = x.Path, x.Err
		if j.Err != nil {
			continue
		}
		ext := filepath.Ext(x.Rel)
		stem := strings.TrimSuffix(x.Rel, ext)
		own, known := ParseFormat(ext)
		j.Format = n.Format
		if j.Format == "" {
			if j.Format = own; !known {
				j.Format = imageio.PNG
			}
		}
		if !known || own != j.Format {
			ext, other[i] = j.Format.Extension(), true
			if stem != x.Rel {
				long[i] = x.Rel + n.Suffix + ext
			}
		}
		j.Output = stem + n.Suffix + ext
		if n.Name != "" {
			j.Output = n.Name
		}
		if !filepath.IsLocal(j.Output) {
			j.Err = fmt.Errorf("%w: the output %s would lie outside the output folder", errs.ErrInvalidArgument, j.Output)
		}
	}
	lengthen(found, jobs, long)
	refuseTwins(jobs, other)
	return jobs, nil
}

// lengthen gives outputs that have the same name their long names, if they have one. It
// repeats this until nothing changes.
func lengthen(found []Found, jobs []Job, long []string) {
	for again := true; again; {
		again = false
		names := map[string]map[string]bool{} // outputs → the names of their inputs
		for i := range jobs {
			if key := strings.ToLower(jobs[i].Output); jobs[i].Err == nil {
				if names[key] == nil {
					names[key] = map[string]bool{}
				}
				names[key][strings.ToLower(found[i].Rel)] = true
			}
		}
		for i := range jobs {
			if jobs[i].Err == nil && long[i] != "" && len(names[strings.ToLower(jobs[i].Output)]) > 1 {
				jobs[i].Output, long[i], again = long[i], "", true
			}
		}
	}
}

// refuseTwins lets jobs fail whose outputs are the same file, except one of them. That one is
// the first that keeps its input's extension, or else the first.
func refuseTwins(jobs []Job, other []bool) {
	owner := map[string]int{}
	for _, late := range []bool{false, true} {
		for i := range jobs {
			j := &jobs[i]
			if j.Err != nil || other[i] != late {
				continue
			}
			key := j.Output
			if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
				key = strings.ToLower(key) // on these systems a.jpg and A.JPG are the same file
			}
			if first, taken := owner[key]; taken {
				j.Err = fmt.Errorf("its output %s is that of %s too: write them to different folders", j.Output, jobs[first].Input)
				continue
			}
			owner[key] = i
		}
	}
}
