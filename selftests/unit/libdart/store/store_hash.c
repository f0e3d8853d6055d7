// SPDX-License-Identifier: GPL-2.0-only
/* Hash functions of a store: polynomials, places, independence of copies. */
#include <libdart/store/store_hash.h>

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/report/flows.h>
#include <libdart/random.h>

#include "selftests/unit/unit.h"

static const uint32_t polynomials[] = {
	DART_STORE_SLOT_0,     DART_STORE_SLOT_1,     DART_STORE_SLOT_2, DART_STORE_SLOT_3,
	DART_STORE_SLOT_4,     DART_STORE_SLOT_5,     DART_STORE_SLOT_6, DART_STORE_SLOT_7,
	DART_STORE_CHECKSUM_0, DART_STORE_CHECKSUM_1, DART_STORE_SHARE,
};

#define POLYNOMIALS (sizeof(polynomials) / sizeof(polynomials[0]))

static uint32_t multiply(uint32_t a, uint32_t b, uint32_t polynomial)
{
	uint32_t product = 0;
	int bit;

	for (bit = 31; bit >= 0; bit--) {
		product = product << 1 ^ (product & UINT32_C(1) << 31 ? polynomial : 0);
		if (b & UINT32_C(1) << bit)
			product ^= a;
	}
	return product;
}

/* x^exponent modulo the polynomial. */
static uint32_t power_of_x(uint32_t exponent, uint32_t polynomial)
{
	uint32_t power = 1, square = 2;

	for (; exponent; exponent >>= 1) {
		if (exponent & 1)
			power = multiply(power, square, polynomial);
		square = multiply(square, square, polynomial);
	}
	return power;
}

/* The order of x is 2^32 - 1, the largest possible, and no factor of it. */
static void test_primitive(void **state)
{
	static const uint32_t primes[] = { 3, 5, 17, 257, 65537 };
	size_t i, prime;

	for (i = 0; i < POLYNOMIALS; i++) {
		assert_int_equal(power_of_x(UINT32_MAX, polynomials[i]), 1);
		for (prime = 0; prime < 5; prime++)
			assert_int_not_equal(power_of_x(UINT32_MAX / primes[prime], polynomials[i]),
					     1);
	}
}

static void test_different(void **state)
{
	size_t i, j;

	for (i = 0; i < POLYNOMIALS; i++)
		for (j = 0; j < i; j++)
			assert_int_not_equal(polynomials[i], polynomials[j]);
}

/* Check values of CRC-32 and CRC-32C from the catalogues of CRCs. */
static void test_known_crcs(void **state)
{
	assert_int_equal(dart_store__crc(0x04c11db7, "123456789", 9), 0xcbf43926);
	assert_int_equal(dart_store__crc(0x1edc6f41, "123456789", 9), 0xe3069283);
}

static uint64_t checksum_by_the_book(const void *key, size_t length, uint32_t bits)
{
	uint64_t first = dart_store__crc(DART_STORE_CHECKSUM_0, key, length);
	uint64_t sum = first;

	if (bits == 64)
		sum = first << 32 | dart_store__crc(DART_STORE_CHECKSUM_1, key, length);
	else
		sum &= (UINT64_C(1) << bits) - 1;
	return sum ? sum : 1;
}

static void check_place(const struct dart_store_hash *hash,
			const struct dart_store_geometry *geometry,
			const uint8_t *key, size_t length)
{
	struct dart_store_place place;
	uint32_t copy;

	dart_store_hash__place(hash, key, length, &place);
	for (copy = 0; copy < geometry->redundancy; copy++)
		assert_int_equal(place.slots[copy],
				 dart_store__crc(polynomials[copy], key, length) % geometry->slots);
	assert_int_equal(place.checksum,
			 checksum_by_the_book(key, length, geometry->checksum_bits));
	assert_int_equal(place.share, dart_store__crc(DART_STORE_SHARE, key, length) % 1024);
}

