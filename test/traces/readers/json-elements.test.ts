import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { QualityLog } from '../../../src/traces/quality.ts'
import { JsonElements } from '../../../src/traces/readers/json-elements.ts'

interface Reading {
  readonly values: unknown[]
  readonly lines: number[]
  readonly issues: string[]
}

/** Reads `text` in chunks of `chunk` bytes. */
function read(
  text: string,
  {
    chunk = 1 << 20,
    pieceBytes = 1 << 20,
    tearBytes = 0,
    strict = false,
  }: { chunk?: number; pieceBytes?: number; tearBytes?: number; strict?: boolean } = {},
): Reading {
  const quality = new QualityLog({ strict })
  const values: unknown[] = []
  const lines: number[] = []
  const elements = new JsonElements({
    file: 'test.json',
    quality,
    lost: 'trace skipped',
    cutAt: ['', 'data', 'inner'],
    pieceBytes,
    tearBytes: tearBytes || pieceBytes,
    onElement: ({ value, line }) => {
      values.push(value)
      lines.push(line)
    },
  })
  const bytes = new TextEncoder().encode(text)
  for (let at = 0; at < bytes.length; at += chunk) elements.push(bytes.subarray(at, at + chunk))
  elements.end()
  const { issues } = quality.finish(0)
  return {
    values,
    lines,
    issues: issues.map(({ code, place, message }) => `${code}:${place.line}: ${message}`),
  }
}

/** The elements of the arrays `data` of all pieces, one after the other. */
function dataOf({ values }: Reading): unknown[] {
  return values.flatMap((value) => (value as { data: unknown[] }).data)
}

describe('values one after the other', () => {
  const cases: [string, string, number[]][] = [
    ['one object', '{"a":1}', [1]],
    ['one object behind a byte order mark', '\uFEFF{"a":1}\n', [1]],
    ['JSON lines', '{"a":1}\n{"a":2}\n{"a":3}\n', [1, 2, 3]],
    ['JSON lines with CRLF, blank lines, and no last line end', '{}\r\n\r\n{}\r\n[1]', [1, 3, 4]],
    ['pretty-printed values', '{\n  "a": 1\n}\n{\n  "a": 2\n}\n', [1, 4]],
    ['a single line, then pretty-printed values', '{"a":1}\n{\n  "a": 2\n}\n', [1, 2]],
    ['values without space between them', '{"a":1}[{"a":2}]{}', [1, 1, 1]],
  ]
  test.each(cases)('%s: each is an element on its own line', (_, text, lines) => {
    for (const chunk of [1, 2, 3, 5, 1000]) expect(read(text, { chunk }).lines).toEqual(lines)
  })

  test('brackets, quotes, escapes and many-byte characters in texts are no structure', () => {
    const value = { 'k"{': '}]\\" \\\\', 'ü漢😀': ['[{"', '\u2028', 'a\nb', ''] }
    for (const text of [JSON.stringify(value), JSON.stringify(value, null, 2)]) {
      for (let chunk = 1; chunk < 30; chunk++) {
        expect(read(`${text}\n${text}`, { chunk }).values).toEqual([value, value])
      }
    }
  })
})

describe('pieces of large values', () => {
  test('each piece holds some elements and a copy of what is around them', () => {
    const text = '{"limit":9,"data":[{"a":1},{"a":2},{"a":3}],"total":3}'
    expect(read(text, { chunk: 1, pieceBytes: 1 }).values).toEqual([
      { limit: 9, data: [{ a: 1 }] },
      { limit: 9, data: [{ a: 2 }] },
      { limit: 9, data: [{ a: 3 }], total: 3 },
    ])
  })

  test('an array that is not to be cut stays whole', () => {
    const text = '{"spans":[{"a":1},{"a":2}],"processes":{}}'
    expect(read(text, { chunk: 1, pieceBytes: 1 }).values).toEqual([JSON.parse(text)])
  })

  test('a large element is torn at an array inside it, with its head copied', () => {
    const text = '{"data":[{"x":0,"inner":[]},{"x":1,"inner":[{"b":1},{"b":2}]},{"x":2}]}'
    expect(dataOf(read(text, { chunk: 1, pieceBytes: 1 }))).toEqual([
      { x: 0, inner: [] },
      { x: 1, inner: [{ b: 1 }] },
      { x: 1, inner: [{ b: 2 }] },
      { x: 2 },
    ])
  })

  test('no element under tearBytes is torn', () => {
    const text = '{"data":[{"x":1,"inner":[{"b":1},{"b":2}]},{"x":2}]}'
    expect(dataOf(read(text, { chunk: 1, pieceBytes: 1, tearBytes: 1000 }))).toEqual([
      { x: 1, inner: [{ b: 1 }, { b: 2 }] },
      { x: 2 },
    ])
  })

  test('pieces know the line of their first element', () => {
    const text = '{\n"data": [\n{"a":1},\n{\n"a":2},\n\n{"a":3}\n]}'
    expect(read(text, { chunk: 1, pieceBytes: 1 }).lines).toEqual([1, 4, 7])
  })

  test('for any array, the pieces hold the same elements in the same order', () => {
    const element = fc.oneof(
      fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ stringUnit: 'binary' })),
      fc.array(fc.jsonValue()),
    )
    fc.assert(
      fc.property(
        fc.array(element, { maxLength: 12 }),
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 1, max: 200 }),
        fc.constantFrom(0, 2),
        (data, chunk, pieceBytes, indent) => {
          const text = JSON.stringify({ data, total: 1 }, null, indent)
          const reading = read(text, { chunk, pieceBytes, tearBytes: 1e9 })
          expect(reading.issues).toEqual([])
          expect(dataOf(reading)).toEqual((JSON.parse(text) as { data: unknown[] }).data)
        },
      ),
    )
  })

  test('any values, one after the other, are read as JSON.parse reads each', () => {
    fc.assert(
      fc.property(
        fc.array(fc.dictionary(fc.string(), fc.jsonValue()), { maxLength: 8 }),
        fc.integer({ min: 1, max: 50 }),
        fc.constantFrom(0, 2),
        fc.constantFrom('\n', '', '\r\n\n'),
        (values, chunk, indent, between) => {
          const texts = values.map((value) => JSON.stringify(value, null, indent))
          expect(read(texts.join(between), { chunk }).values).toEqual(
            texts.map((text) => JSON.parse(text)),
          )
        },
      ),
    )
  })
})

