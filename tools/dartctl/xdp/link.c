// SPDX-License-Identifier: GPL-2.0-only
/* Attaches the XDP program to an interface, and keeps it there by pins. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "link.h"
#include "pins.h"
#include "program.h"

/* Links @program to interface @number.  Returns a descriptor or -errno. */
static int attach(const struct bpf_program *program, uint32_t number, uint32_t mode)
{
	DECLARE_LIBBPF_OPTS(bpf_link_create_opts, options, .flags = mode);
	int fd = bpf_link_create(bpf_program__fd(program), number, BPF_XDP, &options);

	return fd < 0 ? -errno : fd;
}

static bool is_taken(int ret)
{
	return ret == -EBUSY || ret == -EEXIST;
}

/*
 * Unless its peer uses XDP or GRO, a veth drops packets that are redirected to it or turned back,
 * without an error.
 */
static bool is_veth(uint32_t number)
{
	struct ethtool_drvinfo driver = { .cmd = ETHTOOL_GDRVINFO };
	struct ifreq request = { .ifr_data = (char *)&driver };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool is_veth;

	is_veth = fd >= 0 && if_indextoname(number, request.ifr_name) &&
		  !ioctl(fd, SIOCETHTOOL, &request) && !strcmp(driver.driver, "veth");
	if (fd >= 0)
		close(fd);
	return is_veth;
}

/* All 0 if @link is none. */
static struct bpf_link_info info_of(int link)
{
	struct bpf_link_info info = { };
	__u32 size = sizeof(info);

	if (bpf_obj_get_info_by_fd(link, &info, &size))
		return (struct bpf_link_info){ };
	return info;
}

