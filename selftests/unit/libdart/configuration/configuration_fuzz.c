// SPDX-License-Identifier: GPL-2.0-only
/* Damaged configuration files, under the sanitizers. */
#include "configuration_files.h"

#define ROUNDS 5000

static const char sample[] = "device: rxe0\n"
			     "listen: [10.0.0.1, \"fd00::1\"]\n"
			     "port: 4792\n"
			     "exposure: exact\n"
			     "allow:\n"
			     "  controllers: [10.0.0.0/8, 'fd00::/8']\n"
			     "  readers: [10.0.0.7]\n"
			     "limits: {controllers: 64, readers: 64, clients: 64}\n"
			     "sources:\n"
			     "  - cpustat\n"
			     "  - {source: snmp:tcp, netns: blue}\n"
			     "  - {source: snmp:tcp, follow: true}\n"
			     "  - {source: cgroup:cpu, cgroup: /system.slice, follow: true}\n"
			     "  - {source: disk:stats, disk: sda}\n"
			     "  - {source: netdev:stats, netdev: eth0, netns: a, path: /b}\n"
			     "maps:\n"
			     "  - {pinned: /sys/fs/bpf/requests, name: requests}\n"
			     "counters:\n"
			     "  - {name: drops, counters: [rx, tx]}\n"
			     "probes: [tcp, runqlat]\n"
			     "stores:\n"
			     "  - name: paths\n"
			     "    slots: 2^20\n"
			     "    value: 20\n"
			     "    checksum: 32\n"
			     "    redundancy: 2\n"
			     "    file: /dev/shm/paths\n"
			     "    reporters: [10.0.0.1, 10.0.0.2]\n";

/* Characters with a meaning in YAML, so that more of the mutations get far. */
static const char meaningful[] = "\n\n  :-[]{},'\"#&*!|>%@`0129ab/.^~\\\t\0\xff";

static size_t mutate(char *bytes, uint64_t *seed)
{
	size_t length = sizeof(sample) - 1, at, other, count;
	int changes;

	memcpy(bytes, sample, length);
	for (changes = random__below(seed, 5); changes; changes--) {
		at = random__below(seed, length);
		switch (random__below(seed, 5)) {
		case 0:
			bytes[at] ^= 1 << random__below(seed, 8);
			break;
		case 1:
			bytes[at] = meaningful[random__below(seed, sizeof(meaningful) - 1)];
			break;
		case 2:
			length = at + 1;
			break;
		case 3: /* some bytes are there twice */
			other = random__below(seed, length);
			count = random__below(seed, 64);
			if (at + count <= length && other + count <= length)
				memmove(bytes + at, bytes + other, count);
			break;
		default: /* a byte is missing */
			memmove(bytes + at, bytes + at + 1, length - at - 1);
			length -= length > 1;
		}
	}
	return length;
}

static void assert_refused_in_words(void)
{
	const char *at;

	/* Errors of opening name no line, but none occur here. */
	if (strncmp(error.text, "f.yaml:", 7) || error.text[7] < '1' || error.text[7] > '9')
		fail_msg("no line: %s", error.text);
	for (at = error.text; *at; at++)
		assert_in_range(*at, ' ', '~');
	assert_int_equal(configuration.item_count, 0);
	assert_null(configuration.items);
}

static void test_mutations(void **state)
{
	char bytes[sizeof(sample)];
	unsigned int round, taken = 0;
	uint64_t seed = 1;

	for (round = 0; round < ROUNDS; round++) {
		write_file("f.yaml", bytes, mutate(bytes, &seed));
		if (dart_configuration__load(&configuration, "f.yaml", &error))
			assert_refused_in_words();
		else
			taken++;
		dart_configuration__close(&configuration);
	}
	/* Neither all nor none: the mutations are neither too weak nor too strong. */
	assert_in_range(taken, ROUNDS / 10, ROUNDS * 9 / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_FIXTURE("5,000 damaged configurations are either read or refused with a line",
			     test_mutations, enter_directory, leave_directory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
