-- What a small deployment had: an operator, a renter with one instance that runs, one that is
-- stopped and one that is gone. Statements end with ; at the end of a line.
INSERT INTO accounts (id, login, password_hash, role, state, created_at, next_settlement_at, version)
 VALUES ('aoperator00001', 'operator', 'x', 'admin', 'active', 1764547200000, NULL, 0),
        ('arenter0000001', 'renter1', 'x', 'renter', 'active', 1764547200000, 1764554400000, 3);
INSERT INTO tokens (id, account_id, kind, instance_id, name, secret_hash, scopes, created_at, expires_at)
 VALUES ('tsession000001', 'arenter0000001', 'session', NULL, 'laptop', 'hash', 'read instances money', 1764547200000, 1767139200000),
        ('tinstance00001', 'arenter0000001', 'instance', 'irunning000001', 'irunning000001', 'hash', '', 1764547200000, NULL);
INSERT INTO ssh_keys (id, account_id, name, public_key, fingerprint, created_at)
 VALUES ('kkey0000000001', 'arenter0000001', 'laptop', 'ssh-ed25519 AAAA renter1', 'SHA256:abc', 1764547200000);
INSERT INTO invitations (id, code_hash, created_by, created_at, expires_at, used_by)
 VALUES ('ninvitation001', 'hash', 'aoperator00001', 1764547200000, 1765756800000, 'arenter0000001');
INSERT INTO hosts (id, name, cpu_total, memory_bytes, pool_total_bytes, pool_used_bytes, driver_version, cuda_version, last_seen_at, reachable)
 VALUES ('hhost000000001', 'box', 64, 274877906944, 4398046511104, 1073741824, '550.54.14', '12.4', 1764550800000, 1);
INSERT INTO cards (uuid, host_id, model, driver_name, pci_address, card_index, vram_bytes, numa_node, simulated, present, fault)
 VALUES ('GPU-00000001', 'hhost000000001', 'rtx-4090', 'NVIDIA GeForce RTX 4090', '0000:01:00.0', 0, 25757220864, 0, 0, 1, ''),
        ('GPU-00000002', 'hhost000000001', 'rtx-4090', 'NVIDIA GeForce RTX 4090', '0000:02:00.0', 1, 25757220864, NULL, 0, 1, '');
INSERT INTO prices (model, mode, per_hour) VALUES ('rtx-4090', 'on_demand', 1980000), ('', 'no_gpu', 100000);
INSERT INTO instances (id, account_id, name, image, purpose, host_id, desired, observed, reachable, mode, gpu_model, gpu_count, millicores, memory_bytes, system_disk_bytes, data_disk_bytes, nesting, ssh_port, ipv4, idmap_base, host_key_fingerprint, secrets_sealed, run_id, rate_per_hour, held, engine_run, ready_at, notice_reason, notice_deadline, guest_current, fault_code, fault_what_en, fault_what_zh, fault_next_en, fault_next_zh, created_at, stopped_at, bin_until, version)
 VALUES ('irunning000001', 'arenter0000001', 'box', 'base', '', 'hhost000000001', 'running', 'running', 1, 'on_demand', 'rtx-4090', 1, 31000, 133143986176, 32212254720, 53687091200, 0, 22000, '10.177.1.0', 1065536, 'SHA256:abc', 'sealed', 'rrun0000000002', 1980000, 0, '2025-12-01T00:00:03Z', 1764547203000, '', NULL, 1, '', '', '', '', '', 1764547200000, NULL, NULL, 5),
        ('istopped000001', 'arenter0000001', '盒子', 'base', 'a test', 'hhost000000001', 'stopped', 'stopped', 1, 'no_gpu', '', 0, 500, 2147483648, 32212254720, 53687091200, 1, 22001, '10.177.1.1', 1131072, 'SHA256:abd', 'sealed', NULL, 100000, 0, '', NULL, '', NULL, 0, 'arrears', 'the balance reached zero', '余额已用完', 'top up', '请充值', 1764547200000, 1764550800000, NULL, 9),
        ('ipurged0000001', 'arenter0000001', 'old', 'base', '', 'hhost000000001', 'purged', 'purged', 1, 'no_gpu', '', 0, 500, 2147483648, 32212254720, 0, 0, 22002, '10.177.1.2', 1196608, '', '', NULL, 100000, 0, '', NULL, '', NULL, 1, '', '', '', '', '', 1764540000000, 1764543600000, NULL, 12);
