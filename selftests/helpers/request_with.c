// SPDX-License-Identifier: GPL-2.0-only
/*
 * request_with FILE LINE: sends the line with a descriptor of the file, open for reading and
 * writing or else for reading, to the registration socket, and prints the reply.  Fails if
 * the reply is an error.
 *
 * request_with -s FILE LINE ROUNDS: repeats this ROUNDS times while another thread truncates
 * the file and restores its length.  Fails without a reply.
 */
#include <errno.h>
#include <error.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libdart/registration/descriptor.h>

#include "selftests/lib/agent_socket.h"

struct shrinking {
	int fd;
	off_t size;
	atomic_bool ends;
};

static int open_file(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		error(1, errno, "%s", path);
	return fd;
}

/* Returns whether the reply is "ok". */
static int ask(FILE *agent, int fd, const char *line)
{
	char request[4096], *reply = NULL;
	size_t size = 0;
	int is_ok;

	snprintf(request, sizeof(request), "%s\n", line);
	if (dart_descriptor__send(fileno(agent), request, strlen(request), 0, fd) < 0 ||
	    getline(&reply, &size, agent) < 0)
		error(1, errno, "no reply");
	is_ok = !!strstr(reply, "\"ok\":true");
	fputs(reply, stdout);
	free(reply);
	return is_ok;
}

static void *shrink(void *argument)
{
	struct shrinking *shrinking = argument;

	while (!shrinking->ends)
		if (ftruncate(shrinking->fd, 0) || ftruncate(shrinking->fd, shrinking->size))
			error(1, errno, "cannot truncate");
	return NULL;
}

int main(int argc, char *argv[])
{
	struct shrinking shrinking = {};
	struct stat status;
	pthread_t thread;
	FILE *agent;
	int fd, rounds;

	agent = fdopen(agent_socket__connect(), "r");
	if (argc == 3)
		return !ask(agent, open_file(argv[1]), argv[2]);
	if (argc != 5 || strcmp(argv[1], "-s"))
		error(2, 0, "usage: request_with [-s] FILE LINE [ROUNDS]");
	fd = open_file(argv[2]);
	if (fstat(fd, &status))
		error(1, errno, "%s", argv[2]);
	shrinking.fd = fd;
	shrinking.size = status.st_size;
	if (pthread_create(&thread, NULL, shrink, &shrinking))
		error(1, 0, "no thread");
	for (rounds = atoi(argv[4]); rounds; rounds--)
		ask(agent, fd, argv[3]);
	shrinking.ends = true;
	pthread_join(thread, NULL);
	return EXIT_SUCCESS;
}
