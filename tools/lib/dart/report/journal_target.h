/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The journal that an appender WRITEs to, as an agent exports it, and the frames that carry its
 * batches: see <dart/journal.h> and dart_journals(5).
 *
 * `dartctl journal export` prints such a JSON file:
 *
 *   {"dart_journals": 1,
 *    "journals": [
 *      {"name": "events", "reporter": "10.0.0.2", "mac": "52:54:00:00:00:01", "ip": "10.0.0.1",
 *       "qpn": 17, "rkey": 4660, "base": "0x3a5f00000000", "first_psn": 0,
 *       "epoch": 1795339800, "lists_log2": 0, "batches_log2": 10, "batch_log2": 8,
 *       "entry_length": 41}]}
 *
 * The first members, and dscp, are those of dart_collectors(5); reporter is the address of the
 * appender, and base that of its part.
 */
#ifndef DART_JOURNAL_TARGET_H
#define DART_JOURNAL_TARGET_H

#include <libdart/journal/journal.h>

#include "roce_frame.h"

struct dart_journal_target {
	struct dart_collector collector; /* without a geometry */
	struct dart_journal_geometry geometry; /* of one appender */
};

/*
 * Reads the journal for the appender at @address from the file at @path.  INADDR_ANY stands for the
 * only appender in the file.  Returns 0, or sets @error and returns -ENOENT if there is none,
 * -EINVAL, -ENOMEM or the error of opening the file.
 */
int dart_journal_target__load(const char *path, struct in_addr address,
			      struct dart_journal_target *target, struct dart_error *error);
/* An element of the file, a new reference; NULL if out of memory. */
json_t *dart_journal_target__to_json(const struct dart_journal_target *target);

/* Bytes of the longest frame. */
#define DART_JOURNAL_FRAME_MAX \
	(sizeof(struct dart_roce_headers) + DART_JOURNAL_BATCH_MAX + DART_ROCE_ICRC_LENGTH)

/* Builds the frame of @write to @list, and returns its bytes. */
size_t dart_journal_target__frame(const struct dart_journal_target *target,
				  const uint8_t source_mac[ETH_ALEN], uint32_t list,
				  const struct dart_journal_write *write, uint32_t psn,
				  uint8_t frame[DART_JOURNAL_FRAME_MAX]);

#endif /* DART_JOURNAL_TARGET_H */
