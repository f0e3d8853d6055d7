// SPDX-License-Identifier: GPL-2.0-only
/*
 * A VPN gateway: moves packets for a virtual machine of a customer from the customer's
 * tunnel into the tunnel to the server that runs the machine.  The lookup table has an
 * entry for each machine: see schemas/gateway.yaml.
 *
 * The file of the architecture defines TunnelHash first.
 */
#define TEA_KEY_BYTES	7
#define TEA_VALUE_BYTES	7
#define TEA_MTU		16w1500	/* tunnels must not be fragmented */
#include "vxlan.p4"
#include <tea/headers.p4>
#include "words.p4"

/* The key: VNI of the customer's tunnel (3 bytes), address of the machine (4). */
control FunctionKey(in headers_t headers, out bit<TEA_KEY_BITS> key,
		    out bool there)
{
	apply {
		there = headers.inner_ipv4.isValid();
		key = headers.vxlan.vni ++ headers.inner_ipv4.destination;
	}
}

/*
 * The value: address of the server (4 bytes), VNI of the tunnel to it (3).
 *
 * The source port depends on the one that the packet had and on the hosts inside, so that
 * routers spread the flows of a tunnel (RFC 7348, section 5).
 */
control FunctionApply(inout headers_t headers, in bit<TEA_VALUE_BITS> value,
		      out bool drop, out bool defer)
{
	AdjustWords() adjust_ip;
	AdjustWords() adjust_address;
	AdjustWords() adjust_vni;
	TunnelHash() tunnel_hash;
	bit<32> address;
	bit<24> vni;
	bit<14> low;
	bit<16> port;

	apply {
		drop = false;
		defer = false;
		tunnel_hash.apply(headers.udp.source, headers.inner_ipv4.source,
				  headers.inner_ipv4.destination,
				  headers.inner_ipv4.protocol, low);
		port = 2w3 ++ low;
		address = value[55:24];
		vni = value[23:0];
		adjust_ip.apply(headers.ipv4.checksum,
				headers.ipv4.destination ++ 16w0,
				address ++ 16w0);
		if (headers.udp.checksum != 0) {
			adjust_address.apply(headers.udp.checksum,
					     headers.ipv4.destination ++
					     headers.udp.source,
					     address ++ port);
			adjust_vni.apply(headers.udp.checksum,
					 headers.vxlan.vni ++ 24w0,
					 vni ++ 24w0);
			if (headers.udp.checksum == 0)
				headers.udp.checksum = 0xffff;
		}
		headers.ipv4.destination = address;
		headers.udp.source = port;
		headers.vxlan.vni = vni;
	}
}
