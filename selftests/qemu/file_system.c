// SPDX-License-Identifier: GPL-2.0-only
/* The guest's mounts: the host's files below a tmpfs, and the kernel's file systems. */
#include "file_system.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Large messages, because each costs a round trip to the host. */
#define OPTIONS_9P	"trans=virtio,version=9p2000.L,msize=131072,noxattr,"

struct mount_point {
	const char *type;
	const char *source;
	const char *target;
	unsigned long flags;
	const char *options;
};

static const struct mount_point of_kernel[] = {
	{ "devtmpfs", "devtmpfs", "/dev", MS_NOSUID, NULL },
	{ "proc", "proc", "/proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL },
	{ "sysfs", "sysfs", "/sys", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL },
	{ }
};

static const struct mount_point of_root[] = {
	{ "9p", "root", "/lower", MS_RDONLY, OPTIONS_9P "cache=loose" },
	{ "tmpfs", "tmpfs", "/upper", 0, NULL },
	{ }
};

/* Where the root is not that of the host. */
static const struct mount_point of_project[] = {
	{ "9p", "project", "/project", MS_RDONLY, OPTIONS_9P "cache=loose" },
	{ }
};

/* The root of a guest that keeps its changes, with its own modules. */
static const struct mount_point of_own[] = {
	{ "9p", "root", "/root", 0, OPTIONS_9P "cache=loose" },
	{ }
};

static const struct mount_point overlay[] = {
	{ "overlay", "overlay", "/root", 0,
	  "lowerdir=/lower,upperdir=/upper/data,workdir=/upper/work" },
	{ }
};

/* /tmp stays the host's, below the overlay, because the clone of the project may lie there. */
static const struct mount_point of_user[] = {
	{ "devpts", "devpts", "/dev/pts", MS_NOSUID | MS_NOEXEC, "mode=620" },
	{ "tmpfs", "tmpfs", "/dev/shm", MS_NOSUID | MS_NODEV, NULL },
	{ "tmpfs", "tmpfs", "/run", MS_NOSUID | MS_NODEV, "mode=755" },
	{ "cgroup2", "cgroup2", "/sys/fs/cgroup", 0, NULL },
	{ "bpf", "bpf", "/sys/fs/bpf", 0, "mode=700" },
	{ "debugfs", "debugfs", "/sys/kernel/debug", 0, NULL },
	{ "tracefs", "tracefs", "/sys/kernel/tracing", 0, NULL },
	{ "securityfs", "securityfs", "/sys/kernel/security", 0, NULL },
	{ }
};

static int mount_points__mount(const struct mount_point *point, const char **where)
{
	for (; point->type; point++) {
		*where = point->target;
		mkdir(point->target, 0755);
		if (mount(point->source, point->target, point->type, point->flags, point->options))
			return -errno;
	}
	return 0;
}

/* The kernel makes the devices; udev would make these names. */
static int links__make(void)
{
	static const char *const links[][2] = {
		{ "/proc/self/fd", "/dev/fd" },
		{ "fd/0", "/dev/stdin" },
		{ "fd/1", "/dev/stdout" },
		{ "fd/2", "/dev/stderr" },
	};

	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		if (symlink(links[i][0], links[i][1]))
			return -errno;
	}
	return 0;
}

int file_system__mount_kernel(void)
{
	const char *where;
	int err = mount_points__mount(of_kernel, &where);

	return err ?: links__make();
}

/* PID 1 shares its root with the kernel threads, and so moves them, too. */
static int root__enter(void)
{
	const struct mount_point *moved;
	char target[64];

	for (moved = of_kernel; moved->type; moved++) {
		snprintf(target, sizeof(target), "/root%s", moved->target);
		if (mount(moved->target, target, NULL, MS_MOVE, NULL))
			return -errno;
	}
	if (chdir("/root") || mount(".", "/", NULL, MS_MOVE, NULL) || chroot(".") || chdir("/"))
		return -errno;
	return 0;
}

