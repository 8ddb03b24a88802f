import type { FlowSet } from '../flow-set.ts'
import { labelText, NodeLabels } from '../node-labels.ts'

/**
 * The labels of flows, hosts left out if so chosen, and an order of them that no order of recording
 * decides: without hosts first, so that requests that differ only in hosts are treated alike.
 */
export function relabelled({ labels: old, shapes }: FlowSet, omitHosts: boolean) {
  const labels = new NodeLabels()
  const codes = Uint32Array.from({ length: old.size }, (_, code) => {
    const label = old.get(code)
    return labels.code(omitHosts ? { ...label, host: '' } : label)
  })
  const texts = Array.from({ length: labels.size }, (_, code) => ({
    ...{ code, text: labels.text(code) },
    without: labelText({ ...labels.get(code), host: '' }),
  }))
  texts.sort((a, b) => compareText(a.without, b.without) || compareText(a.text, b.text))
  const labelRank = new Uint32Array(labels.size)
  texts.forEach(({ code }, rank) => {
    labelRank[code] = rank
  })
  const relabel = (shape: number) => shapes.labels(shape).map((code) => codes[code] as number)
  return { labels, labelRank, relabel }
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
