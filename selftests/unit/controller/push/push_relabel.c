// SPDX-License-Identifier: GPL-2.0-only
/* Series of an output after its rules, write_relabel_configs. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <libdart/error.h>

#include "selftests/unit/unit.h"
#include "tools/controller/metrics/plan/plan.h"
#include "tools/controller/metrics/plan/plan_relabel.h"
#include "tools/controller/push/formats/format.h"
#include "tools/controller/push/queue/series.h"

#define SECOND 1000000000LL
#define SERIES 4

static char host[] = "h:1";

struct fixture {
	struct series *series;
	struct series_rules rules;
	struct target_settings target;
	struct metric_plan *plan;
	json_t *own; /* labels of the output */
	const char *texts; /* of the last block, of its first series */
	uint64_t samples;
	char text[4000]; /* of blocks: "NAME{LABELS}@MS=VALUE ...; " */
};

/* Series with all labels, as a message has them. */
static void take(void *data, struct block *block)
{
	struct fixture *fixture = data;
	char *to = fixture->text + strlen(fixture->text);
	const struct metric_point *point;
	struct merged_labels labels;
	uint64_t bits;
	uint32_t i, j, k;

	fixture->samples += block->samples;
	fixture->texts = block->plan->series->text;
	for (i = 0; i < block->scrapes; i++) {
		for (j = 0; j < block->plan->series_count; j++) {
			point = block->rows[i] + j;
			if (!point->time_ns)
				continue;
			assert_true(label_set__merge(block->labels, block->plan->series + j,
						     &labels));
			for (k = 0; k < labels.count; k++)
				to += sprintf(to, "%s%s=%s", k ? "," : "", labels.labels[k].name,
					      labels.labels[k].value);
			memcpy(&bits, &point->value, sizeof(bits));
			if (bits == FORMAT_STALE)
				to += sprintf(to, " ends ");
			else
				to += sprintf(to, " %g ", point->value);
		}
	}
	sprintf(to, "; ");
	atomic_fetch_sub(&fixture->rules.bytes, block->bytes);
	block__free(block);
}

static const struct metric_family families[] = {
	{ .name = "cpu", .help = "", .unit = "", .type = METRIC_GAUGE, .series_count = 2 },
	{ .name = "mem", .help = "", .unit = "", .type = METRIC_GAUGE, .first_series = 2,
	  .series_count = 1 },
	{ .name = "net", .help = "", .unit = "", .type = METRIC_GAUGE, .first_series = 3,
	  .series_count = 1 },
};

static const struct metric_label idle[] = { { "cpu", "0" }, { "mode", "idle" } };
static const struct metric_label user[] = { { "cpu", "0" }, { "mode", "user" } };
static const struct metric_series all[SERIES] = {
	{ .family = 0, .name = "cpu", .labels = idle, .label_count = 2,
	  .text = "cpu=\"0\",mode=\"idle\"" },
	{ .family = 0, .name = "cpu", .labels = user, .label_count = 2,
	  .text = "cpu=\"0\",mode=\"user\"" },
	{ .family = 1, .name = "mem", .text = "" },
	{ .family = 2, .name = "net", .text = "" },
};

static const char *const label_names[] = { "cpu", "mode" };

/* A real plan, which is counted, of constant series. */
static void make_plan(struct fixture *fixture)
{
	struct plan *plan = plan__new();

	assert_non_null(plan);
	plan->metrics = (struct metric_plan){
		.families = families,
		.family_count = 3,
		.series = all,
		.series_count = SERIES,
		.label_names = label_names,
		.label_name_count = 2,
	};
	fixture->plan = &plan->metrics;
}

/* From now on the output has these rules; NULL: none. */
static void set_rules(struct fixture *fixture, const char *text)
{
	struct metric_rewriter *rewriter;
	struct relabel_rules *rules;
	const yaml_node_t *root;
	struct dart_error error;
	struct dart_yaml yaml;

	if (!text) {
		series_rules__set_rewriter(&fixture->rules, NULL);
		return;
	}
	assert_int_equal(dart_yaml__parse(&yaml, text, strlen(text), "f", &root, &error), 0);
	assert_int_equal(relabel_rules__read(&yaml, root, &rules), 0);
	dart_yaml__close(&yaml);
	rewriter = plan_rewriter__new(rules);
	assert_non_null(rewriter);
	relabel_rules__release(rules);
	series_rules__set_rewriter(&fixture->rules, rewriter);
	rewriter->release(rewriter);
}

static void begin(struct fixture *fixture, const char *rules)
{
	*fixture = (struct fixture){
		.series = series__new(),
		.rules = {
			.precision_ns = 1000000,
			.has_markers = true,
			.batch = 1000,
			.bound = 1 << 20,
			.take = take,
		},
		.target.name = host,
		.own = json_pack("{s:s}", "site", "n"),
	};
	assert_non_null(fixture->series);
	fixture->rules.data = fixture;
	ended__open(&fixture->rules.ended);
	make_plan(fixture);
	set_rules(fixture, rules);
}

static void end(struct fixture *fixture)
{
	series__free(fixture->series, &fixture->rules);
	series_rules__set_rewriter(&fixture->rules, NULL);
	ended__close(&fixture->rules.ended);
	metric_plan__put(fixture->plan);
	json_decref(fixture->own);
	assert_int_equal(atomic_load(&fixture->rules.bytes), 0);
}

