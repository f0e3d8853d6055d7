// SPDX-License-Identifier: GPL-2.0-only
/*
 * service_manager [-d NAME=FILE]... COMMAND [ARGUMENT...]: plays systemd for a service
 * with Type=notify, FileDescriptorStoreMax= and Restart=on-failure, in guests without it:
 * runs the command, keeps the descriptors that it sends (FDSTORE=1 of sd_notify(3)), and
 * starts it again with them (sd_listen_fds(3)) if it fails, or after SIGHUP, which first
 * ends it.  -d: passes an open FILE to the first start.  It passes READY=1 on, and prints
 * each of its steps in a line, and "more time" if the service asks for it.
 */
#include <errno.h>
#include <error.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#define KEPT_MAX	96
#define NAME_LENGTH	256
#define FIRST_FD	3

struct kept {
	char name[NAME_LENGTH];
	int fd;
};

struct manager {
	struct kept kept[KEPT_MAX];
	int kept_count;
	int notify;		/* where the service sends messages */
	int signals;
	char address[sizeof(((struct sockaddr_un *)NULL)->sun_path) + 1];
	char **command;
	pid_t service;
	bool is_ending, is_restarting;
};

static void manager__keep(struct manager *manager, const char *name, int fd)
{
	struct kept *kept = &manager->kept[manager->kept_count];

	if (manager->kept_count == KEPT_MAX)
		error(1, 0, "too many descriptors");
	snprintf(kept->name, sizeof(kept->name), "%s", name);
	kept->fd = fcntl(fd, F_DUPFD_CLOEXEC, 100);
	if (kept->fd < 0)
		error(1, errno, "%s", name);
	manager->kept_count++;
}

static void manager__remove(struct manager *manager, const char *name)
{
	int i, left = 0;

	for (i = 0; i < manager->kept_count; i++) {
		if (strcmp(manager->kept[i].name, name))
			manager->kept[left++] = manager->kept[i];
		else
			close(manager->kept[i].fd);
	}
	printf("removed %s: %d\n", name, manager->kept_count - left);
	manager->kept_count = left;
}

/* The value of a line "NAME=VALUE"; "" without such a line. */
static void line_of(const char *message, const char *name, char value[static NAME_LENGTH])
{
	size_t length = strlen(name);
	const char *line;

	value[0] = '\0';
	for (line = message; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, name, length) && line[length] == '=')
			snprintf(value, NAME_LENGTH, "%.*s", (int)strcspn(line + length + 1, "\n"),
				 line + length + 1);
	}
}

static void manager__take(struct manager *manager, const char *message, const int *fds, int count)
{
	char name[NAME_LENGTH], value[NAME_LENGTH];
	int i;

	line_of(message, "FDNAME", name);
	line_of(message, "FDSTORE", value);
	for (i = 0; i < count; i++) {
		if (!strcmp(value, "1")) {
			manager__keep(manager, name, fds[i]);
			printf("stored %s\n", name);
		}
		close(fds[i]);	/* which ends a barrier */
	}
	line_of(message, "FDSTOREREMOVE", value);
	if (!strcmp(value, "1"))
		manager__remove(manager, name);
	line_of(message, "EXTEND_TIMEOUT_USEC", value);
	if (*value && strstr(message, "WATCHDOG=1"))
		puts("more time");
	line_of(message, "READY", value);
	if (!strcmp(value, "1")) {
		puts("ready");
		sd_notify(0, "READY=1");
	}
}

static void manager__receive(struct manager *manager)
{
	char message[4096], control[CMSG_SPACE(16 * sizeof(int))];
	struct iovec bytes = { message, sizeof(message) - 1 };
	struct msghdr header = {
		.msg_iov = &bytes,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *part;
	int fds[16], count = 0;
	ssize_t length;

	length = recvmsg(manager->notify, &header, MSG_CMSG_CLOEXEC);
	if (length < 0)
		error(1, errno, "cannot receive");
	message[length] = '\0';
	for (part = CMSG_FIRSTHDR(&header); part; part = CMSG_NXTHDR(&header, part)) {
		if (part->cmsg_type != SCM_RIGHTS)
			continue;
		count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(fds, CMSG_DATA(part), count * sizeof(int));
	}
	manager__take(manager, message, fds, count);
}

static void set_number(const char *name, int number)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", number);
	setenv(name, text, 1);
}

