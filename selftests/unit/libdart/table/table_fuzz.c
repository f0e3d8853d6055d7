// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hostile control regions: the test damages valid regions in every way that is known to
 * break parsers.  Nothing may crash (the sanitizers watch), every refusal comes with a
 * documented error and a sentence, and an accepted table can be published, planned for,
 * gathered and printed within its buffers.
 */
#include <errno.h>
#include <stdio.h>

#include <libdart/error.h>
#include <libdart/json.h>
#include <libdart/rdma/read_plan.h>
#include <libdart/table/value.h>

#include "sample.h"

#define SEED 20240310
#define MUTATIONS 20000
#define LANDING_MAX (1 << 20)
#define COPIES_MAX (1 << 16)

struct fuzz {
	uint64_t random;
	uint8_t *region;	/* of DART_CONTROL_LENGTH_MAX bytes */
	unsigned int accepted;
	unsigned int again;
	unsigned int protocol;
	unsigned int truncated;
	unsigned int refused;
	unsigned int too_large;	/* accepted, but not fetched or printed */
};

/* Bytes to be damaged, with room to grow. */
struct victim {
	uint8_t bytes[8192] __attribute__((aligned(8)));
	size_t length;
	bool damaged;		/* the checksum is wrong */
};

static uint32_t fuzz__below(struct fuzz *fuzz, uint32_t limit)
{
	return random__below(&fuzz->random, limit);
}

static void flip_bits(struct fuzz *fuzz, struct victim *victim)
{
	size_t bit = fuzz__below(fuzz, victim->length * 8);

	victim->bytes[bit / 8] ^= 1 << bit % 8;
}

static void overwrite_word(struct fuzz *fuzz, struct victim *victim)
{
	const uint32_t length = victim->length;
	const uint32_t values[] = {
		0, 1, UINT32_MAX, length, length - 1, length + 1,
		INT32_MAX, 1U << 31, 1 << 20, (1 << 20) + 1, 1 << 24,
		fuzz__below(fuzz, length), fuzz__below(fuzz, 64),
	};
	size_t at = 4 * fuzz__below(fuzz, length / 4);

	memcpy(victim->bytes + at, &values[fuzz__below(fuzz, sizeof(values) / sizeof(values[0]))],
	       4);
}

static void change_word_a_little(struct fuzz *fuzz, struct victim *victim)
{
	size_t at = 4 * fuzz__below(fuzz, victim->length / 4);
	uint32_t word;

	memcpy(&word, victim->bytes + at, 4);
	word += fuzz__below(fuzz, 2) ? 1 : -1;
	memcpy(victim->bytes + at, &word, 4);
}

/* A section begins or ends where another section does, or in the header. */
static void bend_section(struct fuzz *fuzz, struct victim *victim)
{
	struct dart_control_header *header = (void *)victim->bytes;
	struct dart_control_section *sections[] = {
		&header->memory_regions, &header->entries, &header->ranges,   &header->schemas,
		&header->fields,	 &header->strings, &header->cpu_sets,
	};
	struct dart_control_section *bent = sections[fuzz__below(fuzz, 7)];
	const struct dart_control_section *other = sections[fuzz__below(fuzz, 7)];

	switch (fuzz__below(fuzz, 4)) {
	case 0:
		bent->offset = other->offset;
		break;
	case 1:
		bent->count = other->count;
		break;
	case 2:
		bent->offset = 8 * fuzz__below(fuzz, sizeof(*header) / 8);
		break;
	case 3:
		*bent = *other;
		break;
	}
}

static void copy_within(struct fuzz *fuzz, struct victim *victim)
{
	size_t count = 4 * (1 + fuzz__below(fuzz, 16));
	size_t from = 4 * fuzz__below(fuzz, (victim->length - count) / 4);
	size_t to = 4 * fuzz__below(fuzz, (victim->length - count) / 4);

	memmove(victim->bytes + to, victim->bytes + from, count);
}

static void lengthen(struct fuzz *fuzz, struct victim *victim)
{
	struct dart_control_header *header = (void *)victim->bytes;
	size_t count = fuzz__below(fuzz, 1024);

	while (count-- && victim->length < sizeof(victim->bytes))
		victim->bytes[victim->length++] = fuzz__below(fuzz, 256);
	if (fuzz__below(fuzz, 2))
		header->table_length = victim->length;
}

static void shorten(struct fuzz *fuzz, struct victim *victim)
{
	struct dart_control_header *header = (void *)victim->bytes;

	victim->length = fuzz__below(fuzz, victim->length);
	if (fuzz__below(fuzz, 2) && victim->length >= sizeof(*header))
		header->table_length = victim->length;
}

/* Writes the valid checksum if the bytes contain a header and its table. */
static void victim__seal(struct victim *victim)
{
	const struct dart_control_header *header = (void *)victim->bytes;

	if (victim->length >= sizeof(*header) && header->table_length >= sizeof(*header) &&
	    header->table_length <= victim->length)
		sample__seal(victim->bytes, header->table_length);
}

