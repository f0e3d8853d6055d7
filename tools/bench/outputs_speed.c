// SPDX-License-Identifier: GPL-2.0-only
/*
 * outputs_speed [--hosts N] [--seconds N] [--bare PORT] [--metric-rules YAML]
 *               [--write-rules YAML] KIND [WHERE]
 *
 * Gives a scrape of each of N invented hosts (100) to an output, once a second in real time, as
 * a worker of the controller does: decoded from the bytes that READs would land. Each host
 * exposes ENTRIES entries with ROWS rows of FIELDS counters, 2,000 series in all, of which two
 * in five change from one scrape to the next.
 *
 * KIND is decode (no output), json (to /dev/null), listen (WHERE is the address; the caller
 * asks for pages), remote_write_1, remote_write_2, influx or otlp (WHERE is the URL).  With --bare, a
 * thread answers all requests at this port of 127.0.0.1 with 204.  The rules are lists as in
 * metric_relabel_configs and write_relabel_configs.
 *
 * Prints one line of JSON: the CPU time of the whole process without making the values; the CPU
 * time that the worker takes for a scrape, on average without the first of each host, which makes
 * the plan; and the bytes that left the process, except with listen, where the caller counts them.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <libdart/random.h>
#include <libdart/rdma/endpoint.h>
#include <libdart/table/table_writer.h>

#include "tools/controller/base/thread.h"
#include "tools/controller/condition/condition.h"
#include "tools/controller/decode/budget.h"
#include "tools/controller/decode/ring.h"
#include "tools/controller/decode/sink.h"
#include "tools/controller/exposition/exposition.h"
#include "tools/controller/http/http_connections.h"
#include "tools/controller/http/http_server.h"
#include "tools/controller/metrics/names/names.h"
#include "tools/controller/metrics/plan/plan_relabel.h"
#include "tools/controller/metrics/sink_metrics.h"
#include "tools/controller/outputs/sink_json.h"
#include "tools/controller/push/push.h"

#include "bare_http.h"

#define ENTRIES 10
#define ROWS 25
#define FIELDS 8
#define CHANGING 40 /* percent */
#define SECOND_NS 1000000000LL
#define TABLE_ROOM (256U << 10)
#define REGION_BYTES 4096
#define WAITING_BYTES (64U << 20)
#define SEND_MS 30000

struct host {
	struct target_settings settings;
	struct ring *ring;
	struct dart_random random;
	uint64_t values[ENTRIES * ROWS * FIELDS];
};

/* The measured output, with its parts. */
struct measured {
	struct relabel_rules *metric_rules, *write_rules; /* NULL: none */
	double worker_s; /* CPU time of scrapes */
	uint64_t scrapes; /* without the first of each host */
	struct sink *sink; /* NULL: no sink */
	struct metric_output *push;
	struct output *log, *null;
	struct http_server *server;
	struct http_page pages[EXPOSITION_PAGES + CONDITION_PAGES];
	struct options options;
	struct condition condition;
};

static void fail(const char *text)
{
	fprintf(stderr, "outputs_speed: %s\n", text);
	exit(EXIT_FAILURE);
}

static void *allocate(size_t count, size_t size)
{
	void *memory = calloc(count, size);

	if (!memory)
		fail("out of memory");
	return memory;
}

static struct dart_schema *make_schema(void)
{
	static char *const names[FIELDS] = {
		"reads",  "writes", "bytes_in", "bytes_out",
		"errors", "drops",  "time",	"retries",
	};
	struct dart_schema *schema = dart_schema__new("invented", 8 * FIELDS);
	struct dart_field field = {
		.unit = "",
		.width = 8,
		.count = 1,
		.kind = DART_CONTROL_FIELD_COUNTER,
	};
	unsigned int i;

	for (i = 0; schema && i < FIELDS; i++) {
		field.name = names[i];
		field.offset = 8 * i;
		if (dart_schema__add(schema, &field))
			fail("a field is refused");
	}
	if (!schema)
		fail("out of memory");
	return schema;
}

