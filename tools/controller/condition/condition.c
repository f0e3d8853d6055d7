// SPDX-License-Identifier: GPL-2.0-only
/* Health, reloads and metrics of the controller itself: see condition.h. */
#include "condition.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <libdart/clock.h>

#include "tools/controller/settings/config.h"
#include "tools/controller/transport/certificates.h"

#define SECOND_NS 1000000000LL
/* Of the control loop. */
#define PULSE_US 2000000ULL
#define PULSE_UNREADY_US 50000ULL
/* A control loop that is so late hangs: handshakes and tables take it far less. */
#define DEAD_NS (60 * SECOND_NS)

int condition__open(struct condition *condition, const struct options *options)
{
	condition->options = options;
	pthread_mutex_init(&condition->shard_lock, NULL);
	pthread_mutex_init(&condition->threads_lock, NULL);
	condition->started_ns = dart_clock__ns(CLOCK_REALTIME);
	atomic_store(&condition->alive_ns, dart_clock__ns(CLOCK_MONOTONIC));
	atomic_store(&condition->reloaded_ns, condition->started_ns);
	condition->reload_fd = options->config ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : -1;
	return options->config && condition->reload_fd < 0 ? -errno : 0;
}

static int on_pulse(sd_event_source *source, uint64_t usec, void *data)
{
	struct condition *condition = data;

	atomic_store(&condition->alive_ns, dart_clock__ns(CLOCK_MONOTONIC));
	if (!atomic_load(&condition->is_ready) && condition->check_ready(condition->data))
		atomic_store(&condition->is_ready, true);
	if (condition->look)
		condition->look(condition->data);
	return sd_event_source_set_time_relative(
		source, atomic_load(&condition->is_ready) ? PULSE_US : PULSE_UNREADY_US);
}

static int on_reload(sd_event_source *source, int fd, uint32_t events, void *data)
{
	struct condition *condition = data;
	eventfd_t count;

	if (!eventfd_read(fd, &count))
		condition->on_reload(condition->data);
	return 0;
}

int condition__watch(struct condition *condition, sd_event *event, bool (*check_ready)(void *data),
		     void (*reload)(void *data), void (*look)(void *data), void *data)
{
	int ret;

	condition->check_ready = check_ready;
	condition->on_reload = reload;
	condition->look = look;
	condition->data = data;
	if (!check_ready)
		atomic_store(&condition->is_ready, true);
	ret = sd_event_add_time_relative(event, &condition->pulse, CLOCK_MONOTONIC, 0, 0, on_pulse,
					 condition);
	if (ret < 0)
		return ret;
	ret = sd_event_source_set_enabled(condition->pulse, SD_EVENT_ON);
	if (ret >= 0 && reload && condition->reload_fd >= 0)
		ret = sd_event_add_io(event, &condition->reload, condition->reload_fd, EPOLLIN,
				      on_reload, condition);
	return ret < 0 ? ret : 0;
}

void condition__end(struct condition *condition)
{
	sd_event_source_disable_unref(condition->pulse);
	sd_event_source_disable_unref(condition->reload);
	condition->pulse = NULL;
	condition->reload = NULL;
	atomic_store(&condition->is_ready, false);
}

void condition__close(struct condition *condition)
{
	condition__end(condition);
	if (condition->options && condition->reload_fd >= 0)
		close(condition->reload_fd);
	if (condition->options) {
		pthread_mutex_destroy(&condition->shard_lock);
		pthread_mutex_destroy(&condition->threads_lock);
	}
	free(condition->threads);
	condition->threads = NULL;
	condition->thread_count = 0;
	condition->options = NULL;
	condition->reload_fd = -1;
}

static void count_reload(struct condition *condition, bool is_refused)
{
	atomic_fetch_add(&condition->reloads, 1);
	if (is_refused)
		atomic_fetch_add(&condition->refused, 1);
}

void condition__set_configuration(struct condition *condition, bool is_refused)
{
	count_reload(condition, is_refused);
	atomic_store(&condition->is_configuration_refused, is_refused);
	if (!is_refused && !atomic_load(&condition->are_certificates_refused) &&
	    !atomic_load(&condition->are_outputs_refused))
		atomic_store(&condition->reloaded_ns, dart_clock__ns(CLOCK_REALTIME));
}

void condition__set_certificates(struct condition *condition, bool are_refused)
{
	atomic_store(&condition->are_certificates_refused, are_refused);
}

