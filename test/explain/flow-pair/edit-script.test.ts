import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type EditStep, editScript } from '../../../src/explain/flow-pair/match-nodes.ts'
import { editDistance } from '../../../src/stats/edit-distance.ts'

const SIGNS = { keep: '=', substitute: '≠', delete: '−', insert: '+' }

function signs(before: string, after: string, likeness?: (i: number, j: number) => number): string {
  const codes = (text: string) => Array.from(text, (letter) => letter.charCodeAt(0))
  const options = likeness === undefined ? {} : { likeness }
  return editScript(codes(before), codes(after), options)
    .steps.map(({ kind }) => SIGNS[kind])
    .join('')
}

/** What a script makes of a sequence. */
function applied(steps: readonly EditStep[], after: readonly number[], before: readonly number[]) {
  return steps.flatMap((step) =>
    step.kind === 'delete' ? [] : [step.kind === 'keep' ? before[step.before] : after[step.after]],
  )
}

describe('a shortest edit script', () => {
  test.each([
    ['', '', ''],
    ['ab', '', '−−'],
    ['', 'ab', '++'],
    ['abcd', 'abcd', '===='],
    ['abcd', 'abce', '===≠'],
    ['abc', 'axbc', '=+=='],
    ['axbc', 'abc', '=−=='],
    ['kitten', 'sitting', '≠===≠=+'],
  ])('from “%s” to “%s” is %s', (before, after, expected) => {
    expect(signs(before, after)).toBe(expected)
  })

  test('of two equally short ones, the one that keeps more is taken', () => {
    expect(signs('ab', 'ba')).toMatch(/^(\+=−|−=\+)$/)
  })

  test('of two that keep as much, the one that keeps what goes together', () => {
    expect(signs('a', 'aa', (_, j) => (j === 0 ? 1 : 0))).toBe('=+')
    expect(signs('a', 'aa', (_, j) => (j === 1 ? 1 : 0))).toBe('+=')
  })

  test('likeness never makes a script longer', () => {
    expect(signs('aab', 'aab', () => 0)).toBe('===')
  })
})

const tokens = fc.array(fc.nat(4), { maxLength: 40 })

test('it is as long as the edit distance, keeps only equal tokens, and leads where it says', () => {
  fc.assert(
    fc.property(tokens, tokens, fc.boolean(), (before, after, picky) => {
      const likeness = (i: number, j: number) => (picky && (i + j) % 3 === 0 ? 0 : 1)
      const { distance, steps } = editScript(before, after, { likeness })
      expect(distance).toBe(editDistance(before, after))
      expect(distance).toBe(steps.filter(({ kind }) => kind !== 'keep').length)
      expect(applied(steps, after, before)).toEqual(after)
      for (const step of steps) {
        if (step.kind === 'keep') expect(before[step.before]).toBe(after[step.after])
      }
    }),
  )
})

test('of sequences of 5,000 tokens in another order', {
  tags: 'full',
}, () => {
  const before = Array.from({ length: 5000 }, (_, i) => (i * 7919) % 97)
  const after = Array.from({ length: 4800 }, (_, i) => (i * 104729) % 89)
  const { distance, steps } = editScript(before, after)
  expect(distance).toBe(editDistance(before, after))
  expect(applied(steps, after, before)).toEqual(after)
})
