#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Rounds of register and unregister leak no memory, in both exposures.  ROUNDS in the environment says
# how many there are.
. "$(dirname "$0")/../lib.sh"

rounds=${ROUNDS-60}

# pinned pages, memory regions, resident memory of the agent in KiB
usage() {
	echo 1 >/proc/sys/vm/stat_refresh
	awk '$1 == "nr_foll_pin_acquired" { sum += $2 }
		$1 == "nr_foll_pin_released" { sum -= $2 }
		END { print sum + 0 }' /proc/vmstat
	rdma resource show mr | wc -l
	awk '$1 == "VmRSS:" { print $2 }' "/proc/$(pidof dartd)/status"
}

for exposure in exact page; do
	check "$exposure: the agent starts" host_up --exposure $exposure
	check "$exposure: $rounds rounds of register and unregister bring the heap to its size" \
		registration_rounds "$rounds"
	# shellcheck disable=SC2046 # three words
	set -- $(usage)
	check "$exposure: the kernel counts the agent's pinned pages ($1) and memory regions ($2)" \
		[ "$1" -gt 0 -a "$2" -gt 0 ]
	check "$exposure: $rounds more rounds of register and unregister succeed" \
		registration_rounds "$rounds"
	check "$exposure: $rounds rounds leave no page pinned" \
		[ "$(usage | sed -n 1p)" -eq "$1" ]
	check "$exposure: $rounds rounds leave no memory region" \
		[ "$(usage | sed -n 2p)" -eq "$2" ]
	check "$exposure: $rounds rounds grow the agent by no more than 256 KiB" \
		[ "$(usage | sed -n 3p)" -le $(($3 + 256)) ]
	check "$exposure: $rounds rounds leave no map" \
		[ "$(bpftool map show name round 2>/dev/null | wc -l)" -eq 0 ]
	check "$exposure: the agent stops" host_down
done
check "the module can be unloaded after all rounds" modprobe -r dart_zero
finish
