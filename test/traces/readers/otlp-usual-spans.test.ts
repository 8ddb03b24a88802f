import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { GraphTracesBuilder } from '../../../src/traces/graph-traces.ts'
import { packTraces } from '../../../src/traces/pack-traces.ts'
import { QualityLog } from '../../../src/traces/quality.ts'
import { otlpReader } from '../../../src/traces/readers/otlp.ts'
import { UsualSpans } from '../../../src/traces/readers/otlp-usual-spans.ts'
import { SpanTracesBuilder } from '../../../src/traces/span-traces-builder.ts'

/** All that is read of a text: columns and notes, or the error. */
async function readAll(text: string, { strict = false, usual = true } = {}) {
  const quality = new QualityLog({ strict })
  const spans = new SpanTracesBuilder(quality)
  const { clock } = spans
  const general = {
    add: spans.add.bind(spans),
    addLogs: spans.addLogs.bind(spans),
    clock,
    get size() {
      return spans.size
    },
  }
  const sink = { spans: usual ? spans : general, graphs: new GraphTracesBuilder(), quality }
  const chunks = (async function* () {
    yield new TextEncoder().encode(text)
  })()
  try {
    await otlpReader.read(chunks, sink, 'traces.jsonl')
    return packTraces(spans.finish('period'))
  } catch (error) {
    return String(error)
  }
}

const hex = (digits: number) =>
  fc.string({
    unit: fc.constantFrom(...'0123456789abcdef'),
    minLength: digits,
    maxLength: digits,
  })
const traceIds = ['5b8efff798038103d269b633813fc60c', '00000000000000000000000000000001']
const text = fc.oneof(
  fc.constantFrom(
    '',
    'a',
    'GET /cart',
    'service.version',
    'SampleRate',
    '20',
    'w3c.tracestate',
    'ot=th:c',
    '"',
    '\\',
    'ä€😀',
    '\u0000\n',
    '\u2028',
  ),
  fc.string({ unit: 'grapheme', maxLength: 6 }),
)
/** A field mostly as it usually is. */
const mostly = <T>(usual: fc.Arbitrary<T>, ...odd: unknown[]) =>
  fc.oneof({ weight: 40, arbitrary: usual as fc.Arbitrary<unknown> }, fc.constantFrom(...odd))

const EPOCH_NS = 1_760_000_000_000_000_000n
const oddNanos = ['0', '999', '1000000000', '00001760000000000001', '-5', '1.5', '', 'soon']
const nanos = (from: bigint, to: bigint) =>
  mostly(fc.bigInt({ min: EPOCH_NS + from, max: EPOCH_NS + to }).map(String), ...oddNanos)
