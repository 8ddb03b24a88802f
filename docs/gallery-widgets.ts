import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { compare } from '../src/comparison/comparison.ts'
import { explainMutation } from '../src/explain/parameters/explain.ts'
import { compareLogs } from '../src/logs/compare-logs.ts'
import { loadLogs } from '../src/logs/readers/load-logs.ts'
import { loadTraces } from '../src/traces/load-traces.ts'
import { explore } from '../src/views/explore.ts'
import type { Widget } from '../src/views/widgets/widget.ts'
import { diagnoseLatency } from '../src/whatif/diagnosis/diagnose-latency.ts'

interface Picture {
  readonly name: string
  readonly widget: Widget
  readonly dark?: boolean
  /** Steps before the picture, such as a click. */
  readonly use?: (page: Page) => Promise<void>
}

async function traces(name: string) {
  const folder = fileURLToPath(new URL(`../datasets/storage-service/${name}/`, import.meta.url))
  const before = await loadTraces(join(folder, 'before.jsonl.gz'), { name: 'before' })
  const after = await loadTraces(join(folder, 'after.jsonl.gz'), { name: 'after' })
  return [before, after] as const
}

async function recorded(name: string) {
  return compare(...(await traces(name)))
}

async function recordedLogs() {
  const folder = fileURLToPath(new URL('../datasets/storage-service-logs/', import.meta.url))
  const [before, after] = [join(folder, 'good.jsonl.gz'), join(folder, 'bad.jsonl.gz')]
  return compareLogs(await loadLogs({ before, after }, { instance: 'instance' }), {
    metric: 'finish',
  })
}

/** Returns the widgets of the gallery, and the steps before the picture of each. */
export async function galleryWidgets(): Promise<readonly Picture[]> {
  const prefetch = await recorded('mds-prefetch')
  const delay = await recorded('delay-1ms')
  const [came] = prefetch.ranking.mutations
  const [slower] = delay.ranking.mutations
  const config = await recorded('mds-config')
  const [explained] = config.ranking.mutations
  if (came === undefined || slower === undefined || explained === undefined)
    throw new Error('A recorded case has no mutation.')

  return [
    {
      name: 'threshold',
      widget: explore(prefetch, { threshold: true }),
      use: (page) => page.locator('input[type=range]').first().fill('400'),
    },
    {
      name: 'ranking',
      widget: explore(prefetch),
      use: async (page) => {
        await page.locator('.fd-openable button').first().click()
        await page.getByRole('button', { name: 'Diff' }).first().click()
      },
    },
    {
      name: 'flows-side-by-side',
      widget: explore(prefetch, 'flows', { mutation: came, mode: 'side-by-side' }),
    },
    { name: 'flows-difference', widget: explore(delay, 'flows', { mutation: slower }), dark: true },
    {
      name: 'flows-animation',
      widget: explore(prefetch, 'flows', { mutation: came, mode: 'animation', at: 0.4 }),
    },
    {
      name: 'explanation',
      widget: explore(explainMutation(config, explained)),
    },
    { name: 'swimlanes', widget: explore(delay, 'swimlanes', { category: slower.category }) },
    { name: 'calling-contexts', widget: explore(delay, 'calling-contexts') },
    { name: 'timeline', widget: explore(delay, 'timeline') },
    {
      name: 'variance',
      widget: explore(delay, 'variance', { period: 'after' }),
      use: async (page) => {
        await page.locator('.fd-variance-list tbody button').first().click()
        await page.locator('.fd-variance-edges tbody button').first().click()
      },
    },
    {
      name: 'anomalies',
      widget: explore(delay, 'anomalies'),
      use: (page) =>
        page.locator('path[aria-roledescription="point"]').last().click({ force: true }),
    },
    {
      name: 'logs',
      widget: explore(await recordedLogs(), { kind: 'state' }),
      use: (page) =>
        page
          .getByRole('button', { name: /dirty_kb/ })
          .first()
          .click(),
    },
    {
      name: 'what-if',
      widget: explore(diagnoseLatency(...(await traces('delay-1ms'))), {
        by: 'operation',
        changes: [{ service: 'storage-data', operation: 'SN WRITE', factor: 4 }],
      }),
    },
  ]
}
