import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import type { RecordedCase } from '../../evaluation/recorded-cases.ts'
import { firstRelevantFinding } from '../../evaluation/relevant-finding.ts'
import type { Finding } from '../../src/compare/findings/finding.ts'
import { compare } from '../../src/comparison/comparison.ts'
import { AFTER } from '../../src/flows/flow-set.ts'
import { loadTraces } from '../../src/traces/load-traces.ts'
import { loadRecording } from '../load-recording.ts'
import { sharedFile } from '../shared.ts'

export const RECORDED = fileURLToPath(new URL('../../datasets/storage-service', import.meta.url))
const MAX_FINDINGS = 10

/** Expects the cause of a recorded case to be the first or second finding of at most ten. */
export async function expectCauseFound({ before, after, truth }: RecordedCase): Promise<void> {
  const comparison = compare(await loadTraces(before), await loadTraces(after))
  const { findings, omitted } = comparison.findings
  expect(findings.length + omitted).toBeLessThanOrEqual(MAX_FINDINGS)
  const moved = findings.filter(({ kind }) => kind === 'structure')
  const requests = moved.reduce((sum, finding) => sum + finding.requests, 0)
  expect(requests).toBeLessThanOrEqual(comparison.flows.count(AFTER))
  // What clients do otherwise may be told; the service is no cause.
  if (truth.cause === null) expect(findings.filter(({ kind }) => kind !== 'load')).toEqual([])
  else expect([1, 2]).toContain(firstRelevantFinding(comparison, truth))
  const { segment = [], interferes } = truth
  for (const part of segment) expect(findings[0]?.segment?.text).toContain(part)
  const interferers = findings.flatMap(({ interference }) => interference?.interferers ?? [])
  if (interferes === undefined) return
  expect(interferers.map(({ operation, value, shared }) => ({ operation, value, shared }))).toEqual(
    interferes === null
      ? []
      : [
          {
            operation: interferes.operation,
            value: interferes.tenant,
            shared: interferes.resource,
          },
        ],
  )
  if (interferes !== null) expect(findings[0]?.title).toContain(`while ${interferers[0]?.text}`)
}

const PERIODS = ['normal_trace.csv.gz', 'faulty_trace.csv.gz'] as const

export async function sharedFindings(
  folder: string,
  [before, after]: readonly [before: string, after: string] = PERIODS,
) {
  const comparison = compare(
    await loadRecording(sharedFile(`data/${folder}/${before}`) as string),
    await loadRecording(sharedFile(`data/${folder}/${after}`) as string),
  )
  return comparison.findings
}

/** All that a finding accuses: what it says first, and where it says to look. */
function accused({ title, services }: Finding): string {
  return `${title} → ${services.join(', ')}`
}

/** What others changed between two periods, and what a finding must say about it. */
export interface KnownChange {
  /** Folder in `shared/data`. */
  readonly folder: string
  /** Files or folders in it. */
  readonly periods?: readonly [before: string, after: string]
  /** `null` for a change outside all services. */
  readonly service: string | null
  readonly kind: Finding['kind']
}

/** Expects a change that others made in the first two findings of at most ten. */
export async function expectFound({ folder, periods, service, kind }: KnownChange) {
  const { findings, omitted } = await sharedFindings(folder, periods)
  expect(findings.length + omitted).toBeLessThanOrEqual(MAX_FINDINGS)
  const right = findings
    .slice(0, 2)
    .filter(({ services }) =>
      service === null ? services.length === 0 : services.includes(service),
    )
  expect(right.map((finding) => finding.kind)).toContain(kind)
  expect(right.map(accused).join('\n')).toContain(service ?? '')
}
