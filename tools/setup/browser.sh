#!/bin/sh
# browser.sh installs Node and a Chromium without windows, in which `make browser` tries
# programs for GOOS=js. It installs on Debian, as root or through sudo. It ends with 3 where
# one of them is missing and there is no apt-get, or Debian's archive lacks it. If an
# installation fails, that is an error.
set -eu

packages=
command -v node >/dev/null 2>&1 || packages="$packages nodejs"
command -v chromium-headless-shell >/dev/null 2>&1 || packages="$packages chromium-headless-shell"
[ -n "$packages" ] || exit 0
sudo=
if [ "$(id -u)" != 0 ]; then
	sudo=sudo
fi
if ! command -v apt-get >/dev/null 2>&1; then
	echo "browser.sh: missing$packages, and no apt-get to install it" >&2
	exit 3
fi
$sudo apt-get update -qq || true
for p in $packages; do
	if ! apt-cache show "$p" >/dev/null 2>&1; then
		echo "browser.sh: the package archive has no $p" >&2
		exit 3
	fi
done
echo "browser.sh: installing$packages" >&2
# shellcheck disable=SC2086
$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq -o Dpkg::Use-Pty=0 --no-install-recommends $packages >/dev/null
