// SPDX-License-Identifier: GPL-2.0-only
/*
 * fleet_hosts DIRECTORY PORT HOSTS BAD SEED INTERVAL_MS: serves as HOSTS invented hosts, each an
 * agent over TCP at the loopback with its own port, host 0 at PORT; BAD of them misbehave, see
 * selftests/lib/fleet_host.h.  The seed chooses the bad hosts, their kinds and their moments; each
 * kind gets at least one host if BAD is large enough.
 *
 * DIRECTORY contains authority.pem, and 127.0.0.1.pem and .key; the controller's certificate
 * names "controller".  The program writes there:
 *
 *   hosts	"HOST KIND" for each
 *   log	answers and faults, see selftests/lib/fleet_place.h
 *
 * Prints "ready".  It answers all requests until SIGUSR1; then no host answers any more, and it
 * completes the log with the line "held".  Serves until a test kills it.
 */
#include <errno.h>
#include <error.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "selftests/lib/fleet_place.h"

static struct {
	struct fleet fleet;
	struct fleet_place *places;
	uint32_t count;
} all;

/* Assigns each kind once, then random kinds, to random hosts. */
static void choose(enum fleet_kind *kinds, uint32_t hosts, uint32_t bad, uint64_t seed)
{
	struct dart_random random = dart_random__of(seed);
	enum fleet_kind kind;
	uint32_t i, other;

	for (i = 0; i < bad; i++)
		kinds[i] = i + 1 < FLEET_KINDS ? i + 1 :
						 1 + dart_random__below(&random, FLEET_KINDS - 1);
	for (i = hosts - 1; i > 0; i--) {
		other = dart_random__below(&random, i + 1);
		kind = kinds[i];
		kinds[i] = kinds[other];
		kinds[other] = kind;
	}
}

static FILE *create(const char *directory, const char *name)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "w");
	if (!file)
		error(1, errno, "%s", path);
	return file;
}

static void open_hosts(const char *directory, uint32_t hosts, uint32_t bad, uint64_t seed,
		       uint32_t interval_ms)
{
	enum fleet_kind *kinds = calloc(hosts, sizeof(*kinds));
	FILE *list = create(directory, "hosts");
	uint32_t i;

	all.places = calloc(hosts, sizeof(*all.places));
	if (!kinds || !all.places)
		error(1, ENOMEM, "%u hosts", hosts);
	all.count = hosts;
	choose(kinds, hosts, bad, seed);
	for (i = 0; i < hosts; i++) {
		fleet_host__open(&all.places[i].host, i, kinds[i], seed, interval_ms);
		all.places[i].fleet = &all.fleet;
		fleet_place__listen(&all.places[i]);
		fprintf(list, "%u %s\n", i, fleet_kind__name(kinds[i]));
	}
	if (fclose(list))
		error(1, errno, "the list of hosts");
	free(kinds);
}

static void load_tls(const char *directory)
{
	char certificate[4096], key[4096], authority[4096];
	const struct dart_tls_files files = { certificate, key, authority, NULL };
	struct dart_error error_of;

	snprintf(certificate, sizeof(certificate), "%s/127.0.0.1.pem", directory);
	snprintf(key, sizeof(key), "%s/127.0.0.1.key", directory);
	snprintf(authority, sizeof(authority), "%s/authority.pem", directory);
	if (dart_tls__load(&files, &all.fleet.tls, &error_of))
		error(1, 0, "%s", error_of.text);
}

static void on_tick(struct fleet_watch *watch)
{
	uint64_t ticks;
	uint32_t i;

	if (read(watch->fd, &ticks, sizeof(ticks)) != sizeof(ticks))
		return;
	for (i = 0; i < all.count; i++)
		fleet_place__tick(&all.places[i]);
}

static void on_signal(struct fleet_watch *watch)
{
	struct signalfd_siginfo info;

	if (read(watch->fd, &info, sizeof(info)) != sizeof(info))
		return;
	all.fleet.is_held = true;
	fprintf(all.fleet.log, "held\n");
	if (fflush(all.fleet.log))
		error(1, errno, "the log");
}

static void watch_ticks(struct fleet_watch *watch)
{
	const struct itimerspec each = {
		.it_interval.tv_nsec = FLEET_TICK_MS * 1000000,
		.it_value.tv_nsec = FLEET_TICK_MS * 1000000,
	};

	*watch = (struct fleet_watch){ on_tick, timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC), 0 };
	if (watch->fd < 0 || timerfd_settime(watch->fd, 0, &each, NULL))
		error(1, errno, "a timer");
	fleet_watch__set(&all.fleet, watch, EPOLLIN);
}

static void watch_signal(struct fleet_watch *watch)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	*watch = (struct fleet_watch){ on_signal, signalfd(-1, &set, SFD_CLOEXEC), 0 };
	if (watch->fd < 0)
		error(1, errno, "a signal");
	fleet_watch__set(&all.fleet, watch, EPOLLIN);
}

static void serve(void)
{
	struct epoll_event events[256];
	int count, i;

	for (;;) {
		count = epoll_wait(all.fleet.epoll, events, 256, -1);
		for (i = 0; i < count; i++)
			((struct fleet_watch *)events[i].data.ptr)->on_ready(events[i].data.ptr);
	}
}

int main(int argc, char *argv[])
{
	struct fleet_watch ticks, signals;
	struct rlimit limit;
	uint32_t hosts, bad;

	if (argc != 7) {
		fputs("usage: fleet_hosts DIRECTORY PORT HOSTS BAD SEED INTERVAL_MS\n", stderr);
		return 2;
	}
	hosts = strtoul(argv[3], NULL, 10);
	bad = strtoul(argv[4], NULL, 10);
	all.fleet.port = strtoul(argv[2], NULL, 10);
	if (!hosts || bad > hosts || all.fleet.port + hosts > 65536)
		error(2, 0, "%u hosts, %u of them bad, from port %u on", hosts, bad,
		      all.fleet.port);
	if (!getrlimit(RLIMIT_NOFILE, &limit)) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	signal(SIGPIPE, SIG_IGN);
	all.fleet.epoll = epoll_create1(EPOLL_CLOEXEC);
	all.fleet.log = create(argv[1], "log");
	load_tls(argv[1]);
	watch_ticks(&ticks);
	watch_signal(&signals);
	open_hosts(argv[1], hosts, bad, strtoull(argv[5], NULL, 10), strtoul(argv[6], NULL, 10));
	puts("ready");
	fflush(stdout);
	serve();
	return 0;
}
