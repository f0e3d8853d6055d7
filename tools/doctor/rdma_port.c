// SPDX-License-Identifier: GPL-2.0-only
/* Checks of the RDMA CM, the RDMA device, its port and its GIDs. */
#include <errno.h>
#include <glob.h>
#include <ifaddrs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rdma_port.h"
#include "text_file.h"

#define CLASS "/sys/class/infiniband"
#define EMPTY_GID "0000:0000:0000:0000:0000:0000:0000:0000"
#define CM_NODE "/dev/infiniband/rdma_cm"
/* Not in the PATH of every user. */
#define PATHS "PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin "

/* The first name in a directory that matches @pattern. */
static bool find_name(char *name, size_t size, const char *pattern)
{
	glob_t found;
	bool is_found = !glob(pattern, 0, NULL, &found);

	*name = '\0';
	if (is_found)
		snprintf(name, size, "%s", strrchr(found.gl_pathv[0], '/') + 1);
	globfree(&found);
	return is_found;
}

/*
 * The network device: rxe names it as its parent, adapters share the PCI device with
 * it; the attribute of the GID lacks it while the device is down.
 */
static void find_netdev(struct rdma_port *port)
{
	char pattern[PATH_MAX];

	port->is_soft = text_file__line(port->netdev, sizeof(port->netdev),
					CLASS "/%s/parent", port->device);
	if (port->is_soft)
		return;
	if (text_file__line(port->netdev, sizeof(port->netdev),
			    CLASS "/%s/ports/1/gid_attrs/ndevs/0", port->device))
		return;
	snprintf(pattern, sizeof(pattern), CLASS "/%s/device/net/*",
		 port->device);
	find_name(port->netdev, sizeof(port->netdev), pattern);
}

/* GIDs are IPv6 addresses; IPv4 addresses appear as ::ffff:a.b.c.d. */
static void add_gid(struct rdma_port *port, const char *gid)
{
	unsigned int high, low;

	if (sscanf(gid, "0000:0000:0000:0000:0000:ffff:%4x:%4x", &high, &low) == 2) {
		if (!port->has_ipv4)
			snprintf(port->address, sizeof(port->address), "%u.%u.%u.%u",
				 high >> 8 & 255, high & 255, low >> 8 & 255, low & 255);
		port->has_ipv4 = true;
	} else if (strncmp(gid, "fe80:", 5) && strncmp(gid, "0000:", 5)) {
		port->has_ipv6 = true;
	}
}

static void read_gids(struct rdma_port *port)
{
	char type[32], gid[64];
	unsigned int i;

	for (i = 0; text_file__line(gid, sizeof(gid), CLASS "/%s/ports/1/gids/%u", port->device, i);
	     i++)
		/* Most of the thousand places of soft-RoCE are empty, and lack a type. */
		if (strcmp(gid, EMPTY_GID) &&
		    text_file__line(type, sizeof(type), CLASS "/%s/ports/1/gid_attrs/types/%u",
				    port->device, i) &&
		    !strcmp(type, "RoCE v2"))
			add_gid(port, gid);
}

/*
 * Fills in @port: port 1 of the device @name, or of the first device if @name is NULL.
 * False without a device.
 */
static bool rdma_port__find(struct rdma_port *port, const char *name)
{
	char line[64];

	*port = (struct rdma_port){};
	if (name && strlen(name) < sizeof(port->device) && !strchr(name, '/') &&
	    text_file__exists(CLASS "/%s", name))
		strcpy(port->device, name);
	else if (name ||
		 !find_name(port->device, sizeof(port->device), CLASS "/*"))
		return false;
	find_netdev(port);
	/* "4: ACTIVE" */
	if (text_file__line(line, sizeof(line), CLASS "/%s/ports/1/state", port->device))
		sscanf(line, "%*d: %31s", port->state);
	port->is_active = !strcmp(port->state, "ACTIVE");
	text_file__line(line, sizeof(line), CLASS "/%s/ports/1/link_layer", port->device);
	port->is_roce = !strcmp(line, "Ethernet");
	/* "4: RNIC" is iWARP. */
	text_file__line(line, sizeof(line), CLASS "/%s/node_type", port->device);
	port->is_roce &= line[0] != '4';
	read_gids(port);
	return true;
}

void check_rdma_cm(struct findings *findings)
{
	unsigned int major, minor;
	char number[32];

	if (!text_file__line(number, sizeof(number), "/sys/class/misc/rdma_cm/dev") ||
	    sscanf(number, "%u:%u", &major, &minor) != 2) {
		findings__fail(findings, "rdma_cm", "the module rdma_ucm is not loaded");
		findings__command(findings, "modprobe rdma_ucm");
	} else if (!text_file__exists(CM_NODE)) {
		findings__fail(findings, "rdma_cm",
			       "rdma_ucm is loaded, but " CM_NODE " does not exist");
		findings__command(findings,
				  "mkdir -p /dev/infiniband && mknod -m 666 " CM_NODE " c %u %u",
				  major, minor);
	} else if (access(CM_NODE, R_OK | W_OK)) {
		findings__fail(findings, "rdma_cm", CM_NODE ": %s", strerror(errno));
		findings__command(findings, "sudo chmod 666 " CM_NODE);
	} else {
		findings__ok(findings, "rdma_cm", CM_NODE " can be opened");
	}
}

