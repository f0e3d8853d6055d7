// SPDX-License-Identifier: GPL-2.0-only
/* dart-sim: measures the figures of section 5 of the DART paper. */
#include <err.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/store/store_sizing.h>

#include "simulation.h"
#include "tools/bench/memory.h"

static const char usage[] =
	"Usage: dart-sim [OPTION]... load|claims|age|errors\n"
	"Fills and queries stores with libdart's code, as in section 5 of \"Zero-CPU\n"
	"Collection with Direct Telemetry Access\", and compares with section 4.\n"
	"\n"
	"  load           figure 3: success by load, for 1, 2, 4 and 8 copies\n"
	"  claims         success by load, if a report overwrites one slot and takes\n"
	"                 another only if it is empty, beside 2 copies and copies that fall\n"
	"  age            figure 4: success by age, for 100 million flows in\n"
	"                 131072000 and 1310720000 slots of 24 bytes\n"
	"  errors         figure 5: wrong answers by the width of checksums\n"
	"\n"
	"      --scale=X  fraction of the flows and slots, at equal load (1/64; 1 is\n"
	"                 the paper's size and takes up to 20 GB and several minutes)\n"
	"      --output=DIR  directory of the CSV files (.output/bench)\n"
	"      --help     print this and exit\n";

#define GIB		(UINT64_C(1) << 30)
#define MEMORY_MAX	(20 * UINT64_C(1000000000))
#define MEMORY_LEFT	(4 * GIB)	/* for other programs */

struct task {
	double scale;
	FILE *csv;
};

/* ---- figure 3 */

static const uint32_t copies[] = { 1, 2, 4, 8 };

#define COPIES	4
#define LOADS	25

/* From 0.0625 to 4, in steps of a factor of 2^(1/4). */
static double load_of(uint32_t step)
{
	return exp2(step / 4. - 4);
}

static uint32_t best_of(const double values[static COPIES])
{
	uint32_t best = 0, i;

	for (i = 1; i < COPIES; i++)
		if (values[i] > values[best])
			best = i;
	return copies[best];
}

