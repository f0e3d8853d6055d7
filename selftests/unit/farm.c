// SPDX-License-Identifier: GPL-2.0-only
/* The farm's hosts, in memory, and the verdict on scrapes of them. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/table/value.h>

#include "selftests/lib/farm_table.h"
#include "selftests/lib/farm_sample.h"
#include "selftests/lib/farm_verdict.h"
#include "unit.h"

#define PORT 5000
#define INTERVAL_NS 1000000000ULL
#define MEMORY_MAX 65536
#define RKEY 0x1234

/* A host of the farm that nobody READs. */
struct model {
	struct farm_shape shape;
	struct dart_schema *schema;
	uint32_t host, epoch;
	struct farm_table table;
	_Alignas(64) uint8_t control[MEMORY_MAX];
	_Alignas(64) uint8_t values[MEMORY_MAX];
	_Alignas(64) uint8_t extra[MEMORY_MAX];
};

/* One line of a controller. */
struct line {
	char *text;
	size_t length;
};

static void model__open(struct model *model, enum farm_form form, uint32_t host,
			uint32_t epoch)
{
	const struct dart_memory_region values = {
		.address = (uintptr_t)model->values,
		.length = form == FARM_ROWS ? 4096 : 8192,
		.rkey = RKEY,
	};
	struct dart_error error;

	model->host = host;
	model->epoch = epoch;
	assert_int_equal(farm_shape__init(&model->shape, form, values.length),
			 0);
	assert_int_equal(farm_shape__size(&model->shape), values.length);
	model->schema = farm_shape__schema(&model->shape);
	assert_non_null(model->schema);
	assert_int_equal(farm_table__open(&model->table, model->control,
					  &model->shape, model->schema, host,
					  epoch, &values, &error),
			 0);
}

static void model__close(struct model *model)
{
	farm_table__close(&model->table);
	dart_schema__free(model->schema);
}

static void model__write(struct model *model, uint64_t update)
{
	const struct farm_shape *shape = &model->shape;
	uint32_t i;

	for (i = 0; i < shape->entries; i++)
		farm_values__write(model->values + i * farm_shape__entry(shape),
				   shape, model->host, model->epoch, i, update);
	farm_values__write(model->extra, shape, model->host, model->epoch,
			   farm_shape__extra(shape), update);
}

static struct dart_table *model__decode(struct model *model)
{
	struct dart_table *table;
	struct dart_error error;

	assert_int_equal(dart_table__decode(model->control, model->table.used,
					    &table, NULL, &error),
			 0);
	return table;
}

static void print_id(const char *name, const uint8_t id[16], FILE *out)
{
	int i;

	fprintf(out, "\"%s\":\"", name);
	for (i = 0; i < 16; i++)
		fprintf(out, "%02x", id[i]);
	fputs("\",", out);
}

/* A scrape, as the controller prints it: the copies of an entry lie side by side. */
static struct line model__scrape(struct model *model, uint64_t sequence,
				 uint64_t start_ns)
{
	struct dart_table *table = model__decode(model);
	struct line line = {};
	FILE *out = open_memstream(&line.text, &line.length);
	uint32_t i;

	assert_non_null(out);
	fprintf(out,
		"{\"agent\":\"host:%u\",\"sequence\":%" PRIu64
		",\"start_ns\":%" PRIu64 ",\"landed_ns\":%" PRIu64 ",",
		PORT + model->host, sequence, start_ns, start_ns + 1000);
	print_id("host_id", table->host_id, out);
	print_id("boot_id", table->boot_id, out);
	fprintf(out, "\"instance\":\"%016" PRIx64 "\",\"entries\":{",
		table->instance);
	for (i = 0; i < table->entry_count; i++) {
		const struct dart_entry *entry = &table->entries[i];

		assert_int_equal(entry->range_count, 1);
		assert_int_equal(entry->ranges->stride, entry->schema->length);
		fprintf(out, "%s\"%s\":", i ? "," : "", entry->name);
		dart_entry__print_json(
			entry, (const void *)(uintptr_t)entry->ranges->address,
			out);
	}
	fputs("}}\n", out);
	assert_int_equal(fclose(out), 0);
	dart_table__free(table);
	return line;
}

static int check(struct model *model, uint32_t host, struct farm_sample *sample)
{
	struct line line = model__scrape(model, 1, INTERVAL_NS);
	json_t *json = json_loadb(line.text, line.length, 0, NULL);
	struct dart_error error;
	int ret;

	assert_non_null(json);
	ret = farm_sample__check(sample, json, &model->shape, host, &error);
	json_decref(json);
	free(line.text);
	return ret;
}

static void test_values(void **state)
{
	static const uint32_t expected[] = {
		[FARM_ROWS] = 64 * 3,
		[FARM_RECORDS] = 16 * (4 + 6 * 7 + 6),
	};
	struct farm_sample sample;
	static struct model model;
	enum farm_form form;

	for (form = FARM_ROWS; form <= FARM_RECORDS; form++) {
		model__open(&model, form, 7, 3);
		model__write(&model, 11);
		assert_int_equal(check(&model, 7, &sample), 0);
		assert_int_equal(sample.values, expected[form]);
		assert_int_equal(sample.torn, 0);
		assert_int_equal(sample.epoch, 3);
		assert_int_equal(sample.update_min, 11);
		assert_int_equal(sample.update_max, 11);
		assert_false(sample.has_extra);
		assert_int_equal(check(&model, 8, &sample), -EBADMSG);
		model__close(&model);
	}
}

