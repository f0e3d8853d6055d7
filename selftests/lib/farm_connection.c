// SPDX-License-Identifier: GPL-2.0-only
/* Accepts a controller of a host of the farm. */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "farm_connection.h"

bool farm_connection__is_asked(const struct rdma_conn_param *asked)
{
	struct dart_control_request request;

	if (!asked->private_data || asked->private_data_len < sizeof(request))
		return false;
	memcpy(&request, asked->private_data, sizeof(request));
	return request.magic == htole64(DART_CONTROL_MAGIC) &&
	       request.abi_version == htole32(DART_CONTROL_ABI_VERSION);
}

static int open_queue_pair(const struct farm_device *device, struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attributes = {
		.qp_type = IBV_QPT_RC,
		.send_cq = device->cq,
		.recv_cq = device->cq,
		.srq = device->srq,
		.cap = { .max_send_wr = 1, .max_send_sge = 1 },
	};

	if (id->verbs != device->context)
		return -EXDEV;
	return rdma_create_qp(id, device->pd, &attributes) ? -errno : 0;
}

static int answer(const struct farm_device *device, struct rdma_cm_id *id,
		  uint8_t reads, struct dart_control_accept *offer)
{
	struct rdma_conn_param parameters = {
		.private_data = offer,
		.private_data_len = sizeof(*offer),
		.responder_resources = reads < device->reads_max ? reads : device->reads_max,
	};
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	offer->time_ns = htole64(now.tv_sec * 1000000000ULL + now.tv_nsec);
	return rdma_accept(id, &parameters) ? -errno : 0;
}

int farm_connection__accept(struct farm_connections *list, const struct farm_device *device,
			    struct rdma_cm_id *id, uint8_t reads, struct dart_control_accept offer)
{
	struct farm_connection *connection = calloc(1, sizeof(*connection));
	int ret;

	if (!connection)
		return -ENOMEM;
	ret = open_queue_pair(device, id);
	if (ret)
		goto free_connection;
	ret = answer(device, id, reads, &offer);
	if (ret)
		goto destroy_queue_pair;
	*connection = (struct farm_connection){ .list = list, .id = id };
	TAILQ_INSERT_TAIL(list, connection, link);
	id->context = connection;
	return 0;

destroy_queue_pair:
	rdma_destroy_qp(id);
free_connection:
	free(connection);
	return ret;
}

void farm_connection__free(struct farm_connection *connection)
{
	TAILQ_REMOVE(connection->list, connection, link);
	if (connection->id->qp) {
		rdma_disconnect(connection->id);
		rdma_destroy_qp(connection->id);
	}
	rdma_destroy_id(connection->id);
	free(connection);
}

void farm_connection__vanish(struct farm_connection *connection)
{
	rdma_destroy_qp(connection->id);
	connection->is_established = false;
}
