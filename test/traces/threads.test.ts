import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, expect, test } from 'vitest'
import { loadTraces } from '../../src/traces/load-traces.ts'
import { buffersOf, packTraces, unpackTraces } from '../../src/traces/pack-traces.ts'
import type { TraceSet } from '../../src/traces/trace-set.ts'

const RECORDED = 'datasets/storage-service/delay-1ms/before.jsonl.gz'
const GRAPHS = `# 1  R: 4.5 usecs RT: 7.0 usecs
Digraph G {
1.1 [label="e10__t3__CALL\\nDEFAULT", size=4096]
1.2 [label="e10__t3__REPLY\\nDEFAULT", kind=read]
1.1 -> 1.2 [label="R: 4.5 us"]
}
# 2  R: nonsense
Digraph G { 1.1 [label="e10__t3__CALL"] }
`
const folder = mkdtempSync(join(tmpdir(), 'flowdelta-threads-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Everything that a trace set says of itself. */
function contentOf(traces: TraceSet) {
  const { attributes } = traces
  const owners = attributes === null ? 0 : attributes.offsets.length - 1
  return {
    name: traces.name,
    epochNs: traces.epochNs,
    table: traces.table().objects(),
    spans: traces.kind === 'spans' ? traces.spanTable().objects({ limit: 5000 }) : [],
    attributes: Array.from({ length: Math.min(owners, 5000) }, (_, owner) => [
      ...(attributes?.entries(owner) ?? []),
    ]),
    quality: traces.quality().table().objects(),
    skipped: traces.quality().skippedTraces,
  }
}

test.each([
  ['spans', RECORDED],
  ['graphs', { name: 'graphs.dot', bytes: GRAPHS }],
])('%s pass from one thread to another unchanged', async (kind, file) => {
  const traces = await loadTraces(file, { threads: false })
  const expected = contentOf(traces)
  const packed = packTraces(traces)
  const passed = structuredClone(packed, { transfer: [...buffersOf(packed)] })
  expect(traces.kind).toBe(kind)
  expect(contentOf(unpackTraces(passed))).toEqual(expected)
})

test('traces read in a thread are those read without, and progress is told', async () => {
  const built = createRequire(import.meta.url)('flowdelta')
  const files: string[] = []
  const onProgress = ({ file }: { file: string }) => files.push(file)
  const traces = await built.loadTraces(RECORDED, { name: 'good', onProgress })
  const expected = await loadTraces(RECORDED, { name: 'good', threads: false })
  expect(new Set(files)).toEqual(new Set([RECORDED]))
  expect(contentOf(traces)).toEqual(contentOf(expected))
})

test('a file that cannot be read gives the same error in a thread', async () => {
  const { loadTraces: load } = createRequire(import.meta.url)('flowdelta')
  const bytes = readFileSync(RECORDED)
  const cut = join(folder, 'cut.jsonl.gz')
  writeFileSync(cut, bytes.subarray(0, bytes.length - 1000))
  await expect(load(cut)).rejects.toThrow(/cut\.jsonl\.gz: The gzip file is truncated/)
  const broken = join(folder, 'broken.jsonl')
  writeFileSync(broken, gunzipSync(bytes).fill(32, 0, 2_000_000))
  await expect(load(broken, { format: 'zipkin' })).rejects.toThrow(/broken\.jsonl/)
})

test('a load of files stops when its signal is aborted, in a thread and without one', async () => {
  const built = createRequire(import.meta.url)('flowdelta')
  for (const load of [built.loadTraces, loadTraces] as (typeof loadTraces)[]) {
    const controller = new AbortController()
    const onProgress = () => controller.abort(new Error('enough'))
    const { signal } = controller
    await expect(load(RECORDED, { signal, onProgress })).rejects.toThrow('enough')
    await expect(load(RECORDED, { signal })).rejects.toThrow('enough')
  }
})
