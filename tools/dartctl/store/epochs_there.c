// SPDX-License-Identifier: GPL-2.0-only
/* The epochs of a store of another host: its dartd sends bytes, see <dart/rpc.h>. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/clock.h>
#include <libdart/rdma/address.h>
#include <libdart/rpc/client.h>
#include <libdart/rpc/epochs.h>
#include <libdart/store/epoch_file.h>

#include "epochs_source.h"
#include "tools/dartctl/cli/command.h"

/* For the connection, and for each answer. */
#define TIMEOUT_MS 10000
/* A hostile host must not make this one run out of memory. */
#define EPOCHS_MAX (1 << 20)
#define FRONT_MAX (UINT64_C(16) << 20)

struct there {
	struct epochs_source source;
	struct dart_rpc_client *client;
	struct dart_store_geometry geometry; /* of the memory */
	struct dart_store_hash *hash;
	uint8_t answer[DART_RPC_EPOCHS_LENGTH_MAX];
};

static struct there *there_of(const struct epochs_source *source)
{
	return (struct there *)source;
}

static void close_there(struct epochs_source *source)
{
	struct there *there = there_of(source);

	dart_rpc_client__free(there->client);
	dart_store_hash__free(there->hash);
	free(there);
}

/* ---- one answer */

static int event_to_errno(enum dart_rpc_client_event event, struct there *there)
{
	switch (event) {
	case DART_RPC_CLIENT_STALE:
		return -ESTALE;
	case DART_RPC_CLIENT_BUSY:
		return -EBUSY;
	case DART_RPC_CLIENT_NOT_FOUND:
		return -ENOENT;
	case DART_RPC_CLIENT_FAILED:
		return dart_rpc_client__failure(there->client) ?: -ECONNREFUSED;
	default:
		return -ECONNRESET;
	}
}

/* Waits until it is connected, or the request is answered. */
static int await(struct there *there, struct dart_error *error)
{
	const int64_t end_ns = dart_clock__ns(CLOCK_MONOTONIC) + TIMEOUT_MS * INT64_C(1000000);
	struct pollfd descriptors[2];
	enum dart_rpc_client_event event;
	int64_t left_ns;

	for (;;) {
		event = dart_rpc_client__on_ready(there->client, error);
		if (event == DART_RPC_CLIENT_CONNECTED || event == DART_RPC_CLIENT_ANSWERED)
			return 0;
		if (event != DART_RPC_CLIENT_NOTHING && event != DART_RPC_CLIENT_MORE)
			return event_to_errno(event, there);
		left_ns = end_ns - (int64_t)dart_clock__ns(CLOCK_MONOTONIC);
		if (left_ns <= 0)
			return dart_error__set(error, ETIMEDOUT, "the host does not answer");
		if (poll(descriptors, dart_rpc_client__wait(there->client, descriptors),
			 left_ns / 1000000 + 1) < 0 &&
		    errno != EINTR)
			return dart_error__system(error, errno, "cannot wait for the host");
	}
}

/* ---- the list */

static int take_geometry(struct there *there, const struct dart_rpc_epochs_values *values,
			 struct dart_error *error)
{
	struct dart_store_geometry geometry = {
		.value_length = values->value_length,
		.checksum_bits = values->checksum_bits,
		.redundancy = values->redundancy,
	};
	struct dart_store_hash *hash;

	if (values->slots_log2 > DART_STORE_SLOTS_LOG2_MAX)
		return dart_error__set(error, EBADMSG, "a store cannot have this geometry");
	geometry.slots = UINT64_C(1) << values->slots_log2;
	if (dart_store_geometry__check(&geometry))
		return dart_error__set(error, EBADMSG, "a store cannot have this geometry");
	if (dart_store_hash__new(&geometry, &hash))
		return dart_error__no_memory(error);
	dart_store_hash__free(there->hash);
	there->hash = hash;
	there->geometry = geometry;
	return 0;
}

