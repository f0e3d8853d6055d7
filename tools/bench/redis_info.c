// SPDX-License-Identifier: GPL-2.0-only
/*
 * redis_info [--count N] [--interval 100ms] one|together FIRST_PORT SERVERS [FILE]: the minimal
 * work of a collector that asks redis-servers of this host.
 *
 * In each round it sends INFO to the servers at SERVERS ports from FIRST_PORT on, over one
 * connection each, which it keeps: to one server after the other, or together, so that it awaits
 * no answer before all servers are asked.  Nothing is parsed or sent on.  A server that does not
 * listen yet is awaited.  Notifies its parent when it is connected to all (sd_notify(3)).
 *
 * With FILE each answer is appended to it, after a line
 *
 *	PORT BEGIN END LENGTH
 *
 * with the times (CLOCK_BOOTTIME, ns) before INFO was sent and after the answer was read, and
 * LENGTH, the bytes of the answer, which follow the line.  After each round the file is whole.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <systemd/sd-daemon.h>

#include "timing.h"

#define ANSWER_MAX 65536
#define CONNECT_TRIES 1500 /* every 20 ms */

struct server {
	uint16_t port;
	int fd;
	uint64_t begin_ns; /* of the last question */
};

struct servers {
	struct server *list;
	size_t count;
	bool are_asked_together;
	FILE *file; /* or NULL */
	size_t bytes; /* of the answers of the last round */
	uint64_t cpu_ns; /* of all rounds */
};

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static int connect_to(uint16_t port)
{
	const struct timespec pause = { .tv_nsec = 20000000 };
	const struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd, i, one = 1;

	for (i = 0; i < CONNECT_TRIES; i++) {
		fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fd < 0)
			err(EXIT_FAILURE, "socket");
		if (!connect(fd, (const struct sockaddr *)&address, sizeof(address))) {
			setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
			return fd;
		}
		if (errno != ECONNREFUSED)
			break;
		close(fd);
		nanosleep(&pause, NULL);
	}
	err(EXIT_FAILURE, "port %u", port);
}

static void ask(struct server *server)
{
	static const char question[] = "*1\r\n$4\r\nINFO\r\n";

	server->begin_ns = now_ns(CLOCK_BOOTTIME);
	if (write(server->fd, question, sizeof(question) - 1) != sizeof(question) - 1)
		err(EXIT_FAILURE, "port %u", server->port);
}

/* An answer is "$LENGTH\r\n", as many bytes, and "\r\n". */
static void take_answer(struct servers *servers, const struct server *server)
{
	static char bytes[ANSWER_MAX + 1];
	size_t used = 0, length = 0, total = 0;
	char *text = NULL;
	ssize_t got;

	while (!text || used < total) {
		got = read(server->fd, bytes + used, ANSWER_MAX - used);
		if (got <= 0)
			err(EXIT_FAILURE, "port %u", server->port);
		used += got;
		bytes[used] = '\0';
		if (!text && strstr(bytes, "\r\n")) {
			if (sscanf(bytes, "$%zu", &length) != 1 || length > ANSWER_MAX - 32)
				errx(EXIT_FAILURE, "port %u: no answer to INFO: %.40s",
				     server->port, bytes);
			text = strstr(bytes, "\r\n") + 2;
			total = text - bytes + length + 2;
		}
	}
	servers->bytes += length;
	if (!servers->file)
		return;
	fprintf(servers->file, "%u %ju %ju %zu\n", server->port, (uintmax_t)server->begin_ns,
		(uintmax_t)now_ns(CLOCK_BOOTTIME), length);
	fwrite(text, 1, length, servers->file);
}

static uint64_t ask_all(void *context)
{
	uint64_t start = timing__now_ns(), cpu_start = now_ns(CLOCK_PROCESS_CPUTIME_ID), end;
	struct servers *servers = context;
	size_t i;

	servers->bytes = 0;
	for (i = 0; i < servers->count; i++) {
		ask(&servers->list[i]);
		if (!servers->are_asked_together)
			take_answer(servers, &servers->list[i]);
	}
	for (i = 0; servers->are_asked_together && i < servers->count; i++)
		take_answer(servers, &servers->list[i]);
	end = timing__now_ns();
	if (servers->file && fflush(servers->file))
		err(EXIT_FAILURE, "FILE");
	servers->cpu_ns += now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_start;
	return end - start;
}

/* A number up to 65535, or 0. */
static unsigned long number(const char *text)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	return *text >= '0' && *text <= '9' && !*end && value <= UINT16_MAX ? value : 0;
}

static bool take_arguments(struct servers *servers, int argc, char *argv[])
{
	unsigned long port;
	size_t i;

	if (argc < 3 || argc > 4)
		return false;
	servers->are_asked_together = !strcmp(argv[0], "together");
	port = number(argv[1]);
	servers->count = number(argv[2]);
	if ((!servers->are_asked_together && strcmp(argv[0], "one")) || !port || !servers->count ||
	    port + servers->count - 1 > UINT16_MAX)
		return false;
	servers->list = calloc(servers->count, sizeof(*servers->list));
	if (!servers->list)
		err(EXIT_FAILURE, "memory");
	for (i = 0; i < servers->count; i++)
		servers->list[i].port = port + i;
	if (argc == 4) {
		servers->file = fopen(argv[3], "we");
		if (!servers->file)
			err(EXIT_FAILURE, "%s", argv[3]);
	}
	return true;
}

int main(int argc, char *argv[])
{
	struct servers servers = {};
	struct timing timing;
	int first = timing__parse(&timing, argc, argv);
	unsigned long count;
	size_t i;

	if (first < 0 || !take_arguments(&servers, argc - first, argv + first))
		errx(EXIT_FAILURE,
		     "usage: redis_info [--count N] [--interval 100ms] one|together FIRST_PORT SERVERS [FILE]");
	for (i = 0; i < servers.count; i++)
		servers.list[i].fd = connect_to(servers.list[i].port);

	sd_notify(0, "READY=1");
	printf("{");
	count = timing__run(&timing, ask_all, &servers);
	printf(", \"servers\": %zu, \"bytes\": %zu, \"cpu_ns\": %ju}\n", servers.count,
	       servers.bytes, (uintmax_t)(servers.cpu_ns / count));
	for (i = 0; i < servers.count; i++)
		close(servers.list[i].fd);
	free(servers.list);
	if (servers.file && fclose(servers.file))
		err(EXIT_FAILURE, "FILE");
	return EXIT_SUCCESS;
}
