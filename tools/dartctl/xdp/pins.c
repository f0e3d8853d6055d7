// SPDX-License-Identifier: GPL-2.0-only
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <libdart/error.h>

#include "pins.h"

#define MOUNT "/sys/fs/bpf"

static const char *const pins[] = {
	/* First what makes programs run. */
	REPORTER_PIN_LINK, REPORTER_PIN_THROUGH, REPORTER_PIN_COUNTERS,
	REPORTER_PIN_REPORTS,
};

#define PINS (sizeof(pins) / sizeof(pins[0]))

/* The file system keeps dots for itself; no interface has a colon. */
static void exchange(char *text, char from, char to)
{
	for (; *text; text++)
		if (*text == from)
			*text = to;
}

void reporter_pins__path(const char *interface, const char *pin,
			 char path[REPORTER_PATH_MAX])
{
	char directory[IF_NAMESIZE];

	snprintf(directory, sizeof(directory), "%s", interface);
	exchange(directory, '.', ':');
	snprintf(path, REPORTER_PATH_MAX, "%s/%s%s%s", REPORTER_PINS, directory,
		 *pin ? "/" : "", pin);
}

void reporter_pins__interface(const char *directory, char name[IF_NAMESIZE])
{
	snprintf(name, IF_NAMESIZE, "%s", directory);
	exchange(name, ':', '.');
}

bool reporter_pins__exist(const char *interface)
{
	char path[REPORTER_PATH_MAX];

	reporter_pins__path(interface, "", path);
	return !access(path, F_OK);
}

int reporter_pins__make(const char *interface, struct dart_error *error)
{
	char path[REPORTER_PATH_MAX];
	struct statfs mount;
	int ret = 0;

	if (statfs(MOUNT, &mount) || mount.f_type != BPF_FS_MAGIC) {
		return dart_error__set(
			error, ENOENT,
			"there is no bpf file system to keep it in (mount -t bpf bpf " MOUNT
			")");
	}
	reporter_pins__path(interface, "", path);
	if ((mkdir(MOUNT "/dart", 0700) && errno != EEXIST) ||
	    (mkdir(REPORTER_PINS, 0700) && errno != EEXIST) ||
	    mkdir(path, 0700)) {
		ret = -errno;
		dart_error__set(error, 0, "cannot make %s: %s", path,
				strerror(errno));
	}
	return ret;
}

int reporter_pins__add(const char *interface, const char *pin, int fd)
{
	char path[REPORTER_PATH_MAX];

	reporter_pins__path(interface, pin, path);
	return bpf_obj_pin(fd, path) ? -errno : 0;
}

int reporter_pins__open(const char *interface, const char *pin)
{
	char path[REPORTER_PATH_MAX];
	int fd;

	reporter_pins__path(interface, pin, path);
	fd = bpf_obj_get(path);
	return fd < 0 ? -errno : fd;
}

int reporter_pins__remove(const char *interface)
{
	char path[REPORTER_PATH_MAX];
	size_t i;

	for (i = 0; i < PINS; i++) {
		reporter_pins__path(interface, pins[i], path);
		if (unlink(path) && errno != ENOENT)
			return -errno;
	}
	reporter_pins__path(interface, "", path);
	return rmdir(path) ? -errno : 0;
}
