import { FlowdeltaError, nearestName, OptionError } from '../../core/errors.ts'
import {
  defineOptions,
  type OptionsOf,
  type OptionTable,
  optionalText,
  readOptions,
} from '../../core/options.ts'
import { readDuration } from '../../core/words.ts'
import { readMoment } from '../epoch-clock.ts'
import type { ReadSink } from '../readers/trace-reader.ts'
import { parseConditions } from '../selection/condition.ts'
import { nodeFiles, type TraceSource } from '../trace-source.ts'
import type { StoreKind, StoreLocation, StoreQuery } from './store.ts'

/** Kinds of stores: the form of their addresses, and the function that loads the kind when an address names it. */
const KINDS: Readonly<Record<string, readonly [form: string, load: () => Promise<StoreKind>]>> = {
  jaeger: ['jaeger://host:16686', async () => (await import('./jaeger.ts')).jaegerStore],
  tempo: ['tempo://host:3200', async () => (await import('./tempo.ts')).tempoStore],
  clickhouse: [
    'clickhouse://host:8123',
    async () => (await import('./clickhouse.ts')).clickhouseStore,
  ],
  duckdb: ['duckdb:PATH', async () => (await import('./duckdb.ts')).duckdbStore],
  parquet: ['parquet:PATH', async () => (await import('./flat-spans.ts')).parquetStore],
}

/** Files that are stores by their names alone. */
const STORE_FILES: readonly (readonly [kind: string, name: RegExp])[] = [['parquet', /\.parquet$/i]]

/** Parameters of every address. */
const ADDRESS_OPTIONS = defineOptions({
  where: optionalText('Conditions as of `loadTraces`, for this address alone', null),
  between: optionalText('Stretch of time as of `loadTraces`, for this address alone', null),
})

export interface StoreAddress extends StoreLocation, OptionsOf<typeof ADDRESS_OPTIONS> {
  readonly kind: string
  /** Parameters of its kind, by name. */
  readonly parameters: Readonly<Record<string, string>>
}

const SCHEME = /^([a-z]+)(:\/\/|:|=)(.+)$/is

/**
 * Reads the address of a store: `KIND://HOST/…`, short for `KIND=http://HOST/…`, or `KIND:PATH`;
 * parameters stand behind `?`, as in a URL: `jaeger=https://host:16686/prefix?service=frontend`.
 * Their names and values are those of `StoreKind.parameters` and of `ADDRESS_OPTIONS`.
 *
 * @returns `undefined` for the name of a file
 */
