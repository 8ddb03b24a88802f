// npx tsx bench/logs.ts [MB of the first file, default 2000]: how fast logs become features, beside
// node:readline and `wc -l`.
import { execFileSync } from 'node:child_process'
import {
  closeSync,
  createReadStream,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { loadLogs } from '../src/logs/readers/load-logs.ts'
import { randomSource } from '../src/stats/random.ts'

const ROUNDS = 3
const MAX_MB = 1000
const NAMES = 200
const START_MS = 1_700_000_000_000

const say = (line = '') => process.stdout.write(`${line}\n`)
const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[values.length >> 1] as number

interface Run {
  readonly MBps: number
  /** Of all threads: says more on a busy machine. */
  readonly coreSeconds: number
  readonly peakMB: number
  readonly messages: number
}

interface Kind {
  readonly kind: string
  readonly MB: number
  readonly lineOf: LineOf
  /** Least speed, beside that of node:readline or by itself. */
  readonly target?: { readonly ratio?: number; readonly MBps?: number }
}

/** One line, and the next moment of its log. */
type LineOf = (index: number, random: () => number) => string

const PLAIN: LineOf = (i, random) => {
  const time = START_MS * 1000 + i * 137 + Math.floor(random() * 100)
  const name = Math.floor(random() * NAMES)
  return name % 3 === 0
    ? `{"time":${time},"name":"request ${name} received"}\n`
    : `{"time":${time},"name":"queue length ${name}","value":${(random() * 1000).toFixed(2)}}\n`
}

/** As services write them: with fields, and an id in each line. */
const FIELDS: LineOf = (i, random) => {
  const id = Array.from({ length: 16 }, () => Math.floor(random() * 16).toString(16)).join('')
  const route = ['/cart', '/home', '/item'][Math.floor(random() * 3)]
  return `{"level":"info","ts":"${new Date(START_MS + i).toISOString()}","msg":"request completed","request_id":"${id}","route":"${route}","status":${random() < 0.02 ? 503 : 200},"duration_ms":${(random() * 100).toFixed(2)}}\n`
}

const LOGFMT: LineOf = (i, random) => {
  const name = Math.floor(random() * NAMES)
  return `ts=${new Date(START_MS + i).toISOString()} level=info event="queue length ${name}" value=${Math.floor(random() * 1000)}\n`
}

const TEXTS: readonly ((random: () => number) => string)[] = [
  (r) =>
    `DataNode: Received block blk_${Math.floor(r() * 1e9)} of size ${Math.floor(r() * 1e6)} from /10.0.0.${Math.floor(r() * 250)}:50010`,
  (r) =>
    `MapTask: bufstart = ${Math.floor(r() * 1e6)}; bufend = ${Math.floor(r() * 1e6)}; bufvoid = 104857600`,
  (r) =>
    `TaskImpl: task_1445087491445_0005_m_00000${Math.floor(r() * 10)} Task Transitioned from SCHEDULED to RUNNING`,
  () => 'MapTask: Spilling map output',
]

const LOG4J: LineOf = (i, random) => {
  const time = new Date(START_MS + i).toISOString().replace('T', ' ').replace('.', ',').slice(0, 23)
  const text = TEXTS[Math.floor(random() * TEXTS.length)]?.(random)
  return `${time} INFO [main] org.apache.hadoop.${text}\n`
}

function generate(path: string, bytes: number, lineOf: LineOf): void {
  const random = randomSource(7)
  const next = () => random.next()
  const file = openSync(path, 'w')
  let written = 0
  for (let i = 0; written < bytes; ) {
    let block = ''
    while (block.length < 1 << 20) block += lineOf(i++, next)
    written += writeSync(file, block)
  }
  closeSync(file)
}

async function readPlainly(path: string): Promise<number> {
  let lines = 0
  const reader = createInterface({ input: createReadStream(path), crlfDelay: Infinity })
  reader.on('line', () => {
    lines++
  })
  await new Promise((resolve) => reader.once('close', resolve))
  return lines
}

async function readFeatures(path: string): Promise<number> {
  const { report } = await loadLogs({ before: path, after: [] })
  return report.messages.event + report.messages.state
}

/** MB a second of `wc -l`, which only counts lines. */
function countLines(path: string): number {
  const start = performance.now()
  execFileSync('wc', ['-l', path])
  return statSync(path).size / 1e3 / (performance.now() - start)
}

/** What the child process does: one reading of one file. */
async function measure(how: string, path: string): Promise<void> {
  const start = performance.now()
  const used = process.cpuUsage()
  const messages = await (how === 'readline' ? readPlainly(path) : readFeatures(path))
  const seconds = (performance.now() - start) / 1000
  const { user, system } = process.cpuUsage(used)
  const run: Run = {
    coreSeconds: (user + system) / 1e6,
    MBps: statSync(path).size / 1e6 / seconds,
    peakMB: process.resourceUsage().maxRSS / 1000,
    messages,
  }
  process.stdout.write(JSON.stringify(run))
}

async function main(megabytes: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'flowdelta-logs-'))
  try {
    // The child needs no compiler, so only its parent loads one.
    const { build } = await import('esbuild')
    const program = join(folder, 'logs.js')
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
    await build({
      entryPoints: { logs: fileURLToPath(import.meta.url) },
      outdir: folder,
      bundle: true,
      platform: 'node',
      format: 'esm',
      logLevel: 'error',
      external: ['esbuild'],
    })
    const inChild = (how: string, path: string) =>
      JSON.parse(
        execFileSync(process.execPath, [program, how, path], {
          encoding: 'utf8',
        }),
      ) as Run
    say(`node ${process.version}; each reading a process of its own, median of ${ROUNDS} rounds`)
    say('not beside Drain3, the usual miner of templates: it is in no package of Debian\n')
    const kinds: readonly Kind[] = [
      { kind: 'JSON lines', MB: megabytes, lineOf: PLAIN, target: { ratio: 0.5 } },
      { kind: 'JSON, fields', MB: megabytes / 4, lineOf: FIELDS, target: { ratio: 0.3 } },
      { kind: 'logfmt', MB: megabytes / 4, lineOf: LOGFMT },
      { kind: 'log4j, mined', MB: megabytes / 4, lineOf: LOG4J, target: { MBps: 150 } },
    ]
    for (const { kind, MB, lineOf, target } of kinds) {
      const path = join(folder, 'log')
      generate(path, MB * 1e6, lineOf)
      const plain: Run[] = []
      const features: Run[] = []
      const counted: number[] = []
      for (let round = 0; round < ROUNDS; round++) {
        plain.push(inChild('readline', path))
        features.push(inChild('features', path))
        counted.push(countLines(path))
      }
      const ratio = median(features.map(({ MBps }, i) => MBps / (plain[i] as Run).MBps))
      const ofCores = median(
        features.map(({ coreSeconds }, i) => (plain[i] as Run).coreSeconds / coreSeconds),
      )
      const peakMB = Math.max(...features.map((run) => run.peakMB))
      const MBps = (runs: readonly Run[]) => median(runs.map((run) => run.MBps)).toFixed(0)
      say(
        `${kind.padEnd(14)}${MB.toFixed(0).padStart(6)} MB, ${features[0]?.messages} messages: ` +
          `${MBps(features)} MB/s, node:readline ${MBps(plain)} MB/s, wc -l ${median(counted).toFixed(0)} MB/s, ratio ${ratio.toFixed(2)} (of core time ${ofCores.toFixed(2)}), at most ${peakMB.toFixed(0)} MB`,
      )
      if (target === undefined) continue
      const { ratio: least = 0, MBps: leastMBps = 0 } = target
      const isMet = ratio >= least && Number(MBps(features)) >= leastMBps && peakMB < MAX_MB
      const wanted = leastMBps > 0 ? `${leastMBps} MB/s` : `${least} of node:readline`
      say(`${isMet ? 'met' : 'NOT MET'}: at least ${wanted}, under ${MAX_MB} MB`)
      if (!isMet) process.exitCode = 1
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const [how = '2000', path] = process.argv.slice(2)
if (path === undefined) await main(Number(how))
else await measure(how, path)
