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
	uint64_t covered_ns; /* answers reach to here */
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
		return fail__out_of_memory();
	answer->outcome = EPOCH_MISSING;
	answer->since_ns = since_ns;
	answer->until_ns = until_ns;
	return EXIT_SUCCESS;
}

static int ask_one(struct asking *asking, const struct listed_epoch *listed)
{
	struct epoch_answer *answer;
	struct dart_error error;
	int ret;

	if (asking->covered_ns && listed->since_ns > asking->covered_ns &&
	    add_missing(asking, asking->covered_ns, listed->since_ns))
		return EXIT_FAILURE;
	answer = add(asking);
	if (!answer)
		return fail__out_of_memory();
	answer->since_ns = listed->since_ns;
	answer->until_ns = listed->until_ns;
	asking->covered_ns = listed->until_ns;
	ret = asking->source->operations->ask(asking->source, listed, answer, &error);
	if (ret == -ESTALE || ret == -ENOENT) {
		answer->outcome = EPOCH_MISSING;
	} else if (ret == -ECONNRESET || ret == -ETIMEDOUT) {
		return fail(-ret, "cannot query the epochs: %s", error.text);
	} else if (ret) {
		answer->outcome = EPOCH_DAMAGED;
		answer->reason = strdup(error.text);
	}
	return EXIT_SUCCESS;
}

static int ask_all(struct asking *asking, const struct listed_epochs *epochs)
{
	const struct epochs_question *question = asking->question;
	int status = EXIT_SUCCESS;
	size_t i;

	asking->covered_ns = question->since_ns;
	for (i = 0; !status && i < epochs->count; i++) {
		/* A bank that was written meanwhile is listed once. */
		if (asking->answers->count && epochs->list[i].since_ns < asking->covered_ns)
			continue;
		status = ask_one(asking, &epochs->list[i]);
	}
	if (status)
		return status;
	/* The present epoch has no end. */
	if (!asking->answers->count ||
	    (asking->covered_ns && asking->covered_ns < question->until_ns))
		status = add_missing(asking, asking->covered_ns, question->until_ns);
	return status;
}

int epochs__ask(const struct options *options, const struct epochs_question *question,
		struct epoch_answers *answers)
{
	struct asking asking = { .question = question, .answers = answers };
	struct listed_epochs epochs = { .count = 0 };
	struct dart_error error;
	int status = EXIT_SUCCESS, ret = 0;

	*answers = (struct epoch_answers){ .count = 0 };
	if (question->from)
		ret = epochs_there__open(question, &asking.source, &error);
	else
		status = epochs_here__open(options, question, &asking.source);
	if (status)
		return status;
	if (!ret) {
		ret = asking.source->operations->list(asking.source, &epochs, &error);
		if (!ret) {
			answers->share = asking.source->operations->share(asking.source);
			status = ask_all(&asking, &epochs);
		}
		asking.source->operations->close(asking.source);
	}
	free(epochs.list);
	if (ret && question->from)
		return fail(-ret, "cannot read the epochs of store '%s' of %s: %s",
			    question->store, question->from, error.text);
	if (ret)
		return fail(-ret, "cannot list the epochs of store '%s': %s", question->store,
			    error.text);
	return status;
}

void epochs__free(struct epoch_answers *answers)
{
	size_t i;

	for (i = 0; i < answers->count; i++)
		free(answers->list[i].reason);
	free(answers->list);
}