void condition__set_outputs(struct condition *condition, bool are_refused)
{
	atomic_store(&condition->are_outputs_refused, are_refused);
}

void condition__set_equal_labels(struct condition *condition, size_t count)
{
	atomic_store(&condition->equal_labels, count);
}

void condition__set_dropped(struct condition *condition, size_t count)
{
	atomic_store(&condition->dropped, count);
}

void condition__set_shard(struct condition *condition, const struct membership *membership,
			  const struct shard_parts *parts, bool is_failing)
{
	pthread_mutex_lock(&condition->shard_lock);
	condition->membership = *membership;
	condition->parts = *parts;
	condition->is_shard_failing = is_failing;
	pthread_mutex_unlock(&condition->shard_lock);
}

void condition__set_threads(struct condition *condition, const struct thread_figures *figures,
			    unsigned int count)
{
	struct thread_figures *copy = malloc(count * sizeof(*copy));
	struct thread_figures *before;

	if (!copy)
		return;
	memcpy(copy, figures, count * sizeof(*copy));
	pthread_mutex_lock(&condition->threads_lock);
	before = condition->threads;
	condition->threads = copy;
	condition->thread_count = count;
	pthread_mutex_unlock(&condition->threads_lock);
	free(before);
}

void condition__membership(struct condition *condition, struct membership *membership)
{
	pthread_mutex_lock(&condition->shard_lock);
	*membership = condition->membership;
	pthread_mutex_unlock(&condition->shard_lock);
}

/* ---- metrics */

static void add_shard(struct condition *condition, struct own_metrics *metrics)
{
	struct membership membership;
	struct shard_parts parts;
	bool is_failing;

	pthread_mutex_lock(&condition->shard_lock);
	membership = condition->membership;
	parts = condition->parts;
	is_failing = condition->is_shard_failing;
	pthread_mutex_unlock(&condition->shard_lock);
	if (!membership.shard.member)
		return;
	own_metrics__add_one(metrics, "dart_controller_shard_member",
			     "The number of this controller among the members of its shard.", "",
			     METRIC_GAUGE, membership.shard.member);
	own_metrics__add_one(metrics, "dart_controller_shard_members",
			     "Controllers that share the agents out.", "", METRIC_GAUGE,
			     membership__count(&membership));
	own_metrics__add_one(metrics, "dart_controller_agents_of_other_members",
			     "Agents that sources name and only other members scrape.", "",
			     METRIC_GAUGE, parts.left);
	own_metrics__add_one(metrics, "dart_controller_agents_on_standby",
			     "Agents that another member scrapes and this one would take over.", "",
			     METRIC_GAUGE, parts.standby);
	if (!membership.is_listed)
		return;
	own_metrics__add_one(metrics, "dart_controller_shard_list_failing",
			     "1: the list of members cannot be read, and the last one counts.", "",
			     METRIC_GAUGE, is_failing);
	own_metrics__add_one(metrics, "dart_controller_shard_list_expired",
			     "1: the list of members is not valid any more, and no agent is scraped.",
			     "", METRIC_GAUGE, !validity__holds(condition->validity));
}

/* A family of the threads that are workers, or are not. */
static void add_threads_of(const struct condition *condition, struct own_metrics *metrics,
			   bool are_workers,
			   uint64_t (*value)(const struct thread_figures *figures))
{
	const struct thread_figures *figures = condition->threads;
	struct label_list labels;
	unsigned int i;

	for (i = 0; i < condition->thread_count; i++, figures++) {
		if (figures->is_worker != are_workers)
			continue;
		labels.count = 0;
		label_list__add(&labels, "thread", figures->name);
		own_metrics__add(metrics, &labels, value(figures));
	}
}

static uint64_t targets_of(const struct thread_figures *figures)
{
	return figures->targets;
}

static uint64_t queued_of(const struct thread_figures *figures)
{
	return figures->queued;
}

static uint64_t dropped_of(const struct thread_figures *figures)
{
	return figures->dropped;
}

