/* SPDX-License-Identifier: GPL-2.0-only */
/* The state of the daemon, for the files flows*.c. */
#ifndef FLOWS_INTERNAL_H
#define FLOWS_INTERNAL_H

#include "flows.h"
#include "tools/flows/control/control.h"
#include "tools/flows/journal/journal.h"
#include "tools/flows/packet/port.h"
#include "tools/flows/table/table.h"

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

	/* The rate: packets that may be taken now. */
	uint64_t credit_ns, credited_ns;
	uint64_t flaws[PACKET_FLAWS];
	uint64_t received, limited, tagged, long_frames, unrouted, unsent, unwritten;
};

/* For dartctl: a new reference. */
json_t *flows__status(struct flows *flows);

#endif /* FLOWS_INTERNAL_H */
