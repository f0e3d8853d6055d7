// SPDX-License-Identifier: GPL-2.0-only
/* dartctl switch push --follow of lookup tables, see follow.h. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <libdart/clock.h>

#include "follow.h"
#include "tools/dartctl/cli/command.h"
#include "tools/dartctl/cli/message.h"
#include "tools/dartctl/switch/bmv2/table.h"
#include "tools/dartctl/switch/cache/cache.h"
#include "tools/dartctl/switch/lookups/ports.h"
#include "tools/dartctl/switch/lookups/renewals.h"
#include "tools/dartctl/switch/lookups/state.h"
#include "tools/watch/path_watch.h"

#define TICK_MS 1000
#define RETRY_MIN_MS 1000
#define RETRY_MAX_MS 30000

/* What was said about the files, or about the switch and its servers. */
struct trouble {
	struct dart_error said; /* the last sentence */
	bool goes_on; /* an error has come since the last tick */
};

struct session {
	const struct lookup_push *push;
	struct path_watch watch;
	int signals; /* SIGINT and SIGTERM */
	int poller; /* waits for signals and digests */
	struct switch_cache *cache; /* NULL without digests */
	struct lookup_renewals renewals;
	bool has_last;
	struct lookup_wish last; /* the last wish that was pushed */
	bool is_current; /* the switch is in the state of this wish */
	bool is_unread; /* the files may have changed since the last look */
	int retry_ms; /* the last pause, 0 after a success */
	int64_t retry_at, tick_at, renewals_at; /* ms of CLOCK_MONOTONIC */
	struct dart_error error;
	struct trouble of_files, of_switch;
};

/* Prints the error unless it was the last one printed. */
static void session__say(struct session *session, struct trouble *trouble)
{
	trouble->goes_on = true;
	if (!strcmp(session->error.text, trouble->said.text))
		return;
	trouble->said = session->error;
	fail(EAGAIN, "'%s' keeps its tables: %s", session->push->thrift, session->error.text);
	fflush(stdout);
}

/* Forgets an error that has not come for a whole period: it is said again when it comes back. */
static void trouble__end_period(struct trouble *trouble)
{
	if (!trouble->goes_on)
		trouble->said.text[0] = '\0';
	trouble->goes_on = false;
}

/* ---- files */

/* Compares the contents of the files: servers, stash and the rest; options never change. */
static bool is_same(const struct dart_tea_tables *a, const struct dart_tea_tables *b)
{
	return !strcmp(a->name, b->name) && a->requester.s_addr == b->requester.s_addr &&
	       !memcmp(&a->geometry, &b->geometry, sizeof(a->geometry)) &&
	       a->server_count == b->server_count &&
	       !memcmp(a->servers, b->servers, a->server_count * sizeof(a->servers[0])) &&
	       a->stashed_count == b->stashed_count &&
	       (!a->stashed_count ||
		!memcmp(a->stashed, b->stashed, a->stashed_count * sizeof(a->stashed[0])));
}

static void session__retry_later(struct session *session)
{
	session->retry_ms *= 2;
	if (session->retry_ms < RETRY_MIN_MS)
		session->retry_ms = RETRY_MIN_MS;
	if (session->retry_ms > RETRY_MAX_MS)
		session->retry_ms = RETRY_MAX_MS;
	session->retry_at = dart_clock__ms(CLOCK_MONOTONIC) + session->retry_ms;
	session__say(session, &session->of_files);
}

static void session__take(struct session *session, struct lookup_wish *wish)
{
	if (session->has_last)
		dart_tea_tables__free(&session->last.tables);
	else
		tell_manager("%s looks up table %s at %u servers", session->push->thrift,
			     wish->tables.name, wish->tables.server_count);
	session->last = *wish;
	session->has_last = true;
	session->is_current = true;
	session->retry_ms = 0;
	session->of_files.said.text[0] = '\0';
	if (session->cache &&
	    switch_cache__set_tables(session->cache, &session->last.tables, &session->error))
		session__say(session, &session->of_switch);
}

