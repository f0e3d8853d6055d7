// SPDX-License-Identifier: GPL-2.0-only
/*
 * PID 1 of a guest: makes the guest look like the host, runs one command and
 * reports its exit status.
 *
 * Three virtio ports lead to the host: the command's output, its errors, and
 * a control port that carries lines.  The guest sends
 *
 *	ready NAME		it has booted and waits
 *	status NAME CODE	it is done; CODE is the command's exit status, 0
 *				without a command, 125 if the kernel complained
 *
 * and the host answers with a line "go", which starts the command, or "off".
 *
 * If the configuration names a service manager, PID 1 becomes that manager once the
 * guest is prepared, and a child carries on.  In a guest that keeps its changes the
 * manager ends it.
 */
#include "exec_server.h"
#include "file_system.h"
#include "guest_config.h"
#include "kernel_leaks.h"
#include "kernel_log.h"
#include "manager.h"
#include "network.h"
#include "transfer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/reboot.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define STATUS_BROKEN	125

struct guest {
	struct guest_config config;
	int control;		/* ports to the host */
	int output;
	int errors;
	int kernel_log;
	int kernel_leaks;	/* negative: the kernel lacks kmemleak */
	int children;		/* readable when a child ended */
	pid_t command;		/* 0: not started */
	int status;
	bool dirty;
	bool done;
};

static _Noreturn void power_off(void)
{
	reboot(RB_POWER_OFF);
	for (;;)
		pause();
}

/* The ports may not be open yet, so write to the console, not to the host. */
static _Noreturn void give_up(const char *what, int err)
{
	int console = open("/dev/console", O_WRONLY | O_CLOEXEC);

	dprintf(console, "init: %s: %s\n", what, strerror(-err));
	power_off();
}

static void port__print(int port, const char *format, ...)
{
	va_list arguments;
	char *text;
	int length;

	va_start(arguments, format);
	length = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (length < 0)
		return;
	transfer__write(port, text, length);
	free(text);
}

/* Returns a descriptor, or -1 if the port does not exist yet. */
static int port__try(int number)
{
	char pattern[32];
	glob_t found;
	int fd = -1;

	/* The first number names the bus and may be any. */
	snprintf(pattern, sizeof(pattern), "/dev/vport*p%d", number);
	if (!glob(pattern, 0, NULL, &found))
		fd = open(found.gl_pathv[0], O_RDWR | O_CLOEXEC);
	globfree(&found);
	return fd;
}

/* A port appears a little after its bus, once the host names it. */
static int port__open(int number)
{
	struct inotify_event events[64];
	int watch, fd;

	watch = inotify_init1(IN_CLOEXEC);
	if (watch < 0 || inotify_add_watch(watch, "/dev", IN_CREATE) < 0)
		give_up("/dev", -errno);
	while ((fd = port__try(number)) < 0) {
		if (read(watch, events, sizeof(events)) < 0)
			give_up("/dev", -errno);
	}
	close(watch);
	return fd;
}

/* Waits until the host has read everything. */
static void port__flush(int fd)
{
	struct pollfd polled = { .fd = fd, .events = POLLOUT };

	poll(&polled, 1, -1);
}

/* The names in /modules of the initramfs sort in the order of dependencies. */
static void modules__load(void)
{
	struct dirent **names;
	int count, i, directory, fd;

	count = scandir("/modules", &names, NULL, alphasort);
	directory = open("/modules", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (i = 0; i < count; i++) {
		if (names[i]->d_name[0] == '.')
			continue;
		fd = openat(directory, names[i]->d_name, O_RDONLY | O_CLOEXEC);
		if (syscall(SYS_finit_module, fd, "", 0))
			give_up(names[i]->d_name, -errno);
		close(fd);
	}
	close(directory);
}

/* Without device nodes in the initramfs, PID 1 starts without standard streams. */
static void console__open(void)
{
	int console = open("/dev/console", O_RDWR);

	dup2(console, STDIN_FILENO);
	dup2(console, STDOUT_FILENO);
	dup2(console, STDERR_FILENO);
	if (console > STDERR_FILENO)
		close(console);
}

static void guest__prepare(struct guest *guest)
{
	const char *where;
	sigset_t signals;
	int err, null;

	err = file_system__mount_kernel();
	if (err)
		give_up("kernel file systems", err);
	console__open();
	err = guest_config__load(&guest->config);
	if (err)
		give_up("/guest", err);
	modules__load();
	guest->control = port__open(1);
	guest->output = port__open(2);
	guest->errors = port__open(3);
	guest->kernel_log = kernel_log__open();
	if (guest->kernel_log < 0)
		give_up("/dev/kmsg", guest->kernel_log);
	err = file_system__enter(&guest->config, &where);
	if (err)
		give_up(where, err);
	guest->kernel_leaks = kernel_leaks__open();
	if (guest->kernel_leaks < 0 && guest->kernel_leaks != -ENOENT)
		give_up("kmemleak", guest->kernel_leaks);
	sethostname(guest->config.name, strlen(guest->config.name));
	err = network__start(guest->config.address, guest->config.outside);
	if (err)
		give_up("network", err);

	null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	dup2(null, STDIN_FILENO);
	close(null);
	setenv("PATH", guest->config.path, 1);
	setenv("HOME", "/root", 1);
	setenv("LC_ALL", "C.UTF-8", 1);
	unsetenv("TERM");

	if (guest->config.manager[0]) {
		err = manager__start(guest->config.manager);
		if (err)
			give_up(guest->config.manager, err);
	}

	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	guest->children = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (guest->children < 0)
		give_up("signalfd", -errno);
}

static pid_t child__fork(void)
{
	sigset_t none;
	pid_t child = fork();

	if (child == 0) {
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		setsid();
	}
	return child;
}

/* Returns the read end of a pipe that replaces @to in this process and its children. */
static int child__pipe(int to)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		give_up("pipe", -errno);
	dup2(ends[1], to);
	close(ends[1]);
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	return ends[0];
}

