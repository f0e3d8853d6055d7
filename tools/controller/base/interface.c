// SPDX-License-Identifier: GPL-2.0-only
/* Asks the kernel about network interfaces. */
#include "interface.h"

#include <ifaddrs.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

static bool has_address(const struct ifaddrs *entry, const char *address)
{
	char text[NI_MAXHOST];
	socklen_t length;

	if (!entry->ifa_addr)
		return false;
	if (entry->ifa_addr->sa_family == AF_INET)
		length = sizeof(struct sockaddr_in);
	else if (entry->ifa_addr->sa_family == AF_INET6)
		length = sizeof(struct sockaddr_in6);
	else
		return false;
	return !getnameinfo(entry->ifa_addr, length, text, sizeof(text), NULL, 0, NI_NUMERICHOST) &&
	       !strcmp(text, address);
}

bool interface__of_address(const char *address, char name[IF_NAMESIZE])
{
	const struct ifaddrs *entry;
	struct ifaddrs *all;

	*name = '\0';
	if (!*address || getifaddrs(&all))
		return false;
	for (entry = all; entry && !*name; entry = entry->ifa_next) {
		if (has_address(entry, address))
			snprintf(name, IF_NAMESIZE, "%s", entry->ifa_name);
	}
	freeifaddrs(all);
	return *name;
}

uint64_t interface__bits_per_s(const char *name)
{
	char path[PATH_MAX];
	long long megabits = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/class/net/%s/speed", name);
	file = fopen(path, "re");
	if (!file)
		return 0;
	/* The driver says -1 if it does not know; reading fails while the interface is down. */
	if (fscanf(file, "%lld", &megabits) != 1 || megabits < 0)
		megabits = 0;
	fclose(file);
	return megabits * 1000000ULL;
}