/* The values of the four series are 1 to 4. */
static void scrape(struct fixture *fixture, int64_t seconds)
{
	struct metric_point points[SERIES];
	const struct metric_scrape made = {
		.plan = fixture->plan,
		.points = points,
		.time_ns = seconds * SECOND,
	};
	int i;

	for (i = 0; i < SERIES; i++)
		points[i] = (struct metric_point){ i + 1, seconds * SECOND };
	series__add(fixture->series, &fixture->rules, &fixture->target, fixture->own, &made,
		    seconds * SECOND);
}

static void expect(struct fixture *fixture, const char *text)
{
	assert_string_equal(fixture->text, text);
	fixture->text[0] = '\0';
}

#define REST "instance=h:1,job=dart,site=n"

static void test_labels(void **state)
{
	struct fixture fixture;

	/* Rules see name, instance, job and the labels of the output. */
	begin(&fixture, "[{source_labels: [__name__, job, site], regex: 'mem;dart;n|cpu.*', action: keep},"
			" {source_labels: [mode], regex: user, action: drop},"
			" {source_labels: [instance], regex: '(.*):.*', target_label: instance},"
			" {source_labels: [__name__], regex: mem, target_label: __name__, replacement: memory},"
			" {regex: job|cpu, action: labeldrop}]");
	scrape(&fixture, 1);
	expect(&fixture, "__name__=cpu,instance=h,mode=idle,site=n 1 "
			 "__name__=memory,instance=h,site=n 3 ; ");
	assert_int_equal(atomic_load(&fixture.rules.equal), 0);
	end(&fixture);
	/* All series of a target may be dropped. */
	begin(&fixture, "[{source_labels: [instance], regex: 'h:1', action: drop}]");
	scrape(&fixture, 1);
	scrape(&fixture, 2);
	series__end(fixture.series, &fixture.rules, 3 * SECOND);
	assert_int_equal(fixture.samples, 0);
	end(&fixture);
}

static void test_equal(void **state)
{
	struct fixture fixture;

	begin(&fixture, "[{regex: mode, action: labeldrop},"
			" {source_labels: [__name__], regex: net, target_label: __name__, replacement: ''}]");
	scrape(&fixture, 1);
	scrape(&fixture, 2);
	expect(&fixture, "__name__=cpu,cpu=0," REST " 1 __name__=mem," REST " 3 ; "
			 "__name__=cpu,cpu=0," REST " 1 __name__=mem," REST " 3 ; ");
	/* One equals another, and one has no name, twice. */
	assert_int_equal(atomic_load(&fixture.rules.equal), 4);
	end(&fixture);
}

/* What a reload does: series that the new rules drop end, the others go on, and come back. */
static void test_reload(void **state)
{
	struct fixture fixture;

	begin(&fixture, NULL);
	scrape(&fixture, 1);
	fixture.text[0] = '\0';
	set_rules(&fixture, "[{source_labels: [__name__], regex: cpu, action: drop}]");
	scrape(&fixture, 2);
	expect(&fixture, "__name__=cpu,cpu=0,instance=h:1,job=dart,mode=idle,site=n ends "
			 "__name__=cpu,cpu=0,instance=h:1,job=dart,mode=user,site=n ends ; "
			 "__name__=mem," REST " 3 __name__=net," REST " 4 ; ");
	/* Equal rules in another list change nothing. */
	set_rules(&fixture, "[{source_labels: [__name__], regex: cpu, action: drop}]");
	scrape(&fixture, 3);
	/* The block of markers is empty. */
	expect(&fixture, "; __name__=mem," REST " 3 __name__=net," REST " 4 ; ");
	/* Series whose labels change end, and others begin. */
	set_rules(&fixture, "[{source_labels: [__name__], regex: mem, action: keep},"
			    " {target_label: site, replacement: s}]");
	scrape(&fixture, 4);
	expect(&fixture, "__name__=mem," REST " ends __name__=net," REST " ends ; "
			 "__name__=mem,instance=h:1,job=dart,site=s 3 ; ");
	set_rules(&fixture, NULL);
	scrape(&fixture, 5);
	expect(&fixture, "__name__=mem,instance=h:1,job=dart,site=s ends ; "
			 "__name__=cpu,cpu=0,instance=h:1,job=dart,mode=idle,site=n 1 "
			 "__name__=cpu,cpu=0,instance=h:1,job=dart,mode=user,site=n 2 "
			 "__name__=mem," REST " 3 __name__=net," REST " 4 ; ");
	assert_int_equal(atomic_load(&fixture.rules.older), 0);
	assert_int_equal(atomic_load(&fixture.rules.repeated), 0);
	end(&fixture);
}

/* Thousands of equal hosts have the same texts once. */
static void test_shared(void **state)
{
	struct series *other = series__new();
	struct fixture fixture;
	struct series *first;
	const char *texts;

	begin(&fixture, "[{source_labels: [__name__], regex: cpu, action: keep}]");
	scrape(&fixture, 1);
	texts = fixture.texts;
	first = fixture.series;
	fixture.series = other;
	fixture.text[0] = '\0';
	scrape(&fixture, 2);
	assert_non_null(strstr(fixture.text, "cpu=0"));
	assert_ptr_equal(fixture.texts, texts);
	series__free(first, &fixture.rules);
	end(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("rules of an output see all labels, and change and drop series", test_labels),
		TEST("series that become equal or lose their name are counted", test_equal),
		TEST("other rules end the series that they drop, and no others", test_reload),
		TEST("rewritten series of equal hosts share their texts", test_shared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
