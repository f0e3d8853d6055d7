/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests for the Ethernet address of a host on the same link, by ARP (RFC 826) or by a neighbour
 * solicitation of IPv6 (RFC 4861), and answers, as bytes after the header of Ethernet.
 */
#ifndef FLOWS_NEIGHBOUR_H
#define FLOWS_NEIGHBOUR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "address.h"

/* Bytes of the longest answer. */
#define NEIGHBOUR_ANSWER_MAX 72

struct neighbour_request {
	const uint8_t *bytes;
	bool is_ipv6;
	address_t wanted; /* whose Ethernet address it asks for */
};

/* Reads @length bytes with this EtherType, which may be followed by padding; false: no request. */
bool neighbour__read(struct neighbour_request *request, uint32_t ethertype, const uint8_t *bytes,
		     size_t length);
/* Writes the answer, that the host is a router with this address; returns its length. */
size_t neighbour__answer(const struct neighbour_request *request, const uint8_t mac[static 6],
			 uint8_t answer[static NEIGHBOUR_ANSWER_MAX]);

#endif /* FLOWS_NEIGHBOUR_H */
