import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, test } from 'vitest'
import { loadTraces } from '../../src/traces/load-traces.ts'
import type { LoadProgress } from '../../src/traces/readers/open-file.ts'

const span = (trace: string, id = '1', fields: object = {}) => ({
  traceId: trace,
  id,
  name: 'get',
  timestamp: 1_000_000,
  duration: 250,
  localEndpoint: { serviceName: 's' },
  ...fields,
})
const zipkin = (...spans: object[]) => JSON.stringify(spans)
const file = (bytes: string | Uint8Array, name = 'a.json') => ({ name, bytes })
const DOT = `# 1  R: 4.0 usecs RT: 0.0 usecs
Digraph G {
1.1 [label="a"]
1.2 [label="b"]
1.1 -> 1.2 [label="R: 4.0 us"]
}
`

const folder = mkdtempSync(join(tmpdir(), 'flowdelta-'))
afterAll(() => rmSync(folder, { recursive: true }))
const onDisk = (name: string, bytes: string | Uint8Array) => {
  const path = join(folder, name)
  writeFileSync(path, bytes)
  return path
}

describe('files', () => {
  test('may be content, paths, or URLs, one or several, in different formats', async () => {
    const jaeger = { traceID: 'c', spans: [{ spanID: '1', startTime: 1, duration: 2 }] }
    const path = onDisk('b ä.json', zipkin(span('b')))
    const set = await loadTraces([
      file(zipkin(span('a'))),
      path,
      pathToFileURL(onDisk('c.json', JSON.stringify({ data: [jaeger] }))),
    ])
    expect([set.name, set.ids]).toEqual(['a.json', ['a', 'b', 'c']])
    expect((await loadTraces(pathToFileURL(path), { name: 'before' })).name).toBe('before')
  })

  test('may each have spans of the same trace', async () => {
    const set = await loadTraces([
      file(zipkin(span('a', '2', { parentId: '1', name: 'child' }))),
      file(zipkin(span('a', '1')), 'b.json'),
    ])
    if (set.kind !== 'spans') throw new Error('not spans')
    expect([...set.spans.parent]).toEqual([1, -1])
  })

  test('may be compressed with gzip, whatever they are called, in several members', async () => {
    const members = [zipkin(span('a')), '\n', zipkin(span('b'))].map((text) => gzipSync(text))
    const bytes = Buffer.concat(members)
    expect((await loadTraces(file(bytes))).ids).toEqual(['a', 'b'])
    expect((await loadTraces(onDisk('plain.txt', bytes))).ids).toEqual(['a', 'b'])
  })

  test('of trace-point graphs make a set of graphs', async () => {
    expect((await loadTraces(file(DOT))).kind).toBe('graphs')
  })

  test('are read with progress', async () => {
    const path = onDisk('progress.json', zipkin(span('a')))
    const seen: LoadProgress[] = []
    await loadTraces([path, file('[{"traceId":"b","id":"1","timestamp":1,"duration":1}]')], {
      onProgress: (progress) => seen.push(progress),
    })
    const total = zipkin(span('a')).length + 53
    expect(seen.map(({ bytesTotal }) => bytesTotal)).toEqual([total, total])
    expect(seen.at(-1)).toEqual({ file: 'a.json', bytesRead: total, bytesTotal: total })
  })
})

