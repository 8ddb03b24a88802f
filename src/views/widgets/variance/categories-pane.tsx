import { useMemo, useState } from 'preact/hooks'
import type { Categories } from '../../../compare/categories/categories.ts'
import type { Comparison } from '../../../compare/comparison.ts'
import { shortText } from '../../../core/words.ts'
import { squaredVariationChart } from '../../charts/squared-variation.ts'
import { Select } from '../../drawing/controls.tsx'
import { tableColumns, tableData } from '../table/table-columns.ts'
import { TableView } from '../table/table-view.tsx'
import { type Frame, VegaChart } from '../vega-chart.tsx'
import {
  categoryScatter,
  frameFilters,
  MEASURE_NAMES,
  MEASURES,
  type Measure,
} from './category-scatter.ts'

export type CategoriesData = ReturnType<typeof categoriesData>

const MAX_ROWS = 20_000
const MAX_NAME_LENGTH = 200
const TESTS = [
  ['structural', ['change', 'label']],
  ['responseTime', ['q', 'mutation']],
] as const

export function categoriesData(
  categories: Categories,
  { comparison, large, name }: { comparison: Comparison | null; large: number; name: string },
) {
  const tests = comparison === null ? [] : TESTS
  const table = tests.reduce(
    (joined, [stage, columns]) =>
      joined.join(
        (comparison as Comparison)[stage].table().select('category', ...columns),
        'category',
      ),
    categories
      .table()
      .select('category', 'root', ...MEASURE_NAMES)
      .assign({
        root: Array.from(categories.table().array('root') as Iterable<unknown>, (root) =>
          shortText(String(root), MAX_NAME_LENGTH),
        ),
      }),
  )
  const shown = ['category', 'root', ...MEASURE_NAMES].map((column) => `'${column}'`).join(', ')
  const joins = tests.map(
    ([stage, columns]) =>
      `.join(${name}.${stage}.table().select('category', '${columns.join("', '")}'), 'category')`,
  )
  return {
    variation: squaredVariationChart(categories, { large }).spec,
    table: tableData(table, {
      name: `${name}.categories.table().select(${shown})${joins.join('')}`,
      title: 'All categories',
      pageSize: 10,
      limit: MAX_ROWS,
    }),
  }
}

interface PaneProps {
  readonly data: CategoriesData
  readonly across: Measure
  readonly up: Measure
  readonly onChange: (changes: { across?: Measure; up?: Measure }) => void
}

/** Shows C² of categories as a distribution, by two measures, and as a table of those framed. */
export function CategoriesPane({ data: { variation, table }, onChange, ...axes }: PaneProps) {
  const { across, up } = axes
  const [frame, setFrame] = useState<Frame>({})
  const columns = useMemo(() => tableColumns(table), [table])
  const scatter = useMemo(() => categoryScatter(columns, [across, up]), [columns, across, up])
  const filters = useMemo(() => frameFilters(columns, frame), [frame])
  const choose = (changes: { across?: Measure; up?: Measure }) => {
    setFrame({})
    onChange(changes)
  }
  return (
    <div class="fd-categories">
      <div class="fd-plots fd-beside">
        <VegaChart spec={variation} />
        <div>
          <div class="fd-bar">
            {(['across', 'up'] as const).map((axis) => (
              <Select
                key={axis}
                label={axis}
                value={axes[axis]}
                values={MEASURE_NAMES}
                textOf={(choice) => MEASURES[choice].name}
                onChoose={(measure) => choose({ [axis]: measure })}
              />
            ))}
          </div>
          <VegaChart spec={scatter.spec} onFrame={setFrame} />
          <p class="fd-soft">
            Drag a frame around categories: the table below has those inside. A click outside the
            frame takes it away.
          </p>
        </div>
      </div>
      <TableView data={table} filters={filters} />
    </div>
  )
}
