#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Values in memory that a process shares with its children are gathered from the process, though
# only its children have used the memory: as the counters of nginx, whose workers count.  dartd
# brings their page back after it was swapped out, and tries ever later if it cannot be read.
. "$(dirname "$0")/../lib.sh"
program=$(command -v shared_counter)
layout=/etc/dart/layouts/shared.yaml
ready=$(mktemp)
cgroup=/sys/fs/cgroup/shared

describe() {
	local id
	id=$(file -bL "$program" | sed -n 's/.*BuildID\[sha1\]=\([0-9a-f]*\).*/\1/p')
	mkdir -p "${layout%/*}"
	layout=${layout%/*}/$id.yaml
	dartctl application describe --binary "$program" --types "$program" --output "$layout" \
		/dev/stdin <<-'END'
			description: counts in shared memory
			symbols:
			  shared_counter: {type: 'uint64_t *'}
			entries:
			  - name: shared
			    fields:
			      - {name: count, value: 'shared_counter[0]', kind: counter}
		END
}

# counted: the row has the value of the child
counted() {
	dartctl -j show "$1" | is_true ".values.sum.count == 42"
}

# fetched COUNT: dartd has let the kernel fetch pages of the parent so often
fetched() {
	dartctl -j application show "shared@pid:$pid" | is_true ".instances[0].fetched >= $1"
}

# has_swapped: the kernel takes all memory of the cgroup away, until dartd has missed a page
has_swapped() {
	echo 16M >"$cgroup/memory.reclaim" 2>/dev/null
	fetched 1
}

start_in_cgroup() {
	echo +memory >/sys/fs/cgroup/cgroup.subtree_control && mkdir "$cgroup" || return
	# shellcheck disable=SC2016 # expands in the cgroup
	sh -c 'echo $$ >"$0/cgroup.procs" && exec "$1"' "$cgroup" "$program" >"$ready" &
	pid=$!
	soon grep -q ready "$ready"
}

add_swap() {
	modprobe brd rd_nr=1 rd_size=65536 && mkswap /dev/ram0 && swapon /dev/ram0
}

# uptime: of the machine, hundredths of a second
uptime() {
	read -r up _ </proc/uptime
	echo "${up/./}"
}

check "the program has a layout" describe
"$program" >"$ready" &
pid=$!
check "a child counts in shared memory" soon grep -q ready "$ready"
check "dartd starts" host_up
# A server may open a port within 5 s, which would name it.
check "the parent is gathered" soon dartctl application add shared --pid "$pid" --gather 100ms
check "its row has the count of the child" soon counted "shared@pid-$pid+100ms"
check "the parent is not gathered any more" dartctl application remove "shared@pid:$pid"
kill "$pid"
"$program" >"$ready" &
pid=$!
check "another parent starts" soon grep -q ready "$ready"
check "parents of this program are followed" dartctl application follow shared --gather 100ms
check "its row has the count, too" soon counted "shared@pid-$pid+100ms"
check "parents are not followed any more" dartctl application remove "shared@*"
kill "$pid"

if modinfo brd >/dev/null 2>&1 && add_swap >/dev/null; then
	check "a parent starts in a cgroup" start_in_cgroup
	check "it is gathered" soon dartctl application add shared --pid "$pid" --gather 100ms
	check "its row has the count before its page is swapped out" \
		soon counted "shared@pid-$pid+100ms"
	check "its page is swapped out, and dartd sees that" soon has_swapped
	check "its row has the count again" soon counted "shared@pid-$pid+100ms"
	kill "$pid"
	check "its entry ends with it" soon lacks "shared@pid-$pid+100ms"
	swapoff /dev/ram0
	check "nothing is left in its cgroup" soon rmdir "$cgroup"
else
	point ok "a page is swapped out # SKIP the kernel has no module brd"
fi

"$program" unmapped >"$ready" &
pid=$!
check "a parent unmaps its counter" soon grep -q ready "$ready"
before=$(uptime)
check "it is gathered, without values" \
	soon dartctl application add shared --pid "$pid" --gather 100ms
check "dartd tries to read them" soon fetched 3
check "after 1 s and after 2 s again, not at once" [ $(($(uptime) - before)) -ge 300 ]
check "the row stays empty" is_true '.values | has("sum") and .sum == null' \
	<<<"$(dartctl -j show "shared@pid-$pid+100ms")"
check "dartd stops" host_down
kill "$pid"
rm -f "$layout" "$ready"
finish
