import { formatDuration } from '../../../core/units.ts'
import type { ProfileFacts } from './what-if-curves.ts'
import type { DrawnProfile } from './what-if-drawing.tsx'

const MEASURES = [
  ['p50', 'p50Us'],
  ['p90', 'p90Us'],
  ['p99', 'p99Us'],
  ['mean', 'meanUs'],
] as const satisfies readonly (readonly [string, keyof ProfileFacts])[]

/** The profiles in numbers. */
export function WhatIfNumbers({ profiles }: { readonly profiles: readonly DrawnProfile[] }) {
  return (
    <div class="fd-scroll">
      <table aria-label="Response times" class="fd-what-if-numbers">
        <thead>
          <tr>
            <th scope="col">requests</th>
            {MEASURES.map(([name]) => (
              <th key={name} scope="col" class="fd-amount">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {profiles.map(({ name, look, facts }) => (
            <tr key={look}>
              <th scope="row" class="fd-what-if-name" title={name}>
                {name}
              </th>
              {MEASURES.map(([measure, field]) => (
                <td key={measure} class="fd-amount">
                  {formatDuration(facts[field])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
