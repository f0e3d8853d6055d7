// SPDX-License-Identifier: GPL-2.0-only
/* A thread that answers 204: see bare_http.h. */
#include "bare_http.h"

#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tools/controller/base/thread.h"

#define HEAD_BYTES_MAX 4096
#define BACKLOG 64

static void answer(int fd)
{
	static const char none[] = "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n";
	char head[HEAD_BYTES_MAX + 1];
	size_t length = 0;
	ssize_t got;

	do {
		got = recv(fd, head + length, HEAD_BYTES_MAX - length, 0);
		if (got <= 0)
			return;
		length += got;
		head[length] = '\0';
	} while (length < HEAD_BYTES_MAX && !strstr(head, "\r\n\r\n"));
	send(fd, none, sizeof(none) - 1, MSG_NOSIGNAL);
}

static void *answer_all(void *data)
{
	const int listener = (intptr_t)data;
	int fd;

	for (;;) {
		fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd < 0)
			continue;
		answer(fd);
		close(fd);
	}
	return NULL;
}

int bare_http__start(uint16_t port)
{
	const struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
	pthread_t thread;
	int err;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (const struct sockaddr *)&address, sizeof(address)) || listen(fd, BACKLOG)) {
		err = -errno;
		close(fd);
		return err;
	}
	err = thread__start(&thread, "bare", answer_all, (void *)(intptr_t)fd);
	if (err)
		close(fd);
	return err;
}
