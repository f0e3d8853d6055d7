// SPDX-License-Identifier: GPL-2.0-only
/* Judges the lines of a controller that scrapes the farm. */
#include <stdlib.h>
#include <string.h>

#include "farm_sample.h"
#include "farm_sums.h"
#include "farm_verdict.h"

#define EPOCHS 16	/* that are told */

struct host {
	uint32_t epoch;	/* of the last scrape; 0 before the first */
	uint64_t update_min;	/* of the rows of the last scrape */
	uint64_t start_ns;	/* of the last scrape */
	uint32_t samples;	/* in this phase */
	bool is_lost;	/* since the last scrape */
};

struct phase {
	uint64_t begin_ns;
	uint64_t update;	/* of the farm, before it began */
	uint64_t samples;	/* of all hosts */
	/* Counts of the hosts that are not stopped. */
	uint64_t others, lost, extra;
	int64_t missed;
};

struct epoch {
	uint32_t hosts;
	uint64_t first_ns;
};

struct farm_verdict {
	struct farm_plan plan;
	FILE *out;
	struct host *hosts;
	struct phase phases[FARM_PHASES_MAX];
	uint32_t phase;
	uint32_t round;	/* of this phase */
	uint32_t in_round;	/* other hosts with more scrapes than that */
	struct epoch epochs[EPOCHS];
	struct farm_sums others, stopped;
	uint64_t faults, samples, values, rows, torn, lost;
	uint64_t update_max, lag;
	uint32_t scraped;	/* hosts */
	uint32_t stopped_lost;	/* lost hosts among the stopped ones */
};

static bool is_stopped(const struct farm_plan *plan, uint32_t host)
{
	return host - plan->first_stopped < plan->stopped;
}

struct farm_verdict *farm_verdict__new(const struct farm_plan *plan, FILE *out)
{
	struct farm_verdict *verdict = calloc(1, sizeof(*verdict));

	if (!verdict)
		return NULL;
	verdict->plan = *plan;
	verdict->out = out;
	verdict->phases->update = plan->update;
	verdict->hosts = calloc(plan->hosts, sizeof(*verdict->hosts));
	if (verdict->hosts)
		return verdict;
	free(verdict);
	return NULL;
}

void farm_verdict__free(struct farm_verdict *verdict)
{
	if (!verdict)
		return;
	free(verdict->hosts);
	free(verdict);
}

/* Takes the reference to @line, which may be NULL. */
static void tell(struct farm_verdict *verdict, json_t *line)
{
	if (line && !json_dumpf(line, verdict->out, JSON_COMPACT)) {
		fputc('\n', verdict->out);
		fflush(verdict->out);
	}
	json_decref(line);
}

static void note_fault(struct farm_verdict *verdict, uint32_t host, const char *text)
{
	struct dart_error sentence;

	if (verdict->faults++ >= FARM_FAULTS_TOLD)
		return;
	dart_error__set(&sentence, 0, "host %u: %s", host, text);
	tell(verdict, json_pack("{ss}", "fault", sentence.text));
}

/* ---- phases */

void farm_verdict__next_phase(struct farm_verdict *verdict, uint64_t now_ns, uint64_t update)
{
	uint32_t i;

	if (verdict->phase + 1 == FARM_PHASES_MAX)
		return;
	verdict->phase++;
	verdict->phases[verdict->phase].begin_ns = now_ns;
	verdict->phases[verdict->phase].update = update;
	verdict->round = verdict->in_round = 0;
	for (i = 0; i < verdict->plan.hosts; i++)
		verdict->hosts[i].samples = 0;
}

/* The number of that at @time_ns: lines come later. */
static uint32_t phase_at(const struct farm_verdict *verdict, uint64_t time_ns)
{
	uint32_t phase = verdict->phase;

	while (phase && time_ns < verdict->phases[phase].begin_ns)
		phase--;
	return phase;
}

