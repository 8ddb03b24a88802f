// A server that speaks as ClickHouse does, on chdb: `tsx bench/clickhouse-server.ts before.parquet after.parquet`.
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { answerOf, openSession } from '../test/traces/stores/chdb-session.ts'

/** The table that the collector's exporter makes, as far as it orders and types spans. */
const TABLE = `CREATE TABLE otel_traces (
  Timestamp DateTime64(9), TraceId String, SpanId String, ParentSpanId String, TraceState String,
  SpanName LowCardinality(String), SpanKind LowCardinality(String), ServiceName LowCardinality(String),
  ResourceAttributes Map(LowCardinality(String), String),
  SpanAttributes Map(LowCardinality(String), String), Duration UInt64,
  StatusCode LowCardinality(String), StatusMessage String,
  Events Nested (Timestamp DateTime64(9), Name LowCardinality(String), Attributes Map(LowCardinality(String), String)),
  Links Nested (TraceId String, SpanId String, TraceState String, Attributes Map(LowCardinality(String), String)),
  INDEX idx_trace_id TraceId TYPE bloom_filter(0.001) GRANULARITY 1
) ENGINE = MergeTree PARTITION BY toDate(Timestamp)
PRIMARY KEY (ServiceName, SpanName, toDateTime(Timestamp))
ORDER BY (ServiceName, SpanName, toDateTime(Timestamp), Timestamp)`

const folder = mkdtempSync(join(tmpdir(), 'flowdelta-clickhouse-'))
const session = openSession(folder)
if (session === undefined) {
  process.send?.({ missing: true })
  process.disconnect?.()
} else {
  for (const [i, path] of process.argv.slice(2).entries()) {
    session.query(`CREATE DATABASE period${i}`)
    session.query(`USE period${i}`)
    session.query(TABLE)
    session.query(
      `INSERT INTO otel_traces (Timestamp, TraceId, SpanId, ParentSpanId, SpanName, SpanKind, ServiceName,
         ResourceAttributes, SpanAttributes, Duration, StatusCode)
       SELECT Timestamp, TraceId, SpanId, ParentSpanId, SpanName, initcap(SpanKind), ServiceName,
         map('host.name', HostName, 'service.version', ServiceVersion), SpanAttributes, Duration, initcap(StatusCode)
       FROM file('${path}', Parquet)`,
    )
  }
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://server')
    const { status = 200, type, headers, body } = answerOf(session, url, await text(request))
    response.writeHead(status, { ...headers, 'content-type': type }).end(body)
  })
  server.listen(0, '127.0.0.1', () => {
    process.send?.({ port: (server.address() as AddressInfo).port })
  })
  process.once('disconnect', () => {
    rmSync(folder, { recursive: true, force: true })
    process.exit()
  })
}
