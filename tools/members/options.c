// SPDX-License-Identifier: GPL-2.0-only
/* Reads the command line and the configuration: see options.h. */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include <libdart/settings/program.h>
#include <libdart/yaml_file.h>

#include "tools/controller/settings/shard.h"

#define SECOND_NS 1000000000ULL
#define SESSION_DEFAULT_NS (10 * SECOND_NS)
#define PATH_DEFAULT "/dart/members"
#define FILE_DEFAULT "/run/dart-members/members.json"
#define CONTROLLER_DEFAULT "/run/dart-controller/control.sock"

#define MEMBER(member) DART_SETTING_MEMBER(struct settings, member)

/* A path of ZooKeeper, of which each component becomes a node. */
static int take_node(void *object, const struct dart_setting *setting, const char *text,
		     struct dart_error *error)
{
	struct settings *settings = object;
	const size_t length = strlen(text);
	size_t i;

	for (i = 0; i < length; i++)
		if (text[i] <= ' ' || text[i] > '~' || text[i] == '.' ||
		    (text[i] == '/' && text[i + 1] == '/'))
			break;
	if (*text != '/' || length < 2 || length > 200 || i < length || text[length - 1] == '/')
		return dart_setting__refuse(setting, text, error);
	settings->path = strdup(text);
	return settings->path ? 0 : -ENOMEM;
}

static const struct dart_setting setting_rows[] = {
	{ .key = "servers",
	  .type = DART_SETTING_TEXT,
	  MEMBER(servers),
	  .noun = "a list of servers",
	  .example = "zk1:2181,zk2:2181,zk3:2181" },
	{ .key = "path",
	  .take = take_node,
	  MEMBER(path),
	  .noun = "a path of ZooKeeper",
	  .expected = "/NAME or /NAME/NAME, without dots" },
	{ .key = "member",
	  .type = DART_SETTING_NUMBER,
	  MEMBER(member),
	  .least = 1,
	  .most = SHARD_MEMBERS_MAX,
	  .noun = "a number of a member" },
	{ .key = "file", .type = DART_SETTING_PATH, MEMBER(file), .noun = "a path" },
	{ .key = "controller", .type = DART_SETTING_PATH, MEMBER(controller), .noun = "a path" },
	{ .key = "session",
	  .type = DART_SETTING_TIME,
	  MEMBER(session_ns),
	  .least = SECOND_NS,
	  .most = 600 * SECOND_NS,
	  .noun = "a session time-out",
	  .example = "10s" },
	{ .key = "unreachable",
	  .type = DART_SETTING_CHOICE,
	  MEMBER(unreachable),
	  .words = "continue|stop",
	  .noun = "what to do without servers" },
	{ .key = "auth_file", .type = DART_SETTING_PATH, MEMBER(auth_file), .noun = "a path" },
};

static const struct dart_settings settings_table = DART_SETTINGS(setting_rows);

#undef MEMBER
#define MEMBER(member) DART_SETTING_MEMBER(struct options, member)

static const struct dart_setting option_rows[] = {
	{ .option = "config",
	  .argument = "FILE",
	  .type = DART_SETTING_WORD,
	  MEMBER(config),
	  .completion = "@file yaml yml",
	  .help = "read this configuration instead of " OPTIONS_CONFIG },
	{ .option = "check",
	  .type = DART_SETTING_FLAG,
	  MEMBER(is_check),
	  .help = "check the configuration, and exit with 2 if it is invalid" },
	{ .option = "help",
	  .letter = 'h',
	  .type = DART_SETTING_FLAG,
	  MEMBER(is_help),
	  .help = "print this and exit" },
	{ .option = "version",
	  .letter = 'V',
	  .type = DART_SETTING_FLAG,
	  MEMBER(is_version),
	  .help = "print the version and exit" },
};

static const struct dart_settings option_table = DART_SETTINGS(option_rows);

const struct dart_program program = {
	.name = "dart-members-zookeeper",
	.usage =
		"Usage: dart-members-zookeeper [OPTION]...\n"
		"Lists the controllers that ZooKeeper knows as members of a shard, in a file for the\n"
		"dart-controller of this host.\n",
	.groups =
		(const struct dart_option_group[]){
			{ "Options:", &option_table },
			{ NULL, &settings_table },
			{},
		},
};

static int load(struct settings *settings, FILE *file, const char *path, struct dart_error *error)
{
	const struct dart_settings_of places[] = {
		{ .table = &settings_table, .object = settings },
		{},
	};
	const yaml_node_t *root;
	struct dart_yaml yaml;
	int ret;

	ret = dart_yaml__load(&yaml, file, path, NULL, &root, error);
	if (ret)
		return ret;
	if (root)
		ret = dart_settings__read(&yaml, root, NULL, places);
	dart_yaml__close(&yaml);
	return ret;
}

static int read_file(struct settings *settings, const char *path, struct dart_error *error)
{
	FILE *file = fopen(path, "re");
	int ret;

	if (!file)
		return dart_error__system(error, errno, "cannot open '%s'", path);
	dart_error__set(error, 0, "%s: out of memory", path);
	ret = load(settings, file, path, error);
	fclose(file);
	return ret;
}

/* A text that the file does not set is a copy of the default. */
static int complete(char **text, const char *standard)
{
	if (!*text)
		*text = strdup(standard);
	return *text ? 0 : -ENOMEM;
}

static int settings__check(struct settings *settings, const char *config, struct dart_error *error)
{
	const struct sockaddr_un *address = NULL;

	if (!settings->servers || !settings->member)
		return dart_error__set(
			error, EINVAL,
			"%s: '%s' is missing: which servers of ZooKeeper, and which member this host is",
			config, settings->servers ? "member" : "servers");
	if (complete(&settings->path, PATH_DEFAULT) || complete(&settings->file, FILE_DEFAULT) ||
	    complete(&settings->controller, CONTROLLER_DEFAULT))
		return dart_error__no_memory(error);
	if (strlen(settings->controller) >= sizeof(address->sun_path))
		return dart_error__set(error, EINVAL, "%s: '%s' is no path of a socket (too long)",
				       config, settings->controller);
	settings->session_ns = settings->session_ns ?: SESSION_DEFAULT_NS;
	settings->unreachable = settings->unreachable ?: OPTIONS_UNREACHABLE_CONTINUE;
	return 0;
}

int options__parse(struct options *options, int argc, char *argv[], struct dart_error *error)
{
	const struct dart_settings_of places[] = {
		{ .table = &option_table, .object = options },
		{},
	};
	int ret;

	*options = (struct options){ .config = OPTIONS_CONFIG };
	ret = dart_program__parse(places, argc, argv, error);
	if (ret || options->is_help || options->is_version)
		return ret;
	if (optind < argc)
		return dart_error__set(error, EINVAL, "unexpected argument '%s' (see --help)",
				       argv[optind]);
	return read_file(&options->settings, options->config, error) ?:
		       settings__check(&options->settings, options->config, error);
}

void options__clear(struct options *options)
{
	struct settings *settings = &options->settings;

	free(settings->servers);
	free(settings->path);
	free(settings->file);
	free(settings->controller);
	free(settings->auth_file);
	*settings = (struct settings){};
}

void options__print_help(void)
{
	dart_program__print_help(&program, stdout);
}
