// SPDX-License-Identifier: GPL-2.0-only
/* Waits for outputs and signals at the same time. */
#include "controller_drain.h"

#include <poll.h>
#include <stdint.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "push/push.h"

/* After a signal: how long an output delays the end if nobody reads it, and if it is read. */
#define BLOCKED_MS 500
#define LINGER_MS 5000
/* Additional time to finish the text in progress. */
#define TEXT_MS 5000

void controller_drain__signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
}

static int open_signals(void)
{
	sigset_t set;

	controller_drain__signals(&set);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* False if nothing happened for @timeout_ms; a negative timeout never ends. */
static bool wait_for(int fd, int signals, int timeout_ms, bool *interrupted)
{
	struct pollfd fds[] = {
		{ .fd = fd, .events = POLLIN },
		{ .fd = signals, .events = POLLIN },
	};
	struct signalfd_siginfo info;

	if (!poll(fds, 2, timeout_ms))
		return false;
	if (read(signals, &info, sizeof(info)) > 0)
		*interrupted = true;
	return true;
}

static void finish_text(struct output *output, int signals, bool *interrupted)
{
	int waited_ms = 0;

	output__give_up(output);
	while (!output__has_ended(output) && waited_ms < TEXT_MS) {
		if (!wait_for(output__event_fd(output), signals, BLOCKED_MS, interrupted))
			waited_ms += BLOCKED_MS;
	}
}

void controller_drain__output(struct output *output, bool *interrupted)
{
	const int signals = open_signals();
	uint64_t written = output__written(output);
	int waited_ms = 0;

	output__end(output);
	while (!output__has_ended(output)) {
		if (wait_for(output__event_fd(output), signals, *interrupted ? BLOCKED_MS : -1,
			     interrupted))
			continue;
		waited_ms += BLOCKED_MS;
		if (output__written(output) == written || waited_ms >= LINGER_MS) {
			finish_text(output, signals, interrupted);
			break;
		}
		written = output__written(output);
	}
	if (signals >= 0)
		close(signals);
}

void controller_drain__receivers(struct controller_outputs *outputs, bool *interrupted)
{
	const int signals = open_signals();
	struct metric_output *receivers[2 * RECEIVERS_MAX];
	struct pollfd ended = { .events = POLLIN };
	bool was_interrupted;
	size_t i, count;

	if (*interrupted)
		controller_outputs__set_waits(outputs, false);
	/* Ends all receivers first, so that they finish at the same time. */
	count = controller_receivers__outputs(&outputs->receivers, receivers);
	for (i = 0; i < count; i++)
		push__end(receivers[i]);
	for (i = 0; i < count; i++) {
		ended.fd = push__event_fd(receivers[i]);
		while (!poll(&ended, 1, 0)) {
			was_interrupted = *interrupted;
			wait_for(ended.fd, signals, -1, interrupted);
			if (*interrupted && !was_interrupted)
				controller_outputs__set_waits(outputs, false);
		}
	}
	if (signals >= 0)
		close(signals);
}
