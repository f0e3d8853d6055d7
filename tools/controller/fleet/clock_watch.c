// SPDX-License-Identifier: GPL-2.0-only
/* Messages about clocks: see clock_watch.h. */
#include "clock_watch.h"

#include <stdlib.h>

#include "tools/controller/base/wall_clock.h"

/* A clock that is set by less is being kept right. */
#define WALL_TOLD_NS 100000000LL
#define MINUTE_NS 60000000000ULL

/* True if this message may be said; *@is_last: further ones are left out for now. */
static bool clock_watch__may_say(struct clock_watch *watch, bool *is_last)
{
	const uint64_t now_ns = monotonic_ns();

	if (!watch->minute_ns || now_ns - watch->minute_ns >= MINUTE_NS) {
		watch->minute_ns = now_ns;
		watch->messages = 0;
	}
	if (watch->messages == CLOCK_WATCH_MESSAGES)
		return false;
	*is_last = ++watch->messages == CLOCK_WATCH_MESSAGES;
	return true;
}

static void clock_watch__say_host(struct clock_watch *watch, const char *name,
				  const struct sample_clock *clock)
{
	static const char others[] =
		"; other agents are not named for a minute, see dart_scrape_clock_off";
	const double seconds = llabs(clock->offset_ns) / 1e9;
	bool may_say, is_last = false;

	pthread_mutex_lock(&watch->lock);
	may_say = clock_watch__may_say(watch, &is_last);
	pthread_mutex_unlock(&watch->lock);
	if (!may_say)
		return;
	if (clock->is_off)
		output__print(
			watch->log,
			"dart-controller: %s: the clock of the host is %.3f s %s that of this machine; its samples have the time of this machine%s",
			name, seconds, clock->offset_ns > 0 ? "ahead of" : "behind",
			is_last ? others : "");
	else
		output__print(
			watch->log,
			"dart-controller: %s: the clock of the host is right again, within %.3f s of that of this machine%s",
			name, watch->listener.bound_ns / 1e9, is_last ? others : "");
}

/* The first of the targets that sees it: once for all of them. */
static void clock_watch__say_wall(struct clock_watch *watch)
{
	const int64_t wall_ns = wall_clock__offset_ns();
	int64_t change_ns;

	pthread_mutex_lock(&watch->lock);
	change_ns = wall_ns - watch->wall_ns;
	if (llabs(change_ns) >= WALL_TOLD_NS)
		watch->wall_ns = wall_ns;
	pthread_mutex_unlock(&watch->lock);
	if (llabs(change_ns) < WALL_TOLD_NS)
		return;
	output__print(
		watch->log,
		"dart-controller: the clock of this machine was set %s by %.3f s, and so are the times of samples%s",
		change_ns > 0 ? "forward" : "back", llabs(change_ns) / 1e9,
		change_ns > 0 ?
			"" :
			"; an output that takes none before the last one drops and counts them until then");
}

static void on_heard(struct clock_listener *listener, const struct decoder *decoder,
		     unsigned int news, const struct sample *sample)
{
	struct clock_watch *watch = (struct clock_watch *)listener;

	if (!watch->log)
		return;
	if (news & HOST_CLOCK_WALL_WAS_SET)
		clock_watch__say_wall(watch);
	if (news & (HOST_CLOCK_IS_OFF | HOST_CLOCK_IS_RIGHT))
		clock_watch__say_host(watch, decoder->settings->name, &sample->clock);
}

void clock_watch__open(struct clock_watch *watch, uint64_t bound_ns, struct output *log)
{
	*watch = (struct clock_watch){
		.listener = {
			.heard = on_heard,
			.bound_ns = bound_ns ?: HOST_CLOCK_BOUND_DEFAULT_NS,
		},
		.log = log,
		.wall_ns = wall_clock__offset_ns(),
	};
	pthread_mutex_init(&watch->lock, NULL);
}

void clock_watch__close(struct clock_watch *watch)
{
	if (watch->listener.heard)
		pthread_mutex_destroy(&watch->lock);
}
