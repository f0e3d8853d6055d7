#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The completions of each program, for bash, zsh and fish, list exactly the options of its --help.
. "$(dirname "$0")/../../lib.sh"

tree=$tests/..
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# helped PROGRAM: long options in its --help, each at the beginning of a line or after a comma
helped() {
	"$tree/.output/bin/$1" --help |
		grep -E '^ {2,6}-' | grep -o -E '(^ +|, )--[a-z-]+' | grep -o -E -e '--[a-z-]+'
}

# completed FILE: long options that it offers
completed() {
	case $1 in
	*.bash-completion) # the list in quotes
		tr '\n' ' ' <"$1" | grep -o -E '"[^"]*--help[^"]*"' | grep -o -E -e '--[a-z-]+' ;;
	*.zsh-completion) # a definition, or the list in parentheses
		{
			grep -o -E -e "--[a-z-]+(=-?)?[]}[]" "$1"
			grep -o -E '^\s*all=\([^)]*--help[^)]*\)' "$1"
		} | grep -o -E -e '--[a-z-]+' ;;
	*dartctl.fish-completion)
		grep -o -E 'set -l words -.*--help.*' "$1" | grep -o -E -e '--[a-z-]+' ;;
	*.fish-completion)
		grep -o -E -e '-l [a-z-]+' "$1" | sed 's/-l /--/' ;;
	esac
}

# agrees PROGRAM FILE
agrees() {
	diff <(helped "$1" | sort -u) <(completed "$2" | sort -u)
}

programs=
for file in "$tree"/tools/*/*.bash-completion "$tree"/.output/texts/*.bash-completion; do
	program=$(basename "$file" .bash-completion)
	programs="$programs$program "
	for shell in bash zsh fish; do
		check "completion of $program for $shell has the options of --help" \
			agrees "$program" "${file%.*}.$shell-completion"
	done
done
check "three programs have completions" [ "$programs" = "dartctl dart-report dart-controller " ]
for shell in bash zsh fish; do
	sed -E 's/(--|-l )interval\>/\1interlude/g' \
		"$tree/.output/texts/dart-controller.$shell-completion" \
		>"$scratch/dart-controller.$shell-completion"
	refuse "the check finds an option for $shell replaced by another" "--interval" \
		agrees dart-controller "$scratch/dart-controller.$shell-completion"
done
finish
