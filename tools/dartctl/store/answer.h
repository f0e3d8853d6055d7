/* SPDX-License-Identifier: GPL-2.0-only */
/* The answer to a query, for people or as JSON. */
#ifndef ANSWER_H
#define ANSWER_H

#include <stdbool.h>

#include <libdart/key/key_schema.h>
#include <libdart/store/store_query.h>

struct answer {
	const struct dart_key_schema *schema;
	struct dart_store_geometry geometry;
	struct dart_store_rule rule;
	struct dart_store_answer found;
	uint32_t share;
	const char *collector;	/* NULL: dartd of this host */
};

/* The times of these answers, and whether there are any. */
struct epoch_answers;

/*
 * Prints the answers of epochs to the same question; @is_one: as answer__print() does.  Returns an
 * exit status: the best one of all answers.
 */
int answer__print_epochs(const struct answer *answer, const struct epoch_answers *epochs,
			 bool is_one, bool as_json);

/* Exit status of a query for a time of which nothing is known: no collector or file has it. */
#define EXIT_UNKNOWN 5

/* Prints the answer.  Returns an exit status, which depends on the outcome. */
int answer__print(const struct answer *answer, bool as_json);

#endif /* ANSWER_H */
