// SPDX-License-Identifier: GPL-2.0-only
/* Sizes of stores, and the success and error rates that they promise. */
#include <libdart/error.h>
#include <libdart/store/store_sizing.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "selftests/unit/unit.h"

#define MIB	(UINT64_C(1) << 20)

static void check_near(double value, double expected, double tolerance)
{
	if (!(fabs(value - expected) <= tolerance))
		fail_msg("%.17g is not %.17g", value, expected);
}

/* The figures of section 5.2 and the formulas of section 4. */
static void test_paper(void **state)
{
	struct dart_sizing_wish wish = {
		.flows = 100000000,
		.value_length = 20,
		.redundancy = 2,
		.memory = 3000 * MIB,
	};
	struct dart_error error;
	struct dart_store_sizing plan;
	double load;

	assert_int_equal(dart_store_sizing__make(&wish, &plan, &error), 0);
	assert_int_equal(plan.ideal.slots, 131072000);
	assert_int_equal(plan.store.slots, 1 << 26);
	load = 1e8 / plan.ideal.slots;
	check_near(dart_store_sizing__oldest(load, 2), .3876, .00005);
	check_near(dart_store_sizing__average(load, 2), .7135, .00005);

	wish.memory = 30000 * MIB;
	assert_int_equal(dart_store_sizing__make(&wish, &plan, &error), 0);
	assert_int_equal(plan.ideal.slots, 1310720000);
	load = 1e8 / plan.ideal.slots;
	check_near(dart_store_sizing__average(load, 2), .993, .0005);
	check_near(dart_store_sizing__average(load, 4), .999, .0005);
}

/* The mean over all ages, by Simpson's rule. */
static double mean(double load, uint32_t redundancy, double (*of)(double age, uint32_t redundancy))
{
	const uint32_t steps = 2000;
	double sum = 0;
	uint32_t i;

	for (i = 0; i <= steps; i++)
		sum += of(load * i / steps, redundancy) * (!i || i == steps ? 1 : i % 2 ? 4 : 2);
	return sum / (3 * steps);
}

static double empty_at(double age, uint32_t redundancy)
{
	struct dart_sizing_risks risks;

	dart_store_sizing__risks_of_oldest(age, redundancy, 8, &risks);
	return risks.empty;
}

static double ambiguous_low_at(double age, uint32_t redundancy)
{
	struct dart_sizing_risks risks;

	dart_store_sizing__risks_of_oldest(age, redundancy, 8, &risks);
	return risks.ambiguous.low;
}

static double ambiguous_high_at(double age, uint32_t redundancy)
{
	struct dart_sizing_risks risks;

	dart_store_sizing__risks_of_oldest(age, redundancy, 8, &risks);
	return risks.ambiguous.high;
}

static double wrong_low_at(double age, uint32_t redundancy)
{
	struct dart_sizing_risks risks;

	dart_store_sizing__risks_of_oldest(age, redundancy, 8, &risks);
	return risks.wrong.low;
}

static double wrong_high_at(double age, uint32_t redundancy)
{
	struct dart_sizing_risks risks;

	dart_store_sizing__risks_of_oldest(age, redundancy, 8, &risks);
	return risks.wrong.high;
}

static void test_averages(void **state)
{
	static const double loads[] = { .001, .05, .2, .5, 1, 2 };
	struct dart_sizing_risks risks;
	uint32_t n;
	size_t i;

	for (i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
		for (n = 1; n <= DART_STORE_REDUNDANCY_MAX; n++) {
			const double load = loads[i];

			check_near(dart_store_sizing__average(load, n),
				   mean(load, n, dart_store_sizing__oldest), 1e-8);
			dart_store_sizing__average_risks(load, n, 8, &risks);
			check_near(risks.empty / mean(load, n, empty_at), 1, 1e-6);
			check_near(risks.wrong.low / mean(load, n, wrong_low_at), 1, 1e-6);
			check_near(risks.wrong.high / mean(load, n, wrong_high_at), 1, 1e-6);
			check_near(risks.ambiguous.low, mean(load, n, ambiguous_low_at), 1e-9);
			check_near(risks.ambiguous.high, mean(load, n, ambiguous_high_at), 1e-9);
		}
	}
}

static void test_closed_form(void **state)
{
	double load;

	for (load = .125; load < 8; load *= 2)
		check_near(dart_store_sizing__average(load, 2),
			   2 * -expm1(-2 * load) / (2 * load) + expm1(-4 * load) / (4 * load),
			   1e-14);
}

/* Each query ends with one of these outcomes. */
static void test_bounds(void **state)
{
	struct dart_sizing_risks risks;
	double load, lost;
	uint32_t n, bits;

	for (load = .01; load < 4; load *= 3) {
		for (n = 1; n <= DART_STORE_REDUNDANCY_MAX; n++) {
			lost = 1 - dart_store_sizing__oldest(load, n);
			for (bits = 8; bits <= 64; bits *= 2) {
				dart_store_sizing__risks_of_oldest(load, n, bits, &risks);
				assert_true(risks.wrong.low <= risks.wrong.high);
				assert_true(risks.ambiguous.low <= risks.ambiguous.high);
				check_near(risks.empty + risks.wrong.high, lost, 1e-15);
			}
		}
	}
}

