// SPDX-License-Identifier: GPL-2.0-only
/* The hand-over of scrapes from the event loop to the threads that decode them. */
#include <pthread.h>
#include <poll.h>
#include <semaphore.h>
#include <string.h>

#include "controller_ring.h"

#define PLACES		8
#define WORKERS		3
#define WORKS		2000	/* of each place */
#define PRODUCERS	4

/* Work that waits until the test lets it go on. */
struct gate {
	struct work work;
	sem_t reached;
	sem_t opened;
};

static void pass_gate(struct work *work)
{
	struct gate *gate = caa_container_of(work, struct gate, work);

	sem_post(&gate->reached);
	sem_wait(&gate->opened);
}

/* The worker of @place does nothing until the gate is opened. */
static void gate__close(struct gate *gate, struct workers *workers, size_t place)
{
	gate->work = (struct work){ .run = pass_gate };
	assert_int_equal(sem_init(&gate->reached, 0, 0), 0);
	assert_int_equal(sem_init(&gate->opened, 0, 0), 0);
	workers__hand_over_always(workers, place, &gate->work);
	sem_wait(&gate->reached);
}

static void gate__open(struct gate *gate)
{
	sem_post(&gate->opened);
}

static struct workers *start(unsigned int count)
{
	struct workers *workers;

	assert_int_equal(workers__start(count, &workers), 0);
	return workers;
}

struct numbered {
	struct work work;
	unsigned int place;
	unsigned int number;
};

/* Only written by the worker of the place. */
static struct {
	pthread_t thread;
	unsigned int done;
	unsigned int disorder;
} places[PLACES];

static void count(struct work *work)
{
	struct numbered *numbered = caa_container_of(work, struct numbered, work);
	const unsigned int place = numbered->place;

	if (!numbered->number)
		places[place].thread = pthread_self();
	if (numbered->number != places[place].done ||
	    !pthread_equal(places[place].thread, pthread_self()))
		places[place].disorder++;
	places[place].done++;
}

static void test_order(void **state)
{
	struct numbered *works = calloc(PLACES * WORKS, sizeof(*works));
	struct workers *workers = start(WORKERS);
	struct work_batch batch = { };
	unsigned int i, place;

	assert_non_null(works);
	memset(places, 0, sizeof(places));
	for (i = 0; i < PLACES * WORKS; i++) {
		works[i].place = i % PLACES;
		works[i].number = i / PLACES;
		works[i].work.run = count;
		assert_true(workers__hand_over(workers, works[i].place, &works[i].work, &batch));
		if (i % 7 == 0)
			work_batch__end(&batch);
	}
	work_batch__end(&batch);
	workers__stop(workers);
	for (place = 0; place < PLACES; place++) {
		assert_int_equal(places[place].done, WORKS);
		assert_int_equal(places[place].disorder, 0);
	}
	free(works);
}

static void test_full(void **state)
{
	struct numbered *works = calloc(WORKERS_QUEUE_MAX + 2, sizeof(*works));
	struct workers *workers = start(1);
	struct work_batch batch = { };
	struct gate gate;
	unsigned int i;

	assert_non_null(works);
	memset(places, 0, sizeof(places));
	gate__close(&gate, workers, 0);
	for (i = 0; i < WORKERS_QUEUE_MAX + 2; i++) {
		works[i].number = i;
		works[i].work.run = count;
	}
	for (i = 0; i < WORKERS_QUEUE_MAX; i++)
		assert_true(workers__hand_over(workers, 0, &works[i].work, &batch));
	assert_false(workers__hand_over(workers, 0, &works[i].work, &batch));
	workers__hand_over_always(workers, 0, &works[i].work);
	assert_false(workers__hand_over(workers, 0, &works[i + 1].work, &batch));
	gate__open(&gate);
	workers__stop(workers);
	assert_int_equal(places[0].done, WORKERS_QUEUE_MAX + 1);
	assert_int_equal(places[0].disorder, 0);
	free(works);
}

/* Work whose memory is asked for ahead. */
struct stepped {
	struct work work;
	unsigned int steps, disorder;
	bool has_run;
};

