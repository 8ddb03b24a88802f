// Cuts the sample out of the recorded case delay-1ms: `npx tsx datasets/sample/make.ts`.
import { readFileSync, writeFileSync } from 'node:fs'
import { gunzipSync, gzipSync } from 'node:zlib'

/** Requests of each period: enough for a sure finding, and few enough to come with the package. */
const REQUESTS = 100
/** What OTLP takes for granted where it is left out. */
const DEFAULTS =
  /"(?:dropped\w+Count|flags)":\d+,?|"(?:events|links)":\[\],?|"status":\{"code":0\},?/g

interface Span {
  readonly traceId: string
  readonly parentSpanId?: string
  readonly startTimeUnixNano: string
}
interface Resource {
  readonly resource: object
  readonly scopeSpans: readonly { readonly spans: readonly Span[] }[]
}

for (const period of ['before', 'after']) {
  const source = new URL(`../storage-service/delay-1ms/${period}.jsonl.gz`, import.meta.url)
  const lines = gunzipSync(readFileSync(source)).toString('utf8').trim().split('\n')
  const batches = lines.flatMap(
    (line) => (JSON.parse(line) as { resourceSpans: Resource[] }).resourceSpans,
  )
  const spansOf = ({ scopeSpans }: Resource) => scopeSpans.flatMap(({ spans }) => spans)
  const roots = batches.flatMap(spansOf).filter(({ parentSpanId }) => !parentSpanId)
  roots.sort((a, b) => (a.startTimeUnixNano < b.startTimeUnixNano ? -1 : 1))
  const chosen = new Set(roots.slice(0, REQUESTS).map(({ traceId }) => traceId))
  const byResource = new Map<string, Span[]>()
  for (const batch of batches) {
    const resource = JSON.stringify(batch.resource)
    const spans = spansOf(batch).filter(({ traceId }) => chosen.has(traceId))
    byResource.set(resource, [...(byResource.get(resource) ?? []), ...spans])
  }
  const text = [...byResource].map(([resource, spans]) => {
    const scopeSpans = [{ scope: { name: 'storage-service' }, spans }]
    const whole = JSON.stringify({
      resourceSpans: [{ resource: JSON.parse(resource), scopeSpans }],
    })
    return `${whole.replace(DEFAULTS, '').replaceAll(',}', '}')}\n`
  })
  writeFileSync(
    new URL(`${period}.jsonl.gz`, import.meta.url),
    gzipSync(text.join(''), { level: 9 }),
  )
}
