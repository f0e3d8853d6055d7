/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a peer that knows nothing of the RDMA CM, a switch, reaches this host: queue pairs
 * for it are opened by hand.
 */
#ifndef LOCAL_PATH_H
#define LOCAL_PATH_H

#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <stdint.h>

#include <libdart/error.h>

#include "device.h"

struct local_path {
	struct in_addr peer;
	struct in_addr local;	/* where the peer sends to, with @mac */
	uint8_t mac[6];
	uint8_t port;		/* of the device */
	uint8_t traffic_class;	/* of packets to the peer */
	uint32_t gid_index;
	unsigned int interface;	/* index of the network device */
};

/*
 * Parses the IPv4 address of a peer, hostile; @what names its messages, "reports". -EINVAL or
 * -EAFNOSUPPORT.
 */
int local_path__parse_peer(const char *text, const char *what,
			   struct in_addr *address, struct dart_error *error);
/* Finds the address of @device on the route to @peer. */
int local_path__find(struct local_path *path, const struct device *device,
		     struct in_addr peer, struct dart_error *error);
/*
 * For ibv_modify_qp(3), which resolves the peer with ARP: without waiting for it after
 * neighbour__resolve() has returned 0.
 */
struct ibv_ah_attr local_path__address(const struct local_path *path);
/* Says why ibv_modify_qp(3) with that address has failed with @code; returns -errno. */
int local_path__explain(const struct local_path *path, int code, struct dart_error *error);

#endif /* LOCAL_PATH_H */
