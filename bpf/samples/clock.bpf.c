// SPDX-License-Identifier: GPL-2.0-only
/* Samples the clock of the host, as adjtimex(2) shows it. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "sample.h"

/* Addresses. */
static __u64 status;
static __u64 offset;
static __u64 maxerror;
static __u64 esterror;
static __u64 frequency;
static __u64 tick_length;
static __u64 time_constant;
static __u64 tick;
/* For a pulse per second (PPS); 0 if the kernel lacks it. */
static __u64 pps_frequency;
static __u64 pps_jitter;
static __u64 pps_stability;
static __u64 pps_shift;
static __u64 pps_jitter_count;
static __u64 pps_calibrations;
static __u64 pps_errors;
static __u64 pps_stability_exceeded;

/* Since Linux 6.13 the variables are members of a struct. */
struct ntp_data___struct {
	__u64 tick_length;
	int time_status;
	__s64 time_offset;
	long time_maxerror;
	long time_esterror;
	__s64 time_freq;
	long time_constant;
	unsigned long tick_usec;
	long pps_jitter;
	int pps_shift;
	__s64 pps_freq;
	long pps_stabil;
	long pps_calcnt;
	long pps_jitcnt;
	long pps_stbcnt;
	long pps_errcnt;
};

#define NTP_PLACE(member) (ntp + bpf_core_field_offset(struct ntp_data___struct, member))
#define PPS_PLACE(member) \
	(bpf_core_field_exists(struct ntp_data___struct, member) ? NTP_PLACE(member) : 0)

static __always_inline void place_pps(__u64 ntp)
{
	pps_frequency = PPS_PLACE(pps_freq);
	pps_jitter = PPS_PLACE(pps_jitter);
	pps_stability = PPS_PLACE(pps_stabil);
	pps_shift = PPS_PLACE(pps_shift);
	pps_jitter_count = PPS_PLACE(pps_jitcnt);
	pps_calibrations = PPS_PLACE(pps_calcnt);
	pps_errors = PPS_PLACE(pps_errcnt);
	pps_stability_exceeded = PPS_PLACE(pps_stbcnt);
}

/* If a name is not found, its address remains 0, where nothing can be read. */
static __always_inline void find_pps(void)
{
	FIND(pps_frequency, "pps_freq");
	FIND(pps_jitter, "pps_jitter");
	FIND(pps_stability, "pps_stabil");
	FIND(pps_shift, "pps_shift");
	FIND(pps_jitter_count, "pps_jitcnt");
	FIND(pps_calibrations, "pps_calcnt");
	FIND(pps_errors, "pps_errcnt");
	FIND(pps_stability_exceeded, "pps_stbcnt");
}

static __always_inline int find_clock_variables(void)
{
	find_pps();
	return FIND(status, "time_status")		    ?:
		       FIND(offset, "time_offset")	    ?:
		       FIND(maxerror, "time_maxerror")	    ?:
		       FIND(esterror, "time_esterror")	    ?:
		       FIND(frequency, "time_freq")	    ?:
		       FIND(tick_length, "tick_length")	    ?:
		       FIND(time_constant, "time_constant") ?:
							      FIND(tick, "tick_usec");
}

SEC("syscall")
int find_variables(const struct sample_setting *setting)
{
	__u64 ntp;
	int ret;

	if (!bpf_core_type_exists(struct ntp_data___struct))
		return find_clock_variables();
	ret = FIND(ntp, "tk_ntp_data");
	if (ret)
		return ret;
	status = NTP_PLACE(time_status);
	offset = NTP_PLACE(time_offset);
	maxerror = NTP_PLACE(time_maxerror);
	esterror = NTP_PLACE(time_esterror);
	frequency = NTP_PLACE(time_freq);
	tick_length = NTP_PLACE(tick_length);
	time_constant = NTP_PLACE(time_constant);
	tick = NTP_PLACE(tick_usec);
	place_pps(ntp);
	return 0;
}

/* Like shift_right() of kernel/time/ntp.c, by NTP_SCALE_SHIFT. */
static __always_inline __s64 unscale(__s64 value)
{
	return value < 0 ? -(-value >> 32) : value >> 32;
}

#define NANOSECONDS 1000000000ULL
#define SCALED_SECOND (NANOSECONDS << 32)
#define PPM_SCALE_INV_SHIFT 19
#define PPM_SCALE_INV 34359739LL

/* In 1/65536 ppm. */
static __always_inline __s64 frequency_at(__u64 address)
{
	return unscale((READ(__s64, address) >> PPM_SCALE_INV_SHIFT) * PPM_SCALE_INV);
}

/* Like __do_adjtimex().  No variable tells HZ, but the length of a tick does. */
static __always_inline enum dart_zero_sample_answer take_clock(struct dart_zero_clock *values)
{
	const __u64 length = READ(__u64, tick_length);

	if (!length)
		return DART_ZERO_ANSWER_NONE;
	*values = (struct dart_zero_clock){
		.status = READ(__u32, status),
		.offset = unscale(READ(__s64, offset) * ((SCALED_SECOND + length / 2) / length)),
		.maxerror = READ(__s64, maxerror) * 1000,
		.esterror = READ(__s64, esterror) * 1000,
		.frequency = frequency_at(frequency),
		/* The module, or dartd, sets it. */
		.tai = values->tai,
		.pps_frequency = frequency_at(pps_frequency),
		.pps_jitter = READ(long, pps_jitter),
		.pps_stability = READ(long, pps_stability),
		.pps_shift = READ(__u32, pps_shift),
		.pps_jitter_count = READ(long, pps_jitter_count),
		.pps_calibrations = READ(long, pps_calibrations),
		.pps_errors = READ(long, pps_errors),
		.pps_stability_exceeded = READ(long, pps_stability_exceeded),
		.time_constant = READ(long, time_constant),
		.tick = READ(unsigned long, tick),
	};
	return DART_ZERO_ANSWER_VALUES;
}

HOST_SAMPLE(DART_ZERO_SOURCE_CLOCK, clock)

char LICENSE[] SEC("license") = "GPL";
