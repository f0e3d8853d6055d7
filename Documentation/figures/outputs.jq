# SPDX-License-Identifier: GPL-2.0-only
# CPU time and bytes of each output of the controller (tools/bench/outputs)
include "figures";

def of_reader: {
	decode: "none, only decoded", json: "JSON lines", listen: "`listen`, OpenMetrics",
	"listen gzip": "`listen`, compressed by gzip", remote_write_1: "remote write 1.0",
	remote_write_2: "remote write 2.0", influx: "InfluxDB's lines, gzip", otlp: "OTLP/HTTP, gzip"
}[.] // .;

"Commit \(.commit // "of no name"), \(.hosts) hosts, \(.seconds) s for each output:",
"",
(.outputs | map([(.output | of_reader), (.cpu_s_per_s | three),
		if .output == "decode" then "" else .bytes_per_sample | three end, .dropped]) |
	table(["output", "CPU s each s", "bytes for each sample", "lost"]))
