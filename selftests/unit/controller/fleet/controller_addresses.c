// SPDX-License-Identifier: GPL-2.0-only
/* A host whose name has several addresses, of which the agent has one. */
#include <arpa/inet.h>
#include <netdb.h>

#include "controller_changing.h"

/* The name services, in the place of those of the C library. */
#define NAME "several.example"

static const char *const addresses[] = { "10.9.9.9", "10.0.0.0", "10.9.9.8" };

struct answer {
	struct addrinfo info; /* first */
	struct sockaddr_in address;
};

static struct addrinfo *make_answer(const char *numeric, struct addrinfo *next)
{
	struct answer *answer = calloc(1, sizeof(*answer));

	assert_non_null(answer);
	answer->address.sin_family = AF_INET;
	if (inet_pton(AF_INET, numeric, &answer->address.sin_addr) != 1) {
		free(answer);
		return NULL;
	}
	answer->info = (struct addrinfo){
		.ai_family = AF_INET,
		.ai_addr = (struct sockaddr *)&answer->address,
		.ai_addrlen = sizeof(answer->address),
		.ai_next = next,
	};
	return &answer->info;
}

int getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
		struct addrinfo **found)
{
	size_t i = sizeof(addresses) / sizeof(*addresses);

	*found = NULL;
	if (strcmp(host, NAME))
		*found = make_answer(host, NULL);
	else if (!(hints->ai_flags & AI_NUMERICHOST))
		while (i--)
			*found = make_answer(addresses[i], *found);
	return *found ? 0 : EAI_NONAME;
}

void freeaddrinfo(struct addrinfo *found)
{
	struct addrinfo *next;

	for (; found; found = next) {
		next = found->ai_next;
		free(found);
	}
}

static void test_addresses(void **state)
{
	hosts__open();
	bed__open(0, 10000000);
	bed__add_named(0, NAME);
	bed__add(1);
	bed__await(0, 1);
	/* The address of a connection that was lost is tried first. */
	target__lose(bed.targets[0], "a test");
	while (!bed.targets[0]->io.ring || bed.targets[0]->state != TARGET_READING)
		assert_true(sd_event_run(bed.context.event, 1000) >= 0);
	assert_string_equal(bed.targets[0]->failure, "a test");
	atomic_store(&losses, 0);
	end();
}

/* As --once: no second attempt is made to an address. */
static void test_once(void **state)
{
	hosts__open();
	bed__open(0, 10000000);
	bed.options.once = true;
	bed__add_named(0, NAME);
	bed__add(1);
	while (bed.finished < HOSTS)
		assert_true(sd_event_run(bed.context.event, 1000) >= 0);
	assert_int_equal(count__of(&target__summary(bed.targets[0])->failed), 0);
	assert_int_equal(count__of(&target__summary(bed.targets[0])->scrapes), 1);
	atomic_store(&losses, 0);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("an agent at the second of three addresses is found, and found there again",
		     test_addresses),
		TEST("who looks once finds it there, too", test_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
