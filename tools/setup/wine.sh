#!/bin/sh
# wine.sh installs a C compiler for Windows, MinGW-w64, and Wine, which runs programs for
# Windows. It makes a folder with the files of Wine's Windows, once, and prints its path:
#
#   WINEPREFIX=$(tools/setup/wine.sh) wine lathe.exe --version
#
#   tools/setup/wine.sh [DIR]   DIR defaults to ~/.cache/lathe/wine; it takes 700 MB
#
# It installs on Debian, as root or through sudo. Exit 3: they cannot be had here; the reason is
# on standard error. If an installation fails, that is an error.
set -eu
. "$(dirname "$0")/apt.sh"

say() { printf '%s\n' "wine.sh: $*" >&2; }

packages=
command -v x86_64-w64-mingw32-gcc >/dev/null 2>&1 || packages="$packages gcc-mingw-w64-x86-64-win32"
command -v wine >/dev/null 2>&1 || packages="$packages wine wine64"
if [ -n "$packages" ] && [ "$(uname -m)" != x86_64 ]; then
	say "missing$packages, which it installs on Debian for amd64 only"
	exit 3
fi
# shellcheck disable=SC2086
apt_install $packages

dir=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/lathe/wine}
library=$dir/drive_c/windows/system32/bcryptprimitives.dll
if [ ! -e "$library" ]; then
	say "making Wine's folder $dir"
	mkdir -p "$dir"
	# Without a display, .NET and a browser nothing asks the user.
	env -u DISPLAY WINEPREFIX="$dir" WINEDEBUG=-all WINEDLLOVERRIDES='mscoree,mshtml=' wine wineboot --init >&2
	if [ ! -e "$library" ]; then
		x86_64-w64-mingw32-gcc -O1 -shared -o "$library" "$(dirname "$0")/bcryptprimitives.c" -ladvapi32
	fi
fi
cd "$dir" && pwd
