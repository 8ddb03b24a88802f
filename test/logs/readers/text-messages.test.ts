import { describe, expect, test } from 'vitest'
import { eventCounts, finalValues, firstTimes, readText, skipped } from './log-messages.ts'

const CONTINUATION = 'belongs to the message before it (stack trace, further line)'

describe('log4j', () => {
  test('names events by class and template, and numbers by their wildcard', async () => {
    const logs = await readText(
      [
        '2015-10-17 21:47:48,288 INFO [main] org.apache.hadoop.hdfs.DFSClient: read 5 of 10.0.0.7:50010 in 12 ms',
        '2015-10-17 21:47:49,288 WARN [IPC Server handler 3 on 4] org.apache.hadoop.hdfs.DFSClient: read 7 of 10.0.0.8:50010 in 30 ms',
        '2015-10-17 21:47:50,000 INFO [main] com.example.Outer$Inner: ',
      ].join('\n'),
    )
    expect(eventCounts(logs)).toEqual({
      'DFSClient: read <num> of <ip> in <num> ms': [2],
      Outer$Inner: [1],
    })
    expect(finalValues(logs)).toEqual({
      'DFSClient: read <num> of <ip> in <num> ms #1': [7],
      'DFSClient: read <num> of <ip> in <num> ms #3': [30],
    })
    expect([...logs.runTimeUs]).toEqual([1_712_000])
  })

  test.each([
    ['logback', '21:47:48.288 [main] DEBUG c.example.Peer - connected'],
    [
      'Spring Boot',
      '2015-10-17 21:47:48.288  INFO 4711 --- [app] [main] c.example.Peer : connected',
    ],
    ['HDFS', '081109 203615 148 INFO dfs.Peer: connected'],
    ['without a thread', '2015-10-17T21:47:48Z ERROR org.example.Peer: connected'],
  ])('has relatives: %s', async (_, line) => {
    expect(eventCounts(await readText(`${line}\n`))).toEqual({ 'Peer: connected': [1] })
  })

  test('keeps names of loggers that are not Java’s', async () => {
    const logs = await readText('2015-10-17 21:47:48,288 INFO [main] http.access: served\n')
    expect(logs.events.names).toEqual(['http.access: served'])
  })
})

describe('a stack trace', () => {
  const trace = [
    '2015-10-17 21:47:48,000 WARN [main] a.Client: gave up java.net.NoRouteToHostException: No route to host',
    'java.net.NoRouteToHostException: No route to host',
    '\tat sun.nio.ch.SocketChannelImpl.checkConnect(Native Method)',
    '  more text',
    'Caused by: a.b.WrapError: java.io.IOException: No space left; for more see http://a/b',
    '\t... 7 more',
    '',
    '2015-10-17 21:47:49,000 WARN [x] a.Client: fine',
    'Caused by: java.io.IOException: No space left',
  ].join('\n')

  test('belongs to the message before it; what it names was thrown, once a message', async () => {
    const logs = await readText(trace)
    expect(eventCounts(logs)).toEqual({
      'Client: gave up java.net.NoRouteToHostException: No route to host': [1],
      'Client: fine': [1],
      'threw java.io.IOException: No space left': [2],
      'threw java.net.NoRouteToHostException: No route to host': [1],
    })
    expect(firstTimes(logs)['threw java.io.IOException: No space left']).toEqual([0])
    expect(skipped(logs)).toEqual({ [CONTINUATION]: [4, 'a.log:2'] })
    expect(logs.report.lines).toBe(9)
  })

  test('before the first message belongs to none', async () => {
    const logs = await readText(trace.split('\n').slice(1).join('\n'))
    expect(skipped(logs)['stands before the first line with a time']).toEqual([5, 'a.log:1'])
    expect(eventCounts(logs)).toEqual({
      'Client: fine': [1],
      'threw java.io.IOException: No space left': [1],
    })
  })

  test('of an exception within brackets names it without them', async () => {
    const logs = await readText(
      '2015-10-17 21:47:48,000 WARN [x] a.B: threw [java.io.IOException: closed by host]\njava.io.IOException: closed by host\njava.lang.NullPointerException\n',
    )
    expect(logs.events.names.slice(1)).toEqual([
      'threw java.io.IOException: closed by host',
      'threw java.lang.NullPointerException',
    ])
  })
})

describe('free text', () => {
  test('has a time at the beginning of its lines', async () => {
    const logs = await readText(
      '[2015-10-17T21:47:48Z] disk 3 failed\n1445118470.5 - disk 4 failed\nI1017 21:47:48.5 no\n',
    )
    expect(eventCounts(logs)).toEqual({ 'disk <num> failed': [2] })
    expect([...logs.runTimeUs]).toEqual([2_500_000])
    expect(skipped(logs)).toEqual({ [CONTINUATION]: [1, 'a.log:3'] })
  })

  test('of syslog is named by program and template', async () => {
    const logs = await readText(
      '<34>Oct 17 21:47:48 web1 sshd[812]: session opened for root\nOct 17 21:47:50 web1 cron[9]: done\n',
    )
    expect(firstTimes(logs)).toEqual({
      'cron: done': [2_000_000],
      'sshd: session opened for root': [0],
    })
  })

  test('may be an access log, whose time stands further on', async () => {
    const logs = await readText(
      '10.0.0.1 - - [17/Oct/2015:21:47:48 +0000] "GET /a/b HTTP/1.1" 200 17\n10.0.0.2 - - [17/Oct/2015:21:47:49 +0000] "GET /a/c HTTP/1.1" 200 18\n',
    )
    expect(eventCounts(logs)).toEqual({ 'GET <path>': [2] })
  })

  test('is a name as it stands without templates', async () => {
    const logs = await readText('2015-10-17 21:47:48 disk 3 failed\n', { templates: 'none' })
    expect(logs.events.names).toEqual(['disk 3 failed'])
    const log4j = await readText('2015-10-17 21:47:48 INFO [x] a.Disk: 3 failed\n', {
      templates: 'none',
    })
    expect(log4j.events.names).toEqual(['Disk: 3 failed'])
  })
})

test('lines that Docker cuts at 16 KiB are whole again', async () => {
  const line = `2026-11-22 14:20:57,260 INFO [main] a.Peer: sent ${'x'.repeat(20_000)} end`
  const parts = [line.slice(0, 16_384), `${line.slice(16_384)}\n`]
  const carried = parts.map((log) =>
    JSON.stringify({ log, stream: 'stdout', time: '2026-11-22T14:20:57.26Z' }),
  )
  const logs = await readText(`${carried.join('\n')}\n`)
  expect(logs.report.messages).toEqual({ event: 1, state: 0 })
  expect(skipped(logs)).toEqual({ [CONTINUATION]: [1, 'a.log:1'] })
})
