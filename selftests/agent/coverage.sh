#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The agent reports how much of the host it serves, and why it does not serve the rest.
. "$(dirname "$0")/../lib.sh"

# members DIRECTORY: the number of its members
members() {
	find "$1" -mindepth 1 -maxdepth 1 | wc -l
}

log=/run/dartd.log
top=/sys/fs/cgroup/covered

# covers KIND FILTER: for this kind in dartctl status
covers() {
	dartctl -j status | gojq -c --arg kind "$1" \
		'.coverage[] | select(.kind == $kind)' | tee /run/line
	is_true "$2" /run/line
}

# misses KIND REASON FILTER: for the objects of this kind that are missing for this reason
misses() {
	covers "$1" ".missing[] | select(.reason == \"$2\") | $3"
}

# counted FIELD: prints this field of the entry dartd
counted() {
	dartctl -j show dartd | gojq ".values.rows[0].coverage_$1"
}

# The entry shows the same figures as the answer to status.
agrees() {
	dartctl -j status | gojq -c '.coverage | map(.kind as $kind | {
		"coverage_\($kind)_present": .present, "coverage_\($kind)_served": .served
	} + (.missing | map({"coverage_\($kind)_missing_\(.reason)": .count}) | add // {})) |
		add' >/run/said
	dartctl -j show dartd | gojq -c '.values.rows[0] | with_entries(
		select((.key | startswith("coverage_")) and (.value > 0 or
			(.key | contains("_missing_") | not))))' >/run/written
	[ -s /run/said ] && diff <(gojq -S . /run/said) <(gojq -S . /run/written)
}

# Each present object is served or missing.
adds_up() {
	dartctl -j status | tee /run/status |
		is_true '.coverage | length == 8 and all(.[];
			.present == .served + (.missing | map(.count) | add // 0) and
			all(.missing[]; .example != "" and .remedy != ""))' ||
		{ cat /run/status; return 1; }
}

# says TEXT: one line of dartctl status
says() {
	dartctl status | tee /run/line
	grep -q -e "$1" /run/line
}

# doctor_says RESULT TEXT
doctor_says() {
	dartctl doctor | grep " coverage: " | tee /run/line
	grep -q -e "^$1 .*$2" /run/line
}

# metrics TEXT: a line of the controller's page, of a family dart_coverage_
metrics() {
	python3 "$tests/lib/fetch.py" /metrics >/run/page || return
	! grep dart_dartd_coverage /run/page || return
	grep '^dart_coverage_' /run/page
	grep -q -e "^dart_coverage_$1" /run/page
}

# lacks_metric TEXT: the page shows only other metrics of the family
lacks_metric() {
	metrics objects && ! metrics "$1"
}

# The only armed timer of dartd never expires (30 years and more): it tells that the clock was
# set. A timer for systemd's watchdog does not exist here.
is_idle() {
	dartctl -j status | is_true '.leases == 0' || return
	! awk -F '[(,)]' '/^it_value:/ && $2 + $3 > 0 && $2 < 1e9 {
			print FILENAME ": " $0
			armed = 1
		}
		END { exit !armed }' /proc/"$(pidof dartd)"/fdinfo/*
}

mkdir "$top" "$top/one" "$top/two"
check "the agent starts" host_up
check "an unregistered host is not covered" covers netdevs \
	".served == 0 and .present == $(members /sys/class/net)"
check "the reason says so, with an object and the command that helps" misses netdevs \
	unregistered ".count == $(members /sys/class/net) and .example == \"lo\" and
	.remedy == \"dartctl register host\""
check "cgroups are counted without a follower" misses cgroups unregistered \
	".count == $(find /sys/fs/cgroup -mindepth 1 -type d | wc -l)"
check "so are namespaces" misses namespaces unregistered '.count == 1'
check "so are sources" misses sources unregistered '.count > 30'
check "a probe that is loaded is served, the others name the command" misses probes \
	unregistered '.example == "tcpconn" and .remedy == "dartctl probe load tcpconn"'
check "the figures of each kind add up" adds_up
check "the entry dartd has the same figures" agrees
check "the text of status has a line for each kind, and the reasons below" \
	says '^netdevs  *0 of [0-9]* served$'
check "status names the command below" says \
	'^  [0-9]* unregistered, such as lo; do: dartctl register host$'
check "doctor warns of it, once" doctor_says warn "not registered"
check "doctor has one line about it" [ "$(wc -l </run/line)" = 1 ]

check "a cgroup that is registered alone is served" dartctl register source cgroup:cpu \
	--cgroup covered/one
check "the others are not" covers cgroups '.served == 1 and .missing[0].reason == "unregistered"'
check "it is unregistered" dartctl unregister cgroup:cpu@/covered/one
check "cgroups of a subtree are followed" dartctl register source cgroup:cpu \
	--all-cgroups covered
check "they are served, others are not registered" covers cgroups \
	'.served == 3 and (.missing == [] or .missing[0].reason == "unregistered")'
