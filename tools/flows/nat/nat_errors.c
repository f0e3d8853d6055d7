// SPDX-License-Identifier: GPL-2.0-only
/*
 * ICMP errors, and the packets that they quote: both get the ends that their receiver knows, so path
 * MTU discovery and traceroute work through NAT.
 */
#include "nat_internal.h"

/*
 * An error to an address of a pool: the host inside knows the packet that is quoted by its own end
 * (RFC 5508, REQ-4).
 */
static enum nat_verdict translate_error_back(struct nat *nat, struct packet *packet)
{
	const struct mapping *mapping;
	struct end inside;

	mapping = nat__mapping_outside(nat, packet->quoted_protocol, &packet->quoted_source);
	if (!mapping || packet->destination.address != packet->quoted_source.address ||
	    !nat__find_flow(nat, mapping, &packet->quoted_destination))
		return NAT_UNKNOWN;
	inside = mapping->inside;
	packet__set_quoted_source(packet, &inside);
	packet__set_destination(packet, &(struct end){ inside.address, 0 });
	return NAT_RELATED;
}

/*
 * An error from inside, of the host itself or of a router before it: the host outside knows both
 * by the address of the mapping (RFC 5508, REQ-5).
 */
static enum nat_verdict translate_error_out(struct nat *nat, struct packet *packet)
{
	const struct mapping *mapping;
	struct end outside;

	mapping = nat__mapping_inside(nat, packet->quoted_protocol, &packet->quoted_destination);
	if (!mapping || packet->destination.address != packet->quoted_source.address ||
	    !nat__find_flow(nat, mapping, &packet->quoted_source))
		return NAT_UNKNOWN;
	outside = mapping->outside;
	packet__set_quoted_destination(packet, &outside);
	packet__set_source(packet, &(struct end){ outside.address, 0 });
	return NAT_RELATED;
}

enum nat_verdict nat__translate_error(struct nat *nat, struct packet *packet)
{
	const struct policy *policy = nat->function.policy;
	const bool is_to_pool = policy__find_address(policy, packet->destination.address);
	enum nat_verdict verdict;

	if (!policy__is_inside(policy, packet->source.address))
		return is_to_pool ? translate_error_back(nat, packet) : NAT_UNRELATED;
	if (policy__is_inside(policy, packet->destination.address))
		return NAT_UNRELATED;
	verdict = translate_error_out(nat, packet);
	if (verdict == NAT_RELATED && is_to_pool)
		verdict = translate_error_back(nat, packet);
	return verdict;
}
