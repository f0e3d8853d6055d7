// SPDX-License-Identifier: GPL-2.0-only
/* The name of the host and its online CPUs. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "host.h"

#define ONLINE_CPUS "/sys/devices/system/cpu/online"

/* Bytes of the file, at most: each second of 8,192 CPUs, and a NUL. */
#define LIST_MAX 24576

void host__name(char *name, size_t size)
{
	struct utsname host;
	size_t i;

	memset(name, 0, size);
	if (uname(&host))
		return;
	for (i = 0; i + 1 < size && host.nodename[i]; i++)
		name[i] = host.nodename[i] < 0x20 || host.nodename[i] > 0x7e ?
				  '?' :
				  host.nodename[i];
}

/* A number at *@c, behind which it leaves *@c; UINT32_MAX if there is none. */
static uint32_t take_cpu(const char **c)
{
	unsigned long cpu;
	char *end;

	if (!isdigit((unsigned char)**c))
		return UINT32_MAX;
	cpu = strtoul(*c, &end, 10);
	*c = end;
	return cpu < UINT32_MAX ? cpu : UINT32_MAX;
}

int host__parse_cpus(const char *list, uint64_t *online, uint32_t cpus)
{
	const char *c = list;
	uint32_t first, last;

	memset(online, 0, (cpus / 64 + !!(cpus % 64)) * sizeof(*online));
	do {
		first = last = take_cpu(&c);
		if (*c == '-') {
			c++;
			last = take_cpu(&c);
		}
		if (first > last || last >= cpus)
			return -EINVAL;
		for (; first <= last; first++)
			online[first / 64] |= 1ULL << first % 64;
	} while (*c++ == ',');
	return c[-1] == '\n' || !c[-1] ? 0 : -EINVAL;
}

int host__online_cpus(uint64_t *online, uint32_t cpus)
{
	char list[LIST_MAX];
	size_t length = 0;
	ssize_t got = 1;
	int fd, ret = 0;

	fd = open(ONLINE_CPUS, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while (got > 0 && length < sizeof(list) - 1) {
		got = read(fd, list + length, sizeof(list) - 1 - length);
		if (got < 0)
			ret = -errno;
		else
			length += got;
	}
	close(fd);
	list[length] = '\0';
	return ret ?: host__parse_cpus(list, online, cpus);
}
