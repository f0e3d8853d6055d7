// SPDX-License-Identifier: GPL-2.0-only
/* The stream of a switch that publishes digests, and other streams. */
#include "switch_publishes.h"

static void addresses_are_checked(void **state)
{
	static const char *const wrong[] = {
		"", "10.0.0.1:5", "inproc://a", "tcp:/x", "tcp://", "tcp://:",
		"tcp://127.0.0.1", "tcp://127.0.0.1:999999", "ipc", "ipc://",
		"ws://a:1",
		"ipc:///23456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567",
	};
	struct switch_digests_settings settings = { .sample_length = SAMPLE };
	struct switch_digests *digests;
	struct dart_error error;
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		settings.address = wrong[i];
		assert_int_equal(switch_digests__open(&settings, &digests, &error), -EINVAL);
	}
	settings.address = "ipc:///nothing/here";
	assert_int_equal(switch_digests__open(&settings, &digests, &error), -ENOENT);
	switch_digests__close(NULL);
	settings.sample_length = 0;
	assert_int_equal(switch_digests__open(&settings, &digests, &error), -EINVAL);
	settings.sample_length = PUBLISHER_MESSAGE_MAX - 31;
	assert_int_equal(switch_digests__open(&settings, &digests, &error), -EINVAL);
}

/* Byte by byte, the longest message, and many at once. */
static void pieces_are_joined(void **state)
{
	struct message *message = malloc(sizeof(*message));
	const uint32_t most = (PUBLISHER_MESSAGE_MAX - 32) / SAMPLE;
	const uint8_t *samples;
	struct dart_error error;
	struct pair pair;
	uint32_t count, i, samples_sent;
	uint64_t random = SEED, length;

	assert_non_null(message);
	begin_greeted(&pair, true);
	make(message, LIST, 0, 1);
	length = htobe64(message->length);
	send_bytes(&pair, "\1", 1);
	for (i = 0; i < sizeof(length) + message->length; i++) {
		assert_int_equal(switch_digests__next(pair.digests,
						      (const void **)&samples,
						      &count, &error), 0);
		send_bytes(&pair, i < sizeof(length) ?
			   (const uint8_t *)&length + i :
			   message->bytes + i - sizeof(length), 1);
	}
	assert_int_equal(receive(&pair, &samples, &count), 1);
	make(message, LIST, 1, most);
	send_message(&pair, message);
	assert_int_equal(receive(&pair, &samples, &count), 1);
	assert_int_equal(count, most);
	assert_int_equal(samples[SAMPLE * most - 1], most & 0xff);

	for (i = 2; i < 40; i++) {
		samples_sent = 1 + random__below(&random, 20);
		make(message, LIST, i, samples_sent);
		send_message(&pair, message);
	}
	random = SEED;
	for (i = 2; i < 40; i++) {
		assert_int_equal(receive(&pair, &samples, &count), 1);
		assert_int_equal(count, 1 + random__below(&random, 20));
		assert_int_equal(samples[0], i & 0xff);
	}
	end(&pair);
	free(message);
}

static void other_bytes_are_refused(void **state)
{
	static const struct {
		const char *bytes;
		uint32_t length;
		bool is_local, has_greeted;
	} streams[] = {
		{ "HTTP", 4, false, false },
		{ "\1", 1, true, false },
		/* A listener, another version */
		{ "\0SP\0\0\041\0\0", 8, false, false },
		{ "\0SP\1\0\040\0\0", 8, true, false },
		/* 65537 bytes, and the most that 64 bits can say */
		{ "\0\0\0\0\0\1\0\1", 8, false, true },
		{ "\377\377\377\377\377\377\377\377", 8, false, true },
		{ "\1\377\377\377\377\377\377\377\377", 9, true, true },
		/* Another kind of message of a local socket */
		{ "\2", 1, true, true },
	};
	struct pair pair;
	size_t i;

	for (i = 0; i < sizeof(streams) / sizeof(streams[0]); i++) {
		if (streams[i].has_greeted)
			begin_greeted(&pair, streams[i].is_local);
		else
			begin(&pair, streams[i].is_local);
		send_bytes(&pair, streams[i].bytes, streams[i].length);
		assert_int_equal(take_error(&pair), -EPROTO);
		assert_int_equal(take_error(&pair), -EPROTO);
		end(&pair);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("addresses and lengths are checked", addresses_are_checked),
		TEST("messages arrive whole, whatever pieces they come in", pieces_are_joined),
		TEST("a stream that is not one of nanomsg ends", other_bytes_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
