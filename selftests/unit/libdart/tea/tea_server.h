/* SPDX-License-Identifier: GPL-2.0-only */
/* A server of one lookup table in memory of the process, which READs of the test reach. */
#ifndef TEA_SERVER_H
#define TEA_SERVER_H

#include <endian.h>

#include <dart/tea_access.h>

#include "tea_model.h"
#include "tools/bench/simulated_network.h"

#define TEA_SERVER_RKEY 77

struct tea_server {
	struct simulated_host host; /* first */
	struct simulated_host *hosts[1];
	struct dart_tea_accept accept;
	struct tea_model model;
};

/* The only host of the simulated network from now on. */
static inline void tea_server__open(struct tea_server *server,
				    const struct dart_tea_geometry *geometry)
{
	tea_model__open(&server->model, geometry);
	server->accept = (struct dart_tea_accept){
		.magic = htole64(DART_TEA_ACCESS_MAGIC),
		.abi_version = htole32(DART_TEA_ACCESS_ABI_VERSION),
		.rkey = htole32(TEA_SERVER_RKEY),
		.base = htole64((uintptr_t)server->model.memory),
		.rows_log2 = htole32(geometry->rows_log2),
		.cells = htole32(geometry->cells),
		.key_length = htole32(geometry->key_length),
		.value_length = htole32(geometry->value_length),
		.packet_length = htole32(geometry->packet_length),
		.epoch = htole32(TEA_MODEL_EPOCH),
	};
	server->host.values = (struct simulated_memory){
		server->model.memory, server->model.length, TEA_SERVER_RKEY
	};
	server->host.answer = &server->accept;
	server->host.answer_length = sizeof(server->accept);
	server->hosts[0] = &server->host;
	simulated_network__open(server->hosts, 1);
}

static inline void tea_server__close(struct tea_server *server)
{
	tea_model__close(&server->model);
}

#endif /* TEA_SERVER_H */
