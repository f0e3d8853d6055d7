// SPDX-License-Identifier: LGPL-2.1-or-later
/* Rows of postcards, in a list by the time of their first one: see <dart/postcard.h>. */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/store/store_hash.h>

#include "translator.h"

#define PLACE sizeof(uint32_t)

_Static_assert(DART_POSTCARD_HOPS_MAX * PLACE == DART_STORE_VALUE_MAX,
	       "the longest path fills the longest value");

/* Stands for the end of the list; both ends refer to it. */
#define NO_ROW UINT32_MAX

struct row {
	uint8_t key[DART_STORE_KEY_MAX];
	uint32_t key_length;	/* 0: the row is free */
	uint32_t hops;
	uint32_t known;		/* hops with a value */
	bool is_reported;
	uint32_t values[DART_POSTCARD_HOPS_MAX];
	uint64_t since_ns;
	uint32_t older, newer;	/* in the list */
};

struct dart_translator {
	uint32_t rows_log2;
	uint32_t places;
	uint64_t age_ns;
	uint64_t now_ns;	/* goes on, whatever the clock does: see translator__tell() */
	uint64_t ahead_ns;	/* of @now_ns to the clock; modulo 2^64 */
	bool is_told;		/* any time */
	uint32_t oldest, newest;
	uint32_t incomplete;	/* rows that were reported so, modulo 2^32 */
	struct dart_translator_counts counts;
	struct row rows[];
};

int dart_postcard__read(const void *datagram, size_t length, struct dart_postcard *postcard)
{
	const uint8_t *bytes = datagram;
	uint32_t value;

	if (length < DART_POSTCARD_HEADER || bytes[0] != DART_POSTCARD_VERSION || !bytes[1] ||
	    bytes[1] > DART_STORE_KEY_MAX || length != DART_POSTCARD_HEADER + (size_t)bytes[1] ||
	    bytes[3] > DART_POSTCARD_HOPS_MAX || bytes[2] >= bytes[3])
		return -EBADMSG;
	memcpy(&value, bytes + 4, sizeof(value));
	value = be32toh(value);
	if (value == DART_POSTCARD_UNKNOWN || value == DART_POSTCARD_NO_HOP)
		return -EBADMSG;
	*postcard = (struct dart_postcard){
		.key_length = bytes[1],
		.hop = bytes[2],
		.hops = bytes[3],
		.value = value,
	};
	memcpy(postcard->key, bytes + DART_POSTCARD_HEADER, postcard->key_length);
	return 0;
}

int dart_translator__new(uint32_t rows_log2, uint32_t places, uint64_t age_ns,
			 struct dart_translator **result)
{
	struct dart_translator *translator;

	if (rows_log2 > DART_TRANSLATOR_ROWS_LOG2_MAX || !places || places > DART_POSTCARD_HOPS_MAX)
		return -EINVAL;
	translator = calloc(1, sizeof(*translator) + (sizeof(struct row) << rows_log2));
	if (!translator)
		return -ENOMEM;
	translator->rows_log2 = rows_log2;
	translator->places = places;
	translator->age_ns = age_ns;
	translator->oldest = NO_ROW;
	translator->newest = NO_ROW;
	*result = translator;
	return 0;
}

void dart_translator__free(struct dart_translator *translator)
{
	free(translator);
}

const struct dart_translator_counts *
dart_translator__counts(const struct dart_translator *translator)
{
	return &translator->counts;
}

/* ---- rows */

/* A clock steps by more than any jitter between frames. */
#define STEP_NS INT64_C(1000000000)

/*
 * Takes a time of the clock.  A step forward counts as no more than the age that all rows pass, and
 * a step back as nothing: one frame with a wrong time keeps no later row from its age.
 */
static void translator__tell(struct dart_translator *translator, uint64_t time_ns)
{
	const int64_t age_ns = translator->age_ns < INT64_MAX ? translator->age_ns : INT64_MAX;
	const int64_t step_ns = age_ns > STEP_NS ? age_ns : STEP_NS;
	int64_t passed_ns;

	if (!translator->is_told)
		translator->ahead_ns = translator->now_ns - time_ns;
	translator->is_told = true;
	passed_ns = time_ns + translator->ahead_ns - translator->now_ns;
	if (passed_ns > step_ns) {
		translator->ahead_ns -= passed_ns - step_ns;
		passed_ns = step_ns;
	} else if (passed_ns < -step_ns) {
		translator->ahead_ns -= passed_ns;
	}
	if (passed_ns > 0)
		translator->now_ns += passed_ns;
}

