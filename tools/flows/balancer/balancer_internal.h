/* SPDX-License-Identifier: GPL-2.0-only */
/* The state of a balancer, for the files balancer*.c. */
#ifndef FLOWS_BALANCER_INTERNAL_H
#define FLOWS_BALANCER_INTERNAL_H

#include "balancer.h"
#include "maglev.h"
#include "tools/flows/connection/tracking.h"
#include "tools/flows/function/hosts.h"

struct server {
	LIST_HEAD(, balancer_flow) flows;
	uint64_t flow_count;
	bool is_down;
};

struct service {
	uint16_t *places; /* numbers among the servers of the service */
	bool is_filled; /* with the servers as they are now */
	bool has_server; /* that takes new flows */
};

/* The services and servers of a policy, by their numbers there. */
struct parts {
	struct service *services;
	struct server *servers;
	uint16_t *places; /* of all services */
};

struct balancer_flow {
	struct tracked tracked; /* the index of the function: by service and client */
	struct index_link server_link; /* by server and client */
	LIST_ENTRY(balancer_flow) of_server;
	struct server *server; /* NULL: the policy has it no longer */
	struct host *host; /* the client */
	struct end client, service_end, server_end;
};

struct balancer {
	struct tracking tracking;
	struct hosts clients; /* by address__network() */
	struct index by_server;
	struct parts parts;
	uint64_t broken; /* flows that ended because their server was down */
};

/* ---- services and servers, balancer_parts.c */

/* Returns 0 or -ENOMEM; all servers are up. */
int parts__open(struct parts *parts, const struct policy *policy);
void parts__close(struct parts *parts);
/* Servers that @next has, too, are down there if they are down now. */
void parts__copy_state(struct parts *parts, const struct policy *policy, const struct parts *before,
		       const struct policy *policy_before);
/* The server that a new flow of this client gets; -1: none takes one. */
long parts__choose(struct parts *parts, const struct policy *policy,
		   const struct policy_service *service, const struct end *client);
/* The number of the server of this flow; -1: the policy has it no longer. */
long parts__find(const struct policy *policy, uint8_t protocol, const struct end *service_end,
		 const struct end *server_end);

#endif /* FLOWS_BALANCER_INTERNAL_H */
