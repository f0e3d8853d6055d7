// SPDX-License-Identifier: GPL-2.0-only
/*
 * load KIND COUNT [ARGUMENT]: repeats an operation COUNT times as fast as possible,
 * and prints how many nanoseconds each took.
 *
 *   switches COUNT        context switches on the CPU it runs on
 *   moves COUNT           tasks that wait for CPU 0 for 400 ms and run on CPU 1
 *   segments COUNT        bytes sent over TCP on the loopback, there and back
 *   datagrams COUNT       datagrams of 1000 bytes on the loopback
 *   opens COUNT           TCP connections: opened, accepted, closed
 *   reads COUNT DEVICE    reads of 4096 bytes, past the page cache
 *   writes COUNT DEVICE
 *   connections COUNT BYTES
 *   connections6 COUNT BYTES
 *       opens connections on the loopback, of IPv4 or IPv6, sends BYTES over each,
 *       notifies that it is ready (sd_notify(3)) and holds both ends until it is
 *       killed
 *   attempts COUNT ADDRESS
 *       begins to connect to this IPv4 address and the following ones, none of
 *       which answers, notifies that it is ready and holds the attempts until it
 *       is killed
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <systemd/sd-daemon.h>

#define BLOCK 4096
#define DATAGRAM 1000

static void check(int good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "load: %s: %s\n", what, strerror(errno));
	exit(EXIT_FAILURE);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static void stay_on_this_cpu(void)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(sched_getcpu(), &cpus);
	check(!sched_setaffinity(0, sizeof(cpus), &cpus), "affinity");
}

static void pass(int from, int to)
{
	char byte = 0;

	check(read(from, &byte, 1) == 1 && write(to, &byte, 1) == 1, "pipe");
}

/* Two tasks on one CPU wait for each other. */
static void do_switches(long count, const char *unused)
{
	int there[2], back[2];
	long i;

	check(!pipe(there) && !pipe(back), "pipe");
	if (!fork()) {
		for (i = 0; i < count / 2; i++)
			pass(there[0], back[1]);
		_exit(0);
	}
	check(write(back[1], "", 1) == 1, "pipe");
	for (i = 0; i < count / 2; i++)
		pass(back[0], there[1]);
}

static void run_on(pid_t pid, int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	check(!sched_setaffinity(pid, sizeof(cpus), &cpus), "sched_setaffinity");
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000ull + now.tv_nsec / 1000000;
}

/*
 * A realtime task keeps CPU 0 while @count other tasks become runnable there, which the
 * kernel then moves.
 */
static void do_moves(long count, const char *unused)
{
	const struct sched_param first = { .sched_priority = 1 };
	int ready[2], *begun = calloc(count, sizeof(*begun));
	uint64_t since;
	pid_t *waiting = calloc(count, sizeof(*waiting));
	char byte;
	long i;

	check(waiting && begun && !pipe(ready), "pipe");
	run_on(0, 1);
	for (i = 0; i < count; i++) {
		int own[2];

		/* With one pipe only its first reader would become runnable. */
		check(!pipe(own), "pipe");
		begun[i] = own[1];
		waiting[i] = fork();
		if (!waiting[i]) {
			run_on(0, 0);
			check(write(ready[1], "", 1) == 1, "pipe");
			_exit(read(own[0], &byte, 1) != 1);
		}
		close(own[0]);
		check(read(ready[0], &byte, 1) == 1, "pipe");
	}
	if (!fork()) {
		run_on(0, 0);
		check(!sched_setscheduler(0, SCHED_FIFO, &first), "SCHED_FIFO");
		for (i = 0; i < count + 1; i++)
			check(write(i < count ? begun[i] : ready[1], "", 1) == 1, "pipe");
		for (since = now_ms(); now_ms() < since + 600;)
			;
		_exit(0);
	}
	check(read(ready[0], &byte, 1) == 1, "pipe");
	for (since = now_ms(); now_ms() < since + 400;)
		;
	for (i = 0; i < count; i++)
		run_on(waiting[i], 1);
	free(begun);
	free(waiting);
}

/* The address of a socket; struct sockaddr_in6 is large enough for IPv4, too. */
struct place {
	struct sockaddr_in6 address;
	socklen_t length;
};

static int bound(int family, int type, struct place *place)
{
	int fd = socket(family, type, 0);

	*place = (struct place){ .address.sin6_family = family };
	place->length = sizeof(struct sockaddr_in6);
	if (family == AF_INET) {
		struct sockaddr_in *address = (void *)&place->address;

		address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		place->length = sizeof(*address);
	} else {
		place->address.sin6_addr = in6addr_loopback;
	}
	check(!bind(fd, (struct sockaddr *)&place->address, place->length), "bind");
	check(!getsockname(fd, (struct sockaddr *)&place->address, &place->length), "name");
	return fd;
}

static int listener(int family, struct place *place)
{
	int fd = bound(family, SOCK_STREAM, place);

	check(!listen(fd, 128), "listen");
	return fd;
}

static int connected(int type, const struct place *place)
{
	int fd = socket(place->address.sin6_family, type, 0);

	check(!connect(fd, (const struct sockaddr *)&place->address, place->length), "connect");
	return fd;
}

