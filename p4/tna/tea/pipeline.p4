// SPDX-License-Identifier: GPL-2.0-only
/*
 * A switch with a network function whose lookup table lies in the memory of servers,
 * for Tofino: see Documentation/p4.md.  The program that includes this defines
 * TEA_KEY_BYTES, TEA_VALUE_BYTES, TEA_VALUE and FunctionApply.  Differences from the
 * program for BMv2:
 *
 *   keys   are flows; rows have 2 cells in a bucket packets   to be looked up have no IPv4
 *   options, and end with 4 to 7 bytes after their
 *		  IP datagram: see request.p4
 *   ICRC	  servers do not check it in WRITEs; not checked in responses
 *   limit	  of READs that wait: 16
 *   time-out	  none: the control plane looks for queue pairs that stand still
 *   replicas	  take lookups when the port of the first server has no link, or its
 *		  meter is not green
 *   PSNs	  in registers are 256 * PSN + 1
 */
#ifndef DART_TNA_TEA_PIPELINE_P4
#define DART_TNA_TEA_PIPELINE_P4

#include "headers.p4"
#include "shared/tea/outcome.p4"

#define MIRROR_RESPONSE	3w1
#define DIGEST_POPULAR	3w1

struct ingress_t {
	tea_key_t key;
	bool is_damaged;	/* the IPv4 header */
	bool is_changed;	/* the packet, by the function */
	bool has_udp_checksum;	/* and the switch must change it */
	bit<16> l4_rest;	/* of the sum, without fields that may change */
	bit<8> loop;		/* of a clone, also to be made */
	bit<8> server;
	bit<32> psn;		/* of a response */
	bit<32> end;		/* of the PSNs that may be taken, after it */
	bit<10> session;
}

struct egress_t {
	bit<8> unused;
}

#include "parser.p4"
#include "ingress.p4"
#include "egress.p4"

Pipeline(TeaIngressParser(), TeaIngress(), TeaIngressDeparser(),
	 TeaEgressParser(), TeaEgress(), TeaEgressDeparser()) pipeline;

Switch(pipeline) main;

#endif /* DART_TNA_TEA_PIPELINE_P4 */
