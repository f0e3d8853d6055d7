# SPDX-License-Identifier: GPL-2.0-only
# Redis-servers scraped and asked (tools/bench/applications), a table for each part that was measured
include "figures";

def method: {gathering: "fields gathered", fields: "fields gathered", all: "all values gathered",
	read: "fields by READ", rpc: "fields by rpc", one: "INFO, one after the other",
	together: "INFO, all together", asked: "INFO, one after the other",
	netdata: "Netdata, without Redis"}[.] // .;
def four: . * 10000 | round / 10000;
def percent: . * 100 | three;
def ms: if . then . / 1e6 | three else "-" end;
def us: thousands;
def part($rows; $title; rows_of): if $rows | length > 0 then "", $title, "", rows_of else empty end;

"\(origin), redis-servers of Debian in guests of \(.cpus) CPUs, medians of \(.rounds) rounds.",
part(.counted; "Instructions of all tasks for each command, every 100 ms:";
	.counted | map([(.method | method), (.instructions.median | round | grouped),
		(.ratio | (.median | four), "\(.min | four) to \(.max | four)"),
		(.redis.median | round | grouped),
		(if .pass then .pass.median | round | grouped else "-" end),
		(if .pass then .agent.median | round | grouped else "-" end)]) |
	table(["", "instructions", "beside nobody", "least and most", "of the server",
		"pass of the module", "dartd, each 100 ms"])),
part(.figure; "Servers that have nothing else to do (figure 7):";
	.figure | map([(.method | method), .servers, .interval, (.cpu.median | percent),
		(.cpu.agent | percent), (.p50_ns.median | ms)]) |
	table(["", "servers", "interval", "CPU, %", "of it dartd, %", "latency, ms"])),
part(.load; "Load, as fast as the servers answer:";
	.load | map([(.method | method), .interval, (.redis_ns.median | us), (.p99_ns.median | us)]) |
	table(["", "interval", "CPU of a command, µs", "99th percentile, µs"])),
part(.compared; "Values beside INFO:";
	.compared | map([.interval, .servers, .scrapes, (.counters | grouped), ((.gauges // 0) | grouped),
		.outside]) |
	table(["interval", "servers", "scrapes", "counters", "gauges", "outside"])),
(.crowd // {} | select(.servers) | "",
	"\(.servers) servers, which are followed together: all are in the list after \(.listed_ns | ms) ms, and in a",
	"scrape after \(.seen_ns | ms) ms; the table has changed \(.changes) times.")
