// SPDX-License-Identifier: GPL-2.0-only
/*
 * on PEER COMMAND...: run a command in another guest of the same run.
 *
 * It runs there in the same directory with the same PATH and GATHERER, which host_up reads, and
 * without input.  on prints its output and its errors, and ends with its exit status.
 */
#include "exec_protocol.h"
#include "transfer.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Exit status if on itself fails, as with ssh(1). */
#define FAILED	255

static int peer__connect(const char *name)
{
	struct addrinfo *addresses, *address;
	struct addrinfo hints = {
		.ai_family = AF_INET,
		.ai_socktype = SOCK_STREAM,
	};
	char port[16];
	int fd = -1, err;

	snprintf(port, sizeof(port), "%d", EXEC_PORT);
	err = getaddrinfo(name, port, &hints, &addresses);
	if (err) {
		fprintf(stderr, "on: cannot resolve the peer \"%s\": %s (the peers are in /etc/hosts)\n",
			name, gai_strerror(err));
		return -1;
	}
	for (address = addresses; address; address = address->ai_next) {
		fd = socket(address->ai_family, address->ai_socktype, 0);
		if (fd < 0)
			continue;
		if (!connect(fd, address->ai_addr, address->ai_addrlen))
			break;
		err = errno;
		close(fd);
		fd = -1;
		errno = err;
	}
	if (fd < 0)
		fprintf(stderr, "on: cannot connect to \"%s\": %m\n", name);
	freeaddrinfo(addresses);
	return fd;
}

static int request__send(int fd, char *argv[])
{
	struct exec_request request;
	char *directory = NULL, *data = NULL;
	const char *path = getenv("PATH"), *gatherer = getenv("GATHERER");
	size_t size;
	FILE *stream;
	int err = -ENOMEM;

	directory = getcwd(NULL, 0);
	if (!directory)
		return -errno;
	stream = open_memstream(&data, &size);
	if (!stream)
		goto out;
	fprintf(stream, "%s%c%s%c", directory, 0, path ? path : "", 0);
	if (gatherer)
		fprintf(stream, "env%cGATHERER=%s%c", 0, gatherer, 0);
	for (; *argv; argv++)
		fprintf(stream, "%s%c", *argv, 0);
	if (fclose(stream))
		goto out;
	err = -E2BIG;
	if (size > EXEC_REQUEST_MAX)
		goto out;
	request.length = size;
	err = transfer__write(fd, &request, sizeof(request));
	if (!err)
		err = transfer__write(fd, data, size);
out:
	free(data);
	free(directory);
	return err;
}

/* Returns the status of the command, or -errno. */
static int answer__relay(int fd)
{
	static char data[EXEC_FRAME_MAX];
	struct exec_frame frame;
	uint32_t status;
	int err;

	for (;;) {
		err = transfer__read(fd, &frame, sizeof(frame));
		if (err)
			return err;
		if (frame.length > sizeof(data))
			return -EPROTO;
		err = transfer__read(fd, data, frame.length);
		if (err)
			return err;
		switch (frame.kind) {
		case EXEC_OUTPUT:
			err = transfer__write(STDOUT_FILENO, data, frame.length);
			break;
		case EXEC_ERRORS:
			err = transfer__write(STDERR_FILENO, data, frame.length);
			break;
		case EXEC_STATUS:
			if (frame.length != sizeof(status))
				return -EPROTO;
			memcpy(&status, data, sizeof(status));
			return status & 0xff;
		default:
			err = -EPROTO;
		}
		if (err)
			return err;
	}
}

int main(int argc, char *argv[])
{
	int fd, status;

	if (argc < 3 || argv[1][0] == '-') {
		fprintf(stderr, "usage: on PEER COMMAND [ARGUMENT...]\n");
		return FAILED;
	}
	fd = peer__connect(argv[1]);
	if (fd < 0)
		return FAILED;
	status = request__send(fd, argv + 2);
	if (!status)
		status = answer__relay(fd);
	if (status < 0) {
		fprintf(stderr, "on: the connection to \"%s\" failed: %s\n",
			argv[1], strerror(-status));
		return FAILED;
	}
	return status;
}
