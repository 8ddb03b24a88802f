import { describe, expect, test } from 'vitest'
import { AttributesBuilder } from '../../src/traces/attributes.ts'

function build(position: readonly number[], owners = position.length) {
  const builder = new AttributesBuilder()
  builder.add(0, 'size', 4096)
  builder.add(0, 'file', '/tmp/a')
  builder.add(1, 'hit', false)
  builder.add(2, 'size', 0)
  builder.add(2, 'file', '')
  return builder.finish(owners, Int32Array.from(position))
}

describe('attributes', () => {
  test('are numbers, text or truth values, and keep their type', () => {
    const attributes = build([0, 1, 2])
    expect([...attributes.entries(0)]).toEqual([
      ['size', 4096],
      ['file', '/tmp/a'],
    ])
    expect(attributes.get(1, 'hit')).toBe(false)
    expect(attributes.get(2, 'size')).toBe(0)
    expect(attributes.get(2, 'file')).toBe('')
  })

  test('that an owner does not have are undefined', () => {
    const attributes = build([0, 1, 2])
    expect(attributes.get(1, 'size')).toBeUndefined()
    expect(attributes.get(0, 'color')).toBeUndefined()
    expect(attributes.get(7, 'size')).toBeUndefined()
    expect([...attributes.entries(7)]).toEqual([])
  })

  test('move with their owners, and go with those left out', () => {
    const attributes = build([1, -1, 0], 2)
    expect([...attributes.entries(0)]).toEqual([
      ['size', 0],
      ['file', ''],
    ])
    expect([...attributes.entries(1)]).toEqual([
      ['size', 4096],
      ['file', '/tmp/a'],
    ])
    expect(Array.from(attributes.offsets)).toEqual([0, 2, 4])
  })

  test('of the same key twice: the first counts, both are listed', () => {
    const builder = new AttributesBuilder()
    builder.add(0, 'size', 1)
    builder.add(0, 'size', 2)
    const attributes = builder.finish(1, Int32Array.of(0))
    expect(attributes.get(0, 'size')).toBe(1)
    expect([...attributes.entries(0)]).toHaveLength(2)
  })
})
