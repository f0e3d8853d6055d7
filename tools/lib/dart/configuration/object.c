// SPDX-License-Identifier: LGPL-2.1-or-later
/* Opens objects by the names that people use for them: see object.h. */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/magic.h>
#include <mntent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "object.h"

/* Where ip-netns(8) keeps network namespaces. */
#define NETNS_DIRECTORY "/run/netns"
#define DISK_DIRECTORY "/dev"
/* Where systemd mounts cgroups, if they are not mounted yet. */
#define CGROUP_DIRECTORY "/sys/fs/cgroup"

/* Finds where cgroups of version 2 are mounted, as a full path. */
static bool find_cgroups(char mount[static PATH_MAX])
{
	FILE *mounts = setmntent("/proc/self/mounts", "r");
	struct mntent *found;
	bool is_there = false;

	while (mounts && !is_there && (found = getmntent(mounts)))
		is_there = !strcmp(found->mnt_type, "cgroup2") && realpath(found->mnt_dir, mount);
	if (mounts)
		endmntent(mounts);
	if (!is_there)
		strcpy(mount, CGROUP_DIRECTORY);
	return is_there;
}

/* The part of @path after @directory, with its slash; NULL if @path lies outside. */
static const char *below(const char *path, const char *directory)
{
	size_t length = strlen(directory);

	if (strncmp(path, directory, length) || (path[length] && path[length] != '/'))
		return NULL;
	return path + length;
}

/* No empty component, "." or "..": two texts never name the same object. */
static bool is_canonical(const char *text)
{
	size_t length;

	if (*text == '/')
		text++;
	do {
		length = strcspn(text, "/");
		if (!length || (length == 1 && *text == '.') ||
		    (length == 2 && !memcmp(text, "..", 2)))
			return false;
		text += length;
	} while (*text++);
	return true;
}

static int find_cgroup(const char *text, char path[static PATH_MAX], const char **label)
{
	char mount[PATH_MAX];
	const char *rest;

	find_cgroups(mount);
	rest = below(text, mount);
	*label = !rest ? text : *rest ? rest : "/";
	return snprintf(path, PATH_MAX, "%s%s", mount, (*label)[1] ? *label : "");
}

/* A name stands for a path in @directory; the label of a path there is its name. */
static int find_file(const char *directory, const char *text,
		     char path[static PATH_MAX], const char **label)
{
	const char *rest = below(text, directory);

	*label = rest && *rest ? rest + 1 : text;
	if (**label == '/')
		return snprintf(path, PATH_MAX, "%s", *label);
	return snprintf(path, PATH_MAX, "%s/%s", directory, *label);
}

int dart_object__path(enum dart_object_kind kind, const char *text, char path[static PATH_MAX],
		      const char **label, struct dart_error *error)
{
	int length;

	if (kind == DART_OBJECT_CGROUP)
		length = find_cgroup(text, path, label);
	else if (kind == DART_OBJECT_FILESYSTEM)
		length = snprintf(path, PATH_MAX, "%s", *label = text);
	else if (kind == DART_OBJECT_DISK)
		length = find_file(DISK_DIRECTORY, text, path, label);
	else
		length = find_file(NETNS_DIRECTORY, text, path, label);
	if (length >= PATH_MAX)
		return dart_error__set(error, ENAMETOOLONG, "the path of '%s' is too long", text);
	return 0;
}

int dart_object__find(enum dart_object_kind kind, const char *text, char path[static PATH_MAX],
		      const char **label, struct dart_error *error)
{
	const bool is_cgroup = kind == DART_OBJECT_CGROUP;
	const bool is_filesystem = kind == DART_OBJECT_FILESYSTEM;

	if (is_cgroup && *text != '/')
		return dart_error__set(
			error, EINVAL,
			"'%s' is not the path of a cgroup (write it from the root of the hierarchy, as in /system.slice)",
			text);
	if (is_filesystem && *text != '/')
		return dart_error__set(error, EINVAL,
				       "'%s' is not the path of a mount point from the root", text);
	if (!((is_cgroup || is_filesystem) && !text[1]) && !is_canonical(text))
		return dart_error__set(
			error, EINVAL,
			"'%s' is not a name or a path without '.', '..' and '//'",
			text);
	return dart_object__path(kind, text, path, label, error);
}

static const char *remedy(int code, const char *other)
{
	if (code == EACCES || code == EPERM)
		return geteuid() ? " (be root)" : "";
	return other;
}

int dart_object__open_netns(const char *path, struct dart_error *error)
{
	const char *name = below(path, NETNS_DIRECTORY) ?: "";
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0)
		return fd;
	return dart_error__set(error, errno, "there is no network namespace '%s': %s%s",
			       *name ? name + 1 : path, strerror(errno),
			       remedy(errno, " (see ip netns list)"));
}

