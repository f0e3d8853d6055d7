#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Values in memory that a process shares with its children are gathered from the process, though
# only its children have used the memory: as the counters of nginx, whose workers count.
. "$(dirname "$0")/../lib.sh"
program=$(command -v shared_counter)
layout=/etc/dart/layouts/shared.yaml
ready=$(mktemp)

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
check "dartd stops" host_down
kill "$pid"
rm -f "$layout" "$ready"
finish
