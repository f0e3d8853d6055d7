// SPDX-License-Identifier: GPL-2.0-only
/* Asks all epochs of a time for a key, see epochs.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libdart/store/epoch_file.h>

#include "epochs.h"
#include "store_map.h"
#include "tools/dartctl/cli/command.h"

/* One request of the command line, and what it has learned so far. */
struct asking {
	const struct options *options;
	const struct epochs_question *question;
	struct store_map map;
	struct epoch_answers *answers;
	uint64_t covered_ns; /* answers reach to here */
};

/* An epoch as dartd lists it. */
struct listed {
	json_int_t since_ns, until_ns, bank;
	bool is_in_memory;
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

/* Does the question suit slots of @geometry? */
static int check_geometry(const struct epochs_question *question,
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

/* -ESTALE: the bank has another epoch by now. */
static int ask_memory(struct asking *asking, const struct listed *listed,
		      struct epoch_answer *answer, struct dart_error *error)
{
	const struct epochs_question *question = asking->question;
	int ret = store_map__choose(&asking->map, listed->bank, listed->since_ns);

	if (ret)
		return dart_error__system(error, -ret, "cannot use its memory");
	ret = check_geometry(question, &asking->map.geometry, error);
	if (ret)
		return ret;
	answer->redundancy = asking->map.geometry.redundancy;
	dart_store__query(asking->map.store, question->key, question->key_length, &question->rule,
			  &answer->found);
	return store_map__is_valid(&asking->map) ? 0 : -ESTALE;
}

/* Opens the file through dartd: only root may read its directory. */
static int open_file(struct asking *asking, json_int_t since_ns, int *fd, struct dart_error *error)
{
	struct dart_registration_client client;
	json_t *request, *reply = NULL;
	int ret;

	*fd = -1;
	request = json_pack("{s:s, s:s, s:I}", "request", "epoch-open", "name",
			    asking->question->store, "since_ns", since_ns);
	if (!request)
		return dart_error__no_memory(error);
	ret = dart_registration_client__open(&client, asking->options->socket, error);
	if (!ret) {
		ret = dart_registration_client__ask(&client, request, -1, &reply, fd, error);
		dart_registration_client__close(&client);
	}
	json_decref(request);
	json_decref(reply);
	if (!ret && *fd < 0)
		ret = dart_error__set(error, EPROTO, "dartd sent no descriptor of its file");
	return ret;
}

static int ask_file(struct asking *asking, const struct listed *listed, struct epoch_answer *answer,
		    struct dart_error *error)
{
	const struct epochs_question *question = asking->question;
	struct dart_epoch_file *file = NULL;
	const struct dart_epoch *epoch;
	int fd, ret;

	ret = open_file(asking, listed->since_ns, &fd, error);
	if (ret)
		return ret;
	ret = dart_epoch_file__open(fd, &file, error);
	if (ret)
		goto out;
	epoch = dart_epoch_file__epoch(file);
	if (epoch->since_ns != (uint64_t)listed->since_ns ||
	    epoch->until_ns != (uint64_t)listed->until_ns ||
	    strncmp(epoch->store, question->store, sizeof(epoch->store)))
		ret = dart_error__set(error, EBADMSG, "the file is of another epoch or store");
	ret = ret ?: check_geometry(question, &epoch->geometry, error);
	ret = ret   ?:
		      dart_epoch_file__query(file, question->key, question->key_length,
					     &question->rule, &answer->found, error);
	answer->redundancy = epoch->geometry.redundancy;
out:
	dart_epoch_file__close(file);
	close(fd);
	return ret;
}

static int ask_one(struct asking *asking, const struct listed *listed)
{
	struct epoch_answer *answer;
	struct dart_error error;
	int ret;

	if (asking->covered_ns && (uint64_t)listed->since_ns > asking->covered_ns &&
	    add_missing(asking, asking->covered_ns, listed->since_ns))
		return EXIT_FAILURE;
	answer = add(asking);
	if (!answer)
		return fail__out_of_memory();
	answer->since_ns = listed->since_ns;
	answer->until_ns = listed->until_ns;
	ret = listed->is_in_memory ? ask_memory(asking, listed, answer, &error) :
				     ask_file(asking, listed, answer, &error);
	/* The epoch has moved into a file meanwhile, or was lost. */
	if (ret == -ESTALE)
		ret = ask_file(asking, listed, answer, &error);
	if (ret) {
		answer->outcome = EPOCH_DAMAGED;
		answer->reason = strdup(error.text);
	}
	asking->covered_ns = listed->until_ns;
	return EXIT_SUCCESS;
}

static int take_listed(const json_t *json, struct listed *listed)
{
	const char *in;
	json_t *until;

	*listed = (struct listed){ .bank = -1 };
	if (json_unpack((json_t *)json, "{s:I, s:o, s:s, s?I}", "since_ns", &listed->since_ns,
			"until_ns", &until, "in", &in, "bank", &listed->bank))
		return -EPROTO;
	listed->until_ns = json_integer_value(until);
	listed->is_in_memory = !strcmp(in, "memory");
	return 0;
}

static int ask_all(struct asking *asking, const json_t *epochs)
{
	const struct epochs_question *question = asking->question;
	int status = EXIT_SUCCESS;
	struct listed listed;
	json_t *json;
	size_t i;

	asking->covered_ns = question->since_ns;
	json_array_foreach(epochs, i, json) {
		if (take_listed(json, &listed))
			return fail(EPROTO, "cannot query: dartd sent an epoch of another form");
		/* A bank that was written meanwhile is listed once. */
		if (asking->answers->count && (uint64_t)listed.since_ns < asking->covered_ns)
			continue;
		status = ask_one(asking, &listed);
		if (status)
			return status;
	}
	/* The present epoch has no end. */
	if (!asking->answers->count ||
	    (asking->covered_ns && asking->covered_ns < question->until_ns))
		status = add_missing(asking, asking->covered_ns, question->until_ns);
	return status;
}

static void find_share(const struct asking *asking)
{
	const struct epochs_question *question = asking->question;
	struct dart_store_place place;

	dart_store_hash__place(dart_store__hash(asking->map.store), question->key,
			       question->key_length, &place);
	asking->answers->share = place.share;
}

int epochs__ask(const struct options *options, const struct epochs_question *question,
		struct epoch_answers *answers)
{
	struct asking asking = { .options = options, .question = question, .answers = answers };
	json_t *epochs, *reply;
	int status;

	*answers = (struct epoch_answers){ .count = 0 };
	status = store_map__open(&asking.map, options, question->store);
	if (status)
		return status;
	find_share(&asking);
	epochs = client__ask(options,
			     json_pack("{s:s, s:s, s:I, s:I}", "request", "epoch-list", "name",
				       question->store, "since_ns", (json_int_t)question->since_ns,
				       "until_ns", (json_int_t)question->until_ns),
			     -1, "epochs", &reply, NULL);
	status = epochs ? ask_all(&asking, epochs) : EXIT_FAILURE;
	if (epochs)
		json_decref(reply);
	store_map__close(&asking.map);
	return status;
}

void epochs__free(struct epoch_answers *answers)
{
	size_t i;

	for (i = 0; i < answers->count; i++)
		free(answers->list[i].reason);
	free(answers->list);
}
