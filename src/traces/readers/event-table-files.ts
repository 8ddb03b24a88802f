import { getOrInsert } from '../../core/entries.ts'
import { FlowdeltaError, OptionError } from '../../core/errors.ts'
import { nodeFiles, type OpenableSource, openSource, type TraceSource } from '../trace-source.ts'
import type { EventTables } from './event-tables.ts'
import { TRACEBENCH } from './tracebench.ts'

const ROLES = ['events', 'edges', 'traces'] as const
type Role = (typeof ROLES)[number]
const EVENT_PARTS = ['file', 'traceId', 'group', 'operation', 'service', 'start', 'end'] as const
const EDGE_PARTS = ['file', 'traceId', 'father', 'child'] as const

export type EventTableSources = ReturnType<typeof whole>

/** The tables that a format reads; `null` where each file stands for itself. */
export function tablesOf(format: string, tables: EventTables | null): EventTables | null {
  if (tables !== null && format !== 'event-tables') {
    throw new OptionError('format', format, "'event-tables' where option tables is given")
  }
  if (format === 'tracebench') return TRACEBENCH
  if (format !== 'event-tables') return null
  if (tables === null) {
    throw new OptionError('tables', tables, "{ events: { file: 'event.csv', … }, edges: { … } }")
  }
  requireParts('events', tables.events, EVENT_PARTS)
  requireParts('edges', tables.edges, EDGE_PARTS)
  if (tables.traces !== undefined) requireParts('traces', tables.traces, ['file', 'traceId'])
  return tables
}

function requireParts<Part extends string>(
  role: Role,
  columns: { readonly [part in Part]?: string } | undefined,
  parts: readonly Part[],
): void {
  for (const part of parts) {
    const name: unknown = columns?.[part]
    if (typeof name === 'string' && name !== '') continue
    throw new OptionError(`tables.${role}.${part}`, name, 'the name that it has in the data')
  }
}

/** The runs that `files` name: directories, and tables with others beside them. */
export async function eventTableSources(
  files: readonly TraceSource[],
  tables: EventTables,
): Promise<EventTableSources[]> {
  const runs = new Map<string, Partial<Record<Role, OpenableSource>>>()
  const runAt = (folder: string) => getOrInsert(runs, folder, () => ({}))
  for (const file of files) {
    const name = nameOf(file)
    const role = ROLES.find((one) => isTable(name, tables[one]?.file))
    if (role !== undefined) {
      const run = runAt(folderOf(name))
      if (run[role] !== undefined) {
        throw new OptionError('files', name, `one table of ${role} for each run`)
      }
      run[role] = await openSource(file)
    } else if (typeof file === 'string' || file instanceof URL) {
      Object.assign(runAt(name), await tablesWithin(file, tables))
    } else {
      const names = ROLES.map((one) => tables[one]?.file).filter((one) => one !== undefined)
      throw new OptionError(
        'files',
        name,
        `files named ${names.join(', ')}, or a directory of them`,
      )
    }
  }
  return [...runs].map(([folder, run]) => whole(run, folder, tables))
}

export async function findEventTables(
  source: TraceSource,
  tables: EventTables,
): Promise<EventTableSources | undefined> {
  if (typeof source !== 'string' && !(source instanceof URL)) return undefined
  if ((await (await nodeFiles()).namesWithin(source)) === undefined) return undefined
  const { events } = await tablesWithin(source, tables, ['events'])
  return events === undefined ? undefined : (await eventTableSources([source], tables))[0]
}

async function tablesWithin(
  directory: string | URL,
  tables: EventTables,
  roles: readonly Role[] = ROLES,
): Promise<Partial<Record<Role, OpenableSource>>> {
  const found: Partial<Record<Role, OpenableSource>> = {}
  for (const role of roles) {
    const name = tables[role]?.file
    if (name === undefined) continue
    const source =
      (await openIfThere(within(directory, name))) ??
      (await openIfThere(within(directory, `${name}.gz`)))
    if (source !== undefined) found[role] = source
  }
  return found
}

/** A table may have several names: whether one is missing is seen later. */
async function openIfThere(source: string | URL): Promise<OpenableSource | undefined> {
  try {
    return await openSource(source)
  } catch (error) {
    if (error instanceof FlowdeltaError) return undefined
    throw error
  }
}

function whole(
  { events, edges, traces }: Partial<Record<Role, OpenableSource>>,
  folder: string,
  tables: EventTables,
) {
  const missing = events === undefined ? 'events' : edges === undefined ? 'edges' : undefined
  if (missing !== undefined) {
    const { file } = tables[missing]
    throw new FlowdeltaError(
      `${folder === '' ? 'Among the files' : `In ${folder}`} there is no table of ${missing}: neither ${file} nor ${file}.gz can be opened. Name the directory that holds ${file}, or the tables themselves.`,
    )
  }
  return { tables, events: events as OpenableSource, edges: edges as OpenableSource, traces }
}

function isTable(path: string, table: string | undefined): boolean {
  const name = path.slice(folderOf(path).length).replace(/^[\\/]/, '')
  return table !== undefined && (name === table || name === `${table}.gz`)
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\'), 0))
}

function within(directory: string | URL, name: string): string | URL {
  if (typeof directory === 'string') return `${directory.replace(/[\\/]+$/, '')}/${name}`
  return new URL(name, directory.href.endsWith('/') ? directory : `${directory.href}/`)
}

function nameOf(source: TraceSource): string {
  if (typeof source === 'string') return source
  return source instanceof URL ? decodeURIComponent(source.pathname) : String(source?.name)
}
