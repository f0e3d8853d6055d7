// SPDX-License-Identifier: GPL-2.0-only
/*
 * Epochs of another host whose agent lies: each lie has one sentence, and costs a bounded amount of
 * memory and of requests.  The client of the protocol is simulated.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/rpc/client.h>
#include <libdart/rpc/epochs.h>
#include <libdart/store/epoch_file.h>

#include "selftests/unit/unit.h"
#include "tools/dartctl/store/epochs_source.h"

/* ---- the agent */

static struct {
	/* Write an answer; return its length, or an event. */
	size_t (*list)(uint64_t since_ns, uint8_t *answer);
	enum dart_rpc_client_event (*bytes)(const struct dart_rpc_epoch_bytes *wanted,
					    uint8_t *answer);
	enum dart_rpc_client_event event;
	size_t length;
	unsigned int requests;
} agent;

int dart_rpc_client__connect_rdma(const char *host, uint16_t port, uint8_t dscp,
				  struct dart_rpc_client **client, struct dart_error *error)
{
	assert_string_equal(host, "collector");
	agent.event = DART_RPC_CLIENT_CONNECTED;
	*client = (struct dart_rpc_client *)&agent;
	return 0;
}

void dart_rpc_client__free(struct dart_rpc_client *client)
{
}

unsigned int dart_rpc_client__wait(const struct dart_rpc_client *client,
				   struct pollfd descriptors[2])
{
	return 0;
}

enum dart_rpc_client_event dart_rpc_client__on_ready(struct dart_rpc_client *client,
						     struct dart_error *error)
{
	dart_error__set(error, EPROTO, "the agent answered: no");
	return agent.event;
}

int dart_rpc_client__failure(const struct dart_rpc_client *client)
{
	return -ECONNREFUSED;
}

uint32_t dart_rpc_client__length(const struct dart_rpc_client *client)
{
	return agent.length;
}

int dart_rpc_client__get_epochs(struct dart_rpc_client *client, const char *store,
				uint64_t since_ns, uint64_t until_ns, void *memory,
				struct dart_error *error)
{
	agent.requests++;
	agent.length = agent.list(since_ns, memory);
	agent.event = DART_RPC_CLIENT_ANSWERED;
	return 0;
}

int dart_rpc_client__get_epoch(struct dart_rpc_client *client,
			       const struct dart_rpc_epoch_bytes *wanted, void *memory,
			       struct dart_error *error)
{
	agent.requests++;
	agent.event = agent.bytes(wanted, memory);
	return 0;
}

/* ---- lists */

static struct dart_rpc_epochs_values store = {
	.slots_log2 = 10, .value_length = 20, .checksum_bits = 32, .redundancy = 2,
};

/* @count epochs of 1000 ns from @since_ns on. */
static size_t put(uint8_t *answer, uint64_t since_ns, uint32_t count, uint64_t more_ns)
{
	struct dart_rpc_epochs_values values = store;
	struct dart_rpc_epoch_values epoch;
	uint32_t i;

	values.count = count;
	values.more_ns = more_ns;
	for (i = 0; i < count; i++) {
		epoch = (struct dart_rpc_epoch_values){ since_ns + i * 1000,
							since_ns + (i + 1) * 1000, 24 << 10,
							DART_RPC_EPOCH_FILE };
		dart_rpc_epochs__put_epoch(answer, i, &epoch);
	}
	return dart_rpc_epochs__put(answer, &values);
}

static size_t list_two(uint64_t since_ns, uint8_t *answer)
{
	return since_ns < 3000 ? put(answer, 1000, 2, 3000) : put(answer, 3000, 1, 0);
}

static size_t list_back(uint64_t since_ns, uint8_t *answer)
{
	return put(answer, 1000, 2, 3000);
}

static size_t list_endless(uint64_t since_ns, uint8_t *answer)
{
	return put(answer, since_ns, DART_RPC_EPOCHS_MAX, since_ns + DART_RPC_EPOCHS_MAX * 1000);
}

/* An epoch that began in 1970, before the clock was set, overlaps the others. */
static size_t put_overlapping(uint8_t *answer, uint64_t since_ns, uint64_t more_ns)
{
	const struct dart_rpc_epoch_values epoch = { 12, 9000, 24 << 10, DART_RPC_EPOCH_FILE };
	const struct dart_rpc_epoch_values next = { since_ns, since_ns + 1000, 24 << 10,
						    DART_RPC_EPOCH_FILE };
	struct dart_rpc_epochs_values values = store;

	values.count = 2;
	values.more_ns = more_ns;
	dart_rpc_epochs__put_epoch(answer, 0, &epoch);
	dart_rpc_epochs__put_epoch(answer, 1, &next);
	return dart_rpc_epochs__put(answer, &values);
}

