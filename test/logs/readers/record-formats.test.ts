import { describe, expect, test } from 'vitest'
import { logfmtPairs } from '../../../src/logs/readers/logfmt.ts'
import { eventCounts, finalValues, firstTimes, readText, skipped } from './log-messages.ts'

describe('logfmt', () => {
  function pairs(line: string): string[] | undefined {
    return logfmtPairs(line)?.map(([key, value]) => `${key}|${value}`)
  }

  test.each([
    ['a=1 b="x y"  c= flag', ['a|1', 'b|x y', 'c|', 'flag|true']],
    ['a="say \\"no\\" \\\\ and\\nthen"', ['a|say "no" \\ and\nthen']],
    ['a=b=c', ['a|b=c']],
    ['just some words', undefined],
    ['a="open', undefined],
    ['=1', undefined],
    ['', undefined],
  ])('pairs of %j', (line, expected) => {
    expect(pairs(line)).toEqual(expected)
  })

  test('has events, states, and free text that is mined', async () => {
    const logs = await readText(
      [
        'ts=2020-01-01T00:00:00Z level=info event=start',
        'ts=2020-01-01T00:00:01Z level=info event="queue length" value=3',
        'ts=2020-01-01T00:00:02Z level=warn msg="took 5 ms"',
        'ts=2020-01-01T00:00:03Z level=warn msg="took 7 ms"',
        'panic: oh no',
      ].join('\n'),
    )
    expect(firstTimes(logs)).toEqual({
      start: [0],
      'took <num> ms': [2e6],
      'threw panic: oh no': [3e6],
    })
    expect(finalValues(logs)).toEqual({ 'queue length': [3], 'took <num> ms #1': [7] })
    expect(skipped(logs)).toEqual({})
  })
})

describe('CSV', () => {
  test('has a header line, any usual delimiter, and quoted fields', async () => {
    const logs = await readText(
      'time;name;value;host\n10;start;;a\n20;"queue; ""x""";4;a\n30;stop;;b\n40;x\n',
      { instance: 'host' },
    )
    expect(logs.instances).toEqual(['a', 'b'])
    expect(eventCounts(logs)).toEqual({ start: [1, 0], stop: [0, 1] })
    expect(finalValues(logs)).toEqual({ 'queue; "x"': [4, Number.NaN] })
    expect(skipped(logs)).toEqual({ 'is not in the format of its file': [1, 'a.log:5'] })
    expect(logs.report.lines).toBe(5)
  })

  test('without the columns that are needed says which is missing', async () => {
    await expect(readText('when,name\n1,a\n', { format: 'csv' })).rejects.toThrow(
      'a line has no time that can be read (1, as in a.log:2). Name the field of times with `fields.time`',
    )
    const logs = await readText('when,name\n1,a\n', { format: 'csv', fields: { time: 'when' } })
    expect(eventCounts(logs)).toEqual({ a: [1] })
  })

  test('that ends within a quoted field says so', async () => {
    const logs = await readText('time,name\n1,a\n2,"b\n')
    expect(skipped(logs)).toEqual({ 'is not in the format of its file': [1, 'a.log:3'] })
  })
})

describe('OTLP', () => {
  const attribute = (key: string, value: object) => ({ key, value })
  const exported = (service: string, ...logRecords: object[]) => ({
    resourceLogs: [
      {
        resource: { attributes: [attribute('service.name', { stringValue: service })] },
        scopeLogs: [{ scope: {}, logRecords }],
      },
    ],
  })
  const sent = {
    timeUnixNano: '1445118468288123000',
    body: { stringValue: 'sent 5 kB' },
    attributes: [attribute('size', { intValue: '5000' }), attribute('peer', { stringValue: 'p1' })],
  }
  const started = {
    timeUnixNano: '0',
    observedTimeUnixNano: '1445118468288124000',
    eventName: 'started',
  }
  const documents = [exported('web', sent, started, { body: {} }), exported('db', sent)]

  test.each([
    ['lines', documents.map((one) => JSON.stringify(one)).join('\n')],
    ['a list', JSON.stringify(documents, null, 2)],
  ])('as %s: service and body or event, attributes as states', async (_, text) => {
    const logs = await readText(text)
    expect(firstTimes(logs)).toEqual({
      'db: sent <num> kB': [0],
      'web: sent <num> kB': [0],
      'web: started': [1],
    })
    expect(finalValues(logs)).toEqual({
      'db: sent <num> kB #1': [5],
      'db: sent <num> kB.size': [5000],
      'web: sent <num> kB #1': [5],
      'web: sent <num> kB.size': [5000],
    })
    expect(Object.keys(skipped(logs))).toEqual(['has no name'])
  })

  test('has instances by an attribute of the record or its resource', async () => {
    const text = documents.map((one) => JSON.stringify(one)).join('\n')
    expect((await readText(text, { instance: 'service.name' })).instances).toEqual(['web', 'db'])
    const logs = await readText(text, { instance: 'peer' })
    expect(logs.instances).toEqual(['p1'])
    expect(skipped(logs)['does not say which instance it is of']?.[0]).toBe(1)
  })

  test('that is broken is skipped, and told with its line', async () => {
    const text = `${JSON.stringify(documents[1])}\n{"resourceLogs":[\n${JSON.stringify(documents[1])}\n`
    const logs = await readText(text)
    expect(eventCounts(logs)).toEqual({ 'db: sent <num> kB': [2] })
    expect(skipped(logs)).toEqual({ 'is not in the format of its file': [1, 'a.log:2'] })
  })
})
