// SPDX-License-Identifier: GPL-2.0-only
/* Messages about clocks: see clock_messages.h. */
#include "clock_messages.h"

#include <stdlib.h>

#include "tools/controller/base/wall_clock.h"

/* A clock that is set by less is being kept right. */
#define WALL_TOLD_NS 100000000LL
#define MINUTE_NS 60000000000ULL

/* True if this message may be said; *@is_last: further ones are left out for now. */
static bool clock_messages__may_say(struct clock_messages *messages, bool *is_last)
{
	const uint64_t now_ns = monotonic_ns();

	if (!messages->minute_ns || now_ns - messages->minute_ns >= MINUTE_NS) {
		messages->minute_ns = now_ns;
		messages->count = 0;
	}
	if (messages->count == CLOCK_MESSAGES_MAX)
		return false;
	*is_last = ++messages->count == CLOCK_MESSAGES_MAX;
	return true;
}

static void clock_messages__say_host(struct clock_messages *messages, const char *name,
				  const struct sample_clock *clock)
{
	static const char others[] =
		"; other agents are not named for a minute, see dart_scrape_clock_off";
	const double seconds = llabs(clock->offset_ns) / 1e9;
	bool may_say, is_last = false;

	pthread_mutex_lock(&messages->lock);
	may_say = clock_messages__may_say(messages, &is_last);
	pthread_mutex_unlock(&messages->lock);
	if (!may_say)
		return;
	if (clock->is_off)
		output__print(
			messages->log,
			"dart-controller: %s: the clock of the host is %.3f s %s that of this machine; its samples have the time of this machine%s",
			name, seconds, clock->offset_ns > 0 ? "ahead of" : "behind",
			is_last ? others : "");
	else
		output__print(
			messages->log,
			"dart-controller: %s: the clock of the host is right again, within %.3f s of that of this machine%s",
			name, messages->listener.bound_ns / 1e9, is_last ? others : "");
}

/* The first of the targets that sees it: once for all of them. */
static void clock_messages__say_wall(struct clock_messages *messages)
{
	const int64_t wall_ns = wall_clock__offset_ns();
	int64_t change_ns;

	pthread_mutex_lock(&messages->lock);
	change_ns = wall_ns - messages->wall_ns;
	if (llabs(change_ns) >= WALL_TOLD_NS)
		messages->wall_ns = wall_ns;
	pthread_mutex_unlock(&messages->lock);
	if (llabs(change_ns) < WALL_TOLD_NS)
		return;
	output__print(
		messages->log,
		"dart-controller: the clock of this machine was set %s by %.3f s, and so are the times of samples%s",
		change_ns > 0 ? "forward" : "back", llabs(change_ns) / 1e9,
		change_ns > 0 ?
			"" :
			"; an output that takes none before the last one drops and counts them until then");
}

static void on_heard(struct clock_listener *listener, const struct decoder *decoder,
		     unsigned int news, const struct sample *sample)
{
	struct clock_messages *messages = (struct clock_messages *)listener;

	if (!messages->log)
		return;
	if (news & HOST_CLOCK_WALL_WAS_SET)
		clock_messages__say_wall(messages);
	if (news & (HOST_CLOCK_IS_OFF | HOST_CLOCK_IS_RIGHT))
		clock_messages__say_host(messages, decoder->settings->name, &sample->clock);
}

void clock_messages__open(struct clock_messages *messages, uint64_t bound_ns, struct output *log)
{
	*messages = (struct clock_messages){
		.listener = {
			.heard = on_heard,
			.bound_ns = bound_ns ?: HOST_CLOCK_BOUND_DEFAULT_NS,
		},
		.log = log,
		.wall_ns = wall_clock__offset_ns(),
	};
	pthread_mutex_init(&messages->lock, NULL);
}

void clock_messages__close(struct clock_messages *messages)
{
	if (messages->listener.heard)
		pthread_mutex_destroy(&messages->lock);
}
