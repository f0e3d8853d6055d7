// SPDX-License-Identifier: GPL-2.0-only
/*
 * farm_check [-f rows|records] [-s BYTES] [-p PORT] [-u UPDATE] INTERVAL_MS HOSTS FIRST
 * STOPPED: judges the JSON of a controller that scrapes a farm of HOSTS hosts every
 * INTERVAL_MS, of which STOPPED hosts from FIRST on are stopped and started again.  Options
 * are as for farm, except UPDATE, the number in the farm's status before.
 *
 * Prints the lines of selftests/lib/farm_verdict.h, and at the end of its input the
 * verdict.  SIGUSR1 begins the next phase, and its value, of sigqueue(3), is the farm's
 * UPDATE before that.  Exits with 1 after a fault.
 */
#include <errno.h>
#include <error.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "selftests/lib/farm_verdict.h"

/* Number of signals, time of the last one, and its value. */
static volatile sig_atomic_t phases;
static volatile uint64_t phase_ns;
static volatile sig_atomic_t phase_update;

static void on_signal(int number, siginfo_t *info, void *context)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	phase_ns = now.tv_sec * 1000000000ULL + now.tv_nsec;
	phase_update = info->si_code == SI_QUEUE ? info->si_value.sival_int : 0;
	phases++;
}

static void catch_signal(void)
{
	struct sigaction action = {
		.sa_sigaction = on_signal,
		.sa_flags = SA_RESTART | SA_SIGINFO,
	};

	if (sigaction(SIGUSR1, &action, NULL))
		error(1, errno, "sigaction");
}

static int judge(const struct farm_plan *plan)
{
	struct farm_verdict *verdict = farm_verdict__new(plan, stdout);
	sig_atomic_t seen = 0;
	char *line = NULL;
	ssize_t length;
	size_t size = 0;
	json_t *report;
	int status;

	if (!verdict)
		error(1, ENOMEM, "cannot judge");
	while ((length = getline(&line, &size, stdin)) > 0) {
		if (phases != seen) {
			seen = phases;
			farm_verdict__next_phase(verdict, phase_ns, phase_update);
		}
		farm_verdict__take(verdict, line, length);
	}
	free(line);
	report = farm_verdict__report(verdict);
	if (!report || json_dumpf(report, stdout, JSON_COMPACT))
		error(1, ENOMEM, "cannot report");
	puts("");
	status = json_integer_value(json_object_get(report, "faults")) != 0;
	json_decref(report);
	farm_verdict__free(verdict);
	return status;
}

int main(int argc, char *argv[])
{
	struct farm_plan plan = { .first_port = 5000 };
	enum farm_form form = FARM_ROWS;
	uint64_t bytes = 0;
	int option;

	while ((option = getopt(argc, argv, "f:s:p:u:")) != -1) {
		if (option == 'f')
			form = strcmp(optarg, "rows") ? FARM_RECORDS : FARM_ROWS;
		else if (option == 's')
			bytes = strtoull(optarg, NULL, 10);
		else if (option == 'p')
			plan.first_port = atoi(optarg);
		else if (option == 'u')
			plan.update = strtoull(optarg, NULL, 10);
		else
			return 2;
	}
	if (argc - optind != 4 ||
	    farm_shape__init(&plan.shape, form,
			     bytes		       ?:
				     form == FARM_ROWS ? 4096 :
							 8192))
		error(2, 0, "expected INTERVAL_MS HOSTS FIRST STOPPED");
	plan.interval_ns = strtoull(argv[optind], NULL, 10) * 1000000;
	plan.hosts = strtoul(argv[optind + 1], NULL, 10);
	plan.first_stopped = strtoul(argv[optind + 2], NULL, 10);
	plan.stopped = strtoul(argv[optind + 3], NULL, 10);
	if (!plan.interval_ns || !plan.hosts)
		error(2, 0, "an interval and hosts are needed");
	catch_signal();
	return judge(&plan);
}
