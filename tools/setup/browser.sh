#!/bin/sh
# browser.sh installs Node and a Chromium without windows, in which `make browser` tries
# programs for GOOS=js. It installs on Debian, as root or through sudo. Elsewhere it ends
# with 3 if one is missing.
set -eu

packages=
command -v node >/dev/null 2>&1 || packages="$packages nodejs"
command -v chromium-headless-shell >/dev/null 2>&1 || packages="$packages chromium-headless-shell"
[ -n "$packages" ] || exit 0
sudo=
if [ "$(id -u)" != 0 ]; then
	sudo=sudo
fi
echo "browser.sh: installing$packages" >&2
if ! command -v apt-get >/dev/null 2>&1; then
	exit 3
fi
$sudo apt-get update -qq || true
# shellcheck disable=SC2086
$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq -o Dpkg::Use-Pty=0 --no-install-recommends $packages >/dev/null || exit 3
