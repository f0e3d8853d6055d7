#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The commands in README.md, Documentation/install and the EXAMPLES of manual pages run, as
# they stand there, on a host with the objects that they name.
. "$(dirname "$0")/../lib.sh"

documented=$(cd "$(dirname "$0")/../lib" && pwd)/documented.py
work=/run/documented
tls=$work/tls

mkdir -p $work/bin $tls && cd $work || exit
ln -sf "$(command -v gojq)" bin/jq
PATH=$work/bin:$PATH
ip link set lo up
rdma_up
# All hosts of the examples are this machine.
for address in 192.0.2.1 192.0.2.2; do
	ip address add $address/24 dev eth0
done
cp /etc/hosts hosts 2>/dev/null || :
echo "192.0.2.1 myhost host1" >>hosts
mount --bind hosts /etc/hosts || cp hosts /etc/hosts
check "certificates are made" tls_files $tls myhost caller.example
ln -sf $tls/caller.example.pem own.pem
ln -sf $tls/caller.example.key own.key
ln -sf $tls/authority.pem ca.pem
echo '[{"targets": ["host1"]}]' >agents.json
cat >dartd.yaml <<END
allow: {callers: [192.0.2.0/24]}
tcp: {certificate: $tls/myhost.pem, key: $tls/myhost.key, authorities: $tls/authority.pem,
      subjects: [caller.example]}
END
mkdir -p /sys/fs/cgroup/system.slice /sys/fs/cgroup/kubepods.slice
check "an eBPF map of the user is pinned" bpftool map create /sys/fs/bpf/mine type array \
	key 4 value 8 entries 16 name mine flags 0x400
check "the agent starts" host_up --config=$work/dartd.yaml
mkdir -p /var/lib/dart

# The points of documented.py are numbered again, after the points above.
while read -r word number dash rest; do
	case $word in
	ok) point ok "$rest" ;;
	not) point "not ok" "${rest#- }" ;;
	'#') echo "# $number $dash $rest" ;;
	esac
done < <(/usr/bin/python3 "$documented" run 2>&1)
cd / || exit
check "the agent stops" host_down
umount /etc/hosts 2>/dev/null
rmdir /sys/fs/cgroup/system.slice /sys/fs/cgroup/kubepods.slice 2>/dev/null
rm -rf /sys/fs/bpf/mine /sys/fs/bpf/load $work
# Later tests need these addresses unreachable, and bring their own keys.
for address in 192.0.2.1 192.0.2.2; do
	ip address delete $address/24 dev eth0
done
finish
