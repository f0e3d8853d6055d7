/* SPDX-License-Identifier: GPL-2.0-only */
/* Talking to dartd: see <dart/registration.h>. */
#ifndef CLIENT_H
#define CLIENT_H

#include <jansson.h>

#include "options.h"

/*
 * Sends @request (the reference is taken), with @fd unless it is -1, and
 * returns what the reply holds under @member, a borrowed reference into
 * *@reply, which the caller releases.  With --json the reply is printed, too.
 * NULL if that did not work; why has been said.
 */
json_t *client__ask(const struct options *options, json_t *request, int fd,
		    const char *member, json_t **reply);

/*
 * The same, but nothing is printed, and *@received gets the descriptor that came
 * with the reply, the caller's, or -1.
 */
json_t *client__fetch(const struct options *options, json_t *request, int fd,
		      const char *member, json_t **reply, int *received);

#endif /* CLIENT_H */
