# SPDX-License-Identifier: GPL-2.0-only
# dartd: exposes the metrics of a host to controllers.
programs += dartd
dartd_sources := $(wildcard agent/*.c agent/*/*.c)
dartd_libraries := dart
dartd_packages := libsystemd jansson libibverbs librdmacm libbpf libxxhash gnutls
dartd_skeletons := biolat cgroupnet gather map_owner_watch oom_watch runqlat samples \
	tcp_traffic tcpconn trial

unit_connect_request_sources := agent/rdma/connect_request.c
unit_mirror_sources := agent/base/mirror.c agent/rdma/update.c
unit_coverage_sources := agent/base/coverage.c
unit_entry_name_sources := agent/base/entry_name.c
unit_question_sources := agent/gather/question.c
unit_gathering_turns_sources := $(wildcard $(addprefix agent/, \
	base/*.c region/*.c gather/*.c))
unit_gathering_turns_skeletons := $(dartd_skeletons)
unit_hung_drivers_sources := $(addprefix agent/, region/source.c \
	$(addprefix gather/, filesystem.c mount_tables.c netlink.c question.c rdma_ports.c))
unit_mount_tables_sources := agent/gather/mount_tables.c agent/region/mounts.c
unit_local_path_sources := agent/rdma/local_path.c agent/rdma/device.c agent/base/log.c
unit_extents_sources := $(wildcard $(addprefix agent/, base/*.c region/*.c)) \
	$(addprefix agent/gather/, extents.c record_pages.c slices.c)
unit_extents_skeletons := $(dartd_skeletons)
unit_links_sources := $(addprefix agent/gather/, links.c netlink.c question.c)
unit_slices_sources := $(addprefix agent/, base/entry_index.c gather/slices.c)
unit_schema_json_sources := agent/schema/schema_json.c
unit_settings_sources := agent/settings.c
unit_store_kept_sources := $(addprefix agent/, \
	base/fd_store.c base/log.c base/long_work.c base/rdma_base.c \
	rdma/kept_memory.c \
	rdma/remote_memory.c rdma/report_kept.c)
unit_epoch_folder_sources := agent/store/epoch_folder.c
unit_epoch_index_sources := $(addprefix agent/store/, epoch_folder.c epoch_index.c)
unit_epoch_memory_sources := agent/store/epoch_memory.c
unit_epoch_writer_sources := $(addprefix agent/store/, epoch_folder.c epoch_memory.c epoch_writer.c)
unit_long_work_sources := agent/base/long_work.c
unit_entry_batch_sources := agent/tea/entry_batch.c
unit_served_lookups_sources := $(addprefix agent/, base/long_work.c tea/entry_batch.c \
	tea/lookup_table.c tea/served_lookups.c)
unit_table_kept_sources := $(addprefix agent/, base/fd_store.c base/log.c base/long_work.c \
	rdma/kept_memory.c rdma/remote_memory.c tea/table_kept.c)
unit_table_epoch_sources := $(unit_table_kept_sources)
unit_source_schema_sources := $(addprefix agent/, \
	schema/source_schema.c schema/listed_names.c region/source.c \
	schema/btf_layout.c)
unit_record_layout_sources := agent/schema/record_layout.c
unit_btf_fields_sources := $(addprefix agent/, \
	base/log.c schema/btf_fields.c)
unit_torn_rows_sources := $(addprefix agent/, \
	base/log.c schema/btf_fields.c schema/record_layout.c)
unit_torn_rows_skeletons := cgroupnet tcpconn
unit_mounts_sources := agent/region/mounts.c
unit_host_sources := agent/base/host.c
unit_gathered_sums_sources := $(addprefix agent/gather/, \
	record.c record_pages.c shared_file.c)
unit_shared_file_sources := $(unit_gathered_sums_sources)
unit_registry_sources := $(wildcard $(addprefix agent/, \
	base/*.c region/*.c schema/*.c table/*.c))
unit_registry_skeletons := $(dartd_skeletons)
unit_registry_slices_skeletons := $(dartd_skeletons)
unit_registry_slices_sources := $(unit_registry_sources)
unit_registry_room_skeletons := $(dartd_skeletons)
unit_registry_room_sources := $(unit_registry_sources)
unit_registry_clients_skeletons := $(dartd_skeletons)
unit_registry_clients_sources := $(unit_registry_sources)
unit_registry_lingering_skeletons := $(dartd_skeletons)
unit_registry_lingering_sources := $(unit_registry_sources)
unit_client_kept_sources := agent/table/client_memory_kept.c $(addprefix agent/base/, \
	fd_store.c log.c rdma_base.c)
unit_listener_limits_sources := $(addprefix agent/, \
	base/crowd.c rdma/listener_limits.c)
unit_registration_socket_sources := $(wildcard agent/socket/*.c) \
	$(addprefix agent/base/, changes.c log.c lone_thread.c reply_text.c request.c)
unit_early_request_sources := $(unit_registration_socket_sources)
unit_passed_descriptors_sources := $(unit_registration_socket_sources)
unit_request_rate_sources := agent/socket/request_rate.c
unit_registrations_sources := $(wildcard $(addprefix agent/, \
	base/*.c region/*.c schema/*.c table/*.c socket/*.c registration/*.c))
unit_registrations_skeletons := $(dartd_skeletons)
unit_state_file_sources := agent/registration/state_file.c
unit_registration_sources := agent/registration/registration.c
unit_quota_sources := agent/table/quota.c
unit_source_plan_sources := agent/table/source_plan.c
unit_source_plan_requests_skeletons := $(dartd_skeletons)
unit_source_plan_requests_sources := $(unit_registry_sources)
unit_generations_sources := agent/table/generations.c
unit_row_copies_sources := $(addprefix agent/table/, \
	generations.c live.c values.c)
unit_handshake_rate_sources := agent/base/crowd.c
unit_crowd_sources := agent/base/crowd.c
unit_reply_text_sources := $(addprefix agent/base/, reply_text.c request.c)
unit_session_sources := $(addprefix agent/, base/log.c serve/session.c serve/snapshot.c \
	table/generations.c table/live.c table/values.c)
unit_session_follow_sources := $(unit_session_sources)
unit_session_lookups_sources := $(unit_session_sources)
unit_serve_tcp_sources := $(unit_session_sources) $(addprefix agent/, \
	base/changes.c base/crowd.c base/lease.c \
	base/request.c serve/tcp_listener.c serve/tcp_listener_limits.c \
	serve/tcp_listener_place.c serve/tcp_peer.c) \
	selftests/lib/tls_files.c
unit_serve_tcp_reload_sources := $(unit_serve_tcp_sources)
unit_serve_tcp_hostile_sources := $(unit_serve_tcp_sources)
unit_serve_tcp_uncertified_sources := $(unit_serve_tcp_sources)
application_process := $(addprefix agent/application/, \
	elf_image.c mapped.c proc_files.c process.c reader.c)
unit_application_reader_sources := $(application_process)
unit_application_strangers_sources := $(application_process) agent/application/layouts.c
unit_application_listening_sources := agent/application/listening.c
unit_application_candidates_sources := agent/application/candidates.c
unit_application_exec_watch_sources := agent/application/exec_watch.c
unit_application_looks_sources := agent/application/looks.c
unit_application_host_process_sources := agent/application/host_process.c
unit_application_turns_sources := agent/application/turns.c
unit_application_plan_sources := $(application_process) $(addprefix agent/, application/plan.c \
	gather/record.c gather/record_pages.c gather/shared_file.c schema/record_layout.c)
unit_application_mapped_sources := $(application_process)
unit_application_examination_sources := $(application_process) agent/base/lone_thread.c \
	$(addprefix agent/application/, examination.c examination_queue.c examination_read.c finding.c \
	host_process.c)
threaded_tests += application_examination epoch_writer
helpers/application_values_sources := $(application_process) $(wildcard \
	tools/controller/metrics/*/*.c tools/controller/relabel/*.c tools/controller/relabel/*.cc) \
	$(addprefix tools/controller/, base/arena.c base/number_text.c settings/labels.c)
