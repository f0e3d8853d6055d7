// SPDX-License-Identifier: GPL-2.0-only
/* dartd: lets controllers read the metrics of this host from its memory. */
#include <bpf/libbpf.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/resource.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>
#include <time.h>

#include <libdart/clock.h>
#include <libdart/settings/program.h>
#include <libdart/table/value.h>

#include "agent.h"
#include "agent/base/log.h"
#include "check.h"

static int log_libbpf(enum libbpf_print_level level, const char *format, va_list arguments)
{
	char message[512];

	if (level == LIBBPF_WARN) {
		vsnprintf(message, sizeof(message), format, arguments);
		log__peer_warning("%s", message);
	}
	return 0;
}

/* RDMA registrations lock memory.  Without permission the limit stays. */
static void raise_memory_limit(void)
{
	const struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };

	setrlimit(RLIMIT_MEMLOCK, &unlimited);
}

/* Each client, store, and entry of one cgroup or disk has a descriptor. */
static void raise_descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static int on_reload(sd_event_source *source, const struct signalfd_siginfo *info, void *agent)
{
	sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%" PRId64,
		   dart_clock__ns(CLOCK_MONOTONIC) / 1000);
	agent__reload(agent);
	sd_notify(0, "READY=1");
	return 0;
}

/* Before other events; without @handler the loop exits. */
static int add_signal(sd_event *loop, int signal,
		      sd_event_signal_handler_t handler, struct agent *agent)
{
	sd_event_source *source;
	int ret;

	ret = sd_event_add_signal(loop, &source, signal | SD_EVENT_SIGNAL_PROCMASK, handler, agent);
	if (ret < 0)
		return ret;
	ret = sd_event_source_set_priority(source, SD_EVENT_PRIORITY_IMPORTANT);
	if (ret >= 0)
		ret = sd_event_source_set_floating(source, true);
	sd_event_source_unref(source);
	return ret;
}

/* Creates a loop that exits on SIGTERM and SIGINT, and reloads on SIGHUP. */
static int open_loop(sd_event **loop, struct agent *agent, struct dart_error *error)
{
	int ret;

	ret = sd_event_new(loop);
	if (ret >= 0)
		ret = add_signal(*loop, SIGTERM, NULL, NULL);
	if (ret >= 0)
		ret = add_signal(*loop, SIGINT, NULL, NULL);
	if (ret >= 0)
		ret = add_signal(*loop, SIGHUP, on_reload, agent);
	if (ret < 0)
		return dart_error__system(error, -ret, "cannot create an event loop");
	return 0;
}

static void announce(const struct agent *agent)
{
	log__info("ready: %s exposure, %s, port %u, %s", dart_exposure__name(agent->exposure.mode),
		  device__name(&agent->device), agent->settings.place.port, agent->options.socket);
	agent__announce(agent);
	sd_notify(0, "READY=1");
}

int main(int argc, char **argv)
{
	struct options options;
	struct agent agent;
	struct dart_error error;
	sd_event *loop = NULL;
	int ret;

	dart_program__open_streams();
	ret = options__parse(&options, argc, argv);
	if (ret)
		return dart_program__end_output("dartd", ret < 0 ? 2 : EXIT_SUCCESS);
	if (options.is_check)
		return dart_program__end_output("dartd", check__run(&options));

	log__open();
	libbpf_set_print(log_libbpf);
	raise_memory_limit();
	raise_descriptor_limit();

	ret = open_loop(&loop, &agent, &error) ?: agent__open(&agent, &options, loop, &error);
	if (ret) {
		log__error("%s", error.text);
		sd_event_unref(loop);
		return EXIT_FAILURE;
	}

	/* Does nothing without WatchdogSec=. */
	sd_event_set_watchdog(loop, true);
	announce(&agent);
	ret = sd_event_loop(loop);
	sd_notify(0, "STOPPING=1");
	log__info("stopping");

	agent__close(&agent);
	log__close();
	sd_event_unref(loop);
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}
