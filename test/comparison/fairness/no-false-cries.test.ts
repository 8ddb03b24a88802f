import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { addComparisonFlags } from '../../../src/cli/comparison-flags.ts'
import { adviceFlags } from '../../../src/cli/flags.ts'
import { categorize } from '../../../src/compare/categories/categorize.ts'
import { compare } from '../../../src/comparison/comparison.ts'
import { COMPARISON_OPTIONS } from '../../../src/comparison/comparison-options.ts'
import { comparisonWarnings } from '../../../src/comparison/fairness/comparison-warnings.ts'
import { selectRequests } from '../../../src/flows/select-requests.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { loadTraces } from '../../../src/traces/load-traces.ts'
import { recordedCase } from '../../recorded.ts'
import { describeWithShared, sharedFile } from '../../shared.ts'

const SRC = fileURLToPath(new URL('../../../src/', import.meta.url))

describe('periods that are alike', async () => {
  const control = await recordedCase('control')

  test('the control recording: nothing is unfair', () => {
    expect(control.warnings()).toEqual([])
  })

  test('ten random halves of it: nothing is unfair', { tags: 'full' }, () => {
    const { before, after, options } = control
    const rows = Array.from({ length: control.flows.size }, (_, request) => request)
    for (let seed = 1; seed <= 10; seed++) {
      const shuffled = randomSource(seed).shuffle(rows)
      const flows = selectRequests(control.flows, {
        before: shuffled.slice(0, 9000),
        after: shuffled.slice(9000, 18_000),
      })
      const categories = categorize(flows)
      expect(comparisonWarnings({ before, after, flows, categories, options })).toEqual([])
    }
  })
})

describeWithShared('periods of others that are alike', () => {
  test.each([
    ['nezha-onlineboutique/ob0_control_no_fault', 'csv.gz', '_trace', []],
    [
      'traceweaver-jaeger/tw0_hotel_control_load100_even_vs_odd',
      'json.gz',
      '',
      ['data-quality', 'data-quality'],
    ],
  ])('%s: only what is true of their clocks', async (folder, format, kind, codes) => {
    const file = (period: string) =>
      sharedFile(`data/${folder}/${period}${kind}.${format}`) as string
    const comparison = compare(await loadTraces(file('normal')), await loadTraces(file('faulty')))
    expect(comparison.warnings().map(({ code }) => code)).toEqual(codes)
  })
})

describe('the options that warnings name', () => {
  const texts = (folder: string) =>
    readdirSync(SRC + folder)
      .filter((file) => file.endsWith('.ts'))
      .map((file) => readFileSync(`${SRC}${folder}/${file}`, 'utf8'))
      .join('\n')
  const fairness = texts('comparison/fairness')

  const advised = Array.from(
    fairness.matchAll(/advice:(?: \w+ \? \{\} :)? \{([^}]*)/g),
    ([, options]) => Array.from((options ?? '').matchAll(/(\w+):/g), ([, name]) => name as string),
  ).flat()

  test('have flags on the command line', () => {
    const { options } = addComparisonFlags(new Command(), [])
    expect(advised).toEqual(expect.arrayContaining(['smPThreshold', 'counts', 'strict']))
    expect(advised.filter((name) => adviceFlags(options, { [name]: null }).length !== 1)).toEqual(
      [],
    )
  })

  test('exist in `compare`', () => {
    const known = [...Object.keys(COMPARISON_OPTIONS), 'strict', 'joinLinks']
    expect(advised.filter((name) => !known.includes(name))).toEqual([])
  })

  test('are not named as flags in an analysis', () => {
    expect(fairness).not.toMatch(/ --?[a-z]/)
  })
})
