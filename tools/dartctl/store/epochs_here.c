// SPDX-License-Identifier: GPL-2.0-only
/* The epochs of a store of this host: its memory, mapped, and its files. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libdart/store/epoch_file.h>

#include "epochs_source.h"
#include "store_map.h"
#include "tools/dartctl/cli/command.h"

struct here {
	struct epochs_source source;
	const struct options *options;
	struct store_map map;
};

static struct here *here_of(const struct epochs_source *source)
{
	return (struct here *)source;
}

static void close_here(struct epochs_source *source)
{
	store_map__close(&here_of(source)->map);
	free(source);
}

/* Asks dartd; *@fd: of the reply, or -1. */
static int ask_dartd(const struct here *here, json_t *request, json_t **reply, int *fd,
		     struct dart_error *error)
{
	struct dart_registration_client client;
	int ret;

	*fd = -1;
	*reply = NULL;
	if (!request)
		return dart_error__no_memory(error);
	ret = dart_registration_client__open(&client, here->options->socket, error);
	if (!ret) {
		ret = dart_registration_client__ask(&client, request, -1, reply, fd, error);
		dart_registration_client__close(&client);
	}
	json_decref(request);
	return ret;
}

static int take_listed(const json_t *json, struct listed_epoch *listed)
{
	json_int_t since_ns, bank = -1;
	const char *in;
	json_t *until;

	if (json_unpack((json_t *)json, "{s:I, s:o, s:s, s?I}", "since_ns", &since_ns, "until_ns",
			&until, "in", &in, "bank", &bank))
		return -EPROTO;
	*listed = (struct listed_epoch){
		.since_ns = since_ns,
		.until_ns = json_integer_value(until),
		.is_in_memory = !strcmp(in, "memory"),
		.bank = bank,
	};
	return 0;
}

static int list_here(struct epochs_source *source, struct listed_epochs *epochs,
		     struct dart_error *error)
{
	const struct epochs_question *question = source->question;
	struct listed_epoch listed;
	json_t *reply, *json;
	int fd, ret;
	size_t i;

	ret = ask_dartd(here_of(source),
			json_pack("{s:s, s:s, s:I, s:I}", "request", "epoch-list", "name",
				  question->store, "since_ns", (json_int_t)question->since_ns,
				  "until_ns", (json_int_t)question->until_ns),
			&reply, &fd, error);
	if (fd >= 0)
		close(fd);
	json_array_foreach(json_object_get(reply, "epochs"), i, json) {
		if (ret)
			break;
		ret = take_listed(json, &listed) ?: listed_epochs__add(epochs, &listed);
		if (ret)
			dart_error__set(error, -ret, "dartd sent an epoch of another form");
	}
	json_decref(reply);
	return ret;
}

/* -ESTALE: the bank has another epoch by now. */
static int ask_memory(struct here *here, const struct listed_epoch *listed,
		      struct epoch_answer *answer, struct dart_error *error)
{
	const struct epochs_question *question = here->source.question;
	int ret = store_map__choose(&here->map, listed->bank, listed->since_ns);

	if (ret)
		return dart_error__system(error, -ret, "cannot use its memory");
	ret = epochs_question__check(question, &here->map.geometry, error);
	if (ret)
		return ret;
	answer->redundancy = here->map.geometry.redundancy;
	dart_store__query(here->map.store, question->key, question->key_length, &question->rule,
			  &answer->found);
	return store_map__is_valid(&here->map) ? 0 : -ESTALE;
}

/* Opens the file through dartd: only root may read its directory. */
static int open_file(const struct here *here, const struct listed_epoch *listed, int *fd,
		     struct dart_error *error)
{
	json_t *reply;
	int ret;

	ret = ask_dartd(here,
			json_pack("{s:s, s:s, s:I}", "request", "epoch-open", "name",
				  here->source.question->store, "since_ns",
				  (json_int_t)listed->since_ns),
			&reply, fd, error);
	json_decref(reply);
	if (!ret && *fd < 0)
		ret = dart_error__set(error, EPROTO, "dartd sent no descriptor of its file");
	return ret;
}

static int ask_file(const struct here *here, const struct listed_epoch *listed,
		    struct epoch_answer *answer, struct dart_error *error)
{
	struct dart_epoch_file *file = NULL;
	int fd, ret;

	ret = open_file(here, listed, &fd, error);
	if (ret)
		return ret;
	ret = dart_epoch_file__open(fd, &file, error) ?:
		      epochs_question__ask_file(here->source.question, listed, file, answer,
						error);
	dart_epoch_file__close(file);
	close(fd);
	return ret;
}

static int ask_here(struct epochs_source *source, const struct listed_epoch *listed,
		    struct epoch_answer *answer, struct dart_error *error)
{
	int ret = listed->is_in_memory ? ask_memory(here_of(source), listed, answer, error) :
					 ask_file(here_of(source), listed, answer, error);

	/* The epoch has moved into a file meanwhile, or was lost. */
	if (ret == -ESTALE)
		ret = ask_file(here_of(source), listed, answer, error);
	return ret;
}

static const struct epochs_source_operations operations = {
	.close = close_here,
	.list = list_here,
	.ask = ask_here,
};

int epochs_here__open(const struct options *options, const struct epochs_question *question,
		      struct epochs_source **source)
{
	struct here *here = calloc(1, sizeof(*here));
	int status;

	if (!here)
		return fail__out_of_memory();
	here->source.question = question;
	here->source.operations = &operations;
	here->options = options;
	status = store_map__open(&here->map, options, question->store);
	if (status)
		free(here);
	else
		*source = &here->source;
	return status;
}
