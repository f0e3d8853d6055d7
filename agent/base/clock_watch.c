// SPDX-License-Identifier: GPL-2.0-only
/* Sleeps until the clock is set: a timer that never expires is cancelled then. */
#include <errno.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <libdart/clock.h>

#include "clock_watch.h"

static int64_t offset_ns(void)
{
	return dart_clock__ns(CLOCK_REALTIME) - dart_clock__ns(CLOCK_BOOTTIME);
}

/* Far in the future, whatever the clock says: the kernel's times end in 2262. */
static int clock_watch__arm(const struct clock_watch *watch)
{
	const struct itimerspec never = { .it_value.tv_sec = INT64_MAX };

	return timerfd_settime(watch->fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never,
			       NULL) ?
		       -errno :
		       0;
}

static int on_event(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct clock_watch *watch = userdata;
	uint64_t expirations;
	int64_t now_ns;

	/* ECANCELED: it was set, which is known. */
	if (read(fd, &expirations, sizeof(expirations)) < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	clock_watch__arm(watch);
	now_ns = offset_ns();
	if (llabs(now_ns - watch->offset_ns) < CLOCK_WATCH_STEP_NS)
		return 0;
	watch->offset_ns = now_ns;
	watch->on_set(watch->userdata);
	return 0;
}

int clock_watch__open(struct clock_watch *watch, sd_event *loop, void (*on_set)(void *userdata),
		      void *userdata, struct dart_error *error)
{
	int ret;

	*watch = (struct clock_watch){
		.offset_ns = offset_ns(),
		.on_set = on_set,
		.userdata = userdata,
	};
	watch->fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	if (watch->fd < 0)
		return dart_error__system(error, errno, "cannot create a timer");
	ret = clock_watch__arm(watch);
	if (!ret)
		ret = sd_event_add_io(loop, &watch->events, watch->fd, EPOLLIN, on_event, watch);
	if (ret >= 0)
		return 0;
	close(watch->fd);
	return dart_error__system(error, -ret, "cannot wait for the clock");
}

void clock_watch__close(struct clock_watch *watch)
{
	if (!watch->events)
		return;
	sd_event_source_disable_unref(watch->events);
	watch->events = NULL;
	close(watch->fd);
}
