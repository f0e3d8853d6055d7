// SPDX-License-Identifier: GPL-2.0-only
/* Names of hosts become addresses in a thread outside the event loop. */
#include <arpa/inet.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/controller/fleet/resolver.h"

#include "selftests/unit/unit.h"

#define QUESTIONS 200

static struct {
	sd_event *event;
	struct resolver *resolver;
	unsigned int answers;
	char last[64];
	char sentence[DART_ERROR_MAX];
} asked;

static int set_up(void **state)
{
	asked.answers = 0;
	*asked.last = *asked.sentence = '\0';
	assert_return_code(sd_event_new(&asked.event), 0);
	assert_return_code(resolver__new(asked.event, &asked.resolver), 0);
	return 0;
}

static int tear_down(void **state)
{
	resolver__free(asked.resolver);
	sd_event_unref(asked.event);
	return 0;
}

static void on_resolved(void *data, const char *numeric, unsigned int count,
			const struct dart_error *error)
{
	assert_int_equal(!numeric, !count);
	asked.answers++;
	strcpy(asked.last, numeric ?: "");
	strcpy(asked.sentence, numeric ? "" : error->text);
}

static struct resolution *ask_as(const char *host, bool again)
{
	struct resolution *resolution;

	assert_int_equal(resolver__ask(asked.resolver, host, again, 0, on_resolved, NULL,
				       &resolution),
			 0);
	return resolution;
}

static struct resolution *ask(const char *host)
{
	return ask_as(host, false);
}

static void wait_for(unsigned int answers)
{
	while (asked.answers < answers)
		assert_true(sd_event_run(asked.event, 20000000) > 0);
}

/*
 * The name services, in the place of those of the C library: a name of SILENT has no answer as long
 * as they are silent.
 */
#define SILENT "silent.example"

static struct {
	pthread_mutex_t lock;
	pthread_cond_t speaks;
	bool is_silent;
	unsigned int silent; /* threads that wait */
} services = { .lock = PTHREAD_MUTEX_INITIALIZER, .speaks = PTHREAD_COND_INITIALIZER };

int getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
		struct addrinfo **found)
{
	struct answer {
		struct addrinfo info;
		struct sockaddr_in address;
	} *answer;

	if (!strcmp(host, SILENT)) {
		pthread_mutex_lock(&services.lock);
		services.silent++;
		while (services.is_silent)
			pthread_cond_wait(&services.speaks, &services.lock);
		pthread_mutex_unlock(&services.lock);
		return EAI_AGAIN;
	}
	answer = calloc(1, sizeof(*answer));
	if (!answer || inet_pton(AF_INET, host, &answer->address.sin_addr) != 1) {
		free(answer);
		return EAI_NONAME;
	}
	answer->address.sin_family = AF_INET;
	answer->info = (struct addrinfo){
		.ai_family = AF_INET,
		.ai_addr = (struct sockaddr *)&answer->address,
		.ai_addrlen = sizeof(answer->address),
	};
	*found = &answer->info;
	return 0;
}

void freeaddrinfo(struct addrinfo *found)
{
	free(found);
}

static void set_silent(bool is_silent)
{
	pthread_mutex_lock(&services.lock);
	services.is_silent = is_silent;
	services.silent = 0;
	pthread_cond_broadcast(&services.speaks);
	pthread_mutex_unlock(&services.lock);
}

/* More names without an answer than there are threads. */
static void a_silent_service_delays_no_other_name(void **state)
{
	const unsigned int silent = RESOLVER_THREADS + QUESTIONS;
	unsigned int i;

	set_silent(true);
	for (i = 0; i < silent; i++)
		ask_as(SILENT, true);
	for (i = 0; i < QUESTIONS; i++)
		ask("127.0.0.1");
	wait_for(QUESTIONS);
	assert_string_equal(asked.last, "127.0.0.1");
	pthread_mutex_lock(&services.lock);
	assert_in_range(services.silent, 1, RESOLVER_THREADS_AGAIN);
	pthread_mutex_unlock(&services.lock);
	set_silent(false);
	wait_for(QUESTIONS + silent);
	assert_non_null(strstr(asked.sentence, "cannot resolve '" SILENT "'"));
}

static void names_are_answered(void **state)
{
	unsigned int i;

	for (i = 0; i < QUESTIONS; i++)
		ask("127.0.0.1");
	wait_for(QUESTIONS);
	assert_string_equal(asked.last, "127.0.0.1");
}

static void a_name_without_an_address_has_a_sentence(void **state)
{
	/* Too long for a label of a name: no service is asked. */
	char host[NI_MAXHOST / 2] = "";

	memset(host, 'a', sizeof(host) - 1);
	ask(host);
	wait_for(1);
	assert_non_null(strstr(asked.sentence, "cannot resolve 'aaaa"));
}

static void what_was_cancelled_is_not_answered(void **state)
{
	resolution__cancel(ask("127.0.0.2"));
	ask("127.0.0.1");
	wait_for(1);
	assert_string_equal(asked.last, "127.0.0.1");
}

static void a_resolver_ends_while_it_asks(void **state)
{
	unsigned int i;

	for (i = 0; i < QUESTIONS; i++)
		resolution__cancel(ask("127.0.0.1"));
}

/* A signal of the process goes to any thread that does not block it. */
static void signals_are_left_to_the_loop(void **state)
{
	const struct timespec none = {};
	sigset_t set, before;
	unsigned int i;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, &before);
	for (i = 0; i < QUESTIONS; i++) {
		ask("127.0.0.1");
		while (asked.answers <= i) {
			kill(getpid(), SIGTERM);
			assert_true(sd_event_run(asked.event, 0) >= 0);
			assert_int_equal(sigtimedwait(&set, NULL, &none), SIGTERM);
		}
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_FIXTURE("names are answered", names_are_answered, set_up,
			     tear_down),
		TEST_FIXTURE("names that a service does not answer delay no other name",
			     a_silent_service_delays_no_other_name, set_up, tear_down),
		TEST_FIXTURE("a name without an address has a sentence",
			     a_name_without_an_address_has_a_sentence, set_up,
			     tear_down),
		TEST_FIXTURE("a resolution that was cancelled has no answer",
			     what_was_cancelled_is_not_answered, set_up,
			     tear_down),
		TEST_FIXTURE("a resolver ends while it asks",
			     a_resolver_ends_while_it_asks, set_up, tear_down),
		TEST_FIXTURE("threads that resolve leave signals to the loop",
			     signals_are_left_to_the_loop, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
