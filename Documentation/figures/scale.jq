# SPDX-License-Identifier: GPL-2.0-only
# The controller's flow control in virtual time (papers/zero/scale)
include "figures";

def percent: . * 100 | three;
def one($rows; $flow; $hosts): $rows[] | select(.flow == $flow and .hosts == $hosts);

(.clusters | map(select(.network == "25GbE"))) as $slow |
(.clusters | map(select(.network == "200GbE"))) as $fast |
"At 25 Gbit/s: share of the time that PFC pauses, %, and how long a packet of another service waits",
"in its machine for that, mean, us (commit \(.commit)):",
"",
([64, 128, 256, 512, 1024] | map(. as $hosts | [$hosts | grouped] +
	(["credit", "bdp", "none"] | map(one($slow; .; $hosts) |
		(.paused | percent), (.service_mean_us | three)))) |
	table(["hosts", "credit: paused", "waits", "product: paused", "waits",
		"none: paused", "waits"])),
"",
"At 200 Gbit/s: share of the bandwidth, %, and of packets that are marked, %:",
"",
([64, 128, 256, 512, 1024] | map(. as $hosts | [$hosts | grouped] +
	(["credit", "credit-fetching", "groups-fetching", "none"] | map(one($fast; .; $hosts) |
		(.bandwidth | percent), (.marked | percent)))) |
	table(["hosts", "credit: bandwidth", "marked", "fetching: bandwidth", "marked",
		"groups, fetching: bandwidth", "marked", "none: bandwidth", "marked"])),
"",
"1,024 hosts at 200 Gbit/s, by the credit of all: share of the bandwidth, %, and of marked packets:",
"",
(.thresholds | group_by(.credit_kb) | map(
	(map({(.flow): .}) | add) as $at | [.[0].credit_kb | grouped] +
	[$at.credit.bandwidth, $at.credit.marked, $at["credit-fetching"].bandwidth,
		$at["groups-fetching"].bandwidth | percent]) |
	table(["credit, kB", "credit", "marked", "fetching", "groups, fetching"])),
"",
"128 hosts of 256 KiB, CPU time of the controller, %:",
"",
(.io | map(select(.hosts == "128 hosts" and .threads != "hybrid")) | group_by(.interval_ms) |
	map((map({(.threads): .}) | add) as $at |
		["\(.[0].interval_ms) ms", ($at.poll.cpu | percent), ($at.event.cpu | percent)]) |
	table(["interval", "polling", "events"])),
"",
"10,000 hosts with 256 KiB of credit, at different times of the interval, and each link loaded by:",
"",
(.fleet | map(select(.hosts == 10000) |
	["\(.gbit_s) Gbit/s", "\(.bytes / 1024) KiB", "\(.interval_ms) ms", (.bandwidth | percent),
		(.mean_us | three), (.p99_us | three), (.first_class_us | three),
		(.queue_kb | three)]) |
	table(["link", "a host", "interval", "load, %", "mean, us", "99th percentile, us",
		"first class, us", "queue, kB"]))
