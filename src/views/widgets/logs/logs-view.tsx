import { useMemo, useState } from 'preact/hooks'
import { StateCode } from '../../drawing/state-code.tsx'
import { GraphList } from './graph-list.tsx'
import { LogsControls } from './logs-controls.tsx'
import type { LogsData } from './logs-data.ts'
import { LogsGraph } from './logs-graph.tsx'
import { graphCode, initialState, type LogsState, shownGraph } from './logs-state.ts'
import { LogsVariables } from './logs-variables.tsx'
import { graphText, leftOutText } from './logs-words.ts'
import { openVariable } from './open-variable.ts'
import { restoredStages } from './restored-stages.ts'
import { VariableDetails } from './variable-details.tsx'

/** Graphs of dependencies under other options, and the variables in them. */
export function LogsView({ data }: { readonly data: LogsData }) {
  const stages = useMemo(() => restoredStages(data), [data])
  const [state, setState] = useState<LogsState>(() => initialState(data))
  const [open, setOpen] = useState(data.start.variable)
  const { minSplit, balance, class: logClass, kind } = state
  const graphs = useMemo(
    () => stages.graphs({ minSplit, balance, class: logClass }),
    [stages, minSplit, balance, logClass],
  )
  const { ofKind, shown } = shownGraph(graphs, state)
  const change = (changes: Partial<LogsState>) => {
    if (changes.kind !== undefined && changes.kind !== kind) setOpen(null)
    setState({ ...state, ...changes })
  }
  const onToggle = (name: string) => setOpen(name === open ? null : name)
  const variable = open === null ? null : openVariable(data, stages, { kind, name: open })
  return (
    <section aria-label="Logs">
      <LogsControls {...{ data, state, onChange: change }} />
      {shown === undefined ? (
        <p class="fd-soft">The logs have no {kind}s.</p>
      ) : (
        <>
          <p aria-live="polite" class="fd-logs-summary">
            {graphText(shown)}
          </p>
          <div class="fd-logs-sides">
            <GraphList
              {...{ graphs: ofKind, shown }}
              onChoose={(featureType) => change({ featureType })}
            />
            <LogsGraph {...{ graph: shown, open, onToggle }} />
          </div>
          <LogsVariables {...{ graph: shown, divergence: stages.divergence, open, onToggle }} />
        </>
      )}
      {variable === null ? null : (
        <VariableDetails {...{ data, variable, onClose: () => setOpen(null) }} />
      )}
      {leftOutText(data).map((sentence) => (
        <p key={sentence} class="fd-soft">
          {sentence}
        </p>
      ))}
      {shown === undefined ? null : <StateCode code={graphCode(data, state)} />}
      {variable?.code ? <StateCode code={variable.code} /> : null}
    </section>
  )
}
