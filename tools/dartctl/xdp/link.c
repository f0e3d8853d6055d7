// SPDX-License-Identifier: GPL-2.0-only
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <libdart/error.h>

#include "link.h"
#include "pins.h"

/* A link of @program to interface @number, or -errno. */
static int attach(const struct bpf_program *program, uint32_t number,
		  uint32_t mode)
{
	DECLARE_LIBBPF_OPTS(bpf_link_create_opts, options, .flags = mode);
	int fd = bpf_link_create(bpf_program__fd(program), number, BPF_XDP,
				 &options);

	return fd < 0 ? -errno : fd;
}

static bool is_taken(int error)
{
	return error == -EBUSY || error == -EEXIST;
}

/*
 * A veth sends what is redirected to it, or turned back, only while the other
 * end has XDP or GRO; nobody is told what it drops.
 */
static bool is_veth(uint32_t number)
{
	struct ethtool_drvinfo driver = { .cmd = ETHTOOL_GDRVINFO };
	struct ifreq request = { .ifr_data = (char *)&driver };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool is_veth;

	is_veth = fd >= 0 && if_indextoname(number, request.ifr_name) &&
		  !ioctl(fd, SIOCETHTOOL, &request) &&
		  !strcmp(driver.driver, "veth");
	if (fd >= 0)
		close(fd);
	return is_veth;
}

static uint32_t interface_of(int link)
{
	struct bpf_link_info info = { };
	__u32 size = sizeof(info);

	return bpf_obj_get_info_by_fd(link, &info, &size) ? 0 :
							     info.xdp.ifindex;
}

/* The way out that another reporter has opened stays for this one as well. */
static int share_way_out(const char *name, uint32_t out)
{
	DIR *directory = opendir(REPORTER_PINS);
	char other[IF_NAMESIZE];
	struct dirent *entry;
	int fd, ret = 0;

	while (directory && (entry = readdir(directory))) {
		reporter_pins__interface(entry->d_name, other);
		fd = reporter_pins__open(other, REPORTER_PIN_THROUGH);
		if (fd < 0)
			continue;
		if (interface_of(fd) == out) {
			ret = reporter_pins__add(name, REPORTER_PIN_THROUGH,
						 fd);
			close(fd);
			break;
		}
		close(fd);
	}
	if (directory)
		closedir(directory);
	return ret;
}

/*
 * Many drivers send what another interface redirects to them only where an XDP
 * program is attached; so one that passes everything is.  Returns 0 or -errno:
 * the interface cannot be redirected to, other than by the generic way.
 */
static int open_way_out(const char *name, uint32_t out,
			const struct xdp_reporter_bpf *object)
{
	int fd = attach(object->progs.dart_way_out, out, XDP_FLAGS_DRV_MODE);
	int ret;

	if (fd < 0)
		return is_taken(fd) ? share_way_out(name, out) : fd;
	ret = reporter_pins__add(name, REPORTER_PIN_THROUGH, fd);
	close(fd);
	return ret;
}

/* Native, if drivers will have it; generic works with all of them. */
static int attach_somehow(const char *name, uint32_t in, uint32_t out,
			  const struct xdp_reporter_bpf *object)
{
	const struct bpf_program *program = object->progs.dart_reporter;
	int fd;

	if (!is_veth(out) &&
	    (in == out || !open_way_out(name, out, object))) {
		fd = attach(program, in, XDP_FLAGS_DRV_MODE);
		if (fd >= 0 || is_taken(fd))
			return fd;
	}
	/* There, clones would share the bytes that each of them changes. */
	if (object->rodata->all_copies)
		return -EOPNOTSUPP;
	return attach(program, in, XDP_FLAGS_SKB_MODE);
}

static const char *why_not(int error, const struct xdp_reporter_bpf *object)
{
	if (is_taken(error))
		return "another XDP program is there";
	if (error == -EOPNOTSUPP && object->rodata->all_copies)
		return "not all copies, for this driver has no XDP of its own for it";
	return strerror(-error);
}

static int pin_maps(const char *name, const struct xdp_reporter_bpf *object)
{
	int ret;

	ret = reporter_pins__add(name, REPORTER_PIN_COUNTERS,
				 bpf_map__fd(object->maps.reporter));
	if (!ret)
		ret = reporter_pins__add(name, REPORTER_PIN_REPORTS,
					 bpf_map__fd(object->maps.reporter_to));
	return ret;
}

int reporter_link__make(const char *name, uint32_t in, uint32_t out,
			const struct xdp_reporter_bpf *object,
			struct dart_error *error)
{
	int ret, fd;

	ret = reporter_pins__make(name, error);
	if (ret)
		return ret;
	ret = pin_maps(name, object);
	if (ret) {
		dart_error__set(error, 0, "cannot pin its maps: %s",
				strerror(-ret));
		goto remove_pins;
	}
	fd = attach_somehow(name, in, out, object);
	if (fd < 0) {
		ret = fd;
		dart_error__set(error, 0, "cannot attach to it: %s",
				why_not(fd, object));
		goto remove_pins;
	}
	ret = reporter_pins__add(name, REPORTER_PIN_LINK, fd);
	close(fd);
	if (ret) {
		dart_error__set(error, 0, "cannot pin its link: %s",
				strerror(-ret));
		goto remove_pins;
	}
	return 0;

remove_pins:
	reporter_pins__remove(name);
	return ret;
}

const char *reporter_link__mode(uint32_t number)
{
	DECLARE_LIBBPF_OPTS(bpf_xdp_query_opts, query);

	if (bpf_xdp_query(number, 0, &query))
		return "unknown";
	return query.attach_mode == XDP_ATTACHED_DRV ? "native" : "generic";
}
