// SPDX-License-Identifier: GPL-2.0-only
/* When a follower has the queue pair of a silent server renewed, and by which command. */
#include <poll.h>
#include <signal.h>

#include "switch_answers.h"
#include "tools/dartctl/switch/lookups/renewals.h"
#include "tools/dartctl/switch/lookups/state.h"

#define STEP 100 /* ms between looks */

static void test_pauses(void **state)
{
	static const int expected[] = { 400, 1400, 3400, 7400, 15400, 31400, 61400, 91400 };
	struct lookup_renewal renewal = {};
	size_t count = 0;
	int64_t now;

	for (now = 0; now <= 91400; now += STEP) {
		if (!lookup_renewal__is_due(&renewal, true, now))
			continue;
		assert_int_equal(now, expected[count]);
		count++;
	}
	assert_int_equal(count, sizeof(expected) / sizeof(expected[0]));
}

static void test_answer(void **state)
{
	struct lookup_renewal renewal = {};

	/* Silence that a probe ends in time needs no renewal, and later silence begins anew. */
	assert_false(lookup_renewal__is_due(&renewal, true, 1000));
	assert_false(lookup_renewal__is_due(&renewal, true, 1399));
	assert_false(lookup_renewal__is_due(&renewal, false, 1399));
	assert_false(lookup_renewal__is_due(&renewal, true, 1400));
	assert_false(lookup_renewal__is_due(&renewal, true, 1799));
	assert_true(lookup_renewal__is_due(&renewal, true, 1800));
	/* So do its pauses. */
	assert_true(lookup_renewal__is_due(&renewal, true, 2800));
	assert_false(lookup_renewal__is_due(&renewal, false, 2900));
	assert_false(lookup_renewal__is_due(&renewal, true, 3000));
	assert_true(lookup_renewal__is_due(&renewal, true, 3400));
	assert_true(lookup_renewal__is_due(&renewal, true, 4400));
}

/* ---- the command */

static struct dart_tea_tables tables_of(const char *name)
{
	struct dart_tea_tables tables = { .requester.s_addr = htonl(0x0a000002) };

	snprintf(tables.name, sizeof(tables.name), "%s", name);
	return tables;
}

/* Returns the value of lookup_renewals__reap() when the command has ended. */
static int wait_for_end(struct lookup_renewals *renewals, struct dart_error *error)
{
	int ret;

	while ((ret = lookup_renewals__reap(renewals, error)) == -EAGAIN)
		poll(NULL, 0, 1);
	return ret;
}

static void test_command(void **state)
{
	struct dart_tea_tables tables = tables_of("nat");
	char path[] = "/tmp/lookup_renewals.XXXXXX", command[128], text[128];
	struct lookup_renewals renewals = { .command = command };
	const int fd = mkstemp(path);
	struct dart_error error;
	ssize_t length;

	assert_true(fd >= 0);
	snprintf(command, sizeof(command),
		 "echo $DART_TABLE $DART_REQUESTER $DART_SERVER ${PATH:+inherits} >%s", path);
	assert_int_equal(lookup_renewals__start(&renewals, &tables,
						(struct in_addr){ htonl(0x0a000103) }, &error),
			 0);
	assert_int_equal(wait_for_end(&renewals, &error), 0);
	length = read(fd, text, sizeof(text) - 1);
	assert_true(length > 0);
	text[length] = '\0';
	assert_string_equal(text, "nat 10.0.0.2 10.0.1.3 inherits\n");
	assert_int_equal(renewals.count, 1);
	/* Without a command there is nothing to wait for. */
	assert_int_equal(lookup_renewals__reap(&renewals, &error), 0);
	assert_int_equal(renewals.count, 1);
	close(fd);
	unlink(path);
}

