// SPDX-License-Identifier: GPL-2.0-only
/*
 * eager_callers HOST SECONDS header|table: two peers ask the agent of HOST over RDMA,
 * for SECONDS and without a pause, for the header of its table, or for the whole table,
 * in more messages than they posted receives for. After SIGTERM they take the answers of their
 * last requests, and end.
 */
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "raw_caller.h"

static time_t now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/* Blocked, so that SIGTERM interrupts no wait for an answer. */
static void block_termination(void)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, NULL);
}

static bool was_terminated(void)
{
	sigset_t pending;

	return !sigpending(&pending) && sigismember(&pending, SIGTERM) == 1;
}

/* Receives an answer, and posts the receives again; how many parts it had. */
static uint32_t take_answer(struct caller *caller)
{
	struct dart_rpc_message message;
	struct ibv_wc completion;
	uint32_t parts = 0;

	do {
		message = receive(caller);
		assert_int_equal(message.type, DART_RPC_PART);
		post_receive(caller, caller->last);
		parts++;
	} while (!message.is_last);
	assert_int_equal(rdma_get_send_comp(caller->id, &completion), 1);
	return parts;
}

static void ask_for(time_t seconds, uint32_t bytes, uint32_t least)
{
	struct caller *callers[2];
	const time_t end = now_s() + seconds;
	int i;

	for (i = 0; i < 2; i++)
		callers[i] = caller_new(DART_RPC_ANSWER_MIN, RECEIVES);
	while (now_s() < end && !was_terminated()) {
		for (i = 0; i < 2; i++)
			send_request(callers[i],
				     dart_rpc__put_get_table(callers[i]->request, 1, bytes));
		for (i = 0; i < 2; i++)
			assert_true(take_answer(callers[i]) >= least);
	}
	for (i = 0; i < 2; i++)
		caller_free(callers[i]);
}

int main(int argc, char *argv[])
{
	bool is_table = argc == 4 && !strcmp(argv[3], "table");

	if (argc != 4 || (!is_table && strcmp(argv[3], "header"))) {
		fputs("usage: eager_callers HOST SECONDS header|table\n", stderr);
		return 2;
	}
	host = argv[1];
	block_termination();
	/* A caller that is cut off waits for its answer forever. */
	alarm(atoi(argv[2]) + 60);
	ask_for(atoi(argv[2]),
		is_table ? DART_CONTROL_LENGTH_MAX : sizeof(struct dart_control_header),
		is_table ? RECEIVES + 1 : 1);
	return 0;
}
