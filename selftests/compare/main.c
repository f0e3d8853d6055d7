// SPDX-License-Identifier: GPL-2.0-only
/*
 * compare HOST PORT [SCRAPES SNAPSHOTS] < scrapes
 *
 * Compares the values that a controller reads (lines of dart-controller --json on
 * standard input) with the kernel's values (from the helper "snapshots" at HOST PORT,
 * fetched repeatedly meanwhile).  Values change all the time, so the program puts each
 * scrape between two snapshots by one clock: a snapshot that was complete before the
 * scrape began, and a snapshot that was requested after the scrape ended.  All compared
 * values only grow, so each value in the scrape must lie between.
 *
 * Standard input is read to its end, or until there are that many SCRAPES and SNAPSHOTS: a busy
 * machine may take seconds for a snapshot.
 *
 * Prints a report as JSON; exits with 1 if a value lies outside.
 */
#include <netdb.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "flat.h"

/* Mismatches that are printed in full. */
#define EXAMPLES 10

struct snapshot {
	uint64_t requested_ns, complete_ns;
	json_t *flat;
};

struct scrape {
	uint64_t start_ns, end_ns, reads;
	json_t *flat;
};

struct comparison {
	struct snapshot *snapshots;
	size_t snapshot_count;
	struct scrape *scrapes;
	size_t scrape_count;
	char *input;		/* not yet a complete line */
	size_t input_length;
	json_t *summary;	/* of the controller */
	uint64_t errors;	/* lines of the controller without values */
	size_t scrapes_wanted, snapshots_wanted;	/* 0: all until the input ends */
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

static void *grow(void *array, size_t count, size_t size)
{
	array = reallocarray(array, count + 1, size);
	if (!array) {
		perror("compare");
		exit(2);
	}
	return array;
}

/* A new connection to the server of snapshots. */
static int dial(const char *host, const char *port)
{
	const struct addrinfo hints = {
		.ai_family = AF_INET,
		.ai_socktype = SOCK_STREAM,
	};
	struct addrinfo *address;
	int fd;

	if (getaddrinfo(host, port, &hints, &address))
		return -1;
	fd = socket(address->ai_family, address->ai_socktype, 0);
	if (fd >= 0 && connect(fd, address->ai_addr, address->ai_addrlen)) {
		close(fd);
		fd = -1;
	}
	freeaddrinfo(address);
	return fd;
}

static char *fetch(const char *host, const char *port)
{
	int server = dial(host, port);
	size_t length = 0;
	char *text = NULL;
	ssize_t got;

	do {
		text = grow(text, length + 65536, 1);
		got = read(server, text + length, 65536);
		length += got > 0 ? got : 0;
	} while (got > 0);
	text[length] = '\0';
	close(server);
	if (!strstr(text, "== end\n")) {
		fprintf(stderr, "compare: no snapshot from %s:%s\n", host, port);
		exit(2);
	}
	return text;
}

static void take_snapshot(struct comparison *comparison, char *const server[])
{
	struct snapshot *snapshot;
	char *text;

	comparison->snapshots = grow(comparison->snapshots, comparison->snapshot_count,
				     sizeof(*comparison->snapshots));
	snapshot = &comparison->snapshots[comparison->snapshot_count++];
	snapshot->requested_ns = now_ns();
	text = fetch(server[0], server[1]);
	snapshot->complete_ns = now_ns();
	snapshot->flat = flat__from_snapshot(text);
	free(text);
}

static void take_line(struct comparison *comparison, const char *line)
{
	json_t *json = json_loads(line, 0, NULL);
	json_t *flat = flat__from_scrape(json);
	struct scrape *scrape;

	if (json_object_get(json, "summary")) {
		comparison->summary = json_incref(json_object_get(json, "summary"));
	} else if (!flat) {
		comparison->errors++;
		fprintf(stderr, "compare: not a scrape: %s\n", line);
	} else {
		comparison->scrapes = grow(comparison->scrapes, comparison->scrape_count,
					   sizeof(*comparison->scrapes));
		scrape = &comparison->scrapes[comparison->scrape_count++];
		*scrape = (struct scrape){
			.start_ns = json_integer_value(
				json_object_get(json, "start_ns")),
			.end_ns = json_integer_value(
				json_object_get(json, "end_ns")),
			.reads = json_integer_value(
				json_object_get(json, "reads")),
			.flat = flat,
		};
	}
	json_decref(json);
}

/* Takes the available part of standard input; false at its end. */
static bool take_input(struct comparison *comparison)
{
	char *begin, *newline;
	ssize_t got;

	comparison->input = grow(comparison->input, comparison->input_length + 65536, 1);
	got = read(STDIN_FILENO, comparison->input + comparison->input_length, 65536);
	if (got <= 0)
		return false;
	comparison->input_length += got;

	begin = comparison->input;
	while ((newline = memchr(begin, '\n', comparison->input +
				 comparison->input_length - begin))) {
		*newline = '\0';
		take_line(comparison, begin);
		begin = newline + 1;
	}
	comparison->input_length -= begin - comparison->input;
	memmove(comparison->input, begin, comparison->input_length);
	return true;
}

static bool has_enough(const struct comparison *comparison)
{
	return comparison->scrapes_wanted &&
	       comparison->scrape_count >= comparison->scrapes_wanted &&
	       comparison->snapshot_count >= comparison->snapshots_wanted;
}

/* A snapshot before the first scrape, then snapshots without pause, one after the last. */
static void collect(struct comparison *comparison, char *const server[])
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	bool open = true;