function storeAddress(source: string): StoreAddress | undefined {
  const [, scheme = '', sign, rest = ''] = SCHEME.exec(source) ?? []
  const isNamed = Object.hasOwn(KINDS, scheme.toLowerCase())
  const [location = '', ...query] = (isNamed ? rest : source).split('?')
  const kind = isNamed
    ? scheme.toLowerCase()
    : STORE_FILES.find(([, name]) => name.test(location))?.[0]
  if (kind === undefined) return undefined
  const given = Object.fromEntries(new URLSearchParams(query.join('?')))
  const { where = null, between = null, ...parameters } = given
  const url = sign === '://' ? `http://${location}` : location
  const name = shownAddress(`${isNamed ? `${scheme}${sign}` : ''}${location}`)
  const isCut =
    Object.keys(parameters).some((key) => key.includes('@')) ||
    (query.join('?').includes('@') && /:\/\/[^/@[]*:\d*[^\d/@][^/@]*$/.test(name))
  if (isCut && name.includes('://')) {
    throw new FlowdeltaError(
      `The address of ${kind} has a ? before its @. Write ? in a password as %3F.`,
    )
  }
  if (/:\/\/[^/@]*:\d+\/.*@/.test(url)) {
    throw new FlowdeltaError(
      `The address of ${kind} has a / before its @. Write / in a password as %2F, @ in a path as %40.`,
    )
  }
  return { kind, name, location: url, where, between, parameters }
}

/** Returns an address without its password, in which `#` and `/` may occur. */
function shownAddress(address: string): string {
  return address.replace(/^((?:[a-z]+=)?[a-z]+:\/\/).*@/i, '$1')
}

/** Selection of the requests to load. */
export interface Selection {
  /** Conditions of `where`. */
  readonly where: string | null
  /** The first moment: µs since 1970 where the text says the day, else as it was given. */
  readonly from: string | number | null
  /** The moment before which requests arrived, in the same way. */
  readonly to: string | number | null
}

/** Reads the selection of requests from options or the only address; throws for another form. */
export function selectionOf(
  files: readonly TraceSource[],
  options: OptionsOf<typeof ADDRESS_OPTIONS>,
): Selection {
  const addresses = files.flatMap((file) => addressOf(file) ?? [])
  const own = addresses.find(({ where, between }) => where !== null || between !== null)
  if (own !== undefined && files.length > 1) {
    throw new FlowdeltaError(
      `${own.name} has parameters where or between, but is one of ${files.length} sources of a period. ` +
        'Give options where and between instead, which hold for all of them.',
    )
  }
  const where = own?.where ?? options.where
  if (where !== null) parseConditions(where)
  return { where, ...readStretch(own?.between ?? options.between) }
}

function addressOf(source: TraceSource): StoreAddress | undefined {
  return typeof source === 'string' ? storeAddress(source) : undefined
}

/** Files besides Parquet that may hold traces; the metadata of a Tempo block does not. */
const OTHER_TRACES = /^(?!meta\.json).*\.(jsonl?|ndjson|csv|dot|pb|binpb|otlp)(\.gz|\.zst)?$/i

/** Returns the address of a folder of Parquet files; throws if it also holds other traces. */
async function folderAddress(source: TraceSource): Promise<StoreAddress | undefined> {
  if (typeof source !== 'string') return undefined
  const names = (await (await nodeFiles()).namesWithin(source)) ?? []
  if (!names.some((name) => name.endsWith('.parquet'))) return undefined
  const others = names.filter((name) => OTHER_TRACES.test(name))
  if (others.length > 0) {
    throw new FlowdeltaError(
      `${source} holds Parquet files and ${others.slice(0, 3).join(', ')}${others.length > 3 ? ', …' : ''}. ` +
        `Name the files, or write parquet:${source} for its Parquet files alone.`,
    )
  }
  const address = storeAddress(`parquet:${source}`)
  return address && { ...address, name: source }
}

/** @throws FlowdeltaError for an address of an unknown kind */
async function rejectUnknownKind(source: TraceSource): Promise<void> {
  if (typeof source !== 'string') return
  const [, scheme = '', sign, rest] = SCHEME.exec(source) ?? []
  const meant = nearestName(scheme, Object.keys(KINDS))
  if (Object.hasOwn(KINDS, scheme.toLowerCase()) || scheme.length < 2) return
  if (sign !== '://' && meant === undefined) return
  if ((await (await nodeFiles()).fileBytes(source)) > 0) return
  const [shown] = shownAddress(source).split('?')
  const next = /^https?$/i.test(scheme)
    ? `Say which store answers there: ${['jaeger', 'tempo', 'clickhouse'].map((kind) => `${kind}=${shown}`).join(', ')}.`
    : `${meant === undefined ? '' : `Did you mean ${shownAddress(`${meant}${sign}${rest}`).split('?')[0]}? `}Addresses begin as ${Object.values(
        KINDS,
      )
        .map(([form]) => form)
        .join(', ')}.`
  throw new FlowdeltaError(`${shown} is neither a file nor the address of a store. ${next}`)
}

/** A store, and how the requests asked for are read from it; see `StoreKind.read`. */
export interface StoreSource {
  readonly name: string
  readonly read: (how: Pick<StoreQuery, 'signal' | 'onProgress'>, sink: ReadSink) => Promise<void>
}

/**
 * Finds the store that a source is the address of; `undefined` for a file.
 *
 * @throws FlowdeltaError for parameters that its kind does not take, or a package that is missing;
 *   OptionError for a time that does not say its day, unless the store is a file
 */
export async function storeOf(
  source: TraceSource,
  { from, to, where }: Selection,
): Promise<StoreSource | undefined> {
  const address = addressOf(source) ?? (await folderAddress(source))
  await rejectUnknownKind(source)
  if (address === undefined) return undefined
  const [, load] = KINDS[address.kind] as (typeof KINDS)[string]
  const kind = await load()
  const unknown = [from, to].find((moment) => typeof moment === 'string')
  if (unknown !== undefined && !kind.isFile) {
    const expected = "times with their day, as '2026-10-01T10:00Z..11:00Z'"
    throw new OptionError('between', unknown, expected)
  }
  const [fromUs, toUs] = [from, to].map((moment) => (typeof moment === 'number' ? moment : null))
  const conditions = where === null ? [] : parseConditions(where)
  const query = { fromUs: fromUs ?? null, toUs: toUs ?? null, conditions }
  const { name, location } = address
  const store = { ...parametersOf(address, kind.parameters), name, location }
  return { name, read: (how, sink) => kind.read(store, { ...query, ...how }, sink) }
}

function parametersOf(
  { parameters, name }: StoreAddress,
  table: OptionTable,
): OptionsOf<OptionTable> {
  const known = Object.keys({ ...table, ...ADDRESS_OPTIONS })
  const values = Object.entries(parameters).map(([key, value]) => {
    const row = table[key]
    if (row !== undefined) return [key, row.parse(value)]
    const meant = nearestName(key, known)
    throw new FlowdeltaError(
      `${name} takes no parameter ${key}. ` +
        (meant === undefined ? `Give any of ${known.join(', ')}.` : `Did you mean ${meant}?`),
    )
  })
  return readOptions(table, Object.fromEntries(values), `${name}?`)
}

/** Reads `2026-10-01T10:00Z..11:00Z`; an end without a day is on that of the beginning, or the next. */
function readStretch(between: string | null): Omit<Selection, 'where'> {
  if (between === null) return { from: null, to: null }
  const [, from, to] = /^(.*?)\.\.(.*)$/.exec(between) ?? []
  if (from === undefined || to === undefined) {
    throw new OptionError('between', between, "two times, as '2026-10-01T10:00Z..11:00Z'")
  }
  const moments = { from: from.trim() || null, to: to.trim() || null }
  const fromUs = momentOf(moments.from, Number.NaN)
  const toUs = momentOf(moments.to, fromUs ?? Number.NaN)
  if (fromUs !== null && toUs !== null && fromUs >= toUs) {
    throw new OptionError('between', between, 'the earlier moment first')
  }
  // Moments since the recording began are known only with the recording.
  return Number.isNaN(fromUs) || Number.isNaN(toUs) ? moments : { from: fromUs, to: toUs }
}

/** Returns µs since 1970, `NaN` if the text is no moment; `null` for no text. */
function momentOf(text: string | null, sinceUs: number): number | null {
  if (text === null) return null
  const isDuration = !Number.isNaN(readDuration(text))
  const recording = { epochUs: sinceUs, notBeforeUs: sinceUs }
  return isDuration ? Number.NaN : (readMoment(text, recording) ?? Number.NaN)
}
