// SPDX-License-Identifier: GPL-2.0-only
/*
 * The thread of a source: it looks, hands news over to the event loop, and sleeps.  Both threads
 * hold the source; the last one to release it frees it.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <libdart/escape.h>

#include "source_private.h"
#include "tools/controller/base/schedule.h"
#include "tools/controller/base/thread.h"

static void source_news__free(struct source_news *news)
{
	if (!news)
		return;
	target_list__clear(&news->list);
	settings__clear(&news->settings);
	free(news);
}

static void source__release(struct source *source)
{
	if (atomic_fetch_sub(&source->holders, 1) != 1)
		return;
	source_news__free(source->news);
	target_list__clear(&source->last);
	settings__clear(&source->settings);
	shared_text__release(source->name);
	if (source->wake >= 0)
		close(source->wake);
	if (source->ready >= 0)
		close(source->ready);
	pthread_mutex_destroy(&source->lock);
	free(source);
}

/*
 * Hands @news over.  If the event loop has not taken an earlier list, @news without a newer list
 * keep the earlier one, even if a later look failed.
 */
static void source__hand_over(struct source *source, struct source_news *news)
{
	const struct settings settings = news->settings;
	const struct target_list list = news->list;
	struct source_news *before;

	pthread_mutex_lock(&source->lock);
	before = source->news;
	if (before && before->has_list && !news->has_list) {
		news->has_list = true;
		news->list = before->list;
		if (news->result)
			news->faults = before->faults;
		news->settings = before->settings;
		news->members = before->members;
		/* A failed look may have set some members: they are freed with @before. */
		before->list = list;
		before->settings = settings;
	}
	source->news = news;
	pthread_mutex_unlock(&source->lock);
	source_news__free(before);
	eventfd_write(source->ready, 1);
}

/* Removes a list from @news that equals the last one; otherwise remembers it. */
static void source__compare(struct source *source, struct source_news *news)
{
	const struct target_list *lists[] = { &news->list };
	struct target_list copy;

	if (source->reader == &source_configuration_reader ||
	    source->reader == &source_members_reader) {
		news->has_list = true;
		return;
	}
	if (source->has_last && target_list__equal(&news->list, &source->last)) {
		target_list__clear(&news->list);
		return;
	}
	news->has_list = true;
	if (target_list__unite(lists, 1, &copy)) {
		/* Without memory for a copy, an equal list will be handed over once more. */
		source->has_last = false;
		return;
	}
	target_list__clear(&source->last);
	source->last = copy;
	source->has_last = true;
}

static int source__look_once(struct source *source)
{
	struct source_news *news = calloc(1, sizeof(*news));
	int ms;

	if (!news)
		return SOURCE_RETRY_MS;
	dart_error__set(&news->error, 0, "out of memory");
	ms = source->reader->read(source, news);
	if (!news->result)
		source__compare(source, news);
	source__hand_over(source, news);
	return ms;
}

/* Sleeps for at most @ms.  True if source->wake was written, which is reset. */
static bool source__await_wake(struct source *source, int ms)
{
	struct pollfd wake = { .fd = source->wake, .events = POLLIN };
	eventfd_t count;

	poll(&wake, 1, ms);
	return !eventfd_read(source->wake, &count);
}

static void source__sleep(struct source *source, int ms)
{
	eventfd_t count;

	if (!source->reader->wait) {
		source__await_wake(source, ms);
		return;
	}
	source->reader->wait(source, ms);
	eventfd_read(source->wake, &count);
}

/*
 * Sleeps for @ms unless the source ends.  A request to look does not end the pause: it is
 * repeated afterwards.
 */
static void source__pause(struct source *source, int ms)
{
	const uint64_t end_ns = monotonic_ns() + ms * 1000000ULL;
	bool is_asked = false;
	uint64_t now_ns;

	while (!source__is_ending(source) && (now_ns = monotonic_ns()) < end_ns)
		is_asked |= source__await_wake(source, (end_ns - now_ns + 999999) / 1000000);
	if (is_asked)
		eventfd_write(source->wake, 1);
}

/* Tells the event loop why the thread cannot open the source. */
static void source__tell(struct source *source, int err, const struct dart_error *error)
{
	struct source_news *news = calloc(1, sizeof(*news));

	if (!news)
		return;
	news->result = err;
	news->error = *error;
	source__hand_over(source, news);
}

/*
 * Opens the reader, and tries again after a failure, because memory may become free, or a missing
 * library be installed.  False if the source is ending.
 */
