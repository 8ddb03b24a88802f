import { describe, expect, test } from 'vitest'
import { tracebenchWords } from '../../../datasets/tracebench/tracebench-words.ts'
import { plainSpans } from '../../traces/read-traces.ts'
import { edge, event, load, ROOT } from './event-table-fixture.ts'

describe('descriptions of TraceBench', () => {
  const cases: [string, string, string, Record<string, unknown>][] = [
    ['a user task', 'A user task', 'unset', { message: 'A user task' }],
    ['nothing more than success', 'Success:', 'ok', { outcome: 'Success' }],
    [
      'a refused connection',
      'IOException: java.net.ConnectException: Connection refused: failed to connect to10.107.100.70:50010',
      'error',
      {
        outcome: 'IOException',
        exception: 'ConnectException',
        message: 'java.net.ConnectException: Connection refused: failed to connect to<address>',
        target: '10.107.100.70',
      },
    ],
    [
      'a bad link',
      'IOException: java.io.IOException: Bad connect ack with firstBadLink as 10.1.1.2:50010: failed to connect to10.1.1.3:50010',
      'error',
      {
        outcome: 'IOException',
        exception: 'IOException',
        message:
          'java.io.IOException: Bad connect ack with firstBadLink as <address>: failed to connect to<address>',
        'bad link': '10.1.1.2',
        target: '10.1.1.3',
      },
    ],
    [
      'a timeout',
      'Exception: java.net.SocketTimeoutException: 66000 millis timeout while waiting. ch : a.SocketChannel[connected local=/10.1.1.2:4711 remote=/10.1.1.3:50010]',
      'error',
      {
        outcome: 'Exception',
        exception: 'SocketTimeoutException',
        message:
          'java.net.SocketTimeoutException: <n> millis timeout while waiting. ch : a.SocketChannel[connected local=/<address> remote=/<address>]',
        local: '10.1.1.2',
        remote: '10.1.1.3',
        millis: 66000,
      },
    ],
    [
      'a block of a file',
      'Success: create blockOutputStream for next block=blk_-730590580101234986_59565 of /user/hadoop/localFile_7_blocks_client006_3',
      'ok',
      {
        outcome: 'Success',
        message: 'create blockOutputStream for next block=<block> of <path>',
        blocks: 7,
      },
    ],
    [
      'an object, which is its class',
      'Success: return(OW[class=class org.apache.hadoop.hdfs.protocol.LocatedBlock,value=org.apache.hadoop.hdfs.protocol.LocatedBlock@75ebad4])',
      'ok',
      {
        outcome: 'Success',
        message:
          'return(OW[class=class org.apache.hadoop.hdfs.protocol.LocatedBlock,value=org.apache.hadoop.hdfs.protocol.LocatedBlock])',
        class: 'LocatedBlock',
      },
    ],
  ]
  test.each(cases)('%s', (_, text, status, attributes) => {
    const words = tracebenchWords(text)
    expect(words.status).toBe(status)
    expect(Object.fromEntries(words.attributes)).toEqual(attributes)
  })

  test('addresses of hosts that report are their names, of others addresses', async () => {
    const set = await load(
      [
        event('A0 connect 0 1000 1', 'Success: connected to 10.0.0.2:50010'),
        event('A0 connect 2000 3000 1', 'Success: connected to 10.0.0.9:50010'),
        event('B0 serve 0 10 2'),
      ],
      [ROOT, edge('A0', 0, 'B0')],
    )
    expect(plainSpans(set).map(({ attributes }) => attributes['target'])).toEqual([
      'host2',
      '10.0.0.9',
      undefined,
    ])
  })
})
