#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# CPUs go and come back while a controller scrapes: every value lies between
# what the kernel said before and after, and nothing ever counts backwards.
. "$(dirname "$0")/../lib.sh"

# Returns when three more scrapes have come.
scraped() {
	tail -n 0 -F /run/scrapes 2>/dev/null | sed 3q >/dev/null
}

# Runs on the host. switch_cpu NUMBER 0|1
switch_cpu() {
	echo "$2" >"/sys/devices/system/cpu/cpu$1/online"
}

# Events of a CPU that goes are counted on by another: only their sum grows.
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
check "snapshots are served" on host until_ready /run/snapshots.log \
	snapshots 4793 true
check "the agent starts" on host host_up
for source in cpustat vmstat softnet; do
	check "$source is registered" on host dartctl register source $source
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
check "there are CPUs to switch" [ $last -ge 1 ]
for round in first second; do
	for cpu in $(seq $last); do
		check "$round: CPU $cpu goes" on host "$0" switch_cpu "$cpu" 0
		scraped
	done
	for cpu in $(seq $last); do
		check "$round: CPU $cpu comes back" on host "$0" switch_cpu "$cpu" 1
		scraped
	done
done

kill -INT $controller
check "every value lies between" wait $comparison
check "of all three" is_true '.comparisons |
	.cpustat > 0 and .vmstat > 0 and .softnet > 0' /run/report
check "nothing counts backwards" never_backwards
check "the agent ends" on host host_down
on host pkill -f kallsyms
on host pkill snapshots
finish
