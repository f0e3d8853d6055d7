// SPDX-License-Identifier: GPL-2.0-only
/* The journal of flows: cut at any byte, damaged, killed between two writes, written anew. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "selftests/unit/unit.h"
#include "tools/flows/journal/journal.h"

#define RECORDS 20

static char directory[] = "/tmp/flows_journal.XXXXXX";
static char path[64], aside[80];

struct told {
	struct journal_record records[4 * RECORDS];
	size_t count;
};

static void tell(void *subject, const struct journal_record *record)
{
	struct told *told = subject;

	assert_true(told->count < 4 * RECORDS);
	told->records[told->count++] = *record;
}

/* Every other one of IPv6, in @with_ipv6. */
static bool with_ipv6;

static struct journal_record record_of(size_t number)
{
	const address_t upper = with_ipv6 && number % 2 ? (address_t)0x20010db8a5a5ULL << 80 |
								  (address_t)0xfeedc0de << 32 :
							  0;

	return (struct journal_record){
		.operation = JOURNAL_BEGIN + number % 5,
		.protocol = 17,
		.inside = upper + 0x0a000000 + number,
		.inside_port = 4000 + number,
		.outside = 2 * upper + 0xcb007101,
		.outside_port = 2000 + number,
		.remote = 3 * upper + 0xc6336401,
		.remote_port = 53,
		.time_s = 1ULL << 33 | number,
	};
}

static bool is_record_of(const struct journal_record *record, size_t number)
{
	const struct journal_record wanted = record_of(number);

	return record->operation == wanted.operation && record->protocol == wanted.protocol &&
	       record->inside == wanted.inside && record->inside_port == wanted.inside_port &&
	       record->outside == wanted.outside && record->outside_port == wanted.outside_port &&
	       record->remote == wanted.remote && record->remote_port == wanted.remote_port &&
	       record->time_s == wanted.time_s;
}

/* Opens the journal, and returns what it told. */
static struct journal_found open_journal(struct journal **journal, struct told *told)
{
	struct journal_found found;
	struct dart_error error;

	told->count = 0;
	if (journal__open(path, tell, told, journal, &found, &error))
		fail_msg("%s", error.text);
	return found;
}

static int next_told(void *subject, struct journal_record *record)
{
	struct told *told = subject;

	if (!told->count)
		return 0;
	*record = told->records[--told->count];
	return 1;
}

static void compact(struct journal *journal, struct told *told)
{
	const struct journal_source source = { next_told, told };
	struct dart_error error;

	if (journal__compact(journal, &source, &error))
		fail_msg("%s", error.text);
}

/* A fresh journal of the records 0 to @count - 1. */
static void make(size_t count)
{
	struct journal_record record;
	struct journal *journal;
	struct told told;
	struct dart_error error;
	size_t i;

	unlink(path);
	open_journal(&journal, &told);
	compact(journal, &told);
	for (i = 0; i < count; i++) {
		record = record_of(i);
		journal__add(journal, &record);
		assert_int_equal(journal__write(journal, &error), 0);
	}
	assert_int_equal(journal__length(journal), count);
	journal__close(journal);
}

static void test_told_in_their_order(void **state)
{
	struct journal *journal;
	struct told told;
	size_t i;

	make(RECORDS);
	assert_int_equal(open_journal(&journal, &told).damaged, 0);
	assert_int_equal(told.count, RECORDS);
	for (i = 0; i < RECORDS; i++)
		assert_true(is_record_of(&told.records[i], i));
	journal__close(journal);
}

/* A journal that a process wrote before connections were closed there, and a record of later. */
static void test_other_ages(void **state)
{
	static const uint8_t bytes[] = {
		'D',  'A',  'R',  'T',	'F',  'L',  'O',  'W',	1,    0,    0,	  0,	0,    0,
		0,    0,    0xba, 0x38, 0xcf, 0xfb, 0x01, 0x11, 0xa0, 0x0f, 0xd0, 0x07, 0x35, 0x00,
		0x00, 0x00, 0x00, 0x0a, 0x01, 0x71, 0x00, 0xcb, 0x01, 0x64, 0x33, 0xc6, 0x00, 0x00,
		0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x0f, 0x96, 0xcb, 0x52, 0x02, 0x11, 0xa1, 0x0f,
		0xd1, 0x07, 0x35, 0x00, 0x01, 0x00, 0x00, 0x0a, 0x01, 0x71, 0x00, 0xcb, 0x01, 0x64,
		0x33, 0xc6, 0x01, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x62, 0xbb, 0x1e, 0x72,
		0x06, 0x11, 0xa2, 0x0f, 0xd2, 0x07, 0x35, 0x00, 0x02, 0x00, 0x00, 0x0a, 0x01, 0x71,
		0x00, 0xcb, 0x01, 0x64, 0x33, 0xc6, 0x02, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00,
	};
	struct journal *journal;
	struct told told;
	FILE *file;

	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, sizeof(bytes), file), sizeof(bytes));
	fclose(file);
	assert_int_equal(open_journal(&journal, &told).damaged, 1);
	assert_int_equal(told.count, 2);
	assert_true(is_record_of(&told.records[0], 0));
	assert_true(is_record_of(&told.records[1], 1));
	journal__close(journal);
}

