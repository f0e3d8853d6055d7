# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Sourced by tests of dart-flows as a NAT: its state, and the table 'nat' of dartd.
# shellcheck disable=SC2016 # variables of jq
# shellcheck disable=SC2086 # words of $flow
# shellcheck disable=SC2154 # variables of the test

# shows FILTER: of the state
shows() {
	$flow show >/run/shown && is_true "$1" /run/shown
}

# in_table COUNT: the table contains COUNT entries
in_table() {
	dartctl -j table show nat | is_true --argjson count "$1" '.entries == $count'
}

# entered COUNT: all flows but kept ones are in the table, two entries each
entered() {
	shows ".flows.entered == $1 and .table.waiting == 0" && in_table $((2 * $1))
}

# agrees: each flow in the table has the entry of each direction that its ends make
agrees() {
	$flow list | gojq -c '.[] | select(.state == "entered")' >/run/listed
	[ -s /run/listed ] || return
	gojq -r -s '[.[] | {protocol, i: (.inside / ":"), o: (.outside / ":"), r: (.remote / ":")} |
		(if .protocol == "tcp" then "tracked_" else "" end) as $tracked |
		[.i[0], .r[0], .i[1], .r[1], .protocol, .o[0], .o[1], $tracked + "source"],
		[.r[0], .o[0], .r[1], .o[1], .protocol, .i[0], .i[1], $tracked + "destination"] |
		join(",")] | sort[]' /run/listed | sort >/run/wanted_entries
	dartctl table dump nat --format csv | tail -n +2 | sort >/run/entries
	diff /run/wanted_entries /run/entries | head -5
	cmp /run/wanted_entries /run/entries
}
