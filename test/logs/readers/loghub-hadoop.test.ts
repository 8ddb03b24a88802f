import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import type { LogSet } from '../../../src/logs/features/log-set.ts'
import type { LogTemplates } from '../../../src/logs/readers/drain/log-templates.ts'
import { loadLogs, mineLogTemplates } from '../../../src/logs/readers/load-logs.ts'
import { describeWithShared, sharedFile } from '../../shared.ts'
import { eventCounts } from './log-messages.ts'

const DISK = 'threw java.io.IOException: There is not enough space on the disk'
const ROUTE = 'threw java.net.NoRouteToHostException: No route to host: no further information'

function jobs(label: string): string[] {
  const folder = sharedFile(`data/loghub-hadoop/WordCount_${label}`) as string
  return readdirSync(folder)
    .sort()
    .map((job) => join(folder, job))
}

// Jobs, in this order: three that are normal; disk full 0001 to 0005; network disconnected 0001, 0002, 0004.
describeWithShared('the Hadoop jobs of loghub', () => {
  let templates: LogTemplates
  let logs: LogSet

  beforeAll(async () => {
    const before = jobs('Normal')
    const after = [...jobs('Disk_full'), ...jobs('Network_disconnection')]
    templates = await mineLogTemplates([...before, ...after])
    logs = await loadLogs({ before, after }, { templates })
  })

  test('have a few hundred kinds of messages, and every message is of one', () => {
    expect(templates.size).toBeGreaterThan(150)
    expect(templates.size).toBeLessThan(350)
    expect(logs.report.skipped.map(({ reason }) => reason)).toEqual([
      'belongs to the message before it (stack trace, further line)',
    ])
    expect(logs.report.lines).toBe(30_304)
  })

  test('have readable names', () => {
    const names = templates.templates.slice(0, 20).map(({ name }) => name)
    expect(names).toContain('TaskAttemptListenerImpl: Progress of TaskAttempt <*> is : <num>')
    expect(names).toContain('MapTask: Finished spill <num>')
    expect(names).toContain('MapTask: bufstart = <num>; bufend = <num>; bufvoid = <num>')
  })

  test('name a full disk in one way, in the two jobs that had one', () => {
    const counts = eventCounts(logs)
    expect(counts[DISK]).toEqual([0, 0, 0, 0, 0, 7, 13, 0, 0, 0, 0])
    expect(Object.keys(counts).filter((name) => /^threw.*space on the disk/.test(name))).toEqual([
      DISK,
    ])
  })

  test('name a lost route in one way, in the job that had it', () => {
    const counts = eventCounts(logs)
    expect(counts[ROUTE]).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 15])
    expect(Object.keys(counts).filter((name) => /^threw.*NoRouteToHost/.test(name))).toEqual([
      ROUTE,
    ])
  })
})
