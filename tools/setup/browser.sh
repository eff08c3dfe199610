#!/bin/sh
# browser.sh installs Node and a Chromium without windows, in which `make browser` tries
# programs for GOOS=js. It installs on Debian, as root or through sudo. It ends with 3 where
# one of them is missing and there is no apt-get, or Debian's archive lacks it. If an
# installation fails, that is an error.
set -eu
. "$(dirname "$0")/apt.sh"

packages=
command -v node >/dev/null 2>&1 || packages="$packages nodejs"
command -v chromium-headless-shell >/dev/null 2>&1 || packages="$packages chromium-headless-shell"
# shellcheck disable=SC2086
apt_install $packages
