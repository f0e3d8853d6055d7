# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Functions for tests in which frames between this machine and the host get lost, come twice or
# late, in both directions.
#
#	. "$(dirname "$0")/../lib.sh"
#	. "$(dirname "$0")/../faulty_link.sh"

# faulty_link LOSS TWICE LATE: percentages, of what the host sends and of what arrives there
faulty_link() {
	on host sh -ec '
		faults="loss $1% duplicate $2% delay 2ms reorder $((100 - $3))%"
		modprobe -a sch_netem ifb act_mirred cls_matchall sch_ingress
		[ -e /sys/class/net/ifb0 ] || ip link add ifb0 type ifb
		ip link set ifb0 up
		tc qdisc replace dev eth0 root netem $faults
		tc qdisc replace dev ifb0 root netem $faults
		tc qdisc add dev eth0 ingress
		tc filter add dev eth0 ingress matchall action mirred egress redirect dev ifb0' \
		faulty_link "$@"
}

sound_link() {
	on host sh -c 'tc qdisc del dev eth0 root; tc qdisc del dev eth0 ingress'
}
