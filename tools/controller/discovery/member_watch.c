// SPDX-License-Identifier: GPL-2.0-only
/* Watches the list of the members of a shard: see member_watch.h. */
#include "member_watch.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "tools/controller/base/schedule.h"
#include "tools/controller/base/validity.h"

/* How long a thread that reads a file may delay the end of the program. */
#define END_NS 200000000ULL

static void __attribute__((format(printf, 2, 3)))
say(const struct member_watch *watch, const char *format, ...)
{
	struct dart_error sentence;
	va_list arguments;

	va_start(arguments, format);
	dart_error__vset(&sentence, 0, format, arguments);
	va_end(arguments);
	watch->operations->say(watch->data, sentence.text);
}

/* Sets the timer for the next time at which roles change without another list. */
static void member_watch__await_change(struct member_watch *watch, uint64_t now_ns)
{
	const uint64_t change_ns = membership__change_ns(&watch->membership, now_ns);

	if (!change_ns)
		return;
	/* Up to a microsecond later than it must be. */
	sd_event_source_set_time(watch->change, change_ns / 1000 + 1);
	sd_event_source_set_enabled(watch->change, SD_EVENT_ONESHOT);
}

/* Says once that the list is not valid any more, or is again. */
static void member_watch__say_validity(struct member_watch *watch, uint64_t now_ns)
{
	const bool has_expired = !membership__is_valid(&watch->membership, now_ns);

	if (has_expired == watch->has_expired)
		return;
	watch->has_expired = has_expired;
	say(watch, has_expired ?
		    "%s: the list of members is not valid any more; no agent is scraped before the next list" :
		    "%s: the list of members is valid again",
	    watch->source ? source__name(watch->source) : "configuration");
}

/* Outputs are given values only after targets have got their roles. */
static void member_watch__tell_validity(struct member_watch *watch)
{
	if (watch->operations->valid)
		watch->operations->valid(watch->data, watch->membership.valid_ns);
}

static int on_change(sd_event_source *source, uint64_t usec, void *data)
{
	struct member_watch *watch = data;
	const uint64_t now_ns = boottime_ns();

	member_watch__say_validity(watch, now_ns);
	watch->operations->changed(watch->data);
	member_watch__await_change(watch, now_ns);
	return 0;
}

static void member_watch__fail(struct member_watch *watch, const struct dart_error *error)
{
	const struct membership *membership = &watch->membership;

	if (!strcmp(watch->error.text, error->text))
		return;
	watch->error = *error;
	if (membership->is_known)
		say(watch, "%s: %s; its %u members stay", source__name(watch->source), error->text,
		    membership__count(membership));
	else
		say(watch, "%s: %s; no agent is scraped before it lists members",
		    source__name(watch->source), error->text);
	watch->operations->failed(watch->data);
}

/*
 * The list of a member that is leaving: if it leaves this one out, only its validity counts, so
 * that targets are scraped until all others scrape them.
 */
static bool member_watch__is_left_out(struct member_watch *watch, const struct member_list *list)
{
	if (!watch->is_leaving || member_set__has(&list->present, watch->membership.shard.member))
		return false;
	watch->membership.valid_ns = list->valid_ns;
	if (list->is_agreed && watch->operations->left)
		watch->operations->left(watch->data);
	return true;
}

/* Takes the news of the list: a source_handler. */
static void on_news(void *data, struct source *source, struct source_news *news)
{
	struct member_watch *watch = data;
	struct membership *membership = &watch->membership;
	const uint64_t now_ns = boottime_ns();
	const bool had_failed = *watch->error.text;
	const bool is_first = !watch->is_complete;
	bool has_changed = false;

	watch->is_complete = true;
	/*
	 * A list that is renewed, and was there before this controller started, may be an earlier
	 * one: others may have replaced this controller since.
	 */
	if (news->has_list && is_first && !membership->is_known && news->members.valid_ns)
		member_set__remove(&news->members.present, membership->shard.member);
	if (news->has_list && !member_watch__is_left_out(watch, &news->members))
		has_changed = membership__take(membership, &news->members, now_ns);
	if (watch->never_stands_by)
		membership->ready_ns = 0;
	member_watch__await_change(watch, now_ns);
	if (!news->result)
		watch->error.text[0] = '\0';
	if (has_changed)
		watch->operations->changed(watch->data);
	member_watch__tell_validity(watch);
	member_watch__say_validity(watch, now_ns);
	if (news->result) {
		member_watch__fail(watch, &news->error);
		return;
	}
	if (had_failed)
		watch->operations->failed(watch->data);
	if (has_changed || had_failed || is_first)
		say(watch, "%s: lists %u members%s", source__name(source),
		    membership__count(membership),
		    member_set__has(&membership->present, membership->shard.member) ?
			    "" :
			    ", and not this one, which scrapes nothing");
}

static void member_watch__end_source(struct member_watch *watch)
{
	if (!watch->source)
		return;
	source__end(watch->source);
	source__free(watch->source, monotonic_ns() + END_NS);
	watch->source = NULL;
}

int member_watch__open(struct member_watch *watch, sd_event *event,
		       const struct member_watch_operations *operations, void *data,
		       bool never_stands_by)
{
	int err;

	watch->event = event;
	watch->operations = operations;
	watch->data = data;
	watch->never_stands_by = never_stands_by;
	err = sd_event_add_time(event, &watch->change, CLOCK_BOOTTIME, UINT64_MAX, 1000, on_change,
				watch);
	if (err >= 0)
		err = sd_event_source_set_enabled(watch->change, SD_EVENT_OFF);
	return err < 0 ? err : 0;
}

void member_watch__close(struct member_watch *watch)
{
	member_watch__end_source(watch);
	watch->change = sd_event_source_disable_unref(watch->change);
}

int member_watch__configure(struct member_watch *watch, const struct shard *shard,
			    struct dart_error *error)
{
	struct membership *membership = &watch->membership;
	struct source *source = NULL;
	int err;

	if (watch->source && shard->file && !strcmp(source__name(watch->source), shard->file) &&
	    shard->member == membership->shard.member) {
		membership->shard = *shard;
		membership->shard.file = NULL;
		return 0;
	}
	if (shard->file) {
		err = source__new_members(watch->event, shard->file, on_news, watch, &source);
		if (err)
			return dart_error__system(error, -err, "cannot watch '%s'", shard->file);
	}
	membership__follow(membership, shard);
	membership->shard.file = NULL;
	member_watch__end_source(watch);
	watch->source = source;
	watch->is_complete = !source;
	watch->error.text[0] = '\0';
	member_watch__await_change(watch, boottime_ns());
	return 0;
}

bool member_watch__leave(struct member_watch *watch)
{
	const struct membership *membership = &watch->membership;

	if (!watch->source || !membership->is_known ||
	    !membership__is_valid(membership, boottime_ns()) ||
	    !member_set__has(&membership->present, membership->shard.member) ||
	    member_set__count(&membership->present) < 2)
		return false;
	watch->is_leaving = true;
	return true;
}

void member_watch__look(struct member_watch *watch)
{
	if (watch->source)
		source__look(watch->source);
}
