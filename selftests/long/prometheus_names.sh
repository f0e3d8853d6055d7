#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The names of metrics in schemas/prometheus map fields that the agent really shows, in entries
# whose fields take their names from the BTF of the kernel.
. "$(dirname "$0")/../lib.sh"

"$tests/host_up" || exit
python3 -c 'import yaml' 2>/dev/null || skip "python3 has no yaml"
case $(uname -r) in
6.12.*) ;;
*) skip "prometheus_fields has the fields of Linux 6.12; agent/families compares other kernels" ;;
esac
modprobe loop max_loop=1

registered() {
	dartctl register host &&
		dartctl register source disk:stats --disk loop0 &&
		ip link add veth0 type veth peer name veth1 &&
		dartctl register source netdev:core --netdev veth0 &&
		ip tunnel add tunnel0 mode ipip local 127.0.0.1 remote 127.0.0.2 &&
		dartctl register source netdev:stats --netdev tunnel0 &&
		mkdir /sys/fs/cgroup/mine
}

# shown: a line for each entry, with its fields
shown() {
	source_names | while read -r entry; do
		dartctl -j show "$entry"
	done | gojq -r '"\(.name) \([.schema.fields[].name] | join(" "))"'
}

check "the host and sources that it leaves out can be registered" registered
shown >/run/shown
check "each field that the list has from BTF is shown by this kernel" \
	"$tests/prometheus_names" --shown /run/shown
sed -i 's/ timer / /' /run/shown
refuse "a field that the kernel does not show is found" "softirqs does not show timer" \
	"$tests/prometheus_names" --shown /run/shown
finish