static void translator__begin(struct dart_translator *translator, uint32_t index,
			      const struct dart_postcard *postcard)
{
	struct row *row = &translator->rows[index];

	*row = (struct row){
		.key_length = postcard->key_length,
		.hops = postcard->hops,
		.since_ns = translator->now_ns,
		.older = translator->newest,
		.newer = NO_ROW,
	};
	memcpy(row->key, postcard->key, row->key_length);
	if (row->older == NO_ROW)
		translator->oldest = index;
	else
		translator->rows[row->older].newer = index;
	translator->newest = index;
}

static void translator__report(const struct dart_translator *translator, const struct row *row,
			       struct dart_translator_report *report)
{
	uint32_t place, value;

	*report = (struct dart_translator_report){
		.key_length = row->key_length,
		.is_complete = row->known == row->hops,
		.number = translator->incomplete,
	};
	memcpy(report->key, row->key, row->key_length);
	for (place = 0; place < translator->places; place++) {
		value = htobe32(place < row->hops ? row->values[place] : DART_POSTCARD_NO_HOP);
		memcpy(report->value + place * PLACE, &value, PLACE);
	}
}

/* Frees the row.  Returns whether it is to be reported, for the reason that @count counts. */
static bool translator__take_out(struct dart_translator *translator, uint32_t index,
				 uint64_t *count, struct dart_translator_report *report)
{
	struct row *row = &translator->rows[index];

	if (row->older == NO_ROW)
		translator->oldest = row->newer;
	else
		translator->rows[row->older].newer = row->newer;
	if (row->newer == NO_ROW)
		translator->newest = row->older;
	else
		translator->rows[row->newer].older = row->older;
	if (!row->is_reported) {
		translator__report(translator, row, report);
		translator->incomplete++;
		++*count;
	}
	row->key_length = 0;
	return !row->is_reported;
}

static bool is_of(const struct row *row, const struct dart_postcard *postcard)
{
	return row->key_length == postcard->key_length &&
	       !memcmp(row->key, postcard->key, row->key_length);
}

static bool contradicts(const struct row *row, const struct dart_postcard *postcard)
{
	const uint32_t known = row->values[postcard->hop];

	return row->hops != postcard->hops ||
	       (known != DART_POSTCARD_UNKNOWN && known != postcard->value);
}

/* ---- postcards */

static bool is_valid(const struct dart_translator *translator, const struct dart_postcard *postcard)
{
	return postcard->key_length && postcard->key_length <= DART_STORE_KEY_MAX &&
	       postcard->hops <= translator->places && postcard->hop < postcard->hops &&
	       postcard->value != DART_POSTCARD_UNKNOWN && postcard->value != DART_POSTCARD_NO_HOP;
}

/* The polynomial is not one of slots, so keys that share a row share no slot because of it. */
static uint32_t translator__index(const struct dart_translator *translator,
				  const struct dart_postcard *postcard)
{
	return dart_store__crc(DART_STORE_CHECKSUM_1, postcard->key, postcard->key_length) &
	       ((UINT32_C(1) << translator->rows_log2) - 1);
}

int dart_translator__add(struct dart_translator *translator, const struct dart_postcard *postcard,
			 uint64_t now_ns,
			 struct dart_translator_report reports[DART_TRANSLATOR_REPORTS_MAX])
{
	struct dart_translator_counts *counts = &translator->counts;
	int due = 0;
	uint32_t index;
	struct row *row;

	if (!is_valid(translator, postcard)) {
		counts->refused++;
		return -EINVAL;
	}
	counts->postcards++;
	translator__tell(translator, now_ns);
	index = translator__index(translator, postcard);
	row = &translator->rows[index];
	if (row->key_length && !is_of(row, postcard))
		due += translator__take_out(translator, index, &counts->evicted, &reports[due]);
	else if (row->key_length && contradicts(row, postcard))
		due += translator__take_out(translator, index, &counts->changed, &reports[due]);
	if (!row->key_length)
		translator__begin(translator, index, postcard);
	row->known += row->values[postcard->hop] == DART_POSTCARD_UNKNOWN;
	row->values[postcard->hop] = postcard->value;
	if (row->known == row->hops && !row->is_reported) {
		translator__report(translator, row, &reports[due++]);
		row->is_reported = true;
		counts->complete++;
	}
	return due;
}

bool dart_translator__expire(struct dart_translator *translator, uint64_t now_ns,
			     struct dart_translator_report *report)
{
	if (now_ns != UINT64_MAX)
		translator__tell(translator, now_ns);
	while (translator->oldest != NO_ROW) {
		const uint64_t since_ns = translator->rows[translator->oldest].since_ns;

		if (now_ns != UINT64_MAX && translator->now_ns - since_ns < translator->age_ns)
			break;
		if (translator__take_out(translator, translator->oldest, &translator->counts.aged,
					 report))
			return true;
	}
	return false;
}