static bool source__open(struct source *source)
{
	const struct source_reader *reader = source->reader;
	struct dart_error error;
	int err;

	while (!source__is_ending(source)) {
		err = reader->open ? reader->open(source, &error) : 0;
		if (!err)
			return true;
		reader->close(source);
		source__tell(source, err, &error);
		source__await_wake(source, SOURCE_RETRY_MS);
	}
	return false;
}

static void *source__run(void *data)
{
	struct source *source = data;
	const struct source_reader *reader = source->reader;
	int ms;

	if (source__open(source)) {
		if (reader->waits_first)
			source__sleep(source, -1);
		while (!source__is_ending(source)) {
			ms = source__look_once(source);
			source__pause(source, reader->pause_ms);
			source__sleep(source, ms);
		}
		if (reader->close)
			reader->close(source);
	}
	atomic_store(&source->has_ended, true);
	eventfd_write(source->ready, 1);
	source__release(source);
	return NULL;
}

static int on_ready(sd_event_source *event_source, int fd, uint32_t events, void *data)
{
	struct source *source = data;
	struct source_news *news;
	eventfd_t count;

	eventfd_read(fd, &count);
	pthread_mutex_lock(&source->lock);
	news = source->news;
	source->news = NULL;
	pthread_mutex_unlock(&source->lock);
	if (news)
		source->handler(source->data, source, news);
	source_news__free(news);
	return 0;
}

/* The caller becomes the only holder.  NULL if out of memory. */
static struct source *source__allocate(const struct source_reader *reader, source_handler *handler,
				       void *data)
{
	struct source *source = calloc(1, sizeof(*source));

	if (!source)
		return NULL;
	source->reader = reader;
	source->handler = handler;
	source->data = data;
	source->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	source->ready = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	atomic_init(&source->holders, 1);
	pthread_mutex_init(&source->lock, NULL);
	return source;
}

/* Starts the thread.  Returns 0, or -errno after releasing @source. */
static int source__start(struct source *source, sd_event *event)
{
	int err = source->wake < 0 || source->ready < 0 || !source->name ? -ENOMEM : 0;

	if (!err)
		err = sd_event_add_io(event, &source->event_source, source->ready, EPOLLIN,
				      on_ready, source);
	if (err >= 0) {
		atomic_fetch_add(&source->holders, 1);
		err = thread__start(&source->thread, "source", source__run, source);
		if (err)
			source__release(source);
	}
	if (err < 0) {
		sd_event_source_disable_unref(source->event_source);
		source__release(source);
		return err;
	}
	return 0;
}

/* Copies the settings of the source, completed by the settings of all targets. */
static int source__take_settings(struct source *source, const struct source_settings *settings,
				 const struct settings *all)
{
	/* As in Prometheus. */
	static const char *const meta_names[] = {
		[SOURCE_FILE_SD] = "__meta_filepath",
		[SOURCE_DNS_SRV] = "__meta_dns_name",
		[SOURCE_HTTP_SD] = "__meta_url",
	};
	struct settings one = {
		.interval_ns = all->interval_ns,
		.sources = (struct source_settings *)settings,
		.source_count = 1,
	};
	struct target_defaults *defaults;
	char *place;
	int err;

	err = settings__copy(&source->settings, &one);
	if (err)
		return err;
	defaults = &source->settings.sources->defaults;
	defaults->interval_ns = defaults->interval_ns	 ?:
					all->interval_ns ?:
							   SETTINGS_INTERVAL_DEFAULT_NS;
	if (!defaults->entries && all->entry_count) {
		defaults->entries = entry_names__new(all->entries, all->entry_count);
		if (!defaults->entries)
			return -ENOMEM;
	}
	if (!defaults->metric_relabel)
		defaults->metric_relabel = relabel_rules__hold(all->metric_relabel);
	if (!defaults->relabel)
		defaults->relabel = relabel_rules__hold(all->relabel);
	source->name = source_kind__name(settings->kind, settings->place);
	if (!source->name)
		return -ENOMEM;
	/* The path of a file may have any bytes. */
	place = dart_escape__new(source->name->text, DART_ESCAPE_SENTENCE);
	defaults->meta = place ? json_pack("{ss}", meta_names[settings->kind], place) : NULL;
	free(place);
	if (!defaults->meta)
		return -ENOMEM;
	source->defaults = *defaults;
	return 0;
}

