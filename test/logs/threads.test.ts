import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { LogBuilder } from '../../src/logs/features/log-builder.ts'
import type { LogSet } from '../../src/logs/features/log-set.ts'
import { mineInputs } from '../../src/logs/readers/drain/mine-log-templates.ts'
import { loadLogs } from '../../src/logs/readers/load-logs.ts'
import { logInputs } from '../../src/logs/readers/log-inputs.ts'
import { type LogReadOptions, readSettings } from '../../src/logs/readers/log-read-options.ts'
import { answering, inputReader } from '../../src/logs/readers/read-inputs.ts'

const folder = mkdtempSync(join(tmpdir(), 'flowdelta-log-threads-'))
afterAll(() => rmSync(folder, { recursive: true }))

const STACK = 'shop.OutOfStock: no stock\n\tat shop.Cart.main(Cart.java:2)'

/** Lines of JSON with facets, numbers and ids, lines of text with a stack, and some that cannot be read. */
function write(name: string, file: number, lines: number): string {
  const path = join(folder, name)
  const text = Array.from({ length: lines }, (_, i) => {
    const ms = 1.7e12 + 400 * i
    const time = new Date(ms).toISOString()
    if (i % 7 === 0) return `${time} WARN [main] shop.Cart: waited ${i} ms\n${STACK}`
    if (i % 11 === 0) return `{"time":"soon","msg":"no time"}`
    const fields = {
      // Few values in each file, and too many in all; and few in all.
      shard: `s${10 * file + (i % 10)}`,
      tenant: ['acme', 'globex', 'initech'][(i + file) % 3],
      request_id: `${file}-${i}`,
      ms: i % 13 === 0 ? 'slow' : i % 50,
      [`only${file}`]: i % 4,
    }
    return JSON.stringify({ time, level: i % 3 ? 'info' : 'error', msg: 'done', ...fields })
  })
  writeFileSync(path, text.join('\n'))
  return path
}

/** Everything that a log set says of itself. */
function contentOf(logs: LogSet) {
  const { instances, classOf, runTimeUs, levels } = logs
  return {
    instances,
    classOf: [...classOf],
    runTimeUs: [...runTimeUs],
    levels: [...(levels ?? [])].sort(),
    events: logs.eventTable().objects(),
    states: logs.stateTable().objects(),
    report: logs.report.table().objects(),
    skipped: logs.report.skipped,
    lines: logs.report.lines,
    messages: logs.report.messages,
  }
}

test.each<LogReadOptions>([
  {},
  { window: '30s', instance: 'path' },
  { templates: 'none' },
  { waits: 'always' },
])('inputs read apart and put together are those read one after the other: %j', async (options) => {
  const before = [write('a.log', 0, 2000), write('b.log', 1, 900)]
  const after = [write('c.log', 2, 1500)]
  const settings = readSettings(options)
  const inputs = await logInputs([...before, ...after])
  const isMined = settings.templates === 'mined'
  const templates = isMined ? await mineInputs(inputs, settings) : ('none' as const)
  const builder = new LogBuilder()
  const all = inputReader(builder, settings, templates)
  for (const { id } of inputs) {
    const logClass = after.includes(id) ? 'after' : 'before'
    const answer = answering(structuredClone(options), JSON.stringify(templates))
    all.add(logClass, structuredClone(await answer(logClass, id)))
  }
  all.finish()
  const expected = contentOf(await loadLogs({ before, after }, options))
  expect(contentOf(builder.build())).toEqual(expected)
  expect(expected.events.length).toBeGreaterThan(10)
})

test('large files are read in threads, with the same result', {
  tags: ['full'],
  timeout: 60_000,
}, async () => {
  const built = createRequire(import.meta.url)('flowdelta')
  const before = [write('a.log', 0, 60_000), write('b.log', 1, 60_000)]
  const after = [write('c.log', 2, 60_000), write('d.log', 3, 60_000)]
  const elsewhere = await built.loadLogs({ before, after })
  expect(contentOf(elsewhere)).toEqual(contentOf(await loadLogs({ before, after })))
})
