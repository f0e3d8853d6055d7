/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Gathers the postcards of a flow into one report: see <dart/postcard.h>. */
#ifndef DART_TRANSLATOR_H
#define DART_TRANSLATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dart/postcard.h>
#include <dart/store.h>

#define DART_TRANSLATOR_ROWS_LOG2	15	/* by default */
#define DART_TRANSLATOR_ROWS_LOG2_MAX	22
#define DART_TRANSLATOR_REPORTS_MAX	2	/* of one postcard */

struct dart_postcard {
	uint8_t key[DART_STORE_KEY_MAX];
	uint32_t key_length;
	uint32_t hop;
	uint32_t hops;
	uint32_t value;
};

/*
 * Reads the datagram of @length bytes, which may be hostile.  Returns 0, or -EBADMSG if it is not
 * a postcard.
 */
int dart_postcard__read(const void *datagram, size_t length, struct dart_postcard *postcard);

/* A row that is to be reported. */
struct dart_translator_report {
	uint8_t key[DART_STORE_KEY_MAX];
	uint32_t key_length;
	bool is_complete;
	uint32_t number;	/* modulo N, the slot of an incomplete row */
	/* Of any store whose values have as many places as the translator. */
	uint8_t value[DART_STORE_VALUE_MAX];
};

struct dart_translator_counts {
	uint64_t postcards;	/* taken */
	uint64_t refused;	/* of more hops than places, or invalid */
	uint64_t complete;	/* rows that were reported complete */
	/* Rows that were reported incomplete, by the reason. */
	uint64_t evicted;	/* another key needed the row */
	uint64_t changed;	/* the path had changed */
	uint64_t aged;		/* the time had passed, or no postcard followed */
};

struct dart_translator;

/*
 * Creates a translator with 2^@rows_log2 rows of @places hops, 1 to DART_POSTCARD_HOPS_MAX, that
 * leave @age_ns after their first postcard.  Returns 0, -EINVAL or -ENOMEM.
 */
int dart_translator__new(uint32_t rows_log2, uint32_t places, uint64_t age_ns,
			 struct dart_translator **translator);
/* Forgets rows that were not reported; @translator may be NULL. */
void dart_translator__free(struct dart_translator *translator);

/*
 * Takes a postcard at the time @now_ns of any clock; a time before an earlier one counts as that
 * one.  If the clock steps back by more than a second, and than the age, it goes on from there.
 * Returns the number of @reports that are due, or -EINVAL if the postcard was refused.
 */
int dart_translator__add(struct dart_translator *translator, const struct dart_postcard *postcard,
			 uint64_t now_ns,
			 struct dart_translator_report reports[DART_TRANSLATOR_REPORTS_MAX]);
/*
 * Takes a row out whose time has passed at @now_ns, UINT64_MAX for any row.  Returns whether there
 * is a @report; the caller repeats the call until there is none.
 */
bool dart_translator__expire(struct dart_translator *translator, uint64_t now_ns,
			     struct dart_translator_report *report);
const struct dart_translator_counts *
dart_translator__counts(const struct dart_translator *translator);

#endif /* DART_TRANSLATOR_H */
