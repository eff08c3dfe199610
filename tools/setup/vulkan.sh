#!/bin/sh
# vulkan.sh makes sure that this machine has a Vulkan device: it looks for the
# Vulkan loader and for a driver that can work here, and when one of them is
# missing says so and installs the loader and lavapipe, Mesa's driver that runs
# on the CPU. It changes nothing on a machine that has a device, and it never
# installs a shader compiler.
#
#   tools/setup/vulkan.sh           install what is missing
#   tools/setup/vulkan.sh --check   only look; exit 0 if nothing is missing
#
# It looks where the loader looks, but loads no driver: that is
# `lathe doctor`'s part.
set -eu

say() { printf '%s\n' "$*" >&2; }
die() { say "vulkan.sh: $*"; exit 1; }

check_only=no
case "${1-}" in
'') ;;
--check) check_only=yes ;;
*) die "unknown argument $1 (usage: vulkan.sh [--check])" ;;
esac

# ---- the loader ------------------------------------------------------------

# ldconfig is often outside an ordinary user's PATH.
cached_library() {
	for l in ldconfig /sbin/ldconfig /usr/sbin/ldconfig; do
		if command -v "$l" >/dev/null 2>&1; then
			"$l" -p 2>/dev/null | sed -n "s|^[[:space:]]*$1 .*=> ||p" | head -n 1
			return
		fi
	done
}

# find_library NAME prints the path of a shared library, or nothing.
find_library() {
	old_ifs=$IFS
	IFS=:
	for d in ${LD_LIBRARY_PATH-}; do
		if [ -n "$d" ] && [ -e "$d/$1" ]; then
			IFS=$old_ifs
			printf '%s\n' "$d/$1"
			return
		fi
	done
	IFS=$old_ifs
	hit=$(cached_library "$1")
	if [ -n "$hit" ] && [ -e "$hit" ]; then
		printf '%s\n' "$hit"
		return
	fi
	# Systems without a linker cache (musl), and prefixes outside it.
	for d in /lib /usr/lib /lib64 /usr/lib64 /usr/local/lib \
		"/usr/lib/$(uname -m)-linux-gnu" "/lib/$(uname -m)-linux-gnu" \
		/opt/homebrew/lib "${HOME-}/VulkanSDK/macOS/lib"; do
		if [ -e "$d/$1" ]; then
			printf '%s\n' "$d/$1"
			return
		fi
	done
}

# ---- drivers (ICDs) --------------------------------------------------------

# right_width FILE: a 32-bit driver is no use to a 64-bit program. Byte 4 of an
# ELF file is 1 for 32-bit and 2 for 64-bit code.
right_width() {
	class=$(od -An -tu1 -j4 -N1 "$1" 2>/dev/null | tr -d ' ')
	case "$(getconf LONG_BIT 2>/dev/null || echo 64)$class" in
	641 | 322) return 1 ;;
	esac
	return 0
}

# driver_library JSON prints the library that a driver manifest names, if it
# exists: an absolute path, a path beside the manifest, or a bare name.
driver_library() {
	lib=$(tr -d '\n\r' <"$1" | sed -n 's/.*"library_path"[[:space:]]*:[[:space:]]*"\([^"]*\)".*/\1/p')
	case "$lib" in
	'') return ;;
	/*) ;;
	*/*) lib=$(dirname "$1")/$lib ;;
	*) lib=$(find_library "$lib") ;;
	esac
	if [ -n "$lib" ] && [ -e "$lib" ] && right_width "$lib"; then
		printf '%s\n' "$lib"
	fi
}

# has_gpu: some GPU is visible to this process and may be opened by it. In a
# container there often is none though its driver is installed.
has_gpu() {
	for n in /dev/dri/renderD* /dev/nvidia0 /dev/kgsl-3d0 /dev/dxg; do
		if [ -r "$n" ] && [ -w "$n" ]; then
			return 0
		fi
	done
	return 1
}

# usable JSON: the driver exists, and is a CPU driver or has a GPU to drive.
usable() {
	driver=$(driver_library "$1")
	case "$driver" in
	'') return 1 ;;
	*libvulkan_lvp* | *swiftshader* | *SwiftShader*) return 0 ;;
	esac
	has_gpu
}

