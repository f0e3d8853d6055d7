// SPDX-License-Identifier: GPL-2.0-only
/*
 * Strict reverse path filtering (RFC 3704) drops a packet unless its answer would
 * leave through the interface that it came in on.  See ip-sysctl.rst in the kernel's
 * documentation.
 */
#include <ifaddrs.h>
#include <string.h>

#include "rp_filter.h"
#include "text_file.h"

#define CHECK "rp_filter"
#define STRICT 1

/* Counts the interfaces with an IPv4 address, except loopback. */
static unsigned int count_interfaces(void)
{
	struct ifaddrs *all, *one, *other;
	unsigned int count = 0;

	if (getifaddrs(&all))
		return 0;
	for (one = all; one; one = one->ifa_next) {
		if (!one->ifa_addr || one->ifa_addr->sa_family != AF_INET ||
		    !(one->ifa_flags & IFF_UP) || one->ifa_flags & IFF_LOOPBACK)
			continue;
		/* An interface with several addresses counts once. */
		for (other = one->ifa_next; other; other = other->ifa_next)
			if (other->ifa_addr && other->ifa_addr->sa_family == AF_INET &&
			    !strcmp(one->ifa_name, other->ifa_name))
				break;
		count += !other;
	}
	freeifaddrs(all);
	return count;
}

void check_rp_filter(struct findings *findings, const struct rdma_port *port)
{
	long long all, own;

	if (!port->is_roce || !port->is_soft) {
		findings__ok(findings, CHECK, "%s takes packets before the filter", port->device);
		return;
	}
	/* The kernel applies the greater value. */
	all = text_file__number("/proc/sys/net/ipv4/conf/all/rp_filter");
	own = text_file__number("/proc/sys/net/ipv4/conf/%s/rp_filter", port->netdev);
	if (all > own)
		own = all;
	if (own != STRICT) {
		findings__ok(findings, CHECK, "%s does not filter strictly",
			     port->netdev);
	} else if (count_interfaces() < 2) {
		findings__ok(
			findings, CHECK,
			"%s filters strictly, but is the only interface with an address",
			port->netdev);
	} else {
		findings__warn(
			findings, CHECK,
			"%s drops packets whose answers would leave through another interface",
			port->netdev);
		findings__command(findings, "sysctl -w net/ipv4/conf/%s/rp_filter=2", port->netdev);
	}
}
