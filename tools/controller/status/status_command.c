// SPDX-License-Identifier: GPL-2.0-only
/* Asks a controller for its state, and prints the state as JSON or for people. */
#include "status_command.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "status_server.h"
#include "status_table.h"

/* The service keeps its control socket here. */
#define DIRECTORY "/run/dart-controller"
/* Enough for 10,000 targets with the maximum of labels. */
#define ANSWER_MAX (256U << 20)
/* The command gives up when no byte arrives for so long. */
#define TIMEOUT_S 10

/* Returns a descriptor, or -errno with a sentence in @error. */
static int ask(const struct sockaddr_un *address, struct dart_error *error)
{
	static const char request[] = CONTROL_SOCKET_STATUS;
	const struct timeval timeout = { .tv_sec = TIMEOUT_S };
	int fd;

	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return dart_error__system(error, errno, "cannot open a socket");
	if (connect(fd, (const struct sockaddr *)address, sizeof(*address))) {
		dart_error__system(
			error, errno,
			"no controller answers at '%s' (start one with --socket): cannot connect",
			address->sun_path);
	} else if (!setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)) &&
		   send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL) == sizeof(request) - 1) {
		return fd;
	} else {
		dart_error__system(error, errno, "cannot write to '%s'", address->sun_path);
	}
	close(fd);
	return -EIO;
}

/*
 * Reads until the controller closes the connection. The caller frees the text; NULL with a sentence
 * in @error.
 */
static char *read_answer(int fd, size_t *length, struct dart_error *error)
{
	char buffer[65536], *text = NULL;
	ssize_t got = 0;
	FILE *out;

	out = open_memstream(&text, length);
	if (!out) {
		dart_error__no_memory(error);
		return NULL;
	}
	while ((got = recv(fd, buffer, sizeof(buffer), 0)) > 0 || (got < 0 && errno == EINTR)) {
		if (got > 0)
			fwrite(buffer, 1, got, out);
		if (ftell(out) > (long)ANSWER_MAX)
			break;
	}
	if (got < 0)
		dart_error__system(error, errno, "the controller does not answer");
	else if (got > 0)
		dart_error__set(error, EFBIG, "the answer has no end");
	if (!fclose(out) && !got)
		return text;
	free(text);
	return NULL;
}

static json_t *get_status(const struct options *options, char **text, struct dart_error *error)
{
	struct sockaddr_un address;
	json_error_t reason;
	size_t length = 0;
	json_t *status;
	int fd;

	if (control_socket__address(options->socket, DIRECTORY, &address, error) < 0)
		return NULL;
	fd = ask(&address, error);
	if (fd < 0)
		return NULL;
	*text = read_answer(fd, &length, error);
	close(fd);
	if (!*text)
		return NULL;
	status = json_loadb(*text, length, JSON_REJECT_DUPLICATES, &reason);
	if (!status)
		dart_error__set(
			error, EINVAL,
			length ? "the answer is not JSON: %s" :
				 "the controller has too many clients, or another version%.0s",
			reason.text);
	return status;
}

int status_command__run(const struct options *options)
{
	struct dart_error error = {};
	char *text = NULL;
	json_t *status;
	int err;

	status = get_status(options, &text, &error);
	err = status ? 0 : -EIO;
	if (status && options->json)
		fputs(text, stdout);
	else if (status)
		err = status_table__print(status, stdout, &error);
	json_decref(status);
	free(text);
	if (err)
		fprintf(stderr, "dart-controller: %s\n", error.text);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
