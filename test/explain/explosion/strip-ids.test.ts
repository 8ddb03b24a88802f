import { expect, test } from 'vitest'
import { stripIds } from '../../../src/flows/label-parts.ts'

test.each([
  ['GET /users/42', 'GET /users/#'],
  ['GET /users/42/orders/7?page=3', 'GET /users/#/orders/#?page=#'],
  ['read blk_-8823711209', 'read blk_#'],
  ['job 123e4567-e89b-12d3-a456-426614174000 done', 'job # done'],
  ['tx 0xdeadBEEF', 'tx #'],
  ['commit 9f1c2b7a', 'commit #'],
  ['connect 10.0.0.7:50010', 'connect #'],
  ['task20240611', 'task#'],
])('%s becomes %s', (name, expected) => {
  expect(stripIds(name)).toBe(expected)
})

test.each(['NFS3 READ', 'sha256', '/wrk2-api/review', 'v2.Search/Nearby', 'deadbeef', 'S3 put'])(
  '%s has no id in it',
  (name) => {
    expect(stripIds(name)).toBe(name)
  },
)

test('stripping twice is stripping once', () => {
  const name = 'GET /a/1-2/b_77/9f1c2b7a9f1c2b7a'
  expect(stripIds(stripIds(name))).toBe(stripIds(name))
})
