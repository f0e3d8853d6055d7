// SPDX-License-Identifier: LGPL-2.1-or-later
/* Parses ranges of addresses, and looks up addresses in them. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "prefix.h"

/* The beginning of an IPv4 address in the form of IPv6. */
static const uint8_t mapped[12] = { [10] = 0xff, 0xff };

/* The bits of byte @index that count. */
static uint8_t mask(const struct dart_prefix *prefix, unsigned int index)
{
	int bits = prefix->length - 8 * (int)index;

	return bits <= 0 ? 0 : bits >= 8 ? 0xff : 0xff << (8 - bits);
}

/* Parses "0" to "128" without leading zeros; -1 for other texts. */
static int parse_length(const char *text, int most)
{
	char *end;
	long length;

	if (*text < '0' || *text > '9' || (*text == '0' && text[1]))
		return -1;
	length = strtol(text, &end, 10);
	return *end || length > most ? -1 : length;
}

/* Clears the bits after the prefix; returns whether one of them was set. */
static bool cut(struct dart_prefix *prefix)
{
	bool was_set = false;
	unsigned int i;

	for (i = 0; i < sizeof(prefix->address); i++) {
		was_set |= prefix->address[i] & ~mask(prefix, i);
		prefix->address[i] &= mask(prefix, i);
	}
	return was_set;
}

int dart_prefix__parse(struct dart_prefix *prefix, const char *text, struct dart_error *error)
{
	char address[INET6_ADDRSTRLEN];
	const char *slash = strchrnul(text, '/');
	int most, length;

	*prefix = (struct dart_prefix){};
	if (slash - text >= (ptrdiff_t)sizeof(address))
		goto invalid;
	memcpy(address, text, slash - text);
	address[slash - text] = '\0';
	if (inet_pton(AF_INET, address, prefix->address) == 1)
		prefix->family = AF_INET;
	else if (inet_pton(AF_INET6, address, prefix->address) == 1)
		prefix->family = AF_INET6;
	else
		goto invalid;

	most = prefix->family == AF_INET ? 32 : 128;
	length = *slash ? parse_length(slash + 1, most) : most;
	if (length < 0)
		return dart_error__set(
			error, EINVAL,
			"'%s' is not a range of addresses: behind the '/' stands a number from 0 to %d",
			text, most);
	prefix->length = length;
	if (prefix->family == AF_INET6 && length >= 96 &&
	    !memcmp(prefix->address, mapped, sizeof(mapped)))
		return dart_error__set(error, EINVAL,
				       "'%s' is an IPv4 address as IPv6 (write it as IPv4)", text);
	if (!cut(prefix))
		return 0;
	inet_ntop(prefix->family, prefix->address, address, sizeof(address));
	return dart_error__set(error, EINVAL, "'%s' has bits behind its prefix (write %s/%d)", text,
			       address, length);

invalid:
	return dart_error__set(error, EINVAL,
			       "'%s' is not an address (write 10.0.0.7, 10.0.0.0/8 or fd00::/8)",
			       text);
}

int dart_prefixes__add(struct dart_prefixes *prefixes, const struct dart_prefix *prefix)
{
	struct dart_prefix *list;

	list = reallocarray(prefixes->list, prefixes->count + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	prefixes->list = list;
	list[prefixes->count++] = *prefix;
	return 0;
}

void dart_prefixes__clear(struct dart_prefixes *prefixes)
{
	free(prefixes->list);
	*prefixes = (struct dart_prefixes){};
}

static bool contains(const struct dart_prefix *prefix, sa_family_t family, const uint8_t *address)
{
	unsigned int i;

	if (prefix->family != family)
		return false;
	for (i = 0; 8 * i < prefix->length; i++)
		if ((address[i] & mask(prefix, i)) != prefix->address[i])
			return false;
	return true;
}

bool dart_prefixes__contain(const struct dart_prefixes *prefixes, const struct sockaddr *address)
{
	const struct sockaddr_in6 *address6 = (const void *)address;
	const struct sockaddr_in *address4 = (const void *)address;
	sa_family_t family = address->sa_family;
	const uint8_t *bytes;
	size_t i;

	if (!prefixes->is_given)
		return true;
	if (family == AF_INET) {
		bytes = (const uint8_t *)&address4->sin_addr;
	} else if (family == AF_INET6) {
		bytes = address6->sin6_addr.s6_addr;
		if (IN6_IS_ADDR_V4MAPPED(&address6->sin6_addr)) {
			family = AF_INET;
			bytes += 12;
		}
	} else {
		return false;
	}
	for (i = 0; i < prefixes->count; i++)
		if (contains(&prefixes->list[i], family, bytes))
			return true;
	return false;
}
