"""Recomputes a paired difference from trials.parquet: recompute.py FILE TREATMENT CONTROL.

Shares nothing with the Go code: DuckDB reads the file and pairs the trials,
the formulas are those of CR2 with Satterthwaite degrees of freedom for a mean.
"""

import json
import math
import sys

import duckdb

path, treatment, control = sys.argv[1:]
rows = duckdb.execute(
    """
    select t."group", count(*) n,
           sum((t.passed and not c.passed)::int) b, sum((c.passed and not t.passed)::int) c
    from read_parquet(?) t join read_parquet(?) c
      on t.task = c.task and t.replicate = c.replicate and t.fork_id = c.fork_id
    where t.arm = ? and c.arm = ? and t.passed is not null and c.passed is not null
    group by 1
    """,
    [path, path, treatment, control],
).fetchall()
total = sum(n for _, n, _, _ in rows)
delta = sum(b - c for _, _, b, c in rows) / total
se = math.sqrt(sum((b - c - n * delta) ** 2 / (1 - n / total) for _, n, b, c in rows)) / total
s1 = sum(n**2 / (total - n) ** 2 for _, n, _, _ in rows)
s2 = sum(n**3 / (total - n) ** 2 for _, n, _, _ in rows)
s3 = sum(n**2 / (total - n) for _, n, _, _ in rows)
json.dump(
    {
        "Delta": delta,
        "SE": se,
        "DF": total**2 / (total**2 * s1 - 2 * total * s2 + s3**2),
        "B": sum(b for _, _, b, _ in rows),
        "C": sum(c for _, _, _, c in rows),
        "Tasks": len(rows),
        "N": total,
    },
    sys.stdout,
)
