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

#include <libdart/configuration/object.h>
#include <libdart/escape.h>

#include "selector.h"
#include "tools/dartctl/cli/command.h"

bool selector__is_follow(const struct selector *selector)
{
	return selector->of[SELECTOR_ALL] || selector__all_of(selector);
}

const char *selector__all_of(const struct selector *selector)
{
	return selector->of[SELECTOR_ALL_NETNS]	  ? "netns" :
	       selector->of[SELECTOR_ALL_NETDEVS] ? "netdev" :
	       selector->of[SELECTOR_ALL_DISKS]	  ? "disk" :
	       selector->of[SELECTOR_ALL_CGROUPS] ? "cgroup" :
	       selector->of[SELECTOR_ALL_FILESYSTEMS] ? "filesystem" :
							NULL;
}

/*
 * These return a descriptor and the label of the entry, or -errno.  @text may be
 * a path, a name or the ID of a process, in this order.
 */
static int open_netns(const char *text, char label[static PATH_MAX], struct dart_error *error)
{
	char path[PATH_MAX];
	const char *name = text;
	struct stat status;
	int fd;

	if (strchr(text, '/')) {
		fd = dart_object__open_netns(text, error);
	} else {
		fd = dart_object__path(DART_OBJECT_NETNS, text, path, &name, error) ?:
			     dart_object__open_netns(path, error);
		snprintf(label, PATH_MAX, "%s", name);
		if (fd >= 0 || strspn(text, "0123456789") != strlen(text))
			return fd;
		snprintf(path, sizeof(path), "/proc/%s/ns/net", text);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			return -ENOENT;
	}
	if (fd >= 0 && !fstat(fd, &status))
		snprintf(label, PATH_MAX, "net:%ju", (uintmax_t)status.st_ino);
	return fd;
}

static int open_disk(const char *text, char label[static PATH_MAX], struct dart_error *error)
{
	char path[PATH_MAX], link[64], name[PATH_MAX];
	struct stat status;
	ssize_t length;
	int fd;

	snprintf(path, sizeof(path), strchr(text, '/') ? "%s" : "/dev/%s", text);
	fd = dart_object__open_disk(path, error);
	if (fd < 0)
		return fd;

	/* The name by which the kernel knows the device, even if @text is a link. */
	fstat(fd, &status);
	snprintf(link, sizeof(link), "/sys/dev/block/%u:%u",
		 major(status.st_rdev), minor(status.st_rdev));
	length = readlink(link, name, sizeof(name) - 1);
	name[length < 0 ? 0 : length] = '\0';
	snprintf(label, PATH_MAX, "%s", basename(length > 0 ? name : path));
	return fd;
}

/* @text: path from the root of the hierarchy, or in the file system */
static int open_cgroup(const char *text, char label[static PATH_MAX], struct dart_error *error)
{
	char path[PATH_MAX], rooted[PATH_MAX];
	const char *name;
	size_t length;

	snprintf(rooted, sizeof(rooted), "%s%s", *text == '/' ? "" : "/", text);
	for (length = strlen(rooted); length > 1 && rooted[length - 1] == '/';)
		rooted[--length] = '\0';
	return dart_object__path(DART_OBJECT_CGROUP, rooted, path, &name, error) ?:
		       dart_object__open_cgroup(path, label, error);
}

/*
 * Sets @label to the path without symbolic links, as the kernel reports it.  Returns -1 if nothing
 * is mounted there in the mount namespace of this process: dartd knows whether the host mounts it.
 */
static int open_filesystem(const char *path, char label[static PATH_MAX])
{
	struct dart_error error;
	int fd = dart_object__open_filesystem(path, &error);
	char link[32];
	ssize_t length = 0;

	if (fd >= 0) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		length = readlink(link, label, PATH_MAX - 1);
	}
	if (length > 0)
		label[length] = '\0';
	else if (!realpath(path, label))
		snprintf(label, PATH_MAX, "%s", path);
	return fd < 0 ? -1 : fd;
}

int selector__request(const struct selector *selector, const char *source,
		      json_t **request, int *fd)
{
	const char *const *of = selector->of, *member = NULL;
	const char *cgroup = of[SELECTOR_CGROUP] ?: of[SELECTOR_ALL_CGROUPS];
	const bool is_follow = selector__is_follow(selector);
	char label[PATH_MAX];
	struct dart_error error;

	*fd = -1;
	if (!!of[SELECTOR_DISK] + !!of[SELECTOR_CGROUP] + !!of[SELECTOR_FILESYSTEM] +
		    (of[SELECTOR_NETNS] || of[SELECTOR_NETDEV]) + !!of[SELECTOR_ALL_NETNS] +
		    !!of[SELECTOR_ALL_NETDEVS] + !!of[SELECTOR_ALL_DISKS] +
		    !!of[SELECTOR_ALL_CGROUPS] + !!of[SELECTOR_ALL_FILESYSTEMS] >
	    1)
		return misuse(
			"a source takes one of a namespace, a disk, a cgroup, a mount point, or all of a kind");

	if (of[SELECTOR_NETNS]) {
		member = "netns";
		*fd = open_netns(of[SELECTOR_NETNS], label, &error);
	} else if (of[SELECTOR_DISK]) {
		member = "disk";
		*fd = open_disk(of[SELECTOR_DISK], label, &error);
	} else if (cgroup) {
		member = "cgroup";
		*fd = open_cgroup(cgroup, label, &error);
	} else if (of[SELECTOR_FILESYSTEM]) {
		member = "filesystem";
		*fd = open_filesystem(of[SELECTOR_FILESYSTEM], label);
	}
	if (member && *fd < 0 && !of[SELECTOR_FILESYSTEM])
		return fail(-*fd, "%s", error.text);
	if (member && !dart_escape__is_utf8(label)) {
		fail(EINVAL,
		     "'%s' is not UTF-8 and cannot be registered by itself (dartctl register host registers it with all others)",
		     label);
		close(*fd);
		*fd = -1;
		return EXIT_FAILURE;
	}

	*request = json_pack("{s:s, s:s, s:s*, s:s*, s:o*}", "request",
			     is_follow ? "follow-source" : "register-source", "source", source,
			     "netdev", of[SELECTOR_NETDEV], "gather", selector->gather,
			     "deferrable", selector->is_deferrable ? json_true() : NULL);
	if (member && json_object_set_new(*request, member, json_string(label))) {
		json_decref(*request);
		*request = NULL;
	}
	return EXIT_SUCCESS;
}
