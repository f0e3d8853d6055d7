// SPDX-License-Identifier: GPL-2.0-only
/*
 * A switch that reports telemetry into the memory of collectors, for Tofino:
 * see Documentation/p4.md.  Differences from the program for BMv2:
 *
 *   INT         hops are node IDs only, at most 5; other INT stays in the packet,
 *               which is forwarded
 *   options     of IPv4: the checksum of the header is not verified, so that the
 *               packet is only forwarded
 *   checksums   of keys are 32 bits long; with others nothing is reported
 *   copies      all copies come from a mirror session to a multicast group, whose
 *               member for copy n has replication ID n
 *   clones      the mirror session cuts them to CLONE_BYTES
 *   egress      only clones and packets to be measured pass it
 */
#include <core.p4>
#include <tna.p4>

#include <dart/store.h>

#include "ingress.p4"

struct reporter_t {
	bit<48> mac;
	bit<32> ip;
	bit<8> checksum_bytes;	/* 0: the reporter is not set */
	bit<8> all_copies;
}

#include "write.p4"

control DartEgress(inout headers_t headers, inout egress_t metadata,
		   in egress_intrinsic_metadata_t intrinsic,
		   in egress_intrinsic_metadata_from_parser_t parser_metadata,
		   inout egress_intrinsic_metadata_for_deparser_t
			deparser_metadata,
		   inout egress_intrinsic_metadata_for_output_port_t
			port_metadata)
{
	WriteReport() write_report;
	reporter_t reporter;

	@name(".dart_reports")
	Counter<bit<32>, bit<8>>(COLLECTOR_ENTRIES,
				 CounterType_t.PACKETS) reports;

	@name(".dart_report_from")
	action report_from(bit<48> mac, bit<32> ip, bit<8> checksum_bytes,
			   bit<8> all_copies)
	{
		reporter.mac = mac;
		reporter.ip = ip;
		reporter.checksum_bytes = checksum_bytes;
		reporter.all_copies = all_copies;
	}

	@name(".dart_reporter")
	table reporters {
		actions = { report_from; NoAction; }
		default_action = NoAction;
		size = 1;
	}

	action measure()
	{
		metadata.egress_port = (bit<16>)intrinsic.egress_port;
		metadata.latency = (bit<32>)intrinsic.deq_timedelta;
		metadata.queue = (bit<32>)intrinsic.deq_qdepth;
		metadata.time = (bit<64>)parser_metadata.global_tstamp;
		metadata.session = headers.measured.session[9:0];
		deparser_metadata.mirror_type = MIRROR_REPORT;
	}

	apply {
		metadata.is_report = false;
		reporter = { 0, 0, 0, 0 };
		if (headers.measured.isValid()) {
			measure();
		} else {
			reporters.apply();
			write_report.apply(headers, metadata.key, reporter,
					   intrinsic.egress_rid[7:0],
					   metadata.is_report);
			if (metadata.is_report)
				reports.count(headers.clone.collector);
			else
				deparser_metadata.drop_ctl = 1;
		}
	}
}

Pipeline(DartIngressParser(), DartIngress(), DartIngressDeparser(),
	 DartEgressParser(), DartEgress(), DartEgressDeparser()) pipeline;

Switch(pipeline) main;
