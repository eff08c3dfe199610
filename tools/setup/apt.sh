# apt.sh is read by other scripts of this folder: . "$(dirname "$0")/apt.sh"
#
# apt_install PACKAGE… installs packages on Debian, as root or through sudo. It ends the script with
# 3 where there is no apt-get, or Debian's archive lacks a package. If an installation fails, that is
# an error. Without packages it does nothing.
apt_install() {
	[ $# -gt 0 ] || return 0
	script=$(basename "$0") sudo=
	if [ "$(id -u)" != 0 ]; then
		sudo=sudo
	fi
	if ! command -v apt-get >/dev/null 2>&1; then
		echo "$script: missing: $*, and no apt-get to install it" >&2
		exit 3
	fi
	$sudo apt-get update -qq || true
	for p in "$@"; do
		if ! apt-cache show "$p" >/dev/null 2>&1; then
			echo "$script: the package archive has no $p" >&2
			exit 3
		fi
	done
	echo "$script: installing: $*" >&2
	$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq -o Dpkg::Use-Pty=0 --no-install-recommends "$@" >/dev/null
}
