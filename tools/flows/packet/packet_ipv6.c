// SPDX-License-Identifier: GPL-2.0-only
/* Reads the headers of IPv6 (RFC 8200): see packet_internal.h. */
#include <netinet/in.h>

#include "packet_internal.h"

#define HEADERS_MAX 8 /* before the transport */
#define ROUTING_LEFT 3 /* nodes that a routing header still names */

/* Later ones begin after the header of the fragment. */
static enum packet_flaw take_fragment(const uint8_t *header, struct ipv6_chain *chain)
{
	/* A fragment of fragments is none that a host sends. */
	if (chain->fragment)
		return PACKET_OTHER;
	chain->fragment = header;
	return get16(header + 2) >> 3 ? PACKET_FRAGMENT : PACKET_GOOD;
}

enum packet_flaw packet_ipv6__follow(const uint8_t *ip, size_t length, struct ipv6_chain *chain)
{
	const uint8_t *at = ip + IPV6_LENGTH, *const end = ip + length;
	uint8_t next = ip[OFFSET6_NEXT_HEADER];
	enum packet_flaw flaw = PACKET_GOOD;
	unsigned int headers;

	*chain = (struct ipv6_chain){};
	for (headers = 0; headers <= HEADERS_MAX && !flaw; headers++) {
		const bool is_fragment = next == IPPROTO_FRAGMENT;

		if (!is_fragment && next != IPPROTO_ROUTING && next != IPPROTO_DSTOPTS &&
		    (next != IPPROTO_HOPOPTS || headers)) {
			chain->transport = at;
			chain->protocol = next == IPPROTO_ICMPV6 ? IPPROTO_ICMP : next;
			/* These two have numbers that IPv6 does not know. */
			return next == IPPROTO_ICMP || next == IPPROTO_HOPOPTS ? PACKET_OTHER :
										 PACKET_GOOD;
		}
		if (end - at < 8 || (!is_fragment && end - at < 8 * (at[1] + 1)))
			return PACKET_CUT;
		/* Its last destination would be another one (RFC 5095). */
		if (next == IPPROTO_ROUTING && at[ROUTING_LEFT])
			return PACKET_OTHER;
		if (is_fragment)
			flaw = take_fragment(at, chain);
		next = *at;
		at += is_fragment ? FRAGMENT6_LENGTH : 8 * (at[1] + 1);
	}
	chain->transport = at;
	chain->protocol = next == IPPROTO_ICMPV6 ? IPPROTO_ICMP : next;
	return flaw ?: PACKET_OTHER;
}

/* Of the @length bytes after its header. */
static enum packet_flaw read_fragment(struct packet *packet, const struct ipv6_chain *chain,
				      size_t length)
{
	const uint32_t word = get16(chain->fragment + 2), offset = word & ~7U;
	const bool has_more = word & MORE_FRAGMENTS6;

	packet->identification = get32(chain->fragment + 4);
	/* One that is the first and the last one is a whole packet (RFC 6946). */
	packet->is_fragment = offset || has_more;
	if ((has_more && length % 8) || offset + length > UINT16_MAX)
		return PACKET_CUT;
	if (!offset)
		return PACKET_GOOD;
	/* It would replace a part of the header that was judged (RFC 3128). */
	return chain->protocol == IPPROTO_TCP && offset < TCP_LENGTH ? PACKET_CUT : PACKET_FRAGMENT;
}

enum packet_flaw packet_ipv6__read(struct packet *packet, size_t length)
{
	const uint8_t *ip = packet->ip;
	struct ipv6_chain chain;
	enum packet_flaw flaw;
	size_t total;

	if (length < IPV6_LENGTH)
		return PACKET_CUT;
	total = IPV6_LENGTH + get16(ip + OFFSET6_PAYLOAD);
	if (ip[0] >> 4 != 6)
		return PACKET_OTHER;
	if (total > length)
		return PACKET_CUT;
	packet->length = ip + total - packet->frame;
	packet->source.address = address__get(ip + OFFSET6_SOURCE, ADDRESS_LENGTH);
	packet->destination.address = address__get(ip + OFFSET6_DESTINATION, ADDRESS_LENGTH);
	if (address__is_ipv4(packet->source.address) ||
	    address__is_ipv4(packet->destination.address) ||
	    !address__is_unicast(packet->source.address) ||
	    !address__is_unicast(packet->destination.address))
		return PACKET_OTHER;
	flaw = packet_ipv6__follow(ip, total, &chain);
	if (flaw && flaw != PACKET_FRAGMENT)
		return flaw;
	packet->transport = (uint8_t *)chain.transport;
	packet->protocol = chain.protocol;
	if (!chain.fragment)
		return flaw;
	return read_fragment(packet, &chain, ip + total - chain.fragment - FRAGMENT6_LENGTH);
}
