/* SPDX-License-Identifier: GPL-2.0-only */
/* Adds packets to a ledger. */
#ifndef REPORT_COUNTING_H
#define REPORT_COUNTING_H

#include <libdart/report/answer_socket.h>
#include <libdart/report/ledger_adder.h>
#include <libdart/report/packet_socket.h>

#include "tools/watch/path_watch.h"

/* Without progress for so long, it gives up. */
#define COUNTING_PATIENCE_NS UINT64_C(30000000000)

struct counting {
	const char *path; /* of the export */
	struct in_addr address; /* of the adder */
	struct dart_ledger_adder *adder; /* NULL: nothing is counted */
	struct dart_answer_socket *answers;
	struct path_watch watch; /* of the export; without paths if it is not followed */
	uint64_t look_at; /* when the export is looked at next */
	uint64_t progress_at, executed; /* last progress, and the count then */
	uint64_t packets; /* that were added */
	bool has_given_up;
};

/*
 * Begins to add to the ledger in the file at @path, from @address, with a cache of @rows rows.
 * @follows: goes on with other queue pairs when the file changes.  Returns 0, or -errno with a
 * sentence in @error; in every case the caller calls counting__close().
 */
int counting__open(struct counting *counting, const char *path, const char *interface,
		   struct in_addr address, uint32_t rows, bool follows,
		   struct dart_packet_socket *socket, struct dart_error *error);
void counting__close(struct counting *counting);

/*
 * Adds @packets, at least 1, to a key.  Returns 0, or -errno of sending or receiving.  Once
 * has_given_up is set, nothing is added any more.
 */
int counting__add(struct counting *counting, const uint8_t *key, size_t length, uint64_t packets,
		  struct dart_packet_socket *socket);
/* Sends requests and takes answers until @end, of CLOCK_MONOTONIC.  Returns as above. */
int counting__run(struct counting *counting, uint64_t end, struct dart_packet_socket *socket);
/* Sends the sums that are still in the cache, and waits for the answers.  Returns as above. */
int counting__finish(struct counting *counting, struct dart_packet_socket *socket);

#endif /* REPORT_COUNTING_H */
