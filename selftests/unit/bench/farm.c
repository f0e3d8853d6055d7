// SPDX-License-Identifier: GPL-2.0-only
/* The tables, the values and the scrapes of hosts of the farm. */
#include <errno.h>

#include "selftests/lib/farm_sample.h"
#include "farm_model.h"

#define START_NS 1000000000ULL

static int check(struct model *model, uint32_t host, struct farm_sample *sample)
{
	struct line line = model__scrape(model, 1, START_NS);
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
		[FARM_ROWS] = 64 * 4,
		[FARM_RECORDS] = 16 * (4 + 7 * 7),
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

/* Each new entry uses another memory region, until the table is written again. */
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
		assert_int_equal(farm_table__add(&model.table, &extra, &error), 0);
		assert_int_equal(farm_table__add(&model.table, &extra, &error), -EEXIST);
		assert_int_equal(model.table.generation, 2 * i);
		dart_table__free(model__decode(&model));
		if (i % 40) {
			assert_int_equal(farm_table__remove(&model.table, &error), 0);
			continue;
		}
		assert_int_equal(check(&model, 1, &sample), 0);
		assert_true(sample.has_extra);
		assert_int_equal(sample.values, 2 * 64 * 4);
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
	struct farm_line *row;
	int i;

	model__open(&model, FARM_ROWS, 1, 2);
	model__open(&other, FARM_ROWS, 1, 1);
	model__write(&model, 5);
	model__write(&other, 5);

	/* A value, its update, the host and the epoch in its row. */
	row = (void *)model.values;
	for (i = 0; i < FARM_LINE_WORDS; i++) {
		row->words[i]++;
		assert_int_equal(check(&model, 1, &sample), -EBADMSG);
		row->words[i]--;
	}
	assert_int_equal(check(&model, 1, &sample), 0);

	/* A row at the place of another row, and a row of another epoch. */
	memcpy(model.values, model.values + FARM_LINE, FARM_LINE);
	assert_int_equal(check(&model, 1, &sample), -EBADMSG);
	memcpy(model.values, other.values, FARM_LINE);
	assert_int_equal(check(&model, 1, &sample), -EBADMSG);

	/* An unwritten row, and a row that is being written. */
	memset(model.values, 0, FARM_LINE);
	assert_int_equal(check(&model, 1, &sample), -EBADMSG);
	model__write(&model, 6);
	row->last_sequence++;
	assert_int_equal(check(&model, 1, &sample), 0);
	assert_int_equal(sample.torn, 1);
	assert_int_equal(sample.values, 63 * 4);
	model__close(&model);
	model__close(&other);
}

/* As if each row were being written. */
static void model__tear(struct model *model, uint8_t *values, uint32_t rows)
{
	uint32_t i;

	for (i = 0; i < rows; i++)
		((struct farm_line *)values)[i * model->shape.lines].sequence++;
}

static void test_torn(void **state)
{
	struct dart_memory_region extra = { .length = 4096, .rkey = 1 };
	struct farm_sample sample;
	static struct model model;
	struct dart_error error;

	model__open(&model, FARM_ROWS, 1, 1);
	model__write(&model, 1);
	model__tear(&model, model.values, 63);
	assert_int_equal(check(&model, 1, &sample), 0);
	assert_int_equal(sample.rows, 64);
	assert_int_equal(sample.torn, 63);
	assert_int_equal(sample.update_min, 1);
	model__write(&model, 2);
	model__tear(&model, model.values, 64);
	assert_int_equal(check(&model, 1, &sample), -EBADMSG);

	/* The extra entry alone. */
	model__write(&model, 3);
	extra.address = (uintptr_t)model.extra;
	assert_int_equal(farm_table__add(&model.table, &extra, &error), 0);
	assert_int_equal(check(&model, 1, &sample), 0);
	model__tear(&model, model.extra, 64);
	assert_int_equal(check(&model, 1, &sample), -EBADMSG);
	model__close(&model);

	/* Entries of one row: some of them. */
	model__open(&model, FARM_RECORDS, 1, 1);
	model__write(&model, 1);
	model__tear(&model, model.values, 15);
	assert_int_equal(check(&model, 1, &sample), 0);
	assert_int_equal(sample.rows, 16);
	assert_int_equal(sample.torn, 15);
	model__write(&model, 2);
	model__tear(&model, model.values, 16);
	assert_int_equal(check(&model, 1, &sample), -EBADMSG);
	model__close(&model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a host of the farm has a table and values by the rule, as rows and as records",
		     test_values),
		TEST("an entry comes and goes 400 times, and the table stays valid", test_extra),
		TEST("a value, row, epoch or host that is not by the rule is found, and a torn row is told apart",
		     test_faults),
		TEST("a scrape, or an entry of many rows, of which each row is torn is refused",
		     test_torn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
