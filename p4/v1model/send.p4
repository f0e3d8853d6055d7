// SPDX-License-Identifier: GPL-2.0-only
/*
 * From a report to its WRITEs, for v1model: its collector in ingress, and egress of mirrored packets.
 * The program defines metadata_t, with the report, and MIRRORED, the number of its field list.
 */
#ifndef DART_V1MODEL_SEND_P4
#define DART_V1MODEL_SEND_P4

#include "headers.p4"
#include "icrc.p4"
#include "sequence.p4"

/* The ICRC of a report or a probe. */
control Icrc(inout headers_t headers)
{
	bit<32> crc;

	apply {
		if (headers.slot8.isValid())
			ICRC_OF(crc, BEFORE_SLOT(headers),
				headers.slot8.checksum, headers.slot8.value,
				headers.slot8.pad);
		else if (headers.slot16.isValid())
			ICRC_OF(crc, BEFORE_SLOT(headers),
				headers.slot16.checksum, headers.slot16.value,
				headers.slot16.pad);
		else if (headers.slot32.isValid())
			ICRC_OF(crc, BEFORE_SLOT(headers),
				headers.slot32.checksum,
				headers.slot32.value);
		else if (headers.slot64.isValid())
			ICRC_OF(crc, BEFORE_SLOT(headers),
				headers.slot64.checksum,
				headers.slot64.value);
		else
			ICRC_OF(crc, BEFORE_SLOT(headers));
		headers.icrc.icrc = crc[7:0] ++ crc[15:8] ++ crc[23:16] ++
				    crc[31:24];
	}
}

#include "shared/write.p4"

/* Finds the collector of the share of a report. */
control FindShare(inout report_t report, out bool is_assigned)
{
	@name(".dart_assign")
	action assign(bit<8> collector, bit<16> session)
	{
		report.collector = collector;
		report.session = session;
	}

	@name(".dart_share")
	table share {
		key = { report.share : exact @name("metadata.report.share"); }
		actions = { assign; NoAction; }
		default_action = NoAction;
		size = DART_STORE_SHARES;
	}

	apply {
		is_assigned = share.apply().hit;
	}
}

/* Turns the packet into its report, and mirrors it again if another copy is to be sent. */
control SendReport(inout headers_t headers, inout metadata_t metadata,
		   inout standard_metadata_t standard)
{
	WriteReport() write_report;
	RemoveExtras() remove_extras;
	bit<48> source_mac = 0;
	bit<32> source = 0;
	bit<8> checksum_bytes = 0;
	bit<8> all_copies = 0;
	bit<8> redundancy;
	bit<32> frame_bytes;
	bool is_reliable;
	bool is_probe;
	bool written;

	@name(".dart_reports")
	counter(COLLECTOR_ENTRIES, CounterType.packets) reports;

	@name(".dart_report_from")
	action report_from(bit<48> mac, bit<32> ip, bit<8> bytes, bit<8> all)
	{
		source_mac = mac;
		source = ip;
		checksum_bytes = bytes;
		all_copies = all;
	}

	@name(".dart_reporter")
	table reporter {
		actions = { report_from; NoAction; }
		default_action = NoAction;
	}

	/* @first_psn: for the control plane, which tells queue pairs apart by it. */
	@noWarn("unused")
	@name(".dart_reliable")
	action reliable(bit<24> first_psn)
	{
		is_reliable = true;
	}

	/* Collectors with reliable connections. */
	@name(".dart_connection")
	table connection {
		key = { metadata.report.collector : exact @name("collector"); }
		actions = { reliable; NoAction; }
		default_action = NoAction;
		size = COLLECTOR_ENTRIES;
	}

	apply {
		reporter.apply();
		if (checksum_bytes == 0) {
			mark_to_drop(standard);
			return;
		}
		is_reliable = false;
		connection.apply();
		write_report.apply(headers, metadata.report, all_copies,
				   source_mac, source, checksum_bytes,
				   is_reliable,
				   standard.egress_global_timestamp,
				   redundancy, frame_bytes, is_probe, written);
		if (!written) {
			mark_to_drop(standard);
			return;
		}
		remove_extras.apply(headers);
		truncate(frame_bytes);
		if (!is_probe) {
			reports.count((bit<32>)metadata.report.collector);
			metadata.report.copy = metadata.report.copy + 1;
		}
		if (is_probe || (all_copies == 1 &&
				 metadata.report.copy < redundancy))
			clone_preserving_field_list(CloneType.E2E,
				(bit<32>)metadata.report.session, MIRRORED);
	}
}

#endif /* DART_V1MODEL_SEND_P4 */
