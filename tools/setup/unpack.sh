#!/bin/sh
# unpack.sh takes files out of a Debian package, for the scripts beside it. Nothing is
# installed.
#
#   tools/setup/unpack.sh PACKAGE DIR FILE…   the last FILE is written last
#
# FILE is a path in the package, without the leading slash. It gets the same path below DIR.
# Exit 3: the files cannot be had here (not Debian, no network); the reason is on standard
# error.
set -eu

say() { printf '%s\n' "unpack.sh: $*" >&2; }
unavailable() { say "$*"; exit 3; }

package=$1 dir=$2
shift 2
for tool in apt-get dpkg-deb; do
	command -v "$tool" >/dev/null 2>&1 || unavailable "no $tool here: $package is a Debian package"
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
say "fetching $package (some 30 MB) to unpack a part of it into $dir"
(cd "$work" && apt-get download -qq "$package") >&2 ||
	unavailable "could not download $package. Ubuntu may have no such package; on Debian run 'apt-get update' as root first."
dpkg-deb --extract "$work/$package"_*.deb "$work/x" >&2 || unavailable "could not unpack $package"
for file; do
	[ -f "$work/x/$file" ] || unavailable "this $package holds no $file"
done
for file; do
	mkdir -p "$(dirname "$dir/$file")"
	cp "$work/x/$file" "$dir/$file.new"
	mv "$dir/$file.new" "$dir/$file"
done
