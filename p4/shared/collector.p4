// SPDX-License-Identifier: GPL-2.0-only
/* Finds the collector that a report is sent to. */
#ifndef DART_COLLECTOR_P4
#define DART_COLLECTOR_P4

#include "headers.p4"
#include "sizes.p4"

struct collector_t {
	bit<64> base;
	bit<32> mask;		/* slots - 1 */
	bit<8> redundancy;	/* 0: no such collector */
}

/* Arrays by collector have COLLECTOR_ENTRIES elements; higher numbers are not in use. */
control FindCollector(inout headers_t headers, in bit<8> number,
		      out collector_t collector)
{
	@name(".dart_send_to")
	action send_to(bit<48> mac, bit<32> ip, bit<24> qpn, bit<32> rkey,
		       bit<64> base, bit<32> mask, bit<8> redundancy)
	{
		headers.ethernet.destination = mac;
		headers.ipv4.setValid();
		headers.ipv4.destination = ip;
		headers.bth.setValid();
		headers.bth.queue_pair = qpn;
		headers.reth.setValid();
		headers.reth.rkey = rkey;
		collector.base = base;
		collector.mask = mask;
		collector.redundancy = redundancy;
	}

	@name(".dart_collector")
	table collectors {
		key = { number : exact @name("collector"); }
		actions = { send_to; NoAction; }
		default_action = NoAction;
		size = COLLECTOR_ENTRIES;
	}

	apply {
		collector.base = 0;
		collector.mask = 0;
		collector.redundancy = 0;
		if (number < COLLECTOR_ENTRIES)
			collectors.apply();
	}
}

#endif /* DART_COLLECTOR_P4 */
