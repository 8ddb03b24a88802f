// Messages of the Jupyter protocol, as they travel over ZeroMQ.
import { createHmac, randomUUID } from 'node:crypto'

const DELIMITER = '<IDS|MSG>'

/**
 * @typedef {object} Message
 * @property {{ msg_id: string, msg_type: string }} header
 * @property {{ msg_id?: string }} parent_header
 * @property {Record<string, any>} content
 */

/**
 * @param {string} key
 * @param {string} type
 * @param {object} content
 * @returns {{ id: string, frames: (string | Buffer)[] }}
 */
export function encodeMessage(key, type, content) {
  const id = randomUUID()
  const header = {
    msg_id: id,
    msg_type: type,
    session: 'flowdelta',
    username: 'flowdelta',
    date: new Date().toISOString(),
    version: '5.3',
  }
  const parts = [header, {}, {}, content].map((part) => JSON.stringify(part))
  return { id, frames: [DELIMITER, sign(key, parts), ...parts] }
}

/**
 * @param {string} key
 * @param {Buffer[]} frames
 * @returns {Message}
 */
export function decodeMessage(key, frames) {
  const start = frames.findIndex((frame) => frame.toString() === DELIMITER)
  if (start < 0) throw new Error('The kernel sent a message without a delimiter.')
  const parts = frames.slice(start + 2, start + 6)
  if (frames[start + 1]?.toString() !== sign(key, parts)) {
    throw new Error('The kernel sent a message with a wrong signature.')
  }
  const [header, parent, , content] = parts.map((part) => JSON.parse(part.toString()))
  return { header, parent_header: parent, content }
}

/**
 * @param {string} key
 * @param {(string | Buffer)[]} parts
 */
function sign(key, parts) {
  const hmac = createHmac('sha256', key)
  for (const part of parts) hmac.update(part)
  return hmac.digest('hex')
}
