// SPDX-License-Identifier: LGPL-2.1-or-later
/* The collectors of shares over time, see share_history.h. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "share_history.h"

#define STORE_NAME_MAX 64 /* with the NUL */
/* Each share has at most so many moves, so there are no more in all. */
#define MOVES_MAX (DART_STORE_SHARES * DART_SHARE_OWNERS_MAX)
/* In ns it has 63 bits, as the times of epochs have: up to the year 2262. */
#define SINCE_MS_MAX (INT64_MAX / 1000000)
#define PARTS_OF_SET (DART_STORE_SHARES / 64)

struct move {
	struct dart_share_set shares;
	struct in_addr collector;
	uint64_t since_ms;
};

struct dart_share_history {
	char store[STORE_NAME_MAX];
	struct move *moves; /* in the order of time */
	uint32_t count;
};

int dart_share_history__new(const char *store, struct dart_share_history **history)
{
	if (!*store || strlen(store) >= STORE_NAME_MAX)
		return -EINVAL;
	*history = calloc(1, sizeof(**history));
	if (!*history)
		return -ENOMEM;
	strcpy((*history)->store, store);
	return 0;
}

void dart_share_history__free(struct dart_share_history *history)
{
	if (!history)
		return;
	free(history->moves);
	free(history);
}

const char *dart_share_history__store(const struct dart_share_history *history)
{
	return history->store;
}

/* ---- owners */

uint32_t dart_share_history__owners(const struct dart_share_history *history, uint32_t share,
				    struct dart_share_owner owners[static DART_SHARE_OWNERS_MAX])
{
	uint32_t count = 0, i;
	uint64_t until_ms = 0;

	for (i = history->count; i-- && count < DART_SHARE_OWNERS_MAX;) {
		const struct move *move = &history->moves[i];

		if (!dart_share_set__has(&move->shares, share))
			continue;
		owners[count++] = (struct dart_share_owner){
			.collector = move->collector,
			.since_ms = move->since_ms,
			.until_ms = until_ms,
		};
		until_ms = move->since_ms;
	}
	return count;
}

void dart_share_history__shares(const struct dart_share_history *history, struct in_addr collector,
				struct dart_share_set *set)
{
	uint32_t i, w;

	*set = (struct dart_share_set){};
	for (i = 0; i < history->count; i++) {
		const struct move *move = &history->moves[i];

		for (w = 0; w < PARTS_OF_SET; w++) {
			if (move->collector.s_addr == collector.s_addr)
				set->words[w] |= move->shares.words[w];
			else
				set->words[w] &= ~move->shares.words[w];
		}
	}
}

static int compare_addresses(const void *left, const void *right)
{
	const uint32_t a = ntohl(((const struct in_addr *)left)->s_addr);
	const uint32_t b = ntohl(((const struct in_addr *)right)->s_addr);

	return (a > b) - (a < b);
}

uint32_t dart_share_history__collectors(const struct dart_share_history *history,
					struct in_addr collectors[static DART_STORE_SHARES])
{
	struct dart_share_set seen = {};
	uint32_t count = 0, unique = 0, i, w;
	bool has_one;

	/* From the last move: each share counts for the collector that got it last. */
	for (i = history->count; i--;) {
		const struct move *move = &history->moves[i];

		has_one = false;
		for (w = 0; w < PARTS_OF_SET; w++) {
			has_one |= move->shares.words[w] & ~seen.words[w];
			seen.words[w] |= move->shares.words[w];
		}
		if (has_one)
			collectors[count++] = move->collector;
	}
	qsort(collectors, count, sizeof(*collectors), compare_addresses);
	for (i = 0; i < count; i++)
		if (!i || collectors[i].s_addr != collectors[unique - 1].s_addr)
			collectors[unique++] = collectors[i];
	return unique;
}

/* ---- moves */

static bool is_empty(const struct dart_share_set *set)
{
	return !dart_share_set__count(set);
}

/* Counts the shares of @move, and takes those out of it that have had enough later owners. */
static void forget_shares(struct move *move, uint8_t owners[static DART_STORE_SHARES])
{
	uint64_t rest;
	uint32_t w, bit;

	for (w = 0; w < PARTS_OF_SET; w++) {
		for (rest = move->shares.words[w]; rest; rest &= rest - 1) {
			bit = __builtin_ctzll(rest);
			if (owners[w * 64 + bit] == DART_SHARE_OWNERS_MAX)
				move->shares.words[w] &= ~(UINT64_C(1) << bit);
			else
				owners[w * 64 + bit]++;
		}
	}
}

/* Takes shares out of old moves, and moves without shares out of the list. */
static void forget(struct dart_share_history *history)
{
	uint8_t owners[DART_STORE_SHARES] = {};
	uint32_t kept = 0, i;

	for (i = history->count; i--;)
		forget_shares(&history->moves[i], owners);
	for (i = 0; i < history->count; i++)
		if (!is_empty(&history->moves[i].shares))
			history->moves[kept++] = history->moves[i];
	history->count = kept;
}

