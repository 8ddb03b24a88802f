import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { Command } from 'commander'
import packageJson from '../../package.json' with { type: 'json' }
import type { Comparison } from '../comparison/comparison.ts'
import { FlowdeltaError } from '../core/errors.ts'
import { fingerprint } from '../core/fingerprint.ts'
import { jsonPage } from '../core/json-pages.ts'
import { findingCalled } from '../explain/listed-findings.ts'
import { AFTER, BEFORE, type Period } from '../flows/flow-set.ts'
import { exampleOf } from '../views/text/comparison-text.ts'
import { withSteps } from './comparison-budget.ts'
import { COMPARISON_DOCUMENT, FINDING_DOCUMENT } from './comparison-document.ts'
import { addComparisonFlags, type ComparisonFlags, compareFiles } from './comparison-flags.ts'
import { SEGMENT } from './finding-document.ts'
import type { Flags } from './flags.ts'

const DEFAULT_BUDGET = 8000
/** Steps of an account that an answer lists one by one. */
const MAX_STEPS = 6
const MIN_BUDGET = 1000
const MAX_BUDGET = 32_000
/** Comparisons whose results are kept. */
const MAX_KEPT = 3
const MAX_LISTED = 1000

type Json = Readonly<Record<string, unknown>>

interface Asked {
  readonly before?: readonly string[]
  readonly after?: readonly string[]
  readonly flags?: readonly string[]
  readonly comparison?: string
  readonly finding?: string
  readonly budget?: number
  readonly cursor?: string
}

/** `flowdelta mcp`: the results of the command line as tools of an agent, over standard input and output. */
export function addMcp(command: Command): void {
  command.action(runMcp)
}

async function runMcp(): Promise<void> {
  const { fromJsonSchema, McpServer, StdioServerTransport } = await protocol()
  const server = new McpServer({ name: 'flowdelta', version: packageJson.version })
  for (const [name, { description, takes, answer }] of Object.entries(TOOLS)) {
    const { required, ...properties } = { ...takes, ...PAGING }
    const inputSchema = fromJsonSchema<Asked>({ type: 'object', properties, required } as never)
    server.registerTool(name, { description, inputSchema }, async (asked) => {
      try {
        const text = jsonPage(await answer(asked), { budget: DEFAULT_BUDGET, ...asked })
        return { content: [{ type: 'text', text }] }
      } catch (problem) {
        if (!(problem instanceof FlowdeltaError)) throw problem
        return { isError: true, content: [{ type: 'text', text: problem.message }] }
      }
    })
  }
  await server.connect(new StdioServerTransport())
}

/** Loads the protocol's package only here, because it is large and few need it. */
async function protocol() {
  try {
    const [main, stdio] = await Promise.all([
      import('@modelcontextprotocol/server'),
      import('@modelcontextprotocol/server/stdio'),
    ])
    return { ...main, ...stdio }
  } catch {
    throw new FlowdeltaError(
      'flowdelta mcp needs the package @modelcontextprotocol/server. Install it: npm install @modelcontextprotocol/server',
    )
  }
}

const FILES = { type: 'array', items: { type: 'string' } }
const PERIODS = {
  before: { ...FILES, description: 'Files or addresses of the good period' },
  after: { ...FILES, description: 'Files or addresses of the bad period' },
  flags: { ...FILES, description: 'More flags, as `flowdelta COMMAND --help` lists them' },
  required: ['before', 'after'],
}
const COMPARED = {
  comparison: {
    type: 'string',
    description: 'Id of a comparison, from compare; the last one by default',
  },
  required: [] as readonly string[],
}
const OF_FINDING = {
  ...COMPARED,
  finding: { type: 'string', description: 'Id of a finding, or its rank as 1' },
  required: ['finding'],
}
const PAGING = {
  budget: {
    type: 'integer',
    minimum: MIN_BUDGET,
    maximum: MAX_BUDGET,
    description: `Most bytes of the answer; ${DEFAULT_BUDGET} by default`,
  },
  cursor: { type: 'string', description: '`next` of the answer before, to go on with it' },
}

interface Tool {
  readonly description: string
  readonly takes: { readonly required: readonly string[] }
  /** The whole document; answers are pages of it. */
  readonly answer: (asked: Asked) => Json | Promise<Json>
}

