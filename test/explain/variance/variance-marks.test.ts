import { describe, expect, test } from 'vitest'
import {
  markVariance,
  parseVarianceMarks,
  serializeVarianceMarks,
  type VarianceMark,
} from '../../../src/explain/variance/variance-marks.ts'

const DISK: VarianceMark = { from: 'write', to: 'written', kind: 'intrinsic', note: 'disk zones' }
const RETRY: VarianceMark = { from: 'call', to: 'again', kind: 'intentional' }

const file = (marks: unknown) => JSON.stringify({ schema: 'flowdelta.variance-marks/1', marks })

describe('marks', () => {
  test('come back from their file as they were, in the order of labels', () => {
    const marks = Object.freeze([DISK, RETRY])
    expect(parseVarianceMarks(serializeVarianceMarks(marks))).toEqual([RETRY, DISK])
  })

  test('a file has one mark a line', () => {
    expect(serializeVarianceMarks([RETRY])).toBe(
      '{\n  "schema": "flowdelta.variance-marks/1",\n  "marks": [\n' +
        '    {"from":"call","to":"again","kind":"intentional"}\n  ]\n}\n',
    )
    expect(parseVarianceMarks(serializeVarianceMarks([]))).toEqual([])
  })

  test('a second mark on an edge takes the place of the first, and nothing is changed', () => {
    const marks = Object.freeze(markVariance(markVariance([], DISK), RETRY))
    const again = markVariance(marks, { ...DISK, kind: 'inadvertent' })
    expect(again.map(({ kind }) => kind)).toEqual(['intentional', 'inadvertent'])
    expect(marks[0]).toEqual(DISK)
  })

  test.each([
    ['{', 'disk.json is not JSON'],
    ['null', 'disk.json has schema undefined. Give a file of schema flowdelta.variance-marks/1.'],
    [file({}), 'disk.json has {} for marks. Give a list of marks.'],
    [file([7]), 'disk.json, marks[0] is 7. Give an object with from, to and kind.'],
    [file([{ ...DISK, why: '' }]), 'marks[0] has "why". Give from, to, kind, note only.'],
    [file([RETRY, { ...DISK, from: '' }]), 'marks[1] has "" for from. Give the label at that end'],
    [
      file([{ ...DISK, kind: 'bad' }]),
      'marks[0] has "bad" for kind. Give intentional, inadvertent, intrinsic.',
    ],
    [file([{ ...DISK, note: 3 }]), 'marks[0] has 3 for note. Give text, or leave it out.'],
    [
      file([DISK, RETRY, { ...DISK, kind: 'inadvertent' }]),
      'marks[0] and marks[2] are both on the edge from "write" to "written". Keep one of them.',
    ],
  ])('%s is refused', (text, message) => {
    expect(() => parseVarianceMarks(text, { file: 'disk.json' })).toThrow(message)
  })
})
