/* SPDX-License-Identifier: GPL-2.0-only */
/* The answers that the epochs of a store give for one key, from memory and files. */
#ifndef EPOCHS_H
#define EPOCHS_H

#include <libdart/store/store_query.h>

#include "tools/dartctl/cli/options.h"

struct epochs_question {
	const char *store;
	const char *from;	/* "HOST" or "HOST:PORT"; NULL: this host */
	const uint8_t *key;
	size_t key_length;
	uint32_t value_length;	/* of the schema: the least that slots must have */
	struct dart_store_rule rule;
	uint64_t since_ns, until_ns;	/* the epochs of which a part lies between them */
};

enum epoch_outcome {
	EPOCH_ANSWERED,
	EPOCH_DAMAGED,	/* its file cannot be read */
	EPOCH_MISSING,	/* no epoch is kept of this time */
};

struct epoch_answer {
	uint64_t since_ns, until_ns;	/* 0: it has not ended */
	enum epoch_outcome outcome;
	struct dart_store_answer found;	/* if it is answered */
	uint32_t redundancy;	/* likewise */
	char *reason;		/* if it is damaged: a sentence */
	const char *collector;	/* that answered; NULL: the one of the question */
};

struct epoch_answers {
	struct epoch_answer *list;	/* in the order of time */
	size_t count;
};

/*
 * Asks the host that the question names; returns 0, or -errno with a sentence in @error.  The caller
 * frees the answers in both cases.
 */
int epochs__ask_there(const struct epochs_question *question, struct epoch_answers *answers,
		      struct dart_error *error);
/* Asks any host.  Returns an exit status; after a failure its message has been printed. */
int epochs__ask(const struct options *options, const struct epochs_question *question,
		struct epoch_answers *answers);
void epochs__free(struct epoch_answers *answers);

#endif /* EPOCHS_H */