static void step_ahead(const struct work *work, unsigned int step)
{
	struct stepped *stepped = (struct stepped *)caa_container_of(work, const struct stepped, work);

	stepped->disorder += stepped->has_run || step != stepped->steps;
	stepped->steps++;
}

static void run_stepped(struct work *work)
{
	struct stepped *stepped = caa_container_of(work, struct stepped, work);

	stepped->disorder += stepped->has_run || stepped->steps != WORK_STEPS;
	stepped->has_run = true;
}

static void test_ahead(void **state)
{
	enum { WAITING = 50 };
	struct stepped works[WAITING] = { };
	struct workers *workers = start(1);
	struct work_batch batch = { };
	struct gate gate;
	unsigned int i;

	gate__close(&gate, workers, 0);
	for (i = 0; i < WAITING; i++) {
		works[i].work = (struct work){ .run = run_stepped, .ahead = step_ahead };
		assert_true(workers__hand_over(workers, 0, &works[i].work, &batch));
	}
	gate__open(&gate);
	workers__stop(workers);
	for (i = 0; i < WAITING; i++) {
		assert_true(works[i].has_run);
		assert_int_equal(works[i].disorder, 0);
	}
}

static bool is_woken(const struct queue *queue)
{
	struct pollfd wake = { .fd = queue->wake, .events = POLLIN };

	return poll(&wake, 1, 0) == 1;
}

static void test_quiet(void **state)
{
	struct queue_item items[3];
	struct queue queue;
	bool was_empty;
	int i;

	assert_int_equal(queue__open(&queue, 8), 0);
	for (i = 0; i < 2; i++) {
		assert_true(queue__put_quietly(&queue, &items[i], 1, &was_empty));
		assert_int_equal(was_empty, !i);
		assert_false(is_woken(&queue));
	}
	/*
	 * The queue is not empty: the caller that found it empty must wake the worker for this
	 * item, too.
	 */
	assert_true(queue__put(&queue, &items[2], 1));
	assert_false(is_woken(&queue));
	queue__wake(&queue);
	assert_true(is_woken(&queue));
	for (i = 0; i < 3; i++)
		assert_ptr_equal(queue__wait(&queue), &items[i]);
	assert_null(queue__take(&queue));
	queue__close(&queue);
}

static void post(struct work *work)
{
	struct gate *gate = caa_container_of(work, struct gate, work);

	sem_post(&gate->reached);
}

/* All workers sleep before each round, and wait only for the batch. */
static void test_batch(void **state)
{
	struct workers *workers = start(WORKERS);
	struct work_batch batch = { };
	struct gate gates[WORKERS];
	unsigned int i, round;

	for (i = 0; i < WORKERS; i++) {
		gates[i].work = (struct work){ .run = post };
		assert_int_equal(sem_init(&gates[i].reached, 0, 0), 0);
	}
	for (round = 0; round < WORKS; round++) {
		for (i = 0; i < WORKERS; i++)
			assert_true(workers__hand_over(workers, i, &gates[i].work, &batch));
		work_batch__end(&batch);
		assert_false(batch.asleep);
		for (i = 0; i < WORKERS; i++)
			sem_wait(&gates[i].reached);
	}
	workers__stop(workers);
}

struct item {
	struct queue_item item;
	unsigned int producer;
	unsigned int number;
};

struct producer {
	struct queue *queue;
	struct item *items;	/* WORKS of them */
	sem_t *room;
	pthread_t thread;
};

static void *produce(void *data)
{
	struct producer *producer = data;
	unsigned int i;

	for (i = 0; i < WORKS; i++) {
		while (!queue__put(producer->queue, &producer->items[i].item, 1 + i % 3))
			sem_wait(producer->room);
	}
	return NULL;
}

