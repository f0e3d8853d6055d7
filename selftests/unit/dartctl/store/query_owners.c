// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queries of the past over a share that moved: the value is found wherever it is, and the answer is
 * not "empty" where a collector that may have it was not asked.  The collectors are simulated.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/store/share_history.h>

#include "selftests/unit/unit.h"
#undef fail
#include "tools/dartctl/cli/command.h"
#include "tools/dartctl/store/answer.h"
#include "tools/dartctl/store/query.h"
#include "tools/dartctl/store/share_file.h"

/* Epochs of a minute, in ns. */
#define EPOCH UINT64_C(60000000000)
#define MS UINT64_C(1000000)

/* ---- the collectors 10.0.0.1 to 10.0.0.4 */

static struct collector {
	bool is_down;
	uint64_t value_ns; /* the epoch that began then has the value; 0: none */
	uint64_t phase_ns; /* of its epochs */
	unsigned int asked;
} collectors[4];

static const char *const names[] = { "10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4" };

static struct dart_share_history *shares;
static struct epoch_answers printed;

static struct collector *collector_of(const char *address)
{
	const int number = atoi(strrchr(address, '.') + 1);

	assert_in_range(number, 1, 4);
	return &collectors[number - 1];
}

int share_file__read(const char *path, struct dart_share_history **history,
		     struct dart_error *error)
{
	json_t *json = dart_share_history__to_json(shares);
	int ret = dart_share_history__take(json, path, history, error);

	json_decref(json);
	return ret;
}

struct epochs_question query__of_epochs(const struct query *query, const char *from,
					uint64_t since_ns, uint64_t until_ns)
{
	return (struct epochs_question){
		.store = query->store,
		.from = from,
		.since_ns = since_ns,
		.until_ns = until_ns,
	};
}

static void add(struct epoch_answers *answers, const struct epoch_answer *answer)
{
	answers->list = reallocarray(answers->list, answers->count + 1, sizeof(*answer));
	assert_non_null(answers->list);
	answers->list[answers->count++] = *answer;
}

int epochs__ask_there(const struct epochs_question *question, struct epoch_answers *answers,
		      struct dart_error *error)
{
	struct collector *collector = collector_of(question->from);
	struct epoch_answer answer = { .outcome = EPOCH_ANSWERED };
	uint64_t since_ns = question->since_ns / EPOCH * EPOCH + collector->phase_ns;

	*answers = (struct epoch_answers){ .count = 0 };
	collector->asked++;
	if (collector->is_down)
		return dart_error__set(error, EHOSTUNREACH, "it is down");
	if (since_ns > question->since_ns)
		since_ns -= EPOCH;
	for (; since_ns <= question->until_ns && answers->count < 100; since_ns += EPOCH) {
		answer.since_ns = since_ns;
		answer.until_ns = since_ns + EPOCH;
		answer.found.outcome = since_ns == collector->value_ns ? DART_STORE_FOUND :
									 DART_STORE_EMPTY;
		add(answers, &answer);
	}
	return 0;
}

void epochs__free(struct epoch_answers *answers)
{
	free(answers->list);
}

int answer__print_epochs(const struct answer *answer, const struct epoch_answers *epochs,
			 bool is_one, bool as_json)
{
	size_t i;

	assert_int_equal(is_one ? epochs->count : 1, 1);
	for (i = 0; i < epochs->count; i++) {
		struct epoch_answer copy = epochs->list[i];

		if (copy.collector)
			copy.collector = names[collector_of(copy.collector) - collectors];
		add(&printed, &copy);
	}
	return EXIT_SUCCESS;
}

int query__ask_there(const struct query *query, const char *from, struct query_reply *reply,
		     struct dart_error *error)
{
	return dart_error__set(error, EINVAL, "the test asks for the past only");
}

int query__print(const struct query *query, const struct options *options,
		 const struct query_reply *reply, const char *collector)
{
	return EXIT_FAILURE;
}

int fail(int code, const char *format, ...)
{
	return EXIT_FAILURE;
}

int fail__out_of_memory(void)
{
	return EXIT_FAILURE;
}

/* ---- shares and queries */

static int open_scene(void **state)
{
	memset(collectors, 0, sizeof(collectors));
	printed = (struct epoch_answers){ .count = 0 };
	return dart_share_history__new("paths", &shares);
}

static int close_scene(void **state)
{
	dart_share_history__free(shares);
	free(printed.list);
	return 0;
}

