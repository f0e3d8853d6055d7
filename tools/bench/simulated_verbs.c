// SPDX-License-Identifier: GPL-2.0-only
/* Verbs that copy memory of this process: see simulated_verbs.h. */
#include "simulated_verbs.h"

#include <endian.h>
#include <err.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/queue.h>
#include <time.h>
#include <unistd.h>

#define QUEUE_ELEMENT 64 /* bytes */
/* One of this number of calls is measured: a prime, so that all targets get their turn. */
#define TIMED_POSTS 251

struct simulated_qp {
	struct ibv_qp qp; /* first */
	struct simulated_host *host;
	uint64_t receive_id; /* the same of all receives */
	unsigned int receives; /* posted */
	uint8_t work_requests[];
};

/* A memory region that hosts may WRITE to. */
struct simulated_mirror {
	struct ibv_mr mr; /* first */
	struct simulated_pd *pd;
	uint8_t *memory;
	uint64_t address, length;
};

struct simulated_pd {
	struct ibv_pd pd; /* first */
	struct simulated_mirror *mirror;
};

struct simulated_cq {
	struct ibv_cq cq; /* first */
	STAILQ_ENTRY(simulated_cq) place; /* in simulated_channel.ready */
	unsigned int first, count;
	bool is_armed;
	struct ibv_wc completions[];
};

struct simulated_channel {
	struct ibv_comp_channel channel; /* first */
	STAILQ_HEAD(, simulated_cq) ready; /* with an event, in the order of the events */
};

void simulated__tell(int fd)
{
	if (eventfd_write(fd, 1))
		err(EXIT_FAILURE, "eventfd");
}

void *simulated__allocate(size_t size)
{
	void *memory = calloc(1, size);

	if (!memory)
		err(EXIT_FAILURE, "memory");
	return memory;
}

/* ---- completions */

static void simulated_cq__notify(struct simulated_cq *cq)
{
	struct simulated_channel *channel = (struct simulated_channel *)cq->cq.channel;

	if (!cq->is_armed)
		return;
	cq->is_armed = false;
	STAILQ_INSERT_TAIL(&channel->ready, cq, place);
	simulated__tell(channel->channel.fd);
}

static void simulated_cq__add(struct simulated_cq *cq, uint64_t id, enum ibv_wc_status status)
{
	if (cq->count == (unsigned int)cq->cq.cqe)
		errx(EXIT_FAILURE, "a completion queue is full");
	cq->completions[(cq->first + cq->count++) % cq->cq.cqe] =
		(struct ibv_wc){ .wr_id = id, .status = status };
	simulated_cq__notify(cq);
}

static int poll_cq(struct ibv_cq *of, int count, struct ibv_wc *completions)
{
	struct simulated_cq *cq = (struct simulated_cq *)of;
	int i;

	for (i = 0; i < count && cq->count; i++, cq->count--) {
		completions[i] = cq->completions[cq->first];
		cq->first = (cq->first + 1) % of->cqe;
	}
	return i;
}

static int req_notify_cq(struct ibv_cq *cq, int solicited)
{
	((struct simulated_cq *)cq)->is_armed = true;
	return 0;
}

/* ---- queue pairs */

static bool simulated_memory__read(const struct simulated_memory *memory,
				   const struct ibv_send_wr *request)
{
	const struct ibv_sge *to = request->sg_list;
	const uint64_t from = request->wr.rdma.remote_addr;
	const uint64_t base = (uintptr_t)memory->bytes;

	if (request->wr.rdma.rkey != memory->rkey || from < base || from - base > memory->length ||
	    to->length > memory->length - (from - base))
		return false;
	memcpy((void *)(uintptr_t)to->addr, (const void *)(uintptr_t)from, to->length);
	return true;
}

static bool simulated_host__read(struct simulated_host *host, const struct ibv_send_wr *request)
{
	if (request->opcode != IBV_WR_RDMA_READ)
		errx(EXIT_FAILURE, "operation %d is not a READ", request->opcode);
	if (host->write && request->wr.rdma.remote_addr == (uintptr_t)host->values.bytes)
		host->write(host);
	if (host->go_on)
		host->go_on(host);
	return simulated_memory__read(&host->values, request) ||
	       simulated_memory__read(&host->table, request);
}

