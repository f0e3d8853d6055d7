# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# For kernel and debug_kernel: packages of any suite of Debian, downloaded by
# name through apt, never installed. They set output and have a function fail.

arch=$(dpkg --print-architecture)
# shellcheck source=/dev/null
codename=$(. /etc/os-release && echo "${VERSION_CODENAME:?}")
# shellcheck disable=SC2034 # for those who source this
suites=("$codename" "$codename-backports" trixie sid)

# Keep others from fetching, and make $scratch, which is gone with the caller.
scratch_open()
{
	mkdir -p "${output:?}"
	exec 9> "$output/.lock"
	flock 9
	rm -rf "$output"/.fetch.*		# what a killed fetch left
	scratch=$(mktemp -d "$output/.fetch.XXXXXX")
	trap 'rm -rf "$scratch"' EXIT
	trap 'exit 1' INT TERM HUP
	: > "$scratch/status"
}

# apt with a package list, a cache and a state of our own.
with_apt()
{
	local program=$1 options=(
		-o "Dir::Etc::sourcelist=$scratch/sources.list"
		-o "Dir::Etc::sourceparts=-"
		-o "Dir::State::lists=$scratch/lists"
		-o "Dir::State::status=$scratch/status"
		-o "Dir::Cache=$scratch/cache"
		-o "APT::Architectures=$arch"
		-o "Acquire::Languages=none")

	shift
	if [ "$(id -u)" = 0 ]; then
		options+=(-o "APT::Sandbox::User=root")
	fi
	"$program" -qq "${options[@]}" "$@"
}

# The site of the machine's plain Debian archive, as apt knows it.
archive()
{
	# shellcheck disable=SC2016 # apt expands these
	apt-get indextargets --format '$(CODENAME) $(COMPONENT) $(SITE)' |
		awk -v codename="$codename" \
			'$1 == codename && $2 == "main" { print $3; exit }'
}

# suite_open SUITE: with_apt knows its packages, and no others; false when there
# is no such suite.
suite_open()
{
	local keyring=/usr/share/keyrings/debian-archive-keyring.gpg site

	site=$(archive)
	[ "$site" ] || fail "apt knows no Debian archive for $codename" \
		"(as root: apt-get update; or see /etc/apt/sources.list)"
	echo "deb [signed-by=$keyring] $site $1 main" > "$scratch/sources.list"
	rm -rf "$scratch/lists" "$scratch/cache"
	mkdir -p "$scratch/lists/partial" "$scratch/cache/archives/partial"
	with_apt apt-get update 2> "$scratch/errors"
}
