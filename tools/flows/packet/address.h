/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Addresses of IPv4 and IPv6, as numbers.  An address of IPv4 is below 2^32, where no host has an
 * address of IPv6: there are only ::, ::1 and the IPv4-compatible ones, which ended with RFC 4291
 * (section 2.5.5.1).  Packets of IPv6 with such an address, or with a mapped one of IPv4
 * (::ffff:192.0.2.1), are not good.
 */
#ifndef FLOWS_ADDRESS_H
#define FLOWS_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ADDRESS_LENGTH 16 /* bytes of an address of IPv6 */
#define ADDRESS_LENGTH_4 4
#define ADDRESS_TEXT 46 /* bytes of the longest one, printed, with the final 0 */
#define ADDRESS_MAPPED ((address_t)0xffff << 32) /* ::ffff:0.0.0.0 */

/* In the byte order of the host.  Aligned like its halves, so that lists of ends have no holes. */
typedef unsigned __int128 address_t __attribute__((aligned(8)));

static inline bool address__is_ipv4(address_t address)
{
	return !(address >> 32);
}

/*
 * The network that an owner of @address usually controls as a whole: of IPv6 its first 64 bits (RFC
 * 4291, section 2.5.4), with zeros behind them; of IPv4 the address itself.
 */
static inline address_t address__network(address_t address)
{
	return address__is_ipv4(address) ? address : address >> 64 << 64;
}

/* The address that @length bytes in network byte order say. */
static inline address_t address__get(const uint8_t *bytes, size_t length)
{
	address_t address = 0;
	size_t i;

	for (i = 0; i < length; i++)
		address = address << 8 | bytes[i];
	return address;
}

/* Writes its last @length bytes in network byte order. */
static inline void address__put(uint8_t *bytes, size_t length, address_t address)
{
	while (length--) {
		bytes[length] = address;
		address >>= 8;
	}
}

/* Can it be the address of one host, beyond its own link? */
bool address__is_unicast(address_t address);

/* Addresses that begin with the same bits: those of @first, as far as @mask has ones. */
struct address_range {
	address_t first, mask;
};

/* A range of IPv4 has 96 further ones in its mask. */
static inline bool address_range__is_ipv4(const struct address_range *range)
{
	return address__is_ipv4(range->first) && address__is_ipv4(~range->mask);
}

/* No range of IPv6 contains an address of IPv4. */
static inline bool address_range__contains(const struct address_range *range, address_t address)
{
	return (address & range->mask) == range->first &&
	       address_range__is_ipv4(range) == address__is_ipv4(address);
}

/* An address and a port, or the identifier of an ICMP echo; in the byte order of the host. */
struct end {
	address_t address;
	uint16_t port;
};

static inline bool end__equal(const struct end *one, const struct end *other)
{
	return one->address == other->address && one->port == other->port;
}

/* Less than 0, 0 or more, by address and port. */
static inline int end__compare(const struct end *one, const struct end *other)
{
	if (one->address != other->address)
		return one->address > other->address ? 1 : -1;
	return (int)one->port - other->port;
}

/* Parses an address; false if it is none of a host, or of IPv6 and written in an IPv4 manner. */
bool address__parse(const char *text, address_t *address);
/* Prints it into @text, which it returns. */
const char *address__print(address_t address, char text[static ADDRESS_TEXT]);

#define END_TEXT (ADDRESS_TEXT + 8) /* bytes of the longest end, printed, with the final 0 */

/* Parses "ADDRESS:PORT", of IPv6 "[ADDRESS]:PORT"; false if it is none. */
bool end__parse(const char *text, struct end *end);
/* Prints it into @text, which it returns. */
const char *end__print(const struct end *end, char text[static END_TEXT]);

#endif /* FLOWS_ADDRESS_H */
