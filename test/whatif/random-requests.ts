import type { RandomSource } from '../../src/stats/random.ts'
import type { SpanKind } from '../../src/traces/span-columns.ts'
import type { SpanTraces } from '../../src/traces/span-traces.ts'
import { makeSpans, type SpanSketch } from '../make-traces.ts'

interface Making {
  readonly spans: SpanSketch[]
  readonly trace: string
  readonly random: RandomSource
}

/**
 * Requests with up to some forty calls each, in all the ways there are: one after the other, side by
 * side, clients with servers on other clocks, servers that outlast their clients, calls that nobody
 * waits for, zero durations, starts before the caller's.
 */
export function randomRequests(random: RandomSource, requests: number): SpanTraces {
  const spans: SpanSketch[] = []
  for (let request = 0; request < requests; request++) {
    const making = { spans, trace: `t${request}`, random }
    addCall(making, { parent: null, depth: 0, startUs: 1000 * random.next() })
  }
  return makeSpans(spans)
}

function addCall(
  making: Making,
  at: { parent: string | null; depth: number; startUs: number },
): number {
  const { random } = making
  const service = `s${random.integer(3)}`
  const isPair = random.next() < 0.5
  const client = addSpan(making, { ...at, service, kind: isPair ? 'client' : 'internal' })
  const skewUs = isPair ? 5000 * random.normal() : 0
  const server = isPair
    ? addSpan(making, { parent: client.id, startUs: at.startUs + skewUs, service, kind: 'server' })
    : client
  const ownUs = () => (random.next() < 0.2 ? 0 : random.logNormal(2, 1))
  let startUs = server.startUs + ownUs()
  let endUs = startUs
  const children = at.depth > 2 ? 0 : random.integer(4)
  for (let child = 0; child < children; child++) {
    const isEarly = random.next() < 0.05
    const childUs = isEarly ? server.startUs - 1 : startUs
    const childEndUs = addCall(making, {
      parent: server.id,
      depth: at.depth + 1,
      startUs: childUs,
    })
    if (random.next() < 0.8) endUs = Math.max(endUs, childEndUs)
    startUs = random.next() < 0.5 ? endUs + ownUs() - 0.5 : startUs + ownUs()
  }
  server.endUs = endUs + ownUs()
  if (isPair) client.endUs = at.startUs + (server.endUs - server.startUs) + 5 * random.normal()
  client.endUs = Math.max(client.endUs, client.startUs)
  return client.endUs
}

function addSpan(
  { spans, trace, random }: Making,
  span: { parent: string | null; startUs: number; service: string; kind: SpanKind },
) {
  const kind = span.kind === 'internal' && random.next() < 0.05 ? 'producer' : span.kind
  const added = {
    trace,
    id: `${spans.length}`,
    parent: span.parent,
    service: span.service,
    kind,
    operation: kind === 'server' ? 'client' : kind,
    startUs: span.startUs,
    endUs: span.startUs,
  }
  spans.push(added)
  return added
}
