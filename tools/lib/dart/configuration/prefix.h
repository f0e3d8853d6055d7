/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Ranges of addresses: 10.0.0.0/8, fd00::/8, or one address. */
#ifndef DART_PREFIX_H
#define DART_PREFIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include <libdart/error.h>

struct dart_prefix {
	sa_family_t family; /* AF_INET or AF_INET6 */
	uint8_t length; /* bits of @address that count */
	uint8_t address[16]; /* network byte order; the other bits are 0 */
};

/* A list of ranges; without a list it contains all addresses. */
struct dart_prefixes {
	bool is_given;
	struct dart_prefix *list;
	size_t count;
};

/* Parses "ADDRESS" or "ADDRESS/BITS"; -EINVAL with a sentence in @error. */
int dart_prefix__parse(struct dart_prefix *prefix, const char *text, struct dart_error *error);
/* Adds a prefix; -ENOMEM. */
int dart_prefixes__add(struct dart_prefixes *prefixes, const struct dart_prefix *prefix);
void dart_prefixes__clear(struct dart_prefixes *prefixes);

/*
 * Is @address, an IPv4 or IPv6 one, in one of the ranges?  An IPv4 address that
 * an IPv6 socket shows as ::ffff:a.b.c.d counts as IPv4.
 */
bool dart_prefixes__contain(const struct dart_prefixes *prefixes, const struct sockaddr *address);

#endif /* DART_PREFIX_H */
