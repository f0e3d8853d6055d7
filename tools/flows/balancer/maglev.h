/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which server a new flow gets: a table of places, each of which has one server ("Maglev: A Fast
 * and Reliable Software Network Load Balancer", NSDI 2016, section 3.4).  Each server has places by
 * its weight, and when a server comes or goes, few places but its own get another one.  The table
 * depends on the servers alone, so all processes with the same servers choose alike.
 */
#ifndef FLOWS_MAGLEV_H
#define FLOWS_MAGLEV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAGLEV_PLACES 65537 /* a prime, so that each step visits all places */
#define MAGLEV_SERVERS_MAX 1024
#define MAGLEV_WEIGHT_MAX 256

struct maglev_server {
	uint64_t identity; /* that no other server has */
	uint32_t weight; /* 0: it gets no place */
};

/*
 * Fills @places with the numbers of servers.  Servers have a fixed order, such as that of their
 * identities.  Returns false if no server has a weight.
 */
bool maglev__fill(uint16_t places[static MAGLEV_PLACES], const struct maglev_server *servers,
		  size_t count);

#endif /* FLOWS_MAGLEV_H */
