// Runs once a span: the loops index with `!`.

import { group } from 'd3-array'
import { getOrInsert } from '../../core/entries.ts'
import { custom, defineOptions } from '../../core/options.ts'
import { listed, MAX_NAMED, printable } from '../../core/words.ts'
import type { FlowSet } from '../../flows/flow-set.ts'
import { arrivals, lengthUs, periodOverlap } from '../../flows/overlap.ts'
import { ascendingOrder } from '../../stats/ascending-order.ts'
import { readMoment } from '../../traces/epoch-clock.ts'
import type { SpanTraces } from '../../traces/span-traces.ts'
import { MIN_SEEN, NOTABLE, SMALL, SURE_LEVEL } from '../thresholds.ts'
import type { Onset } from './onset.ts'

/** Something that happened at some time, which a change may follow. */
export interface TimedEvent {
  readonly words: string
  /** µs since 1970; since the recording began, where the time of day is not known. */
  readonly atUs: number
  /** Origin of the event: given by the user, or versions of services or hosts that come or go in the data. */
  readonly source: 'given' | 'versions' | 'hosts'
  /** Services whose versions or hosts these are. */
  readonly services: readonly string[]
}

export const EVENT_OPTIONS = defineOptions({
  events: custom<readonly string[]>({
    default: [],
    flag: 'event <text>',
    expected: "texts that begin with a time, such as '2026-10-01T11:15Z deploy checkout 2.0'",
    schema: { type: 'array', items: { type: 'string' } },
    accepts: (value) => Array.isArray(value) && value.every((text) => readEvent(text) !== null),
    parse: (text) => [text],
    sentence:
      "Event with its time: '2026-10-01T11:15Z deploy checkout 2.0'. Findings that begin just after it say so, and time charts mark it",
  }),
})

/** Any time of day, to recognize texts that are times. */
const ANY_DAY_US = 1e15

/** Returns an event from its text; `null` unless that begins with a time and says what happened. */
function readEvent(text: unknown, epochUs = ANY_DAY_US): TimedEvent | null {
  const [, time = '', words = ''] = /^\s*(\S+)\s+(.*\S)\s*$/.exec(String(text)) ?? []
  const atUs = readMoment(time, { epochUs })
  return atUs === null ? null : { words, atUs, source: 'given', services: [] }
}

/** Returns events from their texts and those that the data show, in order of time. */
export function allEvents(
  flows: FlowSet,
  { events, seen }: { readonly events: readonly string[]; readonly seen: readonly TimedEvent[] },
): readonly TimedEvent[] {
  const epochUs = flows.epochsUs[flows.recordedIn[flows.size - 1] ?? 0]
  const given = events.flatMap((text) => readEvent(text, epochUs) ?? [])
  return [...given, ...seen].sort((a, b) => a.atUs - b.atUs)
}

/**
 * Returns the last event shortly before a change: a given one, or one of a service that the change concerns. Hosts come
 * and go between periods, so they do not explain changes present from the start.
 */
export function eventBefore(
  { lowUs, highUs, fromStart }: Onset,
  {
    flows,
    events,
    services,
  }: {
    readonly flows: FlowSet
    readonly events: readonly TimedEvent[]
    readonly services: readonly string[]
  },
): TimedEvent | null {
  if (events.length === 0) return null
  const [before, after] = arrivals(flows)
  const earliestUs = lowUs - NOTABLE * lengthUs(after)
  const beforeUs = before.at(-1) ?? earliestUs
  // A change present from the start began at some time since the period before.
  const fromUs = fromStart && beforeUs < lowUs ? Math.min(beforeUs, earliestUs) : earliestUs
  const near = events.filter(
    ({ atUs, source }) => atUs >= fromUs && atUs <= highUs && !(fromStart && source === 'hosts'),
  )
  const isConcerned = (one: TimedEvent) =>
    one.services.some((service) => services.includes(service))
  return near.findLast(({ source }) => source === 'given') ?? near.findLast(isConcerned) ?? null
}

/** Moves the onset of a change from the start of after to an event soon after it, if the change follows that event. */
export function onsetAt(since: Onset, follows: TimedEvent | null): Onset {
  if (!since.fromStart || follows === null || follows.atUs <= since.timeUs) return since
  return { ...since, timeUs: follows.atUs, fromStart: false }
}

interface Sighting {
  readonly kind: 'service' | 'version' | 'host'
  readonly service: string
  readonly name: string
  readonly firstUs: number
  lastUs: number
  requests: number
  last: number
  /** Requests of its service before it was first seen, and until it was last seen. */
  readonly missed: number
  until: number
}

interface Move extends Pick<Sighting, 'kind' | 'service' | 'name'> {
  readonly comes: boolean
  readonly atUs: number
}

/**
 * Returns when versions and hosts came or went: one counts as missing if that lasts longer than its frequency explains,
 * corrected for their number.
 */
