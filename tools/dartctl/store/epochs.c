// SPDX-License-Identifier: GPL-2.0-only
/* Asks all epochs of a time for a key, see epochs.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "epochs_source.h"
#include "tools/dartctl/cli/command.h"

/* One request of the command line, and the answers so far. */
struct asking {
	const struct epochs_question *question;
	struct epochs_source *source;
	struct epoch_answers *answers;
	uint64_t covered_ns; /* answers reach to here; UINT64_MAX: to the present */
};

static struct epoch_answer *add(struct asking *asking)
{
	struct epoch_answers *answers = asking->answers;
	struct epoch_answer *list;

	list = reallocarray(answers->list, answers->count + 1, sizeof(*list));
	if (!list)
		return NULL;
	answers->list = list;
	list[answers->count] = (struct epoch_answer){ .outcome = EPOCH_ANSWERED };
	return &list[answers->count++];
}

static int add_missing(struct asking *asking, uint64_t since_ns, uint64_t until_ns)
{
	struct epoch_answer *answer = add(asking);

	if (!answer)
		return -ENOMEM;
	answer->outcome = EPOCH_MISSING;
	answer->since_ns = since_ns;
	answer->until_ns = until_ns;
	return 0;
}

static int ask_one(struct asking *asking, const struct listed_epoch *listed,
		   struct dart_error *error)
{
	struct epoch_answer *answer;
	int ret;

	if (asking->covered_ns && listed->since_ns > asking->covered_ns &&
	    add_missing(asking, asking->covered_ns, listed->since_ns))
		return dart_error__no_memory(error);
	answer = add(asking);
	if (!answer)
		return dart_error__no_memory(error);
	answer->since_ns = listed->since_ns;
	answer->until_ns = listed->until_ns;
	/* The present epoch has no end. */
	if (!listed->until_ns || listed->until_ns > asking->covered_ns)
		asking->covered_ns = listed->until_ns ?: UINT64_MAX;
	ret = asking->source->operations->ask(asking->source, listed, answer, error);
	if (ret == -ESTALE || ret == -ENOENT) {
		answer->outcome = EPOCH_MISSING;
	} else if (ret == -ECONNRESET || ret == -ETIMEDOUT) {
		return ret;
	} else if (ret) {
		answer->outcome = EPOCH_DAMAGED;
		answer->reason = strdup(error->text);
	}
	return 0;
}

static int ask_range(struct asking *asking, const struct listed_epochs *epochs,
		     struct dart_error *error)
{
	int ret = 0;
	size_t i;

	for (i = 0; !ret && i < epochs->count; i++) {
		/* A bank that was written meanwhile is asked once. */
		if (i && epochs->list[i].since_ns == epochs->list[i - 1].since_ns)
			continue;
		ret = ask_one(asking, &epochs->list[i], error);
	}
	return ret;
}

/* How much an answer says: a value is better than not to know, and that is better than "empty". */
static int weight(const struct epoch_answer *answer)
{
	if (answer->outcome != EPOCH_ANSWERED)
		return 1;
	return answer->found.outcome == DART_STORE_EMPTY ? 0 : 2;
}

/* One answer: after the clock was set back, several epochs may have this instant. */
static int ask_instant(struct asking *asking, const struct listed_epochs *epochs,
		       struct dart_error *error)
{
	struct epoch_answers *answers = asking->answers;
	size_t i = epochs->count;
	int ret = 0;

	while (!ret && i-- && (!answers->count || weight(&answers->list[0]) < 2)) {
		ret = ask_one(asking, &epochs->list[i], error);
		if (answers->count < 2)
			continue;
		if (weight(&answers->list[1]) > weight(&answers->list[0])) {
			const struct epoch_answer worse = answers->list[0];

			answers->list[0] = answers->list[1];
			answers->list[1] = worse;
		}
		free(answers->list[--answers->count].reason);
	}
	return ret;
}

static int ask_all(struct asking *asking, const struct listed_epochs *epochs,
		   struct dart_error *error)
{
	const struct epochs_question *question = asking->question;
	int ret;

	asking->covered_ns = question->since_ns;
	if (question->since_ns == question->until_ns)
		ret = ask_instant(asking, epochs, error);
	else
		ret = ask_range(asking, epochs, error);
	if (ret)
		return ret;
	if ((!asking->answers->count ||
	     (asking->covered_ns && asking->covered_ns < question->until_ns)) &&
	    add_missing(asking, asking->covered_ns, question->until_ns))
		return dart_error__no_memory(error);
	return 0;
}

/* Asks an open source, and closes it. */
static int ask_source(struct epochs_source *source, const struct epochs_question *question,
		      struct epoch_answers *answers, struct dart_error *error)
{
	struct asking asking = { .question = question, .source = source, .answers = answers };
	struct listed_epochs epochs = { .count = 0 };
	int ret;

	ret = source->operations->list(source, &epochs, error) ?: ask_all(&asking, &epochs, error);
	source->operations->close(source);
	free(epochs.list);
	return ret;
}

int epochs__ask_there(const struct epochs_question *question, struct epoch_answers *answers,
		      struct dart_error *error)
{
	struct epochs_source *source;
	struct dart_error reason;
	int ret;

	*answers = (struct epoch_answers){ .count = 0 };
	ret = epochs_there__open(question, &source, &reason) ?:
		      ask_source(source, question, answers, &reason);
	return ret ? dart_error__set(error, -ret, "cannot read the epochs of store '%s' of %s: %s",
				     question->store, question->from, reason.text) :
		     0;
}

int epochs__ask(const struct options *options, const struct epochs_question *question,
		struct epoch_answers *answers)
{
	struct epochs_source *source;
	struct dart_error error;
	int status, ret;

	if (question->from) {
		ret = epochs__ask_there(question, answers, &error);
		return ret ? fail(-ret, "%s", error.text) : EXIT_SUCCESS;
	}
	*answers = (struct epoch_answers){ .count = 0 };
	status = epochs_here__open(options, question, &source);
	if (status)
		return status;
	ret = ask_source(source, question, answers, &error);
	return ret ? fail(-ret, "cannot read the epochs of store '%s': %s", question->store,
			  error.text) :
		     EXIT_SUCCESS;
}

void epochs__free(struct epoch_answers *answers)
{
	size_t i;

	for (i = 0; i < answers->count; i++)
		free(answers->list[i].reason);
	free(answers->list);
}
