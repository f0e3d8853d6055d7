// SPDX-License-Identifier: GPL-2.0-only
/* Digests from a switch that is this process, and sends also what no switch sends. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "switch_answers.h"
#include "tools/dartctl/switch/digests.h"
#include "tools/dartctl/switch/publisher.h"

#define SEED	0xd16e57
#define LIST	3
#define SAMPLE	13

/* A switch, and the one that listens to it. */
struct pair {
	int socket;
	bool is_local;
	struct switch_digests *digests;
};

struct message {
	uint32_t length;
	uint8_t bytes[PUBLISHER_MESSAGE_MAX + 1];
};

static void put(struct message *message, uint64_t number, uint32_t bytes)
{
	for (; bytes; bytes--, number >>= 8)
		message->bytes[message->length++] = number;
}

/* The bytes of sample i are all i + @buffer. */
static void make(struct message *message, int32_t list, uint64_t buffer,
		 uint32_t samples)
{
	uint32_t i;

	message->length = 0;
	put(message, 0x7c41454c, 4);
	put(message, 0x1122334455667788, 8);
	put(message, 0, 4);
	put(message, (uint32_t)list, 4);
	put(message, buffer, 8);
	put(message, samples, 4);
	for (i = 0; i < samples * SAMPLE; i++)
		put(message, i / SAMPLE + buffer, 1);
}

static void send_bytes(const struct pair *pair, const void *bytes, size_t length)
{
	assert_int_equal(send(pair->socket, bytes, length, MSG_NOSIGNAL), length);
}

static void send_message(const struct pair *pair, const struct message *message)
{
	const uint64_t length = htobe64(message->length);

	if (pair->is_local)
		send_bytes(pair, "\1", 1);
	send_bytes(pair, &length, sizeof(length));
	send_bytes(pair, message->bytes, message->length);
}

/* Waits for a message; what taking it returned. */
static int receive(const struct pair *pair, const uint8_t **samples,
		   uint32_t *count)
{
	struct pollfd ready = {
		.fd = switch_digests__descriptor(pair->digests),
		.events = POLLIN,
	};
	struct dart_error error;
	int ret;

	while (!(ret = switch_digests__next(pair->digests,
					    (const void **)samples, count,
					    &error)))
		assert_int_equal(poll(&ready, 1, 10000), 1);
	return ret;
}

static int take_error(const struct pair *pair)
{
	const uint8_t *samples;
	uint32_t count;

	return receive(pair, &samples, &count);
}

static void listen_local(int *listener, char address[128])
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	char directory[] = "/tmp/dart-digests.XXXXXX";

	assert_non_null(mkdtemp(directory));
	snprintf(name.sun_path, sizeof(name.sun_path), "%s/socket", directory);
	snprintf(address, 128, "ipc://%s", name.sun_path);
	*listener = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(bind(*listener, (void *)&name, sizeof(name)), 0);
}

static void listen_remote(int *listener, char address[128])
{
	struct sockaddr_in name = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t length = sizeof(name);

	*listener = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(*listener, (void *)&name, length), 0);
	getsockname(*listener, (void *)&name, &length);
	snprintf(address, 128, "tcp://127.0.0.1:%u", ntohs(name.sin_port));
}

static void begin(struct pair *pair, bool is_local)
{
	static const uint8_t expected[] = { 0, 'S', 'P', 0, 0, 33, 0, 0 };
	char address[128], *path = address + strlen("ipc://");
	const struct switch_digests_settings settings = {
		.address = address, .list = LIST, .sample_length = SAMPLE,
	};
	uint8_t greeting[sizeof(expected)];
	struct dart_error error;
	int listener;

	pair->is_local = is_local;
	if (is_local)
		listen_local(&listener, address);
	else
		listen_remote(&listener, address);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(switch_digests__open(&settings, &pair->digests, &error),
			 0);
	pair->socket = accept(listener, NULL, NULL);
	assert_true(pair->socket >= 0);
	close(listener);
	if (is_local) {
		unlink(path);
		*strrchr(path, '/') = '\0';
		rmdir(path);
	}
	assert_int_equal(recv(pair->socket, greeting, sizeof(greeting),
			      MSG_WAITALL), sizeof(greeting));
	assert_memory_equal(greeting, expected, sizeof(greeting));
}

static void begin_greeted(struct pair *pair, bool is_local)
{
	begin(pair, is_local);
	send_bytes(pair, "\0SP\0\0\040\0", 8);
}

static void end(struct pair *pair)
{
	switch_digests__close(pair->digests);
	close(pair->socket);
}

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
		assert_int_equal(switch_digests__open(&settings, &digests,
						      &error), -EINVAL);
	}
	settings.address = "ipc:///nothing/here";
	assert_int_equal(switch_digests__open(&settings, &digests, &error),
			 -ENOENT);
	switch_digests__close(NULL);
	settings.sample_length = 0;
	assert_int_equal(switch_digests__open(&settings, &digests, &error),
			 -EINVAL);
	settings.sample_length = PUBLISHER_MESSAGE_MAX - 31;
	assert_int_equal(switch_digests__open(&settings, &digests, &error),
			 -EINVAL);
}

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
	assert_int_equal(switch_digests__skipped(pair.digests), 1);
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
		assert_int_equal(switch_digests__skipped(pair.digests),
				 round + 1);
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

/* ---- acknowledgments */

/* Acknowledges, with so many answers; whether that is @too_few. */
static void acknowledged(struct pair *pair, uint32_t answers_count,
			 bool too_few)
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
	/* The switch ends after 2 answers: one is left. */
	acknowledged(&pair, 2, true);
	acknowledged(&pair, 1, false);
	acknowledged(&pair, 0, false);
	/* It was started again. */
	take_buffer(&pair, 1);
	acknowledged(&pair, 2, false);
	/* Far ahead: only so many before it. */
	take_buffer(&pair, INT64_MAX - 1);
	acknowledged(&pair, SWITCH_DIGESTS_LOST_MAX, true);
	acknowledged(&pair, 1, false);
	end(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("addresses and lengths are checked",
		     addresses_are_checked),
		TEST("samples arrive, those of other lists do not", samples_arrive),
		TEST("messages arrive whole, whatever pieces they come in",
		     pieces_are_joined),
		TEST("a stream that is not one of nanomsg ends",
		     other_bytes_are_refused),
		TEST("messages of another form are skipped, and the next one arrives",
		     hostile_messages_are_skipped),
		TEST("each buffer is acknowledged once, lost ones too",
		     buffers_are_acknowledged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
