// SPDX-License-Identifier: GPL-2.0-only
/* Checks of the configuration beyond one host: see configuration.h. */
#include "configuration.h"

#include <curl/curl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tools/controller/base/validity.h"
#include "tools/controller/discovery/members_file.h"
#include "tools/controller/flow/capacity.h"

#define RECEIVER_TIMEOUT_MS 2000L

/* ---- members */

static void advise_on_list(struct findings *findings)
{
	findings__advise(findings,
			 "look at the program that writes it, such as dart-members-zookeeper");
	findings__command(findings, "journalctl -n 20 -u dart-members-zookeeper");
}

/* "1, 2, 5", or the beginning of it. */
static void name_members(const struct member_set *set, char *text, size_t size)
{
	unsigned int member;
	size_t length = 0;

	for (member = 1; member <= SHARD_MEMBERS_MAX && length + 10 < size; member++)
		if (member_set__has(set, member))
			length += snprintf(text + length, size - length, "%s%u", length ? ", " : "",
					   member);
	if (member <= SHARD_MEMBERS_MAX)
		snprintf(text + length, size - length, " ...");
}

static void check_list(struct findings *findings, const struct shard *shard,
		       const struct member_list *list)
{
	const uint64_t now_ns = boottime_ns();
	char names[128] = "", valid[64] = "";

	name_members(&list->present, names, sizeof(names));
	if (list->valid_ns && list->valid_ns <= now_ns) {
		findings__fail(findings, "members",
			       "%s is over: no agent is scraped before there is another list",
			       shard->file);
		advise_on_list(findings);
		return;
	}
	if (!member_set__has(&list->present, shard->member)) {
		findings__fail(
			findings, "members",
			"%s lists members %s, and not this one, which is member %u: it scrapes nothing",
			shard->file, names, shard->member);
		advise_on_list(findings);
		return;
	}
	if (list->valid_ns)
		snprintf(valid, sizeof(valid), ", for %.1f s more",
			 (list->valid_ns - now_ns) / 1e9);
	findings__ok(findings, "members", "member %u; %s lists members %s%s", shard->member,
		     shard->file, names, valid);
}

void check_members(struct findings *findings, const struct shard *shard)
{
	struct member_list list = {};
	struct dart_error error;

	if (!shard->member)
		return;
	if (!shard->file) {
		findings__ok(findings, "members", "member %u of %u, by the configuration",
			     shard->member, shard->members);
		return;
	}
	if (!members_file__read(shard->file, &list, &error)) {
		check_list(findings, shard, &list);
		return;
	}
	findings__fail(findings, "members", "%s: %s", shard->file, error.text);
	advise_on_list(findings);
}

/* ---- threads */

/* Most bytes of an answer in flight: see transport/transport_call.h. */
#define ANSWER_BYTES (64 * 1024)

/* The CPUs on which this program may run. */
static unsigned int usable_cpus(void)
{
	cpu_set_t cpus;

	return sched_getaffinity(0, sizeof(cpus), &cpus) ? CPU_SETSIZE : CPU_COUNT(&cpus);
}

void check_threads(struct findings *findings, const struct settings *settings)
{
	const unsigned int threads = settings__io_teams(settings, false);
	const unsigned int cpus = usable_cpus();
	const uint64_t bytes = settings->flow_bytes ?: capacity__credit(0);

	if (threads == 1)
		return;
	if (threads > cpus) {
		findings__warn(findings, "threads",
			       "io.threads is %u, but the CPUs are %u: the threads wait for each other",
			       threads, cpus);
		findings__advise(findings, "set io.threads to %u at most", cpus);
	} else if (settings->flow != SETTINGS_FLOW_NONE && settings->flow != SETTINGS_FLOW_BDP &&
		   bytes / threads < ANSWER_BYTES) {
		findings__warn(findings, "threads",
			       "each of %u I/O threads may have %" PRIu64
			       " bytes in flight, and an answer over rpc or tcp has up to %d: more than flow.bytes can be in flight",
			       threads, bytes / threads, ANSWER_BYTES);
		findings__advise(findings, "set flow.bytes to %dK or more, or io.threads to %u",
				 threads * ANSWER_BYTES / 1024,
				 (unsigned int)(bytes / ANSWER_BYTES) ?: 1);
	} else {
		findings__ok(findings, "threads", "%u I/O threads of each kind, and CPUs: %u", threads,
			     cpus);
	}
}

/* ---- receivers */

/* Returns why no connection can be made; NULL: one was. */
static const char *connect_to(const struct receiver_settings *receiver, char *reason)
{
	CURL *curl = curl_easy_init();
	CURLcode code;

	if (!curl)
		return "out of memory";
	*reason = '\0';
	curl_easy_setopt(curl, CURLOPT_URL, receiver->url);
	curl_easy_setopt(curl, CURLOPT_CONNECT_ONLY, 1L);
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, RECEIVER_TIMEOUT_MS);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, reason);
	if (receiver->authorities)
		curl_easy_setopt(curl, CURLOPT_CAINFO, receiver->authorities);
	if (receiver->certificate)
		curl_easy_setopt(curl, CURLOPT_SSLCERT, receiver->certificate);
	if (receiver->key)
		curl_easy_setopt(curl, CURLOPT_SSLKEY, receiver->key);
	code = curl_easy_perform(curl);
	curl_easy_cleanup(curl);
	if (!code)
		return NULL;
	return *reason ? reason : curl_easy_strerror(code);
}

/* The first secret file that cannot be read; NULL: all can be read. */
static const char *missing_secret(const struct receiver_settings *receiver)
{
	const char *files[] = { receiver->token_file, receiver->password_file,
				receiver->sigv4.secret_key_file };
	size_t i;

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (files[i] && access(files[i], R_OK))
			return files[i];
	return NULL;
}

static void check_receiver(struct findings *findings, const struct receiver_settings *receiver)
{
	char *name = receiver_settings__name(receiver), text[CURL_ERROR_SIZE];
	const char *shown = name ?: receiver->format;
	const char *reason = connect_to(receiver, text);
	const char *secret = missing_secret(receiver);

	if (reason) {
		findings__fail(findings, "receiver", "%s %s: %s", receiver->format, shown, reason);
		findings__advise(findings,
				 receiver->spool ?
					 "meanwhile samples wait in the spool" :
					 "meanwhile samples wait in memory, up to queue_bytes");
	} else if (secret) {
		findings__fail(findings, "receiver", "%s %s: %s cannot be read", receiver->format,
			       shown, secret);
		findings__command(findings, "ls -l %s", secret);
	} else {
		findings__ok(findings, "receiver", "%s %s accepts connections", receiver->format,
			     shown);
	}
	free(name);
}

void check_receivers(struct findings *findings, const struct output_settings *outputs)
{
	size_t i;

	for (i = 0; i < outputs->receiver_count; i++)
		check_receiver(findings, &outputs->receivers[i]);
}
