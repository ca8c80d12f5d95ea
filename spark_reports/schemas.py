"""The explicit Spark schemas: result events as they come in, facts as they are stored, runs as they are remembered.

`EVENT` is the union of the three event types of `harness.judging.result`, version 1: the same columns whether a run is NDJSON or
Parquet. A selftest holds it against the msgspec types, so that a field added there cannot be forgotten here.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

from harness.judging.result import BAD, SCHEMA, Verdict

#: Version of the stored tables: a change of meaning gets a new folder, and the streams are ingested anew.
TABLES_VERSION = 4

VERDICTS = tuple(str(verdict) for verdict in Verdict)
#: The target's own failures. `error` is the harness's fault and therefore no evidence about a target.
BLAMED = tuple(sorted(str(verdict) for verdict in BAD - {Verdict.ERROR}))
#: Verdicts that say nothing about the target either way.
SILENT = (str(Verdict.ERROR), str(Verdict.UNSUPPORTED))
#: Runs whose results describe targets; the failures of mutants are wanted and replays repeat old cases.
STATUS_KINDS = ("check", "matrix")
KNOWN_SCHEMA = SCHEMA


def _struct(**fields: T.DataType) -> T.StructType:
    return T.StructType([T.StructField(name, kind) for name, kind in fields.items()])


TEXT, WHOLE, REAL = T.StringType(), T.LongType(), T.DoubleType()
TEXTS = T.ArrayType(TEXT)

TIMELINE_ENTRY = _struct(t=REAL, sender=TEXT, receiver=TEXT, kind=TEXT, text=TEXT, raw=TEXT, size=WHOLE)
TARGET_INFO = _struct(name=TEXT, version=TEXT, language=TEXT, homepage=TEXT, reach=TEXT)
FAILURE = _struct(message=TEXT, clause=TEXT, reading=TEXT, expected=TEXT, observed=TEXT)

CASE = _struct(
    run_id=TEXT,
    case=TEXT,
    protocol=TEXT,
    role=TEXT,
    group=TEXT,
    verdict=TEXT,
    target=TEXT,
    requirements=TEXTS,
    axes=T.MapType(TEXT, TEXT),
    reach=TEXT,
    target_version=TEXT,
    peer=TEXT,
    peer_version=TEXT,
    scenario=TEXT,
    fault_profile=TEXT,
    repetition=WHOLE,
    expected=TEXT,
    failure=FAILURE,
    note=TEXT,
    timeline=T.ArrayType(TIMELINE_ENTRY),
    measures=T.MapType(TEXT, REAL),
    seed=WHOLE,
    example=TEXT,
    started_at=TEXT,
    duration_s=REAL,
    worker=TEXT,
    replay=TEXT,
    culprit=TEXT,
    reading_along=TEXT,
    schema=WHOLE,
)
HEADER = _struct(
    run_id=TEXT,
    started_at=TEXT,
    kind=TEXT,
    seed=WHOLE,
    targets=T.ArrayType(TARGET_INFO),
    protocols=TEXTS,
    planned=WHOLE,
    command=TEXT,
    harness_version=TEXT,
    commit=TEXT,
    python=TEXT,
    platform=TEXT,
    schema=WHOLE,
)
FOOTER = _struct(
    run_id=TEXT,
    finished_at=TEXT,
    duration_s=REAL,
    counts=T.MapType(TEXT, WHOLE),
    exit_code=WHOLE,
    stale=TEXTS,
    unseen=TEXTS,
    interrupted=T.BooleanType(),
    measures=T.MapType(TEXT, REAL),
    schema=WHOLE,
)


def _union(*parts: T.StructType) -> T.StructType:
    merged = {field.name: field for part in parts for field in part.fields}
    return T.StructType(list(merged.values()))


EVENT = _union(_struct(type=TEXT), CASE, HEADER, FOOTER)

#: Case columns without which a line is no case; the others have defaults.
REQUIRED = ("run_id", "case", "protocol", "role", "group", "verdict", "target", "requirements")

EVIDENT = ("failure", "note", "timeline", "seed", "example", "replay", "culprit", "reading_along")
#: Shown of a case that did not pass, and most of a stream's bytes; of a passing case it is not kept.
EVIDENCE = T.StructType([CASE[name] for name in EVIDENT])
#: What all results of two implementations share in a run, and what all results of a case do: stored as one text each.
PAIR = ("protocol", "target", "target_version", "peer", "peer_version")
ABOUT = ("case", "role", "group", "reach", "scenario", "fault_profile", "expected")
#: What is stored per case: all of it that a table reads, and what the history asks of every one of ten million, answered once.
#: Its cell and run are numbers, its evidence JSON, and `about` ends with its requirements: writing and grouping cost as much
#: for a column that is empty or repeats another as for one that says something. `reason` is why a line is in quarantine, null
#: for a good one, and `line` that line; it has neither verdict nor pair.
FACT = _struct(
    cell=WHOLE,
    run=WHOLE,
    repetition=WHOLE,
    **dict.fromkeys(("is_evidence", "is_blamed", "is_lossy"), T.BooleanType()),
    latency_ms=REAL,
    **dict.fromkeys(("verdict", "pair", "about", "evidence", "reason", "line"), TEXT),
)

#: One row per stream ever seen; the latest batch that names a path is the truth about it.
RUN = _struct(
    path=TEXT,
    format=TEXT,
    length=WHOLE,
    modified=WHOLE,
    state=TEXT,
    reason=TEXT,
    run_id=TEXT,
    run_date=TEXT,
    started_at=TEXT,
    finished_at=TEXT,
    kind=TEXT,
    seed=WHOLE,
    planned=WHOLE,
    command=TEXT,
    harness_version=TEXT,
    commit=TEXT,
    python=TEXT,
    platform=TEXT,
    protocols=TEXTS,
    targets=T.ArrayType(TARGET_INFO),
    exit_code=WHOLE,
    duration_s=REAL,
    measures=T.MapType(TEXT, REAL),
    cases=WHOLE,
    bad_lines=WHOLE,
    batch=WHOLE,
)

#: Which run a stream tells, and the batch that stores it.
OWNER = _struct(stream=TEXT, owner=TEXT, batch=WHOLE)
#: What facts and tallies inherit from their run.
OF_RUN = _struct(run_id=TEXT, batch=WHOLE, kind=TEXT, state=TEXT, run_date=TEXT, seq=WHOLE)
QUARANTINE = _struct(run=WHOLE, reason=TEXT, line=TEXT)

#: Between texts that are stored as one; a line with this character in a name is bad.
SEPARATOR = "\x1f"

#: What identifies one observed behaviour over time: everything but the run, the versions and the repetition.
CELL = ("protocol", "target", "peer", "case", "reach", "scenario", "fault_profile")
#: Whose results are compared night by night.
SERIES = ("kind", "protocol", "target", "peer")


def cell_number() -> Column:
    """`CELL` as one number: sorting and shuffling ten million of them costs a fraction of seven strings.

    64 bits: among a million cells two collide with a probability of 3 in 10^8.
    """
    return F.xxhash64(*CELL)


def run_number(run_id: str = "run_id") -> Column:
    """A run as a batch took it in, as one number: a run that is taken in anew has another."""
    return F.xxhash64(run_id, "batch")


def joined(*texts: Column | str) -> Column:
    """Texts, and the elements of lists of texts, as one."""
    return F.concat_ws(SEPARATOR, *texts)


def pair_parts() -> list[Column]:
    """The columns `PAIR` of a stored pair."""
    return [F.split("pair", SEPARATOR)[place].alias(name) for place, name in enumerate(PAIR)]


def about_parts() -> list[Column]:
    """The columns `ABOUT` of a fact and its requirements."""
    parts = F.split("about", SEPARATOR)
    requirements = F.slice(parts, len(ABOUT) + 1, F.size(parts))
    return [*(parts[place].alias(name) for place, name in enumerate(ABOUT)), requirements.alias("requirements")]


def is_blamed(column: str = "verdict") -> Column:
    return F.col(column).isin(*BLAMED)


def is_lossy() -> Column:
    """Only what is lost on the way is judged by a rate: under every other fault a promise holds or does not."""
    return F.col("fault_profile").startswith("loss")


def is_evidence(column: str = "verdict") -> Column:
    return ~F.col(column).isin(*SILENT)
