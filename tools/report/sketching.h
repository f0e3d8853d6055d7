/* SPDX-License-Identifier: GPL-2.0-only */
/* Counts packets in a sketch, and WRITEs its strips when a period has ended. */
#ifndef REPORT_SKETCHING_H
#define REPORT_SKETCHING_H

#include <libdart/report/packet_socket.h>
#include <libdart/report/sketch_target.h>

#include "live.h"
#include "tools/watch/path_watch.h"

struct sketching {
	const char *path; /* of the export */
	struct in_addr address; /* of the sketcher */
	struct path_watch watch; /* of the export; without paths if it is not followed */
	struct dart_sketch_target target;
	struct dart_sketcher *sketcher; /* NULL: nothing is counted */
	uint64_t packets; /* that were counted */
	uint64_t former; /* strips that went to former queue pairs */
	uint64_t renewals; /* other queue pairs */
	uint32_t first_period; /* that was counted from its begin; 0: none */
};

/*
 * Begins to count for the sketch in the file at @path, from @address.  @follows: goes on with other
 * queue pairs when the file changes.  Returns 0, or -errno with a sentence in @error; in every case
 * the caller calls sketching__close().
 */
int sketching__open(struct sketching *sketching, const char *path, struct in_addr address,
		    bool follows, struct dart_error *error);
void sketching__close(struct sketching *sketching);

/* Waits until a period begins, of which no packet is missing. */
void sketching__await_period(struct sketching *sketching);
/* Counts @packets of a key; first WRITEs what is due.  Returns 0, or -errno of sending. */
int sketching__count(struct sketching *sketching, const uint8_t *key, size_t length,
		     uint64_t packets, struct dart_packet_socket *socket);
/* No packet comes for now: WRITEs a period that has ended.  Returns as above. */
int sketching__idle(struct sketching *sketching, struct dart_packet_socket *socket);
/*
 * Waits until @end, of CLOCK_MONOTONIC.  If the period has ended then, takes what the kernel
 * counted in it, and WRITEs it.  Returns as above.
 */
int sketching__take(struct sketching *sketching, struct live *live, uint64_t end,
		    struct dart_packet_socket *socket);
/* No packet follows: waits until the period has ended, and WRITEs it.  Returns as above. */
int sketching__finish(struct sketching *sketching, struct dart_packet_socket *socket);

#endif /* REPORT_SKETCHING_H */
