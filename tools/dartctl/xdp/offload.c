// SPDX-License-Identifier: GPL-2.0-only
/* The VLAN offload of an interface, by the features that ethtool(8) shows: see offload.h. */
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "offload.h"

#define FEATURES_MAX (XDP_OFFLOAD_BLOCKS * 32)

static const char *const receiving[] = {
	"rx-vlan-hw-parse", "rx-vlan-stag-hw-parse", NULL,
};
static const char *const sending[] = {
	"tx-vlan-hw-insert", "tx-vlan-stag-hw-insert", NULL,
};

static int call(const char *interface, void *data)
{
	struct ifreq request = { .ifr_data = data };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), ret;

	if (fd < 0)
		return -errno;
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", interface);
	ret = ioctl(fd, SIOCETHTOOL, &request) < 0 ? -errno : 0;
	close(fd);
	return ret;
}

/* The names of all features, in the order of their bits; the caller frees them. */
static int list_features(const char *interface, struct ethtool_gstrings **features)
{
	struct {
		struct ethtool_sset_info info;
		__u32 count;
	} set = {
		.info = {
			.cmd = ETHTOOL_GSSET_INFO,
			.sset_mask = 1ULL << ETH_SS_FEATURES,
		},
	};
	int ret = call(interface, &set);

	if (ret)
		return ret;
	if (!set.info.sset_mask || set.count > FEATURES_MAX)
		return -EOPNOTSUPP;
	*features = calloc(1, sizeof(**features) + (size_t)set.count * ETH_GSTRING_LEN);
	if (!*features)
		return -ENOMEM;
	(*features)->cmd = ETHTOOL_GSTRINGS;
	(*features)->string_set = ETH_SS_FEATURES;
	(*features)->len = set.count;
	ret = call(interface, *features);
	if (ret)
		free(*features);
	return ret;
}

static bool is_listed(const char *const *names, const uint8_t *name)
{
	while (*names && strncmp(*names, (const char *)name, ETH_GSTRING_LEN))
		names++;
	return *names;
}

/* Finds which of the features @names of @interface are on.  Returns whether any is, or -errno. */
static int find_on(const char *interface, const char *const *names, struct xdp_offload *offload)
{
	struct {
		struct ethtool_gfeatures head;
		struct ethtool_get_features_block blocks[XDP_OFFLOAD_BLOCKS];
	} now = { .head = { .cmd = ETHTOOL_GFEATURES, .size = XDP_OFFLOAD_BLOCKS } };
	struct ethtool_gstrings *features;
	int ret = list_features(interface, &features);
	uint32_t i;

	if (ret)
		return ret;
	*offload = (struct xdp_offload){ .number = if_nametoindex(interface),
					 .blocks = (features->len + 31) / 32 };
	snprintf(offload->interface, sizeof(offload->interface), "%s", interface);
	ret = call(interface, &now);
	for (i = 0; ret >= 0 && i < features->len; i++) {
		if (!is_listed(names, features->data + i * ETH_GSTRING_LEN) ||
		    !(now.blocks[i / 32].requested >> i % 32 & 1))
			continue;
		offload->features[i / 32] |= 1U << i % 32;
		ret = 1;
	}
	free(features);
	return ret;
}

/* Turns the features on or off. */
static int turn(const struct xdp_offload *offload, bool on)
{
	struct {
		struct ethtool_sfeatures head;
		struct ethtool_set_features_block blocks[XDP_OFFLOAD_BLOCKS];
	} set = { .head.cmd = ETHTOOL_SFEATURES };
	uint32_t i;

	set.head.size = offload->blocks;
	for (i = 0; i < XDP_OFFLOAD_BLOCKS; i++) {
		set.blocks[i].valid = offload->features[i];
		set.blocks[i].requested = on ? offload->features[i] : 0;
	}
	return call(offload->interface, &set);
}

/* Reads a number from sysfs about the interface; 0 if the file cannot be read. */
static unsigned int number_of(const char *interface, const char *file)
{
	char path[128];
	unsigned int number = 0;
	FILE *stream;

	snprintf(path, sizeof(path), "/sys/class/net/%s/%s", interface, file);
	stream = fopen(path, "re");
	if (!stream)
		return 0;
	if (fscanf(stream, "%u", &number) != 1)
		number = 0;
	fclose(stream);
	return number;
}

static bool is_veth(const char *interface)
{
	struct ethtool_drvinfo driver = { .cmd = ETHTOOL_GDRVINFO };

	return !call(interface, &driver) && !strcmp(driver.driver, "veth");
}

/* Each end of a veth tells the number of the other end, which can be in another namespace. */
static bool find_peer(const char *interface, char peer[IF_NAMESIZE])
{
	return if_indextoname(number_of(interface, "iflink"), peer) && is_veth(peer) &&
	       number_of(peer, "iflink") == number_of(interface, "ifindex");
}

int xdp_offload__find(const char *interface, struct xdp_offload *offload, struct dart_error *error)
{
	const bool has_peer = is_veth(interface);
	char peer[IF_NAMESIZE];
	int ret;

	if (has_peer && !find_peer(interface, peer))
		return dart_error__set(
			error, ENODEV,
			"the other end of '%s' is in another network namespace: if its frames have VLAN tags, turn off its VLAN offload (ethtool -K END tx-vlan-offload off tx-vlan-stag-hw-insert off), or reports have these tags, too",
			interface);
	ret = has_peer ? find_on(peer, sending, offload) : find_on(interface, receiving, offload);
	return ret < 0 ? dart_error__system(
				 error, -ret,
				 "cannot find the VLAN offload of '%s': reports of frames with VLAN tags may have them, too",
				 has_peer ? peer : interface) :
			 ret;
}

int xdp_offload__end(const struct xdp_offload *offload, struct dart_error *error)
{
	const int ret = turn(offload, false);

	return ret ? dart_error__system(
			     error, -ret,
			     "cannot turn off the VLAN offload of '%s': reports of frames with VLAN tags may have them, too",
			     offload->interface) :
		     0;
}

int xdp_offload__restore(const struct xdp_offload *offload, struct dart_error *error)
{
	int ret;

	/* Another interface may have the name by now. */
	if (if_nametoindex(offload->interface) != offload->number)
		return 0;
	ret = turn(offload, true);
	return ret ? dart_error__system(error, -ret, "cannot turn on the VLAN offload of '%s' again",
					offload->interface) :
		     0;
}
