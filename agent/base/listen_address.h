/* SPDX-License-Identifier: GPL-2.0-only */
/* An address to listen at. */
#ifndef LISTEN_ADDRESS_H
#define LISTEN_ADDRESS_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>

union listen_address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

/* @text: an address of IPv4 or IPv6, which the configuration has checked. */
static inline union listen_address listen_address__parse(const char *text, uint16_t port)
{
	union listen_address address = {};

	if (inet_pton(AF_INET, text, &address.v4.sin_addr) == 1) {
		address.v4.sin_family = AF_INET;
		address.v4.sin_port = htons(port);
	} else {
		inet_pton(AF_INET6, text, &address.v6.sin6_addr);
		address.v6.sin6_family = AF_INET6;
		address.v6.sin6_port = htons(port);
	}
	return address;
}

#endif /* LISTEN_ADDRESS_H */
