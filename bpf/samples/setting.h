/* SPDX-License-Identifier: GPL-2.0-only */
/* The settings that dartd passes to eBPF programs that take samples: see sample.h. */
#ifndef SAMPLE_SETTING_H
#define SAMPLE_SETTING_H

struct sample_setting {
	unsigned int page_shift;
};

#endif /* SAMPLE_SETTING_H */
