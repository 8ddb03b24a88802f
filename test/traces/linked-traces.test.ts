import { describe, expect, test } from 'vitest'
import { compare } from '../../src/comparison/comparison.ts'
import { buildFlows } from '../../src/flows/build-flows.ts'
import { loadTraces } from '../../src/traces/load-traces.ts'
import type { SpanTraces } from '../../src/traces/span-traces.ts'

interface Sketch {
  readonly trace: string
  readonly span: string
  readonly parent?: string
  readonly at: number
  readonly kind?: 'producer' | 'consumer'
  readonly link?: readonly [trace: string, span: string]
}

/** `a` puts a job into a queue; `b` works it off later, and sets off `c`. `e` stands alone. */
const SPANS: readonly Sketch[] = [
  { trace: 'a', span: 'p', at: 0 },
  { trace: 'a', span: 'q', parent: 'p', at: 1 },
  { trace: 'b', span: 'r', at: 50, link: ['a', 'q'] },
  { trace: 'b', span: 's', parent: 'r', at: 52 },
  { trace: 'c', span: 't', at: 90, link: ['b', 's'] },
  { trace: 'e', span: 'u', at: 95 },
]

const EPOCH_US = 1_795_231_596_000_000

function otlp(spans: readonly Sketch[]): object {
  const hex = (text: string, length: number) =>
    text.charCodeAt(0).toString(16).padStart(length, '0')
  const written = spans.map(({ trace, span, parent, at, kind, link }) => ({
    ...(kind !== undefined && { kind: `SPAN_KIND_${kind.toUpperCase()}` }),
    traceId: hex(trace, 32),
    spanId: hex(span, 16),
    ...(parent !== undefined && { parentSpanId: hex(parent, 16) }),
    name: span,
    startTimeUnixNano: `${EPOCH_US + at}000`,
    endTimeUnixNano: `${EPOCH_US + at + 10}000`,
    links: link === undefined ? [] : [{ traceId: hex(link[0], 32), spanId: hex(link[1], 16) }],
  }))
  const attributes = [{ key: 'service.name', value: { stringValue: 's' } }]
  return { resourceSpans: [{ resource: { attributes }, scopeSpans: [{ spans: written }] }] }
}

function jaeger(spans: readonly Sketch[]): object {
  const reference = (refType: string, traceID: string, spanID: string) => {
    return { refType, traceID, spanID }
  }
  const written = spans.map(({ trace, span, parent, at, kind, link }) => ({
    tags: kind === undefined ? [] : [{ key: 'span.kind', type: 'string', value: kind }],
    traceID: trace,
    spanID: span,
    operationName: span,
    processID: 'p1',
    startTime: EPOCH_US + at,
    duration: 10,
    references: [
      ...(parent === undefined ? [] : [reference('CHILD_OF', trace, parent)]),
      ...(link === undefined ? [] : [reference('FOLLOWS_FROM', ...link)]),
    ],
  }))
  const traceIds = [...new Set(spans.map(({ trace }) => trace))]
  return {
    data: traceIds.map((traceID) => ({
      traceID,
      processes: { p1: { serviceName: 's' } },
      spans: written.filter((span) => span.traceID === traceID),
    })),
  }
}

async function load(content: object, joinLinks: boolean): Promise<SpanTraces> {
  const bytes = new TextEncoder().encode(JSON.stringify(content))
  return (await loadTraces({ name: 'linked.json', bytes }, { joinLinks })) as SpanTraces
}

/** Operations of each trace, with those of their parents. */
const traceTexts = ({ ids, spans, spanOffsets, operations }: SpanTraces) =>
  ids.map((_, trace) => {
    const nameOf = (row: number) => operations.value(spans.operation[row] as number)
    const rows = [...spans.parent.keys()].slice(spanOffsets[trace], spanOffsets[trace + 1])
    return rows
      .map((row) => {
        const parent = spans.parent[row] as number
        return parent < 0 ? nameOf(row) : `${nameOf(parent)}>${nameOf(row)}`
      })
      .sort()
      .join(' ')
  })

describe.each([
  ['OTLP', otlp],
  ['Jaeger', jaeger],
])('requests linked in %s', (_, write) => {
  test('are told, with how to join them', async () => {
    const traces = await load(write(SPANS), false)
    expect(traceTexts(traces)).toEqual(['p p>q', 'r r>s', 't', 'u'])
    expect(traces.quality().issues).toMatchObject([
      {
        code: 'linked-request',
        message:
          '2 requests with a link to another at the beginning; `joinLinks` reads both as one',
      },
    ])
  })

  test('are told once of two periods, with the option, and not as questionable', async () => {
    const [before, after] = await Promise.all([1, 2].map(() => load(write(SPANS), false)))
    const told = compare(before!, after!).warnings()
    const about = told.filter(({ message }) => /link|questionable/.test(message))
    expect(about).toMatchObject([{ code: 'linked-requests', advice: { joinLinks: true } }])
    const joined = await load(write(SPANS), true)
    const codes = compare(joined, joined)
      .warnings()
      .map(({ code }) => code)
    expect(codes).not.toContain('linked-requests')
  })

  test('become one, which does not wait for what it set off', async () => {
    const traces = await load(write(SPANS), true)
    expect(traceTexts(traces)).toEqual(['p p>q q>r r>s s>t', 'u'])
    expect(Array.from(buildFlows(traces).responseTimeUs)).toEqual([10, 10])
    expect(traces.quality().issues).toEqual([])
  })

  test.each([false, true])(
    'say what consumers received of producers; joined: %j',
    async (joins) => {
      const kinds = { q: 'producer', r: 'consumer', t: 'consumer' } as const
      const sent = SPANS.map((one): Sketch => {
        const kind = kinds[one.span as keyof typeof kinds]
        return kind === undefined ? one : { ...one, kind }
      })
      const traces = await load(write(sent), joins)
      const nameOf = (row: number) => traces.operations.value(traces.spans.operation[row] as number)
      expect(Array.from(traces.links ?? [], nameOf)).toEqual(['r', 'q'])
      // From the end of q, 11, to the start of r.
      expect(Array.from(buildFlows(traces).messages?.waitUs ?? [])).toEqual([39])
    },
  )

  test('are joined in any order of files', async () => {
    expect(traceTexts(await load(write(SPANS.toReversed()), true)).toSorted()).toEqual([
      'p p>q q>r r>s s>t',
      'u',
    ])
  })

  test('in a circle, or to what is not there, lose nothing', async () => {
    const circle = SPANS.map((span): Sketch => {
      return span.span === 'p' ? { ...span, link: ['c', 't'] } : span
    })
    const joined = await load(write(circle), true)
    expect(joined.spans.parent).toHaveLength(SPANS.length)
    expect(joined.ids).toHaveLength(2)
    const gone = await load(write(SPANS.filter(({ trace }) => trace !== 'a')), true)
    expect(traceTexts(gone)).toEqual(['r r>s s>t', 'u'])
    await expect(
      loadTraces({ name: 'a', bytes: new Uint8Array() }, { joinLinks: true, logs: 'app.log' }),
    ).rejects.toThrow('Option joinLinks')
    expect(gone.quality().issues.map(({ code }) => code)).toEqual(['orphan-span'])
  })
})
