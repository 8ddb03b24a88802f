import { describe, expect, test } from 'vitest'
import { findCallingContexts } from '../../src/explain/calling-contexts/find-calling-contexts.ts'
import { explore } from '../../src/views/explore.ts'
import { compareShops } from '../compare/findings/fixture.ts'

const comparison = compareShops({}, { payUs: 2600, payEvery: 2 })

describe('explore', () => {
  test('a comparison without a kind shows its ranking', () => {
    expect(explore(comparison).view).toBe('ranking')
    expect(explore(comparison, { limit: 3 }).view).toBe('ranking')
  })

  test.each([
    ['flows', 'flows'],
    ['timeline', 'timeline'],
    ['swimlanes', 'swimlanes'],
    ['trace', 'gantt'],
    ['calling-contexts', 'calling-contexts'],
    ['variance', 'variance'],
    ['anomalies', 'anomalies'],
  ] as const)('the kind %s of a comparison shows the view %s', (kind, view) => {
    expect(explore(comparison, kind).view).toBe(view)
  })

  test('a stage with one kind needs no name for it, in code neither', () => {
    const contexts = findCallingContexts(comparison.flows)
    const widget = explore(contexts, { widths: 'before' })
    expect(widget.data).toMatchObject({ call: { name: 'contexts', kind: null } })
  })

  test('an unknown kind is answered with those that the stage has', () => {
    expect(() => explore(comparison, 'flow' as never)).toThrow(
      /'flow' is no widget of a comparison\. Did you mean 'flows'\? It has: 'ranking', 'flows', 'timeline'/,
    )
  })

  test('a misspelt option is answered with the one that was meant', () => {
    expect(() => explore(comparison, 'calling-contexts', { wdths: 1 } as never)).toThrow(
      'There is no option wdths. Did you mean widths?',
    )
  })

  test('a value that is no stage is rejected', () => {
    expect(() => explore(7 as never)).toThrow(
      'explore has no widget for 7. Give a comparison, or the table of a stage',
    )
  })
})
