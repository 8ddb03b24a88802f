// What a cell published, as the outputs of a notebook file (nbformat 4.5).

/** @typedef {import('./wire.mjs').Message} Message */

/**
 * @typedef {object} Output
 * @property {'stream' | 'display_data' | 'execute_result' | 'error'} output_type
 * @property {'stdout' | 'stderr'} [name]
 * @property {string} [text]
 * @property {Record<string, any>} [data]
 * @property {Record<string, any>} [metadata]
 * @property {string} [ename]
 * @property {string} [evalue]
 * @property {string[]} [traceback]
 */

/**
 * Collects the outputs of all cells of one run: a later cell may update what an earlier one showed.
 */
export class OutputCollector {
  /** @type {Map<string, { output: Output, outputs: Output[] }[]>} */
  #displays = new Map()

  /**
   * Adds what `messages` published to `outputs`.
   *
   * @param {Message[]} messages
   * @param {Output[]} outputs
   */
  collect(messages, outputs) {
    for (const { header, content } of messages) {
      switch (header.msg_type) {
        case 'stream':
          addStream(outputs, content.name, content.text)
          break
        case 'display_data':
        case 'execute_result':
          this.#display(outputs, header.msg_type, content)
          break
        case 'update_display_data':
          this.#update(content)
          break
        case 'error':
          outputs.push({ output_type: 'error', ...content })
          break
        case 'clear_output':
          outputs.length = 0
      }
    }
  }

  /**
   * @param {Output[]} outputs
   * @param {'display_data' | 'execute_result'} type
   * @param {Record<string, any>} content
   */
  #display(outputs, type, content) {
    const output = { output_type: type, data: content.data, metadata: content.metadata ?? {} }
    outputs.push(output)
    const id = content.transient?.display_id
    if (id !== undefined)
      this.#displays.set(id, [...(this.#displays.get(id) ?? []), { output, outputs }])
  }

  /**
   * What is emptied was progress, and is gone.
   *
   * @param {Record<string, any>} content
   */
  #update(content) {
    const isGone = Object.values(content.data).every((value) => value === '')
    for (const { output, outputs } of this.#displays.get(content.transient?.display_id) ?? []) {
      output.data = content.data
      output.metadata = content.metadata ?? {}
      if (isGone) outputs.splice(outputs.indexOf(output), 1)
    }
  }
}

/**
 * @param {Output[]} outputs
 * @param {'stdout' | 'stderr'} name
 * @param {string} text
 */
function addStream(outputs, name, text) {
  const last = outputs.at(-1)
  if (last?.output_type === 'stream' && last.name === name)
    last.text = overwrite(`${last.text}${text}`)
  else outputs.push({ output_type: 'stream', name, text: overwrite(text) })
}

/** A carriage return starts the line anew, as progress lines do. */
function overwrite(/** @type {string} */ text) {
  return text.replace(/^[^\n]*\r(?!\n)/gm, '')
}