/* The bytes of the table of host @number. */
static uint8_t *make_table(const struct dart_schema *schema, unsigned int number, uint32_t *length)
{
	static const char *const names[ENTRIES] = {
		"disks",   "networks", "queues", "caches", "sockets",
		"volumes", "engines",  "links",	 "pools",  "streams",
	};
	struct dart_memory_region regions[ENTRIES] = {};
	struct dart_entry entries[ENTRIES] = {};
	struct dart_range ranges[ENTRIES] = {};
	struct dart_table table = {
		.generation = 1,
		.instance = number + 1,
		.exposure = DART_CONTROL_EXPOSURE_EXACT,
		.cpus = 4,
		.page_size = 4096,
		.entries = entries,
		.entry_count = ENTRIES,
		.memory_regions = regions,
		.memory_region_count = ENTRIES,
	};
	uint8_t *bytes = allocate(1, TABLE_ROOM);
	struct dart_table_writer *writer;
	unsigned int i;
	int used;

	snprintf(table.node_name, sizeof(table.node_name), "host%u", number);
	for (i = 0; i < ENTRIES; i++) {
		regions[i].address = 0x10000 + i * REGION_BYTES;
		regions[i].length = ROWS * schema->length;
		regions[i].rkey = i + 1;
		ranges[i].address = regions[i].address;
		ranges[i].stride = schema->length;
		ranges[i].memory_region = i;
		ranges[i].copies = ROWS;
		ranges[i].length = schema->length;
		entries[i].name = names[i];
		entries[i].schema = schema;
		entries[i].kind = DART_CONTROL_ENTRY_MAP;
		entries[i].lifetime = DART_CONTROL_LIFETIME_DYNAMIC;
		entries[i].copies_are = DART_CONTROL_COPIES_ROW;
		entries[i].copies = ROWS;
		entries[i].ranges = ranges + i;
		entries[i].range_count = 1;
	}
	writer = dart_table_writer__new(bytes, TABLE_ROOM);
	used = writer ? dart_table_writer__rewrite(writer, &table) : -1;
	if (used <= 0)
		fail("the table is refused");
	dart_table_writer__free(writer);
	*length = used;
	return bytes;
}

static struct ring *make_ring(unsigned int number)
{
	static const struct dart_endpoint_accept accept = {
		.address = 0x1000,
		.length = TABLE_ROOM,
		.used = TABLE_ROOM,
	};
	const struct scraper_use use = { .value_bytes = BUDGET_TEXT_BYTES };
	const struct settings all = {};
	struct dart_schema *schema = make_schema();
	struct dart_table *table;
	struct scraper *scraper;
	struct dart_error error;
	struct ring *ring;
	uint32_t length;
	uint8_t *bytes;

	bytes = make_table(schema, number, &length);
	if (dart_table__decode(bytes, length, &table, NULL, &error) ||
	    scraper__new(table, &all, &use, &accept, &scraper, &error))
		fail(error.text);
	ring = ring__new(scraper);
	if (!ring)
		fail("out of memory");
	free(bytes);
	dart_schema__free(schema);
	return ring;
}

static void make_host(struct host *host, unsigned int number)
{
	size_t i;

	host->settings.index = number;
	host->settings.port = 4792;
	if (asprintf(&host->settings.host, "host%u", number) < 0 ||
	    asprintf(&host->settings.name, "host%u:4792", number) < 0)
		fail("out of memory");
	host->ring = make_ring(number);
	host->random = dart_random__of(number);
	for (i = 0; i < ENTRIES * ROWS * FIELDS; i++)
		host->values[i] = dart_random__next(&host->random) >>
				  (24 + dart_random__below(&host->random, 40));
}

/* Landed READs contain gaps, too. */
static void move_values(struct host *host)
{
	const struct scraper *scraper = host->ring->scraper;
	size_t i, k, value = 0;
	uint64_t *landed, *own;

	for (i = 0; i < scraper->read_count; i++) {
		landed = (uint64_t *)((char *)host->ring->memory + scraper->reads[i].landing);
		for (k = 0; k < scraper->reads[i].length / 8; k++, value++) {
			own = host->values + value % (ENTRIES * ROWS * FIELDS);
			if (value % 100 < CHANGING)
				*own += dart_random__below(&host->random, 100000);
			landed[k] = htole64(*own);
		}
	}
}

static double cpu_seconds(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_utime.tv_sec + usage.ru_utime.tv_usec * 1e-6 +
	       usage.ru_stime.tv_sec + usage.ru_stime.tv_usec * 1e-6;
}

static double thread_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec + now.tv_nsec * 1e-9;
}

static struct sink *sink_of_metrics(struct metric_output *output)
{
	char directory[PATH_MAX];
	struct dart_error error;
	struct names *names;
	struct sink *sink;

	names__find_directory(directory);
	if (names__load(directory, &names, &error))
		fail(error.text);
	sink = sink_metrics__new(names, &output, 1);
	names__put(names);
	return sink;
}

static void open_json(struct measured *measured)
{
	const int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || output__open(fd, "/dev/null", WAITING_BYTES, measured->log, &measured->null))
		fail("cannot write to /dev/null");
	measured->sink = sink_json__new(measured->null);
}

/* A control loop without other work. */
static void *run_loop(void *data)
{
	struct measured *measured = data;
	sd_event *event;

	if (sd_event_new(&event) < 0 ||
	    condition__watch(&measured->condition, event, NULL, NULL, NULL, NULL) ||
	    sd_event_loop(event) < 0)
		fail("the control loop cannot run");
	return NULL;
}

