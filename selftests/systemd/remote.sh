#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A host that boots with the service enabled serves remote controllers and reporters,
# in the sandbox of the unit.
. "$(dirname "$0")/../lib.sh"

# In the order of jq.
entries=cgroup:cpu@/system.slice/dartd.service+1s,cpustat+1s,dartd
entries=$entries,netdev:link@eth0+1s,snmp:tcp+1s,tcp

# scrape FILTER: waits until this makes something of the last line of the controller
scrape() {
	local end=$((SECONDS + patience))

	while [ "$SECONDS" -lt "$end" ]; do
		tail -n 2 /run/lines | head -n 1 |
			gojq -er "select(.entries) | $1 // empty" && return
		sleep 0.5
	done
	sed 's/^/# /' /run/controller.log
	return 1
}

# property NAME: of the service
property() {
	systemctl show --property "$1" --value dartd.service
}

# report COLLECTORS: the remote machine reports 1024 keys to the store
report() {
	on controller sh -c "echo '$1' >/run/paths.json &&
		dart-report -i eth0 -c /run/paths.json -f uniform -n 1024 --copies all"
}

echo 'host: {gather: 1s}' >/etc/dart/dartd.yaml
on controller rdma_up
on controller dart-controller --json --interval 100ms --entries "$entries" main \
	>/run/lines 2>/run/controller.log &
controller=$!
check "the service is enabled" systemctl enable --runtime dartd.service
check "the boot target is reached" systemctl start multi-user.target
check "the boot target starts the service" [ "$(property ActiveState)" = active ]
check "the first scrape of a remote controller has the host that the configuration registers" \
	[ "$(scrape true >/dev/null; grep -m 1 '"entries":' /run/lines |
		gojq -r '.entries | keys | join(",")')" = "$entries" ]

check "a store is created" dartctl store create paths --slots 2^12 --value 20
check "a remote reporter is added" dartctl reporter add paths 10.77.0.2
check "the remote reporter reports 1024 keys" \
	report "$(dartctl store export paths | gojq -c .)"
check "the reports reach the store" \
	sh -c "dartctl -j store show paths | is_true '.written > 0.3'"

started='.entries.dartd.rows[0].start_boottime'
before=$(scrape "$started")
check "dartd is killed" systemctl kill --signal KILL dartd.service
check "the remote controller scrapes the dartd that systemd starts" \
	scrape "select($started > $before)"
check "the next dartd has the reports" \
	sh -c "dartctl -j store show paths | is_true '.written > 0.3'"
kill $controller
check "the service stops" systemctl stop dartd.service
systemctl disable --runtime dartd.service
rm /run/lines /run/controller.log
finish
