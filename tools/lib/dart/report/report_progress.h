/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The arrival of reports, as their reporter knows it: see "Transports" in <dart/store.h>. */
#ifndef DART_REPORT_PROGRESS_H
#define DART_REPORT_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

enum dart_report_state {
	DART_REPORT_UNFOLLOWED, /* the connection is unreliable: nothing is known of arrivals */
	DART_REPORT_ASKING, /* the expected PSN is not known yet: reports would be lost */
	DART_REPORT_FOLLOWED,
	DART_REPORT_REFUSED, /* the queue pair is in the error state: reports are lost */
};

/* Of the reports to a queue pair since it is in use. */
struct dart_report_progress {
	uint64_t reports; /* sent */
	uint64_t lost_before; /* reports to former queue pairs without an answer that counts them */
	/* Reports that arrived, and times that the queue pair stopped, as far as answers tell. */
	uint64_t arrived, stops;
	enum dart_report_state state;
	bool is_settled; /* the state is FOLLOWED, and nothing is known to be under way */
};

#endif /* DART_REPORT_PROGRESS_H */
