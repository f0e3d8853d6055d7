// SPDX-License-Identifier: GPL-2.0-only
/* Looks up network interfaces of this machine. */
#include <errno.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "interface.h"

static int ask(int fd, unsigned long what, const char *name, struct ifreq *request)
{
	*request = (struct ifreq){ };
	strcpy(request->ifr_name, name);
	return ioctl(fd, what, request) ? -errno : 0;
}

static int look(int fd, struct interface *interface)
{
	struct sockaddr_in *address;
	struct ifreq request;
	int ret;

	ret = ask(fd, SIOCGIFINDEX, interface->name, &request);
	if (ret)
		return ret;
	interface->number = request.ifr_ifindex;
	ret = ask(fd, SIOCGIFHWADDR, interface->name, &request);
	if (ret)
		return ret;
	if (request.ifr_hwaddr.sa_family != ARPHRD_ETHER)
		return -EPROTOTYPE;
	memcpy(interface->mac, request.ifr_hwaddr.sa_data, ETH_ALEN);

	if (!ask(fd, SIOCGIFADDR, interface->name, &request)) {
		address = (struct sockaddr_in *)&request.ifr_addr;
		interface->address = address->sin_addr;
	}
	return 0;
}

int interface__find(const char *name, struct interface *interface, struct dart_error *error)
{
	int fd, ret = -ENODEV;

	*interface = (struct interface){ .name = name };
	if (*name && strlen(name) < IF_NAMESIZE) {
		fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		ret = fd < 0 ? -errno : look(fd, interface);
		if (fd >= 0)
			close(fd);
	}
	if (ret == -ENODEV)
		return dart_error__set(error, ENODEV, "there is no interface '%s'", name);
	if (ret == -EPROTOTYPE)
		return dart_error__set(error, EPROTOTYPE, "'%s' is not an Ethernet interface",
				       name);
	return ret ? dart_error__system(error, -ret, "cannot look up '%s'", name) : 0;
}
