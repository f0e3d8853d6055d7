/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The flows on disk, so that the next process knows all mappings: a file that records are appended
 * to when a flow begins, before anything of it is in the table, and when it has ended and nothing
 * of it is there any more.  A process that is killed at any instant leaves whole records, and at
 * most one torn record at the end.
 *
 * Little-endian: a header of 16 bytes, "DARTFLOW", the version (4 bytes), 0 (4 bytes); then records
 * of 32 bytes:
 *
 *   0   check (4 B): XXH32 of the other 28 bytes
 *   4   1: a flow began, or its connection goes on after it was closed; 2: it ended; 3: both ends
 *       have sent FIN; 4, 5: one end has sent RST, as enum flow_closure says
 *       16 + one of these: the same, of a flow of IPv6, after the two records of its addresses
 *   5   IP protocol
 *   6   ports inside, outside and of the other end (2 B each)
 *   12  addresses inside, outside and of the other end (4 B each; of IPv6 the last 4 B of them)
 *   24  seconds since 1970 (8 B)
 *
 * The first 12 bytes of the three addresses of IPv6 are in two records before that:
 *
 *   0   check (4 B)
 *   4   8: the first half of these 36 bytes, 9: the second half
 *   5   0
 *   6   the half, in network byte order (18 B)
 *   24  0 (8 B)
 *
 * A record with a wrong check is passed over, and so is one of another kind, so that kinds can be
 * added: journals of all processes have version 1.  The file is written anew, with the flows that
 * there are, when the process starts and when most records are of flows that have ended: the new
 * file is PATH.new until it is whole.
 */
#ifndef FLOWS_JOURNAL_H
#define FLOWS_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

#include <libdart/error.h>

#include "tools/flows/packet/address.h"

#define JOURNAL_HEADER_LENGTH 16
#define JOURNAL_RECORD_LENGTH 32

struct journal;

enum journal_operation {
	JOURNAL_BEGIN = 1,
	JOURNAL_END,
	JOURNAL_CLOSED,
	JOURNAL_RESET_BACK,
	JOURNAL_RESET_OUT,
};

struct journal_record {
	enum journal_operation operation;
	uint8_t protocol;
	uint16_t inside_port, outside_port, remote_port;
	address_t inside, outside, remote;
	uint64_t time_s;
};

struct journal_found {
	uint64_t records; /* that were told: with addresses of IPv6 it is one */
	uint64_t damaged; /* records that were passed over, with a torn one at the end */
	bool is_set_aside; /* it was not a journal: PATH.damaged */
};

/*
 * Locks PATH.lock, reads the journal, if there is one, and calls @tell for each record.  Returns 0;
 * -EBUSY if another process has the lock, or another -errno, with a sentence in @error.  The
 * journal takes no records before journal__compact().
 */
int journal__open(const char *path,
		  void (*tell)(void *subject, const struct journal_record *record), void *subject,
		  struct journal **journal, struct journal_found *found, struct dart_error *error);
void journal__close(struct journal *journal);

/* Keeps a record for journal__write(). */
void journal__add(struct journal *journal, const struct journal_record *record);
/*
 * Appends the kept records.  Returns 0, or -errno with a sentence: then the file is as before, and
 * they are still kept.
 */
int journal__write(struct journal *journal, struct dart_error *error);

/*
 * Are most records of flows that have ended, and is nothing done about that yet?  @live: flows that
 * there are.
 */
bool journal__is_long(const struct journal *journal, uint64_t live);
/*
 * Where the records of a new file come from: @next writes one to *@record and returns 1, or 0 after
 * the last one, or -errno.
 */
struct journal_source {
	int (*next)(void *subject, struct journal_record *record);
	void *subject;
};

/*
 * Replaces the file by one with the records of the source, and waits for the disk.  Kept records
 * are among them: they are dropped.  On failure the old file goes on.
 */
int journal__compact(struct journal *journal, const struct journal_source *source,
		     struct dart_error *error);

/*
 * The same without a wait, while records are added: begins it.  The source tells the records of the
 * flows that there are at this moment, however late it is asked for them: one that has ended since
 * may be missing, and one that was closed since may be told as closed.  Returns 0, or -errno with a
 * sentence.
 */
int journal__begin_anew(struct journal *journal, const struct journal_source *source,
			struct dart_error *error);
/* Is it under way?  Then no other one can begin. */
bool journal__is_anew(const struct journal *journal);
/* This descriptor is readable when it can go on. */
int journal__fd(const struct journal *journal);
/*
 * Goes on, once the descriptor is readable: asks the source for a bounded number of records.
 * Returns 1 if there is more to do, 0 when all is done, or -errno with a sentence if the old file
 * goes on.
 */
int journal__proceed(struct journal *journal, struct dart_error *error);

/* Records in the file, one for each call of journal__add() or @next. */
uint64_t journal__length(const struct journal *journal);

#endif /* FLOWS_JOURNAL_H */
