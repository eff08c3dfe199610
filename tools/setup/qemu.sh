#!/bin/sh
# qemu.sh prints the path of qemu-aarch64-static, which runs programs for Linux on arm64.
# Nothing is installed. It is taken out of Debian's qemu-user-static package into a cache
# folder, once, unless the machine has it.
#
#   $(tools/setup/qemu.sh) bin/lathe-arm64 verify --hash
#
#   tools/setup/qemu.sh [DIR]   DIR defaults to ~/.cache/lathe/qemu
#
# Exit 3: it cannot be had here (not Debian, no network); the reason is on standard error.
set -eu

if command -v qemu-aarch64-static 2>/dev/null; then
	exit 0
fi
dir=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/lathe/qemu}
file=usr/bin/qemu-aarch64-static
[ -x "$dir/$file" ] || "$(dirname "$0")/unpack.sh" qemu-user-static "$dir" "$file"
printf '%s/%s\n' "$(cd "$dir" && pwd)" "$file"