static void open_condition(struct measured *measured)
{
	pthread_t thread;

	if (condition__open(&measured->condition, &measured->options) ||
	    thread__start(&thread, "control", run_loop, measured))
		fail("out of memory");
	condition__pages(&measured->condition, measured->pages + EXPOSITION_PAGES);
}

static void open_exposition(struct measured *measured, const char *address)
{
	struct metric_output *exposition = exposition__new(false, measured->log);
	const struct http_server_options options = {
		.address = address,
		.pages = measured->pages,
		.page_count = EXPOSITION_PAGES + CONDITION_PAGES,
		.threads = 4,
		.streams = HTTP_CONNECTIONS_MAX,
	};
	struct dart_error error;

	if (!exposition)
		fail("out of memory");
	exposition__pages(exposition, measured->pages);
	open_condition(measured);
	if (http_server__new(&options, &measured->server, &error))
		fail(error.text);
	measured->sink = sink_of_metrics(exposition);
}

static struct relabel_rules *read_rules(const char *text)
{
	struct relabel_rules *rules;
	const yaml_node_t *root;
	struct dart_error error;
	struct dart_yaml yaml;

	if (dart_yaml__parse(&yaml, text, strlen(text), "rules", &root, &error) ||
	    relabel_rules__read(&yaml, root, &rules))
		fail(error.text);
	dart_yaml__close(&yaml);
	return rules;
}

static void set_write_rules(struct measured *measured)
{
	struct metric_rewriter *rewriter;

	if (!measured->write_rules)
		return;
	rewriter = plan_rewriter__new(measured->write_rules);
	if (!rewriter)
		fail("out of memory");
	push__set_rewriter(measured->push, rewriter);
	rewriter->release(rewriter);
}

static void open_push(struct measured *measured, const char *kind, char *url)
{
	struct receiver_settings settings = {
		.format = strncmp(kind, "remote_write", 12) ? kind : "remote_write",
		.url = url,
	};
	struct dart_error error;

	if (!strcmp(settings.format, "remote_write"))
		settings.version = strcmp(kind, "remote_write_1") ? 2 : 1;
	if (push__new(&settings, NULL, &measured->push, &error))
		fail(error.text);
	set_write_rules(measured);
	measured->sink = sink_of_metrics(measured->push);
}

static void open_output(struct measured *measured, const char *kind, char *where)
{
	if (output__open(STDERR_FILENO, "standard error", WAITING_BYTES, NULL, &measured->log))
		fail("cannot write to standard error");
	if (!strcmp(kind, "decode"))
		return;
	if (!strcmp(kind, "json"))
		open_json(measured);
	else if (!strcmp(kind, "listen") && where)
		open_exposition(measured, where);
	else if ((!strcmp(kind, "remote_write_1") || !strcmp(kind, "remote_write_2") ||
		  !strcmp(kind, "influx") || !strcmp(kind, "otlp")) &&
		 where)
		open_push(measured, kind, where);
	else
		fail("see the comment in outputs_speed.c");
	if (!measured->sink)
		fail("out of memory");
}

static void close_output(struct measured *measured)
{
	http_server__free(measured->server);
	if (measured->sink)
		measured->sink->operations->free(measured->sink);
	if (measured->null) {
		output__end(measured->null);
		output__close(measured->null);
	}
	output__end(measured->log);
	output__close(measured->log);
}

static void scrape(struct measured *measured, struct host *host, uint64_t sequence, int64_t time_ns)
{
	struct ring *ring = host->ring;
	struct latency decoded = {};
	struct sample *sample;

	sample = scraper__decode(ring->scraper, ring__current(ring)->landing);
	sample->head = (struct sample_head){
		.sequence = sequence,
		.start_ns = time_ns,
		.landed_ns = time_ns + 10000,
		.time_ns = time_ns,
		.reads = ENTRIES,
		.bytes = sizeof(host->values),
	};
	sample->end_ns = time_ns + 20000;
	if (measured->sink)
		measured->sink->operations->sample(
			measured->sink, &host->settings, sample, &decoded);
}

