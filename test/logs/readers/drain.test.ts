import { describe, expect, test } from 'vitest'
import { DrainTree, masked, tokensOf } from '../../../src/logs/readers/drain/log-templates.ts'
import { loadLogs, mineLogTemplates } from '../../../src/logs/readers/load-logs.ts'
import { contentOf, eventCounts, finalValues, skipped } from './log-messages.ts'

function mined(texts: readonly string[]): string[] {
  const tree = new DrainTree()
  for (const text of texts) tree.add('', tokensOf(text), text)
  return tree.groups.map(({ tokens, count }) => `${count} ${tokens.join(' ')}`)
}

const log = (name: string, ...texts: string[]) => ({
  name,
  bytes: texts.map((text, i) => `2015-10-17 21:47:${10 + i} ${text}\n`).join(''),
})

describe('a level', () => {
  const steps = ['step start', 'step retry', 'step finish']

  test('is no token that messages have in common', () => {
    const apart = steps.map((step) => `1 ${step}`)
    expect(mined(steps)).toEqual(apart)
    for (const level of ['[INFO]', 'INFO', 'WARN:', '[error]']) {
      const leveled = steps.map((step) => `${level} ${step}`)
      expect(mined(leveled)).toEqual(leveled.map((step) => `1 ${step}`))
    }
  })

  test('keeps messages apart, and does not keep them from being one otherwise', () => {
    expect(mined(['[INFO] a b c', '[INFO] a b d', '[WARN] a b d'])).toEqual([
      '2 [INFO] a b <*>',
      '1 [WARN] a b d',
    ])
  })

  test('is not any word that may be one', () => {
    expect(mined(['error in a b', 'error in a c'])).toEqual(['2 error in a <*>'])
  })
})

describe('the tree', () => {
  test('makes one group of messages that share half of their tokens', () => {
    expect(mined(['send block a ok', 'send block b failed'])).toEqual(['2 send block <*> <*>'])
    expect(mined(['send a to x y', 'send b of z w'])).toEqual([
      '1 send a to x y',
      '1 send b of z w',
    ])
  })

  test('tells messages apart by their number of tokens and the first two of them', () => {
    expect(mined(['send block a', 'send block a b', 'sent block a', 'send blocks a'])).toHaveLength(
      4,
    )
  })

  test('takes tokens with digits for variables', () => {
    expect(mined(['n1 is up now', 'n2 is up now'])).toEqual(['2 <*> is up now'])
  })

  test('puts tokens for which there is no room under a wildcard', () => {
    const word = (i: number) => `${'abcdefghij'[Math.floor(i / 10)]}${'abcdefghij'[i % 10]}`
    const texts = Array.from({ length: 101 }, (_, i) => `${i < 100 ? word(i) : 'z'} x y z`)
    const groups = mined(texts)
    expect(groups).toHaveLength(100)
    expect(groups.at(-1)).toBe('2 <*> x y z')
  })

  test('makes no more than 10,000 groups', () => {
    const texts = Array.from({ length: 10_001 }, (_, i) => 'a '.repeat(i + 1))
    expect(mined(texts)).toHaveLength(10_000)
  })
})

describe('masks', () => {
  test.each([
    ['to /10.190.173.170:50010, x', 'to <ip>, x'],
    ['from MININT-FNANLI5/127.0.0.1 on', 'from <ip> on'],
    ['at fe80::1ff:fe23:4567 now', 'at <ip> now'],
    ['std::vector at 12:04:05.123', 'std::vector at <time>'],
    ['on 2015-10-17T21:47:48.288Z and 2015-10-17', 'on <time> and <time>'],
    ['get hdfs://msra-sa-41:9000/a/b.txt, ok', 'get <url>, ok'],
    ['wrote /tmp/a/b.txt and C:\\logs\\x', 'wrote <path> and <path>'],
    ['either/or, 3/4, kB/s', 'either/or, <num>/<num>, kB/s'],
    ['attempt_1445182159119_0004_m_000004_0 done', 'attempt_<id>_m_<id> done'],
    ['blk_1073743509_2731 of rack-12:8042', 'blk_<id> of rack-<id>'],
    ['id 123e4567-e89b-12d3-a456-426614174000', 'id <uuid>'],
    ['at 0x1F and deadbeef01 and feedface', 'at <hex> and <hex> and feedface'],
    ['took 12ms, 1.5 s, -3e-4, 50% of x=7', 'took <num>ms, <num> s, <num>, <num>% of x=<num>'],
    ['jetty-6.1.26 and 1.2.3', 'jetty-<version> and <version>'],
    ['h2o and utf8 stay', 'h2o and utf8 stay'],
  ])('make %j %j', (text, expected) => {
    expect(masked(text).text).toBe(expected)
  })

  test('keep what they replaced, in order', () => {
    expect(masked('5 of 10.0.0.1').values).toEqual(['5', '10.0.0.1'])
  })
})

