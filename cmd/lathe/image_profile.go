package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/batch"
	"github.com/lathe-gpu/lathe/spec"
)

// target is the profile that --profile asks for.
type target struct {
	name    string
	data    []byte // nil for sRGB
	profile *imageops.Profile
}

// target reads the profile that --profile asks for. It is nil without the flag.
func (c *imageCmd) target() (*target, error) {
	switch ext := strings.ToLower(filepath.Ext(c.Profile)); {
	case c.Profile == "":
		return nil, nil
	case strings.EqualFold(c.Profile, "srgb"):
		return &target{}, nil
	case ext != ".icc" && ext != ".icm":
		return nil, usage("--profile is %q; it must be srgb, or the name of an .icc or .icm file", c.Profile)
	}
	fail := func(err error) (*target, error) {
		return nil, coded{exitFailed, fmt.Errorf("--profile %s: %w", c.Profile, err)}
	}
	f, err := os.Open(c.Profile)
	if err != nil {
		return fail(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxProfile))
	if err != nil {
		return fail(err)
	}
	p, err := imageops.ParseProfile(data)
	if err == nil {
		_, err = p.From(nil) // It finds profiles that are no target.
	}
	if err != nil {
		return fail(err)
	}
	return &target{c.Profile, data, p}, nil
}

// apply tells how colours are converted. t may be nil.
func (t *target) apply(o *batch.Options) {
	if t == nil {
		return
	}
	o.Profile, o.GreyProfile = t.data, t.profile.IsGrey()
	if t.name != "" {
		o.Keep = append(o.Keep, t.name)
	}
	var known profiles
	o.Convert = func(data []byte) (spec.Call, error) {
		switch {
		case t.data != nil && bytes.Equal(data, t.data):
			return nil, nil
		case data == nil:
			return known.call("", func() (spec.Call, error) { return t.from(nil) })
		}
		return known.call(string(data), func() (spec.Call, error) {
			p, err := imageops.ParseProfile(data)
			if err != nil {
				return nil, err
			}
			return t.from(p)
		})
	}
}

// from returns the call for pictures with a profile, nil for sRGB, or no call if colours stay.
func (t *target) from(p *imageops.Profile) (spec.Call, error) {
	switch sRGB := p == nil || p.IsSRGB(); {
	case sRGB && (t.data == nil || t.profile.IsSRGB() && !t.profile.IsGrey()):
		return nil, nil
	case t.data == nil:
		return imageops.ToSRGB{Profile: p}, nil
	}
	c, err := t.profile.From(p)
	if err != nil {
		return nil, err
	}
	return imageops.ToProfile{Profile: c}, nil
}

// profiles are the conversions of the last pictures. One with tables takes a while until it can be used, and most
// pictures of a folder have the same profile.
type profiles struct {
	mu   sync.Mutex
	last []knownProfile
}

type knownProfile struct {
	data string
	call spec.Call
}

// keptProfiles is how many conversions are kept. One with tables has 4 MiB.
const keptProfiles = 4

// call returns the call for a profile, which it makes if it has not been made before.
func (k *profiles) call(data string, make func() (spec.Call, error)) (spec.Call, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, p := range k.last {
		if p.data == data {
			return p.call, nil
		}
	}
	c, err := make()
	if err != nil {
		return nil, err
	}
	if len(k.last) == keptProfiles {
		k.last = k.last[1:]
	}
	k.last = append(k.last, knownProfile{data, c})
	return c, nil
}
