// SPDX-License-Identifier: GPL-2.0-only
/* The switch is asked which flows are in use. */
#include "flows_internal.h"
#include "tools/flows/packet/question.h"

/* A flow has two entries. */
_Static_assert(FUNCTION_QUESTION_FLOWS *FLOW_DIRECTIONS == DART_TEA_USE_KEYS, "all flows");

void flows__ask(void *subject, uint32_t number, struct flow *const *asked, unsigned int count)
{
	uint8_t key[FLOW_KEY_MAX], value[FLOW_VALUE_MAX];
	struct flows *flows = subject;
	struct question_frame frame;
	const struct packet packet = { .frame = frame.bytes, .length = sizeof(frame.bytes) };
	enum flow_direction direction;
	uint8_t mac[6];
	unsigned int i;

	port__mac(flows->questions, mac);
	question__begin(&frame, mac, number);
	for (i = 0; i < count; i++)
		for (direction = 0; direction < FLOW_DIRECTIONS; direction++) {
			function__entry(flows->function, asked[i], direction, key, value);
			question__put_key(&frame, i * FLOW_DIRECTIONS + direction, key,
					  function__key_length(flows->function));
		}
	/* One that is not sent has no answer. */
	port__send(flows->questions, &packet, 1);
}

static void take_answer(struct flows *flows, const struct port_frame *frame, uint64_t now)
{
	uint64_t idle[DART_TEA_USE_KEYS], flow_idle[FUNCTION_QUESTION_FLOWS];
	uint32_t number;
	unsigned int i;

	/* The switch passes frames with tags on as they are. */
	if (frame->is_tagged || frame->is_for_many ||
	    !question__read_answer(frame->bytes, frame->length, &number, idle))
		return;
	for (i = 0; i < FUNCTION_QUESTION_FLOWS; i++)
		flow_idle[i] = idle[2 * i] < idle[2 * i + 1] ? idle[2 * i] : idle[2 * i + 1];
	function__answered(flows->function, number, flow_idle, now);
}

static int on_answers(sd_event_source *source, int fd, uint32_t events, void *data)
{
	struct port_frame frames[PORT_FRAMES];
	struct flows *flows = data;
	int received, i;

	received = port__receive(flows->questions, frames);
	for (i = 0; i < received; i++)
		take_answer(flows, &frames[i], flows__now_ns());
	return 0;
}

int flows__open_questions(struct flows *flows, struct dart_error *error)
{
	static const uint16_t types[PORT_TYPES] = { DART_TEA_USE_ETHERTYPE };
	int ret;

	if (function__is_permanent(flows->function))
		return 0;
	ret = port__open(flows->policy->interface, types, false, &flows->questions, error);
	if (ret)
		return ret;
	ret = sd_event_add_io(flows->event, &flows->answers_source, port__fd(flows->questions),
			      EPOLLIN, on_answers, flows);
	return ret < 0 ? dart_error__system(error, -ret, "cannot set up the event loop") : 0;
}
