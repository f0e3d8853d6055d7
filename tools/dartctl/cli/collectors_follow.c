// SPDX-License-Identifier: GPL-2.0-only
/* Follows files of collectors for dartctl xdp follow and switch push --follow. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors_follow.h"
#include "message.h"
#include "tools/watch/path_watch.h"

#define RETRY_MIN_MS	1000
#define RETRY_MAX_MS	30000
#define LOOK_MS		5000	/* between looks whether the reporter has lost its collectors */

int collectors_files__take(void *files, const char *path)
{
	struct collectors_files *taken = files;

	if (taken->count == DART_COLLECTORS_MAX)
		return misuse("--collectors takes at most %d files", DART_COLLECTORS_MAX);
	taken->paths[taken->count++] = path;
	return 0;
}

struct session {
	const struct collectors_follow *follow;
	struct path_watch watch;
	bool has_last;
	struct dart_collectors last;	/* the last ones that were applied */
	bool is_lost;			/* the reporter does not have them any more */
	int retry_ms;			/* 0: no retry is due */
	struct dart_error error, said;
};

/* Prints the error unless it was the last one printed. */
static void session__say(struct session *session)
{
	if (!strcmp(session->error.text, session->said.text))
		return;
	session->said = session->error;
	fail(EAGAIN, "'%s' keeps its collectors: %s", session->follow->name, session->error.text);
	fflush(stdout);
}

static bool is_same_store(const struct dart_collector *a, const struct dart_collector *b)
{
	return !strcmp(a->name, b->name) && a->geometry.slots == b->geometry.slots &&
	       a->geometry.value_length == b->geometry.value_length &&
	       a->geometry.checksum_bits == b->geometry.checksum_bits &&
	       dart_collector__redundancy_max(a) == dart_collector__redundancy_max(b);
}

static bool is_same_place(const struct dart_collector *a, const struct dart_collector *b)
{
	return !memcmp(a->mac, b->mac, sizeof(a->mac)) && a->ip.s_addr == b->ip.s_addr &&
	       a->qpn == b->qpn && a->rkey == b->rkey && a->first_psn == b->first_psn &&
	       a->base == b->base && a->epoch == b->epoch &&
	       a->geometry.redundancy == b->geometry.redundancy;
}

/* Accepts the same stores at other places and with other shares; refuses other stores. */
static int session__check(struct session *session, const struct dart_collectors *collectors)
{
	const struct dart_collectors *last = &session->last;
	const char *remedy = session->follow->remedy;
	uint32_t i;

	if (collectors->count != last->count)
		return dart_error__set(&session->error, EINVAL, "the files have other stores (%s)",
				       remedy);
	for (i = 0; i < last->count; i++)
		if (!is_same_store(&last->list[i], &collectors->list[i]))
			return dart_error__set(&session->error, EINVAL,
					       "store '%s' has another name or geometry (%s)",
					       last->list[i].name, remedy);
	return 0;
}

static bool session__has_changed(const struct session *session,
				 const struct dart_collectors *collectors)
{
	uint32_t i;

	if (!session->has_last ||
	    memcmp(collectors->shares, session->last.shares, sizeof(collectors->shares)))
		return true;
	for (i = 0; i < collectors->count; i++)
		if (!is_same_place(&session->last.list[i], &collectors->list[i]))
			return true;
	return false;
}

static int session__load(struct session *session, struct dart_collectors *collectors)
{
	const struct collectors_follow *follow = session->follow;
	int ret;

	if (follow->load)
		ret = follow->load(follow->subject, follow, collectors, &session->error);
	else
		ret = dart_collectors__load(follow->files, follow->file_count, follow->reporter,
					    collectors, &session->error);
	if (ret || !session->has_last)
		return ret;
	ret = session__check(session, collectors);
	if (ret)
		dart_collectors__free(collectors);
	return ret;
}

/* Blocks signals: none may end this process while shares have no collector. */
static int apply(const struct collectors_follow *follow, const struct dart_collectors *collectors,
		 const struct dart_collectors *last, struct dart_error *error)
{
	sigset_t all, before;
	int ret;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	ret = follow->apply(follow->subject, collectors, last, error);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return ret;
}

static int session__apply(struct session *session, struct dart_collectors *collectors)
{
	const struct collectors_follow *follow = session->follow;
	int ret;

	ret = apply(follow, collectors, session->has_last ? &session->last : NULL, &session->error);
	if (ret) {
		dart_collectors__free(collectors);
		session->retry_ms *= 2;
		if (session->retry_ms < RETRY_MIN_MS)
			session->retry_ms = RETRY_MIN_MS;
		if (session->retry_ms > RETRY_MAX_MS)
			session->retry_ms = RETRY_MAX_MS;
		return ret;
	}
	if (session->has_last)
		dart_collectors__free(&session->last);
	else
		tell_manager("%s has %u collectors", follow->name, collectors->count);
	session->last = *collectors;
	session->has_last = true;
	session->is_lost = false;
	session->retry_ms = 0;
	return 0;
}

/* Reads the files once, and applies changes.  Returns -errno if this process cannot go on. */
static int session__look(struct session *session)
{
	struct dart_collectors collectors;
	int ret;

	if (session__load(session, &collectors)) {
		session__say(session);
		return 0;
	}
	if (!session->is_lost && !session__has_changed(session, &collectors)) {
		dart_collectors__free(&collectors);
		session->retry_ms = 0;
	} else {
		ret = session__apply(session, &collectors);
		if (ret && !session->follow->retries)
			return ret;
		if (ret) {
			session__say(session);
			return 0;
		}
	}
	session->said.text[0] = '\0';
	return 0;
}

/* Sleeps until the files have changed, a retry is due or the reporter has lost its collectors. */
static void session__wait(struct session *session)
{
	const struct collectors_follow *follow = session->follow;
	int ms = session->retry_ms ?: -1;

	if (!session->retry_ms && follow->is_lost && session->has_last)
		ms = LOOK_MS;
	while (path_watch__wait(&session->watch, -1, ms) == PATH_WATCH_TIMEOUT) {
		if (session->retry_ms)
			return;
		session->is_lost = follow->is_lost(follow->subject);
		if (session->is_lost)
			return;
	}
}

int collectors_follow__run(const struct collectors_follow *follow)
{
	struct session session = { .follow = follow };
	int ret;

	ret = path_watch__open(&session.watch, follow->files, follow->file_count, &session.error);
	if (ret)
		goto out;
	do {
		ret = path_watch__arm(&session.watch, &session.error) ?: session__look(&session);
		if (!ret)
			session__wait(&session);
	} while (!ret);
	path_watch__close(&session.watch);
	if (session.has_last)
		dart_collectors__free(&session.last);
out:
	return fail(-ret, "'%s' does not follow its collectors: %s",
		    follow->name, session.error.text);
}
