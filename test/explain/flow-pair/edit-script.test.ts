import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { alignTokens } from '../../../src/explain/flow-pair/match-nodes.ts'
import { editDistance } from '../../../src/stats/edit-distance.ts'

/** Places of each step of a script; `null` where one has none. */
function scriptOf(
  before: readonly number[],
  after: readonly number[],
  likeness?: (i: number, j: number) => number,
) {
  const pairs = alignTokens(before, after, likeness)
  let [i, j] = [0, 0]
  return [...pairs, [before.length, after.length] as const].flatMap(([row, column], n) => {
    const steps: (readonly [number | null, number | null])[] = []
    while (i < row) steps.push([i++, null])
    while (j < column) steps.push([null, j++])
    if (n < pairs.length) steps.push([i++, j++])
    return steps
  })
}

const distanceOf = (
  steps: ReturnType<typeof scriptOf>,
  before: readonly number[],
  after: readonly number[],
) => steps.filter(([i, j]) => i === null || j === null || before[i] !== after[j]).length

function signs(before: string, after: string, likeness?: (i: number, j: number) => number): string {
  const codes = (text: string) => Array.from(text, (letter) => letter.charCodeAt(0))
  return scriptOf(codes(before), codes(after), likeness)
    .map(([i, j]) => (i === null ? '+' : j === null ? '−' : before[i] === after[j] ? '=' : '≠'))
    .join('')
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

test('it is as long as the edit distance, and has each token once and in order', () => {
  fc.assert(
    fc.property(tokens, tokens, fc.boolean(), (before, after, picky) => {
      const likeness = (i: number, j: number) => (picky && (i + j) % 3 === 0 ? 0 : 1)
      const steps = scriptOf(before, after, likeness)
      expect(distanceOf(steps, before, after)).toBe(editDistance(before, after))
      expect(steps.flatMap(([i]) => i ?? [])).toEqual([...before.keys()])
      expect(steps.flatMap(([, j]) => j ?? [])).toEqual([...after.keys()])
    }),
  )
})

test('of sequences of 5,000 tokens in another order', {
  tags: 'full',
}, () => {
  const before = Array.from({ length: 5000 }, (_, i) => (i * 7919) % 97)
  const after = Array.from({ length: 4800 }, (_, i) => (i * 104729) % 89)
  const steps = scriptOf(before, after)
  expect(distanceOf(steps, before, after)).toBe(editDistance(before, after))
  expect(steps.flatMap(([, j]) => j ?? [])).toEqual([...after.keys()])
})
