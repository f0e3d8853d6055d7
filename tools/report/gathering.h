/* SPDX-License-Identifier: GPL-2.0-only */
/* Gathers postcards of hops, and reports the path of each flow: see <dart/postcard.h>. */
#ifndef REPORT_GATHERING_H
#define REPORT_GATHERING_H

#include <libdart/report/packet_socket.h>
#include <libdart/report/report_builder.h>
#include <libdart/report/translator.h>

#include "options.h"

struct gathering {
	struct dart_translator *translator;	/* NULL: no postcards are gathered */
	bool all_copies;	/* complete paths fill all slots of their key */
	uint64_t last_ns;	/* time of the last postcard */
	uint64_t last_at;	/* of CLOCK_MONOTONIC: when it came; 0: none came */
	uint64_t unassigned;	/* reports of shares without collector */
};

/*
 * Prepares to gather for the stores of @collectors.  Returns 0, or -errno with a sentence in
 * @error; in every case the caller calls gathering__close().
 */
int gathering__open(struct gathering *gathering, const struct options *options,
		    const struct dart_collectors *collectors, struct dart_error *error);
void gathering__close(struct gathering *gathering);

/* Takes a postcard of the time @ns, and sends what is due.  Returns 0, or -errno of sending. */
int gathering__add(struct gathering *gathering, const struct dart_postcard *postcard, uint64_t ns,
		   struct dart_report_builder *builder, struct dart_packet_socket *socket);
/* No postcard comes for now: reports rows whose time passes meanwhile.  Returns as above. */
int gathering__idle(struct gathering *gathering, struct dart_report_builder *builder,
		    struct dart_packet_socket *socket);
/* No postcard follows: reports all rows.  Returns as above. */
int gathering__finish(struct gathering *gathering, struct dart_report_builder *builder,
		      struct dart_packet_socket *socket);

#endif /* REPORT_GATHERING_H */