int source__new(sd_event *event, const struct source_settings *settings, const struct settings *all,
		source_handler *handler, void *data, struct source **sourcep,
		struct dart_error *error)
{
	static const struct source_reader *const readers[] = {
		[SOURCE_FILE_SD] = &source_file_reader,
		[SOURCE_DNS_SRV] = &source_dns_reader,
		[SOURCE_HTTP_SD] = &source_http_reader,
	};
	struct source *source;
	struct shared_text *name;
	int err;

	source = source__allocate(readers[settings->kind], handler, data);
	if (!source)
		return dart_error__no_memory(error);
	err = source__take_settings(source, settings, all);
	if (err) {
		source__release(source);
		return dart_error__no_memory(error);
	}
	name = shared_text__hold(source->name);
	err = source__start(source, event);
	if (err)
		dart_error__system(error, -err, "cannot start a thread for '%s'", name->text);
	else
		*sourcep = source;
	shared_text__release(name);
	return err;
}

/* Starts a source that is a file and has no settings of a source.  Returns 0 or -errno. */
static int source__start_file(sd_event *event, const struct source_reader *reader, const char *path,
			      const struct settings *own, source_handler *handler, void *data,
			      struct source **sourcep)
{
	struct source *source = source__allocate(reader, handler, data);
	int err;

	if (!source)
		return -ENOMEM;
	err = settings__copy(&source->settings, own);
	source->name = shared_text__new(path);
	if (err) {
		source__release(source);
		return err;
	}
	err = source__start(source, event);
	if (!err)
		*sourcep = source;
	return err;
}

int source__new_configuration(sd_event *event, const char *path, const struct settings *own,
			      source_handler *handler, void *data, struct source **source)
{
	return source__start_file(event, &source_configuration_reader, path, own, handler, data,
				  source);
}

int source__new_members(sd_event *event, const char *path, source_handler *handler, void *data,
			struct source **source)
{
	const struct settings none = {};

	return source__start_file(event, &source_members_reader, path, &none, handler, data,
				  source);
}

void source__look(struct source *source)
{
	eventfd_write(source->wake, 1);
}

const char *source__name(const struct source *source)
{
	return source->name->text;
}

const char *source__kind(const struct source *source)
{
	return source->reader->kind;
}

bool source__equal(const struct source *source, const struct source_settings *settings,
		   const struct settings *all)
{
	const struct source_settings *own = source__settings(source);
	const struct target_defaults *defaults = &settings->defaults;
	const uint64_t interval_ns = defaults->interval_ns    ?:
					     all->interval_ns ?:
								SETTINGS_INTERVAL_DEFAULT_NS;
	struct entry_names *entries = entry_names__hold(defaults->entries);
	bool is_equal;

	if (!entries && all->entry_count)
		entries = entry_names__new(all->entries, all->entry_count);
	is_equal = own->kind == settings->kind && !strcmp(own->place, settings->place) &&
		   own->refresh_ns == settings->refresh_ns &&
		   url_settings__equal(&own->url, &settings->url) &&
		   own->defaults.interval_ns == interval_ns &&
		   own->defaults.class == defaults->class &&
		   own->defaults.transport == defaults->transport &&
		   (own->defaults.labels == defaults->labels ||
		    json_equal(own->defaults.labels, defaults->labels)) &&
		   relabel_rules__equal(own->defaults.metric_relabel,
					defaults->metric_relabel ?: all->metric_relabel) &&
		   relabel_rules__equal(own->defaults.relabel,
					defaults->relabel ?: all->relabel) &&
		   entry_names__equal(own->defaults.entries, entries);
	entry_names__release(entries);
	return is_equal;
}

void source__end(struct source *source)
{
	source->event_source = sd_event_source_disable_unref(source->event_source);
	atomic_store(&source->is_ending, true);
	eventfd_write(source->wake, 1);
}

void source__free(struct source *source, uint64_t deadline_ns)
{
	struct pollfd ready = { .fd = source->ready, .events = POLLIN };
	eventfd_t count;
	uint64_t now_ns;

	/* Not pthread_timedjoin_np(), which uses CLOCK_REALTIME: users may set that clock back. */
	while (!atomic_load(&source->has_ended) && (now_ns = monotonic_ns()) < deadline_ns) {
		poll(&ready, 1, (deadline_ns - now_ns + 999999) / 1000000);
		eventfd_read(source->ready, &count);
	}
	if (atomic_load(&source->has_ended))
		pthread_join(source->thread, NULL);
	else
		pthread_detach(source->thread);
	source__release(source);
}
