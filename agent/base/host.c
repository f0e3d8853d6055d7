// SPDX-License-Identifier: GPL-2.0-only
/* Reads the name of the host, its kernel, its online CPUs and the CPUs of nohz_full=. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "host.h"

#define ONLINE_CPUS "/sys/devices/system/cpu/online"
#define POSSIBLE_NODES "/sys/devices/system/node/possible"
#define POSSIBLE_CPUS "/sys/devices/system/cpu/possible"
#define NOHZ_FULL_CPUS "/sys/devices/system/cpu/nohz_full"

/* Bytes of the file, at most: each second of 8,192 CPUs, and a NUL. */
#define LIST_MAX 24576

/*
 * Copies @text to the @size bytes at @to.  These members of the table are ASCII: other bytes become
 * the escapes of escape.h.
 */
static void copy_text(char *to, size_t size, const char *text)
{
	size_t used = 0, length;
	char piece[8];

	memset(to, 0, size);
	for (; *text; text++) {
		length = snprintf(piece, sizeof(piece),
				  *text < 0x20 || *text > 0x7e ? "\\x%02x" : "%c",
				  (unsigned char)*text);
		if (length >= size - used)
			return;
		memcpy(to + used, piece, length);
		used += length;
	}
}

void host__name(char *name, size_t size)
{
	struct utsname host;

	memset(name, 0, size);
	if (!uname(&host))
		copy_text(name, size, host.nodename);
}

void host__kernel(struct kernel_texts *kernel)
{
	struct utsname host;

	*kernel = (struct kernel_texts){ };
	if (uname(&host))
		return;
	copy_text(kernel->release, sizeof(kernel->release), host.release);
	copy_text(kernel->version, sizeof(kernel->version), host.version);
	copy_text(kernel->machine, sizeof(kernel->machine), host.machine);
	copy_text(kernel->domain_name, sizeof(kernel->domain_name), host.domainname);
}

/* Returns the number at *@c, and moves *@c after it; UINT32_MAX if there is none. */
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

int host__parse_cpus(const char *list, uint64_t *set, uint32_t cpus)
{
	const char *c = list;
	uint32_t first, last;

	memset(set, 0, (cpus / 64 + !!(cpus % 64)) * sizeof(*set));
	do {
		first = last = take_cpu(&c);
		if (*c == '-') {
			c++;
			last = take_cpu(&c);
		}
		if (first > last || last >= cpus)
			return -EINVAL;
		for (; first <= last; first++)
			set[first / 64] |= 1ULL << first % 64;
	} while (*c++ == ',');
	return c[-1] == '\n' || !c[-1] ? 0 : -EINVAL;
}

/* Reads the list from the beginning of a file to its end, which is the end of the first line. */
static int read_list(int fd, uint64_t *set, uint32_t cpus)
{
	char list[LIST_MAX];
	size_t length = 0;
	ssize_t got;

	do {
		got = pread(fd, list + length, sizeof(list) - 1 - length, length);
		if (got < 0)
			return -errno;
		length += got;
	} while (got && list[length - 1] != '\n' && length < sizeof(list) - 1);
	list[length] = '\0';
	return host__parse_cpus(list, set, cpus);
}

static int read_cpus(const char *path, uint64_t *set, uint32_t cpus)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int ret;

	if (fd < 0)
		return -errno;
	ret = read_list(fd, set, cpus);
	close(fd);
	return ret;
}

bool host__can_pin_read_only(void)
{
	struct utsname host;
	int major, minor;

	return uname(&host) || sscanf(host.release, "%d.%d", &major, &minor) != 2 || major > 6 ||
	       (major == 6 && minor >= 2);
}

int host__online_cpus(uint64_t *online, uint32_t cpus)
{
	return read_cpus(ONLINE_CPUS, online, cpus);
}

int host__open_online_cpus(void)
{
	int fd = open(ONLINE_CPUS, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int host__read_online_cpus(int fd, uint64_t *online, uint32_t cpus)
{
	return read_list(fd, online, cpus);
}

/* 2 to the power of CONFIG_NODES_SHIFT, at most. */
#define NODES_MAX 1024

uint32_t host__nodes(void)
{
	uint64_t possible[NODES_MAX / 64];
	uint32_t i, nodes = 0;

	/* The kernel lists nodes as it lists CPUs. */
	if (read_cpus(POSSIBLE_NODES, possible, NODES_MAX))
		return 1;
	for (i = 0; i < NODES_MAX / 64; i++)
		nodes += __builtin_popcountll(possible[i]);
	return nodes;
}

/* More CPUs than a kernel can have. */
#define CPUS_MAX 8192

uint32_t host__cpus(void)
{
	uint64_t possible[CPUS_MAX / 64];
	uint32_t cpus = CPUS_MAX;

	if (host__possible_cpus(possible, CPUS_MAX))
		return 1;
	while (cpus > 1 && !(possible[(cpus - 1) / 64] >> (cpus - 1) % 64 & 1))
		cpus--;
	return cpus;
}

int host__possible_cpus(uint64_t *possible, uint32_t cpus)
{
	return read_cpus(POSSIBLE_CPUS, possible, cpus);
}

/* Without nohz_full= the file does not exist, or contains "(null)" or nothing. */
void host__nohz_full_cpus(uint64_t *nohz_full, uint32_t cpus)
{
	if (read_cpus(NOHZ_FULL_CPUS, nohz_full, cpus))
		memset(nohz_full, 0, (cpus / 64 + !!(cpus % 64)) * sizeof(*nohz_full));
}
