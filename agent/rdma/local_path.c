// SPDX-License-Identifier: GPL-2.0-only
/* Finds the address, the GID and the MAC address at which a peer reaches this host. */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <libdart/rdma/verbs.h>

#include "local_path.h"

#define ROCE_UDP_PORT 4791

int local_path__parse_peer(const char *text, const char *what,
			   struct in_addr *address, struct dart_error *error)
{
	struct in6_addr address6;

	if (inet_pton(AF_INET6, text, &address6) == 1)
		return dart_error__set(error, EAFNOSUPPORT,
				       "%s is an address of IPv6, and %s come over IPv4", text,
				       what);
	if (inet_pton(AF_INET, text, address) != 1)
		return dart_error__set(error, EINVAL, "'%s' is not an IPv4 address", text);
	if (!address->s_addr || IN_MULTICAST(ntohl(address->s_addr)) ||
	    IN_BADCLASS(ntohl(address->s_addr)))
		return dart_error__set(error, EINVAL, "%s is not the address of a host", text);
	return 0;
}

static int local_path__find_address(struct local_path *path, const char *text,
				    struct dart_error *error)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(ROCE_UDP_PORT),
		.sin_addr = path->peer,
	};
	socklen_t size = sizeof(address);
	int fd, ret = 0;

	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return dart_error__system(error, errno, "cannot open a socket");
	if (connect(fd, (struct sockaddr *)&address, size) ||
	    getsockname(fd, (struct sockaddr *)&address, &size))
		ret = dart_error__system(error, errno, "no route to %s", text);
	close(fd);
	path->local = address.sin_addr;
	return ret;
}

static union ibv_gid gid_of(struct in_addr address)
{
	union ibv_gid gid = { .raw = { [10] = 0xff, [11] = 0xff } };

	memcpy(gid.raw + 12, &address, sizeof(address));
	return gid;
}

/* Finds the device's GID of the local address. */
static int local_path__find_gid(struct local_path *path, const struct device *device,
				const char *text, struct dart_error *error)
{
	union ibv_gid gid = gid_of(path->local);
	struct ibv_gid_entry *entries, *entry = NULL;
	char local[INET_ADDRSTRLEN];
	ssize_t count, i;

	count = dart_verbs__gids(device->context, &entries);
	if (count < 0)
		return dart_error__system(error, -count,
					  "cannot read the addresses of RDMA device %s",
					  device__name(device));
	for (i = 0; i < count && !entry; i++)
		if (entries[i].gid_type == IBV_GID_TYPE_ROCE_V2 &&
		    !memcmp(&entries[i].gid, &gid, sizeof(gid)))
			entry = &entries[i];
	if (entry) {
		path->port = entry->port_num;
		path->gid_index = entry->gid_index;
		path->interface = entry->ndev_ifindex;
	}
	free(entries);
	if (entry)
		return 0;
	inet_ntop(AF_INET, &path->local, local, sizeof(local));
	return dart_error__set(error, ENETUNREACH,
			       "%s is reached from %s, which is not an address of RDMA device %s",
			       text, local, device__name(device));
}

static int local_path__find_mac(struct local_path *path, struct dart_error *error)
{
	struct ifreq request = { };
	int fd, ret = 0;

	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return dart_error__system(error, errno, "cannot open a socket");
	if (!if_indextoname(path->interface, request.ifr_name) ||
	    ioctl(fd, SIOCGIFHWADDR, &request))
		ret = dart_error__system(error, errno, "cannot find the MAC address of this host");
	close(fd);
	memcpy(path->mac, request.ifr_hwaddr.sa_data, sizeof(path->mac));
	return ret;
}

int local_path__find(struct local_path *path, const struct device *device,
		     struct in_addr peer, struct dart_error *error)
{
	char text[INET_ADDRSTRLEN];

	*path = (struct local_path){
		.peer = peer,
		.traffic_class = device__traffic_class(device),
	};
	inet_ntop(AF_INET, &peer, text, sizeof(text));
	return local_path__find_address(path, text, error) ?:
		       local_path__find_gid(path, device, text, error) ?:
		       local_path__find_mac(path, error);
}

struct ibv_ah_attr local_path__address(const struct local_path *path)
{
	return (struct ibv_ah_attr){
		.is_global = 1,
		.port_num = path->port,
		.grh = {
			.dgid = gid_of(path->peer),
			.sgid_index = path->gid_index,
			.hop_limit = 64,
			.traffic_class = path->traffic_class,
		},
	};
}

int local_path__explain(const struct local_path *path, int code, struct dart_error *error)
{
	char text[INET_ADDRSTRLEN];

	code = -dart_verbs__result(code);
	inet_ntop(AF_INET, &path->peer, text, sizeof(text));
	if (code == ETIMEDOUT || code == EHOSTUNREACH || code == ENODATA)
		return dart_error__set(error, EHOSTUNREACH, "%s no longer answers ARP", text);
	return dart_error__system(error, code, "cannot open a queue pair for %s", text);
}
