#!/bin/sh
# desktop.sh installs what `make desktop` needs: Xvfb, an X server without a screen, and the
# headers that Fyne and Ebitengine are compiled with. It installs on Debian, as root or through
# sudo. It ends with 3 where something is missing and there is no apt-get, or Debian's archive
# lacks it. If an installation fails, that is an error.
set -eu
. "$(dirname "$0")/apt.sh"

packages=
need() { # FILE PACKAGE
	[ -e "$1" ] || packages="$packages $2"
}
command -v Xvfb >/dev/null 2>&1 || packages="$packages xvfb"
command -v gcc >/dev/null 2>&1 || packages="$packages gcc libc6-dev"
command -v pkg-config >/dev/null 2>&1 || packages="$packages pkg-config"
need /usr/include/GL/glx.h libgl-dev
need /usr/include/X11/Xlib.h libx11-dev
need /usr/include/X11/Xcursor/Xcursor.h libxcursor-dev
need /usr/include/X11/extensions/Xrandr.h libxrandr-dev
need /usr/include/X11/extensions/Xinerama.h libxinerama-dev
need /usr/include/X11/extensions/XInput2.h libxi-dev
need /usr/include/X11/extensions/xf86vmode.h libxxf86vm-dev
# shellcheck disable=SC2086
apt_install $packages
