// SPDX-License-Identifier: GPL-2.0-only
/* Pins, which keep an XDP program attached after dartctl has ended. */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "pins.h"

#define MOUNT "/sys/fs/bpf"

static const char *const pins[] = {
	/* Links first: a program stops when its link goes. */
	XDP_PIN_LINK,	 XDP_PIN_THROUGH,    XDP_PIN_COUNTERS,
	XDP_PIN_REPORTS, XDP_PIN_COLLECTORS, XDP_PIN_SHARES,	XDP_PIN_SEQUENCES,
	XDP_PIN_ANSWERS, XDP_PIN_LISTS,	    XDP_PIN_ROWS,	XDP_PIN_SUMS,
	XDP_PIN_SKETCHERS, XDP_PIN_FLUSH,   XDP_PIN_OFFLOAD,
};

#define PINS (sizeof(pins) / sizeof(pins[0]))
#define LINKS 2

/* bpffs reserves dots, and names of interfaces contain no colon. */
static void exchange(char *text, char from, char to)
{
	for (; *text; text++)
		if (*text == from)
			*text = to;
}

bool xdp_pins__is_name(const char *name)
{
	return *name && strlen(name) < IF_NAMESIZE && !strchr(name, '/');
}

/* Writes the path of a pin, or of the directory if @pin is "". */
static void xdp_pins__path(const char *interface, const char *pin, char path[XDP_PATH_MAX])
{
	char directory[IF_NAMESIZE];

	snprintf(directory, sizeof(directory), "%s", interface);
	exchange(directory, '.', ':');
	snprintf(path, XDP_PATH_MAX, "%s/%s%s%s", XDP_PINS, directory, *pin ? "/" : "", pin);
}

void xdp_pins__interface(const char *directory, char name[IF_NAMESIZE])
{
	snprintf(name, IF_NAMESIZE, "%s", directory);
	exchange(name, ':', '.');
}

bool xdp_pins__exist(const char *interface)
{
	char path[XDP_PATH_MAX];

	xdp_pins__path(interface, "", path);
	return !access(path, F_OK);
}

int xdp_pins__create(const char *interface, struct dart_error *error)
{
	char path[XDP_PATH_MAX];
	struct statfs mount;

	if (statfs(MOUNT, &mount) || mount.f_type != BPF_FS_MAGIC)
		return dart_error__set(
			error, ENOENT,
			"no bpf file system is mounted to pin it in (mount -t bpf bpf " MOUNT ")");
	xdp_pins__path(interface, "", path);
	if ((mkdir(MOUNT "/dart", 0700) && errno != EEXIST) ||
	    (mkdir(XDP_PINS, 0700) && errno != EEXIST) || mkdir(path, 0700))
		return dart_error__system(error, errno, "cannot create '%s'", path);
	return 0;
}

int xdp_pins__add(const char *interface, const char *pin, int fd)
{
	char path[XDP_PATH_MAX];

	xdp_pins__path(interface, pin, path);
	return bpf_obj_pin(fd, path) ? -errno : 0;
}

int xdp_pins__open(const char *interface, const char *pin)
{
	char path[XDP_PATH_MAX];
	int fd;

	xdp_pins__path(interface, pin, path);
	fd = bpf_obj_get(path);
	return fd < 0 ? -errno : fd;
}

int xdp_pins__open_map(const char *interface, const char *pin, size_t value_size, uint32_t *entries)
{
	struct bpf_map_info info = {};
	__u32 size = sizeof(info);
	int fd = xdp_pins__open(interface, pin), ret = 0;

	if (fd < 0)
		return fd;
	if (bpf_obj_get_info_by_fd(fd, &info, &size))
		ret = -errno;
	else if (info.value_size != value_size)
		ret = -EPROTO;
	if (ret) {
		close(fd);
		return ret;
	}
	if (entries)
		*entries = info.max_entries;
	return fd;
}

int xdp_pins__end_links(const char *interface)
{
	char path[XDP_PATH_MAX];
	size_t i;

	for (i = 0; i < LINKS; i++) {
		xdp_pins__path(interface, pins[i], path);
		if (unlink(path) && errno != ENOENT)
			return -errno;
	}
	return 0;
}

int xdp_pins__remove(const char *interface)
{
	char path[XDP_PATH_MAX];
	size_t i;

	for (i = 0; i < PINS; i++) {
		xdp_pins__path(interface, pins[i], path);
		if (unlink(path) && errno != ENOENT)
			return -errno;
	}
	xdp_pins__path(interface, "", path);
	return rmdir(path) ? -errno : 0;
}
