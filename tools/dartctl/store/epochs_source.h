/* SPDX-License-Identifier: GPL-2.0-only */
/* Where the epochs of a store are: dartd of this host, or of another one. */
#ifndef EPOCHS_SOURCE_H
#define EPOCHS_SOURCE_H

#include <libdart/error.h>

#include "epochs.h"

/* An epoch as dartd lists it. */
struct listed_epoch {
	uint64_t since_ns, until_ns;	/* 0: it has not ended */
	uint64_t length;	/* bytes; of another host only */
	bool is_in_memory;
	int bank;		/* of this host only */
};

struct listed_epochs {
	struct listed_epoch *list;	/* in the order of time */
	size_t count;
};

/* Appends an epoch; -ENOMEM. */
int listed_epochs__add(struct listed_epochs *epochs, const struct listed_epoch *epoch);

struct epochs_source {
	const struct epochs_question *question;
	const struct epochs_source_operations *operations;
};

struct epochs_source_operations {
	void (*close)(struct epochs_source *source);
	/* Adds all epochs of the question.  Returns 0, or sets @error and returns -errno. */
	int (*list)(struct epochs_source *source, struct listed_epochs *epochs,
		    struct dart_error *error);
	/*
	 * Answers from an epoch, also if it moved to a file since it was listed.  Returns 0, or
	 * sets @error and returns -errno: -ESTALE if it is no longer kept.
	 */
	int (*ask)(struct epochs_source *source, const struct listed_epoch *listed,
		   struct epoch_answer *answer, struct dart_error *error);
};

/*
 * They open a source for @question, which outlives it, and return 0; or set @error and return
 * -errno.  epochs_here__open() returns an exit status instead, and prints its message.
 */
int epochs_here__open(const struct options *options, const struct epochs_question *question,
		      struct epochs_source **source);
int epochs_there__open(const struct epochs_question *question, struct epochs_source **source,
		       struct dart_error *error);

/* Does the question suit slots of @geometry? */
int epochs_question__check(const struct epochs_question *question,
			   const struct dart_store_geometry *geometry, struct dart_error *error);

/* Answers from a file, which has to be the one of this epoch. */
struct dart_epoch_file;
int epochs_question__ask_file(const struct epochs_question *question,
			      const struct listed_epoch *listed, struct dart_epoch_file *file,
			      struct epoch_answer *answer, struct dart_error *error);

#endif /* EPOCHS_SOURCE_H */
