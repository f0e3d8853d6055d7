#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# apt finds, verifies and upgrades packages of a repository that debian/repository laid out. Here,
# with a state of apt of its own: no file of this machine changes.
. "$(dirname "$0")/../lib.sh"

work=$(mktemp -d)
repository=$work/repository
export GNUPGHOME=$work/gnupg
trap 'gpgconf --kill all; rm -rf "$work"' EXIT

for program in apt-ftparchive gpg; do
	command -v $program >/dev/null ||
		skip "$program is not installed (as root: make packages sections=repository)"
done

# package VERSION: builds one that only has this version
package() {
	local root=$work/root-$1

	mkdir -p "$root/DEBIAN" "$work/packages-$1"
	printf '%s\n' 'Package: dartd' "Version: $1" 'Architecture: all' \
		'Maintainer: nobody <nobody@example.com>' 'Description: test' >"$root/DEBIAN/control"
	dpkg-deb --build --root-owner-group "$root" "$work/packages-$1/dartd_$1_all.deb"
	printf '%s\n' 'Package: dart-controller' "Version: $1" \
		"Architecture: $(dpkg --print-architecture)" \
		'Maintainer: nobody <nobody@example.com>' 'Description: test' >"$root/DEBIAN/control"
	dpkg-deb --build --root-owner-group "$root" "$work/packages-$1"
}

lay_out() {
	"$tests/../debian/repository" "$@" "$repository"
}

# with_apt PROGRAM...: with sources, lists and packages of its own
with_apt() {
	local program=$1

	shift
	"$program" -o Dir::Etc::sourcelist="$work/sources.list" -o Dir::Etc::sourceparts=- \
		-o Dir::State::lists="$work/lists" -o Dir::State::status="$work/status" \
		-o Dir::Cache="$work/cache" -o APT::Sandbox::User=root \
		-o Acquire::Languages=none "$@"
}

# update: succeeds only without a warning, too
update() {
	rm -rf "$work/lists"
	mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
	with_apt apt-get -o APT::Update::Error-Mode=any update
}

# would_install PACKAGE VERSION
would_install() {
	with_apt apt-get --simulate install "$1" | grep "^Inst $1 ($2 "
}

mkdir -m 700 "$GNUPGHOME"
gpg --batch --quiet --passphrase '' --quick-generate-key packages@example.com ed25519 sign never
gpg --batch --quiet --passphrase '' --quick-generate-key stranger@example.com ed25519 sign never
package 1.0 >/dev/null
package 1.1 >/dev/null
: >"$work/status"

refuse "a key that gpg does not have is refused" "has no secret key 'nobody@example.com'" \
	lay_out nobody@example.com "$work/packages-1.0"
check "nothing was laid out then" [ ! -e "$repository" ]
mkdir "$work/empty"
refuse "a directory without packages is refused" "has no packages" \
	lay_out packages@example.com "$work/empty"
check "a repository is laid out" lay_out packages@example.com "$work/packages-1.0"
echo "deb [signed-by=$repository/dart-zero.gpg] file:$repository stable main" >"$work/sources.list"
check "apt verifies it" update
check "apt would install a package for all architectures" would_install dartd 1.0
check "apt would install a package of this architecture" would_install dart-controller 1.0
check "apt gets the package, and its checksum is right" sh -c "cd '$work' && apt-get download \
	-o Dir::Etc::sourcelist='$work/sources.list' -o Dir::Etc::sourceparts=- \
	-o Dir::State::lists='$work/lists' -o Dir::State::status='$work/status' \
	-o Dir::Cache='$work/cache' -o APT::Sandbox::User=root dartd &&
	cmp dartd_1.0_all.deb packages-1.0/dartd_1.0_all.deb"

check "a further version is added" lay_out packages@example.com "$work/packages-1.1"
printf '%s\n' 'Package: dartd' 'Status: install ok installed' 'Version: 1.0' 'Architecture: all' \
	'Maintainer: nobody <nobody@example.com>' 'Description: test' '' >"$work/status"
check "apt verifies it again" update
check "apt would upgrade an installed package to it" sh -c "$(declare -f with_apt); work=$work;
	with_apt apt-get --simulate upgrade | grep '^Inst dartd \\[1.0\\] (1.1 '"
check "the earlier version is still there" with_apt apt-get --simulate --allow-downgrades \
	install dartd=1.0

echo changed >>"$work/packages-1.1/dartd_1.1_all.deb"
refuse "another file of the same version is refused" "has another dartd_1.1_all.deb" \
	lay_out packages@example.com "$work/packages-1.1"
check "the repository is as before" update
gpg --batch --export stranger@example.com >"$work/stranger.gpg"
echo "deb [signed-by=$work/stranger.gpg] file:$repository stable main" >"$work/sources.list"
refuse "a host with the key of a stranger refuses it" "NO_PUBKEY\|not signed" update
echo "deb [signed-by=$repository/dart-zero.gpg] file:$repository stable main" >"$work/sources.list"
sed -i 's/^Version: 1.1/Version: 1.9/' "$repository"/dists/stable/main/binary-*/Packages
rm -f "$repository"/dists/stable/main/binary-*/Packages.gz
refuse "a changed list is refused" "Hash Sum mismatch\|unexpected size" update
finish