const TOOLS: Readonly<Record<string, Tool>> = {
  compare: {
    description:
      'Compares the traces of a good and a bad period: what changed, one finding a cause, the most important first. Begin here; text is the verdict.',
    takes: PERIODS,
    answer: async (asked) => {
      const { key, comparison } = await compared(asked)
      const printed = { comparison, limit: MAX_LISTED, explained: null, budget: 0 }
      const document = withSteps(COMPARISON_DOCUMENT.write(printed), MAX_STEPS)
      const { findings, warnings, ...rest } = document
      const text = comparison.findings.text()
      return { comparison: key, text, findings, warnings, ...rest }
    },
  },
  finding: {
    description: 'One finding with all that it rests on: steps, calls, edges, mutations.',
    takes: OF_FINDING,
    answer: (asked) => FINDING_DOCUMENT.write(findingOf(asked)),
  },
  segments: {
    description: 'In which requests something changed: conditions over attributes and hosts.',
    takes: COMPARED,
    answer: (asked) => ({ segments: known(asked).segments.segments.map(SEGMENT.write) }),
  },
  example_traces: {
    description: 'Typical requests of a finding, before and after, call by call.',
    takes: OF_FINDING,
    answer: (asked) => {
      const { comparison, finding } = findingOf(asked)
      const { before, after } = finding.exemplars
      return {
        traces: [
          ...before.flatMap((id) => traceOf(comparison, BEFORE, id)),
          ...after.flatMap((id) => traceOf(comparison, AFTER, id)),
        ],
      }
    },
  },
  logs: {
    description: 'Compares the logs of two periods: what is logged only now, or otherwise.',
    takes: PERIODS,
    answer: (asked) => printedBy('logs', asked),
  },
  whatif: {
    description:
      'Which single changes of a service explain the change of latency, the surest and largest first.',
    takes: PERIODS,
    answer: (asked) => printedBy('whatif', asked),
  },
}

const kept = new Map<string, Comparison>()

async function compared(asked: Asked): Promise<{ key: string; comparison: Comparison }> {
  const args = argumentsOf(asked)
  const key = fingerprint(JSON.stringify(args))
  // Files may have changed since; pages of one answer are of the same.
  const before = asked.cursor === undefined ? undefined : kept.get(key)
  const comparison = before ?? (await compareArguments(args))
  kept.delete(key)
  kept.set(key, comparison)
  for (const old of [...kept.keys()].slice(0, -MAX_KEPT)) kept.delete(old)
  return { key, comparison }
}

async function compareArguments(args: readonly string[]): Promise<Comparison> {
  let made: Promise<Comparison> | undefined
  const silent = { writeErr: () => {}, writeOut: () => {} }
  const command = new Command('compare').exitOverride().configureOutput(silent)
  addComparisonFlags(command, args).action((files: string[], flags: ComparisonFlags & Flags) => {
    made = compareFiles({ ...flags, files })
  })
  try {
    command.parse(args, { from: 'user' })
  } catch (problem) {
    throw new FlowdeltaError((problem as Error).message, {}, 'option')
  }
  return made as Promise<Comparison>
}

function argumentsOf({ before = [], after = [], flags = [] }: Asked): string[] {
  if (flags.some((flag) => /^--out(=|$)/.test(flag))) {
    throw new FlowdeltaError('Tools write no files. Leave out --out.', {}, 'option')
  }
  return ['--before', ...before, '--after', ...after, ...flags]
}

function known({ comparison = [...kept.keys()].at(-1) }: Asked): Comparison {
  const found = comparison === undefined ? undefined : kept.get(comparison)
  if (found !== undefined) return found
  throw new FlowdeltaError('There is no such comparison. Call compare first.', {}, 'argument')
}

function findingOf(asked: Asked) {
  const comparison = known(asked)
  return { comparison, finding: findingCalled(comparison, asked.finding) }
}

/** Returns the calls of a request, times since it began. */
function traceOf({ flows }: Comparison, of: Period, id: string): Json[] {
  const example = exampleOf(flows, of, id)
  if (example === null) return []
  const { period, request } = example
  const calls = example.calls.map(
    ({ service, name, host, startUs, endUs, parent, isError, facts }, call) => ({
      call,
      parent,
      service,
      operation: name,
      host,
      startUs,
      durationUs: endUs - startUs,
      isError,
      attributes: Object.fromEntries(facts),
    }),
  )
  return [{ trace: id, period, responseTimeUs: flows.responseTimeUs[request], calls }]
}

/** Returns the output of a command with --json, run as a separate program. */
async function printedBy(command: string, asked: Asked): Promise<Json> {
  const program = fileURLToPath(new URL('../scripts/flowdelta.mjs', import.meta.url))
  const child = spawn(process.execPath, [program, command, ...argumentsOf(asked), '--json'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const text = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (chunk) => {
      text[name] += chunk
    })
  }
  const status = await new Promise((resolve, reject) => {
    child.once('error', reject).once('close', (code, signal) => resolve(code ?? signal))
  })
  // 1: what --fail-on asks for holds; the document is printed all the same.
  if (status !== 0 && (status !== 1 || text.stdout === '')) {
    const message = text.stderr.trim() || `flowdelta ${command} ended with ${status}.`
    throw new FlowdeltaError(message, {}, 'option')
  }
  return JSON.parse(text.stdout) as Json
}