static void test_producers(void **state)
{
	unsigned int next[PRODUCERS] = { }, i, k, disorder = 0;
	struct producer producers[PRODUCERS];
	const size_t bound = 32;
	struct queue queue;
	size_t most = 0;
	sem_t room;

	assert_int_equal(queue__open(&queue, bound), 0);
	assert_int_equal(sem_init(&room, 0, 0), 0);
	for (i = 0; i < PRODUCERS; i++) {
		producers[i].queue = &queue;
		producers[i].room = &room;
		producers[i].items = calloc(WORKS, sizeof(struct item));
		assert_non_null(producers[i].items);
		for (k = 0; k < WORKS; k++) {
			producers[i].items[k].producer = i;
			producers[i].items[k].number = k;
		}
		assert_int_equal(pthread_create(&producers[i].thread, NULL, produce, &producers[i]),
				 0);
	}
	for (i = 0; i < PRODUCERS * WORKS; i++) {
		struct queue_item *taken = queue__wait(&queue);
		struct item *item = caa_container_of(taken, struct item, item);
		size_t used = atomic_load(&queue.used);

		if (used > most)
			most = used;
		if (item->number != next[item->producer]++)
			disorder++;
		queue__release(&queue, taken->cost);
		for (k = 0; k < PRODUCERS; k++)
			sem_post(&room);
	}
	for (i = 0; i < PRODUCERS; i++) {
		pthread_join(producers[i].thread, NULL);
		assert_int_equal(next[i], WORKS);
		free(producers[i].items);
	}
	assert_int_equal(disorder, 0);
	assert_true(most > 3 && most <= bound);
	assert_null(queue__take(&queue));
	queue__close(&queue);
}

/* Of one target. */
struct recorder {
	struct sink sink;
	uint64_t next;		/* sequence */
	unsigned int samples;
	unsigned int wrong;
	unsigned int lost;	/* number of samples before the loss; 0: not lost yet */
	sem_t recorded;
};

static int record_sample(struct sink *sink, const struct target_settings *target,
			 const struct sample *sample, const struct latency *decoded)
{
	struct recorder *recorder = (struct recorder *)sink;
	const uint64_t *values = sample->entries[0].copies;
	uint32_t i;

	recorder->samples++;
	if (sample->head.sequence < recorder->next)
		recorder->wrong++;
	recorder->next = sample->head.sequence + 1;
	if (decoded->count != recorder->samples)
		recorder->wrong++;
	for (i = 0; i < VALUES; i++) {
		if (values[i] != sample->head.sequence)
			recorder->wrong++;
	}
	sem_post(&recorder->recorded);
	return 0;
}

static int record_loss(struct sink *sink, const struct target_settings *target, const char *reason)
{
	struct recorder *recorder = (struct recorder *)sink;

	if (!strcmp(reason, "no answer"))
		recorder->lost = recorder->samples;
	return 0;
}

static const struct sink_operations recorder_operations = {
	.sample = record_sample,
	.lost = record_loss,
};

/* A target without an agent: the test lets its READs land. */
struct fixture {
	struct dart_schema *schema;
	struct target_settings settings;
	struct summary summary;
	struct recorder recorder;
	struct decoder decoder;
};

static void fixture__open(struct fixture *fixture)
{
	*fixture = (struct fixture){
		.schema = schema_of(8, DART_CONTROL_FIELD_GAUGE),
		.recorder.sink.operations = &recorder_operations,
	};
	assert_int_equal(sem_init(&fixture->recorder.recorded, 0, 0), 0);
	fixture->decoder = (struct decoder){
		.workers = start(1),
		.sink = &fixture->recorder.sink,
		.settings = &fixture->settings,
		.summary = &fixture->summary,
	};
}

static void fixture__close(struct fixture *fixture)
{
	dart_schema__free(fixture->schema);
}

/* A scrape lands, and is handed over. */
static bool scrape(struct fixture *fixture, struct ring *ring, uint64_t sequence)
{
	return land(ring, sequence, &fixture->decoder);
}