/* The load above which fewer copies are better: where the averages are equal. */
static double crossing(uint32_t fewer, uint32_t more)
{
	double low = 0.01, high = 10;

	while (high - low > 1e-9) {
		double middle = (low + high) / 2;

		if (dart_store_sizing__average(middle, more) >
		    dart_store_sizing__average(middle, fewer))
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* The redundancy that falls from 8; returns the largest deviation. */
static double simulate_falling(const struct dart_store_geometry *geometry, double measured[LOADS],
			       double theory[LOADS])
{
	struct simulation *simulation = simulation__new(geometry, SIMULATION_FALLING);
	struct simulation_tally tally;
	double worst = 0;
	uint32_t step;

	for (step = 0; step < LOADS; step++) {
		const uint64_t flows = load_of(step) * geometry->slots;

		simulation__report(simulation, flows);
		tally = simulation__ask(simulation, 0, flows);
		measured[step] = (double)tally.right / flows;
		theory[step] = dart_store_sizing__falling_average((double)flows / geometry->slots,
								  geometry->redundancy);
		worst = fmax(worst, fabs(measured[step] - theory[step]));
	}
	simulation__free(simulation);
	return worst;
}

/* By how much it finds more than the best fixed redundancy, at the load where that is most. */
static void print_gain(const double falls[LOADS], const double fixed[LOADS][COPIES], double worst)
{
	double gain = 0, best = 0;
	uint32_t step, i, at = 0;

	for (step = 0; step < LOADS; step++) {
		best = 0;
		for (i = 0; i < COPIES; i++)
			best = fmax(best, fixed[step][i]);
		if (falls[step] - best > gain) {
			gain = falls[step] - best;
			at = step;
		}
	}
	printf("  N that falls from 8 to 1 with the fill: largest deviation from theory in %u points %.4f percentage points;\n"
	       "  %.2f points more than the best fixed N at a load of %.3f.\n",
	       LOADS, 100 * worst, 100 * gain, load_of(at));
}

static void simulate_load(struct task *task)
{
	struct dart_store_geometry geometry = {
		.slots = ldexp(task->scale, 24), .value_length = 20,
		.checksum_bits = 32,
	};
	double measured[LOADS][COPIES], theory[LOADS][COPIES], worst = 0;
	double falls[LOADS], falls_theory[LOADS], worst_of_falling;
	uint32_t step, i;

	for (i = 0; i < COPIES; i++) {
		struct simulation *simulation;

		geometry.redundancy = copies[i];
		simulation = simulation__new(&geometry, SIMULATION_ALL);
		for (step = 0; step < LOADS; step++) {
			const uint64_t flows = load_of(step) * geometry.slots;
			struct simulation_tally tally;

			simulation__report(simulation, flows);
			tally = simulation__ask(simulation, 0, flows);
			measured[step][i] = (double)tally.right / flows;
			theory[step][i] = dart_store_sizing__average((double)flows / geometry.slots,
								     copies[i]);
			worst = fmax(worst, fabs(measured[step][i] - theory[step][i]));
		}
		simulation__free(simulation);
	}

	geometry.redundancy = DART_STORE_REDUNDANCY_MAX;
	worst_of_falling = simulate_falling(&geometry, falls, falls_theory);

	fprintf(task->csv, "load,measured_1,theory_1,measured_2,theory_2,measured_4,theory_4,measured_8,theory_8,best_measured,best_theory,measured_falling,theory_falling\n");
	for (step = 0; step < LOADS; step++) {
		fprintf(task->csv, "%.6f", load_of(step));
		for (i = 0; i < COPIES; i++)
			fprintf(task->csv, ",%.6f,%.6f", measured[step][i], theory[step][i]);
		fprintf(task->csv, ",%u,%u,%.6f,%.6f\n", best_of(measured[step]),
			best_of(theory[step]), falls[step], falls_theory[step]);
	}
	printf("Figure 3, success by load, %" PRIu64 " slots: the best is N = 8 below a load of %.3f, 4 below %.3f, 2 below %.3f, then 1.\n",
	       geometry.slots, crossing(4, 8), crossing(2, 4), crossing(1, 2));
	printf("  Largest deviation from theory in %u points: %.4f percentage points.\n",
	       LOADS * COPIES, 100 * worst);
	print_gain(falls, measured, worst_of_falling);
}

/* ---- Compare&Swap (section 7) */

/*
 * The share that is found of the keys with @younger to @older reports per slot after them, at a
 * load of @load.  With a reports after it, the first slot keeps its value with e^-a.  The second was
 * empty with e^-2(load-a), if neither an earlier report, which overwrites one slot, nor an earlier
 * claim had hit it, and keeps its value with e^-a, too.
 */
static double claims_theory(double load, double younger, double older)
{
	const double first = exp(-younger) - exp(-older);
	const double second = exp(older) - exp(younger) - (older - younger);

	return (first + exp(-2 * load) * second) / (older - younger);
}

/* What is found of all keys, and of the oldest tenth, at each load. */
struct by_load {
	double all[LOADS], oldest[LOADS];
};

static void simulate_copies(const struct dart_store_geometry *geometry,
			    enum simulation_copies copies, struct by_load *found)
{
	struct simulation *simulation = simulation__new(geometry, copies);
	uint32_t step;

	for (step = 0; step < LOADS; step++) {
		const uint64_t flows = load_of(step) * geometry->slots;

		simulation__report(simulation, flows);
		found->all[step] = (double)simulation__ask(simulation, 0, flows).right / flows;
		found->oldest[step] =
			(double)simulation__ask(simulation, 0, flows / 10).right / (flows / 10);
	}
	simulation__free(simulation);
}

static void simulate_claims(struct task *task)
{
	struct dart_store_geometry geometry = {
		.slots = ldexp(task->scale, 24),
		.value_length = 20,
		.checksum_bits = 32,
		.redundancy = 2,
	};
	struct by_load two, claims, falls;
	double worst = 0, theory, oldest, gain = 0, oldest_gain = 0;
	uint32_t step;

	simulate_copies(&geometry, SIMULATION_ALL, &two);
	simulate_copies(&geometry, SIMULATION_CLAIMING, &claims);
	geometry.redundancy = DART_STORE_REDUNDANCY_MAX;
	simulate_copies(&geometry, SIMULATION_FALLING, &falls);

	fprintf(task->csv,
		"load,claims,claims_theory,claims_oldest,claims_oldest_theory,two,two_oldest,falling,falling_oldest\n");
	for (step = 0; step < LOADS; step++) {
		const double load = load_of(step);

		theory = claims_theory(load, 0, load);
		oldest = claims_theory(load, 0.9 * load, load);
		fprintf(task->csv, "%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f\n", load,
			claims.all[step], theory, claims.oldest[step], oldest, two.all[step],
			two.oldest[step], falls.all[step], falls.oldest[step]);
		worst = fmax(worst, fabs(claims.all[step] - theory));
		worst = fmax(worst, fabs(claims.oldest[step] - oldest));
		gain = fmax(gain, claims.all[step] - two.all[step]);
		oldest_gain = fmax(oldest_gain, claims.oldest[step] - two.oldest[step]);
	}
	printf("Claims by Compare&Swap, %" PRIu64
	       " slots: largest deviation from theory in %u points %.4f percentage points;\n"
	       "  up to %.2f points more than two copies on average, and %.2f of the oldest tenth.\n",
	       geometry.slots, 2 * LOADS, 100 * worst, 100 * gain, 100 * oldest_gain);
}

/* ---- figure 4 */

#define AGES	100

/*
 * Fits the store into memory: with values of 4 bytes instead of 20, which changes
 * only its size, or else with fewer slots and flows.  Returns the scale.
 */
static double fit(struct dart_store_geometry *geometry, double scale, uint64_t slots)
{
	const uint64_t available = memory__available();
	uint64_t limit = MEMORY_MAX;

	if (available && available < limit + MEMORY_LEFT)
		limit = available > MEMORY_LEFT ? available - MEMORY_LEFT : 0;
	for (;; scale /= 2) {
		geometry->slots = slots * scale;
		geometry->value_length = 20;
		if (dart_store_geometry__length(geometry) <= limit)
			return scale;
		geometry->value_length = 4;
		if (dart_store_geometry__length(geometry) <= limit || scale < 1e-6)
			return scale;
	}
}

/* Returns the largest deviation. */
static double simulate_ages(struct task *task, uint64_t slots, uint32_t redundancy)
{
	struct dart_store_geometry geometry = {
		.checksum_bits = 32, .redundancy = redundancy,
	};
	const double scale = fit(&geometry, task->scale, slots);
	const uint64_t flows = 1e8 * scale;
	const double load = (double)flows / geometry.slots;
	struct simulation_tally tally, all = { 0 };
	struct simulation *simulation = simulation__new(&geometry, SIMULATION_ALL);
	double measured = 0, theory, worst = 0;
	uint32_t age;

	simulation__report(simulation, flows);
	for (age = 0; age < AGES; age++) {
		const double younger = load * age / AGES;
		const double older = load * (age + 1) / AGES;

		/* The first flows are the oldest. */
		const uint64_t first = flows * (AGES - age - 1) / AGES;
		const uint64_t end = flows * (AGES - age) / AGES;

		tally = simulation__ask(simulation, first, end);
		measured = (double)tally.right / (end - first);
		theory = (age + 1) * dart_store_sizing__average(older, redundancy);
		if (age)
			theory -= age * dart_store_sizing__average(younger, redundancy);
		worst = fmax(worst, fabs(measured - theory));
		fprintf(task->csv, "%" PRIu64 ",%u,%.6f,%.6f,%.6f\n", geometry.slots, redundancy,
			(younger + older) / 2 * geometry.slots, measured, theory);
		all.right += tally.right;
		all.ambiguous += tally.ambiguous;
		all.wrong += tally.wrong;
	}
	simulation__free(simulation);

	printf("Figure 4, %" PRIu64 " flows in %" PRIu64 " slots of %zu bytes, N = %u%s:\n",
	       flows, geometry.slots, dart_store_geometry__slot_length(&geometry),
	       redundancy, scale < 1 ? ", scaled at equal load" : "");
	if (geometry.value_length != 20)
		printf("  Values have 4 bytes instead of 20, for lack of memory.\n");
	printf("  Found on average %.2f %% (theory %.2f), of the oldest hundredth %.2f %% (theory for the oldest %.2f);\n"
	       "  %" PRIu64 " wrong, %" PRIu64 " ambiguous; largest deviation %.4f percentage points.\n",
	       100. * all.right / flows,
	       100 * dart_store_sizing__average(load, redundancy),
	       100 * measured,
	       100 * dart_store_sizing__oldest(load, redundancy), all.wrong, all.ambiguous, 100 * worst);
	fflush(stdout);
	return worst;
}

static void simulate_age(struct task *task)
{
	double worst;

	fprintf(task->csv, "slots,redundancy,age,measured,theory\n");
	worst = simulate_ages(task, 131072000, 2);
	worst = fmax(worst, simulate_ages(task, 1310720000, 2));
	worst = fmax(worst, simulate_ages(task, 1310720000, 4));
	printf("  Largest deviation of all: %.4f percentage points.\n", 100 * worst);
}

/* ---- figure 5 */

/* The rarer wrong answers are, the more flows are queried. */
static void simulate_errors(struct task *task)
{
	static const struct {
		uint32_t bits;
		uint32_t slots_log2;	/* at full size */
	} widths[] = { { 8, 24 }, { 16, 27 }, { 32, 27 } };
	static const double loads[] = { 0.25, 0.5, 1, 2 };
	double deviation, worst = 0;
	uint32_t i, load;

	fprintf(task->csv, "checksum_bits,load,flows,wrong,measured,low,high\n");
	printf("Figure 5, wrong answers by width, N = 2:\n");
	for (i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
		const struct dart_store_geometry geometry = {
			.slots = ldexp(task->scale, widths[i].slots_log2),
			.value_length = 4, .checksum_bits = widths[i].bits,
			.redundancy = 2,
		};
		struct simulation *simulation = simulation__new(&geometry, SIMULATION_ALL);

		for (load = 0; load < 4; load++) {
			const uint64_t flows = loads[load] * geometry.slots;
			struct simulation_tally tally;
			struct dart_sizing_risks risks;

			simulation__report(simulation, flows);
			tally = simulation__ask(simulation, 0, flows);
			dart_store_sizing__average_risks(loads[load], 2, widths[i].bits, &risks);
			fprintf(task->csv, "%u,%g,%" PRIu64 ",%" PRIu64 ",%.6g,%.6g,%.6g\n",
				widths[i].bits, loads[load], flows, tally.wrong,
				(double)tally.wrong / flows, risks.wrong.low,
				risks.wrong.high);
			printf("  %2u bits, load %4g: %" PRIu64 " of %" PRIu64 ", theory %.4g to %.4g\n",
			       widths[i].bits, loads[load], tally.wrong, flows,
			       risks.wrong.low * flows, risks.wrong.high * flows);
			/* In standard deviations. */
			deviation = fmax(risks.wrong.low * flows - tally.wrong,
					 tally.wrong - risks.wrong.high * flows);
			worst = fmax(worst, deviation / sqrt(fmax(1, risks.wrong.high * flows)));
		}
		simulation__free(simulation);
	}
	printf("  Largest distance from the bounds: %.1f standard deviations.\n", worst);
}

static const struct figure {
	const char *name;
	const char *file;
	void (*run)(struct task *task);
} figures[] = {
	{ "load", "figure3.csv", simulate_load },
	{ "claims", "claims.csv", simulate_claims },
	{ "age", "figure4.csv", simulate_age },
	{ "errors", "figure5.csv", simulate_errors },
};

static int run(const struct figure *figure, double scale, const char *output)
{
	struct task task = { .scale = scale };
	char *path;

	if (asprintf(&path, "%s/%s", output, figure->file) < 0)
		err(EXIT_FAILURE, "%s", output);
	task.csv = fopen(path, "we");
	if (!task.csv)
		err(EXIT_FAILURE, "%s", path);
	figure->run(&task);
	fputs("\r\033[K", stderr);
	if (fclose(task.csv))
		err(EXIT_FAILURE, "%s", path);
	printf("  %s\n", path);
	free(path);
	return EXIT_SUCCESS;
}

int main(int argc, char *argv[])
{
	static const struct option options[] = {
		{ "scale", required_argument, NULL, 's' },
		{ "output", required_argument, NULL, 'o' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	const char *output = ".output/bench";
	double scale = 1. / 64;
	int option;
	size_t i;
	char *end;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 's':
			scale = strtod(optarg, &end);
			if (*end || !(scale >= 1e-4 && scale <= 1))
				errx(EXIT_FAILURE, "--scale: expected a number from 0.0001 to 1");
			break;
		case 'o':
			output = optarg;
			break;
		case 'h':
			fputs(usage, stdout);
			return EXIT_SUCCESS;
		default:
			return 2;
		}
	}
	for (i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
		if (optind == argc - 1 && !strcmp(argv[optind], figures[i].name))
			return run(&figures[i], scale, output);
	fputs("dart-sim: expected one of load, claims, age, errors (see dart-sim --help)\n",
	      stderr);
	return 2;
}