/* One answer; sets @since_ns to where the list goes on, or to 0. */
static int list_some(struct there *there, uint64_t *since_ns, uint64_t until_ns,
		     struct listed_epochs *epochs, struct dart_error *error)
{
	struct dart_rpc_epochs_values values;
	struct dart_rpc_epoch_values epoch;
	struct listed_epoch listed;
	uint32_t added = 0, i;
	int ret;

	ret = dart_rpc_client__get_epochs(there->client, there->source.question->store, *since_ns,
					  until_ns, there->answer, error) ?:
		      await(there, error) ?:
		      dart_rpc_epochs__decode(there->answer, dart_rpc_client__length(there->client),
					      &values, error) ?:
		      take_geometry(there, &values, error);
	if (ret)
		return ret;
	for (i = 0; i < values.count; i++) {
		epoch = dart_rpc_epochs__get(&values, i);
		/* The answer before had it already, and it reaches into the time of this one. */
		if (epochs->count && epoch.since_ns <= epochs->list[epochs->count - 1].since_ns)
			continue;
		if (epochs->count == EPOCHS_MAX)
			return dart_error__set(error, EFBIG,
					       "it has more than %d epochs of this time",
					       EPOCHS_MAX);
		listed = (struct listed_epoch){
			.since_ns = epoch.since_ns,
			.until_ns = epoch.until_ns,
			.length = epoch.length,
			.is_in_memory = epoch.place == DART_RPC_EPOCH_MEMORY,
		};
		if (listed_epochs__add(epochs, &listed))
			return dart_error__no_memory(error);
		added++;
	}
	/* The next answer has to bring it forward, too. */
	if (values.more_ns && values.count == DART_RPC_EPOCHS_MAX && values.more_ns <= *since_ns)
		return dart_error__set(
			error, EOVERFLOW,
			"more than %d of its epochs overlap, because the clock of that host was set back, and its agent lists no more of them (ask dartctl on that host)",
			DART_RPC_EPOCHS_MAX);
	if (values.more_ns && (!added || values.more_ns <= *since_ns))
		return dart_error__set(error, EBADMSG,
				       "the agent's list of epochs goes back in time");
	*since_ns = values.more_ns;
	return 0;
}

static int list_there(struct epochs_source *source, struct listed_epochs *epochs,
		      struct dart_error *error)
{
	uint64_t since_ns = source->question->since_ns;
	int ret;

	do
		ret = list_some(there_of(source), &since_ns, source->question->until_ns, epochs,
				error);
	while (!ret && since_ns);
	return ret;
}

/* ---- the bytes of an epoch */

/* What dart_epoch_file reads from. */
struct remote_bytes {
	struct there *there;
	const struct listed_epoch *listed;
};

static int read_bytes(void *argument, void *bytes, size_t length, uint64_t offset,
		      struct dart_error *error)
{
	const struct remote_bytes *remote = argument;
	const struct listed_epoch *listed = remote->listed;
	struct dart_rpc_epoch_bytes wanted = {
		.since_ns = listed->since_ns,
		.place = listed->is_in_memory ? DART_RPC_EPOCH_MEMORY : DART_RPC_EPOCH_FILE,
	};
	uint8_t *at = bytes;
	int ret = 0;

	strcpy(wanted.store, remote->there->source.question->store);
	while (!ret && length) {
		wanted.offset = offset;
		wanted.length = length < DART_RPC_EPOCH_MAX ? length : DART_RPC_EPOCH_MAX;
		ret = dart_rpc_client__get_epoch(remote->there->client, &wanted, at, error) ?:
			      await(remote->there, error);
		at += wanted.length;
		offset += wanted.length;
		length -= wanted.length;
	}
	return ret;
}

static int ask_memory(struct there *there, const struct listed_epoch *listed,
		      struct epoch_answer *answer, struct dart_error *error)
{
	const struct epochs_question *question = there->source.question;
	const struct dart_store_geometry *geometry = &there->geometry;
	const size_t slot_length = dart_store_geometry__slot_length(geometry);
	struct remote_bytes remote = { there, listed };
	uint8_t copies[DART_STORE_REDUNDANCY_MAX][DART_STORE_SLOT_MAX];
	const uint8_t *slots[DART_STORE_REDUNDANCY_MAX];
	struct dart_store_place place;
	uint32_t i;
	int ret;

