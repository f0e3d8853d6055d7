/* SPDX-License-Identifier: GPL-2.0-only */
/* One run of dart-report: from the feed to the interface. */
#ifndef REPORT_SESSION_H
#define REPORT_SESSION_H

#include <libdart/error.h>
#include <libdart/report/journal_target.h>
#include <libdart/report/report_builder.h>

#include "counting.h"
#include "delivery.h"
#include "gathering.h"
#include "live.h"
#include "options.h"
#include "sketching.h"
#include "tools/watch/path_watch.h"

/* Counts the outcomes of the packets of the feed. */
struct session {
	uint64_t packets;	/* or postcards */
	uint64_t unassigned;	/* of keys in a share without collector, or too long for entries */
	uint64_t others;	/* of the capture, without INT-MD */
	uint64_t tagged;	/* of the capture, with more than two tags of VLANs */
	uint64_t malformed;	/* of the capture, with unusable INT-MD */
	uint64_t frames;	/* sent */
	uint64_t refusals;	/* times the interface's queue was full */
	uint64_t ns;		/* spent sending */
	/* Both set if reports are sent, otherwise neither. */
	struct dart_collectors collectors;
	struct dart_report_builder *builder;
	struct delivery delivery;	/* of reports over reliable connections */
	struct path_watch watch;	/* of the files; without paths if they are not followed */
	int64_t look_at;	/* CLOCK_MONOTONIC: the next look at these, or earlier */
	/* Likewise, if entries are appended. */
	struct dart_journal_target target;
	struct dart_journal_appender *appender;
	uint64_t entries;
	uint64_t batches;	/* WRITEs of them */
	uint64_t flush_at;	/* of CLOCK_MONOTONIC; 0 before the first entry */
	struct live *live;	/* NULL: packets are those of the feed */
	uint64_t crowded;	/* packets of flows that found no room in the kernel */
	struct counting counting;	/* with an adder if packets are counted in a ledger */
	struct gathering gathering;	/* with a translator if postcards are gathered */
	struct sketching sketching;	/* with a sketcher if they are counted in a sketch */
};

/*
 * Sends the reports that @options ask for.  Returns 0, or -errno with a sentence in
 * @error; in every case the caller frees the session with session__clear().
 */
int session__run(struct session *session, const struct options *options, struct dart_error *error);
void session__clear(struct session *session);

#endif /* REPORT_SESSION_H */