static void command__start(struct guest *guest)
{
	guest->command = child__fork();
	if (guest->command)
		return;
	if (chdir(guest->config.directory))
		perror(guest->config.directory);
	execvp(guest->config.command[0], guest->config.command);
	perror(guest->config.command[0]);
	_exit(errno == ENOENT ? 127 : 126);
}

static void server__start(void)
{
	int listener = exec_server__listen();

	if (listener < 0)
		give_up("exec server", listener);
	if (child__fork() == 0)
		exec_server__run(listener);
	close(listener);
}

static void stream__relay(int from, int to)
{
	static char data[32768];
	ssize_t count;

	while ((count = read(from, data, sizeof(data))) > 0)
		transfer__write(to, data, count);
}

static void kernel_log__scan(struct guest *guest)
{
	char line[KERNEL_LOG_RECORD];
	unsigned long long sequence;

	while (kernel_log__next(guest->kernel_log, line, &sequence) > 0) {
		if (kernel_log__is_clean(line))
			continue;
		guest->dirty = true;
		port__print(guest->errors, "%s: kernel log: %s\n", guest->config.name, line);
	}
}

static void kernel_leaks__report(struct guest *guest)
{
	char *text = NULL;
	size_t length = 0;
	int err;

	if (guest->kernel_leaks < 0)
		return;
	err = kernel_leaks__scan(guest->kernel_leaks, &text, &length);
	if (err || length)
		guest->dirty = true;
	if (err)
		port__print(guest->errors, "%s: kmemleak: %s\n",
			    guest->config.name, strerror(-err));
	if (length)
		port__print(guest->errors, "%s: kmemleak:\n%s", guest->config.name, text);
	free(text);
}

static void children__reap(struct guest *guest)
{
	struct signalfd_siginfo info;
	int status;
	pid_t pid;

	while (read(guest->children, &info, sizeof(info)) > 0)
		;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid != guest->command)
			continue;
		guest->done = true;
		guest->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	}
}

static void control__obey(struct guest *guest)
{
	char lines[64];
	ssize_t count = read(guest->control, lines, sizeof(lines) - 1);

	if (count <= 0)
		return;
	lines[count] = '\0';
	if (!strcmp(lines, "go\n") && !guest->command)
		command__start(guest);
	else if (!strcmp(lines, "off\n"))
		guest->done = true;
}

static void guest__serve(struct guest *guest)
{
	enum { CONTROL, CHILDREN, LOG, OUTPUT, ERRORS, COUNT };
	struct pollfd polled[COUNT] = {
		[CONTROL] = { .fd = guest->control, .events = POLLIN },
		[CHILDREN] = { .fd = guest->children, .events = POLLIN },
		[LOG] = { .fd = guest->kernel_log, .events = POLLIN },
		[OUTPUT] = { .fd = child__pipe(STDOUT_FILENO),
			     .events = POLLIN },
		[ERRORS] = { .fd = child__pipe(STDERR_FILENO),
			     .events = POLLIN },
	};

	if (!guest->config.command)
		server__start();
	port__print(guest->control, "ready %s\n", guest->config.name);

	while (!guest->done) {
		if (poll(polled, COUNT, -1) < 0)
			continue;
		if (polled[CONTROL].revents & POLLIN)
			control__obey(guest);
		if (polled[CHILDREN].revents)
			children__reap(guest);
		if (polled[LOG].revents)
			kernel_log__scan(guest);
		stream__relay(polled[OUTPUT].fd, guest->output);
		stream__relay(polled[ERRORS].fd, guest->errors);
	}
}

/* Scans the log again after all processes have released their resources. */
static void guest__finish(struct guest *guest)
{
	bool is_kept = guest->config.root[0];

	if (!is_kept) {
		kill(-1, SIGKILL);
		while (wait(NULL) > 0 || errno == EINTR)
			;
	}
	kernel_leaks__report(guest);
	kernel_log__scan(guest);
	port__flush(guest->output);
	port__flush(guest->errors);
	port__print(guest->control, "status %s %d\n", guest->config.name,
		    guest->dirty ? STATUS_BROKEN : guest->status);
	port__flush(guest->control);
	if (is_kept)
		manager__power_off();
	power_off();
}

int main(void)
{
	static struct guest guest;

	guest__prepare(&guest);
	guest__serve(&guest);
	guest__finish(&guest);
}
