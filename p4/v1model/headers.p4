// SPDX-License-Identifier: GPL-2.0-only
/* All headers, including headers that not every architecture can parse like this. */
#ifndef DART_V1MODEL_HEADERS_P4
#define DART_V1MODEL_HEADERS_P4

#include "shared/headers.p4"

header ipv4_options_h {
	varbit<320> options;
}

header hop_h {
	bit<32> node;
	varbit<960> rest;	/* other metadata that the instructions select */
}

header int_tail_h {
	varbit<8064> hops;	/* the first hops of a long path */
}

struct headers_t {
	ethernet_h ethernet;
	ipv4_h ipv4;
	ipv4_options_h ipv4_options;
	ipv6_h ipv6;
	udp_h udp;
	int_shim_h int_shim;
	int_md_h int_md;
	hop_h[HOPS] hop;
	int_tail_h int_tail;
	ports_h ports;
	bth_h bth;
	reth_h reth;
	slot8_h slot8;
	slot16_h slot16;
	slot32_h slot32;
	slot64_h slot64;
	icrc_h icrc;
}

#endif /* DART_V1MODEL_HEADERS_P4 */