/* Pins, for this reporter too, the program that another reporter attached to @out. */
static int share_way_out(const char *name, uint32_t out)
{
	DIR *directory = opendir(XDP_PINS);
	char other[IF_NAMESIZE];
	struct dirent *entry;
	int fd, ret = 0;

	while (directory && (entry = readdir(directory))) {
		xdp_pins__interface(entry->d_name, other);
		fd = xdp_pins__open(other, XDP_PIN_THROUGH);
		if (fd < 0)
			continue;
		if (info_of(fd).xdp.ifindex == out) {
			ret = xdp_pins__add(name, XDP_PIN_THROUGH, fd);
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
 * Attaches a program that passes all packets but answers to the interface, because many drivers
 * accept redirected packets only while an XDP program is attached.  Returns 0, or -errno if only
 * generic XDP can redirect to the interface.
 */
static int open_way_out(const char *name, uint32_t out, uint32_t mode,
			const struct xdp_reporter_bpf *object)
{
	int fd = attach(object->progs.dart_way_out, out, mode);
	int ret;

	/* The program of another reporter does not know the answers to this one. */
	if (fd < 0)
		return is_taken(fd) && !object->rodata->has_answers ? share_way_out(name, out) : fd;
	ret = xdp_pins__add(name, XDP_PIN_THROUGH, fd);
	close(fd);
	return ret;
}

/* Uses native XDP if both drivers support it, and generic XDP otherwise. */
static int attach_reporter(const char *name, uint32_t in, uint32_t out,
			   const struct xdp_reporter_bpf *object)
{
	const struct bpf_program *program = xdp_program__main(object);
	bool is_open = in == out;
	int fd;

	if (!is_veth(out) && (is_open || !open_way_out(name, out, XDP_FLAGS_DRV_MODE, object))) {
		is_open = true;
		fd = attach(program, in, XDP_FLAGS_DRV_MODE);
		if (fd >= 0 || is_taken(fd))
			return fd;
	}
	/* Generic XDP needs no program there to redirect, but answers arrive there. */
	if (!is_open && object->rodata->has_answers) {
		fd = open_way_out(name, out, XDP_FLAGS_SKB_MODE, object);
		if (fd < 0)
			return fd;
	}
	/* In generic XDP, clones share their bytes, so that changes to one would change all. */
	if (object->rodata->all_copies)
		return -EOPNOTSUPP;
	return attach(program, in, XDP_FLAGS_SKB_MODE);
}

static const char *reason(int ret, const struct xdp_reporter_bpf *object)
{
	if (is_taken(ret))
		return "another XDP program is attached";
	if (ret == -EOPNOTSUPP && object->rodata->all_copies)
		return "its driver has no native XDP, which --copies all needs";
	return strerror(-ret);
}

/* The map of waiting entries, paths or sums, and the program that takes them out. */
static int pin_waiting(const char *name, const char *pin, const struct bpf_map *map,
		       const struct bpf_program *flush)
{
	return xdp_pins__add(name, pin, bpf_map__fd(map)) ?:
		       xdp_pins__add(name, XDP_PIN_FLUSH, bpf_program__fd(flush));
}

/* Members that a reporter of whole paths lacks. */
static int pin_own(const char *name, const struct xdp_reporter_bpf *object)
{
	const struct bpf_program *program = xdp_program__main(object);

	if (program == object->progs.dart_appender)
		return pin_waiting(name, XDP_PIN_LISTS, object->maps.lists,
				   object->progs.dart_flush);
	if (program == object->progs.dart_translator)
		return pin_waiting(name, XDP_PIN_ROWS, object->maps.rows,
				   object->progs.dart_flush_row);
	if (program == object->progs.dart_merger)
		return pin_waiting(name, XDP_PIN_SUMS, object->maps.sums,
				   object->progs.dart_flush_sum) ?:
			       xdp_pins__add(name, XDP_PIN_SKETCHERS,
					     bpf_map__fd(object->maps.sketchers));
	return 0;
}

static int pin_maps(const char *name, const struct xdp_reporter_bpf *object)
{
	return xdp_pins__add(name, XDP_PIN_COUNTERS,
			     bpf_map__fd(object->maps.reporter)) ?:
	       xdp_pins__add(name, XDP_PIN_REPORTS,
			     bpf_map__fd(object->maps.reporter_to)) ?:
	       xdp_pins__add(name, XDP_PIN_COLLECTORS,
			     bpf_map__fd(object->maps.collectors)) ?:
	       xdp_pins__add(name, XDP_PIN_SHARES,
			     bpf_map__fd(object->maps.shares)) ?:
	       xdp_pins__add(name, XDP_PIN_SEQUENCES,
			     bpf_map__fd(object->maps.sequences)) ?:
	       xdp_pins__add(name, XDP_PIN_ANSWERS,
			     bpf_map__fd(object->maps.answers)) ?:
	       pin_own(name, object);
}

/* Has another reporter than @name pinned this link to its way out, too? */
static bool is_shared(const char *name, int link)
{
	const uint32_t id = info_of(link).id;
	DIR *directory = opendir(XDP_PINS);
	char other[IF_NAMESIZE];
	struct dirent *entry;
	bool is_shared = false;
	int fd;

	while (directory && !is_shared && (entry = readdir(directory))) {
		xdp_pins__interface(entry->d_name, other);
		fd = strcmp(other, name) ? xdp_pins__open(other, XDP_PIN_THROUGH) : -1;
		is_shared = fd >= 0 && info_of(fd).id == id;
		if (fd >= 0)
			close(fd);
	}
	if (directory)
		closedir(directory);
	return is_shared;
}

static void end_now(const char *name, const char *pin)
{
	int fd = xdp_pins__open(name, pin);

	if (fd < 0)
		return;
	/* An error: the interface is gone, or the kernel ends the link when its pin is removed. */
	if (strcmp(pin, XDP_PIN_THROUGH) || !is_shared(name, fd))
		bpf_link_detach(fd);
	close(fd);
}

int xdp_link__end(const char *name)
{
	end_now(name, XDP_PIN_LINK);
	end_now(name, XDP_PIN_THROUGH);
	return xdp_pins__end_links(name);
}

int xdp_link__create(const char *name, uint32_t in, uint32_t out,
		     const struct xdp_reporter_bpf *object, struct dart_error *error)
{
	int ret, fd;

	ret = xdp_pins__create(name, error);
	if (ret)
		return ret;
	ret = pin_maps(name, object);
	if (ret) {
		dart_error__system(error, -ret, "cannot pin its maps");
		goto remove_pins;
	}
	fd = attach_reporter(name, in, out, object);
	if (fd < 0) {
		ret = dart_error__set(error, -fd, "%s", reason(fd, object));
		goto remove_pins;
	}
	ret = xdp_pins__add(name, XDP_PIN_LINK, fd);
	close(fd);
	if (!ret)
		return 0;
	dart_error__system(error, -ret, "cannot pin its link");

remove_pins:
	xdp_link__end(name);
	xdp_pins__remove(name);
	return ret;
}

const char *xdp_link__mode(uint32_t number)
{
	DECLARE_LIBBPF_OPTS(bpf_xdp_query_opts, query);

	if (bpf_xdp_query(number, 0, &query))
		return "unknown";
	return query.attach_mode == XDP_ATTACHED_DRV ? "native" : "generic";
}