INSERT INTO operations (id, instance_id, kind, step, state, attempt, created_at, not_before, deadline, lock_token, lock_expires_at, last_error)
 VALUES ('ooperation0001', 'irunning000001', 'start', 'verify', 'done', 0, 1764547200000, 1764547203000, NULL, '', NULL, ''),
        ('ooperation0002', 'irunning000001', 'refresh', 'deliver', 'pending', 2, 1764550000000, 1764550800000, NULL, 'lsomebody', 1764551400000, 'no answer');
INSERT INTO allocations (id, card_uuid, instance_id, granted_at, released_at)
 VALUES ('lallocation001', 'GPU-00000001', 'irunning000001', 1764547200000, NULL),
        ('lallocation002', 'GPU-00000002', 'irunning000001', 1764540000000, 1764543600000);
INSERT INTO claims (host_id, kind, number, instance_id)
 VALUES ('hhost000000001', 'ssh_port', 22000, 'irunning000001'), ('hhost000000001', 'ipv4', 256, 'irunning000001'), ('hhost000000001', 'idmap', 1, 'irunning000001'),
        ('hhost000000001', 'ssh_port', 22001, 'istopped000001'), ('hhost000000001', 'ipv4', 257, 'istopped000001'), ('hhost000000001', 'idmap', 2, 'istopped000001');
INSERT INTO ledger_transactions (id, kind, account_id, at, actor, note, instance_id, corrects)
 VALUES ('xtopup00000001', 'topup', 'arenter0000001', 1764547200000, 'operator', 'receipt 17', NULL, NULL),
        ('xusage00000001', 'usage', 'arenter0000001', 1764550803000, 'system:settle', 'usage', NULL, NULL);
INSERT INTO postings (transaction_id, position, ledger_account, amount, segment_id)
 VALUES ('xtopup00000001', 0, 'clearing', -100000000, NULL), ('xtopup00000001', 1, 'wallet:arenter0000001', 100000000, NULL),
        ('xusage00000001', 0, 'revenue:on_demand', 1980000, 'ssegment000001'), ('xusage00000001', 1, 'wallet:arenter0000001', -1980000, NULL);
INSERT INTO ledger_balances (ledger_account, balance)
 VALUES ('clearing', -100000000), ('wallet:arenter0000001', 98020000), ('revenue:on_demand', 1980000);
INSERT INTO segments (id, account_id, instance_id, run_id, meter, quantity, rate_per_hour, unit, carried, opened_at, closed_at, open_cause, close_cause, posted, booked_until, gpu_model, card_uuids)
 VALUES ('ssegment000001', 'arenter0000001', 'irunning000001', 'rrun0000000002', 'on_demand', 1, 1980000, 1000, 0, 1764547203000, NULL, 'ready', NULL, 1980000, 1764550803000, 'rtx-4090', 'GPU-00000001');
INSERT INTO events (seq, at, account_id, instance_id, kind, actor, reason, detail)
 VALUES (1, 1764547200000, 'arenter0000001', 'irunning000001', 'instance.creating', 'renter1', 'renter', 'mode=on_demand'),
        (2, 1764547203000, 'arenter0000001', 'irunning000001', 'instance.running', 'system:operations', 'ready', '');
INSERT INTO idempotent_answers (account, idempotency_key, body_hash, result, at)
 VALUES ('arenter0000001', 'key', 'hash', 'irunning000001', 1764547200000);
INSERT INTO settings (name, value) VALUES ('deployment', 'local');
INSERT INTO adoptions (instance_id, kind, engine_account, generation, found_at)
 VALUES ('istopped000001', 'instance', 'anobody0000001', 4, 1764550800000);
INSERT INTO restores (restored_at, file, rested_at, reconciled_at)
 VALUES (1764550000000, 'cardhour-20251201T000000Z.db', 1764550001000, NULL);
INSERT INTO host_models (host_id, model, cards_present, cards_free, host_cards, host_busy)
 VALUES ('hhost000000001', 'rtx-4090', 2, 1, 2, 1);
INSERT INTO card_conditions (card_uuid, kind, reason, note, actor, since)
 VALUES ('GPU-00000001', 'excluded', 'operator', '风扇', 'operator', 1764550800000);
INSERT INTO card_xids (card_uuid, code, count, first_at, last_at)
 VALUES ('GPU-00000001', 31, 2, 1764547300000, 1764550800000);
INSERT INTO idle_rules (instance_id, action, after, hold_until, warned_at, deadline, then_no_gpu)
 VALUES ('irunning000001', 'stop', 1800000, NULL, NULL, NULL, 0);
