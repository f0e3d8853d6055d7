// SPDX-License-Identifier: GPL-2.0-only
/* Selectors of sources, from the command line into requests. */
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

bool selector__is_follow(const struct selector *selector)
{
	return selector->of[SELECTOR_ALL_CGROUPS] ||
	       selector->of[SELECTOR_ALL_NETNS];
}

/* Returns a descriptor, or -1 with a message printed. */
static int open_netns(const char *netns, char *label, size_t size)
{
	bool is_path = strchr(netns, '/');
	char path[PATH_MAX];
	struct stat status;
	int fd;

	/* It may be a path, a name or the ID of a process, in this order. */
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
		fail(errno, "there is no network namespace '%s': %s%s", netns,
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
		fail(errno, "cannot open disk '%s': %s", path, strerror(errno));
		goto close;
	}
	if (!S_ISBLK(status.st_mode)) {
		fail(ENOTBLK, "'%s' is not a disk", path);
		goto close;
	}

	/* The name that the kernel has for it, also behind a link. */
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

int selector__request(const struct selector *selector, const char *source,
		      json_t **request, int *fd)
{
	const char *const *of = selector->of, *member = NULL;
	const char *cgroup = of[SELECTOR_CGROUP] ?: of[SELECTOR_ALL_CGROUPS];
	const bool is_follow = selector__is_follow(selector);
	char label[PATH_MAX];

	*fd = -1;
	if (!!of[SELECTOR_DISK] + !!of[SELECTOR_CGROUP] +
		    (of[SELECTOR_NETNS] || of[SELECTOR_NETDEV]) +
		    !!of[SELECTOR_ALL_NETNS] + !!of[SELECTOR_ALL_CGROUPS] > 1)
		return misuse(
			"a source takes one of a namespace, a disk, a cgroup, or all of a kind");

	if (of[SELECTOR_NETNS]) {
		member = "netns";
		*fd = open_netns(of[SELECTOR_NETNS], label, sizeof(label));
	} else if (of[SELECTOR_DISK]) {
		member = "disk";
		*fd = open_disk(of[SELECTOR_DISK], label, sizeof(label));
	} else if (cgroup) {
		member = "cgroup";
		*fd = cgroup__open(cgroup, label);
	}
	if (member && *fd < 0)
		return EXIT_FAILURE;

	*request = json_pack("{s:s, s:s, s:s*}", "request",
			     is_follow ? "follow-source" : "register-source",
			     "source", source, "netdev", of[SELECTOR_NETDEV]);
	if (member && json_object_set_new(*request, member,
					  json_string(label))) {
		json_decref(*request);
		*request = NULL;
	}
	return EXIT_SUCCESS;
}
