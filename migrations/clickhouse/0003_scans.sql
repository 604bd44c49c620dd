-- Every scan of every code that is not deleted, for analytics. Made from the log and nothing else, so it has no history
-- of changes: a new shape is a new file here, and the next replay fills a table of that shape beside the one in use.
-- $table, $on_cluster, $engine and $settings are filled in by src/analytics/tables.ts.

CREATE TABLE $table $on_cluster (
  account   LowCardinality(String),
  mode      LowCardinality(String),
  code      String,
  time      DateTime64(3, 'UTC') CODEC(Delta, LZ4),
  -- Its place in the log.
  position  UInt64 CODEC(Delta, LZ4),
  id        String,
  country   LowCardinality(String),
  region    LowCardinality(String),
  city      LowCardinality(String),
  device    LowCardinality(String),
  browser   LowCardinality(String),
  is_bot    Bool,
  -- 16 bytes, hashed under the code's own key.
  visitor   UUID,
  is_unique Bool,
  -- Which destination of the code it led to.
  revision  UInt32,
  -- Which rule and which variant of its split led it there; empty if it took none.
  rule      LowCardinality(String),
  variant   LowCardinality(String),

  -- What summaries, time series and aggregates read: their cost follows the number of groups, not of scans. A projection
  -- lives in the same part as the rows it is made of, so no crash can leave the two telling different numbers.
  -- A query is answered from one when it groups and filters by its keys (or by functions of them) and asks for its
  -- very aggregates: toStartOfHour(time) >= …, not time >= …; uniqCombined64State(visitor), not uniqCombined64(visitor).

  -- All codes of an account together: a series over months of a busy account would merge the visitors of every code and hour.
  -- By hour, because days begin at other hours in other time zones. Before by_hour, because ClickHouse takes the first of two
  -- that have as much to read.
  PROJECTION by_account (
    SELECT account, mode, toStartOfHour(time), is_bot, count(), countIf(is_unique), uniqCombined64State(visitor)
    GROUP BY account, mode, toStartOfHour(time), is_bot
  ),
  -- Visitors are the costly part, so they are kept by hour alone, and the rest by day.
  PROJECTION by_hour (
    SELECT account, mode, code, toStartOfHour(time), is_bot, revision, rule, variant, count(),
      countIf(is_unique), uniqCombined64State(visitor)
    GROUP BY account, mode, code, toStartOfHour(time), is_bot, revision, rule, variant
  ),
  PROJECTION by_client (
    SELECT account, mode, code, toDate(time), is_bot, device, browser, count()
    GROUP BY account, mode, code, toDate(time), is_bot, device, browser
  ),
  PROJECTION by_place (
    SELECT account, mode, code, toDate(time), is_bot, country, city, count()
    GROUP BY account, mode, code, toDate(time), is_bot, country, city
  )
)
ENGINE = $engine
PARTITION BY toYYYYMM(time)
-- One code, a period; position tells scans of the same millisecond apart.
ORDER BY (account, mode, code, time, position)
SETTINGS $settings