	take_snapshot(comparison, server);
	while (open && !comparison->scrape_count)
		open = take_input(comparison);
	while (open && !has_enough(comparison)) {
		take_snapshot(comparison, server);
		while (open && poll(&input, 1, 0) > 0)
			open = take_input(comparison);
	}
	take_snapshot(comparison, server);
}

static const struct snapshot *last_before(const struct comparison *comparison, uint64_t time_ns)
{
	const struct snapshot *found = NULL;

	for (size_t i = 0; i < comparison->snapshot_count; i++) {
		if (comparison->snapshots[i].complete_ns <= time_ns)
			found = &comparison->snapshots[i];
	}
	return found;
}

static const struct snapshot *first_after(const struct comparison *comparison, uint64_t time_ns)
{
	for (size_t i = 0; i < comparison->snapshot_count; i++) {
		if (comparison->snapshots[i].requested_ns >= time_ns)
			return &comparison->snapshots[i];
	}
	return NULL;
}

static uint64_t number(const json_t *flat, const char *name)
{
	return json_integer_value(json_object_get(flat, name));
}

/*
 * Adds one to the count of the entry in @name, "entry/copy/field"; names of entries may
 * contain slashes.
 */
static void count(json_t *counts, const char *name)
{
	const char *field = strrchr(name, '/');
	char entry[512];
	int length;

	for (length = field ? field - name : 0; length; length--)
		if (name[length - 1] == '/')
			break;
	snprintf(entry, sizeof(entry), "%.*s", length ? length - 1 : 0, name);
	json_object_set_new(counts, entry, json_integer(number(counts, entry) + 1));
}

