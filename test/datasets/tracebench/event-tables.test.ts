import { describe, expect, test } from 'vitest'
import { issueCounts, plainSpans } from '../../traces/read-traces.ts'
import { edge, event, load, outline, ROOT } from './event-table-fixture.ts'

describe('the clocks of hosts', () => {
  test('work on another host is centered within its father, whatever its own clock says', async () => {
    // client  |--- call 100 µs ---|
    // server        | 40 µs |          on a clock that is days ahead
    const set = await load(
      [event('A0 call 1000000 1100000 1'), event('B0 serve 900000000000000 900000000040000 2')],
      [ROOT, edge('A0', 1000000, 'B0')],
    )
    expect(outline(set)).toEqual(['call<none 0+100', 'serve<call 30+40'])
    expect(issueCounts(set)).toEqual({})
  })

  test('work on the host of its father stays where it was', async () => {
    const set = await load(
      [event('A0 call 1000000 1100000 1'), event('B0 help 1090000 1095001 1')],
      [ROOT, edge('A0', 1000000, 'B0')],
    )
    expect(outline(set)).toEqual(['call<none 0+100', 'help<call 90+5.001'])
  })

  test('where work goes on after its father, what was over by then is centered', async () => {
    // client |-- connect 100 µs --|
    // server    |---- write 1000 µs --------- …
    //           |- accept 60 µs -|
    const set = await load(
      [
        event('A0 connect 1000000 1100000 1'),
        event('B0 accept 5000000 5060000 2'),
        event('B0 write 5000000 6000000 2'),
      ],
      [ROOT, edge('A0', 1000000, 'B0')],
    )
    expect(outline(set)).toEqual([
      'connect<none 0+100',
      'accept<write 20+60',
      'write<connect 20+1000',
    ])
  })

  test('work a little longer than its father ends with it', async () => {
    const set = await load(
      [
        event('A0 root 1000000 9000000 1'),
        event('A1 send 2000000 2100000 1'),
        event('B0 receive 5000000 5110000 2'),
      ],
      [ROOT, edge('A0', 1000000, 'A1'), edge('A1', 2000000, 'B0')],
    )
    expect(outline(set)).toEqual(['root<none 0+8000', 'send<root 1000+100', 'receive<send 990+110'])
  })

  test('chains of hosts are put right from the root on, in whatever order they stand', async () => {
    const set = await load(
      [
        event('C0 third 70 90 3'),
        event('B0 second 1000000000 1000000060 2'),
        event('A0 first 5000 5100 1'),
      ],
      [edge('B0', 1000000000, 'C0'), edge('A0', 5000, 'B0'), ROOT],
    )
    expect(outline(set)).toEqual([
      'third<second 0.04+0.02',
      'second<first 0.02+0.06',
      'first<none 0+0.1',
    ])
  })

  test('durations are exact to the nanosecond where hosts are up for a hundred days', async () => {
    const set = await load(
      [
        event('A0 call 1 9000000000000003 1'),
        event('B0 serve 8999999999999990 8999999999999993 2'),
      ],
      [ROOT, edge('A0', 1, 'B0')],
    )
    expect(plainSpans(set).map(({ durationUs }) => durationUs)).toEqual([9000000000000.002, 0.003])
  })

  test('requests begin when they were first seen, those of one host as far apart as it says', async () => {
    const row = (task: string, second: number) => `${task},get,1,1,2013-11-03 00:00:0${second},,1,2`
    const other = (line: string) => line.replace('T,', 'U,')
    const set = await load(
      [event('A0 get 7000000000 7000001000 1'), other(event('A0 get 9000000000 9000001000 1'))],
      [ROOT, other(ROOT)],
      { traces: [row('T', 1), row('U', 3)] },
    )
    expect(set.epochNs).toBe(BigInt(Date.UTC(2013, 10, 3, 0, 0, 1)) * 1_000_000n)
    expect(outline(set)).toEqual(['get<none 0+1', 'get<none 2000000+1'])
  })
})

