#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The Debian packages are installed in a machine made by debootstrap, which boots, reboots and is
# upgraded; removed and purged they leave nothing. make check-deb built the packages of this
# version and of an earlier one.
. "$(dirname "$0")/../lib.sh"

here=$tests/packages
# shellcheck source=points
. "$here/points"
built=$(cd "$tests/.." && pwd)/.output
root=$built/packages/root
kernel=$(readlink -f "$built/kernel/${KVER:-6.12}")
release=$(ls "$kernel/lib/modules")

[ "$(id -u)" = 0 ] || skip "only root can make a system and change its files"
command -v debootstrap >/dev/null ||
	skip "debootstrap is not installed (as root: make packages sections=deb)"

# packages VERSION: the files that a host and a controller install
packages() {
	find "$built/deb/$1" -name '*.deb' ! -name '*-dbgsym_*' ! -name 'libdart-dev_*'
}

versions=$(find "$built/deb" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort -V)
before=$(head -n 1 <<<"$versions")
now=$(tail -n 1 <<<"$versions")

# copy_packages VERSION: into the machine
copy_packages() {
	rm -rf "$root/var/tmp/dart/$1"
	mkdir -p "$root/var/tmp/dart/$1"
	# shellcheck disable=SC2046 # several files
	cp $(packages "$1") "$root/var/tmp/dart/$1"
}

# in_machine COMMAND...: run offline in the machine's files, which are not running
in_machine() {
	"$here/in_root" "$root" "$@"
}

# files: all files of the machine except the files of dpkg, dkms and a running system,
# and of users, which stay as policy says
files() {
	(cd "$root" && find . -xdev \( -path ./dev -o -path ./proc -o -path ./sys -o \
		-path ./run -o -path ./tmp -o -path ./var/tmp -o -path ./var/log -o \
		-path ./var/lib/dpkg -o -path ./var/cache -o -path ./usr/lib/modules -o \
		-path ./var/lib/apt \) -prune -o -print | sort) |
		grep -v -x -E -f "$here/not_ours"
}

# modules: files of kernel modules, without the lists that depmod writes
modules() {
	(cd "$root/lib/modules" && find . -name '*.ko*' | sort)
}

# add_modules: the modules of $kernel, into the machine
add_modules() {
	mkdir -p "$root/lib/modules/$release"
	cp -a "$kernel/lib/modules/$release/"modules.* "$root/lib/modules/$release"
	cp -al "$kernel/lib/modules/$release/kernel" "$root/lib/modules/$release"
}

# Further options of the next machines.
booted=()

# boot SCRIPT [ARGUMENT...]: boots the machine, runs a script of this directory in it and
# powers it off; prints the points of the script
boot() {
	local script=$1

	shift
	cp "$here/$script" "$here/machine" "$tests/lib.sh" "$root/var/tmp/dart/"
	"$tests/qemu/run" --root "$root" --timeout 900 "${booted[@]}" -- \
		/bin/bash "/var/tmp/dart/$script" "$@"
}

# runs SENTENCE SCRIPT [ARGUMENT...]
runs() {
	local sentence=$1 status=0

	shift
	boot "$@" >"$built/packages/$1.log" 2>&1 || status=$?
	points_of "$built/packages/$1.log"
	check "$sentence" [ $status = 0 ]
}

# shellcheck disable=SC2046 # several files
check "the packages of version $now have no errors of lintian" \
	lintian --fail-on error --allow-root \
	$(ls "$built/deb/$now"/*.changes)
# shellcheck disable=SC2046 # several files
base=$("$here/base" $(packages "$now")) || exit
rm -rf "$root"
cp -a "$base" "$root"
mkdir -p "$root/var/tmp/dart"
add_modules
# The paths in the packages of the kernel and of its headers.
ln -s "/usr/src/linux-headers-$release" "$root/lib/modules/$release/build"
cp -a "$kernel/usr/src/." "$root/usr/src"
[ ! -d "$kernel/usr/lib" ] || cp -a "$kernel/usr/lib/." "$root/usr/lib"
files >"$built/packages/files.before"
modules >"$built/packages/modules.before"

copy_packages "$before"
check "the packages of version $before are installed" in_machine \
	sh -c "apt-get install --yes --no-install-recommends /var/tmp/dart/$before/*.deb"
check "dkms has built the module for Linux $release" \
	[ -e "$root/lib/modules/$release/updates/dkms/dart_zero.ko" ]
cp "$built"/selftests/helpers/{store_fill,store_checksum} "$root/var/tmp/dart/"
cp "$tests/is_true" "$root/var/tmp/dart/"

runs "the machine boots with them, and goes down" boots "$before"
copy_packages "$now"
check "the module of version $now replaces the earlier module" in_machine \
	sh -c "apt-get install --yes --no-install-recommends /var/tmp/dart/$now/dart-zero-dkms_*.deb"
check "only one module exists" [ "$(modules | grep -c dart_zero)" = 1 ]
runs "the machine reboots, and the other packages are upgraded" upgrades "$now"
runs "the machine reboots with version $now, and packages are removed" removes "$now"
# shellcheck disable=SC2016 # the shell in the machine expands it
check "the packages are purged" in_machine sh -c 'apt-get purge --yes \
	$(dpkg-query -W -f "\${Package}\n" | grep -e ^dart -e ^libdart)'
files >"$built/packages/files.after"
modules >"$built/packages/modules.after"
check "no file is left, and none is missing" \
	diff "$built/packages/files.before" "$built/packages/files.after"
check "no kernel module is left" \
	diff "$built/packages/modules.before" "$built/packages/modules.after"
copy_packages "$now"
check "dkms builds the module again after a purge" in_machine \
	sh -c "apt-get install --yes --no-install-recommends /var/tmp/dart/$now/dart-zero-dkms_*.deb"
check "it is purged again" in_machine apt-get purge --yes dart-zero-dkms

# From nothing, as README.md says, without the module, on the kernel that this release of Debian
# comes with, which Secure Boot has locked down.
own=${KVER:-6.12}
! grep -q -x VERSION_CODENAME=bookworm /etc/os-release || own=6.1
kernel=$("$tests/qemu/kernel" "$own") || exit
release=$(ls "$kernel/lib/modules")
add_modules
rm -rf "${root:?}/var/tmp/dart/$now/"dart-zero-dkms_*.deb
cp "$tests/../README.md" "$root/var/tmp/dart"
truncate -s 16M "$built/packages/disk"
booted=(--kernel "$own" --parameter lockdown=integrity --disk "$built/packages/disk")
runs "three commands show the machine its own values" first "$now"
check "each family of the list for Linux $release is on the page" \
	"$tests/lib/families.py" "$tests/families" "$release" "$root/var/tmp/dart/metrics"
check "coverage has a reason for each object that is not served" is_true '.coverage |
	length > 0 and all(.[]; .present == .served + (.missing | map(.count) | add // 0) and
		all(.missing[]; .example != "" and .remedy != ""))' "$root/var/tmp/dart/status.json"
files >"$built/packages/files.after"
check "no such file is left either" \
	diff "$built/packages/files.before" "$built/packages/files.after"
check "only the three users stay" [ "$(grep -o '^dart[^:]*' "$root/etc/passwd" | sort | paste -sd ' ')" = \
	"dart dart-controller dart-flows" ]
finish