/* Returns how many values of the kernel were read out of bounds or not at all. */
static uint64_t compare(const struct comparison *comparison, json_t *counts, uint64_t *compared)
{
	uint64_t mismatches = 0;

	for (size_t i = 0; i < comparison->scrape_count; i++) {
		const struct scrape *scrape = &comparison->scrapes[i];
		const struct snapshot *low, *high;
		const char *name;
		json_t *limit;

		low = last_before(comparison, scrape->start_ns);
		high = first_after(comparison, scrape->end_ns);
		if (!low || !high)
			continue;
		++*compared;

		json_object_foreach(low->flat, name, limit) {
			const char *wanted = name + (*name == '?');
			bool is_there = json_object_get(scrape->flat, wanted);
			uint64_t from = json_integer_value(limit);
			uint64_t to = number(high->flat, name);
			uint64_t read = number(scrape->flat, wanted);

			/*
			 * Figures of the agent, or of a CPU that went offline,
			 * which /proc then leaves out.
			 */
			if (!strncmp(name, "agent/", 6) || !json_object_get(high->flat, name) ||
			    (*name == '?' && !is_there))
				continue;
			count(counts, wanted);
			if (is_there && read >= from && read <= to)
				continue;
			if (mismatches++ < EXAMPLES)
				fprintf(stderr,
					"compare: scrape %zu: %s: %llu%s not in %llu ... %llu\n", i,
					name, (unsigned long long)read, is_there ? "" : " (absent)",
					(unsigned long long)from, (unsigned long long)to);
		}
	}
	return mismatches;
}

/*
 * The agent's CPU time and context switches from the first snapshot after the first
 * scrape to the last one before the last scrape.  All connections are up then, and the
 * agent is otherwise idle.  Fails if the figures were not counted: they are not 0 at
 * the beginning.
 */
static int add_agent(const struct comparison *comparison, json_t *report)
{
	const struct scrape *first = &comparison->scrapes[0];
	const struct scrape *last = &comparison->scrapes[comparison->scrape_count - 1];
	const struct snapshot *from = first_after(comparison, first->end_ns);
	const struct snapshot *to = last_before(comparison, last->start_ns);
	uint64_t scrapes = 0;

	if (!from || !to || from >= to || !number(from->flat, "agent/switches") ||
	    !number(from->flat, "agent/cpu_ns"))
		return -1;

	for (size_t i = 0; i < comparison->scrape_count; i++)
		scrapes += comparison->scrapes[i].start_ns >= from->complete_ns &&
			   comparison->scrapes[i].end_ns <= to->requested_ns;

	json_object_set_new(report, "scrapes_while_agent_watched", json_integer(scrapes));
	json_object_set_new(report, "agent_context_switches",
			    json_integer(number(to->flat, "agent/switches") -
					 number(from->flat, "agent/switches")));
	json_object_set_new(report, "agent_cpu_ns",
			    json_integer(number(to->flat, "agent/cpu_ns") -
					 number(from->flat, "agent/cpu_ns")));
	return 0;
}

int main(int argc, char *argv[])
{
	struct comparison comparison = {};
	json_t *report, *counts = json_object();
	uint64_t mismatches, compared = 0;

	if (argc != 3 && argc != 5) {
		fprintf(stderr, "usage: compare HOST PORT [SCRAPES SNAPSHOTS] < scrapes\n");
		return 2;
	}
	if (argc == 5) {
		comparison.scrapes_wanted = strtoull(argv[3], NULL, 10);
		comparison.snapshots_wanted = strtoull(argv[4], NULL, 10);
	}

	collect(&comparison, argv + 1);
	if (!comparison.scrape_count) {
		fprintf(stderr, "compare: standard input has no scrape\n");
		return 1;
	}

	mismatches = compare(&comparison, counts, &compared);
	report = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "scrapes",
			   (json_int_t)comparison.scrape_count, "scrapes_compared",
			   (json_int_t)compared, "failed_scrapes", (json_int_t)comparison.errors,
			   "snapshots", (json_int_t)comparison.snapshot_count, "reads_per_scrape",
			   (json_int_t)comparison.scrapes[0].reads, "mismatches",
			   (json_int_t)mismatches, "comparisons", counts);
	if (comparison.summary)
		json_object_set_new(report, "controller", comparison.summary);
	if (add_agent(&comparison, report))
		fprintf(stderr, "compare: too few snapshots with figures of the agent\n");
	json_dumpf(report, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII);
	putchar('\n');
	return mismatches || comparison.errors || !json_object_size(counts);
}