const anyValue: fc.Arbitrary<unknown> = fc.oneof(
  text.map((stringValue) => ({ stringValue })),
  fc.integer().map((intValue) => ({ intValue })),
  fc.constantFrom('7', '9007199254740993', '-0', 'x', '').map((intValue) => ({ intValue })),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((doubleValue) => ({ doubleValue })),
  fc.boolean().map((boolValue) => ({ boolValue })),
  text.map((bytesValue) => ({ bytesValue })),
  fc.constant({ arrayValue: { values: [{ stringValue: '}' }, { intValue: 1 }] } }),
  fc.constant({ kvlistValue: { values: [{ key: 'k', value: { boolValue: true } }] } }),
  fc.constantFrom({}, null, 3, 'plain', { otherValue: 1 }, { string_value: 's' }),
)
const attributes = fc.oneof(
  { weight: 40, arbitrary: fc.array(fc.record({ key: text, value: anyValue }), { maxLength: 3 }) },
  fc.constantFrom(null, {}, [3], [[]], [{ key: 4, value: { intValue: 1 } }]),
)
const span = fc.record(
  {
    traceId: mostly(
      fc.constantFrom(...traceIds),
      '5B8EFFF798038103D269B633813FC60C',
      '',
      'x',
      null,
    ),
    spanId: mostly(
      hex(16),
      'eee19b7ec3c1b174',
      'ffffffffffffffff',
      'EEE19B7EC3C1B174',
      '',
      '7uGbfsPBsXQ=',
    ),
    parentSpanId: mostly(fc.constantFrom('', 'eee19b7ec3c1b174'), null, '0000000000000000', 'abc'),
    name: mostly(text, null, 4),
    kind: mostly(fc.constantFrom(0, 1, 2, 3, 4, 5), 'SPAN_KIND_CLIENT', '2', 9, null),
    startTimeUnixNano: nanos(0n, 5_000n),
    endTimeUnixNano: nanos(4_900n, 2_000_000_000n),
    attributes,
    status: mostly(fc.constantFrom({}, { code: 2, message: 'no' }), null, 'Error', {
      code: 'STATUS_CODE_OK',
    }),
    events: mostly(
      fc.constant([]),
      [{ name: 'e', timeUnixNano: 5, attributes: [{ key: 'a', value: { intValue: 1 } }] }],
      null,
    ),
    links: mostly(fc.constant([]), [{ traceId: traceIds[1], spanId: '0102030405060708' }]),
    traceState: mostly(fc.constantFrom('', 'ot=th:8', 'ot=p:1'), null, 3),
    flags: fc.constantFrom(0, 257, null),
    droppedAttributesCount: fc.constantFrom(0, 2),
    other: fc.constantFrom(1, '"', [{}]),
  },
  { requiredKeys: ['traceId', 'spanId', 'name', 'startTimeUnixNano', 'endTimeUnixNano'] },
)
const scope = fc.record(
  {
    scope: fc.constantFrom({ name: 's' }, null),
    spans: fc.array(span, { maxLength: 4 }),
    schemaUrl: text,
  },
  { requiredKeys: ['spans'] },
)
const resourceSpans = fc.record(
  {
    resource: mostly(
      fc.record({
        attributes: fc.oneof(
          attributes,
          fc.constant([{ key: 'service.name', value: { stringValue: 's' } }]),
        ),
      }),
      null,
      {},
    ),
    scopeSpans: mostly(fc.array(scope, { maxLength: 2 }), null, [3]),
    schemaUrl: text,
  },
  { requiredKeys: ['resource', 'scopeSpans'] },
)
const request = fc.oneof(
  { weight: 9, arbitrary: fc.record({ resourceSpans: fc.array(resourceSpans, { maxLength: 2 }) }) },
  fc.constantFrom({}, { resourceSpans: null }, { logs: 1 }, { error: { message: 'no' } }),
)