static void simulated_qp__post(struct simulated_qp *qp, const struct ibv_send_wr *request)
{
	struct simulated_cq *cq = (struct simulated_cq *)qp->qp.send_cq;

	for (; request; request = request->next) {
		if (!simulated_host__read(qp->host, request))
			simulated_cq__add(cq, request->wr_id, IBV_WC_REM_ACCESS_ERR);
		else if (request->send_flags & IBV_SEND_SIGNALED)
			simulated_cq__add(cq, request->wr_id, IBV_WC_SUCCESS);
	}
}

static int post_recv(struct ibv_qp *of, struct ibv_recv_wr *receive, struct ibv_recv_wr **bad)
{
	struct simulated_qp *qp = (struct simulated_qp *)of;

	if (receive->next || receive->num_sge)
		errx(EXIT_FAILURE, "a receive is not a single one without bytes");
	qp->receive_id = receive->wr_id;
	qp->receives++;
	return 0;
}

bool simulated_host__write(struct simulated_host *host, uint64_t offset, uint32_t rkey,
			   const void *bytes, uint32_t length)
{
	const struct simulated_mirror *mirror = ((struct simulated_pd *)host->qp->pd)->mirror;
	const uint64_t address = le64toh(host->mirror.address) + offset;

	if (!mirror || rkey != mirror->mr.rkey || address < mirror->address ||
	    address - mirror->address > mirror->length ||
	    length > mirror->length - (address - mirror->address))
		return false;
	memcpy(mirror->memory + (address - mirror->address), bytes, length);
	return true;
}

bool simulated_host__tell(struct simulated_host *host)
{
	struct simulated_qp *qp = (struct simulated_qp *)host->qp;

	if (!qp->receives)
		return false;
	qp->receives--;
	simulated_cq__add((struct simulated_cq *)qp->qp.recv_cq, qp->receive_id, IBV_WC_SUCCESS);
	return true;
}

static uint64_t thread_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

/* The counts of the calling thread. */
static struct simulated_poster *poster(struct simulated_adapter *adapter)
{
	static atomic_uint threads;
	static _Thread_local unsigned int number; /* from 1 on; 0: the thread posts for the first time */

	if (!number)
		number = atomic_fetch_add(&threads, 1) + 1;
	/* Runs that follow each other start further threads. */
	return &adapter->posters[number % SIMULATED_POSTERS_MAX];
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *request, struct ibv_send_wr **bad)
{
	struct simulated_poster *counts = poster((struct simulated_adapter *)qp->context);
	uint64_t before_ns, start_ns, end_ns;

	if (count__add(&counts->posts, 1) % TIMED_POSTS) {
		simulated_qp__post((struct simulated_qp *)qp, request);
		return 0;
	}
	/* Less the time to read the clock. */
	before_ns = thread_ns();
	start_ns = thread_ns();
	simulated_qp__post((struct simulated_qp *)qp, request);
	end_ns = thread_ns();
	if (end_ns - start_ns > start_ns - before_ns)
		count__add(&counts->timed_ns, end_ns - start_ns - (start_ns - before_ns));
	count__add(&counts->timed, 1);
	return 0;
}

struct ibv_qp *simulated_qp__new(struct ibv_context *context, struct simulated_host *host,
				 const struct ibv_qp_init_attr *attributes)
{
	const size_t elements = attributes->cap.max_send_wr + attributes->cap.max_recv_wr;
	struct simulated_qp *qp = simulated__allocate(sizeof(*qp) + elements * QUEUE_ELEMENT);

	qp->qp.context = context;
	qp->qp.send_cq = attributes->send_cq;
	qp->qp.recv_cq = attributes->recv_cq;
	qp->host = host;
	host->qp = &qp->qp;
	return &qp->qp;
}

/* ---- adapters */

void simulated_adapter__init(struct simulated_adapter *adapter)
{
	*adapter = (struct simulated_adapter){
		.device.name = "simulated0",
		.context.device = &adapter->device,
		.context.ops.poll_cq = poll_cq,
		.context.ops.req_notify_cq = req_notify_cq,
		.context.ops.post_send = post_send,
		.context.ops.post_recv = post_recv,
	};
}

struct simulated_work simulated_adapter__work(const struct simulated_adapter *adapter)
{
	struct simulated_work work = {};
	unsigned int i;

	for (i = 0; i < SIMULATED_POSTERS_MAX; i++) {
		work.posts += count__of(&adapter->posters[i].posts);
		work.timed += count__of(&adapter->posters[i].timed);
		work.timed_ns += count__of(&adapter->posters[i].timed_ns);
	}
	return work;
}

