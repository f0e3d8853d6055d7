// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "cgroup.h"
#include "command.h"
#include "selector.h"

/* Where ip-netns(8) keeps network namespaces. */
#define NAMED "/run/netns"

bool selector__is_given(const struct selector *selector)
{
	return selector->netns || selector->netdev || selector->disk ||
	       selector->cgroup || selector__is_follow(selector);
}

bool selector__is_follow(const struct selector *selector)
{
	return selector->all_cgroups || selector->all_netns;
}

/* Returns a descriptor, or -1 after it has said why. */
static int open_netns(const char *netns, char *label, size_t size)
{
	bool is_path = strchr(netns, '/');
	char path[PATH_MAX];
	struct stat status;
	int fd;

	/* A name, a path, the number of a process, in this order. */
	snprintf(path, sizeof(path), is_path ? "%s" : NAMED "/%s", netns);
	snprintf(label, size, "%s", netns);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && !is_path)
		return fd;
	if (fd < 0 && !is_path && *netns &&
	    strspn(netns, "0123456789") == strlen(netns)) {
		snprintf(path, sizeof(path), "/proc/%s/ns/net", netns);
		fd = open(path, O_RDONLY | O_CLOEXEC);
	}
	if (fd < 0 || fstat(fd, &status)) {
		fail("there is no network namespace '%s': %s%s", netns,
		     strerror(errno),
		     errno == EACCES ? " (be root)" : " (see ip netns list)");
		if (fd >= 0)
			close(fd);
		return -1;
	}
	snprintf(label, size, "net:%ju", (uintmax_t)status.st_ino);
	return fd;
}

static int open_disk(const char *disk, char *label, size_t size)
{
	char path[PATH_MAX], link[64], name[PATH_MAX];
	struct stat status;
	ssize_t length;
	int fd;

	snprintf(path, sizeof(path), strchr(disk, '/') ? "%s" : "/dev/%s",
		 disk);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &status)) {
		fail("cannot open disk %s: %s", path, strerror(errno));
		goto close;
	}
	if (!S_ISBLK(status.st_mode)) {
		fail("%s is no disk", path);
		goto close;
	}

	/* As the kernel calls it, whatever link led there. */
	snprintf(link, sizeof(link), "/sys/dev/block/%u:%u",
		 major(status.st_rdev), minor(status.st_rdev));
	length = readlink(link, name, sizeof(name) - 1);
	name[length < 0 ? 0 : length] = '\0';
	snprintf(label, size, "%s", basename(length > 0 ? name : path));
	return fd;

close:
	if (fd >= 0)
		close(fd);
	return -1;
}

static int request_follow(const struct selector *selector, const char *source,
			  json_t **request, int *fd)
{
	char path[PATH_MAX];

	if (selector->netns || selector->netdev || selector->disk ||
	    selector->cgroup ||
	    (selector->all_netns && selector->all_cgroups))
		return misuse("--all-netns and --all-cgroups stand alone");
	if (selector->all_netns) {
		*request = json_pack("{s:s, s:s}", "request", "follow-source",
				     "source", source);
		return EXIT_SUCCESS;
	}
	*fd = cgroup__open(selector->all_cgroups, path);
	if (*fd < 0)
		return EXIT_FAILURE;
	*request = json_pack("{s:s, s:s, s:s}", "request", "follow-source",
			     "source", source, "cgroup", path);
	return EXIT_SUCCESS;
}

int selector__request(const struct selector *selector, const char *source,
		      json_t **request, int *fd)
{
	const char *netns = NULL, *disk = NULL, *cgroup = NULL;
	char label[PATH_MAX];

	*fd = -1;
	if (selector__is_follow(selector))
		return request_follow(selector, source, request, fd);
	if (!!selector->disk + !!selector->cgroup +
	    (selector->netns || selector->netdev) > 1)
		return misuse("a source is of a namespace, a disk or a cgroup");

	if (selector->netns) {
		*fd = open_netns(selector->netns, label, sizeof(label));
		netns = label;
	} else if (selector->disk) {
		*fd = open_disk(selector->disk, label, sizeof(label));
		disk = label;
	} else if (selector->cgroup) {
		*fd = cgroup__open(selector->cgroup, label);
		cgroup = label;
	}
	if (*fd < 0 && (netns || disk || cgroup))
		return EXIT_FAILURE;

	*request = json_pack("{s:s, s:s, s:s*, s:s*, s:s*, s:s*}", "request",
			     "register-source", "source", source, "netns",
			     netns, "netdev", selector->netdev, "disk", disk,
			     "cgroup", cgroup);
	return EXIT_SUCCESS;
}