describe('errors name the file and the next step', () => {
  const gzipped = gzipSync(zipkin(...Array.from({ length: 3000 }, (_, i) => span(`t${i * i}`))))
  const protobuf = Uint8Array.from([
    ...[0, 0, 1, 6],
    ...[0x0a, 0x83, 0x02, 0x0a, 0x20, 0x0a, 0x1e, 0x0a, 0x0c, 0, 1, 2],
  ])
  const damaged = Uint8Array.from(gzipped).fill(7, 40, 80)
  const cases: [string, string | Uint8Array, RegExp][] = [
    ['an empty file', '', /^a\.json: The file is empty\. Leave it out$/],
    ['a file of white space', ' \n\n', /^a\.json: The file is empty/],
    ['an empty gzip file', gzipSync(''), /^a\.json: The file is empty/],
    [
      'a truncated gzip file',
      gzipped.subarray(0, gzipped.length - 20),
      /^a\.json: The gzip file is truncated: it ends before its content does\. Copy or download it again$/,
    ],
    ['a damaged gzip file', damaged, /^a\.json: The gzip file is damaged \(Z_DATA_ERROR\)/],
    [
      'an unknown text',
      'hello <b>world</b>\nand more of it, more than the sixty characters that are shown',
      /^a\.json: This is in no known trace format; it begins "hello <b>world<\/b> and more.*" …\. Known formats are dot, otlp, xtrace, spans\. If it is one of these, name it with `format`; Parquet is known by its name \(\.parquet\)$/,
    ],
    ['unknown bytes', Uint8Array.from([0, 1, 2, 255]), /it begins "···+"/],
    [
      'unknown JSON',
      '{"a":1}',
      /^a\.json: No spans were found\. Records have the fields a; none stands for the trace, the span, the start and the end or the duration\. Say which fields stand for what: --columns trace=/,
    ],
    [
      'a web page',
      '<!DOCTYPE html><html><head><title>502 Bad Gateway</title>',
      /^a\.json: This is a web page \("502 Bad Gateway"\), perhaps an error or a login, not traces/,
    ],
    [
      'OTLP protobuf that is cut',
      protobuf,
      /^a\.json: The file, read as otlp, has no usable traces \(first problem: a\.json: The file ends within message 1\)/,
    ],
    ['OTLP logs', '{"resourceLogs":[]}', /it holds logs or metrics and no spans/],
    [
      'the specification of X-Trace',
      'X-Trace specification\n===== X-Trace identifiers\n',
      /the specification of X-Trace, a text without traces\. Give a file of reports/,
    ],
    [
      'a dependency graph of Jaeger',
      '{"data":[{"parent":"a","child":"b","callCount":3}]}',
      /counts calls between services and has no traces/,
    ],
    [
      'a dependency graph of Zipkin',
      '[{"parent":"a","child":"b","callCount":3}]',
      /counts calls between services and has no traces/,
    ],
    [
      'CSV with unknown columns',
      'trace,id,time\na,b,1\n',
      /^a\.json: No spans were found\. Records have the fields trace, id, time; none stands for the end or the duration.* Say which fields stand for what: --columns trace=/,
    ],
    ['a zip archive', Uint8Array.from([0x50, 0x4b, 3, 4, 0]), /compressed, and not with gzip/],
    ['UTF-16', Uint8Array.from([0xff, 0xfe, 0x5b, 0]), /This is UTF-16 text\. Save it as UTF-8/],
    [
      'a Jaeger answer without traces',
      '{"data":[],"total":0,"errors":[{"msg":"trace not found"}]}',
      /^a\.json: The file, read as spans, has no usable traces \(first problem: a\.json: the server says: trace not found\)/,
    ],
    [
      'a file in which every span is bad',
      zipkin({ traceId: 'a', id: '1', name: 'n', localEndpoint: {} }),
      /has no usable traces \(first problem: a\.json:1, trace a: Span 1 has no usable start time\)/,
    ],
  ]
  test.each(cases)('%s', async (_, bytes, message) => {
    await expect(loadTraces(file(bytes))).rejects.toThrow(message)
  })

  test('a file that is not there', async () => {
    await expect(loadTraces(join(folder, 'absent.json'))).rejects.toThrow(
      /absent\.json cannot be opened \(ENOENT\)\. Check the name and the permissions\.$/,
    )
  })

  test('a directory', async () => {
    await expect(loadTraces(folder)).rejects.toThrow(
      /is a directory\. Name the trace files in it\./,
    )
  })

  test('no file at all', async () => {
    await expect(loadTraces([])).rejects.toThrow(
      'Option files is "[]". Give at least one trace file.',
    )
  })

  test('an unknown format', async () => {
    await expect(loadTraces(file('[]'), { format: 'xml' as 'dot' })).rejects.toThrow(
      /^Option format is "xml"\. Give 'auto', 'dot', 'otlp', 'xtrace', 'spans', 'jaeger', 'zipkin-v1', 'zipkin', .* 'rcaeval' or 'csv'\.$/,
    )
  })

  test('a format that the file is not in', async () => {
    await expect(loadTraces(file(zipkin(span('a'))), { format: 'jaeger' })).rejects.toThrow(
      /No spans were found\. Records have the fields traceId, id, /,
    )
  })

  test('spans and trace-point graphs in one period', async () => {
    await expect(loadTraces([file(zipkin(span('a'))), file(DOT, 'b.dot')])).rejects.toThrow(
      /^b\.dot: Span files and trace-point graphs cannot be mixed in one period: .*Load them as two trace sets$/,
    )
  })
})