describe('templates', () => {
  const before = log(
    'g',
    'sent 5 kB to 10.0.0.1',
    'sent 7 kB to 10.0.0.2',
    'disk queue is full',
    'took 1 ms',
  )
  const after = log(
    'b',
    'sent 9 kB to 10.0.0.1',
    'disk queue is gone',
    'gave up 3',
    'gave up 4',
    'gave up 5',
  )

  test('of both classes are one set, whatever came first', async () => {
    const logs = await loadLogs({ before, after })
    expect(eventCounts(logs)).toEqual({
      'gave up <num>': [0, 3],
      'disk queue is <*>': [1, 1],
      'sent <num> kB to <ip>': [2, 1],
      'took <num> ms': [1, 0],
    })
    const swapped = await loadLogs({ before: after, after: before })
    expect(swapped.events.names).toEqual(logs.events.names)
    expect(swapped.states.names).toEqual(logs.states.names)
  })

  test('are a table: id, template, count and an example, most messages first', async () => {
    // Log `b` is read before `g`.
    const templates = await mineLogTemplates([before, after])
    expect(templates.table().objects().slice(0, 3)).toEqual([
      { id: 1, template: 'gave up <num>', count: 3, example: 'gave up 3' },
      { id: 2, template: 'sent <num> kB to <ip>', count: 3, example: 'sent 9 kB to 10.0.0.1' },
      { id: 3, template: 'disk queue is <*>', count: 2, example: 'disk queue is gone' },
    ])
  })

  test('given back make the same reading', async () => {
    const templates = await mineLogTemplates([before, after])
    const expected = contentOf(await loadLogs({ before, after }))
    expect(contentOf(await loadLogs({ before, after }, { templates }))).toEqual(expected)
  })

  test('are renamed and merged, and are not changed by it', async () => {
    const mined = await mineLogTemplates([before, after])
    const edited = mined.rename(2, 'send').merge(['disk queue is <*>', 'took <num> ms'], 'odd')
    expect(mined.templates.map(({ name }) => name)).toContain('disk queue is <*>')
    expect(edited.table().array('template')).toEqual(['gave up <num>', 'send', 'odd'])
    const logs = await loadLogs({ before, after }, { templates: edited })
    expect(eventCounts(logs)).toEqual({ 'gave up <num>': [0, 3], odd: [2, 1], send: [2, 1] })
    expect(finalValues(logs)).toEqual({
      'gave up <num> #1': [Number.NaN, 5],
      'odd #1': [1, Number.NaN],
      'send #1': [7, 9],
    })
  })

  test('that are not there cannot be edited', async () => {
    const templates = await mineLogTemplates(before)
    expect(() => templates.rename('no', 'x')).toThrow(
      'Option which is "no". Give the id or the name of a template, as table() shows them.',
    )
    expect(() => templates.merge([1])).toThrow('two templates or more')
  })

  test('that are not among those given leave messages out, and the report says so', async () => {
    const templates = await mineLogTemplates(before)
    const logs = await loadLogs({ before: [], after }, { templates })
    expect(skipped(logs)).toEqual({ 'is text that no template matches': [4, 'b:2'] })
  })

  test('count a number under a wildcard as one, and nothing that is more than it', async () => {
    const odd = log('o', 'size is unknown', 'size is 5', 'size is 6,', 'size is a7', 'size is 1=2')
    const logs = await loadLogs({ before: odd, after: [] })
    expect(eventCounts(logs)).toEqual({ 'size is <*>': [5] })
    expect(logs.states.of(0, 'maximum')).toEqual(Float64Array.of(6))
    expect(logs.states.of(0, 'minimum')).toEqual(Float64Array.of(5))
  })

  test('are not confused by text that looks like a mask', async () => {
    const logs = await loadLogs({ before: log('o', 'set <num> 5', 'set <num> 6'), after: [] })
    expect(eventCounts(logs)).toEqual({ 'set <num> <num>': [2] })
    expect(logs.states.names).toEqual([])
  })
})
