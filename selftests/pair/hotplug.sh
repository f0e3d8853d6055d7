#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# While CPUs go offline and online, scraped values agree with the kernel and never decrease.
. "$(dirname "$0")/../lib.sh"

# scraped: waits for three more scrapes
scraped() {
	tail -n 0 -F /run/scrapes 2>/dev/null | sed 3q >/dev/null
}

# switch_cpu NUMBER 0|1: on the host
switch_cpu() {
	echo "$2" >"/sys/devices/system/cpu/cpu$1/online"
}

# The events of a CPU that goes offline move to another CPU: only their sum grows.
never_backwards() {
	jq -n -e '
		def grows: {
			cpustat: .entries.cpustat.cpus,
			softnet: .entries.softnet.cpus,
			vmstat: .entries.vmstat.sum
		};
		reduce (inputs | select(.entries) | grows) as $next (null;
			. as $last | [$next | paths(numbers) | select(
				. as $path | ($next | getpath($path)) <
					($last | getpath($path)))] |
			if . == [] then $next
			else error("backwards: \(.)") end
		) | .cpustat' /run/scrapes
}

if [ $# -gt 0 ]; then
	"$@"
	exit
fi

rdma_up
check "the host serves snapshots of its /proc files" \
	on host until_ready /run/snapshots.log snapshots 4793 true
check "the agent starts" on host host_up
for source in cpustat vmstat softnet; do
	check "the source $source is registered" \
		on host dartctl register source $source
done
on host setsid sh -c 'while :; do
	dd if=/proc/kallsyms of=/dev/null; dd if=/dev/zero of=/dev/null count=999
done >/dev/null 2>&1 &'

mkfifo /run/switched
dart-controller --interval 100ms --json --entries cpustat,vmstat,softnet host \
	>/run/switched &
controller=$!
tee /run/scrapes </run/switched | compare host 4793 >/run/report &
comparison=$!

last=$(($(on host getconf _NPROCESSORS_CONF) - 1))
check "the host has a CPU that can go offline" [ $last -ge 1 ]
for round in first second; do
	for cpu in $(seq $last); do
		check "$round round: CPU $cpu goes offline while it is scraped" \
			on host "$0" switch_cpu "$cpu" 0
		scraped
	done
	for cpu in $(seq $last); do
		check "$round round: CPU $cpu goes online while it is scraped" \
			on host "$0" switch_cpu "$cpu" 1
		scraped
	done
done

kill -INT $controller
check "every value lies between two snapshots of the kernel's" wait $comparison
check "values of cpustat, vmstat and softnet were compared" is_true '.comparisons |
	.cpustat > 0 and .vmstat > 0 and .softnet > 0' /run/report
check "no value decreases while CPUs go offline and online" never_backwards
check "the agent stops" on host host_down
on host pkill -f kallsyms
on host pkill snapshots
finish