/* One copy and 8 bits, computed by hand. */
static void test_wrong_answers(void **state)
{
	const double same = 1. / 256 * (1 + 2. / 256);
	struct dart_sizing_risks risks;

	dart_store_sizing__risks_of_oldest(1, 1, 8, &risks);
	check_near(risks.wrong.low, (1 - exp(-1)) * same, 1e-16);
	check_near(risks.wrong.high, (1 - exp(-1)) * same, 1e-16);
	check_near(risks.ambiguous.high, 0, 0);
	dart_store_sizing__risks_of_oldest(1, 2, 8, &risks);
	check_near(risks.wrong.low,
		   pow(1 - exp(-2), 2) * 2 * same * (1 - same), 1e-16);
	check_near(risks.ambiguous.low, 2 * (1 - exp(-2)) * exp(-2) * same,
		   1e-16);
	check_near(risks.ambiguous.high - risks.ambiguous.low,
		   pow(1 - exp(-2), 2) * same * same, 1e-16);
}

static double wrong_with(uint32_t checksum_bits)
{
	struct dart_sizing_risks risks;

	dart_store_sizing__average_risks(1, 2, checksum_bits, &risks);
	return risks.wrong.high;
}

/* Beside the slots of a store, one by one. */
static void test_lines(void **state)
{
	const uint32_t slots = 4096;
	uint32_t length, slot, lines;

	for (length = 1; length <= 72; length++) {
		for (slot = 0, lines = 0; slot < slots; slot++)
			lines += (slot * length + length - 1) / 64 - slot * length / 64 + 1;
		check_near(dart_store_sizing__lines(length), (double)lines / slots, 1e-12);
	}
	check_near(dart_store_sizing__lines(24), 1.25, 0);
	check_near(dart_store_sizing__lines(32), 1, 0);
	assert_int_equal(dart_store_sizing__whole(24), 32);
	assert_int_equal(dart_store_sizing__whole(32), 32);
	assert_int_equal(dart_store_sizing__whole(33), 64);
	assert_int_equal(dart_store_sizing__whole(65), 0);
}

static void test_inverses(void **state)
{
	static const double successes[] = { .01, .5, .9, .999, .999999 };
	uint32_t n, i;

	for (i = 0; i < sizeof(successes) / sizeof(successes[0]); i++)
		for (n = 1; n <= DART_STORE_REDUNDANCY_MAX; n++)
			check_near(dart_store_sizing__average(
					   dart_store_sizing__load(successes[i], n), n),
				   successes[i], 1e-14);

	assert_int_equal(dart_store_sizing__redundancy(.01), 8);
	assert_int_equal(dart_store_sizing__redundancy(5), 1);
	check_near(dart_store_sizing__estimate(0, 10, 2), 0, 0);
	check_near(dart_store_sizing__estimate(5, 10, 2), log(2) / 2, 1e-15);
	assert_true(isinf(dart_store_sizing__estimate(10, 10, 2)));
	assert_true(wrong_with(8) <= .01);
	assert_true(wrong_with(8) > 1e-4 && wrong_with(16) <= 1e-4);
	assert_true(wrong_with(16) > 1e-9 && wrong_with(32) <= 1e-9);
	assert_true(wrong_with(64) > 1e-30);
}

/* With half of the store, no redundancy reaches the success. */
static void test_plans(void **state)
{
	struct dart_sizing_wish wish = { .value_length = 20 };
	static const double successes[] = { .3, .9, .999, .99999 };
	struct dart_error error;
	struct dart_store_sizing plan;
	double load;
	uint32_t i, n;

	for (i = 0; i < sizeof(successes) / sizeof(successes[0]); i++) {
		wish.success = successes[i];
		for (wish.flows = 1; wish.flows < 100000000; wish.flows *= 7) {
			assert_int_equal(dart_store_sizing__make(&wish, &plan, &error), 0);
			assert_true(plan.ideal.slots <= plan.store.slots);
			assert_int_equal(plan.store.checksum_bits, 32);
			load = (double)wish.flows / plan.store.slots;
			n = plan.store.redundancy;
			assert_true(dart_store_sizing__average(load, n) >= wish.success);
			assert_true(n == 1 ||
				    dart_store_sizing__average(load, n - 1) < wish.success);
			for (n = 1; plan.store.slots > 1 && n <= 8; n++)
				assert_true(dart_store_sizing__average(2 * load, n) < wish.success);
		}
	}

	wish.flows = 1000000;
	wish.error = 1e-12;
	assert_int_equal(dart_store_sizing__make(&wish, &plan, &error), 0);
	assert_int_equal(plan.store.checksum_bits, 32);
	wish.error = 1e-6;
	assert_int_equal(dart_store_sizing__make(&wish, &plan, &error), 0);
	assert_int_equal(plan.store.checksum_bits, 8);
}

