/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A host of the farm: an agent with its own memory, table and listener.  It answers
 * controllers like dartd; a host that is down neither listens nor keeps memory.
 */
#ifndef FARM_HOST_H
#define FARM_HOST_H

#include <stdbool.h>

#include "farm_connection.h"
#include "farm_device.h"
#include "farm_table.h"

/* The same for all hosts. */
struct farm {
	struct farm_device device;
	struct farm_shape shape;
	struct dart_schema *schema;
	uint16_t first_port;	/* the port of host 0; one port for each host */
	uint64_t update;	/* of the values that are written now */
};

struct farm_host {
	struct farm *farm;
	uint32_t number;
	uint32_t epoch;		/* 0: not started yet */
	bool is_up;
	/* The control region, the values, the extra entry: whole pages each. */
	uint8_t *memory;
	struct ibv_mr *control, *values;
	struct ibv_mr *extra;	/* NULL: not registered */
	uint64_t extra_ends_ns;	/* CLOCK_MONOTONIC: end of its lease; 0: no lease */
	struct farm_table table;
	struct rdma_cm_id *listener;
	struct farm_connections connections;
};

void farm_host__init(struct farm_host *host, struct farm *farm, uint32_t number);

/* Begins the next epoch.  Errors are sentences, here and below. */
int farm_host__start(struct farm_host *host, struct dart_error *error);
/*
 * Ends the epoch: all keys are invalid afterwards.  Disconnects the controllers or, if
 * @vanishes, lets them find out by themselves, as if the host had lost its power.
 */
void farm_host__stop(struct farm_host *host, bool vanishes);
/* Frees the connections of a host that is down, at the end. */
void farm_host__clear(struct farm_host *host);

/* Writes the farm's update to all values. */
void farm_host__update(struct farm_host *host);

/* Adds the extra entry to the table, or removes it, which starts the lease of its memory. */
int farm_host__add(struct farm_host *host, struct dart_error *error);
int farm_host__remove(struct farm_host *host, struct dart_error *error);

/* Established connections. */
uint32_t farm_host__connected(const struct farm_host *host);

/*
 * Handles @event of the device's channel and acknowledges it.  A request that no host
 * takes is rejected; why is printed to standard error.
 */
void farm_host__on_event(struct rdma_cm_event *event);

#endif /* FARM_HOST_H */