/* An Ethernet interface that is up, preferably with an IPv4 address. */
static bool find_ethernet(char name[IFNAMSIZ])
{
	struct ifaddrs *all, *one;
	bool has_address = false;

	*name = '\0';
	if (getifaddrs(&all))
		return false;
	for (one = all; one; one = one->ifa_next) {
		bool is_ipv4 = one->ifa_addr && one->ifa_addr->sa_family == AF_INET;

		if (!(one->ifa_flags & IFF_UP) || one->ifa_flags & IFF_LOOPBACK || has_address ||
		    (*name && !is_ipv4) ||
		    text_file__number("/sys/class/net/%s/type", one->ifa_name) != 1)
			continue;
		snprintf(name, IFNAMSIZ, "%s", one->ifa_name);
		has_address = is_ipv4;
	}
	freeifaddrs(all);
	return *name;
}

static void advise_device(struct findings *findings)
{
	char netdev[IFNAMSIZ];

	if (find_ethernet(netdev))
		findings__command(findings, "rdma link add rxe0 type rxe netdev %s", netdev);
	else
		findings__advise(
			findings,
			"load the driver of the adapter, or make an Ethernet interface with an address one: rdma link add rxe0 type rxe netdev NAME");
}

static void check_gid(struct findings *findings, const struct rdma_port *port)
{
	if (!port->is_roce) {
		findings__ok(findings, "gid",
			     "%s is not RoCE: its addresses are those of the interface",
			     port->device);
	} else if (port->has_ipv4) {
		findings__ok(findings, "gid", "%s has a RoCE v2 GID for %s",
			     port->device, port->address);
	} else if (port->has_ipv6) {
		findings__warn(findings, "gid",
			       "%s has RoCE v2 GIDs for IPv6 only: reporters cannot reach it",
			       port->device);
		findings__advise(findings, "give %s an IPv4 address",
				 *port->netdev ? port->netdev : "its interface");
	} else {
		findings__fail(findings, "gid",
			       "%s has no RoCE v2 GID with an address: no other host can reach it",
			       port->device);
		findings__advise(findings,
				 "give %s an IPv4 address: ip address add ADDRESS/LENGTH dev %s",
				 *port->netdev ? port->netdev : "its interface",
				 *port->netdev ? port->netdev : "INTERFACE");
	}
}

/*
 * The queue pair with which the RDMA CM sends is in error: soft-RoCE puts it into this
 * state when the host itself drops one of its packets, and it never recovers.
 */
static bool is_silenced(const struct rdma_port *port)
{
	const char *type, *state;
	json_t *list, *queue_pair;
	bool is_in_error = false;
	char command[512];
	FILE *output;
	size_t i;

	snprintf(command, sizeof(command), PATHS "rdma -j resource show qp link %s/1 2>/dev/null",
		 port->device);
	output = popen(command, "re");
	list = output ? json_loadf(output, 0, NULL) : NULL;
	if (output)
		pclose(output);
	json_array_foreach(list, i, queue_pair)
		if (!json_unpack(queue_pair, "{s:s, s:s}", "type", &type, "state", &state) &&
		    !strcmp(type, "GSI") && !strcmp(state, "ERR"))
			is_in_error = true;
	json_decref(list);
	return is_in_error;
}

bool check_rdma_port(struct findings *findings, struct rdma_port *port, const char *name)
{
	if (!rdma_port__find(port, name)) {
		findings__fail(findings, "rdma",
			       name ? "this host has no RDMA device '%s'" :
				      "this host has no RDMA device",
			       name);
		advise_device(findings);
		return false;
	}
	if (!port->is_active) {
		findings__fail(findings, "rdma", "the port of %s%s%s%s is %s", port->device,
			       *port->netdev ? " (" : "", port->netdev, *port->netdev ? ")" : "",
			       *port->state ? port->state : "in no known state");
		if (*port->netdev)
			findings__command(findings, "ip link set %s up", port->netdev);
		else
			findings__advise(findings, "check the cable and the switch");
		return false;
	}
	if (port->is_soft && is_silenced(port)) {
		findings__fail(findings, "rdma",
			       "%s (%s) sends nothing since this host dropped packets of it",
			       port->device, port->netdev);
		findings__command(findings,
				  "rdma link delete %s && rdma link add %s type rxe netdev %s",
				  port->device, port->device, port->netdev);
	} else {
		findings__ok(findings, "rdma", "%s%s%s%s is active", port->device,
			     *port->netdev ? " (" : "", port->netdev, *port->netdev ? ")" : "");
	}
	check_gid(findings, port);
	return true;
}
