// SPDX-License-Identifier: GPL-2.0-only
/* Finds the service that a connect request asks for, and checks its private data. */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include <dart/control.h>

#include "connect_request.h"

struct connect_request connect_request__of(const struct rdma_cm_event *event)
{
	const struct rdma_conn_param *asked = &event->param.conn;
	struct connect_request request = {
		.id = event->id,
		.reads = asked->responder_resources,
	};

	if (!asked->private_data)
		return request;
	request.length = asked->private_data_len < sizeof(request.data) ? asked->private_data_len :
									  sizeof(request.data);
	memcpy(&request.data, asked->private_data, request.length);
	return request;
}

const struct peer_service *connect_request__find(const struct connect_request *request,
						 const struct peer_service *services)
{
	const struct peer_service *service;

	for (service = services; service->kind; service++)
		if (request->data.header.magic == htole64(service->kind->magic))
			return service;
	return services;
}

/* Bytes after the request of a kind have no meaning in its version. */
static int connect_request__check_tail(const struct connect_request *request,
				       const struct peer_kind *kind, struct dart_error *error)
{
	const size_t most = kind->request_length + kind->option_length;
	size_t i;

	for (i = most; i < request->length; i++)
		if (request->data.bytes[i])
			return dart_error__set(
				error, EPROTO,
				"byte %zu of its private data is not 0, but its request has %zu bytes",
				i, most);
	return 0;
}

int connect_request__check(const struct connect_request *request, const struct peer_kind *kind,
			   struct dart_error *error)
{
	const struct peer_request *header = &request->data.header;

	if (request->length < kind->request_length || header->magic != htole64(kind->magic))
		return dart_error__set(error, EPROTO, "it is not a %s", kind->name);
	if (header->abi_version != htole32(kind->abi_version))
		return dart_error__set(error, EPROTONOSUPPORT,
				       "it speaks version %u of the protocol, not %u",
				       le32toh(header->abi_version), kind->abi_version);
	if (header->interval_ms && !kind->takes_interval)
		return dart_error__set(error, EPROTO, DART_CONTROL_RESERVED "request is not 0");
	return connect_request__check_tail(request, kind, error);
}