describe('groups of events', () => {
  test('are nested in time; what touches or overlaps stands side by side', async () => {
    const set = await load(
      [
        event('A0 root 0 1000 1'),
        event('A0 inner 100 300 1'),
        event('A0 innermost 200 300 1'),
        event('A0 next 300 400 1'),
        event('A0 overlaps 350 500 1'),
      ],
      [ROOT],
    )
    expect(plainSpans(set).map(({ operation, parent }) => `${operation}<${parent}`)).toEqual([
      'root<none',
      'inner<root',
      'innermost<inner',
      'next<root',
      'overlaps<root',
    ])
  })

  test('of two fathers have the first, and the other is counted', async () => {
    const set = await load(
      [event('A0 root 0 1000 1'), event('A0 other 10 90 1'), event('B0 read 0 10 2')],
      [ROOT, edge('A0', 10, 'B0'), edge('A0', 0, 'B0')],
    )
    expect(outline(set)[2]).toBe('read<other 0.045+0.01')
    expect(set.quality().issues).toEqual([
      {
        code: 'second-father',
        effect: 'kept',
        place: { file: 'run/edge.csv', line: 4, trace: 'T' },
        message: 'B0 has a second father, A0; the first one counts',
      },
    ])
  })

  test('whose edge fits two events have the father that is usual, else the innermost', async () => {
    const calls = (at: number, tid: string) => [
      event(`A0 outer ${at} ${at + 100} 1`),
      event(`A0 call ${at + 10} ${at + 90} 1`),
      event(`A0 detail ${at + 20} ${at + 80} 1`),
      event(`${tid} serve 0 20 2`),
    ]
    const set = await load(
      [
        event('A0 root 0 9000 1'),
        ...calls(1000, 'B1'),
        event('A0 outer 2000 2100 1'),
        event('A0 call 2000 2090 1'),
        event('A0 detail 2000 2080 1'),
        event('B2 serve 0 20 2'),
        event('B3 unknown 0 20 2'),
      ],
      [ROOT, edge('A0', 1010, 'B1'), edge('A0', 2000, 'B2'), edge('A0', 2000, 'B3')],
    )
    const served = plainSpans(set).filter(({ host }) => host === 'host2')
    expect(served.map(({ parent }) => parent)).toEqual(['call', 'call', 'detail'])
    expect(issueCounts(set)).toEqual({ 'ambiguous-father': 2 })
  })

  test('without events, without an edge, or with a father that is lost are told', async () => {
    const set = await load(
      [event('A0 root 5000 6000 1'), event('B0 loose 0 10 2'), event('C0 orphan 70 90 3')],
      [ROOT, edge('A0', 5000, 'X0'), edge('A0', 77, 'C0')],
    )
    expect(outline(set)).toEqual(['root<none 5+1', 'loose<none 0+0.01', 'orphan<missing 0+0.02'])
    expect(issueCounts(set)).toEqual({ 'edge-to-nothing': 1, 'no-edge': 1, 'orphan-span': 1 })
  })

  test('that are each other’s fathers leave their trace out', async () => {
    const events = [event('B0 b 0 10 2'), event('C0 c 0 10 3'), event('A0 root 0 9 1')]
    const sound = [event('A0 root 0 9 1'), ROOT].map((line) => line.replace('T,', 'U,')) as [
      string,
      string,
    ]
    const set = await load(
      [...events, sound[0]],
      [ROOT, edge('B0', 0, 'C0'), edge('C0', 0, 'B0'), sound[1]],
    )
    expect(set.ids).toEqual(['U'])
    expect(issueCounts(set)).toEqual({ 'parent-circle': 1 })
  })
})

describe('rows', () => {
  test('keep what stands behind commas in the last field', async () => {
    const words = 'Success: return(OW[class=class a.b.LocatedBlock,value=true])'
    const set = await load([event('A0 get 0 1 1', words)], [ROOT])
    expect(plainSpans(set)[0]?.attributes).toEqual({
      host: 'host1',
      outcome: 'Success',
      message: 'return(OW[class=class a.b.LocatedBlock,value=true])',
      class: 'LocatedBlock',
      value: 'true',
    })
  })

  test('that are copies, short, or end before they start are left out and counted', async () => {
    const set = await load(
      [
        event('A0 root 0 1000 1'),
        event('A0 root 0 1000 1'),
        'T,A0,short',
        event('A0 back 10 5 1'),
        event('A0 when soon 5 1'),
      ],
      [ROOT],
    )
    expect(set.spans.parent.length).toBe(1)
    expect(
      set.quality().issues.map(({ place, message }) => `${place.file}:${place.line} ${message}`),
    ).toEqual([
      'run/event.csv:4 A row has 3 fields where the header has 9',
      'run/event.csv:5 Event back ends 0.005 µs before it starts',
      'run/event.csv:6 Event when has StartTime "soon", which is not a time',
      'run/event.csv:3 Event root of A0 is there twice; the later one is left out',
    ])
  })

  test('that the table of traces counts and that are not there are told', async () => {
    const listed = (task: string) => `${task},get,2,1,2013-11-03 00:00:00,,1,2`
    const set = await load([event('A0 get 0 1 1')], [ROOT], { traces: [listed('T'), listed('V')] })
    expect(set.quality().issues.map(({ message }) => message)).toEqual([
      'The trace has 1 events and 1 edges where 2 and 1 are listed',
      'The trace is listed but has no events',
    ])
    expect(set.quality().skippedTraces).toBe(1)
  })

  test('stop the load with strict', async () => {
    await expect(load([event('A0 back 10 5 1')], [ROOT], { strict: true })).rejects.toThrow(
      'run/event.csv:2, trace T: Event back ends 0.005 µs before it starts. Correct the event',
    )
  })
})
