# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# Functions for scripts that set top, output and version, and define fail: they download packages
# of any suite of Debian by name through apt, and install none.

# shellcheck source=arch.sh
. "$top/selftests/qemu/arch.sh"
# shellcheck source=/dev/null
codename=$(. /etc/os-release && echo "${VERSION_CODENAME:?}")
# shellcheck disable=SC2034 # for scripts that source this
suites=("$codename" "$codename-backports" trixie sid)

# scratch_open: lock out other fetches, and make $scratch, which is removed with the
# caller.
scratch_open()
{
	mkdir -p "${output:?}"
	exec 9> "$output/.lock"
	flock 9
	rm -rf "$output"/.fetch.*		# leftovers of killed fetches
	scratch=$(mktemp -d "$output/.fetch.XXXXXX")
	trap 'rm -rf "$scratch"' EXIT
	trap 'exit 1' INT TERM HUP
	: > "$scratch/status"
}

# with_apt PROGRAM...: run apt with its own package list, cache and state. It knows packages of
# $arch, or, if that is set, of $architectures, separated by commas.
with_apt()
{
	local program=$1 options=(
		-o "Dir::Etc::sourcelist=$scratch/sources.list"
		-o "Dir::Etc::sourceparts=-"
		-o "Dir::State::lists=$scratch/lists"
		-o "Dir::State::status=$scratch/status"
		-o "Dir::Cache=$scratch/cache"
		-o "APT::Architecture=$arch"
		-o "APT::Architectures=${architectures:-$arch}"
		-o "Acquire::Languages=none")

	shift
	if [ "$(id -u)" = 0 ]; then
		options+=(-o "APT::Sandbox::User=root")
	fi
	"$program" -qq "${options[@]}" "$@"
}

# archive: print the site of the machine's Debian archive, as apt knows it.
archive()
{
	# shellcheck disable=SC2016 # apt expands these
	apt-get indextargets --format '$(CODENAME) $(COMPONENT) $(SITE)' |
		awk -v codename="$codename" \
			'$1 == codename && $2 == "main" { print $3; exit }'
}

# suite_open SUITE: make with_apt know the packages of this suite only; false if the
# suite does not exist.
suite_open()
{
	local keyring=/usr/share/keyrings/debian-archive-keyring.gpg site

	site=$(archive)
	[ "$site" ] || fail "apt does not know a Debian archive for $codename" \
		"(as root: apt-get update; or see /etc/apt/sources.list)"
	echo "deb [signed-by=$keyring] $site $1 main" > "$scratch/sources.list"
	rm -rf "$scratch/lists" "$scratch/cache"
	mkdir -p "$scratch/lists/partial" "$scratch/cache/archives/partial"
	with_apt apt-get update 2> "$scratch/errors"
}

# source_fetch UPSTREAM DIRECTORY [PATTERN]: unpack the source of exactly this Linux, which any
# suite may have, or the files of it whose paths match.
source_fetch()
{
	local package there='' wanted='' tree=$2 versions suite
	local -a only=(${3:+--wildcards "$3"})

	package=linux-source-$(cut -d . -f 1,2 <<< "$1")
	for suite in "${suites[@]}"; do
		suite_open "$suite" || continue
		versions=$(with_apt apt-cache madison "$package" | awk '{ print $3 }')
		there+=" ${versions//$'\n'/ }"
		wanted=$(grep -m 1 "^$1-" <<< "$versions") || continue
		break
	done
	[ "$wanted" ] || fail "Debian does not have $package $1, only$there" \
		"(for a newer stock kernel remove $output/$version)"
	echo "${0##*/}: fetching the source of Linux $1 from $suite" >&2
	(cd "$scratch" && with_apt apt-get download "$package=$wanted")
	mkdir -p "$tree"
	dpkg-deb --fsys-tarfile "$scratch"/*.deb |
		tar -x -O "./usr/src/$package.tar.xz" |
		tar -x -J -C "$tree" --strip-components 1 "${only[@]}"
	rm "$scratch"/*.deb
}

# unpack DIRECTORY PACKAGE...: download these packages and all that they depend on, and unpack
# them, which is enough for most programs: no script of a package runs. DIRECTORY.shlibs lists
# which package a program with which library depends on, see deb-shlibs(5).
unpack()
{
	local needed packages=$scratch/unpacked directory=$1 package

	shift
	mkdir -p "$packages" "$directory"
	needed=$(with_apt apt-get install --simulate --no-install-recommends "$@" |
		sed -n -E 's/^Inst ([^ ]+).*/\1/p')
	# shellcheck disable=SC2086 # several names
	(cd "$packages" && with_apt apt-get download $needed)
	for package in "$packages"/*.deb; do
		dpkg -x "$package" "$directory"
		dpkg-deb --info "$package" shlibs 2> /dev/null || true
	done > "$directory.shlibs"
	rm -r "$packages"
	ln -s mawk "$directory/usr/bin/awk"
}
