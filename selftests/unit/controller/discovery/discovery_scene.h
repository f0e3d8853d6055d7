/* SPDX-License-Identifier: GPL-2.0-only */
/* A discovery in a directory of its own, whose files a test writes. */
#ifndef DISCOVERY_SCENE_H
#define DISCOVERY_SCENE_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "selftests/unit/unit.h"
#include "tools/controller/discovery/discovery.h"
#include "tools/controller/settings/config.h"

#define WAIT_US 30000000ULL

struct fixture {
	char directory[32];
	sd_event *event;
	struct discovery *discovery;
	char wanted[256]; /* as "a:1@1000 b:2@5 c:1@1000/60000", intervals in ms, also on standby */
	unsigned int lists;
	char said[8][DART_ERROR_MAX];
	unsigned int sentences;
	uint64_t valid_ns; /* of the last list of members */
	const char *ignored; /* the source whose messages are ignored; NULL: none */
};

static void want(void *data, const struct target_list *list)
{
	struct fixture *fixture = data;
	const struct target_settings *target;
	size_t i, length = 0;

	fixture->wanted[0] = '\0';
	for (i = 0; i < list->count; i++) {
		target = &list->items[i]->settings;
		length += snprintf(fixture->wanted + length, sizeof(fixture->wanted) - length,
				   "%s%s@%llu", i ? " " : "", target->name,
				   (unsigned long long)target->interval_ns / 1000000);
		if (target->standby_ns)
			length += snprintf(fixture->wanted + length,
					   sizeof(fixture->wanted) - length, "/%llu",
					   (unsigned long long)target->standby_ns / 1000000);
		assert_true(length < sizeof(fixture->wanted));
	}
	fixture->lists++;
}

static void take_validity(void *data, uint64_t until_ns)
{
	struct fixture *fixture = data;

	fixture->valid_ns = until_ns;
}

static void say(void *data, const char *sentence)
{
	struct fixture *fixture = data;

	if (fixture->ignored && !strncmp(sentence, fixture->ignored, strlen(fixture->ignored)))
		return;
	assert_true(fixture->sentences < 8);
	strcpy(fixture->said[fixture->sentences++], sentence);
}

/* Replaces a file, as a rename does. */
static void replace(const char *name, const char *text)
{
	FILE *file = fopen("new", "we");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(rename("new", name), 0);
}

/* Writes into the file that there is. */
static inline void rewrite(const char *name, const char *text)
{
	FILE *file = fopen(name, "we");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

/* Runs the loop until a message comes, which must begin with @sentence. */
static void hear(struct fixture *fixture, const char *sentence)
{
	unsigned int i;

	while (!fixture->sentences)
		assert_int_not_equal(sd_event_run(fixture->event, WAIT_US), 0);
	if (strncmp(fixture->said[0], sentence, strlen(sentence)))
		fail_msg("'%s', not '%s'", fixture->said[0], sentence);
	fixture->sentences--;
	for (i = 0; i < fixture->sentences; i++)
		strcpy(fixture->said[i], fixture->said[i + 1]);
}

/* In either order. */
static inline void hear_both(struct fixture *fixture, const char *one, const char *other)
{
	bool is_one;

	while (!fixture->sentences)
		assert_int_not_equal(sd_event_run(fixture->event, WAIT_US), 0);
	is_one = !strncmp(fixture->said[0], one, strlen(one));
	hear(fixture, is_one ? one : other);
	hear(fixture, is_one ? other : one);
}

static void expect(struct fixture *fixture, const char *wanted)
{
	if (strcmp(fixture->wanted, wanted))
		fail_msg("wanted '%s', not '%s'", fixture->wanted, wanted);
}

static void begin(struct fixture *fixture, const char *configuration)
{
	static const struct discovery_operations operations = {
		.want = want,
		.say = say,
		.valid = take_validity,
	};
	struct settings own = {}, settings = {};
	struct dart_error error;

	*fixture = (struct fixture){ .directory = "/tmp/discovery-XXXXXX" };
	assert_non_null(mkdtemp(fixture->directory));
	assert_int_equal(chdir(fixture->directory), 0);
	replace("c", configuration);
	assert_int_equal(sd_event_new(&fixture->event), 0);
	assert_int_equal(settings__add_target(&own, "own", 1, 0), 0);
	assert_int_equal(config__read(&settings, &own, "c", &error), 0);
	assert_int_equal(discovery__new(fixture->event, &own, &settings, "c", &operations, fixture,
					&fixture->discovery, &error),
			 0);
	settings__clear(&settings);
	settings__clear(&own);
}

static void end(struct fixture *fixture)
{
	char command[100];

	assert_int_equal(fixture->sentences, 0);
	discovery__free(fixture->discovery);
	sd_event_unref(fixture->event);
	snprintf(command, sizeof(command), "rm -r %s", fixture->directory);
	assert_int_equal(system(command), 0);
}

#endif /* DISCOVERY_SCENE_H */
