/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The PSNs of reports to one queue pair, and for a reliable connection what is known of the
 * expected PSN: see "Transports" in <dart/store.h>.
 */
#ifndef DART_REPORT_SEQUENCE_INTERNAL_H
#define DART_REPORT_SEQUENCE_INTERNAL_H

#include "report_progress.h"
#include "roce_frame.h"

struct dart_report_sequence {
	struct dart_report_progress progress;
	uint32_t next; /* PSN of the next report */
	/*
	 * Only of a reliable connection: the expected PSN that was last known, or that is asked for
	 * until one is known; and the PSN after all reports that may have arrived.
	 */
	uint32_t expected, top;
	uint32_t probe_end; /* PSN after the last report before the probe that is under way */
	bool is_probing, is_odd; /* a probe is under way; it is the one far from the first PSN */
	bool has_refused; /* a NAK of the expected PSN came, or may be under way */
	/*
	 * Times of CLOCK_MONOTONIC: of the last probe, of its first try, and of the first probe since
	 * the expected PSN rose, 0 without one; and durations: until it is sent again, and of the
	 * slowest answers.
	 */
	uint64_t probe_at, tried_at, stalled_at, pause, slow;
	uint32_t unasked; /* reports since the last probe */
};

void dart_report_sequence__begin(struct dart_report_sequence *sequence,
				 const struct dart_collector *collector);
/* Goes on with another queue pair. */
void dart_report_sequence__renew(struct dart_report_sequence *sequence,
				 const struct dart_collector *collector);
/* Takes the PSN of a report. */
uint32_t dart_report_sequence__take_psn(struct dart_report_sequence *sequence);

/* When the next probe is due: UINT64_MAX: not before another report or answer. */
uint64_t dart_report_sequence__due(const struct dart_report_sequence *sequence);
/* Takes the PSN of a probe, which is due. */
uint32_t dart_report_sequence__probe(struct dart_report_sequence *sequence, uint64_t now);
void dart_report_sequence__answer(struct dart_report_sequence *sequence,
				  const struct dart_roce_answer *answer, uint64_t now);

#endif /* DART_REPORT_SEQUENCE_INTERNAL_H */