/* As they were in the last pulse of the control loop. */
static void add_threads(struct condition *condition, struct own_metrics *metrics)
{
	struct label_list labels;
	unsigned int i;

	pthread_mutex_lock(&condition->threads_lock);
	if (!condition->thread_count) {
		pthread_mutex_unlock(&condition->threads_lock);
		return;
	}
	own_metrics__begin(metrics, "dart_controller_thread_cpu_seconds_total",
			   "CPU time of each thread that scrapes or decodes.", "seconds",
			   METRIC_COUNTER);
	for (i = 0; i < condition->thread_count; i++) {
		labels.count = 0;
		label_list__add(&labels, "thread", condition->threads[i].name);
		own_metrics__add(metrics, &labels, condition->threads[i].cpu_ns / 1e9);
	}
	own_metrics__begin(metrics, "dart_controller_thread_agents",
			   "Agents that each I/O thread scrapes.", "", METRIC_GAUGE);
	add_threads_of(condition, metrics, false, targets_of);
	own_metrics__begin(metrics, "dart_controller_worker_queued_scrapes",
			   "Scrapes that wait for each worker.", "", METRIC_GAUGE);
	add_threads_of(condition, metrics, true, queued_of);
	own_metrics__begin(metrics, "dart_controller_worker_dropped_scrapes_total",
			   "Scrapes that landed while their worker was too far behind.", "",
			   METRIC_COUNTER);
	add_threads_of(condition, metrics, true, dropped_of);
	pthread_mutex_unlock(&condition->threads_lock);
}

static void add_memory(struct own_metrics *metrics)
{
	unsigned long long size, resident;
	const long page = sysconf(_SC_PAGESIZE);
	FILE *file = fopen("/proc/self/statm", "re");

	if (!file)
		return;
	if (fscanf(file, "%llu %llu", &size, &resident) == 2) {
		own_metrics__add_one(metrics, "process_virtual_memory_bytes", "Virtual memory.",
				     "bytes", METRIC_GAUGE, (double)size * page);
		own_metrics__add_one(metrics, "process_resident_memory_bytes", "Resident memory.",
				     "bytes", METRIC_GAUGE, (double)resident * page);
	}
	fclose(file);
}

static void add_descriptors(struct own_metrics *metrics)
{
	DIR *directory = opendir("/proc/self/fd");
	struct rlimit limit;
	/* Two names are dots, and one descriptor is that of the directory itself. */
	long count = -3;

	if (directory) {
		while (readdir(directory))
			count++;
		closedir(directory);
		own_metrics__add_one(metrics, "process_open_fds", "Open file descriptors.", "",
				     METRIC_GAUGE, count);
	}
	if (!getrlimit(RLIMIT_NOFILE, &limit))
		own_metrics__add_one(metrics, "process_max_fds", "Limit of open file descriptors.",
				     "", METRIC_GAUGE, limit.rlim_cur);
}

static double seconds(struct timeval time)
{
	return time.tv_sec + time.tv_usec / 1e6;
}

static void add_process(const struct condition *condition, struct own_metrics *metrics)
{
	struct rusage usage = {};

	getrusage(RUSAGE_SELF, &usage);
	own_metrics__add_one(metrics, "process_cpu_seconds_total",
			     "CPU time, of the user and of the system.", "seconds", METRIC_COUNTER,
			     seconds(usage.ru_utime) + seconds(usage.ru_stime));
	own_metrics__add_one(metrics, "process_start_time_seconds",
			     "When the process started, since 1970.", "seconds", METRIC_GAUGE,
			     condition->started_ns / 1e9);
	add_memory(metrics);
	add_descriptors(metrics);
}

