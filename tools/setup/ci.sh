#!/bin/sh
# ci.sh installs what CI needs beyond a Vulkan device: the pinned shader
# compiler that `make check` rebuilds the shaders with, the SPIR-V tools, the
# Vulkan validation layers, OpenGL on the CPU, git, other programs that read and
# change pictures, which tests compare with (of OpenCV two libraries, and a compiler
# for C++), and debootstrap, with which containers are tried. Users of Lathe need none of these.
set -eu

say() { printf '%s\n' "ci.sh: $*" >&2; }

packages=
command -v glslc >/dev/null 2>&1 || packages="$packages glslc"
command -v spirv-opt >/dev/null 2>&1 || packages="$packages spirv-tools"
[ -e /usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json ] || packages="$packages vulkan-validationlayers"
command -v gcc >/dev/null 2>&1 || packages="$packages gcc libc6-dev"
command -v g++ >/dev/null 2>&1 || packages="$packages g++"
command -v make >/dev/null 2>&1 || packages="$packages make"
ls /usr/lib/*/libEGL.so.1 /usr/lib/*/dri/swrast_dri.so >/dev/null 2>&1 || packages="$packages libegl1 libgl1-mesa-dri"
command -v gm >/dev/null 2>&1 || packages="$packages graphicsmagick"
convert -version 2>/dev/null | grep -q ImageMagick || packages="$packages imagemagick"
command -v tiffcp >/dev/null 2>&1 || packages="$packages libtiff-tools"
command -v djpeg >/dev/null 2>&1 || packages="$packages libjpeg-turbo-progs"
command -v dwebp >/dev/null 2>&1 || packages="$packages webp"
command -v vips >/dev/null 2>&1 || packages="$packages libvips-tools"
command -v rsvg-convert >/dev/null 2>&1 || packages="$packages librsvg2-bin"
[ -e /usr/include/opencv4/opencv2/photo.hpp ] || packages="$packages libopencv-photo-dev"
command -v avifdec >/dev/null 2>&1 || packages="$packages libavif-bin"
command -v git >/dev/null 2>&1 || packages="$packages git"
command -v exiftool >/dev/null 2>&1 || packages="$packages libimage-exiftool-perl"
command -v debootstrap >/dev/null 2>&1 || packages="$packages debootstrap"
if [ -z "$packages" ]; then
	exit 0
fi
if ! command -v apt-get >/dev/null 2>&1; then
	say "missing:$packages. This script installs on Debian and Ubuntu only; install them by hand."
	exit 1
fi

sudo=
if [ "$(id -u)" != 0 ]; then
	command -v sudo >/dev/null 2>&1 || {
		say "needs root or sudo to install:$packages"
		exit 1
	}
	sudo=sudo
fi
say "installing$packages"
$sudo apt-get update -qq || say 'apt-get update failed; trying with the lists there are'
# shellcheck disable=SC2086
$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq -o Dpkg::Use-Pty=0 --no-install-recommends $packages >/dev/null
