import type { Command } from 'commander'
import { describe, expect, test, vi } from 'vitest'
import { printText } from '../../src/cli/printing.ts'
import { cutAtPart, tableOf, textTable } from '../../src/core/text-layout.ts'
import { flowdelta } from './run-cli.ts'

const HEAD = ['from', 'to', 'takes']
const NAME = 'currencyservice-cf787dd48-vpjrd grpc.hipstershop.CurrencyService/Convert reply'
const ROWS = [
  [NAME, `frontend ${NAME}`, '+591 ms'],
  ['cart', 'x'.repeat(90), '+2 ms'],
]

test('a table that fits has its numbers to the right', () => {
  expect(textTable(HEAD, [['a', 'b', '+591 ms']], 100)).toBe(
    ['from  to    takes', 'a      b  +591 ms'].join('\n'),
  )
})

test.each([20, 60, 100, 120])(
  'a table that is wider than %i characters has cells of several lines, and loses nothing',
  (width) => {
    const lines = textTable(HEAD, ROWS, width).split('\n')
    if (width >= 40)
      expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(width)
    const printed = lines.join('').replace(/\s/g, '')
    const letters = (text: string) => Array.from(text.replace(/\s/g, '')).sort().join('')
    expect(letters(printed)).toBe(letters([HEAD, ...ROWS].flat().join('')))
  },
)

test('a table says under each title what its column says of a row; long cells differ where they did', () => {
  const names = [1, 2].map((number) => `${'b'.repeat(90)}${number}${'a'.repeat(90)}`)
  const columns = { name: (name: string) => name, row: (_: string, i: number) => `no. ${i}` }
  const lines = tableOf(names, columns, { width: 100, longest: 40 }).split('\n')
  expect(lines[0]).toMatch(/^name +row$/)
  expect(lines[1]).toMatch(/^bbb[^2]*1[^2]*aaa +no\. 0$/)
  expect(lines[2]).toMatch(/^bbb[^1]*2[^1]*aaa +no\. 1$/)
  expect(lines[1]?.length).toBeLessThan(50)
})

test('a cell is broken where a name or one of its parts ends', () => {
  expect(textTable(['name'], [[NAME]], 35).split('\n')).toEqual([
    'name',
    'currencyservice-cf787dd48-vpjrd',
    '  grpc.hipstershop.CurrencyService/',
    '  Convert reply',
  ])
})

test('columns share their room so that parts of names stay whole; a capital ends one as a last resort', () => {
  const row = [
    'currencyservice-cf787dd48-vpjrd grpc.hipstershop.CurrencyService/GetSupportedCurrencies reply',
    'frontend-579b9bff58-t2dbm hipstershop.CurrencyService/GetSupportedCurrencies reply',
    ...['network', '+591 ms', '+589 ms to +593 ms', '194', '197'],
  ]
  const head = ['from', 'to', 'where', 'takes', '95 % CI', 'requests before', 'after']
  const wordsAt = (width: number) => textTable(head, [row], width).split(/\s+/)
  for (const word of [
    'currencyservice-',
    'hipstershop.',
    'CurrencyService/',
    'GetSupportedCurrencies',
  ])
    expect(wordsAt(112)).toContain(word)
  expect(wordsAt(96)).toContain('hipstershop.')
  expect(
    wordsAt(96)
      .filter((word) => /Get|Currencies$/.test(word))
      .sort(),
  ).toEqual([...['Currencies', 'Currencies', 'GetSupported', 'GetSupported']])
})

test.each([
  ['mean: one 20 % → 30 %, two 30 % → 40 %, three', 44, 'mean: one 20 % → 30 %, two 30 % → 40 % …'],
  ['mean: one 20 % → 30 %, two 30 % → 40 %, three', 40, 'mean: one 20 % → 30 % …'],
  [
    'a: none of these words is followed by 20 % of all',
    42,
    'a: none of these words is followed by …',
  ],
  ['a: it took 20 ms longer', 20, 'a: it took 20 ms …'],
  ['a line that fits, whole', 30, 'a line that fits, whole'],
])('%s is cut to %d after a whole part', (line, width, cut) => {
  expect(cutAtPart(line, width)).toBe(cut)
})

test('an error of flowdelta itself exits as no regression does, nor wrong input', async () => {
  let problem: Error
  vi.doMock('../../src/cli/demo.ts', () => ({
    addDemo: (command: Command) =>
      command.option('--out').action(() => {
        throw problem
      }),
  }))
  problem = new TypeError('no length')
  const ours = await flowdelta('demo', '--out')
  expect([ours.code, ours.out]).toEqual([3, ''])
  expect(ours.err).toMatch(/^TypeError: no length\n.*Please report it/s)
  problem = Object.assign(new Error('EACCES: open /x'), { syscall: 'open' })
  const { code, err } = await flowdelta('demo', '--out')
  expect([code, err]).toEqual([2, 'flowdelta: EACCES: open /x.\n'])
})

describe('blocks of a picture', () => {
  const printed = (isTTY: boolean, noColor: string) => {
    vi.stubEnv('NO_COLOR', noColor)
    vi.stubEnv('TERM', 'xterm')
    const before = Object.getOwnPropertyDescriptor(process.stdout, 'isTTY')
    Object.defineProperty(process.stdout, 'isTTY', { value: isTTY, configurable: true })
    const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
    try {
      printText('after ░░█▓')
      return String(write.mock.calls[0]?.[0])
    } finally {
      write.mockRestore()
      vi.unstubAllEnvs()
      if (before === undefined) Reflect.deleteProperty(process.stdout, 'isTTY')
      else Object.defineProperty(process.stdout, 'isTTY', before)
    }
  }

  test('have colors on a terminal', () => {
    expect(printed(true, '')).toBe('after \u001b[2m░░\u001b[22m\u001b[33m█▓\u001b[39m\n')
  })

  test('are plain where NO_COLOR is set, and where text is piped', () => {
    expect(printed(true, '1')).toBe('after ░░█▓\n')
    expect(printed(false, '')).toBe('after ░░█▓\n')
  })
})
