# SPDX-License-Identifier: GPL-2.0-only
# The goals of all results, which come by the names of their files: a table of Markdown, or with the
# argument "rows" an array of objects, in which "within" is how many times the result of another run
# of "make bench" may be larger or smaller: 1.1 for instructions, 1.5 for times. Of a time, "beside" is
# the peer in the same run: machines sleep, and wait for memory, longer at one time than at another.
include "figures";

def of($name): to_entries[] | select(.key | test("^\($name)(-\\d+)?$")) | .value;
# A goal of results: $least or $most is null.
def goal($what; $least; $most; $got; $from; $to; $unit): . as $results |
	{what: $what, $least, $most, $got, from: ($from // $got), to: ($to // $got), $unit,
		commit: ($results.commit // "of no name"),
		is_met: ($got >= ($least // $got) and $got <= ($most // $got))};

# With four digits, which tell 1.004 from 1.005
def four:
	if . == 0 then "0"
	else pow(10; 3 - (fabs | log10 | floor)) as $scale |
		(if fabs >= 1000 then round else . * $scale | round / $scale end) | grouped
	end;

[
	(((of("gathering") as $r | $r.results[] as $row | $r |
		goal("a pass over \($row.what) of \(.cpus) CPUs, times below open files";
			if .cpus <= 8 then 20 else 5 end; null;
			$row.parsed_ratio; $row.parsed_ratio_min; $row.parsed_ratio_max; "")),
	(of("ways") as $r | $r.results[] as $row | $r |
		goal("programs over \($row.set) of \(.cpus) CPUs, times the module";
			null; 1.5; $row.programs.pass / $row.module.pass; null; null; ""),
		goal("programs over \($row.set) of \(.cpus) CPUs, times below open files";
			8; null; $row.files.parsed / $row.programs.pass; null; null; "")),
	(of("runs") |
		goal("programs under RCU, \(.cgroups | grouped) cgroups, \(.cpus) CPUs";
			null; 200; .longest / 1000; .median / 1000; .longest / 1000;
			" thousand instructions"),
		goal("programs under RCU, \(.namespaces | grouped) network namespaces";
			null; 200; ([.listing.longest, .finding.longest] | max / 1000);
			([.listing.median, .finding.median] | max / 1000);
			([.listing.longest, .finding.longest] | max / 1000);
			" thousand instructions")),
	(of("objects") as $r | $r.results[] as $row | $r |
		goal("\($row.what), \($row.count | grouped) objects"; null; $row.goal_ns / 1e6;
			$row.ns / 1e6; null; null; " million instructions")),
	(of("preload") as $r | $r.results[] as $row | $r |
		goal("redis-server with libdartzero-preload, \($row.commands), times without";
			null; 1.03; $row.ratio; null; null; "")),
	(of("applications") as $r | $r.counted[] |
		select(.method | . != "nobody" and . != "asked") as $row | $r |
		goal("a command of redis-server while \($row.method) is gathered, times without";
			null; 1.005; $row.ratio.median; $row.ratio.min; $row.ratio.max; "")),
	(of("first_values") as $r | $r |
		goal("the first value of a further slice, times a bare update"; null; 1.5;
			.shared.median_ns / .bare.median_ns; null; null; ""),
		goal("the first value of a slice in new memory, times a bare update"; null; 1.5;
			.own.median_ns / .bare.median_ns; null; null; ""))) | .within = 1.1),
	(((of("scrapes") as $r | $r.results[] |
		({"10000 1000000000": 5, "1000 100000000": 3}["\(.targets) \(.interval_ns)"] //
			empty) as $most | . as $row | $r |
		(goal("the I/O thread for a scrape of \($row.targets | grouped) targets";
			null; $most; $row.ns.io / 1000; null; null; " us") | .beside = $row.ns.bare_io),
		(goal("a worker for a scrape of \($row.targets | grouped) targets";
			null; 4; $row.ns.worker / 1000; null; null; " us") | .beside = $row.ns.memcpy)),
	(of("outputs") as $r | $r.outputs[] as $row | $r |
		if $row.output == "decode" then
			goal("decoding of 400,000 samples a second"; null; 0.04;
				$row.cpu_s_per_s * 400000 / ($row.samples / .seconds); null; null; " CPUs") |
			.beside = ($r.outputs[] | select(.output == "json").cpu_s_per_s)
		elif $row.output == "remote_write_2" then
			goal("a sample by remote write"; null; 6; $row.bytes_per_sample; null; null; " bytes")
		else empty end),
	(of("store") as $r | $r.stores[] as $store | $store.results[] as $row | $r |
		select($store.keys == "uniform" and ($row.name | test("^(query|ingest)"))) |
		goal("\($row.name), N = \($store.redundancy), slots of \($store.slot_length) bytes, \($store.pages) pages, of the bound";
			0.9; null; $row.of_bound.median; $row.of_bound.min; $row.of_bound.max; "")),
	(of("xdp_reporter") as $r | $r.runs[] as $row | $r |
		goal("the XDP reporter for a report, collectors: \($row.collectors), beyond XDP_TX"; null; 90;
			$row.own_ns.median; $row.own_ns.min; $row.own_ns.max; " ns") |
		.beside = $row.xdp_tx_ns.median)) | .within = 1.5)
] | sort_by(.is_met) |
if $ARGS.named.rows then .
else
	map([.what, (if .least then "≥ \(.least | grouped)" else "≤ \(.most | grouped)" end + .unit),
		(.got | four), (if .from == .to then "" else "\(.from | four) to \(.to | four)" end),
		(if .is_met then "" else "missed" end), .commit]) |
	table(["", "goal", "got", "rounds", "", "commit"])
end
