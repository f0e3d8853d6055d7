// SPDX-License-Identifier: GPL-2.0-only
/* Addresses as text, and which ones hosts have: see address.h. */
#include "address.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool address__is_unicast(address_t address)
{
	const uint32_t high = address >> 96;

	if (address__is_ipv4(address))
		return address >> 24 && address >> 24 != 127 && address >> 28 < 0xe;
	/* Neither multicast, link-local nor mapped. */
	return high >> 24 != 0xff && high >> 22 != 0xfe80 >> 6 && address >> 32 != 0xffff;
}

bool address__parse(const char *text, address_t *address)
{
	uint8_t bytes[ADDRESS_LENGTH];

	if (inet_pton(AF_INET, text, bytes) == 1) {
		*address = address__get(bytes, ADDRESS_LENGTH_4);
		return true;
	}
	if (inet_pton(AF_INET6, text, bytes) != 1)
		return false;
	*address = address__get(bytes, ADDRESS_LENGTH);
	return !address__is_ipv4(*address) && *address >> 32 != 0xffff;
}

const char *address__print(address_t address, char text[static ADDRESS_TEXT])
{
	const bool is_ipv4 = address__is_ipv4(address);
	uint8_t bytes[ADDRESS_LENGTH];

	address__put(bytes, is_ipv4 ? ADDRESS_LENGTH_4 : ADDRESS_LENGTH, address);
	return inet_ntop(is_ipv4 ? AF_INET : AF_INET6, bytes, text, ADDRESS_TEXT);
}

bool end__parse(const char *text, struct end *end)
{
	const bool has_brackets = *text == '[';
	const char *stop = strchr(text, has_brackets ? ']' : ':');
	const char *port = stop ? stop + has_brackets : "";
	char address[ADDRESS_TEXT];
	char *rest;
	long number;

	text += has_brackets;
	if (*port != ':' || port[1] < '0' || port[1] > '9' ||
	    stop - text >= (ptrdiff_t)sizeof(address))
		return false;
	memcpy(address, text, stop - text);
	address[stop - text] = '\0';
	number = strtol(port + 1, &rest, 10);
	if (!address__parse(address, &end->address) || *rest || number > UINT16_MAX ||
	    address__is_ipv4(end->address) == has_brackets)
		return false;
	end->port = number;
	return true;
}

const char *end__print(const struct end *end, char text[static END_TEXT])
{
	char address[ADDRESS_TEXT];

	snprintf(text, END_TEXT, address__is_ipv4(end->address) ? "%s:%u" : "[%s]:%u",
		 address__print(end->address, address), end->port);
	return text;
}
