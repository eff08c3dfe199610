#!/bin/sh
# qemu.sh prints the path of a program of qemu, which runs programs for Linux on another
# processor. Nothing is installed. It is taken out of Debian's qemu-user-static package into a
# cache folder, once, unless the machine has it.
#
#   $(tools/setup/qemu.sh) bin/lathe-arm64 verify --hash
#
#   tools/setup/qemu.sh [PROCESSOR [DIR]]
#
# PROCESSOR is aarch64, which is the default, or arm. DIR defaults to ~/.cache/lathe/qemu
#
# Exit 3: it cannot be had here (not Debian, no network); the reason is on standard error.
set -eu

program=qemu-${1:-aarch64}-static
if command -v "$program" 2>/dev/null; then
	exit 0
fi
dir=${2:-${XDG_CACHE_HOME:-$HOME/.cache}/lathe/qemu}
file=usr/bin/$program
[ -x "$dir/$file" ] || "$(dirname "$0")/unpack.sh" qemu-user-static "$dir" "$file"
printf '%s/%s\n' "$(cd "$dir" && pwd)" "$file"
