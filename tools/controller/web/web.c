// SPDX-License-Identifier: GPL-2.0-only
/* The page as a metric output: see web.h. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tools/controller/base/thread.h"
#include "tools/controller/http/http_listener.h"
#include "tools/controller/outputs/output.h"

#include "lookup.h"
#include "web.h"
#include "web_pages.h"

/* Interval for finding targets whose scrape is late. */
#define CHECK_NS 250000000

struct web {
	struct metric_output output;
	struct web_site site;
	struct http_page *pages;
	size_t page_count;
	struct http_listener *listener; /* of the control loop; NULL: nobody can ask */
	pthread_t thread;

	pthread_mutex_t lock;
	pthread_cond_t ends;
	bool is_ending;
};

static struct web *of(struct metric_output *output)
{
	return (struct web *)output;
}

static void on_scrape(struct metric_output *output, const struct target_settings *target,
		      const struct metric_scrape *scrape)
{
	web_targets__take(of(output)->site.targets, target, scrape);
}

static void on_lost(struct metric_output *output, const struct target_settings *target,
		    const struct metric_plan *plan, int64_t time_ns, const char *reason)
{
	web_targets__lose(of(output)->site.targets, target, reason);
}

static void on_failed(struct metric_output *output, const struct target_settings *target,
		      const char *reason)
{
	web_targets__lose(of(output)->site.targets, target, reason);
}

static void on_added(struct metric_output *output, const struct target_settings *target)
{
	web_targets__add(of(output)->site.targets, target);
}

static void on_removed(struct metric_output *output, const struct target_settings *target)
{
	web_targets__remove(of(output)->site.targets, target);
}

/* A missing scrape causes no event, so this thread checks regularly. */
static void *check(void *data)
{
	struct web *web = data;
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	pthread_mutex_lock(&web->lock);
	while (!web->is_ending) {
		until.tv_nsec += CHECK_NS;
		if (until.tv_nsec >= 1000000000) {
			until.tv_nsec -= 1000000000;
			until.tv_sec++;
		}
		while (!web->is_ending && !pthread_cond_timedwait(&web->ends, &web->lock, &until))
			;
		if (web->is_ending)
			break;
		pthread_mutex_unlock(&web->lock);
		web_targets__check(web->site.targets);
		pthread_mutex_lock(&web->lock);
	}
	pthread_mutex_unlock(&web->lock);
	return NULL;
}

static void end_checks(struct web *web)
{
	pthread_mutex_lock(&web->lock);
	web->is_ending = true;
	pthread_cond_signal(&web->ends);
	pthread_mutex_unlock(&web->lock);
	pthread_join(web->thread, NULL);
}

static void web__free(struct web *web)
{
	http_listener__free(web->listener);
	free(web->pages);
	lookup_desk__free(web->site.desk);
	key_schemas__clear(&web->site.schemas);
	web_targets__free(web->site.targets);
	pthread_cond_destroy(&web->ends);
	pthread_mutex_destroy(&web->lock);
	free(web);
}

static void on_free(struct metric_output *output)
{
	end_checks(of(output));
	web__free(of(output));
}

static const struct metric_output_operations operations = {
	.scrape = on_scrape,
	.lost = on_lost,
	.failed = on_failed,
	.added = on_added,
	.removed = on_removed,
	.free = on_free,
};

static struct web *allocate(const struct web_settings *settings)
{
	struct web *web = calloc(1, sizeof(*web));
	pthread_condattr_t attributes;

	if (!web)
		return NULL;
	web->output.operations = &operations;
	pthread_mutex_init(&web->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&web->ends, &attributes);
	pthread_condattr_destroy(&attributes);
	web->site.targets = web_targets__new(settings->history_bytes ?: WEB_HISTORY_BYTES_DEFAULT,
					     settings->interval_ns ?: SETTINGS_INTERVAL_DEFAULT_NS,
					     settings->is_replay);
	return web;
}

static int open_site(struct web *web, const struct http_settings *http, struct dart_error *error)
{
	key_schemas__load(&web->site.schemas);
	web->site.desk = lookup_desk__new();
	web->pages = web_pages__new(&web->site, &web->page_count);
	if (!web->pages || !web->site.desk)
		return dart_error__no_memory(error);
	return web__serve(&web->output, http, error);
}

int web__serve(struct metric_output *output, const struct http_settings *http,
	       struct dart_error *error)
{
	struct web *web = of(output);
	const struct http_listener_options options = {
		.pages = web->pages,
		.page_count = web->page_count,
		.port = WEB_PORT_DEFAULT,
		.remedy =
			"it needs --web-token-file, or user and password_file in the configuration, or a reverse proxy in front of localhost",
		.pages_decide = true,
	};

	if (web->listener && http_settings__equal(http_listener__settings(web->listener), http))
		return 0;
	return http_listener__replace(&web->listener, http, &options, error);
}

void web__end_serving(struct metric_output *output)
{
	struct web *web = of(output);

	http_listener__free(web->listener);
	web->listener = NULL;
}

void web__url(const struct metric_output *output, char url[HTTP_URL_MAX])
{
	const struct web *web = (const struct web *)output;

	*url = '\0';
	if (web->listener)
		http_server__url(http_listener__server(web->listener), url);
}

int web__new(const struct web_settings *settings, struct output *log, struct metric_output **output,
	     struct dart_error *error)
{
	struct web *web = allocate(settings);
	int ret;

	if (!web)
		return dart_error__no_memory(error);
	if (web->site.targets)
		ret = open_site(web, settings->http, error);
	else
		ret = dart_error__no_memory(error);
	if (ret)
		goto err;
	ret = thread__start(&web->thread, "web", check, web);
	if (ret) {
		dart_error__system(error, -ret, "cannot start a thread");
		goto err;
	}
	if (log) {
		char url[HTTP_URL_MAX];

		web__url(&web->output, url);
		output__print(log, "dart-controller: the page is at %s", url);
	}
	*output = &web->output;
	return 0;

err:
	web__free(web);
	return ret;
}

int web__reload(struct metric_output *output, struct dart_error *error)
{
	struct web *web = of(output);

	return web->listener ? http_listener__reload(web->listener, error) : 0;
}

unsigned int web__port(const struct metric_output *output)
{
	const struct web *web = (const struct web *)output;

	return http_server__port(http_listener__server(web->listener));
}
