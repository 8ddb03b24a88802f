// npx tsx bench/whatif.ts: 5,000 traces of 51 spans a period, about a hundred scenarios to try.
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { diagnoseLatencyStepwise } from '../src/whatif/diagnosis/diagnose-latency.ts'
import { type ServiceSketch, serviceTraces } from '../test/whatif/scenarios/service-traces.ts'

const REQUESTS = 5000
const DEPTH = 3
const TARGET = { firstSeconds: 2, seconds: 60, MB: 1000 }

const say = (line = '') => process.stdout.write(`${line}\n`)

/** 26 services: the root calls five, each of which calls four more, some at the same time. */
function services(): Record<string, ServiceSketch> {
  const all: Record<string, ServiceSketch> = {}
  const first = Array.from({ length: 5 }, (_, i) => `service-${i}`)
  all['web'] = { ownUs: 300, calls: first }
  for (const name of first) {
    const calls = Array.from({ length: 4 }, (_, i) => `${name}-${i}`)
    all[name] = { ownUs: 500, calls, parallel: name.endsWith('2') }
    for (const called of calls) all[called] = { ownUs: 1500, calls: [] }
  }
  return all
}

async function run(): Promise<string[]> {
  const shared = { services: services(), root: 'web', requests: REQUESTS, hosts: 3, hitRate: 0.1 }
  const before = serviceTraces({ ...shared, seed: 1, name: 'before' })
  const slower = { 'service-3': { serverUs: 5000 } }
  const after = serviceTraces({ ...shared, seed: 2, name: 'after', slower })
  const loadedMB = process.resourceUsage().maxRSS / 1000
  const start = performance.now()
  const cpu = process.cpuUsage()
  const seconds = () => (performance.now() - start) / 1000
  const coreSeconds = () => {
    const { user, system } = process.cpuUsage(cpu)
    return ((user + system) / 1e6).toFixed(2)
  }
  const lines: string[] = []
  let first: number | undefined
  let depth = 1
  let diagnosis = null
  let tried = 0
  for await (const step of diagnoseLatencyStepwise(before, after, {
    depth: DEPTH,
    beam: 20,
    pruning: 1,
    minimumGain: 0,
  })) {
    if (first === undefined) {
      first = seconds()
      lines.push(
        `first of ${step.planned} scenarios after ${first.toFixed(2)} s (${coreSeconds()} s of a core)`,
      )
    }
    if (step.depth > depth) {
      lines.push(`level ${depth}, ${tried} scenarios, after ${seconds().toFixed(2)} s`)
      depth = step.depth
    }
    tried = step.tried
    diagnosis = step.diagnosis
  }
  if (diagnosis === null) throw new Error('nothing was tried')
  const { best, changeP } = diagnosis
  lines.push(
    `tree to depth ${depth}, ${tried} scenarios, ranked after ${seconds().toFixed(2)} s ` +
      `(${coreSeconds()} s of a core); p of a change ${changeP}`,
    `best: ${best?.scenario.title}; planted: service-3 itself takes 5 ms more before its first call`,
    `at most ${(process.resourceUsage().maxRSS / 1000).toFixed(0)} MB, ${loadedMB.toFixed(0)} MB of it before, ` +
      `${2 * REQUESTS} traces and their generator included`,
  )
  return lines
}

if (process.argv[2] === 'run') {
  for (const line of await run()) say(line)
} else {
  const args = ['--import', 'tsx', fileURLToPath(import.meta.url), 'run']
  say(execFileSync(process.execPath, args, { encoding: 'utf8' }).trimEnd())
  say(
    `targets: first results ${TARGET.firstSeconds} s; depth ${DEPTH} ${TARGET.seconds} s; ${TARGET.MB} MB`,
  )
}