/* As a process leaves it that is killed while it writes the last record. */
static void test_cut_anywhere(void **state)
{
	struct journal_found found;
	struct journal *journal;
	struct told told;
	size_t length, whole, i;

	for (length = JOURNAL_HEADER_LENGTH; length <= 32 * 5; length++) {
		make(5);
		assert_int_equal(truncate(path, length), 0);
		found = open_journal(&journal, &told);
		whole = (length - JOURNAL_HEADER_LENGTH) / JOURNAL_RECORD_LENGTH;
		assert_int_equal(told.count, whole);
		assert_int_equal(found.damaged,
				 (length - JOURNAL_HEADER_LENGTH) % JOURNAL_RECORD_LENGTH != 0);
		for (i = 0; i < whole; i++)
			assert_true(is_record_of(&told.records[i], i));
		/* The next process begins with whole records again. */
		compact(journal, &told);
		journal__close(journal);
		found = open_journal(&journal, &told);
		assert_int_equal(found.damaged, 0);
		assert_int_equal(told.count, whole);
		journal__close(journal);
	}
}

static void test_each_byte_damaged(void **state)
{
	struct journal_found found;
	struct journal *journal;
	struct told told;
	size_t at, i, number;
	FILE *file;
	int byte;

	for (at = JOURNAL_HEADER_LENGTH; at < JOURNAL_HEADER_LENGTH + 3 * JOURNAL_RECORD_LENGTH;
	     at++) {
		make(3);
		file = fopen(path, "r+");
		assert_non_null(file);
		fseek(file, at, SEEK_SET);
		byte = fgetc(file);
		fseek(file, at, SEEK_SET);
		fputc(byte ^ 0x40, file);
		fclose(file);
		found = open_journal(&journal, &told);
		assert_int_equal(found.damaged, 1);
		assert_int_equal(told.count, 2);
		for (i = 0, number = 0; i < 2; i++, number++) {
			if (number == (at - JOURNAL_HEADER_LENGTH) / JOURNAL_RECORD_LENGTH)
				number++;
			assert_true(is_record_of(&told.records[i], number));
		}
		journal__close(journal);
	}
}

static void test_other_files_are_set_aside(void **state)
{
	static const char *const texts[] = { "", "DARTFLOW", "this is not a journal of flows" };
	struct journal *journal;
	struct told told;
	FILE *file;
	size_t i;

	for (i = 0; i < 3; i++) {
		file = fopen(path, "w");
		assert_non_null(file);
		fputs(texts[i], file);
		fclose(file);
		assert_true(open_journal(&journal, &told).is_set_aside);
		assert_int_equal(told.count, 0);
		assert_int_equal(access(aside, F_OK), 0);
		compact(journal, &told);
		journal__close(journal);
		assert_false(open_journal(&journal, &told).is_set_aside);
		journal__close(journal);
	}
}

static void test_one_process_at_a_time(void **state)
{
	struct journal *journal, *other;
	struct journal_found found;
	struct dart_error error;
	struct told told;

	make(1);
	open_journal(&journal, &told);
	assert_int_equal(journal__open(path, tell, &told, &other, &found, &error), -EBUSY);
	assert_non_null(strstr(error.text, "is in use by another dart-flows"));
	journal__close(journal);
	open_journal(&journal, &told);
	journal__close(journal);
}

/* A process that is killed while it writes the file anew leaves the old one, and half a new one. */
static void test_killed_while_written_anew(void **state)
{
	struct journal *journal;
	struct told told;
	char fresh[80];
	FILE *file;

	make(RECORDS);
	snprintf(fresh, sizeof(fresh), "%s.new", path);
	file = fopen(fresh, "w");
	assert_non_null(file);
	fputs("DARTFL", file);
	fclose(file);
	open_journal(&journal, &told);
	assert_int_equal(told.count, RECORDS);
	compact(journal, &told);
	assert_int_equal(journal__length(journal), RECORDS);
	assert_int_equal(access(fresh, F_OK), -1);
	journal__close(journal);
}

