import type { ServiceVersions } from '../../traces/span-traces.ts'
import { type ComparedPeriods, type ComparisonWarning, warning } from './comparison-warning.ts'
import { firstOf, percent } from './number-text.ts'

/** A version's share of its service's spans that changes by less is not worth a word. */
const LEAST_CHANGE = 0.05

type Versions = ReadonlyMap<string, number>

/**
 * Whether services ran in other versions (`service.version`) than before. Most often that is what
 * is being looked into; sometimes it is what nobody thought of.
 */
export function versionsDiffer({ before, after }: ComparedPeriods): ComparisonWarning[] {
  if (before.kind !== 'spans' || after.kind !== 'spans') return []
  const changed = changedVersions(before.versions, after.versions)
  if (changed.length === 0) return []
  return [
    warning('versions-differ', {
      finding: `Services ran in other versions: ${firstOf(changed)}.`,
      effect: 'What changed between the periods may be the release, and nothing else.',
      answer:
        'If that is the question, all is well; if not, load periods in which the versions are the same.',
    }),
  ]
}

function changedVersions(before: ServiceVersions, after: ServiceVersions): string[] {
  return [...before].flatMap(([service, were]) => {
    const are = after.get(service)
    return are === undefined || !isChanged(were, are)
      ? []
      : [`${service} ${versionText(were)} → ${versionText(are)}`]
  })
}

function isChanged(before: Versions, after: Versions): boolean {
  return [...new Set([...before.keys(), ...after.keys()])].some(
    (version) => Math.abs(shareOf(after, version) - shareOf(before, version)) > LEAST_CHANGE,
  )
}

function shareOf(versions: Versions, version: string): number {
  const all = [...versions.values()].reduce((sum, count) => sum + count, 0)
  return (versions.get(version) ?? 0) / all
}

/** One version by its name, several with their shares, the most frequent first. */
function versionText(versions: Versions): string {
  if (versions.size === 1) return [...versions.keys()].join('')
  const sorted = [...versions].sort(([, a], [, b]) => b - a)
  const named = sorted.map(([version]) => `${version} (${percent(shareOf(versions, version))})`)
  return firstOf(named, { most: 3, separator: ' and ' })
}