static int modules__bind(const char *modules)
{
	struct utsname kernel;
	char target[128];

	uname(&kernel);
	snprintf(target, sizeof(target), "/lib/modules/%s", kernel.release);
	mkdir("/lib/modules", 0755);
	mkdir(target, 0755);
	return mount(modules, target, NULL, MS_BIND, NULL) ? -errno : 0;
}

static int hosts__write(const char *lines)
{
	FILE *file = fopen("/etc/hosts", "we");

	if (!file)
		return -errno;
	fprintf(file, "127.0.0.1 localhost\n%s", lines);
	return fclose(file) ? -errno : 0;
}

/*
 * The overlay copies a file of the host into the memory of the guest when it is opened for
 * writing.  Whoever opens one of the host waits for the host three times.  A file that does not
 * exist is passed over.
 */
static void files__copy(const char *lines)
{
	char path[PATH_MAX];
	size_t length;
	int fd;

	for (; *lines; lines += length + (lines[length] == '\n')) {
		length = strcspn(lines, "\n");
		snprintf(path, sizeof(path), "%.*s", (int)length, lines);
		fd = open(path, O_WRONLY | O_CLOEXEC);
		if (fd >= 0)
			close(fd);
	}
}

static int overlay__mount(const char **where)
{
	int err = mount_points__mount(of_root, where);

	if (err)
		return err;
	mkdir("/upper/data", 0755);
	mkdir("/upper/work", 0755);
	return mount_points__mount(overlay, where);
}

/* Makes the directories of an absolute path that do not exist. */
static void directories__make(const char *path)
{
	char parent[PATH_MAX];
	size_t i;

	for (i = 1; i < sizeof(parent) && path[i - 1]; i++) {
		if (path[i] != '/' && path[i])
			continue;
		snprintf(parent, sizeof(parent), "%.*s", (int)i, path);
		mkdir(parent, 0755);
	}
}

/* The project below /root, with what was built for this guest where the host's own build is. */
static int project__mount(const struct guest_config *config, const char **where)
{
	char target[PATH_MAX], built[PATH_MAX];
	int err = mount_points__mount(of_project, where);

	if (err)
		return err;
	*where = config->project;
	mkdir("/upper/project", 0755);
	mkdir("/upper/project-work", 0755);
	snprintf(target, sizeof(target), "/root%s", config->project);
	directories__make(target);
	if (mount("overlay", target, "overlay", 0,
		  "lowerdir=/project,upperdir=/upper/project,workdir=/upper/project-work"))
		return -errno;
	*where = config->built;
	snprintf(built, sizeof(built), "/root%s", config->built);
	snprintf(target, sizeof(target), "/root%s/.output", config->project);
	return mount(built, target, NULL, MS_BIND, NULL) ? -errno : 0;
}

int file_system__enter(const struct guest_config *config, const char **where)
{
	int err;

	err = config->root[0] ? mount_points__mount(of_own, where) : overlay__mount(where);
	if (!err && config->project[0])
		err = project__mount(config, where);
	if (err)
		return err;
	*where = "/";
	err = root__enter();
	if (err)
		return err;
	if (!config->root[0])
		files__copy(config->copied);
	err = mount_points__mount(of_user, where);
	if (err)
		return err;
	*where = config->modules;
	err = config->root[0] ? 0 : modules__bind(config->modules);
	if (err)
		return err;
	*where = "/etc/hosts";
	err = hosts__write(config->hosts);
	/* As systemd does on a host, but not where it finds traces of a container, as here perhaps. */
	*where = "/";
	if (!err && mount(NULL, "/", NULL, MS_REC | MS_SHARED, NULL))
		err = -errno;
	if (err || !config->share[0])
		return err;
	*where = config->share;
	directories__make(config->share);
	if (mount("share", config->share, "9p", 0, OPTIONS_9P "cache=none"))
		return -errno;
	return 0;
}