static void test_refused(void **state)
{
	static const struct dart_sizing_wish good = {
		.flows = 1000,
		.success = .9,
		.value_length = 20,
	};
	struct dart_sizing_wish bad[] = {
		good, good, good, good, good, good, good, good, good, good,
	};
	static const int errors[] = {
		-EINVAL, -EINVAL, -EINVAL, -EINVAL, -EINVAL, -EINVAL, -EINVAL,
		-ERANGE, -ERANGE, -ERANGE,
	};
	struct dart_error error;
	struct dart_store_sizing plan;
	size_t i;

	bad[0].flows = 0;
	bad[1].memory = 1000;
	bad[2].success = 0;
	bad[3].success = 1;
	bad[4].value_length = 65;
	bad[5].checksum_bits = 12;
	bad[6].redundancy = 9;
	bad[7].success = 0;
	bad[7].memory = 23;
	bad[8].flows = UINT64_C(1) << 40;
	bad[9].error = 1e-30;
	assert_int_equal(dart_store_sizing__make(&good, &plan, &error), 0);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		*error.text = '\0';
		assert_int_equal(dart_store_sizing__make(&bad[i], &plan, &error), errors[i]);
		assert_true(*error.text);
	}
}

/* Differential: keys with the copies that the written part asks for, in small steps. */
static double falling_by_steps(double load, uint32_t most)
{
	enum { STEPS = 200000 };
	double *writes = malloc((STEPS + 1) * sizeof(*writes)), found = 0;
	uint8_t *copies = malloc(STEPS);
	uint32_t i;

	assert_true(writes && copies);
	writes[0] = 0;
	for (i = 0; i < STEPS; i++) {
		copies[i] = dart_store_sizing__falling(1 - exp(-writes[i]));
		if (copies[i] > most)
			copies[i] = most;
		writes[i + 1] = writes[i] + load / STEPS * copies[i];
	}
	for (i = 0; i < STEPS; i++)
		found += 1 - pow(1 - exp(writes[i] - writes[STEPS]), copies[i]);
	free(copies);
	free(writes);
	return found / STEPS;
}

static void test_falling(void **state)
{
	static const double loads[] = { 0.01, 0.25, 0.5, 1, 2, 4 };
	static const uint32_t copies[] = { 1, 2, 4, 8 };
	double best, gain;
	size_t i, j;

	assert_int_equal(dart_store_sizing__falling(0), 8);
	assert_int_equal(dart_store_sizing__falling(0.64), 8);
	assert_int_equal(dart_store_sizing__falling(0.65), 4);
	assert_int_equal(dart_store_sizing__falling(0.8), 2);
	assert_int_equal(dart_store_sizing__falling(0.85), 1);
	assert_int_equal(dart_store_sizing__falling(1), 1);
	assert_true(dart_store_sizing__falling_average(0, 8) == 1);
	for (i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
		best = 0;
		for (j = 0; j < sizeof(copies) / sizeof(copies[0]); j++) {
			check_near(dart_store_sizing__falling_average(loads[i], copies[j]),
				   falling_by_steps(loads[i], copies[j]), 1e-4);
			best = fmax(best, dart_store_sizing__average(loads[i], copies[j]));
		}
		/* One copy cannot fall. */
		check_near(dart_store_sizing__falling_average(loads[i], 1),
			   dart_store_sizing__average(loads[i], 1), 1e-12);
		check_near(dart_store_sizing__falling_oldest(loads[i], 1),
			   dart_store_sizing__oldest(loads[i], 1), 1e-12);
		gain = dart_store_sizing__falling_average(loads[i], 8) - best;
		/* Nearly empty stores have all copies in both cases. */
		assert_true(gain > (loads[i] < 0.1 ? -1e-12 : 0));
		/* The trial that the idea comes from gained 7 points. */
		if (loads[i] == 0.5 || loads[i] == 1)
			assert_true(gain > 0.09);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a redundancy that falls finds what its formula says, and more than any fixed one",
		     test_falling),
		TEST("100 million flows have the success rates of sections 4 and 5.2 of the paper",
		     test_paper),
		TEST("average success and risks equal the integrals over all ages of a key",
		     test_averages),
		TEST("average success with two copies equals its closed form", test_closed_form),
		TEST("the chances of found, empty, ambiguous and wrong answers add up to 1 within their bounds",
		     test_bounds),
		TEST("chances of wrong and ambiguous answers are those of section 4 of the paper",
		     test_wrong_answers),
		TEST("load, redundancy, estimate and checksum width invert the success and error formulas",
		     test_inverses),
		TEST("the average of lines for each length of a slot equals a count over a store's slots",
		     test_lines),
		TEST("a planned store reaches the wanted success, and half of it does not",
		     test_plans),
		TEST("a plan that is contradictory or cannot be reached is refused with a reason",
		     test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