static void test_failures(void **state)
{
	struct dart_tea_tables tables = tables_of("nat");
	struct lookup_renewals renewals = { .command = "exit 7" };
	static const char *const commands[] = { "exit 7", "kill -KILL $$", "/no/such/command" };
	struct dart_error error;
	size_t i;

	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		renewals.command = commands[i];
		assert_int_equal(lookup_renewals__start(&renewals, &tables,
							(struct in_addr){ htonl(0x0a000103) },
							&error),
				 0);
		assert_int_equal(wait_for_end(&renewals, &error), -EIO);
		assert_string_equal(error.text,
				    "the command of --renew failed for silent server 10.0.1.3");
		assert_int_equal(renewals.running, 0);
	}
	assert_int_equal(renewals.count, 0);
}

/* The follower blocks the signals that end it. */
static void test_signals(void **state)
{
	struct dart_tea_tables tables = tables_of("nat");
	struct lookup_renewals renewals = { .command = "kill -TERM $$; exit 0" };
	struct dart_error error;
	sigset_t blocked, before;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGTERM);
	sigprocmask(SIG_BLOCK, &blocked, &before);
	assert_int_equal(lookup_renewals__start(&renewals, &tables,
						(struct in_addr){ htonl(0x0a000103) }, &error),
			 0);
	assert_int_equal(wait_for_end(&renewals, &error), -EIO);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

/* ---- looks at a switch */

static void append_register(struct answers *answers, uint32_t sequence, uint8_t value)
{
	append_header(answers, REPLY, "bm_register_read", sequence);
	append_field(answers, THRIFT_I64, 0);
	append_u32(answers, 0);
	append_u32(answers, value);
	append_u8(answers, THRIFT_STOP);
}

/* Looks at a switch whose servers 1 and 5 are in these states. */
static void look(struct lookup_renewals *renewals, uint8_t first, uint8_t second, int64_t now)
{
	static const char *const one[] = { "\1", "\x0a\1\1\1", "\1", "\1", "\1", "\1", "\1", "\1" };
	static const char *const five[] = { "\1", "\x0a\1\1\5", "\1", "\1", "\1", "\1", "\1", "\1" };
	struct dart_tea_tables tables = tables_of("nat");
	struct answers *answers = answers__new();
	struct thrift *thrift;
	struct dart_error error;
	pthread_t server;

	append_header(answers, REPLY, "bm_mt_get_entries", 1);
	append_list(answers, 0, THRIFT_STRUCT, 2);
	append_entry(answers, 5, 0, 2, "tea_send_to", 8, five);
	append_entry(answers, 1, 0, 1, "tea_send_to", 8, one);
	append_u8(answers, THRIFT_STOP);
	append_register(answers, 2, first);
	append_register(answers, 3, second);
	assert_int_equal(pthread_create(&server, NULL, send_answers, answers), 0);
	assert_int_equal(thrift__connect(answers->name, &thrift, &error), 0);
	assert_int_equal(lookup_renewals__look(renewals, thrift, &tables, now, &error), 0);
	thrift__close(thrift);
	pthread_join(server, NULL);
	answers__free(answers);
}

static void test_looks(void **state)
{
	struct lookup_renewals renewals = { .command = "true" };
	struct dart_error error;

	look(&renewals, LOOKUP_UP, LOOKUP_SILENT, 0);
	look(&renewals, LOOKUP_STOPPED, LOOKUP_SILENT, 399);
	assert_int_equal(renewals.running, 0);
	look(&renewals, LOOKUP_STOPPED, LOOKUP_SILENT, 400);
	assert_true(renewals.running > 0);
	assert_int_equal(ntohl(renewals.server.s_addr), 0x0a010105);
	assert_int_equal(wait_for_end(&renewals, &error), 0);
	look(&renewals, LOOKUP_SILENT, LOOKUP_UP, 500);
	look(&renewals, LOOKUP_SILENT, LOOKUP_UP, 900);
	assert_true(renewals.running > 0);
	assert_int_equal(ntohl(renewals.server.s_addr), 0x0a010101);
	assert_int_equal(wait_for_end(&renewals, &error), 0);
	assert_int_equal(renewals.count, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pauses),	cmocka_unit_test(test_answer),
		cmocka_unit_test(test_command), cmocka_unit_test(test_failures),
		cmocka_unit_test(test_signals), cmocka_unit_test(test_looks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
