// SPDX-License-Identifier: GPL-2.0-only
/* A question about epochs, whichever host they are on: see epochs_source.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/store/epoch_file.h>

#include "epochs_source.h"

int listed_epochs__add(struct listed_epochs *epochs, const struct listed_epoch *epoch)
{
	struct listed_epoch *list;

	/* Powers of two. */
	if (!(epochs->count & (epochs->count - 1))) {
		list = reallocarray(epochs->list, epochs->count ? 2 * epochs->count : 1,
				    sizeof(*list));
		if (!list)
			return -ENOMEM;
		epochs->list = list;
	}
	epochs->list[epochs->count++] = *epoch;
	return 0;
}

int epochs_question__check(const struct epochs_question *question,
			   const struct dart_store_geometry *geometry, struct dart_error *error)
{
	if (question->value_length > geometry->value_length)
		return dart_error__set(error, EINVAL, "its values have %u bytes instead of %u",
				       geometry->value_length, question->value_length);
	if (question->rule.consensus > geometry->redundancy)
		return dart_error__set(error, EINVAL,
				       "a consensus of %u is impossible: its redundancy is %u",
				       question->rule.consensus, geometry->redundancy);
	return 0;
}

int epochs_question__ask_file(const struct epochs_question *question,
			      const struct listed_epoch *listed, struct dart_epoch_file *file,
			      struct epoch_answer *answer, struct dart_error *error)
{
	const struct dart_epoch *epoch = dart_epoch_file__epoch(file);
	int ret;

	if (epoch->since_ns != listed->since_ns ||
	    (listed->until_ns && epoch->until_ns != listed->until_ns) ||
	    strncmp(epoch->store, question->store, sizeof(epoch->store)))
		return dart_error__set(error, EBADMSG, "the file is of another epoch or store");
	ret = epochs_question__check(question, &epoch->geometry, error);
	ret = ret ?: dart_epoch_file__query(file, question->key, question->key_length,
					    &question->rule, &answer->found, error);
	answer->redundancy = epoch->geometry.redundancy;
	return ret;
}
