// SPDX-License-Identifier: GPL-2.0-only
/* The records of a request table-change: files of all kinds and lengths. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <dart/registration.h>

#include "agent/tea/entry_batch.h"
#include "selftests/unit/unit.h"

static const struct dart_tea_geometry geometry = {
	.rows_log2 = 4,
	.cells = 8,
	.key_length = 3,
	.value_length = 2,
	.packet_length = 1514,
};

static struct entry_batch batch;
static struct dart_error error;

static int file_of(const void *bytes, size_t length)
{
	int fd = memfd_create("batch", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, length), length);
	return fd;
}

/* Reads a batch of these bytes. */
static int read_bytes(const void *bytes, size_t length, size_t count)
{
	int fd = file_of(bytes, length);
	int ret = entry_batch__read(&batch, &geometry, fd, count, &error);

	close(fd);
	return ret;
}

static void assert_refused(int ret, int expected, const char *text)
{
	assert_int_equal(ret, expected);
	if (!strstr(error.text, text))
		fail_msg("%s", error.text);
}

static void test_records(void **state)
{
	static const char bytes[] = "\1abcde\2fghij\1klmnoXX";
	struct batched_change change;

	assert_int_equal(read_bytes(bytes, sizeof(bytes) - 1, 3), 0);
	assert_int_equal(batch.count, 3);
	change = entry_batch__at(&batch, 0);
	assert_int_equal(change.operation, DART_REGISTRATION_TABLE_INSERT);
	assert_memory_equal(change.key, "abc", 3);
	assert_memory_equal(change.value, "de", 2);
	change = entry_batch__at(&batch, 1);
	assert_int_equal(change.operation, DART_REGISTRATION_TABLE_REMOVE);
	assert_memory_equal(change.key, "fgh", 3);
	change = entry_batch__at(&batch, 2);
	assert_memory_equal(change.key, "klm", 3);
	assert_memory_equal(change.value, "no", 2);
	entry_batch__close(&batch);
}

static void test_position(void **state)
{
	int fd = file_of("\1abcde", 6);

	/* The descriptor is at the end of the file. */
	assert_int_equal(entry_batch__read(&batch, &geometry, fd, 1, &error), 0);
	assert_memory_equal(entry_batch__at(&batch, 0).key, "abc", 3);
	entry_batch__close(&batch);
	assert_int_equal(lseek(fd, 0, SEEK_CUR), 6);
	close(fd);
}

static void test_lengths(void **state)
{
	static const char bytes[] = "\1abcde\1abcde\1abcde";
	size_t length;

	for (length = 0; length < 18; length++)
		assert_refused(read_bytes(bytes, length, 3), -EINVAL, "but 'count' means 18");
	assert_int_equal(read_bytes(bytes, 18, 3), 0);
	entry_batch__close(&batch);
}

static void test_operations(void **state)
{
	char bytes[] = "\1abcde\2abcde";
	int operation;

	for (operation = 0; operation < 256; operation++) {
		bytes[6] = operation;
		if (operation == 1 || operation == 2) {
			assert_int_equal(read_bytes(bytes, 12, 2), 0);
			entry_batch__close(&batch);
			continue;
		}
		assert_refused(read_bytes(bytes, 12, 2), -EINVAL,
			       "change 1 has an unknown operation");
	}
	/* A key outside the batch. */
	bytes[6] = 9;
	assert_int_equal(read_bytes(bytes, 12, 1), 0);
	entry_batch__close(&batch);
}

static void test_counts(void **state)
{
	static const size_t counts[] = { 0, DART_REGISTRATION_TABLE_CHANGES_MAX + 1, 1u << 31,
					 SIZE_MAX, SIZE_MAX / 6 + 1 };
	char *bytes = test_malloc(6 * DART_REGISTRATION_TABLE_CHANGES_MAX);
	size_t i;

	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		assert_refused(read_bytes("\1abcde", 6, counts[i]), -EINVAL, "1 to 2048 changes");
	memset(bytes, DART_REGISTRATION_TABLE_REMOVE, 6 * DART_REGISTRATION_TABLE_CHANGES_MAX);
	assert_int_equal(read_bytes(bytes, 6 * DART_REGISTRATION_TABLE_CHANGES_MAX,
				    DART_REGISTRATION_TABLE_CHANGES_MAX),
			 0);
	entry_batch__close(&batch);
	test_free(bytes);
}

static void test_files(void **state)
{
	int ends[2], fd;

	fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	assert_refused(entry_batch__read(&batch, &geometry, fd, 1, &error),
		       -EINVAL, "regular file");
	close(fd);
	assert_int_equal(pipe(ends), 0);
	assert_refused(entry_batch__read(&batch, &geometry, ends[0], 1, &error),
		       -EINVAL, "regular file");
	close(ends[0]);
	close(ends[1]);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	assert_refused(entry_batch__read(&batch, &geometry, ends[0], 1, &error),
		       -EINVAL, "regular file");
	close(ends[0]);
	close(ends[1]);
	/* As a file of FUSE or NFS, whose server may never answer. */
	fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	assert_refused(entry_batch__read(&batch, &geometry, fd, 1, &error), -EINVAL,
		       "regular file in memory");
	close(fd);
	fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_refused(entry_batch__read(&batch, &geometry, fd, 1, &error),
		       -EINVAL, "regular file");
	close(fd);
}

static void test_access(void **state)
{
	char path[32];
	int fd = file_of("\1abcde", 6), other;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	other = open(path, O_WRONLY | O_CLOEXEC);
	assert_true(other >= 0);
	assert_refused(entry_batch__read(&batch, &geometry, other, 1, &error),
		       -EBADF, "cannot read the changes");
	close(other);
	close(fd);
}

static void test_borrowed(void **state)
{
	static const uint8_t bytes[] = "\1abcde\2fghij";
	struct batched_change change;

	assert_int_equal(entry_batch__borrow(&batch, &geometry, bytes, 12, 2, &error), 0);
	change = entry_batch__at(&batch, 1);
	assert_int_equal(change.operation, DART_REGISTRATION_TABLE_REMOVE);
	assert_ptr_equal(change.key, bytes + 7);
	assert_ptr_equal(change.value, bytes + 10);
	entry_batch__close(&batch);
	assert_refused(entry_batch__borrow(&batch, &geometry, bytes, 12, 0, &error), -EINVAL,
		       "1 to");
	assert_refused(entry_batch__borrow(&batch, &geometry, bytes, 12, 3, &error), -EINVAL,
		       "3 changes of this table have 18 bytes, not 12");
	assert_refused(entry_batch__borrow(&batch, &geometry, bytes, 12, 1, &error), -EINVAL,
		       "1 changes of this table have 6 bytes, not 12");
	assert_refused(entry_batch__borrow(&batch, &geometry, bytes + 1, 12, 2, &error), -EINVAL,
		       "change 0 has an unknown operation");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("operations, keys and values are where the lengths of the table say",
		     test_records),
		TEST("a file is read from its start, and its position stays", test_position),
		TEST("a file that is too short by any number of bytes is refused", test_lengths),
		TEST("of all operations, insert and remove are taken", test_operations),
		TEST("0 changes and too many are refused", test_counts),
		TEST("a descriptor of another kind than a regular file in memory is refused", test_files),
		TEST("a descriptor that cannot be read is refused", test_access),
		TEST("records in a message are checked where they are", test_borrowed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