/** A value as JSON with space, keys and numbers as `choose` has them: 0 to 9, call after call. */
function written(value: unknown, choose: () => number, key = ''): string {
  const space = () => ['', '', '', '', '', '', '', ' ', '\t', ' \r'][choose()]
  if (Array.isArray(value)) {
    return `[${space()}${value.map((one) => written(one, choose)).join(`${space()},${space()}`)}${space()}]`
  }
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value)
    if (choose() === 9) entries.reverse()
    const [first, last] = [entries[0], entries.at(-1)]
    // A key may be there twice.
    if (choose() === 9 && choose() > 6 && first && last) entries.push([last[0], first[1]])
    const fields = entries.map(
      ([name, one]) =>
        `${space()}${JSON.stringify(name)}${space()}:${space()}${written(one, choose, name)}`,
    )
    return `{${fields.join(`${space()},`)}${space()}}`
  }
  if (/UnixNano$/.test(key) && /^[1-9]\d*$/.test(String(value)) && choose() > 6)
    return String(value)
  const plain = JSON.stringify(value)
  if (typeof value !== 'string' || choose() < 9) return plain
  return plain.replace(
    /[a-z](?=[^\\]*"$)/i,
    (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`,
  )
}

const lines = fc
  .tuple(
    fc.array(request, { minLength: 1, maxLength: 4 }),
    fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 40 }),
  )
  .map(([requests, choices]) => {
    let at = 0
    const choose = () => choices[at++ % choices.length] as number
    return requests.map((one) => written(one, choose)).join('\n')
  })

describe('spans read from bytes are those that JSON.parse gives', () => {
  test('of any keys, order, space, escapes, numbers and values', async () => {
    await fc.assert(
      fc.asyncProperty(lines, fc.boolean(), async (content, strict) => {
        const general = await readAll(content, { strict, usual: false })
        expect(await readAll(content, { strict })).toEqual(general)
      }),
      { numRuns: 120, seed: 1 },
    )
  })

  test('of attributes whose values hardly repeat', async () => {
    const values = (i: number) => [
      { stringValue: `id ${i}` },
      { stringValue: `\uFEFF${i}` },
      { stringValue: `"${i}"\n\u00e4` },
      { intValue: String(i) },
      { intValue: `-${i}` },
      { intValue: `90071992547409${i}` },
      { intValue: i },
      { doubleValue: i / 7 },
      { doubleValue: 'NaN' },
      { boolValue: true },
      { stringValue: i },
      { stringValue: `${i}`, intValue: 1 },
    ]
    const spans = Array.from({ length: 400 }, (_, i) => ({
      traceId: traceIds[0],
      spanId: i.toString(16).padStart(16, '1'),
      name: 'a',
      startTimeUnixNano: String(EPOCH_NS),
      endTimeUnixNano: String(EPOCH_NS),
      attributes: values(i).map((value, n) => ({ key: i % 3 === 0 ? 'k' : `k${n}`, value })),
    }))
    const request = { resourceSpans: [{ resource: {}, scopeSpans: [{ spans }] }] }
    for (const content of [JSON.stringify(request), JSON.stringify(request, null, 1)]) {
      const general = await readAll(content, { usual: false })
      expect(await readAll(content)).toEqual(general)
      expect(general).toMatchObject({ parts: { columns: { ids: [traceIds[0]] } } })
    }
  })

  test('of lines that were cut or changed anywhere', async () => {
    const byte = fc.constantFrom(
      '',
      '"',
      '\\',
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '0',
      'e',
      ' ',
      '\u0000',
      '\n',
      'ä',
    )
    await fc.assert(
      fc.asyncProperty(lines, fc.nat(), fc.nat(3), byte, async (content, place, cut, put) => {
        const at = place % content.length
        const changed = `${content.slice(0, at)}${put}${content.slice(at + cut)}\n{}`
        const general = await readAll(changed, { usual: false })
        expect(await readAll(changed)).toEqual(general)
      }),
      { numRuns: 120, seed: 2 },
    )
  })
})

const LINE =
  '{"resourceSpans":[{"resource":{"attributes":[]},"scopeSpans":[{"spans":[' +
  '{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","name":"a",' +
  '"startTimeUnixNano":"1760000000000000001","endTimeUnixNano":1760000000000000003,' +
  '"attributes":[{"key":"k","value":{"stringValue":"v"}}],"status":{}}]}]}]}'

function taken(line: string) {
  const counts = { usual: 0, unusual: 0 }
  const reader = new UsualSpans((span) => counts[span.unusual ? 'unusual' : 'usual']++, false)
  return { isRead: reader.read(new TextEncoder().encode(line), 0, false) >= 0, counts }
}

describe('what counts as usual', () => {
  test('a span as exporters write it', () => {
    expect(taken(LINE)).toMatchObject({ isRead: true, counts: { usual: 1, unusual: 0 } })
  })

  test('a span with a link is parsed by itself', () => {
    const line = LINE.replace('"status":{}', '"links":[{"spanId":"eee19b7ec3c1b174"}]')
    expect(taken(line)).toMatchObject({ isRead: true, counts: { usual: 0, unusual: 1 } })
  })

  test('a span with a key twice is parsed by itself, as the last of both counts', () => {
    const line = LINE.replace('"status":{}', '"attributes":[]')
    expect(taken(line)).toMatchObject({ isRead: true, counts: { usual: 0, unusual: 1 } })
  })

  test('where lines matter, a text ends with its line, and none with a line end inside is taken', () => {
    const reader = new UsualSpans(() => {}, false)
    const read = (text: string, from: number, inLine: boolean) =>
      reader.read(new TextEncoder().encode(text), from, inLine)
    const lines = `${LINE} \r\n${LINE}`
    expect(read(lines, 0, true)).toBe(LINE.length + 2)
    expect(read(lines, LINE.length + 3, true)).toBe(lines.length)
    expect(read(lines, 0, false)).toBe(-1)
    for (const before of ['"scopeSpans"', '"name"', '"status"', '"k"', '}]}]']) {
      const cut = LINE.replace(before, `\n${before}`)
      expect(read(cut, 0, false)).toBe(cut.length)
      expect(read(cut, 0, true)).toBe(-1)
    }
  })

  test('of a line with an unknown key around spans, or one that is no JSON, nothing is taken', () => {
    for (const line of [
      LINE.replace('"scopeSpans"', '"scope_spans"'),
      LINE.slice(0, -1),
      `${LINE}}`,
    ]) {
      expect(taken(line)).toMatchObject({ isRead: false, counts: { usual: 0, unusual: 0 } })
    }
  })
})
