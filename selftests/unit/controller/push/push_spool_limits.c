// SPDX-License-Identifier: GPL-2.0-only
/* Spools at their bounds: of messages, of the disk and of memory, and several of them. */
#include "push_spool_scene.h"

static uint64_t bytes_on_disk(void)
{
	struct stat status;
	uint64_t bytes = 0;
	char path[200];
	unsigned int i;

	for (i = 1; i < 100; i++) {
		snprintf(path, sizeof(path), "%s/%016x.segment", directory, i);
		if (!stat(path, &status))
			bytes += status.st_size;
	}
	return bytes;
}

static void test_bound(void **state)
{
	struct spool *spool = open_spool(BOUND);
	uint64_t given = 0, taken = 0;
	uint32_t i, number, last = 0;

	for (i = 1; i <= 100; i++) {
		assert_int_equal(add(spool, i, 100000), 0);
		given += i;
		assert_true(bytes_on_disk() <= BOUND);
	}
	assert_true(spool__dropped(spool) > 0);
	/* Not more than a segment too many. */
	assert_true(bytes_on_disk() > BOUND / 4 * 3);
	while ((number = take(spool))) {
		assert_true(!last || number == last + 1);
		last = number;
		taken += number;
	}
	assert_int_equal(last, 100);
	assert_int_equal(taken + spool__dropped(spool), given);
	assert_true(bytes_on_disk() <= BOUND / 8);
	spool__close(spool);
}

/* The message in transit is dropped meanwhile: the next message is not taken for it. */
static void test_dropped_while_sent(void **state)
{
	struct spool *spool = open_spool(BOUND);
	struct message *message;
	uint32_t i, number, last = 0;

	assert_int_equal(add(spool, 1, 100000), 0);
	assert_int_equal(spool__read(spool, &message), 0);
	for (i = 2; i <= 60; i++)
		assert_int_equal(add(spool, i, 100000), 0);
	spool__advance(spool, message);
	free(message);
	number = take(spool);
	assert_true(number > 1);
	for (last = number; (number = take(spool)); last = number)
		assert_int_equal(number, last + 1);
	assert_int_equal(last, 60);
	spool__close(spool);
}

