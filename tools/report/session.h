/* SPDX-License-Identifier: GPL-2.0-only */
/* One run of dart-report: from the feed to the wire. */
#ifndef REPORT_SESSION_H
#define REPORT_SESSION_H

#include <libdart/error.h>
#include <libdart/report/report_builder.h>

#include "options.h"

/* What has been done with the packets of the feed. */
struct session {
	uint64_t packets;
	uint64_t unassigned;	/* of keys whose share nobody has */
	uint64_t others;	/* of the capture: no INT-MD */
	uint64_t malformed;	/* of the capture: INT-MD of no use */
	uint64_t frames;	/* sent */
	uint64_t refusals;	/* times that the interface had no room */
	uint64_t ns;		/* that sending took */
	/* With reports only; both, or neither. */
	struct dart_collectors collectors;
	struct dart_report_builder *reporter;
};

/*
 * Sends all that @options say.  Returns 0, or -errno with a sentence in @error;
 * in every case the caller frees with session__clear().
 */
int session__run(struct session *session, const struct options *options,
		 struct dart_error *error);
void session__clear(struct session *session);

#endif /* REPORT_SESSION_H */