check "they are no longer followed" dartctl unregister "cgroup:cpu@/covered/**"

dart-controller --listen -i 1s localhost >/run/values 2>/run/controller.log &
controller=$!
check "a controller has the objects that the host has" soon metrics \
	"objects{[^}]*kind=\"netdevs\"[^}]*state=\"present\"[^}]*} $(members /sys/class/net) "
check "it has the served objects" metrics \
	'objects{[^}]*kind="netdevs"[^}]*state="served"[^}]*} 0 '
check "it has the missing objects, by reason" metrics \
	"missing{[^}]*kind=\"netdevs\"[^}]*reason=\"unregistered\"[^}]*} $(members /sys/class/net) "
check "a reason that does not occur has no series" lacks_metric 'missing{[^}]*reason="watches"'

modprobe null_blk nr_devices=0
mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config
disk=/sys/kernel/config/nullb/covered0
mkdir $disk
echo 1 >$disk/memory_backed
echo 16 >$disk/size
echo 1 >$disk/power
check "a disk is counted without a follower of disks" misses disks unregistered \
	".count == $(members /sys/block)"
check "the host is registered" sh -c 'dartctl register host >/run/printed'
check "the command prints a line for each kind" [ "$(grep -c ' served$' /run/printed)" = 8 ]
for kind in filesystems netdevs disks cgroups namespaces; do
	check "all $kind are served" covers $kind '.served == .present and .missing == []'
done
# Only x86 has the variable of irqs.
if [ "$(uname -m)" = x86_64 ]; then
	absent=0 missing=.missing first='.example == "cgroup:pids" and (.why | contains("version 1"))'
else
	absent=1 missing='(.missing | map(select(.example != "irqs")))' first=true
fi
check "all sources are served" covers sources ".served == .present - $absent and $missing == []"
check "the controller has no device missing any more" soon lacks_metric \
	'missing{[^}]*kind="netdevs"'
check "it has them served" metrics \
	"objects{[^}]*kind=\"netdevs\"[^}]*state=\"served\"[^}]*} $(members /sys/class/net) "
kill $controller
wait $controller
check "the figures still add up" adds_up
check "the entry follows" agrees
check "doctor finds the host covered" doctor_says ok "are served"
mkdir "$top/three"
ip link add covered0 type dummy
check "a new cgroup is counted in the entry" soon eval \
	'[ "$(counted cgroups_served)" = "$(find /sys/fs/cgroup -mindepth 1 -type d | wc -l)" ]'
check "a new device is counted in the entry" soon eval \
	'[ "$(counted netdevs_served)" = "$(members /sys/class/net)" ]'
ip link del covered0
check "a device that is gone is not counted" soon eval \
	'[ "$(counted netdevs_present)" = "$(members /sys/class/net)" ]'
check "a covered host wakes no process: no timer is armed" soon is_idle

# Maps that earlier tests of this machine pinned would be counted, too.
find /sys/fs/bpf -mindepth 1 -delete
bpftool map create /sys/fs/bpf/counts type array key 4 value 8 entries 1 name counts flags 0x400
check "a map that could be registered is not" misses maps unregistered \
	'.count == 1 and (.example | contains("counts"))'
check "the command that it names registers the map" sh -c \
	"$(dartctl -j status | gojq -r '.coverage[] | select(.kind == "maps").missing[0].remedy')"
check "the map is served then" covers maps '.missing == []'
mkdir /run/version1
mount -t cgroup -o pids none /run/version1
check "a source whose controller is in a hierarchy of cgroup version 1 has no values" misses \
	sources unsupported ".count == $absent + 1 and ($first)"
umount /run/version1
check "it has values when the controller is back" covers sources "$missing == []"

check "the agent stops" host_down
ip netns add other
rm /dev/covered0
host_again() {
	nsenter --net=/run/netns/other "$tests/host_up" again
}
check "an agent starts in another network namespace than PID 1" host_again
check "the devices of the host are there, and it cannot see them" misses netdevs invisible \
	".count == $(members /sys/class/net)"
check "a disk that dartd has no device file of is there, too" misses disks invisible \
	'.example == "covered0" and (.why | contains("no device file"))'
check "doctor says so" doctor_says warn "netdevs are left out (invisible)"
check "this agent stops" host_down
ip netns del other
rmdir $disk
cat >/run/covered.yaml <<-END
	maps:
	  - pinned: /sys/fs/bpf/absent
	probes: [cgroupnet]
END
umount /sys/fs/cgroup
check "an agent starts with a map that does not exist and a probe that cannot load" \
	host_up --config=/run/covered.yaml
check "the map is missing" misses maps other '.example == "/sys/fs/bpf/absent"'
check "the probe is not supported, and the reason is said" misses probes unsupported \
	'.example == "cgroupnet" and (.why | contains("no cgroup file system"))'
check "the entry says so, too" agrees
mount -t cgroup2 none /sys/fs/cgroup
check "the agent stops again" host_down
rmdir "$top"/*/ "$top"
finish
