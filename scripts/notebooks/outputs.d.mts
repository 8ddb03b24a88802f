import type { Output } from '../notebook-runner.mjs'
import type { Message } from './kernel.mjs'

/** Collects the outputs of all cells of one run: a later cell may update what an earlier one showed. */
export class OutputCollector {
  collect(messages: Message[], outputs: Output[]): void
}
