#!/bin/sh
# swiftshader.sh prints the path of a Vulkan driver manifest for SwiftShader,
# Google's CPU driver and Lathe's second opinion: it is stricter than lavapipe.
# Nothing is installed. The driver is taken out of Debian's chromium-common
# package into a cache folder, once.
#
#   VK_DRIVER_FILES=$(tools/setup/swiftshader.sh) go test ./...
#
#   tools/setup/swiftshader.sh [DIR]   DIR defaults to ~/.cache/lathe/swiftshader
#
# Exit 3: SwiftShader cannot be had here (not Debian, no network); the reason is
# on standard error.
set -eu

say() { printf '%s\n' "swiftshader.sh: $*" >&2; }
unavailable() { say "$*"; exit 3; }

dir=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/lathe/swiftshader}
icd=$dir/usr/lib/chromium/vk_swiftshader_icd.json
library=$dir/usr/lib/chromium/libvk_swiftshader.so

if [ ! -f "$icd" ] || [ ! -f "$library" ]; then
	for tool in apt-get dpkg-deb; do
		command -v "$tool" >/dev/null 2>&1 ||
			unavailable "no $tool here: SwiftShader is unpacked from a Debian package. Elsewhere, set VK_DRIVER_FILES to your own copy's vk_swiftshader_icd.json."
	done
	mkdir -p "$dir"
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	trap 'exit 130' INT TERM
	say "fetching chromium-common (about 30 MB) to unpack SwiftShader into $dir"
	(cd "$work" && apt-get download -qq chromium-common) >&2 ||
		unavailable "could not download chromium-common. Ubuntu has no such package; on Debian run 'apt-get update' as root first."
	dpkg-deb --extract "$work"/chromium-common_*.deb "$work/x" >&2 || unavailable 'could not unpack chromium-common'
	if [ ! -f "$work/x/usr/lib/chromium/vk_swiftshader_icd.json" ] || [ ! -f "$work/x/usr/lib/chromium/libvk_swiftshader.so" ]; then
		unavailable 'this chromium-common holds no SwiftShader'
	fi
	# Only the driver is kept; the manifest comes last, for it is what a second
	# call looks for.
	mkdir -p "$(dirname "$icd")"
	cp "$work/x/usr/lib/chromium/libvk_swiftshader.so" "$library"
	cp "$work/x/usr/lib/chromium/vk_swiftshader_icd.json" "$icd"
fi
cd "$(dirname "$icd")"
printf '%s/%s\n' "$(pwd)" "$(basename "$icd")"
