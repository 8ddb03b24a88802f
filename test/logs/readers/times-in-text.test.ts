import { describe, expect, test } from 'vitest'
import { readText } from './log-messages.ts'

async function runOf(first: string, last: string, options = {}) {
  const logs = await readText(`${first}\n${last}\n`, { templates: 'none', ...options })
  return { ms: Number(logs.runTimeUs[0]) / 1000, names: logs.events.names }
}

describe('times at the beginning of lines keep their fraction and their zone', () => {
  test.each([
    ['2024-05-01T10:00:00.100Z a', '2024-05-01T10:00:00.600Z b', 500],
    ['[2024-05-01T10:00:00.100Z] a', '[2024-05-01T10:00:00.600Z] b', 500],
    ['2024-05-01T10:00:59+02:00 a', '2024-05-01T10:01:00+02:00 b', 1000],
    ['2024-05-01T10:00:59+02:00 a', '2024-05-01T09:01:00+01:00 b', 1000],
    ['2024-05-01 10:00:59,5 +0200 a', '2024-05-01 09:01:00,5 +0100 b', 1000],
    ['2024/05/01 10:00:59.500+02:00 a', '2024/05/01 09:01:00.500+01:00 b', 1000],
    ['2024-05-01T10:00:00.100 a', '2024-05-01T10:00:00.600 b', 500],
    ['2024-05-01 10:00:59 a', '2024-05-01 10:01:00 b', 1000],
    ['[    0.500000] a', '[   12.500000] b', 12_000],
  ])('%s', async (first, last, ms) => {
    expect(await runOf(first, last)).toEqual({ ms, names: ['a', 'b'] })
  })

  test('in RFC 5424 and behind a container runtime', async () => {
    const syslog = (time: string) => `<34>1 2024-05-01T10:00:${time}Z host app 7 ID - a`
    expect(await runOf(syslog('00.100'), syslog('00.600'))).toEqual({
      ms: 500,
      names: ['app: a'],
    })
    const stdout = (time: string) => `2024-05-01T10:00:${time}Z stdout F a`
    expect(await runOf(stdout('00.100000000'), stdout('00.600000001'))).toEqual({
      ms: 500,
      names: ['a'],
    })
  })

  test('a number behind a time is no zone', async () => {
    expect(await runOf('2024-05-01 10:00:00 -10 °C', '2024-05-01 10:00:01 -10 °C')).toEqual({
      ms: 1000,
      names: ['10 °C'],
    })
  })

  test('and a pattern that would leave them out fits no line', async () => {
    const options = { format: 'text', dateFormat: "yyyy-MM-dd'T'HH:mm:ss" } as const
    for (const end of ['.100 a', '+02:00 a']) {
      await expect(runOf('2024-05-01T10:00:00 a', `2024-05-01T10:00:01${end}`, options))
        .resolves //
        .toEqual({ ms: 0, names: ['a'] })
    }
  })
})
