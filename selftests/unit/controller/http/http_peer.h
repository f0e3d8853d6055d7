/* SPDX-License-Identifier: GPL-2.0-only */
/* A peer of an HTTP server that a test opened at 127.0.0.1. */
#ifndef HTTP_PEER_H
#define HTTP_PEER_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tools/controller/http/http_server.h"

#include "selftests/unit/unit.h"

/* @source: an address of this host, 127.x.y.z. */
static int connect_from(const char *source, const struct http_server *server)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_true(fd >= 0);
	assert_int_equal(inet_pton(AF_INET, source, &address.sin_addr), 1);
	assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	address.sin_port = htons(http_server__port(server));
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static int connect_to(const struct http_server *server)
{
	return connect_from("127.0.0.1", server);
}

static void say(int fd, const char *text, size_t length)
{
	assert_int_equal(send(fd, text, length, MSG_NOSIGNAL), length);
}

/* The whole answer, until the server closes, with a NUL. */
static char *ask(const struct http_server *server, const char *request, size_t *length)
{
	const size_t room = 1 << 17;
	char *answer = malloc(room);
	int fd = connect_to(server);
	ssize_t got;

	assert_non_null(answer);
	say(fd, request, strlen(request));
	*length = 0;
	while ((got = recv(fd, answer + *length, room - 1 - *length, 0)) > 0)
		*length += got;
	assert_int_equal(got, 0);
	answer[*length] = '\0';
	close(fd);
	return answer;
}

static void expect(const struct http_server *server, const char *request,
		   const char *status, const char *end)
{
	size_t length;
	char *answer = ask(server, request, &length);

	if (!strstr(answer, status))
		fail_msg("%s is not in %s", status, answer);
	assert_true(length > strlen(end));
	assert_string_equal(answer + length - strlen(end), end);
	free(answer);
}

#define GET(path, headers) \
	"GET " path " HTTP/1.1\r\nHost: h\r\nConnection: close\r\n" headers "\r\n"

#endif /* HTTP_PEER_H */
