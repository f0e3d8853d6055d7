// SPDX-License-Identifier: GPL-2.0-only
/*
 * The answers of all epochs of a time: each epoch is asked, gaps are missing, and epochs whose
 * times overlap, because a clock was set back, hide nothing.  The collector is simulated.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "selftests/unit/unit.h"
#undef fail
#include "tools/dartctl/cli/command.h"
#include "tools/dartctl/store/epochs_source.h"

/* ---- the collector */

struct kept {
	uint64_t since_ns, until_ns; /* 0: the present one */
	enum dart_store_outcome outcome;
	int ret; /* of a question */
};

static struct {
	const struct kept *epochs;
	size_t count, asked;
} collector;

static void close_source(struct epochs_source *source)
{
	free(source);
}

/* As dartd lists them. */
static int list_source(struct epochs_source *source, struct listed_epochs *epochs,
		       struct dart_error *error)
{
	const struct epochs_question *question = source->question;
	size_t i;

	for (i = 0; i < collector.count; i++) {
		const struct kept *kept = &collector.epochs[i];

		if (kept->since_ns > question->until_ns ||
		    (kept->until_ns && kept->until_ns <= question->since_ns))
			continue;
		epochs->list = reallocarray(epochs->list, epochs->count + 1, sizeof(*epochs->list));
		assert_non_null(epochs->list);
		epochs->list[epochs->count++] = (struct listed_epoch){
			.since_ns = kept->since_ns,
			.until_ns = kept->until_ns,
		};
	}
	return 0;
}

static int ask_source(struct epochs_source *source, const struct listed_epoch *listed,
		      struct epoch_answer *answer, struct dart_error *error)
{
	size_t i;

	collector.asked++;
	for (i = 0; i < collector.count; i++)
		if (collector.epochs[i].since_ns == listed->since_ns)
			break;
	assert_in_range(i, 0, collector.count - 1);
	answer->found.outcome = collector.epochs[i].outcome;
	return collector.epochs[i].ret ?
		       dart_error__set(error, -collector.epochs[i].ret, "a frame is damaged") :
		       0;
}

static const struct epochs_source_operations operations = {
	.close = close_source,
	.list = list_source,
	.ask = ask_source,
};

int epochs_there__open(const struct epochs_question *question, struct epochs_source **source,
		       struct dart_error *error)
{
	*source = calloc(1, sizeof(**source));
	assert_non_null(*source);
	(*source)->question = question;
	(*source)->operations = &operations;
	return 0;
}

int epochs_here__open(const struct options *options, const struct epochs_question *question,
		      struct epochs_source **source)
{
	assert_true(false);
	return EXIT_FAILURE;
}

int fail(int code, const char *format, ...)
{
	return EXIT_FAILURE;
}

/* ---- questions */

static struct epoch_answers ask(const struct kept *epochs, size_t count, uint64_t since_ns,
				uint64_t until_ns)
{
	const struct epochs_question question = {
		.store = "paths",
		.from = "collector",
		.since_ns = since_ns,
		.until_ns = until_ns,
	};
	struct epoch_answers answers;
	struct dart_error error;

	collector.epochs = epochs;
	collector.count = count;
	collector.asked = 0;
	assert_int_equal(epochs__ask_there(&question, &answers, &error), 0);
	return answers;
}

#define ASK(epochs, since_ns, until_ns) \
	ask(epochs, sizeof(epochs) / sizeof((epochs)[0]), since_ns, until_ns)

static void expect(const struct epoch_answer *answer, uint64_t since_ns, uint64_t until_ns,
		   enum epoch_outcome outcome)
{
	assert_int_equal(answer->since_ns, since_ns);
	assert_int_equal(answer->until_ns, until_ns);
	assert_int_equal(answer->outcome, outcome);
}