/* All shares, to 10.0.0.@number. */
static void move(unsigned int number, uint64_t now_ns)
{
	const struct in_addr address = { htonl(0x0a000000 + number) };
	struct dart_share_set all = {};
	uint32_t share;

	for (share = 0; share < DART_STORE_SHARES; share++)
		dart_share_set__add(&all, share);
	assert_true(dart_share_history__move(shares, &all, address, now_ns / MS) > 0);
}

static void ask(uint64_t at_ns, uint64_t since_ns, uint64_t until_ns)
{
	const struct query query = {
		.store = "paths", .shares = "a file", .at_ns = at_ns, .since_ns = since_ns,
		.until_ns = until_ns, .key = "a key", .key_length = 13,
	};
	const struct options options = { .json = false };

	free(printed.list);
	printed = (struct epoch_answers){ .count = 0 };
	assert_int_equal(query__ask_owners(&query, &options), EXIT_SUCCESS);
}

/* One answer, of this collector; @found: if it is answered. */
static void expect(enum epoch_outcome outcome, enum dart_store_outcome found, const char *collector)
{
	assert_int_equal(printed.count, 1);
	assert_int_equal(printed.list[0].outcome, outcome);
	if (outcome == EPOCH_ANSWERED)
		assert_int_equal(printed.list[0].found.outcome, found);
	if (collector)
		assert_string_equal(printed.list[0].collector, collector);
}

/* Epoch 10 has the value at the first of three collectors. */
static void test_two_moves(void **state)
{
	move(1, EPOCH);
	move(2, 10 * EPOCH + EPOCH / 4);
	move(3, 10 * EPOCH + EPOCH / 2);
	collectors[0].value_ns = 10 * EPOCH;
	ask(10 * EPOCH + EPOCH - 1, 0, 0);
	expect(EPOCH_ANSWERED, DART_STORE_FOUND, "10.0.0.1");
	/* The epochs of this collector end in the middle of the epochs of the others. */
	collectors[0].phase_ns = EPOCH / 3;
	collectors[0].value_ns = 10 * EPOCH + EPOCH / 3 - EPOCH;
	ask(10 * EPOCH + EPOCH / 3 - 1, 0, 0);
	expect(EPOCH_ANSWERED, DART_STORE_FOUND, "10.0.0.1");
	/* No collector has the key; collectors whose epoch began after the moves are not asked. */
	memset(collectors, 0, sizeof(collectors));
	ask(20 * EPOCH, 0, 0);
	expect(EPOCH_ANSWERED, DART_STORE_EMPTY, "10.0.0.3");
	assert_int_equal(collectors[0].asked, 0);
}

static void test_down(void **state)
{
	move(1, EPOCH);
	move(2, 10 * EPOCH + EPOCH / 4);
	collectors[0].is_down = true;
	ask(10 * EPOCH + EPOCH / 2, 0, 0);
	expect(EPOCH_MISSING, 0, "10.0.0.1");
	/* A value of its present owner is one. */
	collectors[1].value_ns = 10 * EPOCH;
	ask(10 * EPOCH + EPOCH / 2, 0, 0);
	expect(EPOCH_ANSWERED, DART_STORE_FOUND, "10.0.0.2");
	/* A collector that died long ago has nothing of this epoch. */
	ask(20 * EPOCH + EPOCH / 2, 0, 0);
	expect(EPOCH_ANSWERED, DART_STORE_EMPTY, "10.0.0.2");
}

/* The share was with 10.0.0.4 before the moves that the file remembers. */
static void test_forgotten(void **state)
{
	unsigned int i;

	move(4, EPOCH);
	for (i = 0; i < DART_SHARE_OWNERS_MAX; i++)
		move(1 + i % 2, (10 + i) * EPOCH);
	ask(0, 5 * EPOCH, 11 * EPOCH - 1);
	assert_true(printed.count > 1);
	assert_int_equal(printed.list[0].outcome, EPOCH_MISSING);
	assert_int_equal(printed.list[0].since_ns, 5 * EPOCH);
	assert_int_equal(printed.list[0].until_ns, 10 * EPOCH);
	/* Of this time all owners are known. */
	ask(0, 12 * EPOCH, 14 * EPOCH);
	assert_int_equal(printed.list[0].outcome, EPOCH_ANSWERED);
	/* And of this one none. */
	ask(5 * EPOCH, 0, 0);
	expect(EPOCH_MISSING, 0, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_FIXTURE("a value of before two moves in one epoch is found", test_two_moves,
			     open_scene, close_scene),
		TEST_FIXTURE("the answer is unknown if the former collector is down", test_down,
			     open_scene, close_scene),
		TEST_FIXTURE("the time of forgotten collectors is missing", test_forgotten,
			     open_scene, close_scene),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
