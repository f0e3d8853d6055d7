// SPDX-License-Identifier: LGPL-2.1-or-later
/* Gathers amounts in rows, makes requests of them, and sends these until they are answered. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ledger_adder.h"

#define NS_PER_MS 1000000
#define RETRY_NS ((uint64_t)DART_LEDGER_RETRY_MS * NS_PER_MS)
#define RETRY_MAX_NS ((uint64_t)DART_LEDGER_RETRY_MAX_MS * NS_PER_MS)
#define FLUSH_NS ((uint64_t)DART_LEDGER_FLUSH_MS * NS_PER_MS)

/* Requests that are not answered or not sent yet, a power of two. */
#define QUEUE 64

/* Rows that each added amount looks at, so that all are looked at in turn. */
#define LOOKS 2

struct row {
	uint64_t sum; /* 0: the row is free */
	uint64_t since; /* when the first amount came */
	uint32_t length; /* bytes of the key */
	uint8_t key[DART_STORE_KEY_MAX];
};

/* Adds @amount to a word; @row: of the ledger, or the number of rows for the total. */
struct request {
	uint64_t offset, amount;
	uint32_t row;
};

/*
 * Requests are numbered from 0: oldest <= next <= fresh <= end, and only those from oldest on are
 * in the queue.  The answers to those before @oldest have come, @next is sent next, those from
 * @fresh on were never sent.
 */
struct dart_ledger_adder {
	struct dart_ledger_target target;
	struct dart_store_hash *hash;
	struct dart_ledger_adder_counts counts;
	struct request queue[QUEUE];
	uint64_t oldest, next, fresh, end;
	uint64_t first; /* request with the first PSN of the queue pair */
	uint64_t due, pause; /* when all are sent again, and how long after the last progress */
	uint64_t total, total_since; /* amounts that are not in a request for the total yet */
	bool is_broken;
	uint8_t mac[ETH_ALEN];
	uint32_t row_count, hand; /* of the cache; the row that is looked at next */
	struct row rows[];
};

/* ---- requests */

static bool has_room(const struct dart_ledger_adder *adder, uint32_t requests)
{
	return adder->end - adder->oldest + requests <= QUEUE;
}

static void enqueue(struct dart_ledger_adder *adder, uint32_t row, uint64_t crc, uint64_t amount)
{
	adder->queue[adder->end++ % QUEUE] = (struct request){
		.offset = dart_ledger_geometry__offset(&adder->target.geometry, row, crc),
		.amount = amount,
		.row = row,
	};
	adder->counts.requests++;
}

/*
 * The collector may answer the first requests from its notes of an earlier run: at most those in
 * the first window, and as many after them.
 */
static void precede(struct dart_ledger_adder *adder)
{
	uint32_t i;

	for (i = 0; i < DART_LEDGER_PRECEDING; i++)
		enqueue(adder, 0, 0, 0);
}

/* ---- life */

int dart_ledger_adder__new(const struct dart_ledger_target *target, const uint8_t mac[ETH_ALEN],
			   uint32_t rows, struct dart_ledger_adder **result)
{
	struct dart_ledger_adder *adder;
	int ret;

	if (!rows || rows & (rows - 1) || rows > DART_LEDGER_CACHE_MAX)
		return -EINVAL;
	adder = calloc(1, sizeof(*adder) + rows * sizeof(*adder->rows));
	if (!adder)
		return -ENOMEM;
	ret = dart_ledger_geometry__hash(&target->geometry, &adder->hash);
	if (ret) {
		free(adder);
		return ret;
	}
	adder->target = *target;
	adder->row_count = rows;
	adder->pause = RETRY_NS;
	memcpy(adder->mac, mac, ETH_ALEN);
	precede(adder);
	*result = adder;
	return 0;
}

void dart_ledger_adder__free(struct dart_ledger_adder *adder)
{
	if (!adder)
		return;
	dart_store_hash__free(adder->hash);
	free(adder);
}

/* ---- rows, and requests of them */

/* Makes requests of @row of the cache, for which there is room, and frees it. */
static void send_row(struct dart_ledger_adder *adder, struct row *row)
{
	const uint32_t rows = adder->target.geometry.rows;
	struct dart_store_place place;
	uint32_t i;

	dart_store_hash__place(adder->hash, row->key, row->length, &place);
	for (i = 0; i < rows; i++)
		enqueue(adder, i, place.slots[i], row->sum);
	if (!adder->total)
		adder->total_since = row->since;
	adder->total += row->sum;
	row->sum = 0;
}

