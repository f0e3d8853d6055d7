// SPDX-License-Identifier: GPL-2.0-only
/*
 * A stateful firewall: a packet passes if the state of its connection permits.  The
 * lookup table has an entry for each direction of a connection; a flow without an entry
 * is closed.  See schemas/firewall.yaml; and with TEA_IPV6, schemas/firewall6.yaml.
 */
#ifdef TEA_IPV6
#define TEA_KEY_BYTES	37
#else
#define TEA_KEY_BYTES	13
#endif
#define TEA_VALUE_BYTES	1
#include <tea/headers.p4>
#ifdef TEA_IPV6
#include "flow6.p4"
#else
#include "flow.p4"
#endif

/* The value: the state of the connection. */
#define STATE_CLOSED		8w0
#define STATE_OPENING		8w1	/* only the answer to a SYN may pass */
#define STATE_ESTABLISHED	8w2	/* all but a new SYN may pass */
#define STATE_OPEN		8w3	/* all may pass */
/* All may pass but SYN, FIN and RST, about which the control plane decides. */
#define STATE_TRACKED		8w4

#define TCP_FIN	0x01
#define TCP_SYN	0x02
#define TCP_RST	0x04
#define TCP_ACK	0x10

control FunctionKey(in headers_t headers, out bit<TEA_KEY_BITS> key,
		    out bool there)
{
	FlowOfPacket() flow;

	apply {
		flow.apply(headers, key, there);
	}
}

control FunctionApply(inout headers_t headers, in bit<TEA_VALUE_BITS> value,
		      out bool drop, out bool defer)
{
	bit<16> syn_ack;
	bit<16> rst;
	bit<16> ends;

	apply {
		syn_ack = headers.tcp.flags & (TCP_SYN | TCP_ACK);
		rst = headers.tcp.flags & TCP_RST;
		ends = headers.tcp.flags & (TCP_SYN | TCP_FIN | TCP_RST);
		drop = true;
		defer = false;
		if (value == STATE_OPEN)
			drop = false;
		else if (!headers.tcp.isValid())
			drop = value != STATE_ESTABLISHED;
		else if (value == STATE_OPENING)
			drop = syn_ack != (TCP_SYN | TCP_ACK) && rst == 0;
		else if (value == STATE_ESTABLISHED)
			drop = syn_ack == TCP_SYN;
		else if (value == STATE_TRACKED) {
			drop = false;
			defer = ends != 0;
		}
	}
}
