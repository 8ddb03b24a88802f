import { describe, expect, test } from 'vitest'
import { ShapeTable } from '../../src/traces/shape-table.ts'

function intern(
  shapes: ShapeTable,
  labels: readonly number[],
  edges: readonly (readonly [number, number])[] = [],
): number {
  return shapes.intern(Uint32Array.from(labels), labels.length, {
    from: Uint32Array.from(edges, ([from]) => from),
    to: Uint32Array.from(edges, ([, to]) => to),
    edgeCount: edges.length,
  })
}

describe('a shape table', () => {
  test('gives equal shapes one number, in order of appearance', () => {
    const shapes = new ShapeTable()
    const numbers = [
      intern(shapes, [1, 2], [[0, 1]]),
      intern(shapes, [1, 3], [[0, 1]]),
      intern(shapes, [1, 2], [[0, 1]]),
      intern(shapes, [1, 2]),
      intern(shapes, [1, 2], [[1, 0]]),
      intern(shapes, []),
      intern(shapes, []),
    ]
    expect(numbers).toEqual([0, 1, 0, 2, 3, 4, 4])
    expect(shapes.size).toBe(5)
  })

  test('tells shapes apart that differ in the order recorded', () => {
    const shapes = new ShapeTable()
    const edges = [
      [0, 1],
      [0, 2],
    ] as const
    expect(intern(shapes, [1, 2, 2], edges)).toBe(0)
    expect(intern(shapes, [1, 2, 2], edges.toReversed())).toBe(1)
  })

  test('counts only as much of the arrays as it is told', () => {
    const shapes = new ShapeTable()
    expect(intern(shapes, [1, 2], [[0, 1]])).toBe(0)
    const long = { from: Uint32Array.of(0, 9, 9), to: Uint32Array.of(1, 9, 9), edgeCount: 1 }
    expect(shapes.intern(Uint32Array.of(1, 2, 77), 2, long)).toBe(0)
  })

  test('gives back what was interned, after growing', () => {
    const shapes = new ShapeTable()
    for (let i = 0; i < 5000; i++) {
      expect(intern(shapes, [i, i + 1, i + 2], [[0, 1], [1, 2]])).toBe(i) // biome-ignore format: one line
    }
    for (let i = 0; i < 5000; i += 97) {
      expect(Array.from(shapes.labels(i))).toEqual([i, i + 1, i + 2])
      expect(Array.from(shapes.from(i))).toEqual([0, 1])
      expect(Array.from(shapes.to(i))).toEqual([1, 2])
      expect([shapes.nodeCount(i), shapes.edgeCount(i)]).toEqual([3, 2])
    }
  })

  test('keeps apart shapes of more than 65,536 nodes whose edges hash alike', () => {
    const shapes = new ShapeTable()
    const labels = Array.from({ length: 70_000 }, () => 1)
    expect(intern(shapes, labels, [[0, 65_536]])).toBe(0)
    expect(intern(shapes, labels, [[1, 0]])).toBe(1)
    expect(intern(shapes, labels, [[0, 65_536]])).toBe(0)
  })
})