/* Reads the files once, and pushes them if they changed. */
static void session__look(struct session *session)
{
	const struct lookup_push *push = session->push;
	struct lookup_wish wish;

	if (lookup_push__wish(push, &wish, &session->error)) {
		if (session->is_current)
			session__say(session, &session->of_files);
		else
			session__retry_later(session);
		return;
	}
	if (session->is_current && is_same(&session->last.tables, &wish.tables)) {
		dart_tea_tables__free(&wish.tables);
		return;
	}
	lookup_push__warn(&wish);
	wish.keeps_cache = session->cache;
	if (lookup_push__push(push, &wish, session->has_last ? &session->last.tables : NULL,
			      false, &session->error)) {
		session->is_current = false;
		dart_tea_tables__free(&wish.tables);
		session__retry_later(session);
	} else {
		session__take(session, &wish);
	}
	fflush(stdout);
}

/* ---- the switch */

static void session__lose(struct session *session)
{
	session->is_current = false;
	session->retry_ms = 0;
	session->retry_at = 0;
	if (session->cache)
		switch_cache__lose(session->cache);
}

/* Has the switch been set up since it started? */
static int read_set_up(struct thrift *thrift, bool *is_set_up, struct dart_error *error)
{
	struct switch_entry self = { .there = false };
	int ret;

	ret = bmv2_table__read_numbers(thrift, &lookup_tables[LOOKUP_SELF], &self, error);
	*is_set_up = self.there;
	return ret;
}

/*
 * No event tells of a restart of the switch, so each tick looks for one, and updates ports and
 * cache of a switch that still runs.
 */
static void session__tick(struct session *session)
{
	struct thrift *thrift;
	bool is_set_up = false;
	int ret;

	ret = thrift__connect(session->push->thrift, &thrift, &session->error);
	if (ret) {
		session__lose(session);
		return;
	}
	ret = read_set_up(thrift, &is_set_up, &session->error);
	if (!ret && !is_set_up)
		session__lose(session);
	if (!ret && is_set_up)
		ret = lookup_ports__update(thrift, &session->last, &session->error);
	if (!ret && is_set_up && session->cache)
		ret = switch_cache__refresh(session->cache, thrift, &session->error);
	thrift__close(thrift);
	if (ret)
		session__say(session, &session->of_switch);
}

/* Renewals are of use within a second, so this looks more often than session__tick(). */
static void session__renew(struct session *session)
{
	const int64_t now = dart_clock__ms(CLOCK_MONOTONIC);
	struct thrift *thrift;
	int ret;

	if (!session->renewals.command || now < session->renewals_at)
		return;
	session->renewals_at = now + LOOKUP_RENEWALS_LOOK_MS;
	/* The tick finds and reports a switch that does not run. */
	if (thrift__connect(session->push->thrift, &thrift, &session->error))
		return;
	ret = lookup_renewals__look(&session->renewals, thrift, &session->last.tables, now,
				    &session->error);
	thrift__close(thrift);
	if (ret)
		session__say(session, &session->of_switch);
}

static void session__receive(struct session *session)
{
	struct thrift *thrift;
	int ret;

	ret = thrift__connect(session->push->thrift, &thrift, &session->error);
	if (!ret) {
		ret = switch_cache__receive(session->cache, thrift, &session->error);
		thrift__close(thrift);
	}
	if (ret)
		session__say(session, &session->of_switch);
}

/* Empties the cache, because no process refreshes its entries from now on. */
static void session__leave(struct session *session)
{
	struct thrift *thrift;

	if (!session->cache || !session->is_current ||
	    thrift__connect(session->push->thrift, &thrift, &session->error))
		return;
	if (switch_cache__clear(session->cache, thrift, &session->error))
		session__say(session, &session->of_switch);
	thrift__close(thrift);
}

/* ---- the loop */

