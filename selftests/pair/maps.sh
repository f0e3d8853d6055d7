#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A controller reads the values that the owner of a map just wrote; dartd refuses unsuitable maps.
. "$(dirname "$0")/../lib.sh"

pin=/sys/fs/bpf/pinned

# reads ENTRY VALUE: a scrape shows VALUE in row 2
reads() {
	dart-controller --once --json --entries "$1" host |
		is_true --arg name "$1" ".entries[\$name].rows[2].value |
			. == $2 or (debug | false)"
}

map_id() {
	on host bpftool -j map show name "$1" | gojq .id
}

create() {
	on host bpftool map create "/sys/fs/bpf/$1" type array key 4 \
		value 8 entries 4 name "$1" flags "$2"
}

rdma_up
check "the agent starts" on host host_up
for map in pinned by_id by_name; do
	check "the array map $map is made" create $map 1024
done
check "a map can be registered by path" on host dartctl register map $pin
check "a map can be registered by id" \
	on host dartctl register map id "$(map_id by_id)"
check "a map can be registered by name" on host dartctl register map name by_name

value=0
for map in pinned by_id by_name pinned by_id by_name; do
	value=$((value + 7))
	on host bpftool map update name $map key 2 0 0 0 \
		value $value 0 0 0 0 0 0 0
	check "a controller reads $value from the map $map once its owner wrote $value" \
		reads $map $value
done

# Ages pass.
listed() {
	on host dartctl -j list | gojq -c 'del(.. | .age_s?)'
}
list=$(listed)
create plain 0
on host bpftool map create /sys/fs/bpf/hash type hash key 4 value 8 entries 4 \
	name hash
refuse "a map without BPF_F_MMAPABLE is refused" BPF_F_MMAPABLE \
	on host dartctl register map name plain
refuse "a hash map is refused" "array" on host dartctl register map name hash
refuse "a map that is registered already is refused" "already" \
	on host dartctl register map $pin
refuse "a path without a map is refused" "No such file" \
	on host dartctl register map /sys/fs/bpf/absent
refuse "an id without a map is refused" "there is no\|No such" \
	on host dartctl register map id 4294967
refuse "a name without a map is refused" "there is no\|no map" \
	on host dartctl register map name absent
refuse "an entry that does not exist cannot be unregistered" "there is no entry" \
	on host dartctl unregister absent
refuse "a source that does not exist is refused" "absent" \
	on host dartctl register source absent
check "refused requests leave the list of entries unchanged" \
	[ "$list" = "$(listed)" ]

check "a map can be unregistered" on host dartctl unregister by_name
refuse "a controller cannot read an entry that was unregistered" "no entry" \
	reads by_name 42
check "a controller reads the other maps after one was unregistered" reads by_id 35
long='cgroup:cpu@/kubepods.slice/pod%5Cx2d1+2=3~.slice/cri-containerd-'
long=$long$(printf %0180d 7).scope
check "a map can be registered again, under a name like the path of a cgroup" \
	on host dartctl register map name by_name as "$long"
check "a controller reads an entry with such a name" reads "$long" 42
refuse "a name of more than 255 characters is refused" "a name has 1 to 255" \
	on host dartctl register map name by_name as "$long$long"
check "the owner of a registered map removes its pin" on host rm $pin
refuse "a map without an owner leaves the table" "no entry" reads pinned 28
check "the agent stops" on host host_down
finish
