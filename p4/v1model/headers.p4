// SPDX-License-Identifier: GPL-2.0-only
/* All headers, including headers that not every architecture can parse like this. */
#ifndef DART_V1MODEL_HEADERS_P4
#define DART_V1MODEL_HEADERS_P4

#include "shared/headers.p4"
#include "shared/rdma/headers.p4"

header ipv4_options_h {
	varbit<320> options;
}

/* Hop-by-hop options, destination options or a routing header of IPv6. */
header extension_h {
	bit<8> next_header;
	bit<8> words;		/* of 8 bytes, after the first */
	varbit<16368> rest;
}

header hop_h {
	bit<32> node;
	varbit<960> rest;	/* other metadata that the instructions select */
}

header int_tail_h {
	varbit<8064> hops;	/* the first hops of a long path */
}

/* The headers around a packet, which its program may replace by its own. */
#ifndef HEADERS_IN_FRONT
#define HEADERS_IN_FRONT
#define HEADERS_BEHIND							\
	bth_h bth;							\
	reth_h reth;							\
	aeth_h aeth;							\
	slot8_h slot8;							\
	slot16_h slot16;						\
	slot32_h slot32;						\
	slot64_h slot64;						\
	icrc_h icrc;
#endif

struct headers_t {
	HEADERS_IN_FRONT
	ethernet_h ethernet;
	tag_h outer_tag;
	tag_h inner_tag;
	ipv4_h ipv4;
	ipv4_options_h ipv4_options;
	ipv6_h ipv6;
	extension_h[EXTENSIONS] extensions;
	udp_h udp;
	int_shim_h int_shim;
	int_md_h int_md;
	hop_h[HOPS] hop;
	int_tail_h int_tail;
	ports_h ports;
	HEADERS_BEHIND
}

/* The protocol after IPv6 and its extension headers; translators need no flows. */
@noWarn("unused")
control Ipv6Protocol(in headers_t headers, out bit<8> protocol)
{
	apply {
		protocol = headers.ipv6.next_header;
		if (headers.extensions[0].isValid())
			protocol = headers.extensions[0].next_header;
		if (headers.extensions[1].isValid())
			protocol = headers.extensions[1].next_header;
		if (headers.extensions[2].isValid())
			protocol = headers.extensions[2].next_header;
		if (headers.extensions[3].isValid())
			protocol = headers.extensions[3].next_header;
	}
}

/* For a report, whose frame begins with Ethernet and IPv4 alone. */
control RemoveExtras(inout headers_t headers)
{
	apply {
		headers.outer_tag.setInvalid();
		headers.inner_tag.setInvalid();
		headers.ipv4_options.setInvalid();
		headers.extensions[0].setInvalid();
		headers.extensions[1].setInvalid();
		headers.extensions[2].setInvalid();
		headers.extensions[3].setInvalid();
	}
}

#endif /* DART_V1MODEL_HEADERS_P4 */