/* Returns false if there is no room. */
static bool send_total(struct dart_ledger_adder *adder)
{
	if (!adder->total)
		return true;
	if (!has_room(adder, 1))
		return false;
	enqueue(adder, adder->target.geometry.rows, 0, adder->total);
	adder->total = 0;
	return true;
}

/* Sends @row if it is due.  Returns false if there is no room for it. */
static bool look_at(struct dart_ledger_adder *adder, struct row *row, bool is_end, uint64_t now)
{
	if (!row->sum || (!is_end && now - row->since < FLUSH_NS))
		return true;
	if (!has_room(adder, adder->target.geometry.rows))
		return false;
	send_row(adder, row);
	return true;
}

/* Looks at the next @count rows, and at the total. */
static bool look(struct dart_ledger_adder *adder, uint32_t count, bool is_end, uint64_t now)
{
	for (; count; count--) {
		if (!look_at(adder, &adder->rows[adder->hand], is_end, now))
			return false;
		adder->hand = (adder->hand + 1) % adder->row_count;
	}
	if (!is_end && (!adder->total || now - adder->total_since < FLUSH_NS))
		return true;
	return send_total(adder);
}

bool dart_ledger_adder__flush(struct dart_ledger_adder *adder, bool is_end, uint64_t now)
{
	return look(adder, adder->row_count, is_end, now);
}

int dart_ledger_adder__add(struct dart_ledger_adder *adder, const void *key, size_t length,
			   uint64_t amount, uint64_t now)
{
	struct dart_store_place place;
	struct row *row;

	dart_store_hash__place(adder->hash, key, length, &place);
	row = &adder->rows[place.checksum % adder->row_count];
	if (row->sum && (row->length != length || memcmp(row->key, key, length) ||
			 row->sum > UINT64_MAX - amount)) {
		if (!has_room(adder, adder->target.geometry.rows))
			return -EAGAIN;
		send_row(adder, row);
	}
	if (!row->sum) {
		row->since = now;
		row->length = length;
		memcpy(row->key, key, length);
	}
	row->sum += amount;
	adder->counts.amounts++;
	look(adder, LOOKS, false, now);
	return 0;
}

/* ---- sending */

static uint32_t psn_of(const struct dart_ledger_adder *adder, uint64_t number)
{
	return (adder->target.collector.first_psn + (number - adder->first)) & DART_ROCE_PSN_MASK;
}

static bool may_send(const struct dart_ledger_adder *adder)
{
	return !adder->is_broken && adder->next < adder->end &&
	       adder->next - adder->oldest < DART_LEDGER_OUTSTANDING;
}

/* Sends all again if nothing has come for too long. */
static void retry(struct dart_ledger_adder *adder, uint64_t now)
{
	if (adder->is_broken || adder->oldest == adder->fresh || now < adder->due)
		return;
	adder->next = adder->oldest;
	adder->pause = 2 * adder->pause < RETRY_MAX_NS ? 2 * adder->pause : RETRY_MAX_NS;
	adder->due = now + adder->pause;
}

bool dart_ledger_adder__next(struct dart_ledger_adder *adder, uint64_t now,
			     uint8_t frame[DART_LEDGER_FRAME])
{
	struct dart_ledger_operation operation;
	const struct request *request;

	retry(adder, now);
	if (!may_send(adder))
		return false;
	if (adder->oldest == adder->fresh)
		adder->due = now + adder->pause;
	request = &adder->queue[adder->next % QUEUE];
	operation = (struct dart_ledger_operation){
		.offset = request->offset,
		.amount = request->amount,
		.psn = psn_of(adder, adder->next),
	};
	dart_ledger_target__frame(&adder->target, adder->mac, &operation, frame);
	if (adder->next < adder->fresh)
		adder->counts.repeats++;
	adder->next++;
	if (adder->fresh < adder->next)
		adder->fresh = adder->next;
	return true;
}

/* All requests before @number were executed. */
static void make_progress(struct dart_ledger_adder *adder, uint64_t number, uint64_t now)
{
	if (number == adder->oldest)
		return;
	adder->counts.executed += number - adder->oldest;
	adder->oldest = number;
	if (adder->next < adder->oldest)
		adder->next = adder->oldest;
	adder->pause = RETRY_NS;
	adder->due = now + RETRY_NS;
}

