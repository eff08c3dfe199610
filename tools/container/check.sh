#!/bin/sh
# check.sh tries the two containers of docs/containers.md, and prints their sizes: that of
# tools/container/Dockerfile, and an empty root with the program alone. In both it runs
# `lathe verify` and `lathe image`.
#
# docker or podman builds and runs the Dockerfile. Where there is none, debootstrap makes a Debian
# like debian:bookworm-slim, the RUN line of the last stage runs in it, and the program, built
# here, lies where the Dockerfile copies it. LATHE_CONTAINER_ROOT says where to keep that Debian;
# ~/.cache/lathe/container otherwise.
#
# Exit 3: it cannot be tried here; the reason is on standard error.
set -eu

say() { printf '%s\n' "check.sh: $*" >&2; }
unavailable() { say "$*"; exit 3; }
report() { printf '%-50s %4d MB\n' "$1" "$2"; }
size() { du -sx --apparent-size --block-size=1000000 "$1" | cut -f1; }

cd "$(dirname "$0")/../.."
dockerfile=tools/container/Dockerfile
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What is tried in a container, where the function in_container runs commands of lathe.
try() {
	in_container devices
	in_container verify --op gaussian_blur
	in_container image scene.png --op "blur sigma=3" --out blurred.png
	[ -s "$pictures/blurred.png" ] || { say 'lathe image wrote no picture'; exit 1; }
	rm "$pictures/blurred.png"
}

tool=
for t in docker podman; do
	if "$t" info >/dev/null 2>&1; then tool=$t && break; fi
done
if [ -n "$tool" ]; then
	"$tool" build -q -t lathe-check -f "$dockerfile" . >/dev/null
	report "the image of $dockerfile, by $tool" $(($("$tool" image inspect -f '{{.Size}}' lathe-check) / 1000000))
	pictures=$work
	cp docs/img/scene.png "$pictures"
	in_container() { "$tool" run --rm -v "$pictures:/work" -e LATHE_BACKEND=vk lathe-check "$@"; }
	try
else
	[ "$(id -u)" = 0 ] || unavailable 'no container tool here, and debootstrap needs root'
	for t in debootstrap chroot unshare; do
		command -v "$t" >/dev/null 2>&1 || unavailable "no container tool and no $t here; on Debian, apt-get install $t"
	done
	base=${LATHE_CONTAINER_ROOT:-${XDG_CACHE_HOME:-$HOME/.cache}/lathe/container}
	suite=$(sed -n 's/^FROM debian:\(.*\)-slim$/\1/p' "$dockerfile")
	if [ ! -e "$base/etc/debian_version" ]; then
		say "making a Debian $suite in $base (about 100 MB)"
		rm -rf "$base.new"
		mkdir -p "$base.new"
		debootstrap --variant=minbase "$suite" "$base.new" >&2 || unavailable 'debootstrap failed'
		# What the slim image leaves out.
		rm -rf "$base.new"/var/cache/apt/* "$base.new"/var/cache/debconf/*-old "$base.new"/var/lib/apt/lists/* "$base.new"/var/log/*
		for d in doc man info locale lintian linda groff; do
			rm -rf "$base.new/usr/share/$d"
			echo "path-exclude /usr/share/$d/*" >>"$base.new/etc/dpkg/dpkg.cfg.d/slim"
		done
		echo 'DPkg::Post-Invoke { "rm -f /var/cache/apt/archives/*.deb /var/cache/apt/*.bin || true"; };' >"$base.new/etc/apt/apt.conf.d/slim"
		mv "$base.new" "$base"
	fi
	root=$work/root
	cp -a "$base" "$root"
	report "debian:$suite-slim, as debootstrap makes it" "$(size "$root")"
	pictures=$root/work
	mkdir "$pictures"
	cp docs/img/scene.png "$pictures"
	# Mounts are of a namespace of their own, and end with the command.
	inside() {
		# shellcheck disable=SC2016 # The inner shell expands.
		unshare --mount sh -euc '
			root=$0
			mount -t proc proc "$root/proc"
			mount --rbind /dev "$root/dev"
			exec chroot "$root" /usr/bin/env -i PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin HOME=/root "$@"
		' "$root" "$@"
	}
	cp -L /etc/resolv.conf "$root/etc/resolv.conf"
	run=$(awk '/^FROM /{line = ""} /^RUN /{line = substr($0, 5)} END {print line}' "$dockerfile")
	inside DEBIAN_FRONTEND=noninteractive sh -euc "$run" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
	go build -tags nodynamic -ldflags='-s -w' -o "$root/usr/local/bin/lathe" ./cmd/lathe
	report "the root that $dockerfile makes" "$(size "$root")"
	report 'of this, the program' "$(size "$root/usr/local/bin/lathe")"
	in_container() { inside LATHE_BACKEND=vk sh -euc 'cd /work && exec lathe "$@"' sh "$@"; }
	try
fi

if [ "$(id -u)" = 0 ]; then
	pictures=$work/empty
	mkdir "$pictures"
	CGO_ENABLED=0 go build -tags nodynamic -ldflags='-s -w' -o "$pictures/lathe" ./cmd/lathe
	report 'an empty root with a program without cgo' "$(size "$pictures")"
	cp docs/img/scene.png "$pictures"
	in_container() { chroot "$pictures" /lathe "$@"; }
	try
fi
