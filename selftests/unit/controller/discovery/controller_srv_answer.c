// SPDX-License-Identifier: GPL-2.0-only
/* Targets in answers of name servers. */
#include <arpa/nameser.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "selftests/unit/unit.h"
#include "tools/controller/discovery/srv_answer.h"

static const struct target_defaults defaults = {
	.interval_ns = 5000000,
	.class = 2,
};
static struct target_list list;
static struct dart_error error;
static uint32_t ttl_s;

/* A message in the making. */
struct message {
	unsigned char bytes[4096];
	size_t length;
};

static void put16(struct message *message, unsigned int number)
{
	message->bytes[message->length++] = number >> 8;
	message->bytes[message->length++] = number;
}

/* Labels without dots: "one two" for one.two. */
static void put_name(struct message *message, const char *name)
{
	size_t length;

	for (; *name; name += length + (name[length] == ' ')) {
		length = strcspn(name, " ");
		message->bytes[message->length++] = length;
		memcpy(message->bytes + message->length, name, length);
		message->length += length;
	}
	message->bytes[message->length++] = 0;
}

static void begin(struct message *message, unsigned int answers)
{
	*message = (struct message){};
	put16(message, 17);
	put16(message, 0x8180);
	put16(message, 1); /* question */
	put16(message, answers);
	put16(message, 0);
	put16(message, 0);
	put_name(message, "_dartd _tcp test");
	put16(message, ns_t_srv);
	put16(message, ns_c_in);
}

/* The owner is the name of the question. */
static void put_record(struct message *message, unsigned int type,
		       unsigned int ttl, unsigned int port, const char *host)
{
	size_t at;

	put16(message, 0xc000 | NS_HFIXEDSZ);
	put16(message, type);
	put16(message, ns_c_in);
	put16(message, ttl >> 16);
	put16(message, ttl);
	at = message->length;
	put16(message, 0);
	if (type == ns_t_srv) {
		put16(message, 1);
		put16(message, 2);
		put16(message, port);
	}
	put_name(message, host);
	message->bytes[at] = (message->length - at - 2) >> 8;
	message->bytes[at + 1] = message->length - at - 2;
}

static struct target_faults faults;

/* In memory that ends where the message ends. */
static int parse(const struct message *message, size_t length)
{
	unsigned char *exact = malloc(length + !length);
	int ret;

	assert_non_null(exact);
	memcpy(exact, message->bytes, length);
	faults = (struct target_faults){};
	ret = srv_answer__parse(exact, length, &defaults, NULL, &list, &ttl_s, &faults, &error);
	free(exact);
	return ret;
}

static int clear(void **state)
{
	target_list__clear(&list);
	return 0;
}

static void make_whole(struct message *message)
{
	begin(message, 4);
	put_record(message, ns_t_cname, 300, 0, "alias test");
	put_record(message, ns_t_srv, 60, 4801, "h2 test");
	put_record(message, ns_t_srv, 90, 17, "h1 test");
	put_record(message, ns_t_srv, 100000, 1, "");
}

static void test_records(void **state)
{
	struct message message;

	make_whole(&message);
	assert_int_equal(parse(&message, message.length), 0);
	assert_int_equal(list.count, 2);
	assert_string_equal(list.items[0]->settings.name, "h1.test:17");
	assert_string_equal(list.items[1]->settings.name, "h2.test:4801");
	assert_int_equal(list.items[1]->settings.interval_ns, 5000000);
	assert_int_equal(list.items[1]->settings.class, 2);
	assert_int_equal(ttl_s, 60);
}

static void test_refused(void **state)
{
	struct message message;
	size_t length;

	make_whole(&message);
	for (length = 0; length < message.length; length++) {
		assert_int_equal(parse(&message, length), -EINVAL);
		assert_string_equal(error.text, "the answer of the name server is not whole");
	}
	begin(&message, 1);
	put_record(&message, ns_t_srv, 60, 0, "h1 test");
	assert_int_equal(parse(&message, message.length), -EINVAL);
	assert_string_equal(error.text,
			    "a SRV record names 'h1.test' port 0, which is not an agent");
	/* A name that points at itself. */
	begin(&message, 1);
	put_record(&message, ns_t_srv, 60, 1, "xx");
	message.bytes[message.length - 4] = 0xc0 | (message.length - 4) >> 8;
	message.bytes[message.length - 3] = message.length - 4;
	assert_int_equal(parse(&message, message.length), -EINVAL);
	assert_string_equal(error.text, "a SRV record is not whole");
	assert_int_equal(list.count, 0);
}

static void test_none(void **state)
{
	struct message message;

	begin(&message, 1);
	put_record(&message, ns_t_srv, 60, 0, "");
	assert_int_equal(parse(&message, message.length), 0);
	assert_int_equal(list.count, 0);

	/* An alias to a name without SRV records. */
	begin(&message, 1);
	put_record(&message, ns_t_cname, 300, 0, "alias test");
	assert_int_equal(parse(&message, message.length), -EINVAL);
	assert_string_equal(error.text, "the answer has no SRV record");
	begin(&message, 0);
	assert_int_equal(parse(&message, message.length), -EINVAL);
	assert_string_equal(error.text, "the answer has no SRV record");
}

static void test_flipped_bits(void **state)
{
	struct message whole, message;
	uint64_t random = 1;
	unsigned int round, flips, taken = 0;

	make_whole(&whole);
	for (round = 0; round < 20000; round++) {
		message = whole;
		for (flips = random__below(&random, 4) + 1; flips; flips--)
			message.bytes[random__below(&random, whole.length)] ^=
				1 << random__below(&random, 8);
		if (parse(&message,
			  whole.length - random__below(&random, 2) * random__below(&random, 20))) {
			assert_true(*error.text);
			continue;
		}
		taken++;
		target_list__clear(&list);
	}
	assert_true(taken > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_FIXTURE(
			"SRV records are targets, others are not, and the shortest time to live counts",
			test_records, NULL, clear),
		TEST_FIXTURE("an answer that is cut off anywhere, or names no agent, is refused",
			     test_refused, NULL, clear),
		TEST_FIXTURE(
			"one record of the root names nobody, and an answer without any is refused",
			test_none, NULL, clear),
		TEST_FIXTURE("flipped bits never crash the parser", test_flipped_bits, NULL, clear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