static void test_gaps(void **state)
{
	static const struct kept epochs[] = {
		{ 1000, 2000, DART_STORE_FOUND, 0 },
		{ 2000, 3000, DART_STORE_EMPTY, -EBADMSG },
		{ 5000, 6000, DART_STORE_EMPTY, -ESTALE },
		{ 6000, 0, DART_STORE_FOUND, 0 },
	};
	struct epoch_answers answers = ASK(epochs, 500, INT64_MAX);

	assert_int_equal(answers.count, 6);
	expect(&answers.list[0], 500, 1000, EPOCH_MISSING);
	expect(&answers.list[1], 1000, 2000, EPOCH_ANSWERED);
	expect(&answers.list[2], 2000, 3000, EPOCH_DAMAGED);
	expect(&answers.list[3], 3000, 5000, EPOCH_MISSING);
	expect(&answers.list[4], 5000, 6000, EPOCH_MISSING);
	expect(&answers.list[5], 6000, 0, EPOCH_ANSWERED);
	epochs__free(&answers);
	answers = ASK(epochs, 4000, 4000);
	assert_int_equal(answers.count, 1);
	expect(&answers.list[0], 4000, 4000, EPOCH_MISSING);
	epochs__free(&answers);
	/* The last epoch that ended is not the end of the time. */
	answers = ask(epochs, 1, 1500, 9000);
	assert_int_equal(answers.count, 2);
	expect(&answers.list[1], 2000, 9000, EPOCH_MISSING);
	epochs__free(&answers);
}

/* This host began two epochs in 1970, and learned the time from the network later. */
static const struct kept overlapping[] = {
	{ 10, 1000, DART_STORE_EMPTY, 0 },   { 12, 9000, DART_STORE_FOUND, 0 },
	{ 1000, 2000, DART_STORE_EMPTY, 0 }, { 2000, 3000, DART_STORE_FOUND, 0 },
	{ 9000, 0, DART_STORE_EMPTY, 0 },
};

static void test_overlapping_range(void **state)
{
	struct epoch_answers answers = ASK(overlapping, 0, INT64_MAX);
	size_t i;

	assert_int_equal(answers.count, 5);
	for (i = 0; i < 5; i++)
		expect(&answers.list[i], overlapping[i].since_ns, overlapping[i].until_ns,
		       EPOCH_ANSWERED);
	epochs__free(&answers);
	answers = ASK(overlapping, 2500, 2700);
	assert_int_equal(answers.count, 2);
	epochs__free(&answers);
}

static void test_overlapping_instant(void **state)
{
	static const struct kept damaged[] = {
		{ 12, 9000, DART_STORE_EMPTY, -EBADMSG },
		{ 1000, 2000, DART_STORE_EMPTY, 0 },
	};
	struct epoch_answers answers = ASK(overlapping, 2500, 2500);

	assert_int_equal(answers.count, 1);
	expect(&answers.list[0], 2000, 3000, EPOCH_ANSWERED);
	assert_int_equal(collector.asked, 1);
	epochs__free(&answers);
	/* The value of this time may lie in the epoch of the wrong clock. */
	answers = ASK(overlapping, 1500, 1500);
	assert_int_equal(answers.count, 1);
	expect(&answers.list[0], 12, 9000, EPOCH_ANSWERED);
	assert_int_equal(answers.list[0].found.outcome, DART_STORE_FOUND);
	epochs__free(&answers);
	answers = ASK(overlapping, 20000, 20000);
	expect(&answers.list[0], 9000, 0, EPOCH_ANSWERED);
	assert_int_equal(answers.count, 1);
	epochs__free(&answers);
	/* "Empty" would be wrong. */
	answers = ASK(damaged, 1500, 1500);
	assert_int_equal(answers.count, 1);
	expect(&answers.list[0], 12, 9000, EPOCH_DAMAGED);
	epochs__free(&answers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("each epoch of a time has an outcome, and so has a time without one",
		     test_gaps),
		TEST("epochs whose times overlap are all asked", test_overlapping_range),
		TEST("an instant that several epochs have has one answer, and a value first",
		     test_overlapping_instant),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
