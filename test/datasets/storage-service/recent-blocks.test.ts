import { describe, expect, test } from 'vitest'
import {
  isWhole,
  RecentBlocks,
} from '../../../datasets/storage-service/storage-node/recent-blocks.ts'

const BLOCK = 16384
const filled = (blocks: number, text: string) => Buffer.alloc(blocks * BLOCK, text)
const stretch = (first: number, blocks: number, object = 'f') => ({
  object,
  offset: first * BLOCK,
  count: blocks * BLOCK,
})

describe('the recent blocks of a storage node', () => {
  test('give two blocks read together, or one of them', () => {
    const recent = new RecentBlocks(4)
    recent.keepRead(stretch(0, 2), Buffer.concat([filled(1, 'a'), filled(1, 'b')]), 0)
    expect(recent.find(stretch(0, 2))?.at(BLOCK)).toBe('b'.charCodeAt(0))
    expect(recent.find(stretch(1, 1))).toEqual(filled(1, 'b'))
    expect(recent.find(stretch(1, 2))).toBeUndefined()
  })

  test('do not keep the end of an object that fills no block', () => {
    const recent = new RecentBlocks(4)
    recent.keepRead(stretch(0, 2), filled(1, 'a'), 0)
    expect(recent.find(stretch(0, 1))).toEqual(filled(1, 'a'))
    expect(recent.find(stretch(1, 1))).toBeUndefined()
  })

  test('forget a block that was written only in part', () => {
    const recent = new RecentBlocks(4)
    recent.keepWritten(stretch(0, 2), filled(2, 'a'))
    recent.keepWritten({ object: 'f', offset: BLOCK + 5, count: 1 }, Buffer.from('x'))
    expect(recent.find(stretch(0, 1))).toEqual(filled(1, 'a'))
    expect(recent.find(stretch(1, 1))).toBeUndefined()
  })

  test('do not keep what was read before another write', () => {
    const recent = new RecentBlocks(4)
    const writes = recent.writesTo('f')
    recent.keepWritten(stretch(0, 1), filled(1, 'n'))
    recent.keepRead(stretch(0, 1), filled(1, 'o'), writes)
    expect(recent.find(stretch(0, 1))).toEqual(filled(1, 'n'))
  })

  test('hold no more than they may, and drop a removed object whole', () => {
    const recent = new RecentBlocks(2)
    recent.keepWritten(stretch(0, 3), filled(3, 'a'))
    expect(recent.find(stretch(0, 1))).toBeUndefined()
    recent.keepWritten(stretch(0, 1, 'f2'), filled(1, 'b'))
    recent.drop('f')
    expect(recent.find(stretch(2, 1))).toBeUndefined()
    expect(recent.find(stretch(0, 1, 'f2'))).toEqual(filled(1, 'b'))
  })

  test('take only whole blocks', () => {
    expect(isWhole({ object: 'f', offset: BLOCK, count: 2 * BLOCK })).toBe(true)
    expect(isWhole({ object: 'f', offset: 256, count: 256 })).toBe(false)
    expect(isWhole({ object: 'f', offset: 0, count: 256 })).toBe(false)
  })
})