/* No file may grow further, as if the disk were full. */
static void limit_files(rlim_t bytes)
{
	struct rlimit limit;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* Messages that are read and sent one at a time fit, whatever their number. */
static void test_full_disk(void **state)
{
	struct spool *spool = open_spool(1 << 30);
	uint32_t i;

	limit_files(100000);
	for (i = 1; i <= 200; i++) {
		assert_int_equal(add(spool, i, 30000), 0);
		assert_int_equal(take(spool), i);
	}
	/* Some unsent messages fit, and the room of the others is given back. */
	for (i = 1; !add(spool, i, 30000); i++)
		assert_true(i < 10);
	assert_int_equal(add(spool, i, 30000), -EFBIG);
	for (i = 1; take(spool); i++)
		;
	assert_true(i >= 2);
	assert_int_equal(add(spool, 77, 30000), 0);
	assert_int_equal(take(spool), 77);
	limit_files(RLIM_INFINITY);
	spool__close(spool);
	spool = open_spool(1 << 30);
	assert_int_equal(take(spool), 0);
	assert_int_equal(spool__damaged(spool), 0);
	spool__close(spool);
}

/* As a lack of memory leaves it, after the file was made. */
static void test_number_taken(void **state)
{
	struct spool *spool = open_spool(BOUND);
	uint32_t i;
	char path[200];
	int fd;

	for (i = 1; i < 4; i++) {
		snprintf(path, sizeof(path), "%s/%016x.segment", directory, i);
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
		assert_true(fd >= 0);
		close(fd);
	}
	for (i = 1; i <= 10; i++)
		assert_int_equal(add(spool, i, 100000), 0);
	spool__close(spool);
	spool = open_spool(BOUND);
	for (i = 1; i <= 10; i++)
		assert_int_equal(take(spool), i);
	assert_int_equal(take(spool), 0);
	spool__close(spool);
}

/* Sends the oldest message of @backlog, which must be @number. */
static void send_next(struct backlog *backlog, uint32_t number)
{
	struct message *message;
	int err;

	message = backlog__next(backlog, &err);
	assert_non_null(message);
	assert_int_equal(message->samples, number);
	backlog__begin(backlog, message);
	backlog__done(backlog, message);
}

/*
 * Memory takes messages that the disk cannot, in order, and gives them to the disk when it has
 * room.
 */
static void test_full_disk_memory(void **state)
{
	struct backlog backlog = { .bound = 1 << 20 };
	uint32_t i;
	int err;

	backlog__set_spool(&backlog, open_spool(1 << 30), RECEIVER_SYNC_NEVER);
	for (i = 1; i <= 3; i++)
		assert_int_equal(backlog__add(&backlog, make(i, 3000)), 0);
	limit_files(10000);
	for (; i <= 6; i++)
		assert_int_equal(backlog__add(&backlog, make(i, 3000)), -EFBIG);
	assert_int_equal(backlog.samples, 21);
	send_next(&backlog, 1);
	limit_files(RLIM_INFINITY);
	assert_int_equal(backlog__add(&backlog, make(7, 3000)), 0);
	assert_null(backlog.memory.first);
	for (i = 2; i <= 7; i++)
		send_next(&backlog, i);
	/* Messages that are only in memory are sent, too. */
	limit_files(0);
	for (i = 8; i <= 10; i++)
		assert_int_equal(backlog__add(&backlog, make(i, 3000)), -EFBIG);
	for (i = 8; i <= 10; i++)
		send_next(&backlog, i);
	limit_files(RLIM_INFINITY);
	assert_null(backlog__next(&backlog, &err));
	assert_int_equal(err, 0);
	assert_int_equal(backlog.samples, 0);
	assert_int_equal(backlog.bytes, 0);
	assert_int_equal(backlog.dropped, 0);
	backlog__clear(&backlog);
}

/* Messages with a common shard go one after the other, other messages at the same time. */
static void test_shards(void **state)
{
	static const uint16_t shards[] = { 3, 4, 6, 8, 3 };
	struct backlog backlog = { .bound = 1 << 20 };
	struct message *messages[5], *message;
	uint32_t i;
	int err;

	for (i = 0; i < 5; i++) {
		messages[i] = make(i + 1, 10);
		messages[i]->shards = shards[i];
		assert_int_equal(backlog__add(&backlog, messages[i]), 0);
	}
	/* The third waits for both, the last for the third. */
	for (i = 0; i < 4; i++) {
		message = backlog__next(&backlog, &err);
		assert_ptr_equal(message, i == 2 ? messages[3] :
					  i < 2	 ? messages[i] :
						   NULL);
		if (message)
			backlog__begin(&backlog, message);
	}
	backlog__done(&backlog, messages[0]);
	assert_null(backlog__next(&backlog, &err));
	backlog__done(&backlog, messages[1]);
	assert_ptr_equal(backlog__next(&backlog, &err), messages[2]);
	backlog__begin(&backlog, messages[2]);
	assert_null(backlog__next(&backlog, &err));
	/* A message that must be sent again still precedes the last. */
	backlog__again(&backlog, messages[2]);
	assert_ptr_equal(backlog__next(&backlog, &err), messages[2]);
	backlog__begin(&backlog, messages[2]);
	backlog__done(&backlog, messages[2]);
	assert_ptr_equal(backlog__next(&backlog, &err), messages[4]);
	backlog__clear(&backlog);
}

/* When several messages are sent out of order, a restart sends those after the first again. */
static void test_shards_spool(void **state)
{
	struct backlog backlog = { .bound = 1 << 20 };
	struct message *messages[3], *message;
	uint32_t i;
	int err;

	backlog__set_spool(&backlog, open_spool(BOUND), RECEIVER_SYNC_NEVER);
	for (i = 0; i < 3; i++) {
		message = make(i + 1, 10);
		message->shards = 1U << i;
		assert_int_equal(backlog__add(&backlog, message), 0);
	}
	for (i = 0; i < 3; i++) {
		messages[i] = backlog__next(&backlog, &err);
		assert_int_equal(messages[i]->shards, 1U << i);
		backlog__begin(&backlog, messages[i]);
	}
	backlog__done(&backlog, messages[0]);
	backlog__done(&backlog, messages[2]);
	assert_int_equal(backlog.samples, 2);
	backlog__clear(&backlog);
	backlog.bound = 1 << 20;
	backlog__set_spool(&backlog, open_spool(BOUND), RECEIVER_SYNC_NEVER);
	assert_int_equal(backlog.samples, 5);
	send_next(&backlog, 2);
	send_next(&backlog, 3);
	assert_null(backlog__next(&backlog, &err));
	backlog__clear(&backlog);
}

static void test_memory(void **state)
{
	struct backlog backlog = { .bound = 10000 };
	struct message *current;
	uint32_t i, number, last;
	int err;

	assert_null(backlog__next(&backlog, &err));
	assert_int_equal(backlog__add(&backlog, make(1, 1000)), 0);
	current = backlog__next(&backlog, &err);
	backlog__begin(&backlog, current);
	for (i = 2; i <= 30; i++) {
		assert_int_equal(backlog__add(&backlog, make(i, 1000)), 0);
		assert_true(backlog.bytes <= 10000);
	}
	/* That which is sent stays, and then the oldest are missing. */
	assert_null(backlog__next(&backlog, &err));
	assert_int_equal(current->samples, 1);
	backlog__done(&backlog, current);
	number = backlog__next(&backlog, &err)->samples;
	assert_true(number > 20);
	assert_int_equal(backlog.dropped, number * (number - 1) / 2 - 1);
	for (last = number - 1; last < 30; last++)
		send_next(&backlog, last + 1);
	assert_null(backlog__next(&backlog, &err));
	assert_int_equal(backlog.bytes, 0);
	assert_int_equal(backlog.samples, 0);
	backlog__clear(&backlog);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SPOOL_TEST("on a full disk what is sent makes room for what comes", test_full_disk),
		SPOOL_TEST("what a full disk does not take waits in memory, in order",
			   test_full_disk_memory),
		TEST("messages with a shard in common are sent one after the other", test_shards),
		SPOOL_TEST("a restart sends again what was not sent of the first ones",
			   test_shards_spool),
		SPOOL_TEST("a file whose number is taken already is passed over",
			   test_number_taken),
		SPOOL_TEST("files stay within the bound, and the oldest are dropped and counted",
			   test_bound),
		SPOOL_TEST("a message that is dropped while it is sent leaves the others",
			   test_dropped_while_sent),
		TEST("memory stays within the bound, and the oldest are dropped and counted",
		     test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