/* Each entry that comes has another memory region, until the table is written again. */
static void test_extra(void **state)
{
	struct dart_memory_region extra = { .length = 4096 };
	struct farm_sample sample;
	static struct model model;
	struct dart_error error;
	uint32_t i;

	model__open(&model, FARM_ROWS, 1, 1);
	model__write(&model, 1);
	extra.address = (uintptr_t)model.extra;
	assert_int_equal(farm_table__remove(&model.table, &error), -ENOENT);
	for (i = 1; i <= 400; i++) {
		extra.rkey = i;
		assert_int_equal(farm_table__add(&model.table, &extra, &error),
				 0);
		assert_int_equal(farm_table__add(&model.table, &extra, &error),
				 -EEXIST);
		assert_int_equal(model.table.generation, 2 * i);
		dart_table__free(model__decode(&model));
		if (i % 40) {
			assert_int_equal(
				farm_table__remove(&model.table, &error), 0);
			continue;
		}
		assert_int_equal(check(&model, 1, &sample), 0);
		assert_true(sample.has_extra);
		assert_int_equal(sample.values, 2 * 64 * 3);
		assert_int_equal(farm_table__remove(&model.table, &error), 0);
		assert_int_equal(check(&model, 1, &sample), 0);
		assert_false(sample.has_extra);
	}
	assert_true(model.table.memory_regions < i / 2);
	model__close(&model);
}

static void test_faults(void **state)
{
	struct farm_sample sample;
	static struct model model, other;
	uint64_t *row;
	int i;

	model__open(&model, FARM_ROWS, 1, 2);
	model__open(&other, FARM_ROWS, 1, 1);
	model__write(&model, 5);
	model__write(&other, 5);

	/* A value, the update it is of, the host and the epoch in its row. */
	row = (uint64_t *)model.values;
	for (i = 1; i < 7; i++) {
		row[i]++;
		assert_int_equal(check(&model, 1, &sample), -EBADMSG);
		row[i]--;
	}
	assert_int_equal(check(&model, 1, &sample), 0);

	/* A row at the place of another one, and one of another epoch. */
	memcpy(model.values, model.values + FARM_LINE, FARM_LINE);
	assert_int_equal(check(&model, 1, &sample), -EBADMSG);
	memcpy(model.values, other.values, FARM_LINE);
	assert_int_equal(check(&model, 1, &sample), -EBADMSG);

	/* One that has not been written, and one that is being written. */
	memset(model.values, 0, FARM_LINE);
	assert_int_equal(check(&model, 1, &sample), -EBADMSG);
	model__write(&model, 6);
	row[7]++;
	assert_int_equal(check(&model, 1, &sample), 0);
	assert_int_equal(sample.torn, 1);
	assert_int_equal(sample.values, 63 * 3);
	model__close(&model);
	model__close(&other);
}

/* What a verdict has told, and reports. */
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

	/* The second is half an interval later, the fourth misses one. */
	judged__take(&judged, &first, 2, 2, INTERVAL_NS * 3 / 2);
	judged__take(&judged, &first, 3, 3, INTERVAL_NS * 5 / 2);
	farm_verdict__next_phase(judged.verdict, INTERVAL_NS * 3);
	judged__take(&judged, &first, 5, 4, INTERVAL_NS * 9 / 2);
	assert_true(judged__told(&judged, "{\"phase\":1,\"round\":1,"));

	judged__take_text(&judged,
			  "{\"agent\":\"host:5001\",\"error\":\"gone\"}");
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
		"{\"faults\":0,\"hosts\":2,\"samples\":6,\"values\":1152,\"torn\":0,\"lag\":0,\"lost\":1,"
		"\"phases\":[{\"samples\":4,\"others\":3,\"missed\":0,\"lost\":0,\"extra\":0},"
		"{\"samples\":2,\"others\":1,\"missed\":1,\"lost\":0,\"extra\":0}],"
		"\"others\":{\"scrapes\":4,\"failed\":1,\"missed\":2,\"discarded\":3,\"dropped\":4},"
		"\"stopped\":{\"scrapes\":0,\"failed\":0,\"missed\":0,\"discarded\":0,\"dropped\":0}}");
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
		"{\"faults\":4,\"hosts\":1,\"samples\":2,\"values\":384,\"torn\":0,\"lag\":0,\"lost\":0,"
		"\"phases\":[{\"samples\":2,\"others\":0,\"missed\":0,\"lost\":0,\"extra\":0}],"
		"\"others\":{\"scrapes\":0,\"failed\":0,\"missed\":0,\"discarded\":0,\"dropped\":0},"
		"\"stopped\":{\"scrapes\":0,\"failed\":0,\"missed\":0,\"discarded\":0,\"dropped\":0}}");
	model__close(&old);
	model__close(&new);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a host of the farm has a table and values by the rule, as rows and as records",
		     test_values),
		TEST("an entry comes and goes 400 times, and the table stays valid",
		     test_extra),
		TEST("a value, row, epoch or host that is not by the rule is found, and a torn row is told apart",
		     test_faults),
		TEST("a verdict tells rounds and epochs, and counts what was missed and lost by phases",
		     test_verdict),
		TEST("values of an epoch that is over, older ones, and those of strangers are faults",
		     test_stale),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