static void test_places(void **state)
{
	static const uint64_t slots[] = { 1, 1 << 20, UINT64_C(1) << 32 };
	struct dart_random random = dart_random__of(1);
	struct dart_store_geometry geometry = { .value_length = 20 };
	struct dart_store_hash *hash;
	uint8_t key[DART_STORE_KEY_MAX];
	size_t length, i;

	for (geometry.redundancy = 1; geometry.redundancy <= 8; geometry.redundancy++) {
		for (geometry.checksum_bits = 8; geometry.checksum_bits <= 64;
		     geometry.checksum_bits *= 2) {
			geometry.slots = slots[geometry.redundancy % 3];
			assert_int_equal(dart_store_hash__new(&geometry, &hash), 0);
			for (length = 1; length <= sizeof(key); length++) {
				for (i = 0; i < length; i++)
					key[i] = dart_random__next(&random);
				check_place(hash, &geometry, key, length);
			}
			dart_store_hash__free(hash);
		}
	}
}

static void test_zero(void **state)
{
	const struct dart_store_geometry geometry = {
		.slots = 1, .value_length = 4, .checksum_bits = 8,
		.redundancy = 1,
	};
	struct dart_store_hash *hash;
	struct dart_store_place place;
	uint32_t key, zeros = 0;

	assert_int_equal(dart_store_hash__new(&geometry, &hash), 0);
	for (key = 0; key < 4096; key++) {
		if (dart_store__crc(DART_STORE_CHECKSUM_0, &key, 4) & 0xff)
			continue;
		zeros++;
		dart_store_hash__place(hash, &key, 4, &place);
		assert_int_equal(place.checksum, 1);
	}
	assert_true(zeros);
	dart_store_hash__free(hash);
}

/* Simulations use such slot counts. */
static void test_even(void **state)
{
	const struct dart_store_geometry geometry = {
		.slots = 100, .value_length = 4, .checksum_bits = 32,
		.redundancy = 1,
	};
	uint32_t key, counts[100] = { 0 };
	struct dart_store_hash *hash;
	struct dart_store_place place;

	assert_int_equal(dart_store_hash__new(&geometry, &hash), 0);
	for (key = 0; key < 1000000; key++) {
		dart_store_hash__place(hash, &key, 4, &place);
		assert_in_range(place.slots[0], 0, 99);
		counts[place.slots[0]]++;
	}
	for (key = 0; key < 100; key++)
		assert_in_range(counts[key], 9500, 10500);
	dart_store_hash__free(hash);
}

static void test_refused(void **state)
{
	static const struct dart_store_geometry good = {
		.slots = 8, .value_length = 20, .checksum_bits = 32,
		.redundancy = 2,
	};
	struct dart_store_geometry bad[] = {
		good, good, good, good, good, good, good,
	};
	struct dart_store_hash *hash;
	size_t i;

	bad[0].slots = 0;
	bad[1].slots = (UINT64_C(1) << 32) + 1;
	bad[2].value_length = 3;
	bad[3].value_length = 65;
	bad[4].checksum_bits = 24;
	bad[5].redundancy = 0;
	bad[6].redundancy = 9;
	assert_int_equal(dart_store_geometry__check(&good), 0);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(dart_store_hash__new(&bad[i], &hash), -EINVAL);
}

/* ---- copies are independent */

#define KEYS		(1 << 17)
#define SLOTS_LOG2	10
#define SLOTS		(1 << SLOTS_LOG2)

struct crowd {
	uint16_t slots[KEYS][DART_STORE_REDUNDANCY_MAX];
	uint32_t counts[SLOTS * SLOTS];
};

/* The number of pairs of keys that collide in copy @a and in copy @b. */
static double count_pairs(struct crowd *crowd, uint32_t a, uint32_t b)
{
	const uint32_t buckets = a == b ? SLOTS : SLOTS * SLOTS;
	double pairs = 0;
	uint32_t i;

	memset(crowd->counts, 0, buckets * sizeof(crowd->counts[0]));
	for (i = 0; i < KEYS; i++) {
		uint32_t bucket = crowd->slots[i][a];

		if (a != b)
			bucket = bucket * SLOTS + crowd->slots[i][b];
		pairs += crowd->counts[bucket]++;
	}
	return pairs;
}

/*
 * One in SLOTS of the pairs of keys that collide in copy a also collides in copy b:
 * some 8000 of 8 million.  Five standard deviations (the square root) are allowed.
 */
