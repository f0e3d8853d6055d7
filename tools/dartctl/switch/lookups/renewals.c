// SPDX-License-Identifier: GPL-2.0-only
/* Queue pairs of servers that stay silent, see renewals.h. */
#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "renewals.h"
#include "state.h"
#include "tools/dartctl/switch/bmv2/register.h"
#include "tools/dartctl/switch/bmv2/table.h"

#define SILENT_MS 400 /* many probes at the default time-out */
#define PAUSE_MIN_MS 1000
#define PAUSE_MAX_MS 30000
#define VARIABLES 3

bool lookup_renewal__is_due(struct lookup_renewal *renewal, bool is_silent, int64_t now)
{
	if (!is_silent) {
		*renewal = (struct lookup_renewal){ .is_silent = false };
		return false;
	}
	if (!renewal->is_silent) {
		renewal->is_silent = true;
		renewal->due_at = now + SILENT_MS;
		renewal->pause_ms = PAUSE_MIN_MS;
	}
	if (now < renewal->due_at)
		return false;
	renewal->due_at = now + renewal->pause_ms;
	renewal->pause_ms *= 2;
	if (renewal->pause_ms > PAUSE_MAX_MS)
		renewal->pause_ms = PAUSE_MAX_MS;
	return true;
}

/* ---- the command */

extern char **environ;

/* The environment of this process behind @variables; NULL if out of memory. */
static char **make_environment(char variables[VARIABLES][64 + DART_TEA_NAME_MAX])
{
	size_t count = 0, i;
	char **all;

	while (environ[count])
		count++;
	all = calloc(VARIABLES + count + 1, sizeof(*all));
	if (!all)
		return NULL;
	for (i = 0; i < VARIABLES; i++)
		all[i] = variables[i];
	memcpy(all + VARIABLES, environ, count * sizeof(*all));
	return all;
}

/* The follower blocks the signals that end it; its child must not. */
static int spawn(struct lookup_renewals *renewals, char **environment)
{
	char *const arguments[] = { "sh", "-c", (char *)renewals->command, NULL };
	posix_spawnattr_t attributes;
	sigset_t none;
	int ret;

	ret = posix_spawnattr_init(&attributes);
	if (ret)
		return -ret;
	sigemptyset(&none);
	ret = posix_spawnattr_setsigmask(&attributes, &none)			    ?:
		      posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK) ?:
		      posix_spawn(&renewals->running, "/bin/sh", NULL, &attributes, arguments,
				  environment);
	posix_spawnattr_destroy(&attributes);
	if (ret)
		renewals->running = 0;
	return -ret;
}

int lookup_renewals__start(struct lookup_renewals *renewals, const struct dart_tea_tables *tables,
			   struct in_addr server, struct dart_error *error)
{
	char variables[VARIABLES][64 + DART_TEA_NAME_MAX];
	char requester_text[INET_ADDRSTRLEN], server_text[INET_ADDRSTRLEN];
	char **environment;
	int ret;

	inet_ntop(AF_INET, &tables->requester, requester_text, sizeof(requester_text));
	inet_ntop(AF_INET, &server, server_text, sizeof(server_text));
	snprintf(variables[0], sizeof(variables[0]), "DART_TABLE=%s", tables->name);
	snprintf(variables[1], sizeof(variables[1]), "DART_REQUESTER=%s", requester_text);
	snprintf(variables[2], sizeof(variables[2]), "DART_SERVER=%s", server_text);
	environment = make_environment(variables);
	if (!environment)
		return dart_error__no_memory(error);
	ret = spawn(renewals, environment);
	free(environment);
	if (ret)
		return dart_error__system(error, -ret, "cannot run the command of --renew");
	renewals->server = server;
	return 0;
}

int lookup_renewals__reap(struct lookup_renewals *renewals, struct dart_error *error)
{
	char server[INET_ADDRSTRLEN];
	int status;
	pid_t ended;

	if (!renewals->running)
		return 0;
	ended = waitpid(renewals->running, &status, WNOHANG);
	if (!ended || (ended < 0 && errno == EINTR))
		return -EAGAIN;
	renewals->running = 0;
	inet_ntop(AF_INET, &renewals->server, server, sizeof(server));
	if (ended < 0 || !WIFEXITED(status) || WEXITSTATUS(status))
		return dart_error__set(
			error, EIO, "the command of --renew failed for silent server %s", server);
	printf("renew server %s, which was silent: %llu so far\n", server,
	       (unsigned long long)++renewals->count);
	fflush(stdout);
	return 0;
}

/* ---- looks */

int lookup_renewals__look(struct lookup_renewals *renewals, struct thrift *thrift,
			  const struct dart_tea_tables *tables, int64_t now,
			  struct dart_error *error)
{
	struct switch_entry servers[DART_TEA_SERVERS_MAX] = { { .there = false } };
	uint64_t state;
	uint32_t i;
	int ret;

	ret = lookup_renewals__reap(renewals, error);
	if (ret)
		return ret == -EAGAIN ? 0 : ret;
	ret = bmv2_table__read_numbers(thrift, &lookup_tables[LOOKUP_SERVER], servers, error);
	for (i = 0; !ret && i < DART_TEA_SERVERS_MAX; i++) {
		state = LOOKUP_UP;
		if (servers[i].there)
			ret = bmv2_register__read(thrift, LOOKUP_REGISTER_STATE, i, &state, error);
		if (ret ||
		    !lookup_renewal__is_due(&renewals->servers[i], state == LOOKUP_SILENT, now))
			continue;
		return lookup_renewals__start(
			renewals, tables, (struct in_addr){ htonl(servers[i].values[SERVER_IP]) },
			error);
	}
	return ret;
}
