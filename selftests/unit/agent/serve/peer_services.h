/* SPDX-License-Identifier: GPL-2.0-only */
/* Services for controllers and readers without functions: for requests alone. */
#ifndef UNIT_PEER_SERVICES_H
#define UNIT_PEER_SERVICES_H

#include <dart/control.h>
#include <dart/store_access.h>

#include "agent/rdma/connect_request.h"

static const struct peer_kind controllers = {
	.name = "controller",
	.magic = DART_CONTROL_MAGIC,
	.abi_version = DART_CONTROL_ABI_VERSION,
	.request_length = sizeof(struct dart_control_request),
	.option_length = sizeof(struct dart_control_mirror),
	.takes_interval = true,
};

static const struct peer_kind readers = {
	.name = "reader",
	.magic = DART_STORE_ACCESS_MAGIC,
	.abi_version = DART_STORE_ACCESS_ABI_VERSION,
	.request_length = sizeof(struct dart_store_request),
};

static const struct peer_service services[] = {
	{ .kind = &controllers },
	{ .kind = &readers },
	{},
};

#endif /* UNIT_PEER_SERVICES_H */
