/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The address of an agent: HOST, HOST:PORT, [V6] or [V6]:PORT. */
#ifndef DART_ADDRESS_H
#define DART_ADDRESS_H

#include <stdint.h>

/*
 * Parses @text; the port is DART_CONTROL_PORT if it names none.  Returns 0 and a new string in
 * @host, -EINVAL if the form is not listed above or a byte would be escaped (escape.h), or -ENOMEM.
 */
int dart_address__parse(const char *text, char **host, uint16_t *port);

/* "HOST:PORT", in brackets if needed: a new string, or NULL. */
char *dart_address__name(const char *host, uint16_t port);

/*
 * Resolves @host, which may block, and returns its first address as a new
 * string in @numeric.  Returns 0 or an error of getaddrinfo().
 */
int dart_address__resolve(const char *host, char **numeric);

#endif /* DART_ADDRESS_H */
