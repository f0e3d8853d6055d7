/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * As much of verbs as READs from memory of this process need, see simulated_network.h, for
 * programs without an adapter: the file defines the functions that libibverbs would have.  A
 * READ copies when it is posted, and completes then.  Outside the memory of its host, or with
 * another key, it fails like a READ that an adapter refuses.  Queues take as much memory as
 * those of an adapter: 64 bytes for each work request and for each completion.  Descriptors
 * become ready with events, like real ones.
 *
 * A host may WRITE to the mirror that its controller offers, at the address and with the key of the
 * offer, and tell that the update ended.
 *
 * As in verbs, one thread makes and frees objects, and others post and take completions, each of
 * its own queue pairs.  A misuse of verbs ends the program with a sentence.
 */
#ifndef BENCH_SIMULATED_VERBS_H
#define BENCH_SIMULATED_VERBS_H

#include <infiniband/verbs.h>
#include <stdbool.h>

#include <dart/control.h>

#include "tools/controller/base/count.h"

/* Memory that a key opens. */
struct simulated_memory {
	const void *bytes;
	size_t length;
	uint32_t rkey;
};

struct simulated_host {
	struct simulated_memory table, values;
	/*
	 * Before the first of the values is READ, in the thread that posts: the host goes on.
	 * NULL: it stands still.
	 */
	void (*write)(struct simulated_host *host);
	/* Before each READ, likewise. */
	void (*go_on)(struct simulated_host *host);
	/*
	 * The answer to a connect request, @answer_length bytes; NULL: the answer of an agent with
	 * @table.
	 */
	const void *answer;
	uint8_t answer_length;
	/* The mirror of its controller, as offered; a length of 0: none. */
	struct dart_control_mirror mirror;
	struct ibv_qp *qp; /* of the connection; for the functions below */
};

/*
 * In go_on() or write().  WRITEs @length bytes at @bytes to the mirror at @offset; false if they
 * are not all in a memory that the queue pair permits to be written, with this key.
 */
bool simulated_host__write(struct simulated_host *host, uint64_t offset, uint32_t rkey,
			   const void *bytes, uint32_t length);
/* Ends an update; false if the controller has no receive for it. */
bool simulated_host__tell(struct simulated_host *host);

#define SIMULATED_POSTERS_MAX 16

/* Counts of a thread that posts.  It measures the CPU time of a call now and then. */
struct simulated_poster {
	count_t posts; /* calls */
	count_t timed; /* of them */
	count_t timed_ns; /* that these took, with the host's writing */
} __attribute__((aligned(64)));

struct simulated_adapter {
	struct ibv_context context; /* first: an adapter is found by it */
	struct ibv_device device;
	struct simulated_poster posters[SIMULATED_POSTERS_MAX];
};

void simulated_adapter__init(struct simulated_adapter *adapter);

/* The work that all threads did for the adapter so far; any thread may read it. */
struct simulated_work {
	uint64_t posts;
	uint64_t timed;
	uint64_t timed_ns;
};

struct simulated_work simulated_adapter__work(const struct simulated_adapter *adapter);
/* The CPU time of that between two looks, an estimate. */
double simulated_work__ns(const struct simulated_work *before, const struct simulated_work *after);

/* A queue pair that is connected with @host; free() frees it. */
struct ibv_qp *simulated_qp__new(struct ibv_context *context, struct simulated_host *host,
				 const struct ibv_qp_init_attr *attributes);

/* An event more at @fd. */
void simulated__tell(int fd);
/* Zeroed memory; ends the program without memory. */
void *simulated__allocate(size_t size);

#endif /* BENCH_SIMULATED_VERBS_H */