static void victim__damage(struct fuzz *fuzz, struct victim *victim)
{
	static void (*const ways[])(struct fuzz *, struct victim *) = {
		flip_bits, flip_bits, overwrite_word, overwrite_word,
		change_word_a_little, bend_section, copy_within, lengthen,
	};
	struct dart_control_header *header = (void *)victim->bytes;
	const size_t whole = victim->length;
	uint8_t before[sizeof(victim->bytes)];
	uint32_t rounds = 1 + fuzz__below(fuzz, 3);

	memcpy(before, victim->bytes, whole);
	while (rounds--)
		ways[fuzz__below(fuzz, sizeof(ways) / sizeof(ways[0]))](fuzz, victim);
	if (!fuzz__below(fuzz, 16))
		shorten(fuzz, victim);

	/* Often repair the generations, which stop nearly all damage early. */
	if (fuzz__below(fuzz, 4) && victim->length >= sizeof(*header))
		header->generation_end = header->generation_begin;

	if (fuzz__below(fuzz, 4))
		victim__seal(victim);
	else
		victim->damaged = victim->length < whole || memcmp(before, victim->bytes, whole);
}

static void schema__exercise(const struct dart_schema *schema)
{
	json_t *json = dart_schema__to_json(schema);

	assert_non_null(json);
	json_decref(json);
}

static void entry__exercise(struct fuzz *fuzz, const struct dart_read_plan *plan,
			    const struct dart_table *table, uint32_t index, const uint8_t *landing)
{
	const struct dart_entry *entry = &table->entries[index];
	size_t size = dart_entry__size(entry), length;
	char *dump, *printed;
	uint8_t *copies;
	json_t *json;
	FILE *out;

	schema__exercise(entry->schema);
	if (size > COPIES_MAX) {
		fuzz->too_large++;
		return;
	}
	copies = malloc(size);
	assert_non_null(copies);
	dart_read_plan__gather(plan, index, landing, copies);
	json = dart_entry__to_json(entry, copies);
	assert_non_null(json);
	dump = dart_json__dumps(json, JSON_COMPACT);
	out = open_memstream(&printed, &length);
	assert_true(dump && out);
	dart_entry__print_json(entry, copies, out);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(printed, dump);
	free(printed);
	free(dump);
	json_decref(json);
	free(copies);
}

static void plan__exercise(struct fuzz *fuzz, const struct dart_table *table)
{
	struct dart_read_plan *plan;
	uint8_t *landing;
	size_t size, k;
	uint32_t i;
	int err;

	err = dart_read_plan__new(table, NULL, 0, &plan);
	if (err) {
		assert_int_equal(err, -EFBIG);
		fuzz->too_large++;
		return;
	}
	size = dart_read_plan__landing_size(plan);
	if (size > LANDING_MAX) {
		fuzz->too_large++;
		dart_read_plan__free(plan);
		return;
	}
	landing = malloc(size + !size);
	assert_non_null(landing);
	for (k = 0; k < size; k++)
		landing[k] = k * 37;
	for (i = 0; i < table->entry_count; i++)
		entry__exercise(fuzz, plan, table, i, landing);
	free(landing);
	dart_read_plan__free(plan);
}

static void table__exercise(struct fuzz *fuzz, const struct dart_table *table)
{
	struct dart_table *again;
	int length;

	length = sample__publish(table, fuzz->region, DART_CONTROL_LENGTH_MAX);
	assert_true(length > 0);
	assert_int_equal(dart_table__same(table, fuzz->region), 0);
	again = sample__decode(fuzz->region, length);
	sample__assert_same(table, again);
	dart_table__free(again);
	plan__exercise(fuzz, table);
}

static void expect_sentence(const char *reason)
{
	assert_string_not_equal(reason, "");
	for (; *reason; reason++)
		assert_true(*reason >= 0x20 && *reason <= 0x7e);
}

/* Decodes a copy at any alignment that ends at the end of its memory. */
static void victim__decode(struct fuzz *fuzz, const struct victim *victim)
{
	size_t shift = fuzz__below(fuzz, 8), needed = 0;
	uint8_t *bytes = malloc(victim->length + shift + 1);
	struct dart_table *table = NULL;
	struct dart_error error;
	int err;

	assert_non_null(bytes);
	bytes = realloc(bytes, victim->length + shift + !victim->length);
	assert_non_null(bytes);
	memcpy(bytes + shift, victim->bytes, victim->length);
	memset(&error, 'x', sizeof(error));
	err = dart_table__decode(bytes + shift, victim->length, &table, &needed, &error);
	free(bytes);

	if (!err) {
		assert_false(victim->damaged);
		assert_string_equal(error.text, "");
		fuzz->accepted++;
		table__exercise(fuzz, table);
		dart_table__free(table);
		return;
	}
	assert_null(table);
	expect_sentence(error.text);
	switch (err) {
	case -EAGAIN:
		fuzz->again++;
		break;
	case -EPROTONOSUPPORT:
		fuzz->protocol++;
		break;
	case -EMSGSIZE:
		assert_in_range(needed, victim->length + 1, DART_CONTROL_LENGTH_MAX);
		fuzz->truncated++;
		break;
	default:
		assert_int_equal(err, -EBADMSG);
		fuzz->refused++;
	}
}