void condition__add(void *data, struct own_metrics *metrics)
{
	struct condition *condition = data;
	struct label_list version = { .count = 0 };

	add_process(condition, metrics);
	label_list__add(&version, "version", DART_VERSION);
	own_metrics__begin(metrics, "dart_controller_build_info",
			   "The version of dart-controller, with the value 1.", "", METRIC_GAUGE);
	own_metrics__add(metrics, &version, 1);
	own_metrics__add_one(metrics, "dart_controller_ready",
			     "Whether all sources of agents have been looked at.", "", METRIC_GAUGE,
			     atomic_load(&condition->is_ready));
	own_metrics__add_one(metrics, "dart_controller_config_last_reload_successful",
			     "Whether the last reload took the configuration, its outputs and the certificates.",
			     "", METRIC_GAUGE,
			     !atomic_load(&condition->is_configuration_refused) &&
				     !atomic_load(&condition->are_outputs_refused) &&
				     !atomic_load(&condition->are_certificates_refused));
	own_metrics__add_one(
		metrics, "dart_controller_config_last_reload_success_timestamp_seconds",
		"When configuration, outputs and certificates were taken for the last time, since 1970.",
		"seconds", METRIC_GAUGE, atomic_load(&condition->reloaded_ns) / 1e9);
	own_metrics__add_one(metrics, "dart_controller_config_reloads_total",
			     "How often the configuration was read again.", "", METRIC_COUNTER,
			     atomic_load(&condition->reloads));
	own_metrics__add_one(metrics, "dart_controller_config_reloads_refused_total",
			     "How often a configuration that was read again was refused.", "",
			     METRIC_COUNTER, atomic_load(&condition->refused));
	own_metrics__add_one(metrics, "dart_controller_mirror_tables_total",
			     "Tables that changed and were taken from a mirror.", "",
			     METRIC_COUNTER, atomic_load(&condition->told));
	own_metrics__add_one(metrics, "dart_controller_mirror_gaps_total",
			     "Updates of a mirror after which the table had to be READ.", "",
			     METRIC_COUNTER, atomic_load(&condition->gaps));
	own_metrics__add_one(
		metrics, "dart_controller_agents_with_equal_labels",
		"Agents that have another 'instance', because another agent had all their labels.",
		"", METRIC_GAUGE, atomic_load(&condition->equal_labels));
	own_metrics__add_one(metrics, "dart_controller_agents_dropped",
			     "Agents that relabel_configs drop.", "", METRIC_GAUGE,
			     atomic_load(&condition->dropped));
	add_threads(condition, metrics);
	add_shard(condition, metrics);
}

/* ---- pages */

static void answer_sentence(struct http_answer *answer, unsigned int status, const char *sentence)
{
	if (asprintf(&answer->body, "%s\n", sentence) < 0)
		answer->body = NULL;
	answer->length = answer->body ? strlen(answer->body) : 0;
	answer->status = status;
}

static void fill_healthy(void *data, const struct http_request *request, struct http_answer *answer)
{
	struct condition *condition = data;

	if (dart_clock__ns(CLOCK_MONOTONIC) - atomic_load(&condition->alive_ns) < DEAD_NS)
		answer_sentence(answer, 200, "dart-controller is healthy");
	else
		answer_sentence(answer, 503,
				"the control loop of dart-controller has not run for a minute");
}

static void fill_ready(void *data, const struct http_request *request, struct http_answer *answer)
{
	struct condition *condition = data;

	if (atomic_load(&condition->is_ready))
		answer_sentence(answer, 200, "dart-controller is ready");
	else
		answer_sentence(answer, 503,
				"not all sources of agents have been looked at so far");
}

/* All that --check finds, without a change.  Returns 0 or -errno with a sentence. */
static int check_configuration(const struct condition *condition, struct dart_error *error)
{
	struct settings settings = {};
	struct dart_tls *tls = NULL;
	int ret = config__read(&settings, &condition->options->own, condition->options->config,
			       error);

	if (!ret)
		ret = certificates__load(&settings.tls, &tls, error);
	dart_tls__put(tls);
	settings__clear(&settings);
	return ret;
}

static void fill_reload(void *data, const struct http_request *request, struct http_answer *answer)
{
	struct condition *condition = data;
	struct dart_error error;

	if (!http_access__knows(request->access, request) &&
	    (!http_request__is_from_this_host(request) ||
	     !http_access__is_called(request->access, request))) {
		answer_sentence(
			answer, 403,
			"a reload is for programs of this host, or with the token or password of --listen");
	} else if (condition->reload_fd < 0) {
		answer_sentence(answer, 400,
				"there is no configuration to read again (start with --config)");
	} else if (check_configuration(condition, &error)) {
		count_reload(condition, true);
		atomic_store(&condition->is_configuration_refused, true);
		strncat(error.text, "; nothing has changed",
			sizeof(error.text) - strlen(error.text) - 1);
		answer_sentence(answer, 400, error.text);
	} else {
		eventfd_write(condition->reload_fd, 1);
		answer_sentence(answer, 200, "the configuration is valid, and read again");
	}
}

void condition__pages(struct condition *condition, struct http_page pages[static CONDITION_PAGES])
{
	/* Open, because they show no values: kubelet and balancers ask without a token. */
	pages[0] = (struct http_page){
		.path = "/-/healthy", .fill = fill_healthy, .data = condition, .is_open = true
	};
	pages[1] = (struct http_page){
		.path = "/-/ready", .fill = fill_ready, .data = condition, .is_open = true
	};
	pages[2] = (struct http_page){
		.path = "/-/reload",
		.fill = fill_reload,
		.data = condition,
		.is_action = true,
		.is_open = true, /* it looks who asks */
	};
}
