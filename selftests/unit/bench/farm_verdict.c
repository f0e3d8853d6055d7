// SPDX-License-Identifier: GPL-2.0-only
/* The verdict on scrapes of the farm. */
#include <inttypes.h>

#include "selftests/lib/farm_verdict.h"
#include "farm_model.h"

#define INTERVAL_NS 1000000000ULL

/* The lines of a verdict, and its report. */
struct judged {
	struct farm_verdict *verdict;
	FILE *out;
	char *told;
	size_t length;
};

static void judged__open(struct judged *judged, uint32_t hosts,
			 uint32_t first_stopped, uint32_t stopped)
{
	struct farm_plan plan = {
		.hosts = hosts,
		.first_port = PORT,
		.interval_ns = INTERVAL_NS,
		.first_stopped = first_stopped,
		.stopped = stopped,
	};

	farm_shape__init(&plan.shape, FARM_ROWS, 4096);
	judged->out = open_memstream(&judged->told, &judged->length);
	assert_non_null(judged->out);
	judged->verdict = farm_verdict__new(&plan, judged->out);
	assert_non_null(judged->verdict);
}

static void judged__take(struct judged *judged, struct model *model,
			 uint64_t update, uint64_t sequence, uint64_t start_ns)
{
	struct line line;

	model__write(model, update);
	line = model__scrape(model, sequence, start_ns);
	farm_verdict__take(judged->verdict, line.text, line.length);
	free(line.text);
}

static void judged__take_text(struct judged *judged, const char *text)
{
	farm_verdict__take(judged->verdict, text, strlen(text));
}

/* Has it told the text since the last call? */
static bool judged__told(struct judged *judged, const char *text)
{
	bool found;

	fflush(judged->out);
	found = judged->length && strstr(judged->told, text);
	rewind(judged->out);
	memset(judged->told, 0, judged->length);
	return found;
}

static void judged__close(struct judged *judged, const char *expected)
{
	json_t *report = farm_verdict__report(judged->verdict);
	char *text = report ? json_dumps(report, JSON_COMPACT) : NULL;

	assert_non_null(text);
	assert_string_equal(text, expected);
	free(text);
	json_decref(report);
	farm_verdict__free(judged->verdict);
	fclose(judged->out);
	free(judged->told);
}

/* Host 0 goes on, host 1 is stopped and starts again. */
static void test_verdict(void **state)
{
	static struct model first, second;
	struct judged judged;

	model__open(&first, FARM_ROWS, 0, 1);
	model__open(&second, FARM_ROWS, 1, 1);
	judged__open(&judged, 2, 1, 1);
	judged__take(&judged, &first, 1, 1, INTERVAL_NS);
	assert_true(judged__told(&judged, "{\"phase\":0,\"round\":1,"));
	judged__take(&judged, &second, 1, 1, INTERVAL_NS);
	assert_true(judged__told(
		&judged,
		"{\"epoch\":1,\"hosts\":2,\"first_ns\":1000001000,\"landed_ns\":1000001000}"));

	/* The second scrape is half an interval late, the fourth misses an interval. */
	judged__take(&judged, &first, 2, 2, INTERVAL_NS * 3 / 2);
	judged__take(&judged, &first, 3, 3, INTERVAL_NS * 5 / 2);
	farm_verdict__next_phase(judged.verdict, INTERVAL_NS * 3, 4);
	judged__take(&judged, &first, 5, 4, INTERVAL_NS * 9 / 2);
	assert_true(judged__told(&judged, "{\"phase\":1,\"round\":1,"));

	judged__take_text(&judged, "{\"agent\":\"host:5001\",\"error\":\"gone\"}");
	assert_true(judged__told(&judged, "{\"lost\":1}"));
	model__close(&second);
	model__open(&second, FARM_ROWS, 1, 2);
	judged__take(&judged, &second, 6, 2, INTERVAL_NS * 5);
	assert_true(judged__told(&judged, "{\"epoch\":2,\"hosts\":1,"));
	judged__take_text(
		&judged,
		"{\"agent\":\"host:5000\",\"summary\":{\"scrapes\":4,\"failed\":1,\"missed\":2,\"discarded\":3,\"dropped\":4}}");
	judged__close(
		&judged,
		"{\"faults\":0,\"hosts\":2,\"samples\":6,\"values\":1536,\"rows\":384,\"torn\":0,\"lag\":0,\"lost\":1,"
		"\"phases\":[{\"samples\":4,\"others\":3,\"missed\":0,\"lost\":0,\"extra\":0},"
		"{\"samples\":2,\"others\":1,\"missed\":1,\"lost\":0,\"extra\":0}],"
		"\"others\":{\"hosts\":1,\"scrapes\":4,\"failed\":1,\"missed\":2,\"discarded\":3,\"dropped\":4},"
		"\"stopped\":{\"hosts\":0,\"scrapes\":0,\"failed\":0,\"missed\":0,\"discarded\":0,\"dropped\":0}}");
	model__close(&first);
	model__close(&second);
}