describe('size', () => {
  test('a line of 20 MB is parsed in texts of little over 1 MB', () => {
    const lengths: number[] = []
    const elements = new JsonElements({
      file: 'test.json',
      quality: new QualityLog(),
      lost: 'trace skipped',
      cutAt: ['data'],
      prepare: (text) => {
        lengths.push(text.length)
        return text
      },
      onElement: () => {},
    })
    const element = new TextEncoder().encode(`{"text":"${'x'.repeat(990)}"},`)
    const chunk = new Uint8Array(1000 * element.length)
    for (let at = 0; at < chunk.length; at += element.length) chunk.set(element, at)
    elements.push(new TextEncoder().encode('{"data":['))
    for (let i = 0; i < 20; i++) elements.push(chunk)
    elements.push(new TextEncoder().encode('{}]}'))
    elements.end()
    expect(lengths.length).toBeGreaterThan(14)
    expect(Math.max(...lengths)).toBeLessThan(1_400_000)
  })
})

describe('broken input', () => {
  const good = '{"a":1}'
  const lineCases: [string, string, number][] = [
    ['the first line', `{"a":"x\n${good}\n${good}\n`, 1],
    ['a line in the middle', `${good}\n{"a":[1,}\n${good}\n`, 2],
    ['a line that ends too early', `${good}\n{"a":[1,2\n${good}\n`, 2],
    ['a line of something else', `${good}\nhello\n${good}\n`, 2],
    ['a line with a number', `${good}\n17\n${good}\n`, 2],
  ]
  test.each(lineCases)('of JSON lines, %s is left out and noted', (_, text, line) => {
    for (const chunk of [1, 3, 8, 1000]) {
      const { values, issues } = read(text, { chunk })
      expect(values).toEqual([{ a: 1 }, { a: 1 }])
      expect(issues).toHaveLength(1)
      expect(issues[0]).toMatch(new RegExp(`^unreadable-json:${line}: This is not JSON: `))
    }
  })

  test('with strict, a broken line stops the load', () => {
    expect(() => read(`${good}\n{"a":[1,}\n${good}\n`, { strict: true })).toThrow(
      /^test\.json:2: This is not JSON: .*Correct the file, or load without `strict`/,
    )
  })

  test('an element of an array that is not JSON is left out, the others are read', () => {
    const text = '{"data":[\n{"a":1},\n{"a":NaN},\n{"a":3}\n]}'
    const reading = read(text)
    expect(dataOf(reading)).toEqual([{ a: 1 }, { a: 3 }])
    expect(reading.issues).toHaveLength(1)
    expect(reading.issues[0]).toMatch(/^unreadable-json:3: This is not JSON: /)
  })

  test('a file that ends too early gives its whole elements, and says where it ends', () => {
    const text = '{"data":[\n{"a":1},\n{"a":2},\n{"a":'
    for (const chunk of [1, 7, 1000]) {
      const reading = read(text, { chunk })
      expect(dataOf(reading)).toEqual([{ a: 1 }, { a: 2 }])
      expect(reading.issues).toEqual([
        'truncated-file:4: The file ends before what starts on line 4 does',
      ])
    }
  })

  test('a file without its last brackets gives its last element, too', () => {
    expect(dataOf(read('{"data":[{"a":1},{"a":2}'))).toEqual([{ a: 1 }, { a: 2 }])
  })

  test('JSON lines that end in the middle of a line lose that line only', () => {
    const { values, issues } = read(`${good}\n${good}\n{"a":`)
    expect(values).toHaveLength(2)
    expect(issues).toEqual(['truncated-file:3: The file ends before what starts on line 3 does'])
  })

  test('brackets that do not match are an error with their line', () => {
    expect(() => read('{"data":[\n{"a":1},\n{"a":2]\n]}')).toThrow(
      'test.json:3: "]" stands where "}" is due. Correct the file',
    )
  })

  test('an open quote is an error with its line', () => {
    expect(() => read('{"data":[\n{"a":"x},\n{"a":2}\n]}')).toThrow(
      'test.json:2: A text has no closing quote on its line. Correct the file',
    )
  })

  test('brackets nested 100,000 deep are an error, not a crash', () => {
    expect(() => read('['.repeat(100_000))).toThrow('nested more than 10000 deep')
  })

  test('no input gives no element', () => {
    expect(read('').values).toEqual([])
    expect(read(' \n\n').values).toEqual([])
  })
})