static size_t list_overlapping(uint64_t since_ns, uint8_t *answer)
{
	return since_ns < 2000 ? put_overlapping(answer, 1000, 2000) :
				 put_overlapping(answer, 2000, 0);
}

/* The agent says that there is more, and repeats the same. */
static size_t list_repeated(uint64_t since_ns, uint8_t *answer)
{
	return put_overlapping(answer, 1000, since_ns + 1000);
}

/* So many epochs have this time that the agent cannot list the next one. */
static size_t list_crowded(uint64_t since_ns, uint8_t *answer)
{
	struct dart_rpc_epochs_values values = store;
	uint32_t i;

	if (since_ns < 3000)
		return put(answer, 1000, 2, 3000);
	values.count = DART_RPC_EPOCHS_MAX;
	values.more_ns = since_ns;
	for (i = 0; i < DART_RPC_EPOCHS_MAX; i++) {
		const struct dart_rpc_epoch_values epoch = { 12 + i, 9000, 24 << 10,
							     DART_RPC_EPOCH_FILE };

		dart_rpc_epochs__put_epoch(answer, i, &epoch);
	}
	return dart_rpc_epochs__put(answer, &values);
}

static size_t list_torn(uint64_t since_ns, uint8_t *answer)
{
	return put(answer, 1000, 2, 0) - 1;
}

/* ---- questions */

static const uint8_t key[13] = "a key";

static const struct epochs_question question = {
	.store = "paths", .from = "collector", .key = key, .key_length = sizeof(key),
	.value_length = 20, .since_ns = 1000, .until_ns = INT64_MAX,
};

static struct epochs_source *open_source(size_t (*list)(uint64_t since_ns, uint8_t *answer))
{
	struct epochs_source *source;
	struct dart_error error;

	agent.list = list;
	agent.requests = 0;
	assert_int_equal(epochs_there__open(&question, &source, &error), 0);
	return source;
}

/* Lists all epochs; after an error its sentence has these words. */
static size_t list_all(size_t (*list)(uint64_t since_ns, uint8_t *answer), int ret,
		       const char *words)
{
	struct epochs_source *source = open_source(list);
	struct listed_epochs epochs = { .count = 0 };
	struct dart_error error = {};

	assert_int_equal(source->operations->list(source, &epochs, &error), ret);
	if (!strstr(error.text, words))
		fail_msg("\"%s\" instead of \"%s\"", error.text, words);
	source->operations->close(source);
	free(epochs.list);
	return epochs.count;
}

static void test_lists(void **state)
{
	const struct dart_rpc_epochs_values right = store;

	assert_int_equal(list_all(list_two, 0, ""), 3);
	assert_int_equal(agent.requests, 2);
	assert_int_equal(list_all(list_overlapping, 0, ""), 3);
	assert_int_equal(agent.requests, 2);
	list_all(list_repeated, -EBADMSG, "goes back in time");
	assert_int_equal(agent.requests, 2);
	list_all(list_back, -EBADMSG, "goes back in time");
	assert_int_equal(agent.requests, 2);
	list_all(list_crowded, -EOVERFLOW, "more than 1024 of its epochs overlap");
	list_all(list_endless, -EFBIG, "more than 1048576 epochs");
	assert_int_equal(agent.requests, 1025);
	list_all(list_torn, -EBADMSG, "list of 2 epochs");
	store.slots_log2 = 200;
	list_all(list_two, -EBADMSG, "cannot have this geometry");
	store = right;
	store.checksum_bits = 33;
	list_all(list_two, -EBADMSG, "cannot have this geometry");
	store = right;
}

/* ---- one epoch */

static uint8_t slots[24 << 10];

static enum dart_rpc_client_event give_slots(const struct dart_rpc_epoch_bytes *wanted,
					     uint8_t *answer)
{
	assert_string_equal(wanted->store, "paths");
	assert_int_equal(wanted->since_ns, 1000);
	assert_true(wanted->length <= DART_RPC_EPOCH_MAX);
	assert_true(wanted->offset + wanted->length <= sizeof(slots));
	memcpy(answer, slots + wanted->offset, wanted->length);
	return DART_RPC_CLIENT_ANSWERED;
}

