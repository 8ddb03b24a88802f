import { OptionError } from '../../core/errors.ts'
import {
  nodeFiles,
  type OpenableSource,
  openSource,
  type TraceSource,
} from '../../traces/trace-source.ts'

export type LogPaths = TraceSource | readonly TraceSource[]

/** Input of one path: a file, or all files below a directory. */
export interface LogInput {
  readonly id: string
  readonly files: readonly OpenableSource[]
  readonly isFile: boolean
}

export async function logInputs(paths: LogPaths): Promise<readonly LogInput[]> {
  const inputs = await Promise.all(([paths].flat() as TraceSource[]).map(inputOf))
  const ids = inputs.map(({ id }) => id)
  const twice = ids.find((id, i) => ids.indexOf(id) < i)
  if (twice === undefined) return inputs
  throw new OptionError('paths', twice, 'each file and directory once')
}

async function inputOf(source: TraceSource): Promise<LogInput> {
  const isPath = typeof source === 'string' || source instanceof URL
  const below = isPath ? await (await nodeFiles()).filesBelow(source) : undefined
  if (below === undefined) {
    const file = await openSource(source)
    return { id: file.name, files: [file], isFile: true }
  }
  const name = source instanceof URL ? decodeURIComponent(source.pathname) : String(source)
  if (below.length === 0) throw new OptionError('paths', name, 'a directory with files in it')
  const id = name.replace(/(.)[\\/]+$/, '$1')
  return { id, files: await Promise.all(below.map(openSource)), isFile: false }
}
