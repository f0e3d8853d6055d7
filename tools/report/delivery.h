/* SPDX-License-Identifier: GPL-2.0-only */
/* Follows reports over reliable connections, and starts queue pairs again that stopped. */
#ifndef REPORT_DELIVERY_H
#define REPORT_DELIVERY_H

#include <libdart/report/answer_socket.h>
#include <libdart/report/packet_socket.h>
#include <libdart/report/report_builder.h>

/* A collector that does not answer for so long is given up. */
#define DELIVERY_PATIENCE_NS UINT64_C(10000000000)

struct delivery {
	struct dart_answer_socket *answers; /* NULL: all connections are unreliable */
	uint64_t calls, looked_at; /* of delivery__turn(), and the last look for answers */
};

/* Does nothing unless one of the collectors has a reliable connection. */
int delivery__open(struct delivery *delivery, const struct dart_collectors *collectors,
		   const char *interface, struct dart_error *error);
void delivery__close(struct delivery *delivery);

/* Sends probes that are due and takes answers until @until, CLOCK_MONOTONIC; 0 or -errno. */
int delivery__run(struct delivery *delivery, const struct dart_collectors *collectors,
		  struct dart_report_builder *builder, uint64_t until,
		  struct dart_packet_socket *socket);
/* The same without waiting, and only in some calls; for each packet. */
int delivery__turn(struct delivery *delivery, const struct dart_collectors *collectors,
		   struct dart_report_builder *builder, struct dart_packet_socket *socket);
/* Waits until all that was sent has arrived or is lost, as far as collectors answer; 0 or -errno. */
int delivery__finish(struct delivery *delivery, const struct dart_collectors *collectors,
		     struct dart_report_builder *builder, struct dart_packet_socket *socket);

/* The first collector whose reports would be lost now, or NULL. */
const struct dart_collector *delivery__missing(const struct dart_collectors *collectors,
					       const struct dart_report_builder *builder,
					       enum dart_report_state *state);

#endif /* REPORT_DELIVERY_H */
