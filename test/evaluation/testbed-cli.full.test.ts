import { describe, expect, test } from 'vitest'
import { runEvaluate } from './run-evaluate.ts'

const SMALL = ['--changes', '2', '--services', '5', '--requests', '100', '--seed', '2']

describe('npm run evaluate -- --whatif', () => {
  test('prints scores beside all baselines, and how far it is to standard error', async () => {
    const { out, err } = await runEvaluate('--whatif', ...SMALL)
    expect(out).toMatch(/^2 changes of 5 services \(/)
    expect(out).toContain('each a run of 100 requests before and after, drift 3 %')
    expect(out).toMatch(
      /^causes .* diagnosis +calls +divergence +KS all +KS +KS all\+ +KS calls +KS\n +only +levels +calls\+$/m,
    )
    for (const figure of ['Figure 2, left', 'Figure 2, right', 'Figure 3', 'Figure 4']) {
      expect(out).toContain(`${figure}`)
    }
    expect(err).toMatch(/^1 of 2, \d+ s: front › /m)
    expect(err).toMatch(/^2 of 2, \d+ s: front › /m)
  })

  test('--json gives every table', async () => {
    const { out } = await runEvaluate('--whatif', '--json', ...SMALL)
    const document = JSON.parse(out)
    expect(document).toMatchObject({
      schema: 'flowdelta.whatif-evaluation/1',
      parameters: { changes: 2, services: 5, requests: 100, drift: 0.03, seed: 2 },
      system: { services: 5 },
    })
    expect(document.changes).toHaveLength(2)
    expect(document.summary[0]).toMatchObject({ causes: 'all', changes: 2 })
    for (const table of ['detectedByDepth', 'detectedByCalls', 'scores', 'distribution']) {
      expect(document[table].length).toBeGreaterThan(0)
    }
  })

  test('does not take cases, which it simulates itself', async () => {
    const { code, err } = await runEvaluate('--whatif', 'rmw')
    expect(code).toBe(2)
    expect(err).toContain('does nothing with rmw. Leave one of the two out.')
  })
})
