// SPDX-License-Identifier: GPL-2.0-only
/* Digests from a switch that this process plays; it also sends messages that no switch sends. */
#include "switch_publishes.h"

static void samples_arrive_by(bool is_local)
{
	struct message *message = malloc(sizeof(*message));
	struct pair pair;
	const uint8_t *samples;
	uint32_t count, i, j;

	assert_non_null(message);
	begin_greeted(&pair, is_local);
	make(message, LIST, 1, 1);
	send_message(&pair, message);
	make(message, LIST + 1, 7, 1);
	send_message(&pair, message);
	make(message, LIST, 2, 200);
	send_message(&pair, message);

	assert_int_equal(receive(&pair, &samples, &count), 1);
	assert_int_equal(count, 1);
	for (i = 0; i < SAMPLE; i++)
		assert_int_equal(samples[i], 1);
	assert_int_equal(receive(&pair, &samples, &count), 1);
	assert_int_equal(count, 200);
	for (j = 0; j < 200; j++)
		for (i = 0; i < SAMPLE; i++)
			assert_int_equal(samples[j * SAMPLE + i], j + 2);
	shutdown(pair.socket, SHUT_WR);
	assert_int_equal(take_error(&pair), -ECONNRESET);
	end(&pair);
	free(message);
}

static void samples_arrive(void **state)
{
	samples_arrive_by(false);
	samples_arrive_by(true);
}

/* One change makes each of these messages invalid. */
static void spoil(struct message *message, uint32_t how, uint64_t *random)
{
	switch (how) {
	case 0:	/* cut off, down to the topic */
		message->length = 4 + random__below(random, message->length - 4);
		break;
	case 1:
		put(message, 0, 1 + random__below(random, SAMPLE - 1));
		break;
	case 2:	/* samples */
		memset(message->bytes + 28, 0xff, 4);
		break;
	case 3:
		memset(message->bytes + 28, 0, 4);
		message->length = 32;
		break;
	case 4:	/* context */
		message->bytes[12 + random__below(random, 4)] ^= 1;
		break;
	case 5:	/* list */
		message->bytes[16 + random__below(random, 4)] ^= 0x80;
		break;
	case 6:	/* buffer */
		memset(message->bytes + 20, 0xff, 8);
		break;
	default: /* 2^32 bytes of samples, and more */
		message->bytes[28] += 0x14;
		message->bytes[31] += 0x3b;
	}
}

static void hostile_messages_are_skipped(void **state)
{
	struct message *message = malloc(sizeof(*message));
	uint64_t random = SEED;
	const uint8_t *samples;
	uint32_t round, count, samples_sent;
	struct pair pair;

	assert_non_null(message);
	begin_greeted(&pair, false);
	for (round = 0; round < 8000; round++) {
		samples_sent = 1 + random__below(&random, 20);
		make(message, LIST, round, samples_sent);
		spoil(message, round % 8, &random);
		send_message(&pair, message);
		make(message, LIST, round, samples_sent);
		send_message(&pair, message);
		assert_int_equal(receive(&pair, &samples, &count), 1);
		assert_int_equal(count, samples_sent);
		assert_int_equal(samples[0], round & 0xff);
	}
	end(&pair);
	free(message);
}

/* ---- acknowledgments */

/* Acknowledges, with this number of answers, which is @too_few or enough. */
static void acknowledged(struct pair *pair, uint32_t answers_count, bool too_few)
{
	struct answers *answers = answers__new();
	struct dart_error error;
	struct thrift *thrift;
	pthread_t thread;
	uint32_t i;
	int ret;

	for (i = 0; i < answers_count; i++) {
		append_header(answers, REPLY, "bm_learning_ack_buffer", i + 1);
		append_u8(answers, THRIFT_STOP);
	}
	assert_int_equal(pthread_create(&thread, NULL, send_answers, answers), 0);
	assert_int_equal(thrift__connect(answers->name, &thrift, &error), 0);
	ret = switch_digests__acknowledge(pair->digests, thrift, &error);
	thrift__close(thrift);
	pthread_join(thread, NULL);
	answers__free(answers);
	if (too_few)
		assert_true(ret < 0);
	else
		assert_int_equal(ret, 0);
}

static void take_buffer(struct pair *pair, uint64_t buffer)
{
	struct message *message = malloc(sizeof(*message));
	const uint8_t *samples;
	uint32_t count;

	assert_non_null(message);
	make(message, LIST, buffer, 1);
	send_message(pair, message);
	assert_int_equal(receive(pair, &samples, &count), 1);
	free(message);
}

static void buffers_are_acknowledged(void **state)
{
	struct pair pair;

	begin_greeted(&pair, false);
	acknowledged(&pair, 0, false);
	/* 0 to 4, of which 0 and 3 do not arrive. */
	take_buffer(&pair, 1);
	acknowledged(&pair, 2, false);
	acknowledged(&pair, 0, false);
	take_buffer(&pair, 2);
	take_buffer(&pair, 4);
	/* The switch ends after 2 answers: one answer is left. */
	acknowledged(&pair, 2, true);
	acknowledged(&pair, 1, false);
	acknowledged(&pair, 0, false);
	/* It was started again. */
	take_buffer(&pair, 1);
	acknowledged(&pair, 2, false);
	/* Far ahead: only a limited number before it. */
	take_buffer(&pair, INT64_MAX - 1);
	acknowledged(&pair, SWITCH_DIGESTS_LOST_MAX, true);
	acknowledged(&pair, 1, false);
	end(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("samples arrive, those of other lists do not", samples_arrive),
		TEST("messages of another form are skipped, and the next one arrives",
		     hostile_messages_are_skipped),
		TEST("each buffer is acknowledged once, lost ones too", buffers_are_acknowledged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
