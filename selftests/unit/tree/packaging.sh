#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Duplicate statements of the packages agree, and each installed file belongs to one package.
. "$(dirname "$0")/../../lib.sh"

cd "$tests/.." || exit
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# section NAME: the packages of a section of packages.txt
section() {
	sed -n "/^# $1:/,/^\$/s/^[a-z]/&/p" packages.txt
}

# Packages that are essential for building are always installed. dh-sequence-NAME is an add-on of
# debhelper.
needed() {
	section build | grep -v -x -e g++ -e gcc -e libc6-dev -e make
	printf '%s\n' debhelper-compat dh-sequence-dkms dh-sequence-installsysusers
}

build_depends() {
	sed -n '/^Build-Depends:/,/^[^ ]/s/^ \([^ ,]*\).*/\1/p' debian/control
}

check "Build-Depends equal the packages for building in packages.txt" \
	diff <(needed | sort) <(build_depends | sort)
check "the newest entry of the changelog is of the version that the Makefile has" \
	[ "$(sed -n '1s/^dart-zero (\(.*\)) .*/\1/p' debian/changelog)" = \
	"$(sed -n 's/^version := //p' Makefile)" ]
check "manifests for Kubernetes are YAML with a kind each" sh -c "
	for file in contrib/kubernetes/*.yaml; do
		gojq -e --yaml-input '.kind and .apiVersion' \"\$file\" || exit
	done"

# commands UNIT: the commands without which a service fails, except our own
commands() {
	sed -n 's/^Exec[A-Za-z]*=\([^-@ ][^ ]*\).*/\1/p' "$1" | sort -u
}

# depends PACKAGE: the packages that it depends on
depends() {
	sed -n "/^Package: $1\$/,/^\$/s/^Depends: //p" debian/control | tr -d ' ' | tr , '\n'
}

# commands_are_there PACKAGE UNIT...: the package depends on those of all commands of its units
commands_are_there() {
	local package=$1 unit command owner

	shift
	for unit; do
		for command in $(commands "$unit"); do
			owner=$(dpkg -S "*bin/${command##*/}" | cut -d : -f 1 | sort -u)
			echo "$unit: $command of the package '$owner'"
			depends "$package" | grep -x "$owner" || return
		done
	done
}

check "dartd depends on the packages of commands in its services" \
	commands_are_there dartd agent/dartd.service agent/dart-loopback.service
check "dart-controller depends on the packages of commands in its service" \
	commands_are_there dart-controller tools/controller/dart-controller.service

# installed STAGED: all files of make install, as debian/rules moves them
installed() {
	(cd .output/staged && find . ! -type d) | sed -e 's,^\./,,' -e 's,^usr/local/,usr/,' \
		-e 's,^usr/lib/libdart,usr/lib/x/libdart,' -e 's,^usr/lib/pkgconfig,usr/lib/x/pkgconfig,' \
		-e 's,zsh/site-functions,zsh/vendor-completions,' |
		grep -v '^usr/lib/systemd/system/' | sort
}

# packaged: for each of these files, the lists of debian/ that contain it
packaged() {
	local list pattern rest patterns=() lists=() parts depth beginning i IFS=$' \t\n'

	for list in debian/*.install; do
		while read -r pattern rest; do
			patterns+=("$pattern")
			lists+=("$list")
		done <"$list"
	done
	IFS=/
	while read -r -a parts; do
		for i in "${!patterns[@]}"; do
			# A directory stands for all below it, and a star, as in debhelper, not for
			# a slash.
			depth=${patterns[i]//[!\/]/}
			beginning="${parts[*]:0:${#depth}+1}"
			# shellcheck disable=SC2053 # a pattern
			if [[ $beginning == ${patterns[i]} ]]; then
				echo "${parts[*]} ${lists[i]}"
			fi
		done
	done
}

# Packages are built in an empty tree, where no test has made a library before.
libraries_are_made() {
	local made library

	made=$(make -npq KDIR= programs 2>/dev/null | sed -n 's/^programs: //p')
	while read -r library; do
		echo "$library"
		grep -q -F "/$library" <<<"$made" || return
	done < <(grep -o 'lib/lib[a-z]*\.a' install.mk)
}

check "make programs makes the libraries that make install installs" libraries_are_made
installed >"$scratch/installed"
check "make install has files for the packages" [ -s "$scratch/installed" ]
packaged <"$scratch/installed" >"$scratch/packaged"
check "each installed file is in a package" \
	diff "$scratch/installed" <(cut -d ' ' -f 1 "$scratch/packaged" | sort -u)
check "no file is in two packages" [ -z "$(cut -d ' ' -f 1 "$scratch/packaged" | uniq -d)" ]
finish
