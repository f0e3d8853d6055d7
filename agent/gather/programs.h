/* SPDX-License-Identifier: GPL-2.0-only */
/* The eBPF programs that gather: loaded while a record needs them, run by the thread that gathers. */
#ifndef PROGRAMS_H
#define PROGRAMS_H

#include <bpf/libbpf.h>
#include <pthread.h>

#include <libdart/error.h>

#include "agent/region/source.h"
#include "bpf/gather/exchange.h"
#include "subject.h"

struct gather_programs {
	/* Held while programs come and go: the thread that gathers loads some, too. */
	pthread_mutex_t loading;
	struct gather_exchange *exchange; /* shared with all programs; NULL before the first */
	int exchange_fd;
	int array_fd; /* of all loaded programs, which they share, too */
	uint16_t *cpus; /* all possible CPUs, as in the exchange */
	uint32_t cpu_count;
	struct loaded_program *loaded; /* by the index of the program */
};

/* @cpus: highest possible CPU + 1.  Asks nothing of the kernel that it could refuse. */
int gather_programs__open(struct gather_programs *programs, uint32_t cpus,
			  struct dart_error *error);
void gather_programs__close(struct gather_programs *programs);

/*
 * Loads the program of @source for its first user.  -EOPNOTSUPP: the program cannot run on this
 * kernel; -EPERM: the kernel hides addresses that it needs.
 */
int gather_programs__take(struct gather_programs *programs, const struct source *source,
			  struct dart_error *error);
/* Unloads the program after its last user. */
void gather_programs__give(struct gather_programs *programs, enum dart_zero_source source);

/*
 * Loads program @index until the end, independently of sources.  @error: a reason, see
 * sample_object.h.
 */
int gather_programs__keep(struct gather_programs *programs, int index, struct dart_error *error);

/*
 * Asks program @index one question, after loading it until the end.  The answer is in the first
 * question of the exchange, and at the beginning of the output.  Returns 0 or -errno.
 */
int gather_programs__ask(struct gather_programs *programs, int index,
			 const struct gather_question *question);
/* As gathering__statistics(). */
int gather_programs__statistics(struct gather_programs *programs, uint32_t netns, uint32_t ifindex,
				enum gather_statistics *statistics);

/*
 * Runs programs until they answered all questions in the exchange.  Calls @take with the index of
 * each answered question after the run that answered it: the next run overwrites the output.  A
 * program whose run fails leaves its questions.  Returns the number of questions without an answer.
 */
uint32_t gather_programs__answer(struct gather_programs *programs,
				 void (*take)(void *owner, uint32_t index), void *owner);

#endif /* PROGRAMS_H */
