/* SPDX-License-Identifier: GPL-2.0-only */
/* Which client makes room for another one. */
#ifndef EVICTION_H
#define EVICTION_H

#include "client.h"

/*
 * There are @most clients, and one of user @uid wants to connect.  Returns the client
 * to be disconnected, NULL if all stay: the one without a request for the longest
 * time, of the user with the most clients.  Root's make no room for others; monitors
 * do for root, and if their user has more than half of the places.
 */
struct client *eviction__choose(const struct clients *clients, uid_t uid,
				uint32_t most);

#endif /* EVICTION_H */
