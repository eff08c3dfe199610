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
# on standard error. Elsewhere, set VK_DRIVER_FILES to the vk_swiftshader_icd.json of
# your own copy.
set -eu

dir=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/lathe/swiftshader}
folder=usr/lib/chromium
icd=$dir/$folder/vk_swiftshader_icd.json

if [ ! -f "$icd" ] || [ ! -f "$dir/$folder/libvk_swiftshader.so" ]; then
	"$(dirname "$0")/unpack.sh" chromium-common "$dir" "$folder/libvk_swiftshader.so" "$folder/vk_swiftshader_icd.json"
fi
cd "$(dirname "$icd")"
printf '%s/%s\n' "$(pwd)" "$(basename "$icd")"
