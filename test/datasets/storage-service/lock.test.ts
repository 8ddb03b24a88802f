import { describe, expect, test } from 'vitest'
import { Lock } from '../../../datasets/storage-service/locks/lock.ts'
import { LockTable } from '../../../datasets/storage-service/locks/lock-table.ts'

describe('a lock', () => {
  test('goes to those who wait in the order they came', async () => {
    const lock = new Lock()
    const order: string[] = []
    const first = await lock.acquire()
    const others = ['second', 'third'].map(async (name) => {
      const release = await lock.acquire()
      order.push(name)
      await Promise.resolve()
      release()
    })
    expect(lock.queueLength).toBe(2)
    expect(order).toEqual([])
    first()
    await Promise.all(others)
    expect(order).toEqual(['second', 'third'])
    expect(lock.held).toBe(false)
  })

  test('has one holder at a time, also when one comes just as it is handed on', async () => {
    const lock = new Lock()
    let holders = 0
    let most = 0
    const visit = async () => {
      const release = await lock.acquire()
      most = Math.max(most, ++holders)
      await Promise.resolve()
      holders -= 1
      release()
    }
    const visitTwice = async () => {
      await visit()
      await visit()
    }
    await Promise.all(Array.from({ length: 20 }, visitTwice))
    expect(most).toBe(1)
  })

  test('cannot be released twice', async () => {
    const release = await new Lock().acquire()
    release()
    expect(release).toThrow('A lock was released twice: release it where it was acquired.')
  })
})

describe('a table of locks', () => {
  test('keeps different names apart', async () => {
    const locks = new LockTable()
    const first = await locks.acquire('a')
    const second = await locks.acquire('b')
    expect(locks.size).toBe(2)
    first()
    second()
  })

  test('forgets a lock that nobody holds or awaits, and no other', async () => {
    const locks = new LockTable()
    const first = await locks.acquire('a')
    const waiting = locks.acquire('a')
    first()
    expect(locks.size).toBe(1)
    const second = await waiting
    second()
    expect(locks.size).toBe(0)
  })
})