static void open_pair(int listening, const struct place *place, int pair[2])
{
	int one = 1;

	pair[0] = connected(SOCK_STREAM, place);
	pair[1] = accept(listening, NULL, NULL);
	check(pair[1] >= 0, "accept");
	setsockopt(pair[0], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

static void do_segments(long count, const char *unused)
{
	struct place place;
	int pair[2];
	long i;

	open_pair(listener(AF_INET, &place), &place, pair);
	check(write(pair[0], "", 1) == 1, "write");
	for (i = 0; i < count; i++) {
		pass(pair[1], pair[1]);
		pass(pair[0], pair[0]);
	}
}

static void do_datagrams(long count, const char *unused)
{
	static char bytes[DATAGRAM];
	struct place place;
	int to = bound(AF_INET, SOCK_DGRAM, &place);
	int from = connected(SOCK_DGRAM, &place);
	long i;

	for (i = 0; i < count; i++) {
		check(write(from, bytes, DATAGRAM) == DATAGRAM, "send");
		check(read(to, bytes, DATAGRAM) == DATAGRAM, "receive");
	}
}

static void do_opens(long count, const char *unused)
{
	struct place place;
	int listening = listener(AF_INET, &place), pair[2];
	long i;

	for (i = 0; i < count; i++) {
		open_pair(listening, &place, pair);
		close(pair[0]);
		close(pair[1]);
	}
}

static int open_device(const char *path, int flags)
{
	int fd = open(path ?: "", flags | O_DIRECT);

	check(fd >= 0, "device");
	return fd;
}

static void do_reads(long count, const char *path)
{
	static char block[BLOCK] __attribute__((aligned(BLOCK)));
	int fd = open_device(path, O_RDONLY);
	long i;

	for (i = 0; i < count; i++)
		check(pread(fd, block, BLOCK, i % 64 * BLOCK) == BLOCK, "read");
}

static void do_writes(long count, const char *path)
{
	static char block[BLOCK] __attribute__((aligned(BLOCK)));
	int fd = open_device(path, O_WRONLY);
	long i;

	for (i = 0; i < count; i++)
		check(pwrite(fd, block, BLOCK, i % 64 * BLOCK) == BLOCK, "write");
}

static void transfer(const int pair[2], long bytes)
{
	char block[BLOCK] = "";

	while (bytes > 0) {
		long length = bytes < BLOCK ? bytes : BLOCK;

		check(write(pair[0], block, length) == length, "write");
		check(recv(pair[1], block, length, MSG_WAITALL) == length, "receive");
		bytes -= length;
	}
}

static void allow_files(rlim_t files)
{
	const struct rlimit limit = { .rlim_cur = files, .rlim_max = files };

	check(!setrlimit(RLIMIT_NOFILE, &limit), "limit of files");
}

static void hold(void)
{
	sd_notify(0, "READY=1");
	for (;;)
		pause();
}

static void hold_connections(int family, long count, const char *bytes)
{
	struct place place;
	int listening, pair[2];
	long i;

	allow_files(2 * count + 64);
	listening = listener(family, &place);
	for (i = 0; i < count; i++) {
		open_pair(listening, &place, pair);
		transfer(pair, atol(bytes ?: "0"));
	}
	hold();
}

static void do_connections(long count, const char *bytes)
{
	hold_connections(AF_INET, count, bytes);
}

static void do_connections6(long count, const char *bytes)
{
	hold_connections(AF_INET6, count, bytes);
}

static void do_attempts(long count, const char *to)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(9),
	};
	struct in_addr first;
	long i;

	check(inet_pton(AF_INET, to ?: "", &first), "address");
	allow_files(count + 64);
	for (i = 0; i < count; i++) {
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

		/* 512 for each address, or the search for a free port takes long. */
		address.sin_addr.s_addr = htonl(ntohl(first.s_addr) + i / 512);
		check(connect(fd, (struct sockaddr *)&address,
			      sizeof(address)) && errno == EINPROGRESS,
		      "begin to connect");
	}
	hold();
}

static const struct kind {
	const char *name;
	void (*run)(long count, const char *argument);
} kinds[] = {
	{ "switches", do_switches },
	{ "moves", do_moves },
	{ "segments", do_segments },
	{ "datagrams", do_datagrams },
	{ "opens", do_opens },
	{ "reads", do_reads },
	{ "writes", do_writes },
	{ "connections", do_connections },
	{ "connections6", do_connections6 },
	{ "attempts", do_attempts },
};

int main(int argc, char *argv[])
{
	long count = argc > 2 ? atol(argv[2]) : 0;
	uint64_t start;
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (count <= 0 || strcmp(kinds[i].name, argv[1]))
			continue;
		stay_on_this_cpu();
		start = now_ns();
		kinds[i].run(count, argv[3]);
		printf("%.1f\n", (now_ns() - start) / (double)count);
		return EXIT_SUCCESS;
	}
	fprintf(stderr, "usage: load KIND COUNT [ARGUMENT]\n");
	return 2;
}