int dart_object__open_disk(const char *path, struct dart_error *error)
{
	/* The sandbox of dartd forbids reading the data, which nothing needs. */
	int fd = open(path, O_PATH | O_CLOEXEC);
	struct stat status;
	int ret;

	if (fd < 0)
		return dart_error__set(error, errno, "cannot open disk '%s': %s%s", path,
				       strerror(errno), remedy(errno, ""));
	if (!fstat(fd, &status) && S_ISBLK(status.st_mode))
		return fd;
	ret = dart_error__set(error, ENOTBLK, "'%s' is not a disk", path);
	close(fd);
	return ret;
}

int dart_object__open_filesystem(const char *path, struct dart_error *error)
{
	int fd = open(path, O_PATH | O_CLOEXEC);
	struct statx status;
	int ret;

	if (fd < 0)
		return dart_error__set(error, errno, "cannot open mount point '%s': %s%s", path,
				       strerror(errno), remedy(errno, ""));
	/* Without synchronization, which would wait for a server that is down. */
	if (!statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &status) &&
	    status.stx_attributes & STATX_ATTR_MOUNT_ROOT)
		return fd;
	ret = dart_error__set(error, EINVAL,
			      "'%s' is not a mount point (findmnt --target prints that of a file)",
			      path);
	close(fd);
	return ret;
}

static bool is_version_1(const char *path)
{
	struct statfs system;

	return !statfs(path, &system) && system.f_type == CGROUP_SUPER_MAGIC;
}

int dart_object__open_cgroup(const char *path, char *root, struct dart_error *error)
{
	char mount[PATH_MAX], whole[PATH_MAX];
	const char *label;
	int code, fd;

	if (!find_cgroups(mount))
		return dart_error__set(error, ENOENT, "cgroups of version 2 are not mounted here");
	code = realpath(path, whole) ? 0 : errno;
	label = below(path, mount) ?: path;
	if (is_version_1(code ? label : whole))
		return dart_error__set(error, EINVAL,
				       "cgroup '%s' is of version 1, which does not count by CPU",
				       label);
	if (!code && !below(whole, mount))
		return dart_error__set(error, EINVAL, "'%s' is not below %s", path, mount);
	fd = code ? -1 : open(whole, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		code = code ?: errno;
		return dart_error__set(error, code, "there is no cgroup '%s': %s%s", path,
				       strerror(code), remedy(code, ""));
	}
	label = below(whole, mount);
	if (root)
		strcpy(root, *label ? label : "/");
	return fd;
}

/* A plain system call, so that clients of libdart need no libbpf. */
int dart_object__open_map(const char *path, struct dart_error *error)
{
	union bpf_attr attributes = {
		.pathname = (uintptr_t)path,
		.file_flags = BPF_F_RDONLY,
	};
	int code, fd;

	fd = syscall(__NR_bpf, BPF_OBJ_GET, &attributes, sizeof(attributes));
	if (fd >= 0 && !fcntl(fd, F_SETFD, FD_CLOEXEC))
		return fd;
	code = errno;
	if (fd >= 0)
		close(fd);
	/* Root gets EPERM or EACCES for an object that is not a map. */
	return dart_error__set(
		error, code, "cannot open the map pinned at '%s': %s%s", path,
		strerror(code),
		code != EPERM && code != EACCES ? "" :
		geteuid()			? " (be root)" :
			    " (is it a map? see bpftool map show)");
}

int dart_object__open_file(const char *path, bool *is_new, struct dart_error *error)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (is_new)
		*is_new = fd >= 0;
	if (fd < 0 && errno == EEXIST)
		fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	return dart_error__set(error, errno, "cannot open '%s': %s%s", path,
			       strerror(errno), remedy(errno, ""));
}

static int open_by_type(const json_t *request, const char *path, struct dart_error *error)
{
	const char *type;

	type = json_string_value(json_object_get(request, "request")) ?: "";
	if (!strcmp(type, "register-map"))
		return dart_object__open_map(path, error);
	if (!strcmp(type, "store-create") || !strcmp(type, "table-create") ||
	    !strcmp(type, "journal-create") || !strcmp(type, "ledger-create") ||
	    !strcmp(type, "sketch-create"))
		return dart_object__open_file(path, NULL, error);
	if (!strcmp(type, "register-source") || !strcmp(type, "follow-source")) {
		if (json_object_get(request, "netns"))
			return dart_object__open_netns(path, error);
		if (json_object_get(request, "disk"))
			return dart_object__open_disk(path, error);
		if (json_object_get(request, "cgroup"))
			return dart_object__open_cgroup(path, NULL, error);
		if (json_object_get(request, "filesystem"))
			return dart_object__open_filesystem(path, error);
	}
	return dart_error__set(error, EINVAL, "no object belongs to the request '%s'", type);
}

int dart_configuration__open_object(const json_t *request, const char *path,
				    int *fd, struct dart_error *error)
{
	int ret = path ? open_by_type(request, path, error) : -1;

	*fd = ret;
	if (!path || ret >= 0)
		return 0;
	*fd = -1;
	return ret;
}