export function seenEvents(flows: FlowSet): readonly TimedEvent[] {
  if (!flows.spanRows || periodOverlap(flows) === null) return []
  const arrivedUs = new Float64Array(flows.size).map((_, one) => flows.arrivalUs(one))
  const order = ascendingOrder(arrivedUs)
  const all = sightingsOf(flows, order)
  const requestsOf = new Map(
    all.flatMap(({ kind, service, requests }) => (kind === 'service' ? [[service, requests]] : [])),
  )
  const seen = all.filter(({ kind, requests }) => kind !== 'service' && requests >= MIN_SEEN)
  const moves = seen.flatMap(({ requests, missed, until, firstUs, lastUs, ...of }): Move[] => {
    const ofService = requestsOf.get(of.service)!
    const isRare = (share: number) => share ** requests * seen.length < SURE_LEVEL
    return [
      ...(isRare(1 - missed / ofService) ? [{ ...of, comes: true, atUs: firstUs }] : []),
      ...(isRare(until / ofService) ? [{ ...of, comes: false, atUs: lastUs }] : []),
    ]
  })
  const spanUs = flows.arrivalUs(order.at(-1)!) - flows.arrivalUs(order[0]!)
  const together: Move[][] = []
  for (const move of moves.sort((a, b) => a.atUs - b.atUs)) {
    const last = together.at(-1)
    if (last !== undefined && move.atUs - last[0]!.atUs <= SMALL * spanUs) last.push(move)
    else together.push([move])
  }
  return together.map((own) => ({
    words: moveWords(own),
    atUs: own[0]!.atUs,
    source: own.some(({ kind }) => kind === 'version') ? 'versions' : 'hosts',
    services: [...new Set(own.map(({ service }) => service))],
  }))
}

function sightingsOf(flows: FlowSet, order: Uint32Array): Sighting[] {
  const { spanRows, spanOffsets } = flows
  if (!spanRows || !spanOffsets) return []
  const all = new Map<string, Sighting>()
  const known = new Map<SpanTraces, (readonly Sighting[] | undefined)[]>()
  for (const request of order) {
    const traces = flows.tracesOf(request)
    if (traces?.kind !== 'spans') continue
    const { spans, services, versionNames, hosts } = traces
    const ofTraces = getOrInsert(known, traces, () => [])
    const timeUs = flows.arrivalUs(request)
    for (let at = spanOffsets[request]!; at < spanOffsets[request + 1]!; at++) {
      const row = spanRows[at]!
      const [version, host] = [spans.version[row]!, spans.host[row]!]
      const key = (spans.service[row]! * versionNames.size + version) * hosts.size + host
      let shown = ofTraces[key]
      if (shown === undefined) {
        const service = services.value(spans.service[row]!)
        const names = { version: versionNames.value(version), host: hosts.value(host) }
        shown = see({ service, ...names }, { request, timeUs })
        ofTraces[key] = shown
      }
      for (let i = 0; i < shown.length; i++) {
        const one = shown[i]!
        if (one.last !== request) one.requests++
        one.last = request
        one.lastUs = timeUs
        one.until = shown[0]!.requests
      }
    }
  }
  return [...all.values()]

  /** Returns the service, version and host of a span that may be seen for the first time. */
  function see(
    { service, version, host }: Record<'service' | 'version' | 'host', string>,
    { request, timeUs }: { request: number; timeUs: number },
  ): Sighting[] {
    const names = Object.entries({ service, version, host }) as [Sighting['kind'], string][]
    const known = names.filter(([kind, name]) => kind === 'service' || name !== '')
    let whole: Sighting | undefined
    return known.map(([kind, name]) => {
      const text = JSON.stringify([kind, service, name])
      const missed = whole === undefined ? 0 : whole.requests - Number(whole.last === request)
      const first = { firstUs: timeUs, lastUs: timeUs, requests: 0, last: -1, missed, until: 0 }
      const sighting = getOrInsert(all, text, () => ({ kind, service, name, ...first }))
      whole ??= sighting
      return sighting
    })
  }
}

function moveWords(moves: readonly Move[]): string {
  const versions = group(
    moves.filter(({ kind }) => kind === 'version'),
    ({ service }) => service,
  )
  const named = (own: readonly Move[], comes: boolean) => [
    ...new Set(own.filter((one) => one.comes === comes).map(({ name }) => printable(name))),
  ]
  const ofVersions = Array.from(versions, ([service, own]) => {
    const [from, to] = [named(own, false), named(own, true)].map((names) =>
      listed(names, MAX_NAMED),
    ) as [string, string]
    return { name: printable(service), from, to }
  })
  const replaced = ofVersions.filter(({ from, to }) => from !== '' && to !== '')
  const comeOrGo = [true, false].flatMap((comes) => {
    const own = ofVersions.filter(({ from, to }) => (comes ? from : to) === '')
    if (own.length === 0) return []
    const names = own.map(({ name, from, to }) => `${name} ${comes ? to : from}`)
    const verb = own.length === 1 ? 'appears' : 'appear'
    return [`${listed(names, MAX_NAMED)} ${comes ? '' : 'dis'}${verb}`]
  })
  // Hosts of services with another version are part of that.
  const hosts = moves.filter(({ kind, service }) => kind === 'host' && !versions.has(service))
  const ofHosts = [true, false].flatMap((comes) => {
    const names = named(hosts, comes)
    if (names.length === 0) return []
    const [noun, verb] = names.length === 1 ? ['host', 'appears'] : ['hosts', 'appear']
    return [`${noun} ${listed(names, MAX_NAMED)} ${comes ? '' : 'dis'}${verb}`]
  })
  const ofReplaced = replaced.map(({ name, from, to }) => `${name} goes from ${from} to ${to}`)
  return listed([...ofReplaced, ...comeOrGo, ...ofHosts], MAX_NAMED)
}

/** Returns the times of an onset as ISO 8601: of day, or since the period began. */
export function onsetTimes({ isTimeOfDay, until, ...since }: Onset, event: TimedEvent | null) {
  const text = (us: number) =>
    isTimeOfDay ? new Date(us / 1e3).toISOString() : `PT${(us / 1e6).toFixed(6)}S`
  const times = ({ timeUs, lowUs, highUs }: NonNullable<Onset['until']>) => {
    const [time, low, high] = [timeUs, lowUs, highUs].map(text) as [string, string, string]
    return { time, low, high }
  }
  const follows = event && { time: text(event.atUs), event: event.words }
  return { ...since, ...times(since), until: until && times(until), follows }
}