static void test_ring(void **state)
{
	struct fixture fixture;
	struct gate gate;
	struct ring *ring;
	uint64_t sequence;

	fixture__open(&fixture);
	ring = ring_of(fixture.schema);
	gate__close(&gate, fixture.decoder.workers, 0);
	for (sequence = 1; sequence < RING_SLOTS; sequence++)
		assert_true(scrape(&fixture, ring, sequence));
	for (; sequence < 100; sequence++)
		assert_false(scrape(&fixture, ring, sequence));
	gate__open(&gate);
	workers__stop(fixture.decoder.workers);
	assert_int_equal(fixture.recorder.samples, RING_SLOTS - 1);
	assert_int_equal(fixture.recorder.next, RING_SLOTS);
	assert_int_equal(fixture.recorder.wrong, 0);
	ring__release(ring);
	fixture__close(&fixture);
}

static void test_stream(void **state)
{
	struct fixture fixture;
	uint64_t sequence;
	struct ring *ring;

	fixture__open(&fixture);
	ring = ring_of(fixture.schema);
	for (sequence = 1; sequence <= WORKS; sequence++) {
		/* Again, once a slot may be free. */
		while (!scrape(&fixture, ring, sequence))
			sem_wait(&fixture.recorder.recorded);
	}
	ring__release(ring);
	workers__stop(fixture.decoder.workers);
	assert_int_equal(fixture.recorder.wrong, 0);
	assert_int_equal(fixture.recorder.samples, WORKS);
	fixture__close(&fixture);
}

/* Pending work of a worker outlives the table, and is not overtaken. */
static void test_loss(void **state)
{
	struct fixture fixture;
	struct gate gate;
	struct ring *ring;

	fixture__open(&fixture);
	gate__close(&gate, fixture.decoder.workers, 0);
	ring = ring_of(fixture.schema);
	assert_true(scrape(&fixture, ring, 1));
	assert_true(scrape(&fixture, ring, 2));
	ring__release(ring);
	ring = ring_of(fixture.schema);
	assert_true(scrape(&fixture, ring, 3));
	ring__release(ring);
	assert_int_equal(decoder__lose(&fixture.decoder, "no answer"), 0);
	ring = ring_of(fixture.schema);
	assert_true(scrape(&fixture, ring, 4));
	ring__release(ring);
	gate__open(&gate);
	workers__stop(fixture.decoder.workers);
	assert_int_equal(fixture.recorder.samples, 4);
	assert_int_equal(fixture.recorder.wrong, 0);
	assert_int_equal(fixture.recorder.lost, 3);
	fixture__close(&fixture);
}

/* The program was frozen: scrapes landed, or land now, after the list of members ceased to count. */
static void test_validity(void **state)
{
	struct validity validity = {};
	struct fixture fixture;
	struct gate gate;
	struct ring *ring;

	fixture__open(&fixture);
	fixture.decoder.validity = &validity;
	validity__set(&validity, boottime_ns() + 3600000000000ULL);
	ring = ring_of(fixture.schema);
	assert_true(scrape(&fixture, ring, 1));
	gate__close(&gate, fixture.decoder.workers, 0);
	assert_true(scrape(&fixture, ring, 2));
	validity__set(&validity, boottime_ns());
	assert_int_equal(decoder__lose(&fixture.decoder, "no answer"), 0);
	gate__open(&gate);
	workers__stop(fixture.decoder.workers);
	assert_int_equal(fixture.recorder.samples, 1);
	assert_int_equal(fixture.recorder.lost, 0);
	ring__release(ring);
	fixture__close(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("the work of each place is done by one thread, in order, before the workers stop",
		     test_order),
		TEST("a full queue refuses work and loses none; what must not be lost goes beyond",
		     test_full),
		TEST("the memory of work that waits is asked for step by step before the work begins",
		     test_ahead),
		TEST("what is put quietly wakes whoever takes once, when it is due", test_quiet),
		TEST("the end of a batch wakes each worker that has work of it", test_batch),
		TEST("items of many threads arrive once, in the order of each, within the bound",
		     test_producers),
		TEST("a ring hands over all slots but one, and then drops what lands until one is free",
		     test_ring),
		TEST("each sample has the values of its own scrape, whatever lands meanwhile",
		     test_stream),
		TEST("scrapes of a table that was replaced or lost are decoded, in order with the loss",
		     test_loss),
		TEST("nothing is passed on that lands after the list of members ceased to be valid",
		     test_validity),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
