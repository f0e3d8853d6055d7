// SPDX-License-Identifier: GPL-2.0-only
/*
 * dart-members-zookeeper: holds a node in ZooKeeper for the controller of this host, and writes the
 * list of the members of its shard for it.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-event.h>

#include <libdart/settings/program.h>

#include "messages.h"
#include "node.h"
#include "options.h"
#include "question.h"
#include "roster.h"
#include "session.h"
#include "tools/controller/base/validity.h"

/* The controller is asked so many times in a session time-out, within the next bounds. */
#define QUESTIONS 20
#define PAUSE_LEAST_NS 20000000ULL
#define PAUSE_MOST_NS 250000000ULL
/* After a new list, the least pause until the controller uses it, but no longer than this. */
#define FRESH_NS 1000000000ULL

struct members {
	const struct settings *settings;
	sd_event *event;
	sd_event_source *timer;
	struct session *session;
	struct question question;
	struct roster roster;
	char boot_id[NODE_BOOT_ID_MAX];
	char said[DART_ERROR_MAX]; /* why the list could not be written; "": it could be */
	bool has_controller; /* as was said */
	uint64_t fresh_until_ns; /* others may wait until the controller uses the new list */
};

static void write_list(struct members *members, const struct member_list *list, uint64_t now_ns)
{
	const struct member_list *written = &members->roster.written;
	struct dart_error error;

	if (node__write_list(members->settings->file, list, members->boot_id, &error)) {
		if (strcmp(members->said, error.text))
			messages__say("%s", error.text);
		strcpy(members->said, error.text);
		return;
	}
	members->said[0] = '\0';
	if (memcmp(&written->present, &list->present, sizeof(list->present)))
		messages__say("%u members are there%s", member_set__count(&list->present),
			      member_set__has(&list->present, members->settings->member) ?
				      "" :
				      ", and not this one");
	if (list->version != written->version ||
	    memcmp(&written->present, &list->present, sizeof(list->present))) {
		members->fresh_until_ns = now_ns + FRESH_NS;
		sd_event_source_set_time(members->timer, (now_ns + PAUSE_LEAST_NS) / 1000);
	}
	roster__set_written(&members->roster, list);
}

/* Others take over as soon as the session is closed. */
static void end_list(struct members *members)
{
	struct member_list list = members->roster.written;

	if (list.valid_ns <= 1)
		return;
	list.valid_ns = 1;
	write_list(members, &list, boottime_ns());
}

static void say_controller(struct members *members, uint64_t now_ns)
{
	const bool has_controller = roster__has_controller(&members->roster, now_ns);
	const struct roster_answer *answer = &members->roster.answer;

	if (has_controller == members->has_controller)
		return;
	members->has_controller = has_controller;
	messages__say("the controller at %s %s", members->settings->controller,
		      has_controller			? "runs" :
		      answer->stage == ROSTER_LEAVES	? "is about to end" :
		      answer->begun_ns			? "does not answer" :
							  "does not run");
}

static void run(void *data)
{
	struct members *members = data;
	const uint64_t now_ns = boottime_ns();
	struct member_list list;

	say_controller(members, now_ns);
	/* The node may be gone after this, and the list comes first if it is over. */
	if (roster__list(&members->roster, now_ns, &list))
		write_list(members, &list, now_ns);
	session__run(members->session, &members->roster, now_ns);
	if (roster__list(&members->roster, now_ns, &list))
		write_list(members, &list, now_ns);
}

static int on_news(sd_event_source *source, int fd, uint32_t events, void *data)
{
	run(data);
	return 0;
}

/* Does the controller use the list that was written last? */
static bool members__is_list_used(const struct members *members)
{
	const struct roster *roster = &members->roster;
	const bool is_named = member_set__has(&roster->written.present, roster->member);

	return roster->answer.used >= roster->written.version &&
	       roster->answer.is_named == is_named;
}

static int on_time(sd_event_source *source, uint64_t usec, void *data)
{
	struct members *members = data;
	const uint64_t now_ns = boottime_ns();
	uint64_t pause_ns = members->roster.session_ns / QUESTIONS;

	if (pause_ns < PAUSE_LEAST_NS)
		pause_ns = PAUSE_LEAST_NS;
	if (pause_ns > PAUSE_MOST_NS)
		pause_ns = PAUSE_MOST_NS;
	if (now_ns < members->fresh_until_ns && !members__is_list_used(members))
		pause_ns = PAUSE_LEAST_NS;
	question__ask(&members->question, now_ns);
	run(members);
	sd_event_source_set_time(source, (now_ns + pause_ns) / 1000);
	sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
	return 0;
}

/* With signals blocked, which the threads of the library inherit. */
static int open_loop(struct members *members, struct dart_error *error)
{
	sigset_t signals;
	int fd, ret;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	if (sigprocmask(SIG_BLOCK, &signals, NULL))
		return dart_error__system(error, errno, "cannot block signals");
	ret = sd_event_new(&members->event);
	if (ret >= 0)
		ret = sd_event_add_signal(members->event, NULL, SIGINT, NULL, NULL);
	if (ret >= 0)
		ret = sd_event_add_signal(members->event, NULL, SIGTERM, NULL, NULL);
	if (ret >= 0)
		ret = sd_event_add_time(members->event, &members->timer, CLOCK_BOOTTIME, 0, 1000,
					on_time, members);
	if (ret < 0)
		return dart_error__system(error, -ret, "cannot set up the event loop");
	ret = session__new(members->settings, &members->session, &fd, error);
	if (ret)
		return ret;
	ret = sd_event_add_io(members->event, NULL, fd, EPOLLIN, on_news, members);
	return ret < 0 ? dart_error__system(error, -ret, "cannot set up the event loop") : 0;
}

static int run_members(const struct settings *settings, struct dart_error *error)
{
	struct members *members = calloc(1, sizeof(*members));
	int ret;

	if (!members)
		return dart_error__no_memory(error);
	members->settings = settings;
	node__read_boot_id(members->boot_id);
	roster__begin(&members->roster, settings->member, settings->session_ns,
		      settings->unreachable == OPTIONS_UNREACHABLE_CONTINUE);
	ret = open_loop(members, error);
	if (!ret) {
		question__open(&members->question, members->event, settings->controller,
			       &members->roster, run, members);
		ret = sd_event_loop(members->event);
		if (ret < 0)
			dart_error__system(error, -ret, "the event loop failed");
	}
	question__close(&members->question);
	end_list(members);
	session__free(members->session);
	sd_event_source_disable_unref(members->timer);
	sd_event_unref(members->event);
	free(members);
	return ret;
}

int main(int argc, char *argv[])
{
	int status = EXIT_SUCCESS;
	struct dart_error error;
	struct options options;

	dart_program__open_streams();
	if (options__parse(&options, argc, argv, &error)) {
		fprintf(stderr, "dart-members-zookeeper: %s\n", error.text);
		status = 2; /* wrong arguments, or a wrong configuration */
	} else if (options.is_help) {
		options__print_help();
	} else if (options.is_version) {
		puts("dart-members-zookeeper " DART_VERSION);
	} else if (options.is_check) {
		printf("%s is valid\n", options.config);
	} else if (run_members(&options.settings, &error)) {
		fprintf(stderr, "dart-members-zookeeper: %s\n", error.text);
		status = EXIT_FAILURE;
	}
	options__clear(&options);
	return dart_program__end_output("dart-members-zookeeper", status);
}
