// SPDX-License-Identifier: GPL-2.0-only
/* Checks of dartd: whether it runs and answers, and whether its release is that of dartctl. */
#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <libdart/registration/client.h>

#include "checks.h"
#include "tools/dartctl/cli/message.h"
#include "tools/doctor/text_file.h"

#define ANSWER_TIMEOUT_S 5

/* The first process called dartd, or 0. */
static pid_t find_process(void)
{
	struct dirent *entry;
	DIR *directory = opendir("/proc");
	pid_t pid = 0;
	char name[32];

	while (directory && !pid && (entry = readdir(directory)))
		if (*entry->d_name > '0' && *entry->d_name <= '9' &&
		    text_file__line(name, sizeof(name), "/proc/%s/comm", entry->d_name) &&
		    !strcmp(name, "dartd"))
			pid = atoi(entry->d_name);
	if (directory)
		closedir(directory);
	return pid;
}

/* The path after --socket= on the command line of dartd. */
static bool find_socket(pid_t pid, char *path, size_t size)
{
	char name[64], *word = NULL;
	bool is_found = false, is_next = false;
	size_t room = 0;
	FILE *words;

	snprintf(name, sizeof(name), "/proc/%d/cmdline", (int)pid);
	words = fopen(name, "re");
	if (!words)
		return false;
	while (!is_found && getdelim(&word, &room, '\0', words) > 0) {
		is_found = is_next || !strncmp(word, "--socket=", 9);
		if (is_found)
			snprintf(path, size, "%s", is_next ? word : word + 9);
		is_next = !strcmp(word, "--socket");
	}
	free(word);
	fclose(words);
	return is_found;
}

/*
 * Sets *@answer to @member of the reply to a request without members, a new
 * reference.  Returns 0, or -errno and a sentence.
 */
static int ask(struct dart_registration_client *client, const char *request,
	       const char *member, json_t **answer, struct dart_error *error)
{
	json_t *json = json_pack("{s:s}", "request", request), *reply = NULL;
	int ret;

	if (!json)
		return dart_error__no_memory(error);
	ret = dart_registration_client__ask(client, json, -1, &reply, NULL, error);
	if (!ret)
		*answer = json_incref(json_object_get(reply, member));
	if (!ret && !*answer)
		ret = dart_error__set(error, EPROTO, "the reply has no '%s'", member);
	json_decref(json);
	json_decref(reply);
	return ret;
}

static void advise_service(struct findings *findings, const char *verb)
{
	if (text_file__exists("/run/systemd/system"))
		findings__command(findings, "systemctl %s dartd", verb);
	else
		findings__advise(findings, "%s dartd", verb);
}

static void explain_refusal(struct findings *findings, const char *socket, pid_t pid, int ret)
{
	const struct passwd *user = getpwuid(geteuid());
	char other[256];

	if (ret == -EACCES || ret == -EPERM) {
		findings__fail(findings, "socket", "no permission to use %s", socket);
		if (user && getgrnam("dart")) {
			findings__advise(findings, "join its group, and log in again");
			findings__command(findings, "sudo usermod -aG dart %s", user->pw_name);
		} else {
			findings__command(findings, "sudo dartctl doctor");
		}
		return;
	}
	findings__fail(findings, "socket", "dartd runs, but %s: %s", socket, strerror(-ret));
	if (find_socket(pid, other, sizeof(other)) && strcmp(other, socket))
		findings__command(findings, "dartctl --socket=%s doctor", other);
	else
		advise_service(findings, "restart");
}

static void check_answers(struct findings *findings, const char *socket,
			  struct running_agent *agent)
{
	const struct timeval timeout = { .tv_sec = ANSWER_TIMEOUT_S };
	struct dart_registration_client client;
	struct dart_error error;
	int ret;

	ret = dart_registration_client__open(&client, socket, &error);
	if (ret) {
		if (!agent->pid)
			agent->pid = find_process();
		if (agent->pid)
			explain_refusal(findings, socket, agent->pid, ret);
		return;
	}
	setsockopt(client.socket, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	ret = ask(&client, "status", "status", &agent->status, &error);
	if (ret) {
		if (ret == -EAGAIN)
			dart_error__set(&error, -ret, "dartd does not answer within %u s",
					ANSWER_TIMEOUT_S);
		findings__fail(findings, "socket", "%s", error.text);
		advise_service(findings, "restart");
	} else {
		/* An older dartd may not know this request. */
		ask(&client, "store-list", "stores", &agent->stores, &error);
		agent->pid = json_integer_value(json_object_get(agent->status, "pid"));
		findings__ok(findings, "socket", "%s answers", socket);
	}
	dart_registration_client__close(&client);
}

static void check_version(struct findings *findings, const json_t *status)
{
	char *advice = version__advice(status);
	const char *version = json_string_value(json_object_get(status, "version"));

	if (!advice) {
		findings__ok(findings, "version", "dartctl and dartd are %s", DART_VERSION);
		return;
	}
	findings__warn(findings, "version", "dartctl is %s, dartd is %s",
		       DART_VERSION, version ?: "older");
	findings__advise(findings, "%s", advice);
	free(advice);
}

/* dartd may run longer than its RDMA device exists. */
static void check_device(struct findings *findings, const json_t *status)
{
	const char *missing = json_string_value(json_object_get(status, "device_missing"));

	if (!missing)
		return;
	findings__fail(findings, "device", "no peer can connect over RDMA: %s", missing);
	findings__advise(findings, "bring it back: dartd takes it as soon as it is there");
}

void check_agent(struct findings *findings, const char *socket, struct running_agent *agent)
{
	*agent = (struct running_agent){};
	check_answers(findings, socket, agent);
	if (!agent->pid)
		agent->pid = find_process();
	if (agent->pid) {
		findings__ok(findings, "dartd", "runs as process %d", (int)agent->pid);
	} else {
		findings__fail(findings, "dartd", "does not run");
		advise_service(findings, "start");
	}
	if (agent->status) {
		check_version(findings, agent->status);
		check_device(findings, agent->status);
	}
}

void running_agent__close(struct running_agent *agent)
{
	json_decref(agent->status);
	json_decref(agent->stores);
}
