// SPDX-License-Identifier: GPL-2.0-only
/* The server in a peer: runs commands for other guests. */
#include "exec_server.h"
#include "exec_protocol.h"
#include "transfer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARGUMENTS_MAX	4096

struct command {
	char *directory;
	char *path;
	char *argv[ARGUMENTS_MAX + 1];
};

/* Split @strings, @length bytes that the caller owns. */
static int command__parse(struct command *command, char *strings, size_t length)
{
	char *next = strings, *end = strings + length;
	size_t count = 0;

	if (!length || end[-1] != '\0')
		return -EPROTO;
	command->directory = next;
	next += strlen(next) + 1;
	if (next == end)
		return -EPROTO;
	command->path = next;
	next += strlen(next) + 1;
	while (next < end) {
		if (count == ARGUMENTS_MAX)
			return -E2BIG;
		command->argv[count++] = next;
		next += strlen(next) + 1;
	}
	command->argv[count] = NULL;
	return count ? 0 : -EPROTO;
}

static int command__receive(struct command *command, int connection)
{
	struct exec_request request;
	char *strings;
	int err;

	err = transfer__read(connection, &request, sizeof(request));
	if (err)
		return err;
	if (request.length > EXEC_REQUEST_MAX)
		return -E2BIG;
	strings = malloc(request.length + 1);
	if (!strings)
		return -ENOMEM;
	err = transfer__read(connection, strings, request.length);
	if (!err)
		err = command__parse(command, strings, request.length);
	return err;	/* the strings are freed with this process */
}

static _Noreturn void command__execute(const struct command *command, int output, int errors)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	setpgid(0, 0);
	dup2(output, STDOUT_FILENO);
	dup2(errors, STDERR_FILENO);
	setenv("PATH", command->path, 1);
	if (chdir(command->directory)) {
		fprintf(stderr, "on: %s: %m\n", command->directory);
		_exit(126);
	}
	execvp(command->argv[0], command->argv);
	fprintf(stderr, "on: %s: %m\n", command->argv[0]);
	_exit(errno == ENOENT ? 127 : 126);
}

static int frame__send(int connection, enum exec_frame_kind kind, const void *data, size_t length)
{
	struct exec_frame frame = { .kind = kind, .length = length };
	int err;

	err = transfer__write(connection, &frame, sizeof(frame));
	return err ? err : transfer__write(connection, data, length);
}

/* Returns the number of relayed bytes, 0 if none is available, or -errno. */
static ssize_t stream__relay(int from, int connection, enum exec_frame_kind kind)
{
	static char data[EXEC_FRAME_MAX];
	ssize_t count;
	int err;

	count = read(from, data, sizeof(data));
	if (count <= 0)
		return 0;
	err = frame__send(connection, kind, data, count);
	return err ? err : count;
}

/*
 * Relays until the command ends or the client disconnects.  Later output of background
 * processes is lost.
 */
static void command__attend(pid_t child, int connection, int output, int errors)
{
	enum { HANGUP, CHILD, OUTPUT, ERRORS, COUNT };
	struct pollfd polled[COUNT] = {
		[HANGUP] = { .fd = connection, .events = POLLRDHUP },
		[CHILD] = { .events = POLLIN },
		[OUTPUT] = { .fd = output, .events = POLLIN },
		[ERRORS] = { .fd = errors, .events = POLLIN },
	};
	int status, i;
	uint32_t code;
	sigset_t child_signal;

	sigemptyset(&child_signal);
	sigaddset(&child_signal, SIGCHLD);
	polled[CHILD].fd = signalfd(-1, &child_signal, SFD_CLOEXEC);

	while (waitpid(child, &status, WNOHANG) == 0) {
		if (poll(polled, COUNT, -1) < 0)
			continue;
		if (polled[HANGUP].revents)
			goto gone;
		for (i = OUTPUT; i <= ERRORS; i++) {
			if (!polled[i].revents)
				continue;
			status = stream__relay(polled[i].fd, connection, EXEC_OUTPUT + i - OUTPUT);
			if (status < 0)
				goto gone;
			if (status == 0)
				polled[i].fd = -1;	/* closed early */
		}
		if (polled[CHILD].revents) {
			struct signalfd_siginfo info;

			if (read(polled[CHILD].fd, &info, sizeof(info)) < 0)
				goto gone;
		}
	}
	while (stream__relay(output, connection, EXEC_OUTPUT) > 0)
		;
	while (stream__relay(errors, connection, EXEC_ERRORS) > 0)
		;
	code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	frame__send(connection, EXEC_STATUS, &code, sizeof(code));
	return;
gone:
	kill(-child, SIGKILL);
}

static void connection__serve(int connection)
{
	static struct command command;
	int output[2], errors[2], yes = 1;
	sigset_t child_signal;
	pid_t child;

	setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	if (command__receive(&command, connection))
		return;
	if (pipe2(output, O_CLOEXEC) || pipe2(errors, O_CLOEXEC))
		return;
	fcntl(output[0], F_SETFL, O_NONBLOCK);
	fcntl(errors[0], F_SETFL, O_NONBLOCK);

	sigemptyset(&child_signal);
	sigaddset(&child_signal, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child_signal, NULL);
	child = fork();
	if (child < 0)
		return;
	if (child == 0)
		command__execute(&command, output[1], errors[1]);
	setpgid(child, child);	/* the group can be killed from now on */
	close(output[1]);
	close(errors[1]);
	command__attend(child, connection, output[0], errors[0]);
}

int exec_server__listen(void)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(EXEC_PORT),
	};
	int listener, err;

	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listener < 0)
		return -errno;
	if (bind(listener, (void *)&address, sizeof(address)) || listen(listener, SOMAXCONN)) {
		err = -errno;
		close(listener);
		return err;
	}
	return listener;
}

_Noreturn void exec_server__run(int listener)
{
	int connection;

	signal(SIGPIPE, SIG_IGN);
	signal(SIGCHLD, SIG_IGN);	/* the kernel reaps the servers */
	for (;;) {
		connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (connection < 0)
			continue;
		if (fork() == 0) {
			signal(SIGCHLD, SIG_DFL);
			connection__serve(connection);
			_exit(0);
		}
		close(connection);
	}
}
