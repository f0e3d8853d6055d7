/* SPDX-License-Identifier: GPL-2.0-only */
/* A switch that is this process, and publishes digests to a listener here. */
#ifndef SWITCH_PUBLISHES_H
#define SWITCH_PUBLISHES_H

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "switch_answers.h"
#include "tools/dartctl/switch/thrift/digests.h"
#include "tools/dartctl/switch/thrift/publisher.h"

#define SEED	0xd16e57
#define LIST	3
#define SAMPLE	13
#define HEADER	32

/* A switch and its listener. */
struct pair {
	int socket;
	bool is_local;
	struct switch_digests *digests;
};

struct message {
	uint32_t length;
	uint8_t bytes[PUBLISHER_MESSAGE_MAX + 1];
};

static inline void put(struct message *message, uint64_t number, uint32_t bytes)
{
	for (; bytes; bytes--, number >>= 8)
		message->bytes[message->length++] = number;
}

/* Puts the first HEADER bytes of a message. */
static inline void put_header(struct message *message, int32_t list, uint64_t buffer,
			      uint32_t samples)
{
	put(message, 0x7c41454c, 4);
	put(message, 0x1122334455667788, 8);
	put(message, 0, 4);
	put(message, (uint32_t)list, 4);
	put(message, buffer, 8);
	put(message, samples, 4);
}

/* The bytes of sample i are all i + @buffer. */
static inline void make(struct message *message, int32_t list, uint64_t buffer, uint32_t samples)
{
	uint32_t i;

	message->length = 0;
	put_header(message, list, buffer, samples);
	for (i = 0; i < samples * SAMPLE; i++)
		put(message, i / SAMPLE + buffer, 1);
}

static inline void send_bytes(const struct pair *pair, const void *bytes, size_t length)
{
	assert_int_equal(send(pair->socket, bytes, length, MSG_NOSIGNAL), length);
}

static inline void send_message(const struct pair *pair, const struct message *message)
{
	const uint64_t length = htobe64(message->length);

	if (pair->is_local)
		send_bytes(pair, "\1", 1);
	send_bytes(pair, &length, sizeof(length));
	send_bytes(pair, message->bytes, message->length);
}

/* Waits for a message, takes it, and returns the result. */
static inline int receive(const struct pair *pair, const uint8_t **samples, uint32_t *count)
{
	struct pollfd ready = {
		.fd = switch_digests__descriptor(pair->digests),
		.events = POLLIN,
	};
	struct dart_error error;
	int ret;

	while (!(ret = switch_digests__next(pair->digests, (const void **)samples, count, &error)))
		assert_int_equal(poll(&ready, 1, 10000), 1);
	return ret;
}

static inline int take_error(const struct pair *pair)
{
	const uint8_t *samples;
	uint32_t count;

	return receive(pair, &samples, &count);
}

static inline void listen_local(int *listener, char address[128])
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	char directory[] = "/tmp/dart-digests.XXXXXX";

	assert_non_null(mkdtemp(directory));
	snprintf(name.sun_path, sizeof(name.sun_path), "%s/socket", directory);
	snprintf(address, 128, "ipc://%s", name.sun_path);
	*listener = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(bind(*listener, (void *)&name, sizeof(name)), 0);
}

/* Removes the socket of listen_local() with its directory, and spoils @address. */
static inline void remove_local(char *address)
{
	char *path = address + strlen("ipc://");

	unlink(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
}

static inline void listen_remote(int *listener, char address[128])
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

static inline void begin(struct pair *pair, bool is_local)
{
	static const uint8_t expected[] = { 0, 'S', 'P', 0, 0, 33, 0, 0 };
	char address[128];
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
	assert_int_equal(switch_digests__open(&settings, &pair->digests, &error), 0);
	pair->socket = accept(listener, NULL, NULL);
	assert_true(pair->socket >= 0);
	close(listener);
	if (is_local)
		remove_local(address);
	assert_int_equal(recv(pair->socket, greeting, sizeof(greeting),
			      MSG_WAITALL), sizeof(greeting));
	assert_memory_equal(greeting, expected, sizeof(greeting));
}

static inline void begin_greeted(struct pair *pair, bool is_local)
{
	begin(pair, is_local);
	send_bytes(pair, "\0SP\0\0\040\0", 8);
}

static inline void end(struct pair *pair)
{
	switch_digests__close(pair->digests);
	close(pair->socket);
}

#endif /* SWITCH_PUBLISHES_H */