/* The caller ensures the order of time, and that one of the shares is there. */
static int append(struct dart_share_history *history, const struct move *move)
{
	struct move *moves = reallocarray(history->moves, history->count + 1, sizeof(*moves));

	if (!moves)
		return -ENOMEM;
	moves[history->count++] = *move;
	history->moves = moves;
	return 0;
}

int dart_share_history__move(struct dart_share_history *history,
			     const struct dart_share_set *shares, struct in_addr collector,
			     uint64_t now_ms)
{
	const uint64_t last_ms = history->count ? history->moves[history->count - 1].since_ms : 0;
	struct move move = {
		.collector = collector,
		.since_ms = now_ms > last_ms ? now_ms : last_ms + 1,
	};
	struct dart_share_set its;
	uint32_t w;

	dart_share_history__shares(history, collector, &its);
	for (w = 0; w < PARTS_OF_SET; w++)
		move.shares.words[w] = shares->words[w] & ~its.words[w];
	if (is_empty(&move.shares))
		return 0;
	if (append(history, &move))
		return -ENOMEM;
	forget(history);
	return dart_share_set__count(&move.shares);
}

/* ---- files */

/* One file that is being read. */
struct reading {
	struct dart_share_history *history;
	const char *name;
	size_t line; /* index in the list */
	struct dart_error *error;
};

#define refuse(reading, format, ...)                                                          \
	dart_error__set((reading)->error, EINVAL, "%s: moves[%zu]: " format, (reading)->name, \
			(reading)->line, ##__VA_ARGS__)

/* Has one of the shares moved at this time or later? */
static bool is_disordered(const struct dart_share_history *history, const struct move *move)
{
	uint32_t i, w;

	if (history->count && history->moves[history->count - 1].since_ms > move->since_ms)
		return true;
	for (i = history->count; i-- && history->moves[i].since_ms == move->since_ms;)
		for (w = 0; w < PARTS_OF_SET; w++)
			if (history->moves[i].shares.words[w] & move->shares.words[w])
				return true;
	return false;
}

static int take_move(struct reading *reading, json_t *json)
{
	const char *shares, *collector;
	struct move move = { .since_ms = 0 };
	json_error_t json_error;
	json_int_t since_ms;

	if (json_unpack_ex(json, &json_error, JSON_STRICT, "{s:s, s:s, s:I}", "shares", &shares,
			   "collector", &collector, "since_ms", &since_ms))
		return refuse(reading, "%s", json_error.text);
	if (dart_share_set__parse(shares, &move.shares))
		return refuse(reading, "'%s' is not a list of shares", shares);
	if (inet_pton(AF_INET, collector, &move.collector) != 1 || !move.collector.s_addr)
		return refuse(reading, "collector '%s' is not a host's address", collector);
	if (since_ms < 1 || since_ms > SINCE_MS_MAX)
		return refuse(reading, "since_ms is not between 1970 and 2262");
	move.since_ms = since_ms;
	if (is_disordered(reading->history, &move))
		return refuse(reading, "it is not later than a move before it");
	return append(reading->history, &move) ? dart_error__no_memory(reading->error) : 0;
}

bool dart_share_history__is_in(const json_t *file)
{
	return json_object_get(file, "dart_shares");
}

int dart_share_history__take(const json_t *file, const char *name,
			     struct dart_share_history **history, struct dart_error *error)
{
	struct reading reading = { .name = name, .error = error };
	const char *store;
	json_t *moves, *move;
	int version, ret;

	if (json_unpack((json_t *)file, "{s:i, s:s, s:o !}", "dart_shares", &version, "store",
			&store, "moves", &moves) ||
	    version != 1 || !json_is_array(moves))
		return dart_error__set(
			error, EINVAL,
			"%s: not a file of shares, version 1 (see 'dartctl share create')", name);
	if (json_array_size(moves) > MOVES_MAX)
		return dart_error__set(error, EINVAL, "%s: more than %d moves", name, MOVES_MAX);
	ret = dart_share_history__new(store, &reading.history);
	if (ret == -EINVAL)
		return dart_error__set(error, EINVAL,
				       "%s: the name of the store is empty or too long", name);
	if (ret)
		return dart_error__no_memory(error);
	json_array_foreach(moves, reading.line, move) {
		ret = take_move(&reading, move);
		if (ret)
			break;
	}
	if (ret) {
		dart_share_history__free(reading.history);
		return ret;
	}
	forget(reading.history);
	*history = reading.history;
	return 0;
}

json_t *dart_share_history__to_json(const struct dart_share_history *history)
{
	json_t *moves = json_array();
	char address[INET_ADDRSTRLEN];
	uint32_t i;
	char *text;

	for (i = 0; i < history->count; i++) {
		const struct move *move = &history->moves[i];

		text = dart_share_set__text(&move->shares);
		inet_ntop(AF_INET, &move->collector, address, sizeof(address));
		/* A NULL is refused, too. */
		if (json_array_append_new(moves, json_pack("{s:s, s:s, s:I}", "shares", text,
							   "collector", address, "since_ms",
							   (json_int_t)move->since_ms))) {
			free(text);
			json_decref(moves);
			return NULL;
		}
		free(text);
	}
	return json_pack("{s:i, s:s, s:o}", "dart_shares", 1, "store", history->store, "moves",
			 moves);
}