static void victim__init(struct victim *victim, struct sample *sample, uint32_t variant)
{
	uint8_t *bytes = NULL;

	switch (variant) {
	case 1:
		sample->table.exposure = DART_CONTROL_EXPOSURE_PAGE;
		sample->table.entry_count = 1;
		sample->table.memory_region_count = 1;
		break;
	case 2:
		sample->table.entry_count = 0;
		sample->table.memory_region_count = 0;
		break;
	case 3:
		bytes = sample__appended_bytes(&sample->table, &victim->length);
		break;
	}
	if (!bytes)
		bytes = sample__bytes(&sample->table, &victim->length);
	assert_in_range(victim->length, 0, sizeof(victim->bytes) / 2);
	memcpy(victim->bytes, bytes, victim->length);
	free(bytes);
}

static void fuzz__report(const struct fuzz *fuzz)
{
	printf("# %u accepted (%u times too large to fetch or print)\n",
	       fuzz->accepted, fuzz->too_large);
	printf("# %u refused: %u -EBADMSG, %u -EAGAIN, %u -EMSGSIZE, %u -EPROTONOSUPPORT\n",
	       fuzz->refused + fuzz->again + fuzz->truncated + fuzz->protocol,
	       fuzz->refused, fuzz->again, fuzz->truncated, fuzz->protocol);
}

static void test_damaged(void **state)
{
	struct fuzz fuzz = {
		.random = SEED,
		.region = malloc(DART_CONTROL_LENGTH_MAX),
	};
	static struct victim whole[4], victim;
	uint32_t i;

	assert_non_null(fuzz.region);
	for (i = 0; i < 4; i++) {
		struct sample sample;

		sample__init(&sample);
		victim__init(&whole[i], &sample, i);
		sample__release(&sample);
	}

	printf("# %u mutations, seed %u\n", MUTATIONS, SEED);
	for (i = 0; i < MUTATIONS; i++) {
		/* Mostly the table that uses the whole format. */
		victim = whole[i % 8 > 3 ? 0 : i % 8];
		victim__damage(&fuzz, &victim);
		victim__decode(&fuzz, &victim);
	}
	fuzz__report(&fuzz);
	assert_true(fuzz.accepted > MUTATIONS / 100);
	free(fuzz.region);
}

static void test_flipped_bits(void **state)
{
	struct fuzz fuzz = { .random = SEED };
	static struct victim victim;
	struct sample sample;
	size_t bit, bits = 0;
	uint32_t variant;

	sample__init(&sample);
	for (variant = 0; variant <= 3; variant += 3) {
		victim__init(&victim, &sample, variant);
		victim.damaged = true;
		for (bit = 0; bit < victim.length * 8; bit++) {
			victim.bytes[bit / 8] ^= 1 << bit % 8;
			victim__decode(&fuzz, &victim);
			victim.bytes[bit / 8] ^= 1 << bit % 8;
		}
		bits += bit;
	}
	printf("# %zu single bits\n", bits);
	fuzz__report(&fuzz);
	assert_int_equal(fuzz.accepted, 0);
	sample__release(&sample);
}

/* A valid checksum lets the bytes through to the rules. */
static void test_sealed_bits(void **state)
{
	struct fuzz fuzz = {
		.random = SEED,
		.region = malloc(DART_CONTROL_LENGTH_MAX),
	};
	static struct victim whole, victim;
	struct sample sample;
	size_t bit, bits = 0;
	uint32_t variant;

	assert_non_null(fuzz.region);
	sample__init(&sample);
	for (variant = 0; variant <= 3; variant += 3) {
		victim__init(&whole, &sample, variant);
		for (bit = 0; bit < whole.length * 8; bit++) {
			victim = whole;
			victim.bytes[bit / 8] ^= 1 << bit % 8;
			victim__seal(&victim);
			victim__decode(&fuzz, &victim);
		}
		bits += bit;
	}
	printf("# %zu single bits, sealed\n", bits);
	fuzz__report(&fuzz);
	free(fuzz.region);
	sample__release(&sample);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("damaged tables never crash the decoder, and each one accepted can be published, planned and printed",
		     test_damaged),
		TEST("a table with any single bit flipped is refused", test_flipped_bits),
		TEST("a table with any single bit flipped and a valid checksum never crashes the decoder",
		     test_sealed_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