/* The header of a file of 2^32 slots, each with a frame of its own. */
static enum dart_rpc_client_event give_huge(const struct dart_rpc_epoch_bytes *wanted,
					    uint8_t *answer)
{
	static const uint32_t polynomials[DART_EPOCH_POLYNOMIALS] = {
		DART_STORE_SLOT_0,     DART_STORE_SLOT_1,     DART_STORE_SLOT_2,
		DART_STORE_SLOT_3,     DART_STORE_SLOT_4,     DART_STORE_SLOT_5,
		DART_STORE_SLOT_6,     DART_STORE_SLOT_7,     DART_STORE_CHECKSUM_0,
		DART_STORE_CHECKSUM_1, DART_STORE_SHARE,
	};
	struct dart_epoch_header header = {
		.skippable = DART_EPOCH_SKIPPABLE,
		.magic = DART_EPOCH_FILE_MAGIC,
		.version = DART_EPOCH_FILE_VERSION,
		.slots_log2 = 31,
		.value_length = 20,
		.checksum_bits = 32,
		.redundancy = 2,
		.frames = 1U << 31,
		.since_ns = 1000,
		.until_ns = 2000,
		.store = "paths",
	};

	memcpy(header.polynomials, polynomials, sizeof(polynomials));
	header.skipped = UINT32_MAX;
	assert_int_equal(wanted->offset, 0);
	assert_int_equal(wanted->length, sizeof(header));
	memcpy(answer, &header, sizeof(header));
	return DART_RPC_CLIENT_ANSWERED;
}

static enum dart_rpc_client_event give_noise(const struct dart_rpc_epoch_bytes *wanted,
					     uint8_t *answer)
{
	memset(answer, 0x5a, wanted->length);
	return DART_RPC_CLIENT_ANSWERED;
}

static enum dart_rpc_client_event give_stale(const struct dart_rpc_epoch_bytes *wanted,
					     uint8_t *answer)
{
	return DART_RPC_CLIENT_STALE;
}

static enum dart_rpc_client_event hang_up(const struct dart_rpc_epoch_bytes *wanted,
					  uint8_t *answer)
{
	return DART_RPC_CLIENT_DISCONNECTED;
}

static void expect(enum dart_rpc_client_event (*bytes)(const struct dart_rpc_epoch_bytes *wanted,
						       uint8_t *answer),
		   bool is_in_memory, uint64_t length, int ret, const char *words)
{
	const struct listed_epoch listed = { 1000, 2000, length, is_in_memory, -1 };
	struct epochs_source *source = open_source(list_two);
	struct listed_epochs epochs = { .count = 0 };
	struct epoch_answer answer = { .since_ns = 1000 };
	struct dart_error error = {};

	agent.bytes = bytes;
	assert_int_equal(source->operations->list(source, &epochs, &error), 0);
	agent.requests = 0;
	assert_int_equal(source->operations->ask(source, &listed, &answer, &error), ret);
	if (!strstr(error.text, words))
		fail_msg("\"%s\" instead of \"%s\"", error.text, words);
	if (!ret)
		assert_int_equal(answer.found.outcome, DART_STORE_FOUND);
	source->operations->close(source);
	free(epochs.list);
}

static void test_memory(void **state)
{
	const struct dart_store_geometry geometry = { 1 << 10, 20, 32, 2 };
	const uint8_t value[20] = "a value";
	struct dart_store *written;
	uint32_t copy;

	assert_int_equal(dart_store__new(&geometry, slots, &written), 0);
	for (copy = 0; copy < 2; copy++)
		dart_store__write(written, key, sizeof(key), copy, value);
	dart_store__free(written);
	expect(give_slots, true, sizeof(slots), 0, "");
	assert_int_equal(agent.requests, 2);
	expect(give_slots, true, sizeof(slots) - 24, -EBADMSG, "and other slots");
	assert_int_equal(agent.requests, 0);
}

static void test_files(void **state)
{
	expect(give_huge, false, UINT64_MAX, -EFBIG, "too many");
	assert_int_equal(agent.requests, 1);
	expect(give_noise, false, 1 << 20, -EBADMSG, "another format");
	expect(give_noise, false, 100, -EBADMSG, "cut off");
	assert_int_equal(agent.requests, 0);
}

/* A stale epoch is looked for once more, and not for ever. */
static void test_ends(void **state)
{
	expect(give_stale, true, sizeof(slots), -ESTALE, "");
	assert_true(agent.requests <= 4);
	expect(give_stale, false, 1 << 20, -ESTALE, "");
	assert_true(agent.requests <= 4);
	expect(hang_up, false, 1 << 20, -ECONNRESET, "the agent answered: no");
	assert_int_equal(agent.requests, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a list in several answers is read, and one without an end is refused",
		     test_lists),
		TEST("a value is found in memory, and memory of another length is refused",
		     test_memory),
		TEST("files that are noise, cut off, or too large are refused before they cost memory",
		     test_files),
		TEST("a stale epoch is asked for once more, and an agent that hangs up never",
		     test_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