/* Files of this process can be so long. */
static void file_size_limit(rlim_t bytes)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void test_full_disk(void **state)
{
	struct journal_record record = record_of(0);
	struct journal *journal;
	struct dart_error error;
	struct stat before, after;
	struct told told;
	int i;

	make(1);
	open_journal(&journal, &told);
	compact(journal, &told);
	for (i = 0; i < 40; i++)
		journal__add(journal, &record);
	assert_int_equal(stat(path, &before), 0);
	file_size_limit(before.st_size + 100);
	assert_int_equal(journal__write(journal, &error), -EFBIG);
	assert_int_equal(stat(path, &after), 0);
	assert_int_equal(after.st_size, before.st_size);
	file_size_limit(RLIM_INFINITY);
	assert_int_equal(journal__write(journal, &error), 0);
	journal__close(journal);
	assert_int_equal(open_journal(&journal, &told).damaged, 0);
	assert_int_equal(told.count, 41);
	journal__close(journal);
}

static void test_long_journals(void **state)
{
	struct journal_record record = record_of(0);
	struct journal *journal;
	struct dart_error error;
	struct told told;
	int i;

	make(0);
	open_journal(&journal, &told);
	compact(journal, &told);
	for (i = 0; i < 70000; i++)
		journal__add(journal, &record);
	assert_int_equal(journal__write(journal, &error), 0);
	assert_true(journal__is_long(journal, 10));
	assert_false(journal__is_long(journal, 10000));
	compact(journal, &told);
	assert_int_equal(journal__length(journal), 0);
	assert_false(journal__is_long(journal, 0));
	journal__close(journal);
}

static int set_up(void **state)
{
	signal(SIGXFSZ, SIG_IGN);
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof(path), "%s/journal", directory);
	snprintf(aside, sizeof(aside), "%s.damaged", path);
	return 0;
}

static int tear_down(void **state)
{
	char lock[80];

	snprintf(lock, sizeof(lock), "%s.lock", path);
	unlink(path);
	unlink(aside);
	unlink(lock);
	return rmdir(directory);
}

/* Each record of IPv6 has 96 bytes: a cut or damaged one costs itself, and makes no other flow. */
static void test_addresses_of_ipv6(void **state)
{
	const size_t wide = 3 * JOURNAL_RECORD_LENGTH, both = wide + JOURNAL_RECORD_LENGTH;
	struct journal_found found;
	struct journal *journal;
	uint8_t bytes[4096];
	struct told told;
	size_t length, at, number, i;
	FILE *file;

	with_ipv6 = true;
	make(RECORDS);
	assert_int_equal(open_journal(&journal, &told).damaged, 0);
	assert_int_equal(told.count, RECORDS);
	for (i = 0; i < RECORDS; i++)
		assert_true(is_record_of(&told.records[i], i));
	compact(journal, &told);
	assert_int_equal(journal__length(journal), RECORDS);
	journal__close(journal);
	assert_int_equal(open_journal(&journal, &told).records, RECORDS);
	journal__close(journal);

	make(4);
	file = fopen(path, "r");
	length = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	assert_int_equal(length, JOURNAL_HEADER_LENGTH + 2 * both);
	for (at = JOURNAL_HEADER_LENGTH; at < length; at++) {
		bytes[at] ^= 0x11;
		file = fopen(path, "w");
		fwrite(bytes, 1, length, file);
		fclose(file);
		bytes[at] ^= 0x11;
		number = (at - JOURNAL_HEADER_LENGTH) / both * 2 +
			 ((at - JOURNAL_HEADER_LENGTH) % both >= JOURNAL_RECORD_LENGTH);
		found = open_journal(&journal, &told);
		journal__close(journal);
		assert_true(found.damaged > 0);
		assert_int_equal(told.count, 3);
		for (i = 0; i < told.count; i++)
			assert_true(is_record_of(&told.records[i], i + (i >= number)));
	}
	for (at = JOURNAL_HEADER_LENGTH; at < length; at++) {
		file = fopen(path, "w");
		fwrite(bytes, 1, at, file);
		fclose(file);
		open_journal(&journal, &told);
		journal__close(journal);
		number = (at - JOURNAL_HEADER_LENGTH) / both * 2 +
			 ((at - JOURNAL_HEADER_LENGTH) % both >= JOURNAL_RECORD_LENGTH);
		assert_int_equal(told.count, number);
		for (i = 0; i < told.count; i++)
			assert_true(is_record_of(&told.records[i], i));
	}
	with_ipv6 = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("records are told in their order", test_told_in_their_order),
		TEST("a journal of an earlier process is read, and a record of a later one is not",
		     test_other_ages),
		TEST("a journal that ends anywhere has its whole records", test_cut_anywhere),
		TEST("a damaged byte costs the record that it is in", test_each_byte_damaged),
		TEST("so do the three of a flow of IPv6", test_addresses_of_ipv6),
		TEST("a file that is not a journal is set aside", test_other_files_are_set_aside),
		TEST("one process has the journal", test_one_process_at_a_time),
		TEST("the old journal is there until the new one is whole",
		     test_killed_while_written_anew),
		TEST("on a full disk all records are written later, or none is", test_full_disk),
		TEST("a journal of ended flows is long", test_long_journals),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
