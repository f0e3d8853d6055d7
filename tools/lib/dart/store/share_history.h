/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which collector has had which shares of the keys, and since when.
 *
 * A hash divides the keys of a store into DART_STORE_SHARES shares (<dart/store.h>).  Each share
 * belongs to one collector at a time, and may move to another one while reporters go on.  The file
 * is the operator's (dartctl-share(1)); reporters and readers get it beside the exports of the
 * collectors, which know nothing of each other:
 *
 *   {"dart_shares": 1, "store": "paths",
 *    "moves": [
 *      {"shares": "0-1023", "collector": "10.0.0.1", "since_ms": 1795882500000},
 *      {"shares": "100-199", "collector": "10.0.0.2", "since_ms": 1795882560000}]}
 *
 * moves: in the order of their time, ms since 1970 that never decrease and are larger in each move
 * of the same share.  shares: numbers and ranges, "0-511,600".  collector: the address "ip" of its
 * export.  A share is with the collector of its last move; the moves before tell a reader where
 * older reports are.  A share without a move has no collector.
 */
#ifndef DART_SHARE_HISTORY_H
#define DART_SHARE_HISTORY_H

#include <jansson.h>
#include <netinet/in.h>
#include <stdbool.h>

#include <libdart/error.h>
#include <libdart/store/share_set.h>

/* Collectors of a share that are remembered, with the present one. */
#define DART_SHARE_OWNERS_MAX 16

/* A collector that has a share, or had it. */
struct dart_share_owner {
	struct in_addr collector;
	uint64_t since_ms, until_ms; /* since 1970; until_ms of the present one is 0 */
};

struct dart_share_history;

/* @store: its name, 1 to 63 bytes.  Returns 0, -EINVAL or -ENOMEM. */
int dart_share_history__new(const char *store, struct dart_share_history **history);
/*
 * Reads the parsed @file, which may be hostile, named @name in messages.  Returns 0, or sets @error
 * and returns -EINVAL or -ENOMEM.
 */
int dart_share_history__take(const json_t *file, const char *name,
			     struct dart_share_history **history, struct dart_error *error);
void dart_share_history__free(struct dart_share_history *history);

/* Is this JSON such a file, by its first member? */
bool dart_share_history__is_in(const json_t *file);
/* The file as JSON; NULL if out of memory. */
json_t *dart_share_history__to_json(const struct dart_share_history *history);

const char *dart_share_history__store(const struct dart_share_history *history);
/* The collectors of @share, the present one first; returns their number. */
uint32_t dart_share_history__owners(const struct dart_share_history *history, uint32_t share,
				    struct dart_share_owner owners[static DART_SHARE_OWNERS_MAX]);
/* The present collectors in the order of their addresses; returns their number. */
uint32_t dart_share_history__collectors(const struct dart_share_history *history,
					struct in_addr collectors[static DART_STORE_SHARES]);
/* The shares of @collector. */
void dart_share_history__shares(const struct dart_share_history *history, struct in_addr collector,
				struct dart_share_set *set);

/*
 * Gives @shares to @collector from now on, @now_ms, or from the ms after the last move if that is
 * later: moves keep their order if a clock is wrong.  Shares that it has already keep their time.
 * Forgets collectors of a share beyond DART_SHARE_OWNERS_MAX.  Returns the number of shares that
 * moved, or -ENOMEM, and then nothing has changed.
 */
int dart_share_history__move(struct dart_share_history *history,
			     const struct dart_share_set *shares, struct in_addr collector,
			     uint64_t now_ms);

#endif /* DART_SHARE_HISTORY_H */
