import { describe, expect, test } from 'vitest'
import { FINDING_DOCUMENT } from '../../src/cli/comparison-document.ts'
import { printedFindings } from '../../src/cli/finding-document.ts'
import { compareShops } from '../compare/findings/fixture.ts'
import { firstSeconds, flowdelta, schemaErrors } from './run-cli.ts'

const SHORT = await firstSeconds('mds-config', 8)

describe('--finding', () => {
  test('prints one finding in full, as text and as JSON', async () => {
    const first = JSON.parse((await flowdelta('compare', ...SHORT, '--json')).out).findings[0]
    const { out } = await flowdelta('compare', ...SHORT, '--json', '--finding', first.id)
    const document = JSON.parse(out)
    expect(schemaErrors('finding', document)).toBeNull()
    expect(document).toMatchObject({ schema: 'flowdelta.finding/1', finding: first })
    expect(document.mutations.map(({ rank }: { rank: number }) => rank)).toEqual(first.mutations)
    for (const { edges, edgesInAll } of document.mutations) {
      expect(edges.length).toBeGreaterThan(0)
      expect(edgesInAll).toBeUndefined()
    }
    const { out: text } = await flowdelta('compare', ...SHORT, '--finding', first.id)
    expect(text).toMatch(
      /\nTrace [0-9a-f]{32} \(after, [\d.]+ [µm]s\), \d+ calls \(◀ marks the finding\)\n +begins +takes\nfrontend NFS3 [A-Z]+ +0 µs/,
    )
    expect(text).toMatch(
      /Differences within the flow of mutation \d+:\n {2}1\. [\s\S]*?% of the slowdown/,
    )
    expect(document.flowDifferences.differences[0]).toMatchObject({ rank: 1, kind: 'replaced' })
    const unbroken = text.replace(/\n +/g, ' ')
    expect(unbroken).toContain(document.flowDifferences.differences[0].what)
    expect(text).toMatch(/^#1 {2}mds: index get calls storage-data SN READ instead of/)
    expect(text).toContain(`${first.id} (structure): in 0 of 887 requests before, 261 of 883 after`)
    for (const id of first.exemplars.after) expect(text).toContain(id)
  })

  test('that is not there is an error that says which was probably meant', async () => {
    const { out } = await flowdelta('compare', ...SHORT, '--json')
    const [{ id }] = JSON.parse(out).findings
    const { code, err } = await flowdelta('compare', ...SHORT, '--finding', `${id}0`)
    expect(code).toBe(2)
    expect(err).toContain(`'${id}0' is not the rank or the id of a finding. Did you mean '${id}'?`)
    const none = await flowdelta(
      'compare',
      ...(await firstSeconds('control', 3)),
      '--finding',
      'latency-1',
    )
    expect([none.code, none.err]).toEqual([
      2,
      'flowdelta: "latency-1" is no finding: this comparison has none.\n',
    ])
  })

  test('is the same by its rank as by its id, for --explain too', async () => {
    const text = async (...flags: string[]) => (await flowdelta('compare', ...SHORT, ...flags)).out
    const { id } = JSON.parse(await text('--json')).findings[0]
    const [whole, why] = [await text('--finding', id), await text('--explain', id)]
    expect(whole).toContain(id)
    expect(why).toContain('Finding #1 by parameters: ')
    expect(await text('--finding', '#1')).toBe(whole)
    expect(await text('--explain', '#1')).toContain(why.trimEnd())
    expect(await text('--finding', '1', '--explain', id)).toContain('Finding #1 by parameters: ')
    const wrong = await flowdelta('compare', ...SHORT, '--finding', '7')
    expect(wrong.err).toContain(
      `'#7' is not the rank or the id of a finding. Did you mean '#1'? Give '#1', '${id}'.`,
    )
  })

  test('has a document for every finding, consequences too', () => {
    const comparison = compareShops({}, { stockUs: 3000, networkUs: 900, archive: 0.3 })
    const findings = printedFindings(comparison)
    expect(findings.length).toBeGreaterThan(0)
    for (const finding of findings) {
      const document = FINDING_DOCUMENT.write({ comparison, finding })
      expect(schemaErrors('finding', JSON.parse(JSON.stringify(document)))).toBeNull()
    }
  })
})