static void test_stale(void **state)
{
	static struct model old, new;
	struct judged judged;

	model__open(&old, FARM_ROWS, 0, 1);
	model__open(&new, FARM_ROWS, 0, 2);
	judged__open(&judged, 2, 0, 1);
	judged__take(&judged, &old, 5, 1, INTERVAL_NS);
	judged__take(&judged, &old, 4, 2, INTERVAL_NS * 2);
	assert_true(judged__told(&judged, "are older than"));
	judged__take(&judged, &new, 6, 3, INTERVAL_NS * 3);
	assert_false(judged__told(&judged, "fault"));
	judged__take(&judged, &old, 7, 4, INTERVAL_NS * 4);
	assert_true(judged__told(&judged, "an epoch that is over"));
	/* Only the first host is to be stopped. */
	model__close(&new);
	model__open(&new, FARM_ROWS, 1, 2);
	judged__take(&judged, &new, 7, 1, INTERVAL_NS * 4);
	assert_true(judged__told(&judged, "but was not stopped"));
	judged__take_text(&judged, "{\"agent\":\"host:4792\"}");
	assert_true(judged__told(&judged, "is not about the farm"));
	judged__close(
		&judged,
		"{\"faults\":4,\"hosts\":1,\"samples\":2,\"values\":512,\"rows\":128,\"torn\":0,\"lag\":0,\"lost\":0,"
		"\"phases\":[{\"samples\":2,\"others\":0,\"missed\":0,\"lost\":0,\"extra\":0}],"
		"\"others\":{\"hosts\":0,\"scrapes\":0,\"failed\":0,\"missed\":0,\"discarded\":0,\"dropped\":0},"
		"\"stopped\":{\"hosts\":0,\"scrapes\":0,\"failed\":0,\"missed\":0,\"discarded\":0,\"dropped\":0}}");
	model__close(&old);
	model__close(&new);
}

/* All lines are equally late: only the farm knows the expected values. */
static void test_late(void **state)
{
	static struct model first, second;
	struct judged judged;

	model__open(&first, FARM_ROWS, 0, 1);
	model__open(&second, FARM_ROWS, 1, 1);
	judged__open(&judged, 2, 0, 0);
	farm_verdict__next_phase(judged.verdict, INTERVAL_NS * 3 / 2, 7);
	/* The scrape began before the phase, and landed in it. */
	judged__take(&judged, &first, 5, 1, INTERVAL_NS * 3 / 2 - 1);
	assert_false(judged__told(&judged, "fault"));
	/* The farm had not yet written update 7 to this host. */
	judged__take(&judged, &first, 6, 2, INTERVAL_NS * 5 / 2);
	assert_false(judged__told(&judged, "fault"));
	judged__take(&judged, &second, 5, 1, INTERVAL_NS * 5 / 2);
	assert_true(judged__told(&judged, "host 1: its values are older than what the farm"));
	judged__take_text(&judged, "{\"agent\":\"host:5000\",\"summary\":{\"scrapes\":2}}");
	assert_true(judged__told(&judged, "host 0: its summary lacks a number"));
	judged__close(
		&judged,
		"{\"faults\":2,\"hosts\":1,\"samples\":2,\"values\":512,\"rows\":128,\"torn\":0,\"lag\":0,\"lost\":0,"
		"\"phases\":[{\"samples\":0,\"others\":0,\"missed\":0,\"lost\":0,\"extra\":0},"
		"{\"samples\":2,\"others\":2,\"missed\":0,\"lost\":0,\"extra\":0}],"
		"\"others\":{\"hosts\":1,\"scrapes\":2,\"failed\":0,\"missed\":0,\"discarded\":0,\"dropped\":0},"
		"\"stopped\":{\"hosts\":0,\"scrapes\":0,\"failed\":0,\"missed\":0,\"discarded\":0,\"dropped\":0}}");
	model__close(&first);
	model__close(&second);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a verdict tells rounds and epochs, and counts what was missed and lost by phases",
		     test_verdict),
		TEST("values of an epoch that is over, older ones, and those of strangers are faults",
		     test_stale),
		TEST("values that are older than the farm says are found, if all of them are late, too",
		     test_late),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
