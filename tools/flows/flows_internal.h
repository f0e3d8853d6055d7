/* SPDX-License-Identifier: GPL-2.0-only */
/* The state of the daemon, for the files flows*.c. */
#ifndef FLOWS_INTERNAL_H
#define FLOWS_INTERNAL_H

#include "flows.h"
#include "tools/flows/control/control.h"
#include "tools/flows/journal/journal.h"
#include "tools/flows/packet/port.h"
#include "tools/flows/table/table.h"

/* Events that may happen now, as their time. */
struct rate {
	uint64_t credit_ns, credited_ns;
};

struct flows {
	const struct flows_options *options;
	struct policy *policy;
	struct table_settings table_settings;
	sd_event *event;
	sd_event_source *packets, *timer;
	struct port *port;
	struct function *function;
	struct table *table;
	struct journal *journal;
	struct control *control;
	bool is_restoring; /* flows of the journal become those of the function */
	bool is_unwritable; /* the journal, as far as was told */
	int status; /* -errno: why the loop ends */
	struct dart_error error;

	struct rate taken, refused;
	uint8_t refusals[PORT_FRAMES][PACKET_REFUSAL_MAX]; /* of one turn */
	uint64_t flaws[PACKET_FLAWS];
	uint64_t received, limited, answered, tagged, long_frames, unrouted, unsent, unwritten;
};

/* For dartctl: a new reference. */
json_t *flows__status(struct flows *flows);

#endif /* FLOWS_INTERNAL_H */