/* Counts one more scrape of @host in this phase. */
static void count_round(struct farm_verdict *verdict, struct host *host, uint64_t landed_ns)
{
	const struct farm_plan *plan = &verdict->plan;
	uint32_t i;

	if (++host->samples != verdict->round + 1 ||
	    ++verdict->in_round < plan->hosts - plan->stopped)
		return;
	verdict->round++;
	verdict->in_round = 0;
	for (i = 0; i < plan->hosts; i++)
		verdict->in_round += !is_stopped(plan, i) &&
				     verdict->hosts[i].samples > verdict->round;
	tell(verdict, json_pack("{sI sI sI}", "phase", (json_int_t)verdict->phase, "round",
				(json_int_t)verdict->round, "landed_ns", (json_int_t)landed_ns));
}

/* A scrape of a host that is not stopped. */
static void count_other(struct farm_verdict *verdict, struct host *host,
			const struct farm_sample *sample, struct phase *phase)
{
	const uint64_t interval_ns = verdict->plan.interval_ns;
	const uint64_t passed_ns = sample->start_ns - host->start_ns;

	phase->others++;
	phase->extra += sample->has_extra;
	/* The second scrape is not an interval after the first. */
	if (host->epoch && sample->sequence > 2)
		phase->missed += (int64_t)((passed_ns + interval_ns / 2) / interval_ns) - 1;
	if (phase == &verdict->phases[verdict->phase])
		count_round(verdict, host, sample->landed_ns);
}

/* ---- lines */

static void count_epoch(struct farm_verdict *verdict, const struct farm_sample *sample)
{
	const struct farm_plan *plan = &verdict->plan;
	struct epoch *epoch = &verdict->epochs[sample->epoch % EPOCHS];

	if (sample->epoch >= EPOCHS)
		return;
	if (!epoch->hosts++)
		epoch->first_ns = sample->landed_ns;
	if (epoch->hosts == (sample->epoch == 1 ? plan->hosts : plan->stopped))
		tell(verdict,
		     json_pack("{sI sI sI sI}", "epoch", (json_int_t)sample->epoch, "hosts",
			       (json_int_t)epoch->hosts, "first_ns", (json_int_t)epoch->first_ns,
			       "landed_ns", (json_int_t)sample->landed_ns));
}

/* Compares with earlier scrapes of the host. Returns NULL, or the fault. */
static const char *compare(const struct farm_verdict *verdict, uint32_t number,
			   const struct farm_sample *sample)
{
	const struct host *host = &verdict->hosts[number];

	if (sample->epoch < host->epoch)
		return "a scrape of an epoch that is over follows one of the next";
	if (sample->epoch > 1 && !is_stopped(&verdict->plan, number))
		return "it has another epoch, but was not stopped";
	if (sample->epoch == host->epoch && sample->update_min < host->update_min)
		return "its values are older than those of the scrape before";
	/* The farm was about to write its update to some of the hosts. */
	if (sample->update_min + 1 < verdict->phases[phase_at(verdict, sample->start_ns)].update)
		return "its values are older than what the farm had written before it";
	return NULL;
}

static void count_sample(struct farm_verdict *verdict, uint32_t number,
			 const struct farm_sample *sample)
{
	struct phase *phase = &verdict->phases[phase_at(verdict, sample->landed_ns)];
	struct host *host = &verdict->hosts[number];

	verdict->samples++;
	verdict->values += sample->values;
	verdict->rows += sample->rows;
	verdict->torn += sample->torn;
	if (verdict->update_max > sample->update_min + verdict->lag)
		verdict->lag = verdict->update_max - sample->update_min;
	if (sample->update_max > verdict->update_max)
		verdict->update_max = sample->update_max;

	phase->samples++;
	if (!is_stopped(&verdict->plan, number))
		count_other(verdict, host, sample, phase);
	else if (host->is_lost)
		verdict->stopped_lost--;
	verdict->scraped += !host->epoch;
	if (sample->epoch != host->epoch)
		count_epoch(verdict, sample);
}