# find_driver sets found to the first usable manifest of the loader's own
# folders, and unusable to those that name no existing library or GPU.
find_driver() {
	found=
	unusable=
	home=${HOME:-/nonexistent}
	old_ifs=$IFS
	IFS=:
	for base in ${XDG_CONFIG_HOME:-$home/.config} ${XDG_CONFIG_DIRS:-/etc/xdg} /etc /usr/local/etc \
		${XDG_DATA_HOME:-$home/.local/share} ${XDG_DATA_DIRS:-/usr/local/share:/usr/share}; do
		IFS=$old_ifs
		for json in "$base"/vulkan/icd.d/*.json; do
			[ -f "$json" ] || continue
			if usable "$json"; then
				found=$json
				return
			fi
			unusable="$unusable ${json##*/}"
		done
		IFS=:
	done
	IFS=$old_ifs
}

# chosen_drivers LIST VARIABLE checks the manifests that the user has chosen.
# The loader then looks nowhere else, so installing another would not help.
chosen_drivers() {
	old_ifs=$IFS
	IFS=:
	for entry in $1; do
		IFS=$old_ifs
		[ -n "$entry" ] || continue
		for json in "$entry" "$entry"/*.json; do
			if [ -f "$json" ] && [ -n "$(driver_library "$json")" ]; then
				found=$json
				return
			fi
		done
		IFS=:
	done
	IFS=$old_ifs
	die "$2 is set to '$1', but no driver manifest there names an existing library, and the loader looks nowhere else while it is set. Unset $2, or correct it."
}

# probe sets missing to what this machine lacks.
probe() {
	missing=
	found=
	unusable=
	if [ "$(uname -s)" = Darwin ]; then
		if [ -z "$(find_library libvulkan.1.dylib)$(find_library libMoltenVK.dylib)" ]; then
			missing='the Vulkan loader or MoltenVK'
		fi
		return
	fi
	if [ -z "$(find_library libvulkan.so.1)" ]; then
		missing='the Vulkan loader (libvulkan.so.1)'
	fi
	if [ -n "${VK_DRIVER_FILES-}" ]; then
		chosen_drivers "$VK_DRIVER_FILES" VK_DRIVER_FILES
	elif [ -n "${VK_ICD_FILENAMES-}" ]; then
		chosen_drivers "$VK_ICD_FILENAMES" VK_ICD_FILENAMES
	else
		find_driver
		if [ -z "$found" ]; then
			missing="${missing:+$missing and }a Vulkan driver${unusable:+ (those installed have no GPU to drive here:$unusable)}"
		fi
	fi
}

# ---- installing ------------------------------------------------------------

# install_command prints the shell command that installs the loader and
# lavapipe on this system, or nothing where we do not know it.
install_command() {
	if command -v apt-get >/dev/null 2>&1; then
		echo 'apt-get update -qq; DEBIAN_FRONTEND=noninteractive apt-get install -y -qq -o Dpkg::Use-Pty=0 --no-install-recommends libvulkan1 mesa-vulkan-drivers >/dev/null'
	elif command -v dnf >/dev/null 2>&1; then
		echo 'dnf install -y vulkan-loader mesa-vulkan-drivers'
	elif command -v pacman >/dev/null 2>&1; then
		echo 'pacman -Sy --needed --noconfirm vulkan-icd-loader vulkan-swrast'
	elif command -v apk >/dev/null 2>&1; then
		echo 'apk add vulkan-loader mesa-vulkan-swrast'
	elif command -v zypper >/dev/null 2>&1; then
		echo 'zypper --non-interactive install libvulkan1 libvulkan_lvp'
	fi
}

probe
[ -z "$missing" ] && exit 0
say "No Vulkan device here: missing $missing. The tests of Vulkan and WebGPU need one, Lathe itself does not."
[ "$check_only" = yes ] && exit 1

if [ "$(uname -s)" = Darwin ]; then
	die 'on macOS install MoltenVK:  brew install molten-vk vulkan-loader'
fi
command=$(install_command)
if [ -z "$command" ]; then
	die 'no package manager that this script knows (apt-get, dnf, pacman, apk, zypper). Install the Vulkan loader and lavapipe, the Mesa Vulkan driver for the CPU, then try again.'
fi

say "Installing the Vulkan loader and lavapipe, Mesa's driver for the CPU:"
if [ "$(id -u)" = 0 ]; then
	say "    $command"
	sh -c "$command" >&2 || die 'that command failed; see above.'
elif command -v sudo >/dev/null 2>&1; then
	say "    sudo sh -c '$command'"
	sudo sh -c "$command" >&2 || die 'that command failed; see above. Run it as an administrator, then try again.'
else
	die "this needs an administrator, and there is no sudo here. As root, run:  $command"
fi

probe
[ -z "$missing" ] || die "installed, but still missing: $missing. 'lathe doctor' (go run ./cmd/lathe doctor) can say more."
say "Vulkan is ready: ${found}"