/* Which of the descriptors are readable? */
static void poll_now(const struct session *session, bool *has_signal, bool *has_digests)
{
	struct epoll_event events[2];
	int count, i;

	*has_signal = false;
	*has_digests = false;
	count = epoll_wait(session->poller, events, 2, 0);
	for (i = 0; i < count; i++)
		if (events[i].data.fd == session->signals)
			*has_signal = true;
		else
			*has_digests = true;
}

static int64_t due_at(const struct session *session)
{
	if (!session->is_current)
		return session->retry_at;
	if (session->renewals.command && session->renewals_at < session->tick_at)
		return session->renewals_at;
	return session->tick_at;
}

static void session__wait(struct session *session)
{
	const int64_t due = due_at(session), now = dart_clock__ms(CLOCK_MONOTONIC);
	int ms = due < now ? 0 : due - now;

	if (path_watch__wait(&session->watch, session->poller, ms) != PATH_WATCH_CHANGED)
		return;
	session->is_unread = true;
	session->retry_at = 0;
}

/* Looks for renewals and digests leave the files alone, which can be long. */
static bool is_due_to_look(const struct session *session)
{
	const int64_t now = dart_clock__ms(CLOCK_MONOTONIC);

	if (!session->is_current)
		return session->retry_at <= now;
	return session->is_unread || session->tick_at <= now;
}

/* Returns the signal that ends this process. */
static int session__run(struct session *session)
{
	struct signalfd_siginfo signal;
	bool has_signal, has_digests;
	int ret;

	for (;;) {
		if (is_due_to_look(session)) {
			ret = path_watch__arm(&session->watch, &session->error);
			if (ret)
				return ret;
			session->is_unread = false;
			session__look(session);
		}
		if (session->is_current && session->tick_at <= dart_clock__ms(CLOCK_MONOTONIC)) {
			session->tick_at = dart_clock__ms(CLOCK_MONOTONIC) + TICK_MS;
			session__tick(session);
			trouble__end_period(&session->of_files);
			trouble__end_period(&session->of_switch);
		}
		if (session->is_current)
			session__renew(session);
		session__wait(session);
		poll_now(session, &has_signal, &has_digests);
		if (has_signal && read(session->signals, &signal, sizeof(signal)) == sizeof(signal))
			return signal.ssi_signo;
		if (has_digests && session->is_current)
			session__receive(session);
	}
}

static int watch_descriptor(struct session *session, int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	if (fd < 0 || epoll_ctl(session->poller, EPOLL_CTL_ADD, fd, &event))
		return dart_error__system(&session->error, errno, "cannot wait for signals");
	return 0;
}

/* Blocks the signals, so that they wait until a push has ended. */
static int session__open(struct session *session)
{
	const struct lookup_push *push = session->push;
	sigset_t signals;
	int ret;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	session->poller = epoll_create1(EPOLL_CLOEXEC);
	session->signals = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	ret = watch_descriptor(session, session->signals);
	if (!ret && push->digests)
		ret = switch_cache__open(push->digests, session->poller,
					 &session->cache, &session->error);
	return ret ?:
		       path_watch__open(&session->watch, push->files,
					push->file_count, &session->error);
}

/* Ends this process as the signal would have done if it had not been blocked. */
static void end_by(int number)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, number);
	signal(number, SIG_DFL);
	raise(number);
	sigprocmask(SIG_UNBLOCK, &signals, NULL);
}

int switch_follow__run(const struct lookup_push *push)
{
	struct session session = {
		.push = push,
		.signals = -1,
		.poller = -1,
		.renewals.command = push->renew,
	};
	int ret;

	ret = session__open(&session);
	if (!ret) {
		ret = session__run(&session);
		session__leave(&session);
		path_watch__close(&session.watch);
	}
	switch_cache__close(session.cache);
	if (session.has_last)
		dart_tea_tables__free(&session.last.tables);
	if (session.signals >= 0)
		close(session.signals);
	if (session.poller >= 0)
		close(session.poller);
	if (ret > 0)
		end_by(ret);
	return fail(-ret, "'%s' does not follow its tables: %s", push->thrift, session.error.text);
}
