"""What must be true in the database at every moment, whatever was cut off: read beside the server, or
when it is dead. The same that sim/invariants.cc asks of the simulation.
"""
import contextlib
import sqlite3

MOVING = ("creating", "starting", "stopping", "releasing")

# Each lists what breaks the rule.
RULES = {
    "a card has one active owner":
        "select card_uuid from allocations where released_at is null group by 1 having count(*) > 1",
    "only a run holds cards":
        "select a.card_uuid, i.id, i.observed from allocations a join instances i on i.id = a.instance_id"
        " where a.released_at is null and (i.run_id is null or i.observed = 'purged')",
    "a run holds the cards of its shape":
        "select i.id, i.observed, i.gpu_count, count(a.id) from instances i"
        " left join allocations a on a.instance_id = i.id and a.released_at is null"
        " where i.run_id is not null group by i.id"
        " having count(a.id) <> case i.mode when 'no_gpu' then 0 else i.gpu_count end",
    "an instance has its three claims until it is purged":
        "select i.id, i.observed, count(c.number) from instances i left join claims c on c.instance_id = i.id"
        " group by i.id having count(c.number) <> case i.observed when 'purged' then 0 else 3 end",
    "what moves has its operation":
        f"select id, observed from instances where observed in {MOVING} and not exists (select 1 from operations"
        " where instance_id = instances.id and state = 'pending')",
    "an instance has one pending operation":
        "select instance_id from operations where state = 'pending' group by 1 having count(*) > 1",
    "postings sum to zero":
        "select transaction_id, sum(amount) from postings group by 1 having sum(amount) <> 0",
    "cached balances are the sums of their postings":
        "select b.ledger_account, b.balance, coalesce(sum(p.amount), 0) from ledger_balances b left join postings p"
        " on p.ledger_account = b.ledger_account group by 1 having coalesce(sum(p.amount), 0) <> b.balance",
    "wallets and holds are never negative":
        "select * from ledger_balances where balance < 0 and (ledger_account like 'wallet:%'"
        " or ledger_account like 'hold:%')",
    "a hold belongs to a start":
        "select id, observed, held from instances where held <> 0 and observed not in ('creating', 'starting')",
    "what is posted for a segment is what it says":
        "select s.id, s.posted, coalesce(sum(p.amount), 0) from segments s left join postings p"
        " on p.segment_id = s.id and p.ledger_account like 'revenue:%'"
        " group by s.id having coalesce(sum(p.amount), 0) <> s.posted",
    "what runs in reach is metered once, and nothing else is":
        "select i.id, i.observed, count(s.id) from instances i"
        " left join segments s on s.instance_id = i.id and s.closed_at is null"
        " group by i.id having count(s.id) <> (i.observed = 'running' and i.reachable)",
    "nothing is metered before ready":
        "select id, instance_id from segments where meter <> 'minimum' and open_cause = 'ready' and not exists"
        " (select 1 from events e where e.instance_id = segments.instance_id and e.kind = 'instance.running'"
        " and e.at = segments.opened_at)",
    "nothing is metered after stop was asked":
        "select s.id, s.instance_id from segments s where s.meter <> 'minimum' and exists"
        " (select 1 from events e where e.instance_id = s.instance_id and e.at > s.opened_at"
        " and e.kind in ('instance.stopping', 'instance.releasing', 'instance.stopped', 'instance.in_bin',"
        " 'instance.starting') and (s.closed_at is null or e.at < s.closed_at))",
}


def broken(path):
    """Every rule that does not hold, with the rows."""
    with contextlib.closing(sqlite3.connect(path, timeout=10)) as rows:
        found = {rule: rows.execute(sql).fetchall() for rule, sql in RULES.items()}
    return {rule: bad for rule, bad in found.items() if bad}


def change(path, sql):
    """For what only a rare moment would bring; while the server is dead."""
    with contextlib.closing(sqlite3.connect(path, timeout=10)) as rows:
        rows.execute(sql)
        rows.commit()
