/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where an agent is: HOST, HOST:PORT, [V6] or [V6]:PORT. */
#ifndef DART_ADDRESS_H
#define DART_ADDRESS_H

#include <stdint.h>

/*
 * Takes @text apart.  Returns 0 and a new string in @host, -EINVAL if it is
 * none of the forms above, -ENOMEM.  Without a port it is DART_CONTROL_PORT.
 */
int dart_address__parse(const char *text, char **host, uint16_t *port);

/* "HOST:PORT", with brackets where they are needed: a new string, or NULL. */
char *dart_address__name(const char *host, uint16_t port);

/*
 * Looks @host up, which may take its time, and gives its first address as a
 * new string.  Returns 0 or what getaddrinfo() says.
 */
int dart_address__resolve(const char *host, char **numeric);

#endif /* DART_ADDRESS_H */
