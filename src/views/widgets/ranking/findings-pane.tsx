import { useState } from 'preact/hooks'
import { counted, percent, tooltipText } from '../../../core/words.ts'
import { Button, StateCode } from '../../drawing/controls.tsx'
import { type DataColumn, DataTable } from '../../drawing/data-table.tsx'
import { Caption } from '../../drawing/figure.tsx'
import type { RankingData } from './ranking-model.ts'

type Shown = RankingData['findings'][number]

const SEGMENT_COLUMNS: readonly DataColumn<Shown>[] = [
  { title: 'in which requests', cell: ({ where }) => tooltipText(where) },
  {
    title: 'of requests',
    isNumber: true,
    cell: ({ segment }) => segment && percent(segment.ofRequests),
  },
  {
    title: 'of the change',
    isNumber: true,
    cell: ({ segment }) => segment && percent(segment.ofChange),
  },
]

/** Lists what changed, one row a cause, which opens into its facts; `name` is the comparison's. */
export function FindingsPane({ findings, name }: { findings: readonly Shown[]; name: string }) {
  const [opened, setOpened] = useState<number | null>(null)
  if (findings.length === 0) return null
  return (
    <>
      <Caption text={`${counted(findings.length, 'finding')}, one for each cause:`} />
      <DataTable
        label="Findings"
        class="fd-fit"
        rows={findings}
        rowKey={({ rank }) => rank}
        columns={[
          {
            title: '#',
            isNumber: true,
            still: ({ rank }) => String(rank),
            cell: ({ rank }) => (
              <Button
                aria-expanded={rank === opened}
                aria-label={`Finding ${rank}`}
                onClick={() => setOpened(rank === opened ? null : rank)}
              >
                <span aria-hidden="true">{rank === opened ? '▾' : '▸'}</span> {rank}
              </Button>
            ),
          },
          { title: 'finding', cell: ({ what }) => tooltipText(what) },
          ...(findings.some(({ segment }) => segment) ? SEGMENT_COLUMNS : []),
        ]}
        opened={(finding) =>
          finding.rank === opened ? <FindingDetails {...{ finding, name }} /> : null
        }
      />
    </>
  )
}

function FindingDetails({ finding, name }: { finding: Shown; name: string }) {
  const { rank, text, look, where, segment } = finding
  return (
    <div class="fd-mutation">
      <p>{tooltipText(`${text} · look at ${look}`)}</p>
      {segment && (
        <>
          <p>{`${tooltipText(where)}: ${segment.inside}; elsewhere ${segment.outside}.`}</p>
          <StateCode code={`explore(${name}.where(${name}.findings.findings[${rank - 1}]))`} />
        </>
      )}
    </div>
  )
}
