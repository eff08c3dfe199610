package batch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/lathe-gpu/lathe/imageio"
	"github.com/lathe-gpu/lathe/internal/avif"
	"github.com/lathe-gpu/lathe/internal/errs"
)

// Found is an input that was named, or that was found in a named folder.
type Found struct {
	Path string // of the file
	// Rel is the path of its output below the output folder, without regard to the
	// extension. It is the name of the file, or its path below the folder in which it was
	// found.
	Rel string
	Err error // why it cannot be used
}

// FindOptions are the settings of Find.
type FindOptions struct {
	Recursive bool   // look into folders inside folders too
	Skip      string // a folder that is left out: the output folder
}

// ErrNoMatch is the error for a pattern or folder without pictures.
var ErrNoMatch = errors.New("no picture matches")

// Find lists the pictures that the inputs name, in their order and each once.
// An input is a file, a folder or, where no such file exists, a pattern with
// * ? [ ] { } and ** for any depth of folders. In a folder it takes the files that
// have the extension of a picture, in order of name. It leaves out names that begin with a
// dot, and does not follow symbolic links to folders. Pictures of formats that Lathe does not read
// are in the list with an error that wraps ErrForeign.
//
// An input that cannot be used is in the list with its Err. The returned error is ctx.Err()
// or nil.
func Find(ctx context.Context, inputs []string, o FindOptions) ([]Found, error) {
	if err := errs.Context(ctx); err != nil {
		return nil, fmt.Errorf("batch: find: %w", err)
	}
	f := &finder{FindOptions: o, ctx: ctx, seen: map[string]bool{}}
	if o.Skip != "" {
		f.skip, _ = os.Stat(o.Skip)
	}
	for _, in := range inputs {
		f.input(in)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return f.list, nil
}

type finder struct {
	FindOptions
	ctx  context.Context
	skip fs.FileInfo
	seen map[string]bool // absolute paths
	list []Found
}

func (f *finder) add(x Found) {
	if abs, err := filepath.Abs(x.Path); err == nil && x.Err == nil {
		if f.seen[abs] {
			return
		}
		f.seen[abs] = true
	}
	f.list = append(f.list, x)
}

func (f *finder) input(in string) {
	if in == "" {
		f.add(Found{Err: fmt.Errorf("%w: an empty file name", errs.ErrInvalidArgument)})
		return
	}
	info, err := os.Stat(in)
	switch {
	case err == nil && info.IsDir():
		before := len(f.list)
		f.folder(in, "")
		if len(f.list) == before && f.ctx.Err() == nil {
			why := ""
			if !f.Recursive {
				why = " (folders inside it are searched with -r)"
			}
			f.add(Found{Path: in, Err: fmt.Errorf("%w in this folder%s", ErrNoMatch, why)})
		}
	case err == nil:
		f.add(Found{Path: in, Rel: filepath.Base(in)})
	case errors.Is(err, fs.ErrNotExist) && strings.ContainsAny(in, "*?[{"):
		f.pattern(in)
	default:
		f.add(Found{Path: in, Err: bare(err)})
	}
}

// pattern adds the files that match, with their paths below the pattern's
// fixed part.
func (f *finder) pattern(in string) {
	base, _ := doublestar.SplitPattern(filepath.ToSlash(in))
	base = filepath.FromSlash(base)
	paths, err := doublestar.FilepathGlob(in, doublestar.WithFilesOnly(), doublestar.WithNoFollow(), doublestar.WithNoHidden())
	if err != nil {
		f.add(Found{Path: in, Err: fmt.Errorf("%w: a malformed pattern", errs.ErrInvalidArgument)})
		return
	}
	slices.Sort(paths)
	paths = slices.DeleteFunc(paths, func(p string) bool { // links to folders, which the pattern lets through
		info, err := os.Stat(p)
		return err == nil && info.IsDir()
	})
	for _, p := range paths {
		rel, err := filepath.Rel(base, p)
		if err != nil || !filepath.IsLocal(rel) {
			rel = filepath.Base(p)
		}
		f.add(Found{Path: p, Rel: rel, Err: foreign(p)})
	}
	if len(paths) == 0 {
		f.add(Found{Path: in, Err: ErrNoMatch})
	}
}

// folder adds the pictures of the folder rel below root.
func (f *finder) folder(root, rel string) {
	dir := filepath.Join(root, rel)
	entries, err := os.ReadDir(dir) // sorted by name
	if err != nil {
		f.add(Found{Path: dir, Err: fmt.Errorf("cannot read the folder: %w", bare(err))})
	}
	for _, e := range entries {
		if f.ctx.Err() != nil {
			return
		}
		name := e.Name()
		switch path := filepath.Join(rel, name); {
		case strings.HasPrefix(name, "."):
		case e.IsDir():
			if f.Recursive && !f.skipped(e) {
				f.folder(root, path)
			}
		case IsPicture(name):
			if e.Type()&fs.ModeSymlink != 0 {
				if info, err := os.Stat(filepath.Join(root, path)); err == nil && info.IsDir() {
					continue
				}
			}
			f.add(Found{Path: filepath.Join(root, path), Rel: path})
		case foreign(name) != nil && !e.IsDir():
			f.add(Found{Path: filepath.Join(root, path), Rel: path, Err: foreign(name)})
		}
	}
}

func (f *finder) skipped(e fs.DirEntry) bool {
	if f.skip == nil {
		return false
	}
	info, err := e.Info()
	return err == nil && os.SameFile(info, f.skip)
}

// IsPicture reports whether the name has the extension of a format that the program reads.
func IsPicture(name string) bool {
	f, ok := imageio.ParseFormat(filepath.Ext(name))
	return ok && (f != imageio.AVIF || f.CanEncode())
}

// ErrForeign is the error of a picture in a folder in a format that Lathe does not read. Run skips it.
var ErrForeign = errors.New("is not read")

// foreign returns the error for a name that has the extension of such a format, and nil for others.
func foreign(name string) error {
	ext := strings.TrimPrefix(strings.ToLower(filepath.Ext(name)), ".")
	if IsPicture(name) {
		return nil
	}
	for format, extensions := range map[string]string{
		"HEIC": "heic heif hif", "AVIF": "avif avifs", "JPEG 2000": "jp2 j2k j2c jpf jpx jpm jph", "JPEG XL": "jxl", "SVG": "svg svgz", "Photoshop": "psd psb", "OpenEXR": "exr",
		"Camera raw": "3fr ari arw bay cr2 cr3 crw dcr dng erf fff iiq k25 kdc mdc mef mos mrw nef nrw orf pef ptx raf raw rw2 rwl sr2 srf srw x3f",
	} {
		if ext != "" && slices.Contains(strings.Fields(extensions), ext) {
			if err := avif.Available(); format == "AVIF" && err != nil {
				_, why, _ := strings.Cut(err.Error(), "AVIF: ")
				return fmt.Errorf("AVIF %w: %s", ErrForeign, why)
			}
			return fmt.Errorf("%s %w", format, ErrForeign)
		}
	}
	return nil
}

// Job is one picture to process.
type Job struct {
	Input  string
	Output string         // path below the output folder, which it never leaves
	Format imageio.Format // "" means the format of the picture, or PNG if Lathe does not write it
	Err    error          // if it is set, the job fails with it at once

	// From, if set, has the picture, and Input only names it. To, if set, takes the result,
	// and Output only names it. If writing fails, To may have a part.
	From *Stream
	To   io.Writer
}

// Naming says how outputs are named.
type Naming struct {
	Format imageio.Format // "" means the format of the input's extension, or PNG if Lathe does not write it
	Suffix string         // text before the extension
	Name   string         // the whole file name, for a single input; "" means that it is made from the input's name
}
