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

# Samples name CPU 1 and mark the source that lags there.
marked() {
	gojq -n -e '[inputs | select(.entries)] | length > 0 and all(
		.nohz_full == "1" and .entries.cpustat.lags_on_nohz_full and
		(.entries.vmstat | has("lags_on_nohz_full") | not))' /run/scrapes
}

shows_lag() {
	on host dartctl show cpustat | grep -qx 'CPUs of nohz_full= lag and jump: 1' &&
		! on host dartctl show vmstat | grep nohz_full
}

# The events of a CPU that goes offline move to another CPU: only their sum grows.
never_backwards() {
	gojq -n -e '
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
# The text of a kernel with nohz_full=1; a kernel without CONFIG_NO_HZ_FULL lacks the file.
nohz_full=/sys/devices/system/cpu/nohz_full
if on host [ -e $nohz_full ]; then
	on host sh -c "echo 1 >/run/nohz_full && mount --bind /run/nohz_full $nohz_full"
else
	nohz_full=
fi
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
if [ "$nohz_full" ]; then
	check "samples name the CPUs of nohz_full= and mark the sources that lag there" \
		marked
	check "dartctl says which CPUs of a lagging entry lag" shows_lag
	on host umount $nohz_full
fi
check "the agent stops" on host host_down
on host pkill -f kallsyms
on host pkill snapshots
finish
