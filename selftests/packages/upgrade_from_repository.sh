#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# In a fresh machine apt installs dartd and dart-controller from a repository that make repository
# would lay out, signed by a given key, and upgrades them while they run. make check-deb built the
# packages of this version and of an earlier one.
. "$(dirname "$0")/../lib.sh"

here=$tests/packages
# shellcheck source=points
. "$here/points"
built=$(cd "$tests/.." && pwd)/.output
root=$built/packages/upgraded
shared=$root/var/tmp/dart
kernel=$(readlink -f "$built/kernel/${KVER:-6.12}")
release=$(ls "$kernel/lib/modules")
work=$(mktemp -d)
export GNUPGHOME=$work/gnupg
trap 'gpgconf --kill all; rm -rf "$work"' EXIT

[ "$(id -u)" = 0 ] || skip "only root can make a system and change its files"
for program in debootstrap apt-ftparchive gpg; do
	command -v $program >/dev/null ||
		skip "$program is not installed (as root: make packages sections=\"deb repository\")"
done

versions=$(find "$built/deb" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort -V)
before=$(head -n 1 <<<"$versions")
now=$(tail -n 1 <<<"$versions")

# lay_out VERSION DIRECTORY: adds the packages of a version
lay_out() {
	"$tests/../debian/repository" packages@example.com "$built/deb/$1" "$2"
}

# shellcheck disable=SC2046 # several files
base=$("$here/base" $(find "$built/deb/$now" -name '*.deb' ! -name '*-dbgsym_*' \
	! -name 'libdart-dev_*')) || exit
rm -rf "$root"
cp -a "$base" "$root"
mkdir -p "$root/lib/modules/$release" "$shared"
cp -a "$kernel/lib/modules/$release/"modules.* "$root/lib/modules/$release"
cp -al "$kernel/lib/modules/$release/kernel" "$root/lib/modules/$release"

mkdir -m 700 "$GNUPGHOME"
gpg --batch --quiet --passphrase '' --quick-generate-key packages@example.com ed25519 sign never
check "a repository of version $before is laid out" lay_out "$before" "$shared/repository"
cp -a "$shared/repository" "$shared/repository.now"
check "version $now is added to it" lay_out "$now" "$shared/repository.now"

cp "$here/upgrades_from_repository" "$here/machine" "$tests/lib.sh" "$tests/is_true" "$shared"
status=0
"$tests/qemu/run" --root "$root" --timeout 900 -- /bin/bash \
	/var/tmp/dart/upgrades_from_repository "$before" "$now" \
	>"$built/packages/upgrades_from_repository.log" 2>&1 || status=$?
points_of "$built/packages/upgrades_from_repository.log"
check "the machine ends without a failure" [ $status = 0 ]
rm -rf "$root"
finish