	ret = epochs_question__check(question, geometry, error);
	if (ret)
		return ret;
	if (listed->length != dart_store_geometry__length(geometry))
		return dart_error__set(error, EBADMSG,
				       "its memory has %" PRIu64 " bytes, and other slots",
				       listed->length);
	dart_store_hash__place(there->hash, question->key, question->key_length, &place);
	for (i = 0; !ret && i < geometry->redundancy; i++) {
		ret = read_bytes(&remote, copies[i], slot_length, place.slots[i] * slot_length,
				 error);
		slots[i] = copies[i];
	}
	if (ret)
		return ret;
	answer->redundancy = geometry->redundancy;
	dart_store__decide(geometry, &place, slots, &question->rule, &answer->found);
	return 0;
}

static int ask_file(struct there *there, const struct listed_epoch *listed,
		    struct epoch_answer *answer, struct dart_error *error)
{
	struct remote_bytes remote = { there, listed };
	const struct dart_epoch_source source = {
		.read = read_bytes,
		.argument = &remote,
		.size = listed->length,
		.front_max = FRONT_MAX,
	};
	struct dart_epoch_file *file = NULL;
	int ret;

	ret = dart_epoch_file__open_source(&source, &file, error) ?:
		      epochs_question__ask_file(there->source.question, listed, file, answer,
						error);
	dart_epoch_file__close(file);
	return ret;
}

static int ask_place(struct there *there, const struct listed_epoch *listed,
		     struct epoch_answer *answer, struct dart_error *error)
{
	return listed->is_in_memory ? ask_memory(there, listed, answer, error) :
				      ask_file(there, listed, answer, error);
}

/* Lists the epoch alone: it may lie in a file by now.  -ESTALE if it is no longer kept. */
static int list_again(struct there *there, struct listed_epoch *listed, struct dart_error *error)
{
	struct listed_epochs epochs = { .count = 0 };
	uint64_t since_ns = listed->since_ns;
	size_t i;
	int ret;

	ret = list_some(there, &since_ns, listed->since_ns, &epochs, error);
	if (!ret)
		ret = -ESTALE;
	for (i = 0; i < epochs.count; i++)
		if (epochs.list[i].since_ns == listed->since_ns) {
			*listed = epochs.list[i];
			ret = 0;
		}
	free(epochs.list);
	return ret;
}

static int ask_there(struct epochs_source *source, const struct listed_epoch *listed,
		     struct epoch_answer *answer, struct dart_error *error)
{
	struct there *there = there_of(source);
	struct listed_epoch moved = *listed;
	int ret = ask_place(there, &moved, answer, error);

	if (ret == -ESTALE)
		ret = list_again(there, &moved, error) ?: ask_place(there, &moved, answer, error);
	if (!ret && moved.until_ns)
		answer->until_ns = moved.until_ns;
	return ret;
}

static const struct epochs_source_operations operations = {
	.close = close_there,
	.list = list_there,
	.ask = ask_there,
};

int epochs_there__open(const struct epochs_question *question, struct epochs_source **source,
		       struct dart_error *error)
{
	struct there *there;
	uint16_t port;
	char *host;
	int ret;

	if (strlen(question->store) >= DART_RPC_STORE_MAX)
		return dart_error__set(error, ENAMETOOLONG, "no store has a name of this length");
	ret = dart_address__parse(question->from, &host, &port);
	if (ret)
		return ret == -ENOMEM ? dart_error__no_memory(error) :
					dart_error__set(error, EINVAL,
							"the host is not HOST or HOST:PORT");
	there = calloc(1, sizeof(*there));
	if (!there) {
		free(host);
		return dart_error__no_memory(error);
	}
	there->source.question = question;
	there->source.operations = &operations;
	ret = dart_rpc_client__connect_rdma(host, port, 0, &there->client, error) ?:
		      await(there, error);
	free(host);
	if (ret)
		close_there(&there->source);
	else
		*source = &there->source;
	return ret;
}
