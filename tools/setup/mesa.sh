#!/bin/sh
# mesa.sh runs a command on the CPU driver of Debian's newest Mesa, which can do what
# that of a release cannot yet: cooperative matrices, for one. Nothing is installed:
# driver and libraries lie in a folder of their own, a Debian "sid" made once by
# debootstrap, and the command runs in it as its root. The folder the command runs
# in, and all of the source tree, are where they are outside.
#
#   tools/setup/mesa.sh FOLDER COMMAND [ARGUMENT...]
#
# FOLDER is within the source tree, and so is the command. LATHE_MESA_ROOT says where
# to keep the driver; ~/.cache/lathe/mesa otherwise. Needs root, debootstrap, unshare
# and the network.
#
# Exit 3: it cannot be had here; the reason is on standard error.
set -eu

say() { printf '%s\n' "mesa.sh: $*" >&2; }
unavailable() { say "$*"; exit 3; }

[ $# -ge 2 ] || { say 'want a folder and a command'; exit 2; }
[ "$(id -u)" = 0 ] || unavailable 'needs root, to run a command in another root'
for tool in debootstrap unshare chroot; do
	command -v "$tool" >/dev/null 2>&1 || unavailable "no $tool here; on Debian, apt-get install debootstrap"
done

tree=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(cd "$1" && pwd)
shift
root=${LATHE_MESA_ROOT:-${XDG_CACHE_HOME:-$HOME/.cache}/lathe/mesa}
if [ ! -e "$root/usr/share/vulkan/icd.d/lvp_icd.json" ]; then
	say "making a Debian sid with Mesa's CPU driver in $root (about 500 MB)"
	rm -rf "$root.new"
	mkdir -p "$root.new"
	debootstrap --variant=minbase --include=libvulkan1,mesa-vulkan-drivers,spirv-tools sid "$root.new" >&2 ||
		unavailable 'debootstrap failed'
	mv "$root.new" "$root"
fi

# Mounts of a namespace of their own: they end with the command.
export root tree folder
exec unshare --mount sh -eu -c '
	mount --rbind /dev "$root/dev"
	mount -t proc proc "$root/proc"
	mkdir -p "$root$tree"
	mount --bind "$tree" "$root$tree"
	exec chroot "$root" /usr/bin/env -u VK_DRIVER_FILES -u VK_ICD_FILENAMES HOME=/tmp TMPDIR=/tmp \
		sh -c "cd \"\$0\" && exec \"\$@\"" "$folder" "$@"
' sh "$@"