void dart_ledger_adder__take(struct dart_ledger_adder *adder, const uint8_t *frame, size_t length,
			     uint64_t now)
{
	struct dart_roce_answer answer;
	uint64_t number;

	if (adder->is_broken ||
	    dart_ledger_target__read_answer(&adder->target, frame, length, &answer))
		return;
	number = adder->oldest + ((answer.psn - psn_of(adder, adder->oldest)) & DART_ROCE_PSN_MASK);
	/* An answer that the network repeated or delayed. */
	if (number >= adder->fresh)
		return;
	switch (answer.kind) {
	case DART_ROCE_ACKNOWLEDGED:
		make_progress(adder, number + 1, now);
		break;
	case DART_ROCE_OUT_OF_SEQUENCE:
		adder->counts.refusals++;
		make_progress(adder, number, now);
		adder->next = adder->oldest;
		break;
	case DART_ROCE_REFUSED:
		adder->counts.refusals++;
		make_progress(adder, number, now);
		/* None of the others was executed, so another queue pair can get all of them. */
		adder->next = adder->fresh = adder->oldest;
		adder->is_broken = true;
		break;
	case DART_ROCE_NOT_READY:
		break;
	}
}

bool dart_ledger_adder__is_idle(const struct dart_ledger_adder *adder)
{
	return adder->oldest == adder->end;
}

bool dart_ledger_adder__is_broken(const struct dart_ledger_adder *adder)
{
	return adder->is_broken;
}

uint64_t dart_ledger_adder__due(const struct dart_ledger_adder *adder)
{
	if (adder->is_broken)
		return UINT64_MAX;
	if (may_send(adder))
		return 0;
	return adder->oldest < adder->fresh ? adder->due : UINT64_MAX;
}

/* ---- another queue pair */

/* The requests up to @end are never sent again. */
static void lose(struct dart_ledger_adder *adder, uint64_t end)
{
	for (; adder->oldest < end; adder->oldest++) {
		const struct request *request = &adder->queue[adder->oldest % QUEUE];

		adder->counts.lost[request->row] += request->amount;
	}
}

static bool is_same_ledger(const struct dart_ledger_target *a, const struct dart_ledger_target *b)
{
	return !strcmp(a->collector.name, b->collector.name) &&
	       a->collector.reporter.s_addr == b->collector.reporter.s_addr &&
	       a->geometry.rows == b->geometry.rows &&
	       a->geometry.words_log2 == b->geometry.words_log2;
}

/* A queue pair of the same number is another one in another epoch. */
static bool is_same_queue_pair(const struct dart_collector *a, const struct dart_collector *b)
{
	return a->ip.s_addr == b->ip.s_addr && a->qpn == b->qpn && a->epoch == b->epoch &&
	       a->first_psn == b->first_psn && a->rkey == b->rkey && a->base == b->base;
}

int dart_ledger_adder__renew(struct dart_ledger_adder *adder,
			     const struct dart_ledger_target *target)
{
	if (!is_same_ledger(&adder->target, target))
		return -EINVAL;
	if (is_same_queue_pair(&adder->target.collector, &target->collector))
		return 0;
	lose(adder, adder->fresh);
	adder->first = adder->next = adder->fresh;
	adder->pause = RETRY_NS;
	adder->is_broken = false;
	adder->target = *target;
	adder->counts.renewals++;
	return 0;
}

void dart_ledger_adder__give_up(struct dart_ledger_adder *adder)
{
	const uint32_t rows = adder->target.geometry.rows;
	uint32_t i, row;

	lose(adder, adder->end);
	adder->next = adder->fresh = adder->end;
	for (i = 0; i < adder->row_count; i++) {
		for (row = 0; row < rows; row++)
			adder->counts.lost[row] += adder->rows[i].sum;
		adder->total += adder->rows[i].sum;
		adder->rows[i].sum = 0;
	}
	adder->counts.lost[rows] += adder->total;
	adder->total = 0;
	adder->is_broken = true;
}

const struct dart_ledger_adder_counts *
dart_ledger_adder__counts(const struct dart_ledger_adder *adder)
{
	return &adder->counts;
}

const struct dart_ledger_target *dart_ledger_adder__target(const struct dart_ledger_adder *adder)
{
	return &adder->target;
}