static void wait_until(int64_t time_ns)
{
	const struct timespec until = {
		.tv_sec = time_ns / SECOND_NS,
		.tv_nsec = time_ns % SECOND_NS,
	};

	while (clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
}

/* Returns the CPU time of making values alone. */
static double run(struct measured *measured, struct host *hosts,
		  unsigned long count, unsigned long seconds)
{
	struct timespec now;
	double begin, made_s = 0;
	unsigned long i, k;
	int64_t time_ns;

	clock_gettime(CLOCK_REALTIME, &now);
	for (k = 1; k <= seconds; k++) {
		begin = thread_seconds();
		for (i = 0; i < count; i++)
			move_values(hosts + i);
		made_s += thread_seconds() - begin;
		time_ns = (now.tv_sec + (int64_t)k) * SECOND_NS;
		wait_until(time_ns);
		begin = thread_seconds();
		for (i = 0; i < count; i++)
			scrape(measured, hosts + i, k, time_ns);
		if (k == 1)
			continue;
		measured->worker_s += thread_seconds() - begin;
		measured->scrapes += count;
	}
	return made_s;
}

/* All series end, and the thread of the output ends when it has sent everything. */
static void send_all(struct measured *measured, const struct host *hosts, unsigned long count)
{
	const struct sink_operations *operations = measured->sink->operations;
	struct pollfd ended = { .events = POLLIN };
	unsigned long i;

	for (i = 0; i < count; i++)
		operations->removed(measured->sink, &hosts[i].settings);
	push__set_waits(measured->push, true);
	push__end(measured->push);
	ended.fd = push__event_fd(measured->push);
	if (poll(&ended, 1, SEND_MS) != 1)
		fail("the receiver does not take the samples");
}

/* The bytes sent when the last scrape came: without the marks of series that end. */
static double bytes_per_sample(struct measured *measured, uint64_t samples)
{
	struct push_counts counts;

	if (measured->null)
		return (double)output__written(measured->null) / samples;
	if (!measured->push)
		return 0;
	push__counts(measured->push, &counts);
	return counts.sent ? (double)counts.bytes / counts.sent : 0;
}

static void print_result(struct measured *measured, const char *kind,
			 uint64_t samples, double bytes, double cpu_s_per_s)
{
	struct push_counts counts = {};

	if (measured->push)
		push__counts(measured->push, &counts);
	printf("{\"output\": \"%s\", \"cpu_s_per_s\": %.4f, \"samples\": %llu,"
	       " \"worker_ns_per_scrape\": %.0f, \"sent\": %llu, \"dropped\": %llu,"
	       " \"bytes_per_sample\": %.2f}\n",
	       kind, cpu_s_per_s, (unsigned long long)samples,
	       measured->scrapes ? measured->worker_s * 1e9 / measured->scrapes : 0,
	       (unsigned long long)counts.sent,
	       (unsigned long long)(counts.dropped + counts.refused), bytes);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "hosts", required_argument, NULL, 'h' },
		{ "seconds", required_argument, NULL, 's' },
		{ "bare", required_argument, NULL, 'b' },
		{ "metric-rules", required_argument, NULL, 'm' },
		{ "write-rules", required_argument, NULL, 'w' },
		{},
	};
	unsigned long count = 100, seconds = 30, i;
	struct measured measured = {};
	double begin, made_s, bytes;
	struct host *hosts;
	uint64_t samples;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'h')
			count = strtoul(optarg, NULL, 10);
		else if (option == 's')
			seconds = strtoul(optarg, NULL, 10);
		else if (option == 'm')
			measured.metric_rules = read_rules(optarg);
		else if (option == 'w')
			measured.write_rules = read_rules(optarg);
		else if (option == 'b' && bare_http__start(strtoul(optarg, NULL, 10)))
			fail("cannot listen at the port of --bare");
		else if (option != 'b')
			fail("see the comment in outputs_speed.c");
	}
	if (optind == argc || !count || count > SETTINGS_TARGETS_MAX || !seconds)
		fail("see the comment in outputs_speed.c");
	open_output(&measured, argv[optind], argv[optind + 1]);
	hosts = allocate(count, sizeof(*hosts));
	for (i = 0; i < count; i++) {
		make_host(hosts + i, i);
		hosts[i].settings.metric_relabel = measured.metric_rules;
		if (measured.sink && measured.sink->operations->added)
			measured.sink->operations->added(measured.sink, &hosts[i].settings);
	}
	begin = cpu_seconds();
	made_s = run(&measured, hosts, count, seconds);
	samples = (uint64_t)count * seconds * ENTRIES * ROWS * FIELDS;
	bytes = bytes_per_sample(&measured, samples);
	if (measured.push)
		send_all(&measured, hosts, count);
	print_result(&measured, argv[optind], samples, bytes,
		     (cpu_seconds() - begin - made_s) / seconds);
	close_output(&measured);
	for (i = 0; i < count; i++) {
		ring__release(hosts[i].ring);
		free(hosts[i].settings.host);
		free(hosts[i].settings.name);
	}
	free(hosts);
	relabel_rules__release(measured.metric_rules);
	relabel_rules__release(measured.write_rules);
	return EXIT_SUCCESS;
}
