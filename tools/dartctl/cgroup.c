// SPDX-License-Identifier: GPL-2.0-only
/* Finds cgroups by the paths that people use for them. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <mntent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "cgroup.h"
#include "command.h"

/* Finds where cgroups of version 2 are mounted, as a full path. */
static bool find_mount(char mount[static PATH_MAX])
{
	FILE *mounts = setmntent("/proc/self/mounts", "r");
	struct mntent *found;
	bool is_there = false;

	while (mounts && !is_there && (found = getmntent(mounts)))
		is_there = !strcmp(found->mnt_type, "cgroup2") &&
			   realpath(found->mnt_dir, mount);
	if (mounts)
		endmntent(mounts);
	return is_there;
}

/* The part of @path below @mount: "" for @mount itself, NULL if outside. */
static const char *below(const char *path, const char *mount)
{
	size_t length = strlen(mount);

	if (strncmp(path, mount, length) ||
	    (path[length] && path[length] != '/'))
		return NULL;
	return path + length;
}

static bool is_version_1(const char *path)
{
	struct statfs system;

	return !statfs(path, &system) && system.f_type == CGROUP_SUPER_MAGIC;
}

int cgroup__open(const char *said, char path[static PATH_MAX])
{
	char mount[PATH_MAX], full[PATH_MAX], whole[PATH_MAX];
	int length, code, fd;
	const char *rest;

	if (!find_mount(mount)) {
		fail(ENOENT, "cgroups of version 2 are not mounted here");
		return -1;
	}

	if (below(said, mount))
		length = snprintf(full, sizeof(full), "%s", said);
	else
		length = snprintf(full, sizeof(full), "%s/%s", mount, said);
	code = length >= (int)sizeof(full) ? ENAMETOOLONG :
	       realpath(full, whole)	   ? 0 :
					     errno;
	if (is_version_1(code ? said : whole)) {
		fail(EINVAL,
		     "cgroup '%s' is of version 1, which does not count by CPU",
		     said);
		return -1;
	}
	if (code) {
		fail(code, "there is no cgroup '%s' in %s: %s", said, mount,
		     strerror(code));
		return -1;
	}
	rest = below(whole, mount);
	if (!rest) {
		fail(EINVAL, "'%s' is not below %s", said, mount);
		return -1;
	}

	fd = open(whole, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		fail(errno, "cannot open cgroup '%s': %s", said,
		     strerror(errno));
	snprintf(path, PATH_MAX, "%s", *rest ? rest : "/");
	return fd;
}
