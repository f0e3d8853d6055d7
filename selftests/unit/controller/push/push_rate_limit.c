// SPDX-License-Identifier: GPL-2.0-only
/* Samples in each second: of an output, and of each of its agents. */
#include "push_series_scene.h"
#include "tools/controller/push/queue/rate_limit.h"

#define AGENTS 10
#define SECONDS 100

/* Agents that scrape once a second, one after the other. */
struct fleet {
	struct rate_limit limit;
	struct rate_share shares[AGENTS];
	uint64_t samples[AGENTS]; /* of each scrape */
	uint64_t sent[AGENTS];
};

static void run(struct fleet *fleet)
{
	uint64_t now_ns = 1000 * SECOND, all = 0;
	int i, second;

	for (i = 0; i < AGENTS; i++)
		rate_limit__join(&fleet->limit, &fleet->shares[i]);
	for (second = 0; second < SECONDS; second++) {
		for (i = 0; i < AGENTS; i++, now_ns += SECOND / AGENTS) {
			all += fleet->samples[i];
			if (!rate_limit__admits(&fleet->limit, &fleet->shares[i], now_ns)) {
				rate_limit__drop(&fleet->limit, &fleet->shares[i], "h",
						 fleet->samples[i]);
				continue;
			}
			rate_limit__charge(&fleet->limit, &fleet->shares[i], fleet->samples[i],
					   now_ns);
			fleet->sent[i] += fleet->samples[i];
		}
	}
	for (i = 0; i < AGENTS; i++)
		all -= fleet->sent[i];
	assert_int_equal(atomic_load(&fleet->limit.dropped), all);
}

static void leave(struct fleet *fleet)
{
	int i;

	for (i = 0; i < AGENTS; i++)
		rate_limit__leave(&fleet->limit, &fleet->shares[i]);
	assert_int_equal(atomic_load(&fleet->limit.targets), 0);
	assert_int_equal(atomic_load(&fleet->limit.over), 0);
}

static uint64_t sum(const struct fleet *fleet)
{
	uint64_t all = 0;
	int i;

	for (i = 0; i < AGENTS; i++)
		all += fleet->sent[i];
	return all;
}

static void test_mean(void **state)
{
	struct fleet fleet = { .limit.samples = 1000 };
	int i;

	/* Within the bound nothing is lost, whatever the size of a scrape. */
	for (i = 0; i < AGENTS; i++)
		fleet.samples[i] = 100;
	run(&fleet);
	assert_int_equal(sum(&fleet), 1000 * SECONDS);
	leave(&fleet);
	/* Twice as many: half of them is sent, of each agent. */
	fleet = (struct fleet){ .limit.samples = 1000 };
	for (i = 0; i < AGENTS; i++)
		fleet.samples[i] = 200;
	run(&fleet);
	assert_in_range(sum(&fleet), 1000 * SECONDS * 99 / 100, 1000 * SECONDS + 4000);
	for (i = 0; i < AGENTS; i++)
		assert_in_range(fleet.sent[i], 80 * SECONDS, 120 * SECONDS);
	leave(&fleet);
}

/* One agent with far too many samples: the others lose none of theirs. */
static void test_greedy(void **state)
{
	struct fleet fleet = { .limit.samples = 1000 };
	int i;

	for (i = 0; i < AGENTS; i++)
		fleet.samples[i] = i == 3 ? 5000 : 50;
	run(&fleet);
	for (i = 0; i < AGENTS; i++)
		if (i != 3)
			assert_int_equal(fleet.sent[i], 50 * SECONDS);
	assert_in_range(fleet.sent[3], 5000, 550 * SECONDS + 2 * 5000);
	assert_true(atomic_load(&fleet.limit.dropped) > 0);
	leave(&fleet);

	fleet = (struct fleet){ .limit.agent_samples = 100 };
	for (i = 0; i < AGENTS; i++)
		fleet.samples[i] = i == 3 ? 5000 : 100;
	run(&fleet);
	for (i = 0; i < AGENTS; i++)
		if (i != 3)
			assert_int_equal(fleet.sent[i], 100 * SECONDS);
	assert_in_range(fleet.sent[3], 5000, 100 * SECONDS + 5000);
	assert_true(atomic_load(&fleet.limit.dropped) > 0);
	leave(&fleet);
}

/* A scrape that is dropped is as if it had not been: its series go on later. */
static void test_series(void **state)
{
	char name[RATE_LIMIT_NAME_MAX];
	struct fixture fixture;
	int i;

	begin(&fixture);
	fixture.rules.limit.samples = 2;
	series__limit(fixture.series, &fixture.rules);
	/* What was saved up at the start is two scrapes of the output, and two of its only target. */
	for (i = 1; i <= 4; i++)
		scrape_rows(&fixture, &first, i, i * SECOND, i * SECOND);
	assert_int_equal(atomic_load(&fixture.rules.limit.dropped), 0);
	fixture.text[0] = '\0';
	scrape_rows(&fixture, &first, 5, 5 * SECOND, 5 * SECOND);
	expect(&fixture, "");
	rate_limit__last(&fixture.rules.limit, name);
	assert_string_equal(name, "h:1");
	assert_int_equal(atomic_load(&fixture.rules.limit.dropped), 4);
	assert_int_equal(atomic_load(&fixture.rules.limit.over), 1);
	assert_int_equal(atomic_load(&fixture.rules.dropped), 0);
	scrape_rows(&fixture, &first, 6, 6 * SECOND, 6 * SECOND);
	expect(&fixture, "a@6000=6 bx=\"1\"@6000=6 bx=\"2\"@6000=6 c@6000=6 ; ");
	assert_int_equal(atomic_load(&fixture.rules.limit.over), 0);
	/* A source that can wait loses nothing. */
	series_rules__set_waits(&fixture.rules, true);
	scrape_rows(&fixture, &first, 7, 7 * SECOND, 7 * SECOND);
	expect(&fixture, "a@7000=7 bx=\"1\"@7000=7 bx=\"2\"@7000=7 c@7000=7 ; ");
	end(&fixture);
	assert_int_equal(atomic_load(&fixture.rules.limit.targets), 0);
}

static void test_largest(void **state)
{
	struct rate_limit limit = {};
	char name[RATE_LIMIT_NAME_MAX];

	assert_int_equal(rate_limit__take_largest(&limit, name), 0);
	rate_limit__note(&limit, "a", 10);
	rate_limit__note(&limit, "b", 1000);
	rate_limit__note(&limit, "c", 1000);
	rate_limit__note(&limit, "a", 11);
	assert_int_equal(rate_limit__take_largest(&limit, name), 1000);
	assert_string_equal(name, "b");
	/* It may have become smaller, or be gone. */
	rate_limit__note(&limit, "a", 11);
	assert_int_equal(rate_limit__take_largest(&limit, name), 11);
	assert_string_equal(name, "a");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("the samples of all agents are bounded on average, in equal shares", test_mean),
		TEST("an agent with many samples costs itself", test_greedy),
		TEST("the series of a scrape beyond the limit go on with the next one", test_series),
		TEST("the agent with the most series is known, each time of late", test_largest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
