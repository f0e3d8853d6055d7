# SPDX-License-Identifier: GPL-2.0-only
#
# The goals that run tests.  Each installs the packages that it needs, and builds what is tested
# with a second make: these goals work before ./configure has run.

# Directories of selftests that only run by name, in the same way.
checks_by_name := $(addprefix check-, long churn packaged crashes dart farm power refusals)
checks := check check-p4 check-relabel check-debug check-deb check-documented check-kernels \
	check-siw $(checks_by_name) check-receivers check-fleet check-controllers check-threads \
	check-page fuzz

$(checks): sections := build run test
check-debug: sections += debug
check-deb: sections += deb repository
check-long: sections += interop
check-threads: sections += threads
check-page: sections := build run page
fuzz: sections += fuzz

# The tests of the P4 program run if its compiler is installed.  For another architecture, only
# the tests of its guests that need no more than its root.
ifeq ($(foreign),)
check: packages
	+$(quiet)$(build) KDIR= guest tests \
		$(if $(shell command -v p4c-bm2-ss),p4)
	$(quiet)selftests/run $(TESTS)
else
check: packages
	+$(quiet)$(build) KDIR= guest tests_of_guests
	$(quiet)selftests/run $(or $(TESTS),module agent pair)
endif

# Only the module is built again: everything else is shared with make check. Of the
# agent's tests only those that test the kernel and start few programs: such a
# kernel takes seconds to start one. Two storms with different seeds, because a
# virtual machine uses one processor; the longest tests come first.
debug_tests := rounds slices probes drops rows_come_free oom_events
check-debug: packages
	+$(quiet)start=$$(date +%s) && \
	$(build) KDIR= guest tests && \
	selftests/qemu/kernel $(KVER)-debug > /dev/null && \
	$(build) KDIR= KVER=$(KVER)-debug module_of_guest && \
	built=$$(date +%s) && status=0 && \
	{ KVER=$(KVER)-debug selftests/run \
		$(or $(TESTS),storm storm $(debug_tests:%=agent/%) module debug churn) || \
		status=$$?; } && \
	echo "built in $$((built - start)) s," \
		"tested in $$(($$(date +%s) - built)) s" && exit $$status

# Everything but the module is built once for all kernels.  Kernels before 6.2 take no module.  A
# kernel that fails does not keep the next, or the table, from running.
kernels := 6.12 7.2
kernels_before := 6.1
kernel_tests := families samples samples_cgroup samples_host rows_come_free
program_tests := families gather_host gather_samples gather_cgroups gather_namespaces gather_disks \
	pod reporter reporter_frames appender_frames translator_frames merger
check-kernels: packages
	+$(quiet)$(build) KDIR= guest tests && failed= || exit; \
	for kernel in $(kernels); do \
		$(build) KDIR= KVER=$$kernel module_of_guest || exit; \
	done; \
	for kernel in $(kernels); do \
		KVER=$$kernel selftests/run $(or $(TESTS),$(kernel_tests:%=agent/%)) || \
			failed="$$failed $$kernel/module"; \
	done; \
	for kernel in $(kernels_before) $(kernels); do \
		GATHERER=programs KVER=$$kernel selftests/run \
			$(or $(TESTS),$(program_tests:%=agent/%) refusals) || \
			failed="$$failed $$kernel/programs"; \
	done; \
	$(if $(TESTS),,selftests/sources_table $(kernels_before:%=%/programs) \
		$(foreach kernel,$(kernels),$(kernel)/module $(kernel)/programs) || \
		failed="$$failed sources_table";) \
	[ -z "$$failed" ] || { echo "make: failed:$$failed" >&2; exit 1; }

$(checks_by_name): check-%: packages
	+$(quiet)$(build) KDIR= guest tests
	$(quiet)selftests/run $*

# Only the kernel's RDMA modules differ from those of make check.
check-siw: packages
	+$(quiet)$(build) KDIR= guest tests
	$(quiet)selftests/qemu/siw $(KVER) > /dev/null
	$(quiet)selftests/run siw

check-documented: packages
	+$(quiet)$(build) KDIR= guest tests
	$(quiet)selftests/run unit/documented long/commands

# It needs one receiver at least; none is installed here, because their services start.
check-receivers: packages
	+$(quiet)$(build) KDIR= guest tests
	$(quiet)PROMETHEUS3=$(PROMETHEUS3) selftests/run receivers

# Here, without virtual machines; it needs one receiver at least, too.
check-fleet: packages
	+$(quiet)$(build) KDIR= programs \
		$(output)/selftests/helpers/fleet_hosts $(output)/selftests/helpers/tls_files
	$(quiet)PROMETHEUS3=$(PROMETHEUS3) selftests/run fleet

# Here, too; it needs the package prometheus, and compares with victoria-metrics if that is there:
# neither is installed for the same reason.  First, without the time limit of selftests/run, more
# schedules in virtual time than make check runs; last, one schedule with as many hosts as long/farm.
# Takeover times are printed as they come.
check-controllers: packages
	+$(quiet)$(build) KDIR= programs $(output)/unit/controller_membership \
		$(output)/unit/members_schedules \
		$(output)/selftests/helpers/fleet_hosts $(output)/selftests/helpers/tls_files
	$(quiet)DART_SCHEDULES=$(or $(DART_VIRTUAL_SCHEDULES),10000) \
		$(output)/unit/controller_membership
	$(quiet)DART_SCHEDULES=$(or $(DART_VIRTUAL_SCHEDULES),10000) \
		$(output)/unit/members_schedules
	$(quiet)selftests/controllers/controllers.py
	$(quiet)DART_SCHEDULES=1 DART_TARGETS=1024 DART_INTERVAL_MS=1000 \
		selftests/controllers/controllers.py

# With more forged responses than make check sends, and with packets that a switch counts in a ledger
# and appends to a journal of a machine, and postcards and strips that it gathers for one.
check-p4: packages p4_is_there
	+$(quiet)$(build) KDIR= guest tests p4
	$(quiet)DART_FORGED=$(or $(DART_FORGED),100000) \
		DART_SWITCH_AMOUNTS=$(or $(DART_SWITCH_AMOUNTS),10000) \
		DART_SWITCH_ENTRIES=$(or $(DART_SWITCH_ENTRIES),10000) \
		DART_SWITCH_POSTCARDS=$(or $(DART_SWITCH_POSTCARDS),10000) \
		DART_SWITCH_COUNTS=$(or $(DART_SWITCH_COUNTS),10000) selftests/run p4

# It needs the package prometheus.
check-relabel: packages
	+$(quiet)$(MAKE) --no-print-directory KDIR= $(output)/selftests/helpers/relabel_series
	$(quiet)selftests/relabel/compare.py 500 1000

check-threads: packages
	+$(quiet)$(build) KDIR= thread_tests
	$(quiet)selftests/threads/run

check-page: packages
	+$(quiet)$(build) KDIR= $(output)/bin/web_hosts $(output)/share/dart/schemas
	$(quiet)selftests/page/check $(PICTURES)

fuzz: packages
	+$(quiet)$(build) KDIR= run_fuzzers

check-deb: packages
	+$(quiet)$(MAKE) --no-print-directory KDIR= guest packages_build packages_before
	$(quiet)selftests/run packages

.PHONY: $(checks)
