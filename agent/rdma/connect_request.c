// SPDX-License-Identifier: GPL-2.0-only
#include <endian.h>
#include <errno.h>
#include <string.h>

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
	request.length = asked->private_data_len < sizeof(request.data) ?
				 asked->private_data_len :
				 sizeof(request.data);
	memcpy(&request.data, asked->private_data, request.length);
	return request;
}

bool connect_request__is_reader(const struct connect_request *request)
{
	return request->data.magic == htole64(DART_STORE_ACCESS_MAGIC);
}

static int check_version(__le32 version, int known, __le32 reserved,
			 struct dart_error *error)
{
	if (version != htole32(known))
		return dart_error__set(
			error, EPROTONOSUPPORT,
			"it speaks version %u of the protocol, not %d",
			le32toh(version), known);
	if (reserved)
		return dart_error__set(
			error, EPROTO,
			"a reserved member of its request is not 0");
	return 0;
}

static int check_store(const struct connect_request *request,
		       struct dart_error *error)
{
	const struct dart_store_request *data = &request->data.store;
	const char *end = memchr(data->name, 0, sizeof(data->name));
	const char *byte;

	if (request->length < sizeof(*data) || !end)
		return dart_error__set(error, EPROTO,
				       "it does not name a store");
	for (byte = end; byte < data->name + sizeof(data->name); byte++)
		if (*byte)
			return dart_error__set(
				error, EPROTO,
				"there is something behind the name");
	return check_version(data->abi_version, DART_STORE_ACCESS_ABI_VERSION,
			     data->reserved, error);
}

int connect_request__check(const struct connect_request *request,
			   struct dart_error *error)
{
	const struct dart_control_request *data = &request->data.control;

	if (connect_request__is_reader(request))
		return check_store(request, error);
	if (request->length < sizeof(*data) ||
	    data->magic != htole64(DART_CONTROL_MAGIC))
		return dart_error__set(error, EPROTO, "it is not a controller");
	return check_version(data->abi_version, DART_CONTROL_ABI_VERSION,
			     data->reserved, error);
}
