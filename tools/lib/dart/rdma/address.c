// SPDX-License-Identifier: LGPL-2.1-or-later
/* Parses, prints and resolves the addresses of agents. */
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dart/control.h>

#include <libdart/escape.h>

#include "address.h"

static int parse_port(const char *text, uint16_t *port)
{
	unsigned long value = 0;
	const char *c;

	for (c = text; *c; c++) {
		if (*c < '0' || *c > '9')
			return -EINVAL;
		value = value * 10 + (*c - '0');
		if (value > UINT16_MAX)
			return -EINVAL;
	}
	if (!value)
		return -EINVAL;
	*port = value;
	return 0;
}

int dart_address__parse(const char *text, char **host, uint16_t *port)
{
	const char *colon = strchr(text, ':');
	const char *end;
	uint16_t found = DART_CONTROL_PORT;

	/* The host becomes a label. */
	if (!dart_escape__is_plain(text, strlen(text)))
		return -EINVAL;
	if (*text == '[') {
		end = strchr(++text, ']');
		if (!end || (end[1] && end[1] != ':'))
			return -EINVAL;
		colon = end[1] ? end + 1 : NULL;
	} else if (colon && strchr(colon + 1, ':')) {
		/* Two colons: an IPv6 address, without a port. */
		end = text + strlen(text);
		colon = NULL;
	} else {
		end = colon ? colon : text + strlen(text);
	}
	if (end == text || (colon && parse_port(colon + 1, &found)))
		return -EINVAL;

	*host = strndup(text, end - text);
	if (!*host)
		return -ENOMEM;
	*port = found;
	return 0;
}

char *dart_address__name(const char *host, uint16_t port)
{
	const char *format = strchr(host, ':') ? "[%s]:%u" : "%s:%u";
	char *name;

	if (asprintf(&name, format, host, port) < 0)
		return NULL;
	return name;
}

int dart_address__resolve(const char *host, char **numeric)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *address;
	char text[NI_MAXHOST];
	int ret;

	ret = getaddrinfo(host, NULL, &hints, &address);
	if (ret)
		return ret;
	ret = getnameinfo(address->ai_addr, address->ai_addrlen, text,
			  sizeof(text), NULL, 0, NI_NUMERICHOST);
	freeaddrinfo(address);
	if (ret)
		return ret;
	*numeric = strdup(text);
	return *numeric ? 0 : EAI_MEMORY;
}
