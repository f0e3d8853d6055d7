// SPDX-License-Identifier: GPL-2.0-only
/*
 * Private data of both ends: a request, as the agent checks it, and a rejection, as
 * a controller explains it.
 */
#include <endian.h>

#include <libdart/rdma/rejection_internal.h>

#include "fuzz.h"
#include "selftests/unit/agent/serve/peer_services.h"

static void request(const struct rdma_cm_event *event)
{
	struct connect_request request = connect_request__of(event);
	const struct peer_service *service = connect_request__find(&request, services);
	struct mirror_place place;
	struct dart_error error = {};

	if (connect_request__check(&request, service->kind, &error))
		require_sentence(&error);
	else
		require(request.length >= service->kind->request_length);
	if (mirror_place__find(request.data.bytes, &place, &error))
		require_sentence(&error);
	else
		require(place.length <= DART_CONTROL_MIRROR_MAX &&
			place.address + place.length >= place.address);
}

static void rejection(const struct rdma_cm_event *event)
{
	const struct dart_control_request own = {
		.magic = htole64(DART_CONTROL_MAGIC),
		.abi_version = htole32(DART_CONTROL_ABI_VERSION),
	};
	struct dart_error error = {};

	require(dart_rejection__explain(event, &own, sizeof(own), &error) < 0);
	require_sentence(&error);
}

/* The first byte is the status of the rejection. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *bytes = exact_copy(data + !!size, size - !!size);
	struct rdma_cm_event event = {
		.status = size ? *data : 0,
		.param.conn = {
			.private_data = bytes,
			.private_data_len = size > 255 ? 255 : size - !!size,
		},
	};

	request(&event);
	rejection(&event);
	free(bytes);
	return 0;
}