double simulated_work__ns(const struct simulated_work *before, const struct simulated_work *after)
{
	const uint64_t timed = after->timed - before->timed;

	if (!timed)
		return 0;
	return (double)(after->timed_ns - before->timed_ns) / timed *
	       (after->posts - before->posts);
}

/* ---- verbs */

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attributes)
{
	*attributes = (struct ibv_device_attr){
		.max_qp_wr = 1024,
		.max_cqe = 1 << 20,
		.max_qp_init_rd_atom = 16,
	};
	return 0;
}

#undef ibv_query_port
int ibv_query_port(struct ibv_context *context, uint8_t port, struct _compat_ibv_port_attr *of)
{
	struct ibv_port_attr *attributes = (struct ibv_port_attr *)of;

	/* 100 Gbit/s: EDR, 4 lanes. */
	attributes->max_msg_sz = 1U << 31;
	attributes->active_speed = 32;
	attributes->active_width = 2;
	return 0;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct simulated_pd *pd = calloc(1, sizeof(*pd));

	if (!pd)
		return NULL;
	pd->pd.context = context;
	return &pd->pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	if (((struct simulated_pd *)pd)->mirror)
		errx(EXIT_FAILURE, "a protection domain still has a mirror");
	free(pd);
	return 0;
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	struct simulated_channel *channel = simulated__allocate(sizeof(*channel));

	channel->channel.fd = eventfd(0, EFD_SEMAPHORE);
	STAILQ_INIT(&channel->ready);
	return &channel->channel;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	close(channel->fd);
	free(channel);
	return 0;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *of,
			     struct ibv_comp_channel *channel, int vector)
{
	struct simulated_cq *cq = simulated__allocate(sizeof(*cq) + (size_t)cqe * QUEUE_ELEMENT);

	_Static_assert(sizeof(struct ibv_wc) <= QUEUE_ELEMENT, "a completion has no room");
	cq->cq.context = context;
	cq->cq.channel = channel;
	cq->cq.cq_context = of;
	cq->cq.cqe = cqe;
	return &cq->cq;
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
	free(cq);
	return 0;
}

#undef ibv_reg_mr
#undef ibv_reg_mr_iova
struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *memory, size_t length, int access)
{
	/* No other code may write there. */
	if (access != IBV_ACCESS_LOCAL_WRITE)
		errx(EXIT_FAILURE, "memory is registered with access %#x", access);
	return simulated__allocate(sizeof(struct simulated_mirror));
}

/* Of a mirror, which has a protection domain of its own. */
struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *of, void *memory, size_t length, uint64_t iova,
			       int access)
{
	static uint32_t rkey = 0x1000;
	struct simulated_pd *pd = (struct simulated_pd *)of;
	struct simulated_mirror *mirror = simulated__allocate(sizeof(*mirror));

	if (access != (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE) || pd->mirror)
		errx(EXIT_FAILURE, "a mirror is not the only memory of a domain to be written");
	*mirror = (struct simulated_mirror){
		.mr.rkey = ++rkey,
		.pd = pd,
		.memory = memory,
		.address = iova,
		.length = length,
	};
	pd->mirror = mirror;
	return &mirror->mr;
}

/* The macro ibv_reg_mr() of verbs.h calls this one if the access is not a constant. */
struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *memory, size_t length, uint64_t iova,
				unsigned int access)
{
	return ibv_reg_mr(pd, memory, length, access);
}

int ibv_dereg_mr(struct ibv_mr *region)
{
	struct simulated_mirror *mirror = (struct simulated_mirror *)region;

	if (mirror->pd)
		mirror->pd->mirror = NULL;
	free(mirror);
	return 0;
}

int ibv_get_cq_event(struct ibv_comp_channel *of, struct ibv_cq **cq, void **context)
{
	struct simulated_channel *channel = (struct simulated_channel *)of;
	struct simulated_cq *ready;
	eventfd_t one;

	if (eventfd_read(of->fd, &one))
		return -1;
	ready = STAILQ_FIRST(&channel->ready);
	if (!ready)
		errx(EXIT_FAILURE, "an event is of no completion queue");
	STAILQ_REMOVE_HEAD(&channel->ready, place);
	*cq = &ready->cq;
	*context = ready->cq.cq_context;
	return 0;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int count)
{
}
