// SPDX-License-Identifier: GPL-2.0-only
/* Configuration of the guest's network interfaces. */
#include "network.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static int interface__set(int fd, const char *name, unsigned long what, const char *address)
{
	struct ifreq request = { };
	struct sockaddr_in *in = (void *)&request.ifr_addr;

	strncpy(request.ifr_name, name, IFNAMSIZ - 1);
	in->sin_family = AF_INET;
	if (inet_pton(AF_INET, address, &in->sin_addr) != 1)
		return -EINVAL;
	return ioctl(fd, what, &request) ? -errno : 0;
}

static int interface__up(int fd, const char *name)
{
	struct ifreq request = { };

	strncpy(request.ifr_name, name, IFNAMSIZ - 1);
	if (ioctl(fd, SIOCGIFFLAGS, &request))
		return -errno;
	request.ifr_flags |= IFF_UP;
	return ioctl(fd, SIOCSIFFLAGS, &request) ? -errno : 0;
}

static int interface__start(int fd, const char *name, const char *address)
{
	int err = interface__set(fd, name, SIOCSIFADDR, address);

	if (!err)
		err = interface__set(fd, name, SIOCSIFNETMASK, "255.255.255.0");
	return err ?: interface__up(fd, name);
}

int network__start(const char *address, const char *outside)
{
	int fd, err;

	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	err = interface__up(fd, "lo");
	if (!err)
		err = interface__start(fd, "eth0", address);
	if (!err && *outside)
		err = interface__start(fd, "eth1", outside);
	close(fd);
	return err;
}