describe('strict', () => {
  const content = zipkin(span('a'), span('b', '1', { duration: -1 }))

  test('false: a bad span is left out, counted and listed', async () => {
    const quality = (await loadTraces(file(content))).quality()
    expect([quality.traces, [...quality.counts]]).toEqual([1, [['unusable-span', 1]]])
    expect(quality.issues[0]).toMatchObject({
      effect: 'span skipped',
      place: { file: 'a.json', line: 1, trace: 'b' },
      message: 'Span 1 ends 1 µs before it starts',
    })
  })

  test('true: it stops the load', async () => {
    await expect(loadTraces(file(content), { strict: true })).rejects.toThrow(
      'a.json:1, trace b: Span 1 ends 1 µs before it starts. Correct the span',
    )
  })

  test('true: what is only doubtful does not stop it', async () => {
    const orphan = zipkin(span('a', '1', { parentId: '9' }))
    expect((await loadTraces(file(orphan), { strict: true })).size).toBe(1)
  })
})

describe('clock skew', () => {
  const load = async (child: object, parent: object = {}) => {
    const endpoint = (ipv4: string) => ({ localEndpoint: { serviceName: 's', ipv4 } })
    const set = await loadTraces(
      file(
        zipkin(
          span('a', '1', { timestamp: 1_000_100, ...endpoint('h1'), ...parent }),
          span('a', '2', {
            parentId: '1',
            timestamp: 1_000_150,
            duration: 100,
            ...endpoint('h2'),
            ...child,
          }),
        ),
      ),
    )
    return set.quality().issues.map(({ message }) => message)
  }

  test('is noted where a child on another host starts before its parent, or ends after it', async () => {
    expect(await load({ timestamp: 1_000_090 })).toEqual([
      '1 span outside a parent on another host, by up to 10 µs: the clocks disagree, or the parent did not wait',
    ])
    expect(await load({ timestamp: 1_000_260 })).toHaveLength(1)
    // What is longer than its parent is not within it, whatever the clocks.
    expect(await load({ duration: 300 })).toEqual([])
  })

  test('is not noted on one host, within rounding, or where nobody waits', async () => {
    expect(await load({})).toEqual([])
    expect(await load({ timestamp: 1_000_099 })).toEqual([])
    expect(await load({ timestamp: 1_000_000 })).toEqual([])
    const late = { timestamp: 1_000_260 }
    expect(await load({ ...late, kind: 'CONSUMER' })).toEqual([])
    expect(await load(late, { kind: 'PRODUCER' })).toEqual([])
    const sameHost = { localEndpoint: { serviceName: 's', ipv4: 'h1' } }
    expect(await load({ ...late, ...sameHost })).toEqual([])
  })

  test('takes another service for another host where no host is known', async () => {
    const nowhere = (serviceName: string) => ({ localEndpoint: { serviceName } })
    const late = { timestamp: 1_000_260 }
    expect(await load({ ...late, ...nowhere('b') }, nowhere('a'))).toHaveLength(1)
    expect(await load({ ...late, ...nowhere('a') }, nowhere('a'))).toHaveLength(0)
  })
})

test.each([[undefined], [{}], [5], [[null]]])('%j is no source of traces', async (source) => {
  await expect(loadTraces(source as never)).rejects.toThrow(
    /^Option files is .*\. Give a path, the URL of a file, or \{ name, bytes \}\.$/,
  )
})