static void take_sample(struct farm_verdict *verdict, uint32_t number, const json_t *line)
{
	struct host *host = &verdict->hosts[number];
	struct farm_sample sample;
	struct dart_error error;
	const char *fault;

	if (farm_sample__check(&sample, line, &verdict->plan.shape, number, &error)) {
		note_fault(verdict, number, error.text);
		return;
	}
	fault = compare(verdict, number, &sample);
	if (fault) {
		note_fault(verdict, number, fault);
		return;
	}
	count_sample(verdict, number, &sample);
	host->epoch = sample.epoch;
	host->start_ns = sample.start_ns;
	host->is_lost = false;
	host->update_min = sample.update_min;
}

static void take_loss(struct farm_verdict *verdict, uint32_t number)
{
	struct host *host = &verdict->hosts[number];

	verdict->lost++;
	if (!is_stopped(&verdict->plan, number)) {
		verdict->phases[verdict->phase].lost++;
		return;
	}
	/* Ignores a host that was never scraped, or that is lost already. */
	if (!host->epoch || host->is_lost)
		return;
	host->is_lost = true;
	if (++verdict->stopped_lost == verdict->plan.stopped)
		tell(verdict, json_pack("{sI}", "lost", (json_int_t)verdict->stopped_lost));
}

static void take_summary(struct farm_verdict *verdict, uint32_t host, const json_t *summary)
{
	struct farm_sums *sums = is_stopped(&verdict->plan, host) ? &verdict->stopped :
								    &verdict->others;

	if (farm_sums__add(sums, summary))
		note_fault(verdict, host, "its summary lacks a number");
}

/* Finds the host by the port of its agent; UINT32_MAX if it is not in the farm. */
static uint32_t host_of(const struct farm_plan *plan, const json_t *line)
{
	const char *agent = json_string_value(json_object_get(line, "agent"));
	const char *port = agent ? strrchr(agent, ':') : NULL;
	uint32_t host = port ? strtoul(port + 1, NULL, 10) - plan->first_port : UINT32_MAX;

	return host < plan->hosts ? host : UINT32_MAX;
}

void farm_verdict__take(struct farm_verdict *verdict, const char *line, size_t length)
{
	json_t *object = json_loadb(line, length, 0, NULL);
	const uint32_t host = host_of(&verdict->plan, object);
	const json_t *summary = json_object_get(object, "summary");

	if (host == UINT32_MAX) {
		note_fault(verdict, host, "a line is not about the farm");
	} else if (summary) {
		take_summary(verdict, host, summary);
	} else if (json_object_get(object, "error")) {
		take_loss(verdict, host);
	} else {
		take_sample(verdict, host, object);
	}
	json_decref(object);
}

/* ---- the report */

static json_t *phases_to_json(const struct farm_verdict *verdict)
{
	json_t *phases = json_array();
	uint32_t i;

	for (i = 0; phases && i <= verdict->phase; i++) {
		const struct phase *phase = &verdict->phases[i];

		if (json_array_append_new(phases, json_pack("{sI sI sI sI sI}", "samples",
							    (json_int_t)phase->samples, "others",
							    (json_int_t)phase->others, "missed",
							    (json_int_t)phase->missed, "lost",
							    (json_int_t)phase->lost, "extra",
							    (json_int_t)phase->extra))) {
			json_decref(phases);
			phases = NULL;
		}
	}
	return phases;
}

json_t *farm_verdict__report(const struct farm_verdict *verdict)
{
	return json_pack("{sI sI sI sI sI sI sI sI so so so}", "faults",
			 (json_int_t)verdict->faults, "hosts", (json_int_t)verdict->scraped,
			 "samples", (json_int_t)verdict->samples, "values",
			 (json_int_t)verdict->values, "rows", (json_int_t)verdict->rows, "torn",
			 (json_int_t)verdict->torn, "lag", (json_int_t)verdict->lag, "lost",
			 (json_int_t)verdict->lost, "phases", phases_to_json(verdict), "others",
			 farm_sums__to_json(&verdict->others), "stopped",
			 farm_sums__to_json(&verdict->stopped));
}