static void check_independence(struct crowd *crowd)
{
	const double all = 0.5 * KEYS * (KEYS - 1);
	uint32_t a, b;

	for (a = 0; a < DART_STORE_REDUNDANCY_MAX; a++) {
		double pairs = count_pairs(crowd, a, a);

		assert_true(fabs(pairs - all / SLOTS) < 5 * sqrt(all / SLOTS));
		for (b = 0; b < a; b++) {
			double both = count_pairs(crowd, a, b);
			double expected = pairs / SLOTS;

			if (fabs(both - expected) > 5 * sqrt(expected))
				fail_msg("copies %u and %u: %.0f pairs collide in both, not %.0f",
					 a, b, both, expected);
		}
	}
}

/* Flows of a fat tree of @k ports, or random flows if @k is 0. */
static struct dart_flows *new_flows(uint32_t k)
{
	const struct dart_flows_options options = {
		.kind = k ? DART_FLOWS_FAT_TREE : DART_FLOWS_UNIFORM,
		.k = k, .count = KEYS, .seed = 1,
	};
	struct dart_flows *flows;

	assert_int_equal(dart_flows__new(&options, &flows), 0);
	return flows;
}

static void fill_crowd(struct crowd *crowd, uint32_t k)
{
	const struct dart_store_geometry geometry = {
		.slots = SLOTS, .value_length = 20, .checksum_bits = 32,
		.redundancy = DART_STORE_REDUNDANCY_MAX,
	};
	struct dart_flows *flows = new_flows(k);
	struct dart_store_hash *hash;
	struct dart_store_place place;
	struct dart_flow flow;
	uint32_t i, copy;

	assert_int_equal(dart_store_hash__new(&geometry, &hash), 0);
	for (i = 0; i < KEYS; i++) {
		dart_flows__get(flows, i, &flow);
		dart_store_hash__place(hash, flow.key, sizeof(flow.key), &place);
		for (copy = 0; copy < DART_STORE_REDUNDANCY_MAX; copy++)
			crowd->slots[i][copy] = place.slots[copy];
	}
	dart_store_hash__free(hash);
	dart_flows__free(flows);
}

static void test_random_keys(void **state)
{
	fill_crowd(*state, 0);
	check_independence(*state);
}

static void test_fat_tree_flows(void **state)
{
	static const uint32_t sizes[] = { 8, 16, 24, 32, 40, 48 };
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		fill_crowd(*state, sizes[i]);
		check_independence(*state);
	}
}

/* The reason for different polynomials; shows that the tests above can fail. */
static void test_one_polynomial(void **state)
{
	struct crowd *crowd = *state;
	struct dart_flows *flows = new_flows(8);
	uint8_t key[1 + DART_FLOW_KEY_LENGTH];
	struct dart_flow flow;
	uint32_t i;

	for (i = 0; i < KEYS; i++) {
		dart_flows__get(flows, i, &flow);
		memcpy(key + 1, flow.key, sizeof(flow.key));
		for (key[0] = 0; key[0] < 2; key[0]++)
			crowd->slots[i][key[0]] =
				dart_store__crc(DART_STORE_SLOT_0, key, sizeof(key)) % SLOTS;
	}
	dart_flows__free(flows);
	assert_true(count_pairs(crowd, 0, 1) == count_pairs(crowd, 0, 0));
}

static int setup(void **state)
{
	*state = malloc(sizeof(struct crowd));
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("the polynomials of all hash functions are primitive", test_primitive),
		TEST("no two hash functions have the same polynomial", test_different),
		TEST("CRCs with the polynomials of Ethernet and iSCSI have their published check values",
		     test_known_crcs),
		TEST("slots, checksum and share of a key are plain CRCs of it, for every key length and geometry",
		     test_places),
		TEST("a checksum that would be 0 is 1", test_zero),
		TEST("a store of 100 slots, not a power of two, is filled evenly", test_even),
		TEST("a geometry with any member out of range is refused", test_refused),
		TEST("random keys that collide in one copy collide in another no more often than by chance",
		     test_random_keys),
		TEST("fat-tree flows that collide in one copy collide in another no more often than by chance",
		     test_fat_tree_flows),
		TEST("with one polynomial for two copies, keys that collide in one always collide in the other",
		     test_one_polynomial),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