static void manager__execute(const struct manager *manager)
{
	char names[KEPT_MAX * NAME_LENGTH] = "";
	sigset_t none;
	int i;

	for (i = 0; i < manager->kept_count; i++) {
		if (dup2(manager->kept[i].fd, FIRST_FD + i) < 0)
			_exit(126);
		strcat(strcat(names, i ? ":" : ""), manager->kept[i].name);
	}
	if (manager->kept_count) {
		set_number("LISTEN_FDS", manager->kept_count);
		set_number("LISTEN_PID", getpid());
		setenv("LISTEN_FDNAMES", names, 1);
	}
	setenv("NOTIFY_SOCKET", manager->address, 1);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execvp(manager->command[0], manager->command);
	_exit(127);
}

static void manager__start(struct manager *manager)
{
	printf("start with %d descriptors\n", manager->kept_count);
	fflush(stdout);
	manager->is_restarting = false;
	manager->service = fork();
	if (manager->service < 0)
		error(1, errno, "fork");
	if (!manager->service)
		manager__execute(manager);
}

static void manager__on_end(struct manager *manager)
{
	int status;

	if (waitpid(manager->service, &status, WNOHANG) != manager->service)
		return;
	printf("ended with status %#x\n", status);
	if (manager->is_ending || (!status && !manager->is_restarting))
		exit(EXIT_SUCCESS);
	manager__start(manager);
}

static void manager__on_signal(struct manager *manager)
{
	struct signalfd_siginfo signal;

	if (read(manager->signals, &signal, sizeof(signal)) != sizeof(signal))
		error(1, errno, "signalfd");
	if (signal.ssi_signo == SIGCHLD) {
		manager__on_end(manager);
		return;
	}
	manager->is_restarting = signal.ssi_signo == SIGHUP;
	manager->is_ending = !manager->is_restarting;
	kill(manager->service, SIGTERM);
}

static void manager__open(struct manager *manager)
{
	/* An abstract address that the kernel chooses. */
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	socklen_t length = sizeof(address);
	sigset_t set;

	manager->notify = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (manager->notify < 0 ||
	    bind(manager->notify, (struct sockaddr *)&address, sizeof(sa_family_t)) ||
	    getsockname(manager->notify, (struct sockaddr *)&address, &length))
		error(1, errno, "notify socket");
	manager->address[0] = '@';
	memcpy(manager->address + 1, address.sun_path + 1, length - sizeof(sa_family_t) - 1);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	manager->signals = signalfd(-1, &set, SFD_CLOEXEC);
	if (manager->signals < 0)
		error(1, errno, "signalfd");
}

static void manager__take_file(struct manager *manager, char *option)
{
	char *path = strchr(option, '=');
	int fd;

	if (!path)
		error(2, 0, "-d NAME=FILE");
	*path++ = '\0';
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		error(1, errno, "%s", path);
	manager__keep(manager, option, fd);
	close(fd);
}

int main(int argc, char **argv)
{
	struct manager manager = { .kept_count = 0 };
	struct pollfd events[2];
	int option;

	while ((option = getopt(argc, argv, "+d:")) != -1) {
		if (option != 'd')
			return 2;
		manager__take_file(&manager, optarg);
	}
	manager.command = argv + optind;
	setvbuf(stdout, NULL, _IOLBF, 0);
	manager__open(&manager);
	manager__start(&manager);
	events[0] = (struct pollfd){ manager.notify, POLLIN, 0 };
	events[1] = (struct pollfd){ manager.signals, POLLIN, 0 };
	for (;;) {
		if (poll(events, 2, -1) < 0)
			error(1, errno, "poll");
		/* Messages first: their sender may be dead by now. */
		if (events[0].revents)
			manager__receive(&manager);
		else if (events[1].revents)
			manager__on_signal(&manager);
	}
}
