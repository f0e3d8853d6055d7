// SPDX-License-Identifier: GPL-2.0-only
/* Opens the queue pair that takes the reports from one address. */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <dart/store.h>

#include "report_qp.h"

/* Finds the address of this host on the route to the reporter. */
static int report_qp__find_local(struct report_qp *report_qp, const char *text,
				 struct dart_error *error)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(DART_STORE_UDP_PORT),
		.sin_addr = report_qp->address,
	};
	socklen_t size = sizeof(address);
	int fd, ret = 0;

	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return dart_error__system(error, errno, "cannot open a socket");
	if (connect(fd, (struct sockaddr *)&address, size) ||
	    getsockname(fd, (struct sockaddr *)&address, &size))
		ret = dart_error__system(error, errno, "no route to %s", text);
	close(fd);
	report_qp->local = address.sin_addr;
	return ret;
}

static union ibv_gid gid_of(struct in_addr address)
{
	union ibv_gid gid = { .raw = { [10] = 0xff, [11] = 0xff } };

	memcpy(gid.raw + 12, &address, sizeof(address));
	return gid;
}

/* Finds the device's GID of the local address. */
static int report_qp__find_gid(const struct report_qp *report_qp,
			       const struct device *device, const char *text,
			       struct ibv_gid_entry *found,
			       struct dart_error *error)
{
	union ibv_gid gid = gid_of(report_qp->local);
	struct ibv_gid_entry entries[256];
	char local[INET_ADDRSTRLEN];
	ssize_t count, i;

	count = ibv_query_gid_table(device->context, entries,
				    sizeof(entries) / sizeof(entries[0]), 0);
	if (count < 0)
		return dart_error__system(
			error, -count,
			"cannot read the addresses of RDMA device %s",
			device__name(device));
	for (i = 0; i < count; i++) {
		if (entries[i].gid_type != IBV_GID_TYPE_ROCE_V2 ||
		    memcmp(&entries[i].gid, &gid, sizeof(gid)))
			continue;
		*found = entries[i];
		return 0;
	}
	inet_ntop(AF_INET, &report_qp->local, local, sizeof(local));
	return dart_error__set(
		error, ENETUNREACH,
		"%s is reached from %s, which is not an address of RDMA device %s",
		text, local, device__name(device));
}

static int report_qp__find_mac(struct report_qp *report_qp,
			       unsigned int interface, struct dart_error *error)
{
	struct ifreq request = { };
	int fd, ret = 0;

	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return dart_error__system(error, errno, "cannot open a socket");
	if (!if_indextoname(interface, request.ifr_name) ||
	    ioctl(fd, SIOCGIFHWADDR, &request))
		ret = dart_error__system(
			error, errno,
			"cannot find the MAC address of this host");
	close(fd);
	memcpy(report_qp->mac, request.ifr_hwaddr.sa_data,
	       sizeof(report_qp->mac));
	return ret;
}

static int report_qp__initialize(const struct report_qp *report_qp,
				 uint8_t port)
{
	struct ibv_qp_attr attributes = {
		.qp_state = IBV_QPS_INIT,
		.port_num = port,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};

	return ibv_modify_qp(report_qp->queue_pair, &attributes,
			     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				     IBV_QP_ACCESS_FLAGS);
}

/*
 * The queue pair only receives, but the kernel resolves the reporter's MAC
 * address all the same.
 */
static int report_qp__start_receiving(const struct report_qp *report_qp,
				      const struct ibv_gid_entry *gid)
{
	struct ibv_qp_attr attributes = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_256,	/* larger than any slot */
		.rq_psn = report_qp->first_psn,
		.ah_attr = {
			.is_global = 1,
			.port_num = gid->port_num,
			.grh = {
				.dgid = gid_of(report_qp->address),
				.sgid_index = gid->gid_index,
				.hop_limit = 64,
			},
		},
	};

	return ibv_modify_qp(report_qp->queue_pair, &attributes,
			     IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
				     IBV_QP_DEST_QPN | IBV_QP_RQ_PSN);
}

static int report_qp__open(struct report_qp *report_qp,
			   const struct device *device,
			   const struct ibv_gid_entry *gid, const char *text,
			   struct dart_error *error)
{
	int code;

	report_qp->queue_pair = device__create_qp(report_qp->view.pd, IBV_QPT_UC,
						  device->cq, device->cq, 1);
	if (!report_qp->queue_pair)
		return dart_error__system(error, errno,
					  "cannot open a queue pair");
	code = report_qp__initialize(report_qp, gid->port_num) ?:
		       report_qp__start_receiving(report_qp, gid);
	if (!code)
		return 0;
	ibv_destroy_qp(report_qp->queue_pair);
	if (code == ETIMEDOUT || code == EHOSTUNREACH || code == ENODATA)
		return dart_error__set(
			error, EHOSTUNREACH,
			"%s does not answer ARP (ping it, or add a static neighbour entry)",
			text);
	return dart_error__system(error, code,
				  "cannot open a queue pair for %s", text);
}

static int report_qp__choose_psn(struct report_qp *report_qp, int32_t first_psn,
				 struct dart_error *error)
{
	uint32_t random;

	if (first_psn == REPORT_QP_PSN_ANY) {
		if (getrandom(&random, sizeof(random), 0) != sizeof(random))
			return dart_error__set(error, EIO,
					       "cannot get random numbers");
		first_psn = random & REPORT_QP_PSN_MAX;
	}
	report_qp->first_psn = first_psn;
	return 0;
}

int report_qp__new(const struct device *device, const struct memory_view *view,
		   struct in_addr address, int32_t first_psn,
		   struct report_qp **result, struct dart_error *error)
{
	struct report_qp *report_qp;
	struct ibv_gid_entry gid;
	char text[INET_ADDRSTRLEN];
	int ret;

	inet_ntop(AF_INET, &address, text, sizeof(text));
	report_qp = calloc(1, sizeof(*report_qp));
	if (!report_qp)
		return dart_error__no_memory(error);
	report_qp->address = address;
	report_qp->view = *view;
	ret = report_qp__choose_psn(report_qp, first_psn, error) ?:
		      report_qp__find_local(report_qp, text, error) ?:
		      report_qp__find_gid(report_qp, device, text, &gid,
					  error) ?:
		      report_qp__find_mac(report_qp, gid.ndev_ifindex, error) ?:
		      report_qp__open(report_qp, device, &gid, text, error);
	if (ret)
		free(report_qp);
	else
		*result = report_qp;
	return ret;
}

void report_qp__free(struct report_qp *report_qp)
{
	ibv_destroy_qp(report_qp->queue_pair);
	memory_view__close(&report_qp->view);
	free(report_qp);
}
