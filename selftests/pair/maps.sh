#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Anybody's array map, by path, id and name: what its owner writes is what the
# controller reads next, and what may not be registered is not.
. "$(dirname "$0")/../lib.sh"

pin=/sys/fs/bpf/pinned

# reads ENTRY VALUE: of row 2
reads() {
	dart-controller --once --json --entries "$1" host |
		is_true --arg name "$1" ".entries[\$name].rows[2].value |
			. == $2 or (debug | false)"
}

map_id() {
	on host bpftool -j map show name "$1" | jq .id
}

create() {
	on host bpftool map create "/sys/fs/bpf/$1" type array key 4 \
		value 8 entries 4 name "$1" flags "$2"
}

rdma_up
check "the agent starts" on host host_up
for map in pinned by_id by_name; do
	check "a map is made" create $map 1024
done
check "registered by path" on host dartctl register map $pin
check "registered by id" on host dartctl register map id "$(map_id by_id)"
check "registered by name" on host dartctl register map name by_name

value=0
for map in pinned by_id by_name pinned by_id by_name; do
	value=$((value + 7))
	on host bpftool map update name $map key 2 0 0 0 \
		value $value 0 0 0 0 0 0 0
	check "$map: $value is read after $value was written" reads $map $value
done

list=$(on host dartctl -j list)
create plain 0
on host bpftool map create /sys/fs/bpf/hash type hash key 4 value 8 entries 4 \
	name hash
refuse "a map that cannot be mapped" BPF_F_MMAPABLE \
	on host dartctl register map name plain
refuse "a hash" "array" on host dartctl register map name hash
refuse "a map that is registered already" "already" \
	on host dartctl register map $pin
refuse "no such path" "No such file" \
	on host dartctl register map /sys/fs/bpf/absent
refuse "no such id" "there is no\|No such" on host dartctl register map id 4294967
refuse "no such name" "there is no\|no map" \
	on host dartctl register map name absent
refuse "no such entry" "there is no entry" on host dartctl unregister absent
refuse "no such source" "absent" on host dartctl register source absent
check "what was refused has changed nothing" \
	[ "$list" = "$(on host dartctl -j list)" ]

check "unregistered" on host dartctl unregister by_name
refuse "an entry that is gone is not read" "no entry" reads by_name 42
check "the others are" reads by_id 35
long='cgroup:cpu@/kubepods.slice/pod%5Cx2d1+2=3~.slice/cri-containerd-'
long=$long$(printf %0180d 7).scope
check "registered again, with a name as paths of cgroups have" \
	on host dartctl register map name by_name as "$long"
check "and read again" reads "$long" 42
refuse "a name that is too long" "a name has 1 to 255" \
	on host dartctl register map name by_name as "$long$long"
check "its owner lets go of it" on host rm $pin
refuse "and it is gone" "no entry" reads pinned 28
check "the agent ends" on host host_down
finish
