/* SPDX-License-Identifier: GPL-2.0-only */
/* A receiver of metrics in a thread: answers by a script, and keeps accepted samples. */
#ifndef UNIT_PUSH_RECEIVER_H
#define UNIT_PUSH_RECEIVER_H

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

#include "push_decode.h"

#define RECEIVER_ANSWERS_MAX 8
#define RECEIVER_HEAD_MAX 4096
#define RECEIVER_BODY_MAX (8 << 20)

#define ACCEPTED_2                                                          \
	"HTTP/1.1 200 OK\r\nX-Prometheus-Remote-Write-Samples-Written: 1\r\n" \
	"Content-Length: 0\r\n\r\n"
#define ACCEPTED "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

struct receiver {
	/* Answers to the first requests, in turn; the last one repeats. "": no answer. */
	const char *answers[RECEIVER_ANSWERS_MAX];
	/*
	 * If set, chooses the answer to a message instead, whose samples are @text; NULL for a
	 * HEAD.
	 */
	const char *(*choose)(struct receiver *receiver, const char *text);
	void *data;
	int fd;
	uint16_t port;
	pthread_t thread;
	atomic_int peer;		/* -1: no peer */
	atomic_uint requests;
	atomic_ullong bytes;		/* of messages, with their heads */
	/* Owned by the thread until it ends. */
	char head[RECEIVER_HEAD_MAX];	/* of the last request */
	char last_body[64];		/* its beginning */
	char *accepted;			/* samples, as text */
	size_t accepted_size;
	FILE *out;
};

/* Reads up to the blank line after the head; false if the peer is gone. */
static inline bool receiver__read_head(struct receiver *receiver, int peer)
{
	size_t length = 0;

	while (length + 1 < sizeof(receiver->head)) {
		if (recv(peer, receiver->head + length, 1, 0) != 1)
			return false;
		receiver->head[++length] = '\0';
		if (length >= 4 && !strcmp(receiver->head + length - 4, "\r\n\r\n"))
			return true;
	}
	return false;
}

static inline bool receiver__read_body(struct receiver *receiver, int peer,
				       uint8_t **body, size_t *length)
{
	const char *header = strstr(receiver->head, "Content-Length: ");

	*length = header ? strtoul(header + 16, NULL, 10) : 0;
	*body = *length < RECEIVER_BODY_MAX ? malloc(*length + 1) : NULL;
	/* With 0 bytes, recv() would wait for the first one. */
	return *body && (!*length || recv(peer, *body, *length, MSG_WAITALL) == (ssize_t)*length);
}

/* The samples of remote write as text, which the caller frees; NULL for other bodies. */
static inline char *receiver__decode(const struct receiver *receiver,
				     const uint8_t *body, size_t length)
{
	const bool is_second = strstr(receiver->head, "write.v2.Request");

	return strstr(receiver->head, "Content-Encoding: snappy") ?
		       decode_compressed(is_second, body, length) :
		       NULL;
}

static inline const char *receiver__scripted(const struct receiver *receiver)
{
	const unsigned int number = atomic_load(&receiver->requests);
	const char *answer = NULL;
	size_t i;

	for (i = 0; i <= number && i < RECEIVER_ANSWERS_MAX; i++)
		answer = receiver->answers[i] ?: answer;
	return answer;
}

static inline bool receiver__answer(struct receiver *receiver, int peer)
{
	const char *answer;
	uint8_t *body = NULL;
	size_t length;
	char *text = NULL;
	bool goes_on;

	if (!receiver__read_head(receiver, peer))
		return false;
	goes_on = receiver__read_body(receiver, peer, &body, &length);
	if (goes_on)
		text = receiver__decode(receiver, body, length);
	answer = receiver->choose ? receiver->choose(receiver, text) : receiver__scripted(receiver);
	if (text && !strncmp(answer, "HTTP/1.1 2", 10))
		fputs(text, receiver->out);
	free(text);
	free(body);
	/* Counted before the answer, so that the counts are right when the sender gets the answer. */
	atomic_fetch_add(&receiver->requests, 1);
	if (!strncmp(receiver->head, "POST ", 5))
		atomic_fetch_add(&receiver->bytes, strlen(receiver->head) + length);
	return goes_on && *answer && send(peer, answer, strlen(answer), MSG_NOSIGNAL) > 0;
}

/* Serves until the listener is shut down. */
static inline void *receiver__serve(void *data)
{
	struct receiver *receiver = data;
	struct pollfd listener = { .fd = receiver->fd, .events = POLLIN };
	int peer;

	while (poll(&listener, 1, -1) > 0 && (peer = accept(receiver->fd, NULL, NULL)) >= 0) {
		atomic_store(&receiver->peer, peer);
		while (receiver__answer(receiver, peer))
			;
		atomic_store(&receiver->peer, -1);
		close(peer);
	}
	return NULL;
}

/* Gets a port, at which nothing listens. */
static inline void receiver__bind(struct receiver *receiver)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t length = sizeof(address);

	atomic_init(&receiver->peer, -1);
	receiver->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(receiver->fd >= 0);
	assert_int_equal(bind(receiver->fd, (struct sockaddr *)&address, length), 0);
	assert_int_equal(getsockname(receiver->fd, (struct sockaddr *)&address, &length), 0);
	receiver->port = ntohs(address.sin_port);
}

static inline void receiver__run(struct receiver *receiver)
{
	receiver->out = open_memstream(&receiver->accepted, &receiver->accepted_size);
	assert_non_null(receiver->out);
	assert_int_equal(listen(receiver->fd, 8), 0);
	assert_int_equal(pthread_create(&receiver->thread, NULL, receiver__serve, receiver), 0);
}

static inline void receiver__open(struct receiver *receiver)
{
	receiver__bind(receiver);
	receiver__run(receiver);
}

/*
 * Call this when the sender is gone. Afterwards receiver->accepted is complete, for the caller to
 * free.
 */
static inline void receiver__close(struct receiver *receiver)
{
	shutdown(receiver->fd, SHUT_RDWR);
	pthread_join(receiver->thread, NULL);
	close(receiver->fd);
	fclose(receiver->out);
}

#endif /* UNIT_PUSH_RECEIVER_H */
