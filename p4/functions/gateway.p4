// SPDX-License-Identifier: GPL-2.0-only
/*
 * A VPN gateway: moves packets for a virtual machine of a customer from the customer's
 * tunnel into the tunnel to the server that runs the machine.  The lookup table has an
 * entry for each machine: see schemas/gateway.yaml; and with TEA_IPV6, where both tunnels
 * may be of IPv6, schemas/gateway6.yaml.
 *
 * The file of the architecture defines TunnelHash first.
 */
#define TEA_KEY_BYTES	7
#ifdef TEA_IPV6
#define TEA_VALUE_BYTES	19
#else
#define TEA_VALUE_BYTES	7
#endif
#define TEA_MTU		16w1500	/* tunnels must not be fragmented */
#include "vxlan.p4"
#include <tea/headers.p4>
#include "words.p4"
#ifdef TEA_IPV6
#include "mapped.p4"
#endif

/* The key: VNI of the customer's tunnel (3 bytes), address of the machine (4). */
control FunctionKey(in headers_t headers, out bit<TEA_KEY_BITS> key,
		    out bool there)
{
	apply {
		there = headers.inner_ipv4.isValid();
		key = headers.vxlan.vni ++ headers.inner_ipv4.destination;
	}
}

#ifdef TEA_IPV6
/* Only UDP has a checksum over the addresses of IPv6; of a tunnel it may be absent (RFC 6935). */
control MoveTunnel6(inout headers_t headers, in bit<128> address, in bit<16> port)
{
	AdjustWords() adjust_first;
	AdjustWords() adjust_second;
	AdjustWords() adjust_last;

	apply {
		if (headers.udp.checksum != 0) {
			adjust_first.apply(headers.udp.checksum,
					   headers.ipv6.destination[127:80],
					   address[127:80]);
			adjust_second.apply(headers.udp.checksum,
					    headers.ipv6.destination[79:32],
					    address[79:32]);
			adjust_last.apply(headers.udp.checksum,
					  headers.ipv6.destination[31:0] ++
					  headers.udp.source,
					  address[31:0] ++ port);
			if (headers.udp.checksum == 0)
				headers.udp.checksum = 0xffff;
		}
		headers.ipv6.destination = address;
	}
}
#endif

control MoveTunnel(inout headers_t headers, in bit<32> address, in bit<16> port)
{
	AdjustWords() adjust_ip;
	AdjustWords() adjust_address;

	apply {
		adjust_ip.apply(headers.ipv4.checksum,
				headers.ipv4.destination ++ 16w0,
				address ++ 16w0);
		if (headers.udp.checksum != 0) {
			adjust_address.apply(headers.udp.checksum,
					     headers.ipv4.destination ++
					     headers.udp.source,
					     address ++ port);
			if (headers.udp.checksum == 0)
				headers.udp.checksum = 0xffff;
		}
		headers.ipv4.destination = address;
	}
}

/*
 * The value: address of the server (4 bytes, or 16), VNI of the tunnel to it (3).
 *
 * The source port depends on the one that the packet had and on the hosts inside, so that
 * routers spread the flows of a tunnel (RFC 7348, section 5).
 */
control FunctionApply(inout headers_t headers, in bit<TEA_VALUE_BITS> value,
		      out bool drop, out bool defer)
{
	AdjustWords() adjust_vni;
	TunnelHash() tunnel_hash;
	MoveTunnel() move;
#ifdef TEA_IPV6
	MoveTunnel6() move6;
#endif
	bit<24> vni;
	bit<14> low;
	bit<16> port;

	apply {
		drop = false;
		defer = false;
#ifdef TEA_IPV6
		/* A packet keeps its family. */
		drop = headers.ipv6.isValid() ==
		       (value[151:56] == IPV4_MAPPED);
		if (drop)
			return;
#endif
		tunnel_hash.apply(headers.udp.source, headers.inner_ipv4.source,
				  headers.inner_ipv4.destination,
				  headers.inner_ipv4.protocol, low);
		port = 2w3 ++ low;
		vni = value[23:0];
#ifdef TEA_IPV6
		if (headers.ipv6.isValid())
			move6.apply(headers, value[151:24], port);
		else
#endif
			move.apply(headers, value[55:24], port);
		if (headers.udp.checksum != 0) {
			adjust_vni.apply(headers.udp.checksum,
					 headers.vxlan.vni ++ 24w0,
					 vni ++ 24w0);
			if (headers.udp.checksum == 0)
				headers.udp.checksum = 0xffff;
		}
		headers.udp.source = port;
		headers.vxlan.vni = vni;
	}
}
