/* SPDX-License-Identifier: GPL-2.0-only */
/* The state of the daemon, for the files flows*.c. */
#ifndef FLOWS_INTERNAL_H
#define FLOWS_INTERNAL_H

#include <stdio.h>
#include <time.h>

#include "flows.h"
#include "tools/flows/control/control.h"
#include "tools/flows/health/health.h"
#include "tools/flows/journal/journal.h"
#include "tools/flows/packet/fragments.h"
#include "tools/flows/packet/port.h"
#include "tools/flows/packet/shares.h"
#include "tools/flows/table/table.h"

struct flows {
	const struct flows_options *options;
	struct policy *policy;
	struct table_settings table_settings;
	struct table_server table_server; /* without an address: the table is on this host */
	sd_event *event;
	sd_event_source *packets, *timer, *answers_source, *journal_source;
	struct port *port;
	struct port *questions; /* the same interface, for questions; NULL: its flows never age */
	struct function *function;
	struct table *table;
	struct journal *journal;
	struct compaction *compaction; /* of the journal; NULL: none is under way */
	uint64_t compacts_after_ns;
	struct control *control;
	struct fragments *fragments;
	struct health *health; /* NULL: the function has no servers */
	bool is_restoring; /* flows of the journal become those of the function */
	bool is_unwritable; /* the journal, as far as was told */
	int status; /* -errno: why the loop ends */
	struct dart_error error;

	struct shares *taken_shares, *answered_shares; /* of packets */
	uint8_t answers[PORT_FRAMES][PACKET_ANSWER_MAX]; /* of one turn */
	uint64_t flaws[PACKET_FLAWS];
	uint64_t received, limited, answered, exceeded, followed, tagged, long_frames, for_many,
		unrouted, oversized, mtu_told, neighbours_told, unsent, unwritten;
	uint16_t mtu; /* of the port */
};

/* Prints a line to the log. */
#define flows__say(format, ...) fprintf(stderr, "dart-flows: " format "\n", ##__VA_ARGS__)

static inline uint64_t flows__clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

/* Also runs while the machine is suspended. */
static inline uint64_t flows__now_ns(void)
{
	return flows__clock_ns(CLOCK_BOOTTIME);
}

/* Their subject is a struct flows. */
extern const struct function_handlers flows__function_handlers;
extern const struct table_handlers flows__table_handlers;
/* Gives the settings of the table the texts of the policy, which outlives them. */
void flows__name_table(struct flows *flows);

/* Takes the flows of the journal, and writes it anew. */
int flows__open_journal(struct flows *flows, struct dart_error *error);
void flows__close_journal(struct flows *flows);
/* A flow has begun, its connection was closed or goes on, or the flow has ended. */
void flows__record(struct flows *flows, const struct flow *flow, bool is_end);
/* Writes what has changed.  While that is not possible no flow begins. */
int flows__write_journal(struct flows *flows, struct dart_error *error);
/* Begins to write it anew if it is long, without a wait. */
void flows__compact_journal(struct flows *flows);

/* Questions which flows are in use: see struct function_handlers, and function__answered(). */
int flows__open_questions(struct flows *flows, struct dart_error *error);
void flows__ask(void *subject, uint32_t number, struct flow *const *asked, unsigned int count);

/*
 * Makes the answer, in @answer, to a host that asks for the Ethernet address of a neighbour of the
 * policy, and lets @packet be the answer.  False: the frame is another one.
 */
bool flows__answer_neighbour(struct flows *flows, const struct port_frame *frame,
			     struct packet *packet, uint8_t answer[static PACKET_ANSWER_MAX]);

/* Servers of a balancer: checks begin, and go on by another policy that the function has taken. */
int flows__open_servers(struct flows *flows, struct dart_error *error);
void flows__renew_servers(struct flows *flows);

/* For dartctl: new references. */
json_t *flows__status(struct flows *flows);
json_t *flows__servers(struct flows *flows);

#endif /* FLOWS_INTERNAL_H */
